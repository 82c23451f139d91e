"""The Gaussian kernel on a device: products with its matrix, moments of its columns, and scores of rows, in blocks.

Values come from squared differences in the precision of the rows; sums are made in double precision.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lowdim._core.gpu.coranking import squares
from lowdim._core.gpu.devices import BLOCK_BYTES, SHARE, Device

WIDE, NEAR = 32, 16.0  # columns from which products are faster, and gamma |x|² up to which they are precise
COPIES = 6  # arrays of a block that exist at once


def values(device: Device, Q: Any, X: Any, gamma: float) -> Any:
    """exp(-gamma |q - x|²), in the precision of the rows.

    Of wide rows by products, which are wrong by some roundings of gamma |x|²; where that is large, by differences.
    """
    if X.shape[1] >= WIDE:
        center = X.mean(dim=0)
        left, right = Q - center, X - center
        sizes = left.square().sum(dim=1), right.square().sum(dim=1)
        if gamma * float(sizes[0].max().maximum(sizes[1].max())) <= NEAR:
            table = device.torch.addmm(sizes[1].expand(len(Q), -1), left, right.T, alpha=-2)
            return table.add_(sizes[0][:, None]).clamp_(min=0).mul_(-gamma).exp_()
    return squares(device, Q, X).mul_(-gamma).exp_()


def keeps_matrix(device: Device, n: int, itemsize: int) -> bool:
    """Whether the kernel matrix of n rows takes at most half of what a fit may plan for."""
    return n * n * itemsize <= SHARE * device.free() / 2


def matrix(device: Device, X: Any, gamma: float) -> Any:
    """The kernel matrix of rows on the device."""
    out, step = X.new_empty((len(X), len(X))), device.rows(X.element_size() * len(X), len(X), copies=COPIES)
    for low in range(0, len(X), step):
        out[low : low + step] = values(device, X[low : low + step], X, gamma)
    return out


def product(device: Device, X: Any, gamma: float, Y: np.ndarray, K: Any = None) -> np.ndarray:
    """K Y in float64 sums; K is kept, or computed anew block by block.

    Parameters
    ----------
    device : Device
        Where the rows are.
    X : tensor of shape (n, d)
        The rows.
    gamma : float
        Of the kernel.
    Y : ndarray of shape (n, k)
        What the matrix is multiplied with.
    K : tensor of shape (n, n), optional
        The kernel matrix.

    Returns
    -------
    ndarray of shape (n, k)
    """
    other = device.tensor(np.asarray(Y, dtype=np.float64))
    step = device.rows(8 * len(X), len(X), copies=COPIES)
    parts = []
    for low in range(0, len(X), step):
        part = values(device, X[low : low + step], X, gamma) if K is None else K[low : low + step]
        parts.append(part.double() @ other)
    return np.asarray(device.torch.cat(parts).cpu().numpy())


def moments(device: Device, X: Any, few: Any, gamma: float, root: np.ndarray, start: np.ndarray) -> tuple[Any, ...]:
    """Of F = k(X, few) root about `start`: scatter and sum, the column sums of k(X, few), and the sum of squares of F.

    Parameters
    ----------
    device : Device
        Where the rows are.
    X, few : tensor of shape (n, d) and (m, d)
        All rows, and those that the kernel compares them with.
    gamma : float
        Of the kernel.
    root : ndarray of shape (m, r)
        What the columns are multiplied with.
    start : ndarray of shape (r,)
        Close to the mean of F.

    Returns
    -------
    tuple
        Arrays of shape (r, r), (r,) and (m,), and a float.
    """
    R, center = device.tensor(root), device.tensor(start)
    scatter, shift = R.new_zeros((len(start), len(start))), R.new_zeros(len(start))
    column, inside = R.new_zeros(len(few)), R.new_zeros(())
    for part in X.split(device.rows(8 * len(few), len(X), copies=COPIES)):
        S = values(device, part, few, gamma).double()
        F = S @ R
        inside += F.square().sum()
        F -= center
        scatter += F.T @ F
        shift += F.sum(dim=0)
        column += S.sum(dim=0)
    return (*(part.cpu().numpy() for part in (scatter, shift, column)), float(inside))


def scored(
    device: Device, X: Any, few: Any, gamma: float, offset: np.ndarray, projection: np.ndarray, center: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(k(x, few) - offset) P and k(x, few) c of every row, the formula of `Nystrom` and the product with a centre.

    Parameters
    ----------
    device : Device
        Where to compute; blocks of X are copied there where it is elsewhere.
    X : ndarray or tensor of shape (n, d)
        Rows.
    few : tensor of shape (m, d)
        The rows they are compared with.
    gamma : float
        Of the kernel.
    offset, projection, center : ndarray of shape (m,), (m, r) and (m,)
        Of the formulas.

    Returns
    -------
    tuple of ndarray
        (n, r) and (n,).
    """
    P, o, c = (device.tensor(np.asarray(part, dtype=np.float64)) for part in (projection, offset, center))
    scores, products, step = [], [], device.rows(8 * len(few), len(X), copies=COPIES)
    for low in range(0, len(X), step):
        S = values(device, device.tensor(X[low : low + step], few.dtype), few, gamma).double()
        products.append(S @ c)
        scores.append(S.sub_(o) @ P)
    return tuple(np.asarray(device.torch.cat(parts).cpu().numpy()) for parts in (scores, products))  # type: ignore[return-value]


def needs(n: int, d: int, itemsize: int, m: int, k: int) -> dict[str, int]:
    """Bytes on the device: rows, blocks, and the kernel matrix (m = n) or the moments of m columns."""
    block = min(BLOCK_BYTES, 8 * n * m) * (1 if m == n else 2)
    large = {"kernel matrix": n * n * itemsize} if m == n else {"moments": 4 * m * m * 8}
    return {"rows": 2 * n * d * itemsize, "blocks": block, "scores": 24 * n * k} | large

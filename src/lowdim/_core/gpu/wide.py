"""Products with a table of rows on a device, for decompositions that never form a matrix of all pairs of columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from lowdim._core.gpu import moments
from lowdim._core.gpu.device_rows import DeviceRows
from lowdim._core.gpu.devices import Device
from lowdim._core.gpu.moments import MOST_COLUMNS

COLUMNS = 2048  # of a product in single precision; their sums are made in double precision
MOST_ROWS = 20_000  # of a Gram matrix on a device


def column_moments(device: Device, X: DeviceRows, weights: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of each column, over the sum of the weights, from deviations in double precision."""
    cells = device.tensor(X)
    w = None if weights is None else device.tensor(weights, device.torch.float64)[:, None]
    mean, total, parts = cells.new_zeros(X.shape[1]).double(), len(X) if w is None else float(w.sum()), []
    step = device.rows(16 * X.shape[1], len(X))
    for low in range(0, len(X), step):
        part = cells[low : low + step].double()
        mean += (part if w is None else part * w[low : low + step]).sum(dim=0) / total
    for low in range(0, len(X), step):
        gaps = (cells[low : low + step].double() - mean).square_()
        parts.append((gaps if w is None else gaps * w[low : low + step]).sum(dim=0))
    return tuple(np.asarray(part.cpu().numpy()) for part in (mean, sum(parts) / total))  # type: ignore[return-value]


def gram(device: Device, X: np.ndarray) -> np.ndarray:
    """X X' in float64: products in the precision of X, sums over blocks of columns in double precision.

    Parameters
    ----------
    device : Device
        Where to multiply; blocks of columns are copied there.
    X : ndarray of shape (n, d)
        Centred rows.

    Returns
    -------
    ndarray of shape (n, n)
        Symmetric to the last bit.
    """
    n, d = X.shape
    total = device.torch.zeros((n, n), dtype=device.torch.float64, device=device.name)
    width = max(COLUMNS, device.rows(X.itemsize * n, d) // COLUMNS * COLUMNS)
    for low in range(0, d, width):
        for part in device.tensor(X[:, low : low + width]).split(COLUMNS, dim=1):
            total += (part @ part.T).double()
    total = (total + total.T) / 2
    return np.asarray(total.cpu().numpy())


def transposed_product(device: Device, X: np.ndarray, A: np.ndarray) -> np.ndarray:
    """X'A in float64, products in the precision of X, block by block of columns."""
    right, parts = device.tensor(A.astype(X.dtype)), []
    for low in range(0, X.shape[1], step := device.rows(X.itemsize * len(X), X.shape[1])):
        parts.append((device.tensor(X[:, low : low + step]).T @ right).double())
    return np.asarray(device.torch.cat(parts).cpu().numpy())


def operator(device: Device, X: np.ndarray) -> LinearOperator:
    """The matrix X as products of a device with it, in its precision; it is copied there once."""
    rows = device.tensor(X)

    def product(matrix: Any, B: np.ndarray) -> np.ndarray:
        columns = device.tensor(np.asarray(B, dtype=X.dtype).reshape(matrix.shape[1], -1))
        return np.asarray((matrix @ columns).cpu().numpy())

    settings = {name: lambda B: product(rows, B) for name in ("matvec", "matmat")}
    settings |= {name: lambda B: product(rows.T, B) for name in ("rmatvec", "rmatmat")}
    return LinearOperator(X.shape, dtype=X.dtype, **settings)


def solver_for(n: int, d: int) -> str | None:
    """The one that a device is fast at: by a covariance or a Gram matrix; None where both are too large."""
    if d <= min(n, MOST_COLUMNS):
        return "covariance"
    return "gram" if n <= MOST_ROWS else None


def needs(n: int, d: int, itemsize: int) -> dict[str, int]:
    """Bytes on the device: as for moments; a block of columns and the Gram matrix with a product; or all rows."""
    if solver_for(n, d) == "covariance":
        return moments.needs(n, d, itemsize)
    if n > MOST_ROWS:
        return {"rows": n * d * itemsize, "products": 2 * (n + d) * 64 * itemsize}
    return {"rows": min(n * d * itemsize, 2**30), "Gram matrix": 2 * n * n * 8 + n * n * itemsize}

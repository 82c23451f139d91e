"""Centring of squared distances and of kernels, in place.

Both are H A H with H = I - 1 1'/n: subtract row means and column means, add the grand mean. An n x n matrix
is often the largest array of a method, so nothing here copies it; means are always float64.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from lowdim._core.runtime import threads

Array = np.ndarray
T = TypeVar("T")
ROWS = 256  # rows handled at once, at most
CELLS = 2**18  # and cells: what several steps write and read again stays in the cache


@dataclass(frozen=True, eq=False)
class KernelMeans:
    """What centring new rows of a kernel needs: the column means of the fitted kernel and their mean."""

    columns: Array
    total: float


def double_center(D2: Array, *, out: Array | None = None) -> Array:
    """-1/2 H D2 H of squared distances: the inner products of classical scaling.

    Parameters
    ----------
    D2 : ndarray of shape (n, n)
        Symmetric; float32 stays float32 with float64 means. Overwritten unless `out` is given.
    out : ndarray of shape (n, n), optional
        Where the result goes; None is D2 itself.

    Returns
    -------
    ndarray
        `out`.

    Examples
    --------
    >>> import numpy as np
    >>> double_center(np.array([[0.0, 4.0], [4.0, 0.0]]))
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    _check_square(D2, "double_center", "D2")
    out = _target(D2, out, "double_center")
    means = _column_means(D2)
    _take_off(D2, means, float(means.mean()), -0.5, out)
    return out


def inner_products(D: Array, weights: Array | None = None) -> tuple[Array, Array]:
    """-1/2 H D² H of distances, in float64, and the column means of D², which new rows need.

    With positive weights w, means are weighted: H = I - 1 w'/sum(w) (and its transpose on the right).

    Examples
    --------
    >>> import numpy as np
    >>> inner_products(np.array([[0.0, 2.0], [2.0, 0.0]]))
    (array([[ 1., -1.],
           [-1.,  1.]]), array([2., 2.]))
    """
    _check_square(D, "inner_products", "D")
    B = np.empty(D.shape)

    def squares(rows: slice) -> Array:  # row means, which are column means too; B is written only once
        part = D[rows].astype(np.float64, copy=False)
        return np.einsum("ij,ij->i", part, part) / len(D) if share is None else np.square(part) @ share

    def fill(rows: slice) -> None:
        part = np.square(D[rows], out=B[rows], dtype=np.float64)
        part -= means
        part -= (means[rows] - total)[:, None]
        part *= -0.5

    share = None if weights is None else weights / weights.sum()
    means = np.concatenate(_each(squares, len(D)))
    total = means.mean() if share is None else means @ share
    _each(fill, len(D))
    return B, means


def center_kernel(K: Array, *, overwrite: bool = False) -> tuple[Array, KernelMeans]:
    """H K H of a symmetric kernel matrix, and the means that centre new rows the same way.

    A kernel of integers is centred in float64; with `overwrite` a float matrix is centred in place.

    Examples
    --------
    >>> import numpy as np
    >>> Kc, means = center_kernel(np.array([[2.0, 1.0], [1.0, 4.0]]))
    >>> Kc
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    _check_square(K, "center_kernel", "K")
    means = KernelMeans(columns := _column_means(K), float(columns.mean()))
    out = K if overwrite and K.dtype.kind == "f" else np.empty(K.shape, dtype=_float(K))
    _take_off(K, columns, means.total, 1.0, out)
    return out, means


def center_kernel_rows(Kx: Array, means: KernelMeans) -> Array:
    """Kernel values of new rows against the fitted ones, centred in feature space by the fitted rows' mean.

    Row by row: a row's result does not depend on the others of its batch.
    """
    if Kx.ndim != 2 or Kx.shape[1] != len(means.columns):
        raise ValueError(
            f"center_kernel_rows: Kx must have {len(means.columns)} columns, one per fitted row; got shape {Kx.shape}."
        )
    out = np.empty(Kx.shape, dtype=_float(Kx))
    for rows in threads.blocks(Kx.shape[0], ROWS):
        part = Kx[rows].astype(np.float64)
        out[rows] = part - part.mean(axis=1)[:, None] - means.columns + means.total
    return out


def _take_off(A: Array, means: Array, total: float, factor: float, out: Array) -> None:
    """out = factor (A - row means - column means + total), a few rows at a time in float64."""

    def fill(rows: slice) -> None:
        part = A[rows] - means
        part -= (means[rows] - total)[:, None]
        part *= factor
        out[rows] = part

    _each(fill, A.shape[0])


def _column_means(A: Array) -> Array:
    """Column means, summed in float64; those of the rows too, since A is symmetric."""
    return np.sum(_each(lambda rows: A[rows].sum(axis=0, dtype=np.float64), A.shape[0]), axis=0) / A.shape[0]


def _each(work: Callable[[slice], T], n: int) -> list[T]:
    """`work` on blocks of rows; side by side where there are many, with the same bits."""
    return threads.map_rows(work, n, max(1, min(ROWS, CELLS // n)), None if n > 4 * ROWS else 1)


def _float(A: Array) -> np.dtype:
    return A.dtype if A.dtype.kind == "f" else np.dtype(np.float64)


def _target(A: Array, out: Array | None, owner: str) -> Array:
    if out is None and A.dtype.kind != "f":
        raise ValueError(f"{owner}: D2 must be a float array to be overwritten; got dtype {A.dtype}. Pass out.")
    if out is not None and (out.shape != A.shape or out.dtype.kind != "f"):
        raise ValueError(f"{owner}: out must be a float array of shape {A.shape}; got {out.dtype} {out.shape}.")
    return A if out is None else out


def _check_square(A: Array, owner: str, name: str) -> None:
    if A.ndim != 2 or A.shape[0] != A.shape[1] or A.shape[0] == 0:
        raise ValueError(f"{owner}: {name} must be square and not empty; got shape {A.shape}.")

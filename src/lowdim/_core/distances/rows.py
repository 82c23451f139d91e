"""Rows as the compiled kernels take them (real, finite, C-ordered or sparse), their norms, scales and origin."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from lowdim import _native
from lowdim._core.distances.metrics import Metric
from lowdim._core.runtime import threads
from lowdim._core.runtime.foreign_tables import in_known_form
from lowdim._core.streams import refuse_streams
from lowdim._core.tables.form import canonical, check_structure, refuse_ragged, usual_indices
from lowdim._core.tables.missing import largest_magnitude


def precision(dtype: Any) -> np.dtype:
    """The type rows are kept in: float32 for float32 in any byte order, float64 for everything else."""
    return np.dtype(np.float32 if dtype.kind == "f" and dtype.itemsize == 4 else np.float64)


def real_array(X: Any, what: str) -> np.ndarray:
    """`X` as an array of float32 or float64 in native byte order; `what` (owner and name) begins the messages.

    What numpy would turn into numbers by losing something is refused: masks, imaginary parts, dates, text.
    """
    refuse_streams(X, what)
    X = in_known_form(X, what)
    if np.ma.is_masked(X):
        raise ValueError(
            f"{what} has {np.ma.count_masked(X)} masked cells; masked cells are missing values; fill or drop them."
        )
    if isinstance(X, (list, tuple)):
        refuse_ragged(X, what)
    table = np.asarray(X)
    if table.ndim == 0:
        way = " Pass its toarray()." if sparse.issparse(X) else ""
        raise TypeError(f"{what} must be an array of numbers; got a value of type {type(X).__name__}.{way}")
    _refuse_kind(table.dtype, what)
    try:
        with np.errstate(over="ignore"):  # what float64 cannot hold is infinite, and refused where it is not allowed
            return np.asarray(table, dtype=precision(table.dtype))
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{what} must hold real numbers; got {_first_odd(table)}.") from error


def _refuse_kind(dtype: np.dtype, what: str) -> None:
    if dtype.kind not in "biufO":
        ways = {"c": " Pass real and imaginary parts as columns.", "M": " Turn dates into numbers first."}
        raise ValueError(f"{what} must hold real numbers; got {dtype}.{ways.get(dtype.kind, '')}")


def _first_odd(table: np.ndarray) -> str:
    """The first entry of an array of objects that is no real number."""
    for value in table.ravel():
        try:
            float(value)
        except (TypeError, ValueError):
            return f"{value!r} ({type(value).__name__})"
        except OverflowError:
            return "a number beyond the range of float64"
    return str(table.dtype)


def real_sparse(X: Any, what: str) -> Any:
    """The same for sparse matrices: compressed sparse rows of float32 or float64."""
    _refuse_kind(X.dtype, what)
    check_structure(X, what)
    return canonical(sparse.csr_array(usual_indices(X), dtype=precision(X.dtype)))


def as_rows(X: Any, owner: str, name: str = "X") -> Any:
    """`X` as the kernels take it: a C-ordered float32 or float64 table, or canonical compressed sparse rows.

    Nothing is copied when `X` is that already; `X` itself is never changed.
    """
    if sparse.issparse(X):
        rows = real_sparse(X, f"{owner}: {name}")
        values: np.ndarray = rows.data
    else:
        table = real_array(X, f"{owner}: {name}")
        if table.ndim != 2:
            raise ValueError(f"{owner}: {name} must be a table of rows and columns; got {table.ndim} dimension(s).")
        values = rows = np.ascontiguousarray(table)
    _refuse_range(values, rows.shape[1], f"{owner}: {name}")
    return rows


def _refuse_range(values: np.ndarray, d: int, what: str) -> None:
    """ValueError for cells that are no numbers, and for those between which a distance may not be one."""
    largest = largest_magnitude(values)
    if not np.isfinite(largest):
        raise ValueError(f"{what} must be finite; got NaN or infinity. Fill or drop these rows first.")
    refuse_far(largest, d, values.dtype, what)


def refuse_far(largest: float, d: int, kept: Any, what: str) -> None:
    """ValueError for rows of d cells up to `largest` in magnitude, between which distances are beyond `kept`."""
    if largest > np.finfo(kept).max / (4 * max(d, 1)):
        single = ", or pass float64" if kept == np.float32 else ""
        raise ValueError(
            f"{what} has values of {largest:.1e}, and distances between its rows are beyond the range of "
            f"{np.dtype(kept)}. Multiply it by a constant first{single}."
        )


def two_tables(X: Any, Y: Any, owner: str, names: tuple[str, str] = ("X", "Y")) -> tuple[Any, Any]:
    """Both tables as rows of one kind and one precision; the second is the first when it is None."""
    left = as_rows(X, owner, names[0])
    if Y is None:
        return left, left
    right = as_rows(Y, owner, names[1])
    if left.shape[1] != right.shape[1]:
        raise ValueError(
            f"{owner}: {names[1]} must have the {left.shape[1]} columns of {names[0]}; got {right.shape[1]}."
        )
    if sparse.issparse(left) != sparse.issparse(right):
        left, right = (as_rows(sparse.csr_array(rows), owner) for rows in (left, right))
    common = np.result_type(left.dtype, right.dtype)
    return left.astype(common, copy=False), right.astype(common, copy=False)


def excess(rows: Any, most: int = 300) -> int:
    """The power of two by which the largest coordinate leaves 2**-most..2**most; 0 for nearly all data.

    Within 2**-300..2**300, float64 holds the squares and their sums.
    """
    values = rows.data if sparse.issparse(rows) else rows
    peak = max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))
    exponent = int(np.frexp(peak)[1]) if peak > 0 else 0
    return exponent - min(max(exponent, -most), most)


def over_power(rows: Any, exponent: int) -> Any:
    """``rows / 2**exponent``, which changes no digit; the rows themselves for exponent 0."""
    if not exponent:
        return rows
    with np.errstate(over="ignore", under="ignore"):
        if sparse.issparse(rows):
            return sparse.csr_array((np.ldexp(rows.data, -exponent), rows.indices, rows.indptr), shape=rows.shape)
        return np.ldexp(rows, -exponent)


def squared_norms(rows: Any) -> np.ndarray:
    """|x|^2 of every row, in float64."""
    if not sparse.issparse(rows):
        return np.einsum("ij,ij->i", rows, rows, dtype=np.float64)
    squares = sparse.csr_array((np.square(rows.data, dtype=np.float64), rows.indices, rows.indptr), shape=rows.shape)
    return np.asarray(squares.sum(axis=1)).ravel()


def row_scales(rows: Any, metric: Metric) -> np.ndarray:
    """What each row is multiplied by before rows are compared: 1, or 1/|x| for cosine (0 for a zero row)."""
    if metric != "cosine":
        return np.ones(rows.shape[0])
    with np.errstate(over="ignore"):
        norms = np.sqrt(squared_norms(rows))
    for i in np.flatnonzero((norms < 1e-140) | (norms > 1e140)):  # the square has left the range of float64
        row = rows[[i]].toarray() if sparse.issparse(rows) else rows[i]
        peak = np.abs(row).max(initial=0.0)
        norms[i] = peak * np.linalg.norm(row / peak) if peak > 0 else 0.0
    return np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 1e-300)


def scaled(rows: Any, scales: np.ndarray, center: np.ndarray | None = None, dtype: Any = None) -> Any:
    """``(rows - center) * scales``, computed in float64 a block at a time and kept in `dtype`."""
    dtype = dtype or rows.dtype
    if sparse.issparse(rows):
        return sparse.csr_array(sparse.diags_array(scales) @ rows, dtype=dtype)
    out = np.empty(rows.shape, dtype)
    for part in threads.blocks(rows.shape[0], max(1, 2**20 // max(1, rows.shape[1]))):
        shifted = rows[part] if center is None else rows[part] - center
        np.multiply(shifted, scales[part, None], out=out[part], casting="same_kind", dtype=np.float64)
    return out


def origin(rows: np.ndarray) -> np.ndarray:
    """A point amid the rows, to measure coordinates from: products lose fewest digits there.

    The median of some 500 rows spread over the table; unlike the mean, a few far rows do not move it.
    """
    return np.median(rows[:: max(1, len(rows) // 500)], axis=0).astype(np.float64)


def row_pairs(Q: Any, X: Any, q_scales: np.ndarray, x_scales: np.ndarray) -> Any:
    """The compiled record that measures pairs (row of `Q`, row of `X`) by their differences in float64."""
    bits = 8 * X.dtype.itemsize
    if not sparse.issparse(X):
        return getattr(_native, f"DensePairs{bits}")(Q, X, q_scales, x_scales)
    parts = [
        part
        for rows in (Q, X)
        for part in (
            rows.data,
            rows.indices.astype(np.int32, copy=False),
            rows.indptr.astype(np.int64, copy=False),
        )
    ]
    return getattr(_native, f"SparsePairs{bits}")(*parts, q_scales, x_scales)

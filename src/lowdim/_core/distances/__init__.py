"""Distances between rows, one block at a time.

A block of Euclidean or cosine distances comes from one matrix product, the fast way; where the product form
loses digits (near pairs, data far from the origin) the pair is measured again by its differences. Equal rows
are at exactly 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist, squareform

from lowdim import _native
from lowdim._core.distances.with_holes import METRICS, expected_block, pairwise_block
from lowdim._core.runtime import threads

compiled: Any = _native  # a compiled module has no types to check

Metric = str | Callable[[np.ndarray, np.ndarray], float]

OWN = ("euclidean", "cosine", "manhattan")
_ALIASES = {"l2": "euclidean", "l1": "manhattan", "cityblock": "manhattan"}
_SCIPY = (
    *("braycurtis", "canberra", "chebyshev", "correlation", "dice", "hamming", "jaccard", "jensenshannon"),
    *("minkowski", "rogerstanimoto", "russellrao", "sokalsneath", "sqeuclidean", "yule"),
)
# scipy takes the parameters of these two from the rows it is handed: they would change from block to block.
_FITTED = {
    "mahalanobis": "whiten the columns and use metric='euclidean'",
    "seuclidean": "divide the columns by their standard deviations and use metric='euclidean'",
}

# Below this part of |x|^2 + |y|^2 a squared distance is measured by differences. The error of the product
# form is then about sqrt(d) eps / tol of the value: 2e-5 for float32, 2e-12 for float64 at 100 columns.
LOSS = {np.dtype(np.float32): 0.05, np.dtype(np.float64): 1e-3}


_LONG = 40  # columns from which our kernel for manhattan distances is as fast as scipy's (benchmarks, landmark-mds)


def check_metric(metric: Any, owner: str) -> Metric:
    """The metric under the one name used inside; ValueError for a name nobody knows.

    >>> check_metric("cityblock", "Isomap")
    'manhattan'
    """
    if callable(metric):
        return metric
    name = _ALIASES.get(metric, metric) if isinstance(metric, str) else metric
    if isinstance(name, str) and name in (*OWN, *_SCIPY, *METRICS.values(), "precomputed"):
        return name
    if isinstance(name, str) and name in _FITTED:
        raise ValueError(f"{owner}: metric {name!r} depends on all rows at once; {_FITTED[name]}.")
    known = ", ".join(sorted((*OWN, *_SCIPY, "precomputed")))
    raise ValueError(f"{owner}: metric must be a function of two rows or one of {known}; got {metric!r}.")


def precision(dtype: Any) -> np.dtype:
    """The type rows are kept in: float32 for float32 in any byte order, float64 for everything else."""
    return np.dtype(np.float32 if dtype.kind == "f" and dtype.itemsize == 4 else np.float64)


def real_array(X: Any, what: str) -> np.ndarray:
    """`X` as an array of float32 or float64 in native byte order; `what` (owner and name) begins the messages.

    What numpy would turn into numbers by losing something is refused: masks, imaginary parts, dates, text.
    """
    if np.ma.is_masked(X):
        raise ValueError(
            f"{what} has {np.ma.count_masked(X)} masked cells; masked cells are missing values; fill or drop them."
        )
    table = np.asarray(X)
    _refuse_kind(table.dtype, what)
    try:
        return np.asarray(table, dtype=precision(table.dtype))
    except (TypeError, ValueError) as error:
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
    return str(table.dtype)


def real_sparse(X: Any, what: str) -> Any:
    """The same for sparse matrices: compressed sparse rows of float32 or float64."""
    _refuse_kind(X.dtype, what)
    return sparse.csr_array(X, dtype=precision(X.dtype))


def as_rows(X: Any, owner: str, name: str = "X") -> Any:
    """`X` as the kernels take it: a C-ordered float32 or float64 table, or canonical compressed sparse rows.

    Nothing is copied when `X` is that already; `X` itself is never changed.
    """
    if sparse.issparse(X):
        rows = real_sparse(X, f"{owner}: {name}")
        if not rows.has_canonical_format:
            rows = rows.copy()
            rows.sum_duplicates()
        values: np.ndarray = rows.data
    else:
        table = real_array(X, f"{owner}: {name}")
        if table.ndim != 2:
            raise ValueError(f"{owner}: {name} must be a table of rows and columns; got {table.ndim} dimension(s).")
        values = rows = np.ascontiguousarray(table)
    if not np.isfinite(values.sum(dtype=np.float64)) and not np.isfinite(values).all():
        raise ValueError(f"{owner}: {name} must be finite; got NaN or infinity. Fill or drop these rows first.")
    return rows


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
        return getattr(compiled, f"DensePairs{bits}")(Q, X, q_scales, x_scales)
    parts = [
        part
        for rows in (Q, X)
        for part in (
            rows.data,
            rows.indices.astype(np.int32, copy=False),
            rows.indptr.astype(np.int64, copy=False),
        )
    ]
    return getattr(compiled, f"SparsePairs{bits}")(*parts, q_scales, x_scales)


def pairwise(X: Any, Y: Any = None, metric: Metric = "euclidean", *, squared: bool = False) -> np.ndarray:
    """The block of distances between the rows of `X` and the rows of `Y`.

    Parameters
    ----------
    X, Y : array or sparse matrix
        Rows, for euclidean, cosine and manhattan also sparse; `Y` None means `X`, with a diagonal of exact 0.
    metric : str or callable
        euclidean, cosine, manhattan, a name of scipy's `cdist`, or a function of two rows.
    squared : bool
        Leave out the square root (euclidean only).

    Returns
    -------
    ndarray of shape (rows of X, rows of Y)
        In the precision of the input. Under cosine, zero rows are at 0 from each other and at 1 from all others.

    Examples
    --------
    >>> pairwise([[0.0, 0.0], [3.0, 4.0]])
    array([[0., 5.],
           [5., 0.]])
    """
    metric = check_metric(metric, "pairwise")
    if metric == "precomputed":
        raise ValueError("pairwise: metric must not be 'precomputed'; the distances are there already.")
    if squared and metric != "euclidean":
        raise ValueError(f"pairwise: squared=True must go with metric='euclidean'; got metric={metric!r}.")
    Q, R = two_tables(X, Y, "pairwise")
    if metric in ("euclidean", "cosine"):
        exponent = excess(R) if metric == "euclidean" else 0
        block = _from_products(
            over_power(Q, exponent), over_power(R, exponent), metric, root=metric == "euclidean" and not squared
        )
        block = over_power(block, -exponent * (2 if squared else 1))
    elif metric == METRICS["expected"]:
        block = expected_block(Q, R, lambda A, B: pairwise(A, B, squared=True))
    elif metric == METRICS["pairwise"]:
        block = pairwise_block(Q, R)
    else:
        block = _measured(Q, R, metric)
    if Y is None:
        np.fill_diagonal(block, 0.0)
    return block


def _from_products(Q: Any, R: Any, metric: Metric, root: bool) -> np.ndarray:
    """Euclidean distances or their squares; cosine distances as half the squared chord of unit rows."""
    q_scales, r_scales = row_scales(Q, metric), row_scales(R, metric)
    # Centring by R alone: a row's distances must not depend on the other rows of its batch.
    dense = not sparse.issparse(R)
    center = origin(R) if dense and metric == "euclidean" and R.size else None
    if center is None and metric == "euclidean":
        left, right = Q, R
    else:
        right = scaled(R, r_scales, center)
        left = right if Q is R else scaled(Q, q_scales, center)
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows here is measured by differences
        product = left @ right.T
        norms = [squared_norms(rows).astype(R.dtype) for rows in (left, right)]
    block = np.ascontiguousarray(product.toarray() if sparse.issparse(product) else product, dtype=R.dtype)
    if metric == "cosine":
        norms = [np.ones_like(values) for values in norms]
    row_pairs(Q, R, q_scales, r_scales).from_products(*norms, LOSS[R.dtype], root, block)
    if metric == "cosine":
        block *= 0.5
        np.minimum(block, 2.0, out=block)
        block[np.ix_(q_scales == 0, r_scales == 0)] = 0.0  # zero rows are equal rows
    return block


def _measured(Q: Any, R: Any, metric: Metric) -> np.ndarray:
    """Every pair by itself: our kernel for manhattan where rows are sparse or long, scipy for the rest."""
    if metric == "manhattan" and not sparse.issparse(Q) and Q.shape[1] < _LONG:
        return cdist(Q, R, "cityblock").astype(R.dtype, copy=False)
    if metric == "manhattan":
        block = np.empty((Q.shape[0], R.shape[0]), R.dtype)
        row_pairs(Q, R, row_scales(Q, metric), row_scales(R, metric)).block(1, block)
        return block
    if sparse.issparse(Q):
        raise ValueError(
            f"pairwise: metric must be one of {', '.join(OWN)} for sparse rows; got {metric!r}. Or pass X.toarray()."
        )
    return cdist(Q, R, metric).astype(R.dtype, copy=False)


def own_points(D: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows whose distances D to fitted ones say that they are fitted themselves, and the first column at 0 of each."""
    first = np.argmin(D, axis=1)
    rows = np.flatnonzero(D[np.arange(len(D)), first] == 0)
    return rows, first[rows]


def check_dissimilarities(D: Any, owner: str, *, sparse_ok: bool = False, unknown: bool = False) -> Any:
    """A table of dissimilarities fit for use: square, non-negative, finite, zero diagonal, symmetric.

    A condensed vector (as `scipy.spatial.distance.pdist` makes it) is expanded; integers become float64.
    Differences between the two halves of up to 1e-6 of the largest entry are taken for rounding and averaged
    away, on a copy; what is larger is refused. In a sparse graph the stored entries are the known distances,
    explicit zeros among them; it may hold a pair in one direction only.

    With `unknown`, NaN stands for a dissimilarity nobody knows; a pair is known where one of its halves is.
    """
    if sparse.issparse(D):
        if not sparse_ok:
            raise TypeError(f"{owner}: the dissimilarities must be dense; got a sparse matrix. Pass D.toarray().")
        return _check_graph(D, owner)
    table = real_array(D, f"{owner}: the table of dissimilarities")
    if table.ndim == 1:
        condensed_rows(table, owner)
        _check_entries(table[None], owner, unknown)
        return _each_known(squareform(table, checks=False), owner) if unknown else squareform(table, checks=False)
    if table.ndim != 2 or table.shape[0] != table.shape[1]:
        raise ValueError(
            f"{owner}: the dissimilarities must be a square table or a condensed vector; got shape {table.shape}."
        )
    largest = _check_entries(table, owner, unknown)
    return _symmetric(_each_known(table, owner) if unknown else table, largest, owner)


def condensed_rows(vector: np.ndarray, owner: str) -> int:
    """How many rows a condensed vector of n (n - 1) / 2 distances speaks about."""
    n = int(np.ceil(np.sqrt(2 * len(vector))))
    if len(vector) == 0 or n * (n - 1) // 2 != len(vector):
        raise ValueError(f"{owner}: a condensed vector must have n (n - 1) / 2 entries for some n; got {len(vector)}.")
    return n


def _check_entries(table: np.ndarray, owner: str, unknown: bool = False) -> float:
    """The largest entry; ValueError where one is NaN (unless that means unknown), infinite or negative."""
    low, high = (float(f.reduce(table, axis=None, initial=0.0)) for f in (np.fmin, np.fmax))
    if np.isinf(low) or np.isinf(high):
        raise ValueError(f"{owner}: the dissimilarities must be finite; got infinity.")
    if not unknown and (holes := int(np.isnan(table).sum())):
        raise ValueError(
            f"{owner}: the dissimilarities must be finite; got {holes} NaN. If they are unknown, lowdim.MDS takes "
            "them as they are (pairs of weight 0); or leave out items until all are known."
        )
    if low < 0:
        raise ValueError(
            f"{owner}: the dissimilarities must not be negative; got {low:g}. If these are similarities, "
            "lowdim.dissimilarities(S, conversion=...) turns them around."
        )
    return high


def _each_known(table: np.ndarray, owner: str) -> np.ndarray:
    """Unknown entries taken from the other half where that is known; ValueError for an item nothing is known about."""
    holes = np.isnan(table)
    if not holes.any():
        return table
    filled = np.where(holes, table.T, table)
    np.fill_diagonal(filled, np.where(np.isnan(np.diagonal(table)), 0.0, np.diagonal(table)))
    known = (~np.isnan(filled)).sum(axis=1) - 1
    if len(table) > 1 and not known.all():
        alone = np.flatnonzero(known == 0)
        raise ValueError(
            f"{owner}: {len(alone)} items have no known dissimilarity (the first is item {alone[0]}), so nothing is "
            "known about their places. Leave them out."
        )
    return filled


def _symmetric(table: np.ndarray, largest: float, owner: str) -> np.ndarray:
    """`table` itself when it is exactly symmetric with a zero diagonal, else the average of its halves."""
    allowed = 1e-6 * largest
    diagonal = float(np.abs(np.diagonal(table)).max(initial=0.0))
    if diagonal > allowed:
        raise ValueError(
            f"{owner}: the dissimilarities must be 0 on the diagonal; got {diagonal:g}. If these are similarities, "
            "lowdim.dissimilarities(S, conversion=...) turns them around; if the diagonal means nothing, "
            "np.fill_diagonal(D, 0)."
        )
    parts = threads.blocks(len(table), max(1, 2**20 // max(1, len(table))))
    gap = max((float(np.fmax.reduce(g, axis=None, initial=0.0)) for g in _gaps(table, parts)), default=0.0)
    if gap > allowed:
        pairs = sum(int((g > allowed).sum()) for g in _gaps(table, parts)) // 2
        half = not np.triu(table, 1).any() or not np.tril(table, -1).any()
        raise ValueError(
            f"{owner}: the dissimilarities must be symmetric; got entries that differ by {gap:g} ({gap / largest:.2g} "
            f"of the largest), in {pairs} of {len(table) * (len(table) - 1) // 2} pairs. "
            + ("Half of it is empty: pass D + D.T." if half else "Pass (D + D.T) / 2 if the two halves mean the same.")
        )
    if gap == 0 and diagonal == 0:
        return table
    average = table + table.T
    average *= 0.5
    np.fill_diagonal(average, 0.0)
    return average


def _gaps(table: np.ndarray, parts: list[slice]) -> Iterator[np.ndarray]:
    """How far the two halves are apart, some rows at a time."""
    return (np.abs(table[part] - table[:, part].T) for part in parts)


def _check_graph(D: Any, owner: str) -> Any:
    graph = real_sparse(D, f"{owner}: the graph of distances")
    if graph.shape[0] != graph.shape[1]:
        raise ValueError(f"{owner}: a sparse graph of distances must be square; got shape {graph.shape}.")
    largest = _check_entries(graph.data[None], owner)
    if np.abs(graph.diagonal()).max(initial=0.0) > 1e-6 * largest:
        raise ValueError(f"{owner}: a sparse graph of distances must be 0 on the diagonal.")
    return graph

"""Nearest neighbours: the one front door of the package.

`nearest` gives the k nearest rows of every row, `within` all rows inside a radius; both exact, for rows, for
sparse rows and for distances that are there already. How rows are searched is the business of `exact`; a row
is left out of its own neighbours by its index, never by its distance, so that duplicates stay in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse

from lowdim._core.distances import (
    OWN,
    Metric,
    check_metric,
    compiled,
    condensed_rows,
    pairwise,
    real_array,
    real_sparse,
)
from lowdim._core.neighbors.exact import (
    NOBODY,
    Found,
    Pairs,
    Search,
    fill_zero_rows,
    nearest_rows,
    open_search,
    own_index,
    rows_within,
)
from lowdim._core.runtime import threads

_ROWS, _COLUMNS = 256, 4096  # a block of measured distances: 8 MB in float64
SEARCH: dict[str, bool | None] = {"auto": None, "exact": False, "approximate": True}  # what estimators call it
_MANY = 20_000  # rows from which comparing all pairs takes seconds, and approximate search pays


@dataclass(frozen=True, eq=False)
class Neighbors:
    """The k nearest rows of each row: nearest first, ties by index, the row itself left out by index.

    Attributes
    ----------
    indices : ndarray of shape (m, k), int32
    distances : ndarray of shape (m, k)
        In the precision of the input.
    """

    indices: np.ndarray
    distances: np.ndarray


def nearest(
    X: Any,
    k: int,
    *,
    metric: Metric = "euclidean",
    queries: Any = None,
    n_jobs: int | None = None,
    approximate: bool | None = False,
    owner: str = "nearest",
    name: str = "k",
) -> Neighbors:
    """The k nearest neighbours of each row: exact, or nearly so where that is enough.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
        Rows to search. With ``metric="precomputed"`` their distances: a square table, a condensed vector, or
        a sparse graph whose stored entries are the known distances.
    k : int
        How many neighbours; at most n - 1, or n with `queries`.
    metric : str or callable
        As in `pairwise`, or "precomputed".
    queries : array or sparse matrix of shape (m, d), optional
        Rows to find neighbours for. None: the rows of `X`, each left out of its own neighbours by its index,
        so that its duplicates stay in. Precomputed: the (m, n) distances to the n rows; `X` can then be None.
    n_jobs : int, optional
        Threads. The result does not depend on it.
    approximate : bool or None
        True: search by `descent`, which finds 98 % and more of the neighbours of data with structure (its docstring has
        the measured recall); the distances of those found are exact. None: where it pays, that is, for many rows of
        more columns than a tree can handle. Only for the dense rows of `X` themselves under euclidean and cosine
        distances; others are searched exactly.
    owner : str
        Who asks; error messages begin with it.
    name : str
        What `k` is called there.

    Returns
    -------
    Neighbors

    Examples
    --------
    >>> nearest([[0.0], [1.0], [3.0]], 1).indices.ravel()
    array([1, 0, 1], dtype=int32)
    """
    metric = check_metric(metric, owner)
    if metric == "precomputed":
        return _nearest_known(X, k, queries, n_jobs, owner, name)
    if queries is None and (found := _remembered(X, k, metric, approximate)) is not None:
        return found
    search = open_search(X, queries, metric, owner)
    _check_k(k, search.X.shape[0], queries is None, owner, name)
    nearly = _may_approximate(search, k, approximate)
    found = _nearly(search, k, n_jobs) if nearly else _search(search, k, n_jobs, owner)
    if queries is None:
        _remember(X, metric, nearly, found)
    return found


def _may_approximate(search: Search, k: int, asked: bool | None) -> bool:
    """Whether the approximate search is wanted and has something to offer."""
    n = search.X.shape[0]
    fits = search.same and not sparse.issparse(search.X) and search.metric in ("euclidean", "cosine") and k < n // 2
    return fits and (asked is True or (asked is None and n >= _MANY and search.route(k) != "tree"))


def _nearly(search: Search, k: int, n_jobs: int | None) -> Neighbors:
    """Approximate neighbours, measured and sorted like exact ones."""
    from lowdim._core.neighbors.nn_descent import descend

    indices, _ = descend(search.X, k, metric=str(search.metric), n_jobs=n_jobs)
    values = np.empty(indices.shape)

    def measure(rows: slice) -> None:
        values[rows], indices[rows] = search.refine(np.arange(rows.start, rows.stop, dtype=np.int32), indices[rows])

    threads.map_rows(measure, len(indices), _ROWS, n_jobs)
    distances = search.distances(values)
    fill_zero_rows(search, k, distances, indices)
    with np.errstate(over="ignore"):
        return Neighbors(indices, distances.astype(search.X.dtype, copy=False))


def _search(search: Search, k: int, n_jobs: int | None, owner: str) -> Neighbors:
    if search.metric in OWN:
        values, indices = nearest_rows(search, k, n_jobs)
    else:
        shape = search.Q.shape[0], search.X.shape[0]
        table = _Table(_measured(search, owner), shape, search.skip, np.dtype(np.float64))
        values, indices = _nearest_listed(table, k, n_jobs)
    with np.errstate(over="ignore"):  # a distance beyond float32 is infinite; who needs it finite says so
        return Neighbors(indices, values.astype(search.X.dtype, copy=False))


# Inside `shared`: ((where the rows lie, metric), approximate) -> the rows, which keeps them there, and what was found.
_found: ContextVar[dict[Any, tuple[Any, Neighbors]] | None] = ContextVar("lowdim_shared_neighbors", default=None)


@contextmanager
def shared(X: Any = None) -> Iterator[None]:
    """Inside, neighbours of the same rows are searched once: methods run side by side share what was found.

    `X` is there for the reader; rows are recognised by where they lie in memory, and must not be changed inside.
    """
    token = _found.set({})
    try:
        yield
    finally:
        _found.reset(token)


def _key(X: Any, metric: Metric) -> Any:
    if not isinstance(X, np.ndarray) or not isinstance(metric, str):
        return None
    return X.__array_interface__["data"][0], X.shape, X.strides, X.dtype.str, metric


def _remembered(X: Any, k: Any, metric: Metric, approximate: bool | None) -> Neighbors | None:
    memo, key = _found.get(), _key(X, metric)
    if memo is None or key is None:
        return None
    # Exact neighbours serve everybody, approximate ones whoever allows them.
    kinds = (False,) if approximate is False else (False, True)
    known = [memo[(key, kind)][1] for kind in kinds if (key, kind) in memo]
    found = next((found for found in known if _is_count(k, found.indices.shape[1])), None)
    if found is None:
        return None
    return Neighbors(np.ascontiguousarray(found.indices[:, :k]), np.ascontiguousarray(found.distances[:, :k]))


def _remember(X: Any, metric: Metric, nearly: bool, found: Neighbors) -> None:
    memo, key = _found.get(), _key(X, metric)
    if memo is not None and key is not None:
        memo[(key, nearly)] = (X, found)


def _is_count(k: Any, most: int) -> bool:
    return isinstance(k, Integral) and not isinstance(k, (bool, np.bool_)) and 1 <= int(k) <= most


def _check_k(k: Any, n: int, own: bool, owner: str, name: str) -> None:
    """`k` must be a number of neighbours that n rows have; one less where a row is not its own neighbour."""
    most = n - own
    if most < 1:
        raise ValueError(f"{owner}: X must have at least 2 rows; got {n}.")
    if not _is_count(k, most):
        raise ValueError(f"{owner}: {name} must be an integer from 1 to {most} for {n} rows; got {k!r}.")


def within(
    X: Any,
    radius: float,
    *,
    metric: Metric = "euclidean",
    queries: Any = None,
    n_jobs: int | None = None,
    owner: str = "within",
) -> sparse.csr_array:
    """All pairs of rows at most `radius` apart.

    Parameters
    ----------
    X, metric, queries, n_jobs, owner
        As in `nearest`.
    radius : float
        The largest distance that counts, not negative.

    Returns
    -------
    csr_array of shape (m, n)
        The distances, sorted by column; those of duplicates are stored zeros. A row and itself are no pair.

    Examples
    --------
    >>> within([[0.0], [1.0], [3.0]], 1.5).toarray()
    array([[0., 1., 0.],
           [1., 0., 0.],
           [0., 0., 0.]])
    """
    metric = check_metric(metric, owner)
    if not isinstance(radius, (int, float, np.number)) or isinstance(radius, bool) or not 0 <= radius < np.inf:
        raise ValueError(f"{owner}: radius must be a finite number that is not negative; got {radius!r}.")
    if metric == "precomputed":
        return _within_known(X, float(radius), queries, n_jobs, owner)
    search = open_search(X, queries, metric, owner)
    shape, dtype = (search.Q.shape[0], search.X.shape[0]), search.X.dtype
    if metric in OWN and (metric != "manhattan" or search.route(1) == "tree"):
        return _graph(rows_within(search, float(radius), n_jobs), shape, dtype)
    table = _Table(_measured(search, owner), shape, search.skip, dtype)
    return _graph(_listed_within(table, float(radius), n_jobs), shape, dtype)


def _graph(parts: list[Pairs], shape: tuple[int, int], dtype: Any) -> Any:
    rows, columns, values = (np.concatenate(pieces) for pieces in zip(*parts, strict=True))
    graph = sparse.csr_array((values.astype(dtype, copy=False), (rows, columns)), shape=shape)
    graph.sort_indices()
    return graph


# ---- distances that are read block by block, measured or known ---------------------------------------------


@dataclass(frozen=True, eq=False)
class _Table:
    """A table of distances that need not exist as a whole."""

    read: Callable[[slice, slice], np.ndarray]
    shape: tuple[int, int]
    skip: np.ndarray
    dtype: np.dtype


def _measured(search: Search, owner: str) -> Callable[[slice, slice], np.ndarray]:
    """Blocks of a metric that has no engine of its own."""
    own = search.metric in OWN
    Q, X = (rows if own else rows.astype(np.float64, copy=False) for rows in (search.Q, search.X))

    def read(rows: slice, columns: slice) -> np.ndarray:
        block = pairwise(Q[rows], X[columns], search.metric)
        if np.isnan(block).any():
            i, j = (int(found[0]) for found in np.nonzero(np.isnan(block)))
            raise ValueError(
                f"{owner}: metric {search.metric!r} must be defined for every pair of rows; got NaN for "
                f"query {rows.start + i} and row {columns.start + j}. Drop such rows or use another metric."
            )
        return block

    return read


def _nearest_listed(table: _Table, k: int, n_jobs: int | None) -> Found:
    m, n = table.shape

    def find(rows: slice) -> Found:
        values = np.full((rows.stop - rows.start, k), np.inf, table.dtype)
        indices = np.full(values.shape, NOBODY, np.int32)
        for columns in threads.blocks(n, _COLUMNS):
            block = np.ascontiguousarray(table.read(rows, columns))
            compiled.top_distances(block, columns.start, table.skip[rows], values, indices)
        compiled.sort_top(values, indices)
        return values, indices

    values, indices = zip(*threads.map_rows(find, m, min(_ROWS, max(8, 2**21 // k)), n_jobs), strict=True)
    return np.concatenate(values), np.concatenate(indices)


def _listed_within(table: _Table, radius: float, n_jobs: int | None) -> list[Pairs]:
    m, n = table.shape

    def find(rows: slice) -> Pairs:
        found = []
        for columns in threads.blocks(n, _COLUMNS):
            block = table.read(rows, columns)
            i, j = np.nonzero(block <= block.dtype.type(radius))
            found.append((i + rows.start, j + columns.start, block[i, j]))
        i, j, values = (np.concatenate(pieces) for pieces in zip(*found, strict=True))
        kept = j != table.skip[i]
        return i[kept], j[kept], values[kept]

    return threads.map_rows(find, m, _ROWS, n_jobs)


# ---- precomputed distances ---------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Known:
    """Precomputed distances: a table, a condensed vector or a sparse graph."""

    values: Any
    shape: tuple[int, int]
    skip: np.ndarray
    owner: str

    @property
    def table(self) -> _Table:
        return _Table(self.read, self.shape, self.skip, self.values.dtype)

    def read(self, rows: slice, columns: slice) -> np.ndarray:
        if self.values.ndim == 2:
            block = self.values[rows, columns]
        else:
            i, j = np.ogrid[rows, columns]
            low, high = np.minimum(i, j), np.maximum(i, j)
            place = self.shape[0] * low - low * (low + 1) // 2 + high - low - 1
            block = np.where(i == j, 0, self.values[np.where(i == j, 0, place)])
        if not block.min() >= 0 or not block.max() < np.inf:
            raise ValueError(
                f"{self.owner}: precomputed distances must be finite and not negative; got otherwise in rows "
                f"{rows.start} to {rows.stop - 1}."
            )
        return block


def _known(X: Any, queries: Any, owner: str) -> _Known:
    """The distances to read from (those of `queries` where given) and the shape of their table."""
    n = np.shape(queries)[1] if X is None else _known_rows(X, owner)
    values = X if queries is None else queries
    what = f"{owner}: the table of precomputed distances"
    values = (real_sparse if sparse.issparse(values) else real_array)(values, what)
    shape = (n, n) if queries is None else values.shape
    if len(shape) != 2 or shape[1] != n or not shape[0]:
        raise ValueError(
            f"{owner}: precomputed queries must hold the distances to the {n} rows, one column each; got shape {shape}."
        )
    return _Known(values, shape, own_index(shape[0], queries), owner)


def _known_rows(X: Any, owner: str) -> int:
    shape = X.shape if sparse.issparse(X) else np.shape(X)
    if len(shape) == 1:
        return condensed_rows(np.asarray(X), owner)
    if len(shape) != 2 or shape[0] != shape[1]:
        raise ValueError(
            f"{owner}: precomputed distances must be a square table, a condensed vector or a sparse graph; "
            f"got shape {shape}."
        )
    return int(shape[0])


def _nearest_known(X: Any, k: int, queries: Any, n_jobs: int | None, owner: str, name: str) -> Neighbors:
    known = _known(X, queries, owner)
    _check_k(k, known.shape[1], queries is None, owner, name)
    if sparse.issparse(known.values):
        return _stored_nearest(known, k, name)
    values, indices = _nearest_listed(known.table, k, n_jobs)
    return Neighbors(indices, values)


def _within_known(X: Any, radius: float, queries: Any, n_jobs: int | None, owner: str) -> sparse.csr_array:
    known = _known(X, queries, owner)
    if not sparse.issparse(known.values):
        return _graph(_listed_within(known.table, radius, n_jobs), known.shape, known.values.dtype)
    rows, columns, values = _stored(known)
    near = values <= values.dtype.type(radius)
    return _graph([(rows[near], columns[near], values[near])], known.shape, values.dtype)


def _stored(known: _Known) -> Pairs:
    """(row, column, distance) of the stored entries, without the diagonal."""
    entries = known.values.tocoo()
    values = entries.data
    if values.size and (not values.min() >= 0 or not values.max() < np.inf):
        raise ValueError(f"{known.owner}: precomputed distances must be finite and not negative.")
    kept = entries.col != known.skip[entries.row]
    return entries.row[kept], entries.col[kept], values[kept]


def _stored_nearest(known: _Known, k: int, name: str) -> Neighbors:
    rows, columns, values = _stored(known)
    counts = np.bincount(rows, minlength=known.shape[0])
    if (counts < k).any():
        row = int(np.argmax(counts < k))
        raise ValueError(
            f"{known.owner}: a sparse graph must store at least {k} distances per row, diagonal not counted; "
            f"row {row} has {counts[row]}. Store more distances or lower {name}."
        )
    order = np.lexsort((columns, values, rows))
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    chosen = order[starts[:, None] + np.arange(k)]
    return Neighbors(columns[chosen].astype(np.int32), values[chosen])

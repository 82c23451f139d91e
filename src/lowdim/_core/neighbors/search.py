"""Nearest neighbours: the front door.

`nearest` gives the k nearest rows of every row, `within` all rows inside a radius; both exact, for rows, for
sparse rows and for precomputed distances. A row
is left out of its own neighbours by its index, never by its distance, so that duplicates stay in.
"""

from __future__ import annotations

from dataclasses import replace
from inspect import isfunction
from typing import Any

import numpy as np
from scipy import sparse

from lowdim._core.distances import (
    CODED,
    OWN,
    Metric,
    Moved,
    as_rows,
    check_function,
    check_metric,
    moved,
    moved_rows,
)
from lowdim._core.gpu.devices import Device
from lowdim._core.neighbors import on_device
from lowdim._core.neighbors.exact_nearest import fill_zero_rows, nearest_rows
from lowdim._core.neighbors.exact_radius import rows_within
from lowdim._core.neighbors.given import nearest_known, within_known
from lowdim._core.neighbors.measured import (
    MEASURED_ROWS,
    Measured,
    listed_within,
    measured_blocks,
    nearest_listed,
    refined,
)
from lowdim._core.neighbors.prepared import Search, open_search
from lowdim._core.neighbors.record import Neighbors, check_k, graph_of_pairs
from lowdim._core.neighbors.shared import remember, remembered
from lowdim._core.runtime import threads

SEARCH: dict[str, bool | None] = {"auto": None, "exact": False, "approximate": True}  # what estimators call it
_MANY = 20_000  # rows from which comparing all pairs takes seconds, and approximate search pays
_MANY_MIXED = 50_000  # the same for numbers and categories: rows are short, and descent finds 97 to 98 % (record 132)


def nearest(
    X: Any,
    k: int,
    *,
    metric: Metric = "euclidean",
    queries: Any = None,
    n_jobs: int | None = None,
    approximate: bool | None = False,
    device: Device | None = None,
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
        more columns than a tree can handle. Only for the rows of `X` themselves, dense or sparse, under the metrics
        that compiled loops measure; others are searched exactly.
    device : Device, optional
        A GPU, for dense rows under euclidean and cosine distances; others are searched on the CPU.
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
        return nearest_known(X, k, queries, n_jobs, owner, name)
    if queries is None and (found := remembered(X, k, metric, approximate)) is not None:
        return found
    if (form := moved(metric, X)) is not None:
        found = _nearest_moved(
            form, X, k, metric, queries, n_jobs=n_jobs, approximate=approximate, device=device, owner=owner, name=name
        )
        if queries is None:
            remember(X, metric, approximate is not False, found)
        return found
    search = open_search(X, queries, metric, owner) if device is None else on_device.opened(X, queries, metric, owner)
    check_k(k, search.X.shape[0], queries is None, owner, name)
    if queries is None and isfunction(metric):
        check_function(search.X, metric, owner)
    if device is not None and on_device.takes(search):
        nearly = on_device.may_approximate(search, k, approximate)
        found = on_device.nearest_on(device, search, k, nearly, owner)
    else:
        nearly = _may_approximate(search, k, approximate)
        found = _nearly(search, k, n_jobs) if nearly else _search(search, k, n_jobs, owner)
    if queries is None:
        remember(X, metric, nearly, found)
    return found


def _nearest_moved(
    form: Moved, X: Any, k: int, metric: Metric, queries: Any, *, owner: str, name: str, **settings: Any
) -> Neighbors:
    """Neighbours under a metric that is another one of other rows."""
    own, asked = _moved_tables(form, X, metric, queries, owner)
    dtype = np.result_type(own[0].dtype, own[0].dtype if asked is None else asked[0].dtype)
    found = nearest(
        own[1], k, metric=form.metric, queries=None if asked is None else asked[1], owner=owner, name=name, **settings
    )
    with np.errstate(over="ignore"):
        return replace(found, distances=form.distances(found.distances).astype(dtype, copy=False))


def _moved_tables(form: Moved, X: Any, metric: Metric, queries: Any, owner: str) -> Any:
    """The rows and the queries (or None), each as given and as the other metric measures them."""
    rows = as_rows(X, owner)
    own = rows, moved_rows(form, rows, metric, owner, "X")
    if queries is None:
        return own, None
    rows = as_rows(queries, owner, "queries")
    return own, (rows, moved_rows(form, rows, metric, owner, "queries"))


def _may_approximate(search: Search, k: int, asked: bool | None) -> bool:
    """Whether the approximate search is wanted and has something to offer."""
    n = search.X.shape[0]
    fits = search.same and k < n // 2 and (search.metric in OWN or search.table is not None)
    by_tree = search.metric in OWN and search.route(k) == "tree"
    many = _MANY_MIXED if search.metric == CODED else _MANY
    return fits and (asked is True or (asked is None and n >= many and not by_tree))


def _nearly(search: Search, k: int, n_jobs: int | None) -> Neighbors:
    """Approximate neighbours, measured and sorted like exact ones."""
    from lowdim._core.neighbors.nn_descent import nearest_by_descent

    indices, _ = nearest_by_descent(search.X, k, metric=search.metric, n_jobs=n_jobs)
    if search.table is not None:
        values, indices = refined(search.table, indices, n_jobs)
        return Neighbors(indices, values.astype(search.X.dtype, copy=False))
    values = np.empty(indices.shape)

    def measure(rows: slice) -> None:
        values[rows], indices[rows] = search.refine(np.arange(rows.start, rows.stop, dtype=np.int32), indices[rows])

    threads.map_rows(measure, len(indices), MEASURED_ROWS, n_jobs)
    distances = search.distances(values)
    fill_zero_rows(search, k, distances, indices)
    with np.errstate(over="ignore"):
        return Neighbors(indices, distances.astype(search.X.dtype, copy=False))


def _search(search: Search, k: int, n_jobs: int | None, owner: str) -> Neighbors:
    if search.metric in OWN:
        values, indices = nearest_rows(search, k, n_jobs)
    else:
        shape = search.Q.shape[0], search.X.shape[0]
        table = Measured(measured_blocks(search, owner), shape, search.skip, np.dtype(np.float64))
        values, indices = nearest_listed(table, k, n_jobs)
    with np.errstate(over="ignore"):  # a distance beyond float32 is infinite; who needs it finite says so
        return Neighbors(indices, values.astype(search.X.dtype, copy=False))


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
        return within_known(X, float(radius), queries, n_jobs, owner)
    if (form := moved(metric, X)) is not None:
        own, asked = _moved_tables(form, X, metric, queries, owner)
        reach = form.radius(float(radius)) * (1 + 1e-9)
        graph = within(own[1], reach, metric=form.metric, queries=asked and asked[1], n_jobs=n_jobs, owner=owner)
        return _cut(graph, form.distances(graph.data).astype(own[0].dtype), radius)
    search = open_search(X, queries, metric, owner)
    shape, dtype = (search.Q.shape[0], search.X.shape[0]), search.X.dtype
    if metric in OWN and (metric != "manhattan" or search.route(1) == "tree"):
        return graph_of_pairs(rows_within(search, float(radius), n_jobs), shape, dtype)
    table = Measured(measured_blocks(search, owner), shape, search.skip, dtype)
    return graph_of_pairs(listed_within(table, float(radius), n_jobs), shape, dtype)


def _cut(graph: sparse.csr_array, distances: np.ndarray, radius: float) -> sparse.csr_array:
    """The pairs of a graph whose distances, in another metric, are at most `radius`."""
    rows = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
    near = distances <= distances.dtype.type(radius)
    return graph_of_pairs([(rows[near], graph.indices[near], distances[near])], graph.shape, distances.dtype)

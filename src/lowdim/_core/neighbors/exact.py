"""Exact neighbour search: the engines behind `neighbors`.

Three engines give the same answer to the last bit, so the choice between them is a matter of time alone:

* *tree*: scipy's KD-tree, in low dimension;
* *products*: candidates from blocked matrix products and a running top k, in higher dimension;
* *scan*: every pair by its differences, for what the other two cannot decide.

The first two only propose. Their candidates are measured again by plain differences in float64 (`row_pairs`)
and ordered by (distance, index), and a bound on what was not proposed tells whether the k best are certain;
the rows where they are not (ties, duplicates, digits lost far from the origin) go to the scan.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial import cKDTree

from lowdim._core.distances import (
    OWN,
    Metric,
    compiled,
    excess,
    origin,
    over_power,
    row_pairs,
    row_scales,
    scaled,
    squared_norms,
    two_tables,
)
from lowdim._core.runtime import threads

NOBODY = np.iinfo(np.int32).max  # index of a place not filled yet; the kernels use the same
_ROWS, _COLUMNS = 512, 1024  # a block of products; half and twice the size take the same time
_SPARE = 8  # candidates beyond k that absorb the rounding of the products

Found = tuple[np.ndarray, np.ndarray]


# ---- the rows of one search --------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Products:
    """The rows as the products see them, shifted and scaled, and what their rounding can amount to."""

    Q: Any
    X: Any
    q_norms: np.ndarray
    half_norms: np.ndarray
    unit: float  # squared distances here = true ones times this
    rounding: float  # relative to squared norms; 0: the products are exact

    def candidates(self, rows: np.ndarray, skip: np.ndarray, k: int) -> Found:
        """The k smallest |y|^2 / 2 - x.y of each query row, as heaps: largest first."""
        values = np.full((len(rows), k), np.inf, self.half_norms.dtype)
        indices = np.full((len(rows), k), NOBODY, np.int32)
        for columns, product in self.blocks(rows):
            compiled.top_products(product, self.half_norms[columns], columns.start, skip, values, indices)
        return values, indices

    def blocks(self, rows: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
        """Products of these query rows with consecutive columns, in a buffer that is used again."""
        left, n = self.Q[rows], self.X.shape[0]
        if sparse.issparse(self.X):
            yield slice(0, n), (left @ self.X.T).toarray(order="C")
            return
        buffer = np.empty(len(rows) * min(n, _COLUMNS), self.X.dtype)
        for columns in threads.blocks(n, _COLUMNS):
            product = buffer[: len(rows) * (columns.stop - columns.start)].reshape(len(rows), -1)
            with np.errstate(over="ignore", invalid="ignore"):
                np.matmul(left, self.X[columns].T, out=product)
            yield columns, product

    def slack(self, rows: np.ndarray, squared: np.ndarray) -> np.ndarray:
        """How far |x|^2 + 2 value can be from the squared distance, for rows y no farther than `squared`.

        Such a y has |y| <= |x| + distance, so a far outlier does not spoil the bound of the others.
        """
        norms = self.q_norms[rows]
        reach = norms + (np.sqrt(norms) + np.sqrt(squared)) ** 2
        return self.rounding * reach + (self.rounding > 0) * 1e-35


@dataclass(frozen=True, eq=False)
class Search:
    """Query rows, searched rows, and how pairs of them are measured."""

    Q: Any
    X: Any
    metric: Metric
    same: bool  # the queries are the rows of X themselves
    skip: np.ndarray  # for each query its own index in X, or -1
    q_scales: np.ndarray
    x_scales: np.ndarray
    pairs: Any
    exponent: int = 0  # the rows are the given ones over 2**exponent, so that their squares stay in range

    @property
    def p(self) -> int:
        return 1 if self.metric == "manhattan" else 2

    def route(self, k: int) -> str:
        """The engine that is expected to take the least time.

        Microseconds, fitted to 512 queries against 1,000 to 100,000 standard normal rows of 2 to 14 columns
        (k = 15, one thread, AVX-512): a tree is ahead up to 5 columns at 1,000 rows and 7 at 100,000; beyond
        that the products, whose cost per pair is the same for any data; a scan where queries are few.
        """
        (m, d), n = self.Q.shape, self.X.shape[0]
        if sparse.issparse(self.X):
            return "scan" if self.p == 1 else "products"
        costs = {
            "tree": 0.2 * n + m * min(1.5 * 1.7 ** min(d, 100) * (0.5 + k / 30), n * (4 + d) * 1e-3),
            "scan": m * n * (5 + 0.7 * d) * 1e-3,
        }
        if self.p == 2:
            costs["products"] = n * (0.1 + 0.006 * d) + m * (7 + n * (1.1 + 0.016 * d) * 1e-3)
        return min(costs, key=lambda name: costs[name])

    def refine(self, rows: np.ndarray, indices: np.ndarray) -> Found:
        """The candidates measured by differences and sorted; powers of the distances."""
        values, indices = np.empty(indices.shape), np.array(indices, np.int32)
        self.pairs.refine(self.p, rows, values, indices)
        return values, indices

    def scan(self, rows: np.ndarray, k: int, bounds: np.ndarray | float = np.inf) -> Found:
        """The k nearest by looking at every pair; `bounds` are known not to be below the k-th value."""
        values = np.empty((len(rows), k))
        values[:] = np.reshape(bounds, (-1, 1))
        indices = np.full((len(rows), k), NOBODY, np.int32)
        self.pairs.scan(self.p, rows, self.skip[rows], values, indices)
        return values, indices

    def distances(self, values: np.ndarray) -> np.ndarray:
        """Powers of differences -> distances."""
        if self.metric == "cosine":  # half the squared chord
            return np.minimum(0.5 * values, 2.0)
        return over_power(np.sqrt(values), -self.exponent) if self.metric == "euclidean" else values

    def power(self, radius: float) -> float:
        """The inverse of `distances`."""
        own = radius * 2.0**-self.exponent
        return {"euclidean": own * own, "cosine": 2.0 * radius, "manhattan": radius}[str(self.metric)]

    def points(self, rows: Any, scales: np.ndarray) -> np.ndarray:
        """Coordinates for a tree; zero rows (cosine) get a direction of their own, orthogonal to the rest."""
        table = scaled(rows, scales, dtype=np.float64)
        if self.metric != "cosine" or (self.q_scales.all() and self.x_scales.all()):
            return table
        return np.column_stack([table, scales == 0])

    @cached_property
    def tree(self) -> cKDTree:
        # Splits at the middle instead of the median: as fast to query, twice as fast to build.
        return cKDTree(self.points(self.X, self.x_scales), balanced_tree=False, compact_nodes=False)

    @cached_property
    def single(self) -> Products:
        return self._products(np.float32)

    @cached_property
    def double(self) -> Products:
        return self._products(np.float64)

    def _products(self, dtype: Any) -> Products:
        center, unit, whole = _frame(self.Q, self.X, self.metric)
        shift = center if self.metric == "euclidean" and not sparse.issparse(self.X) else None
        X = scaled(self.X, self.x_scales * unit, shift, dtype)
        Q = X if self.Q is self.X else scaled(self.Q, self.q_scales * unit, shift, dtype)
        q_norms, x_norms = squared_norms(Q), squared_norms(X)
        if self.metric == "cosine":  # zero rows behave like unit rows orthogonal to everything
            q_norms, x_norms = (np.where(n == 0, 1.0, n) for n in (q_norms, x_norms))
        d, info = X.shape[1], np.finfo(dtype)
        # Rounding errors of a sum of d products add up like sqrt(d), not d (Higham and Mary 2019: 8 sqrt(d)
        # is exceeded with probability below 1e-13); whole numbers that fit into the mantissa have none.
        largest = max(q_norms.max(initial=0.0), x_norms.max(initial=0.0))
        exact = whole and 4 * largest < unit**2 * 2.0 ** (info.nmant + 1)
        rounding = 0.0 if exact else (min(d, 8 * np.sqrt(d)) + 8) * float(info.eps)
        return Products(Q, X, q_norms, (x_norms / 2).astype(dtype), unit**2, rounding)


def _frame(Q: Any, X: Any, metric: Metric) -> tuple[np.ndarray | None, float, bool]:
    """The origin of the products, their unit (a power of 2), and whether all coordinates are whole."""
    if metric == "cosine" or not X.size:
        return None, 1.0, False
    values = [rows.data if sparse.issparse(rows) else rows for rows in ((X,) if Q is X else (X, Q))]
    whole = all(_whole(part) for part in values)
    if sparse.issparse(X):
        center, span = None, max(float(np.abs(part).max(initial=0.0)) for part in values)
    else:
        center = np.rint(origin(X)) if whole else origin(X)
        span = float(np.maximum(X.max(axis=0) - center, center - X.min(axis=0)).max())
    exponent = np.clip(np.ceil(np.log2(span)), -500, 500) if span > 0 else 0.0
    return center, 2.0**-exponent, whole


def _whole(values: np.ndarray) -> bool:
    head = values[:16]  # settles it for almost all data
    return bool((head == np.rint(head)).all()) and bool((values == np.rint(values)).all())


def open_search(X: Any, queries: Any, metric: Metric, owner: str) -> Search:
    """Checked rows, ready for the engines."""
    X, Q = two_tables(X, queries, owner, ("X", "queries"))
    if sparse.issparse(X) and metric not in OWN:
        raise ValueError(
            f"{owner}: metric must be one of {', '.join(OWN)} for sparse rows; got {metric!r}. Or pass X.toarray()."
        )
    if not min(Q.shape[0], X.shape[0]):
        raise ValueError(f"{owner}: {'X' if Q.shape[0] else 'queries'} must have at least one row; got none.")
    exponent = excess(X) if metric == "euclidean" else 0
    if exponent:
        X, Q = over_power(X, exponent), over_power(Q, exponent)
    x_scales = row_scales(X, metric)
    q_scales = x_scales if Q is X else row_scales(Q, metric)
    pairs = row_pairs(Q, X, q_scales, x_scales)
    skip = own_index(Q.shape[0], queries)
    return Search(Q, X, metric, queries is None, skip, q_scales, x_scales, pairs, exponent)


def own_index(m: int, queries: Any) -> np.ndarray:
    """The index each of m queries must not find: its own, or -1 for queries from outside."""
    return np.arange(m, dtype=np.int32) if queries is None else np.full(m, -1, np.int32)


# ---- the three engines -------------------------------------------------------------------------------------
# Each gives a function of query rows -> (powers of distances, indices), exact, and how many rows to hand it.

Engine = tuple[int, Callable[[np.ndarray], Found]]


def _by_scan(search: Search, k: int) -> Engine:
    size = int(np.clip(3e8 / (search.X.shape[0] * search.X.shape[1] + 1), 8, _ROWS))
    return size, lambda rows: search.scan(rows, k)


def _by_tree(search: Search, k: int) -> Engine:
    n = search.X.shape[0]
    tree = search.tree
    points = tree.data if search.Q is search.X else search.points(search.Q, search.q_scales)

    def propose(rows: np.ndarray, attempt: int) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        wanted = min(n, (k + 2) * 4**attempt)
        if attempt > 1:
            return None
        reached, indices = (found.reshape(len(rows), -1) for found in tree.query(points[rows], wanted, p=search.p))
        indices = np.where(indices == search.skip[rows, None], NOBODY, indices)
        values, indices = search.refine(rows, indices)
        # What was not proposed is at least as far as the last proposal, but for rounding.
        certain = (wanted == n) | (values[:, k - 1] < reached[:, -1] ** search.p * (1 - 1e-9))
        return values, indices, certain

    return min(2048, max(16, 2**20 // k)), _settle(search, k, propose)


def _by_products(search: Search, k: int) -> Engine:
    n = search.X.shape[0]
    there = n - int(search.same)
    wanted = min(there, k + _SPARE + k // 8)
    stages = ("double",) if sparse.issparse(search.X) else ("single", "double")
    getattr(search, stages[0])  # prepared before the threads start

    def propose(rows: np.ndarray, attempt: int) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        if attempt == len(stages) or (attempt and len(rows) <= 16):
            return None
        products: Products = getattr(search, stages[attempt])
        heaps, indices = products.candidates(rows, search.skip[rows], wanted)
        values, indices = search.refine(rows, indices)
        kth = values[:, k - 1] * products.unit
        floor = products.q_norms[rows] + 2.0 * heaps[:, 0]  # of the squared distances that were not proposed
        certain = kth + products.slack(rows, kth) < floor
        return values, indices, certain | (products.rounding == 0) | (wanted == there)

    size = max(1, 2**22 // n) if sparse.issparse(search.X) else max(16, 2**20 // wanted)
    return min(_ROWS, size), _settle(search, k, propose)


def _settle(search: Search, k: int, propose: Callable[..., Any]) -> Callable[[np.ndarray], Found]:
    """Proposals until every row of the block is certain, the scan for the rows that never are."""

    def find(rows: np.ndarray) -> Found:
        values, indices = np.full((len(rows), k), np.inf), np.empty((len(rows), k), np.int32)
        open_ = np.arange(len(rows))
        attempt = 0
        while len(open_) and (proposal := propose(rows[open_], attempt)) is not None:
            values[open_], indices[open_] = proposal[0][:, :k], proposal[1][:, :k]
            open_ = open_[~proposal[2]]
            attempt += 1
        if len(open_):
            values[open_], indices[open_] = search.scan(rows[open_], k, values[open_, -1])
        return values, indices

    return find


def nearest_rows(search: Search, k: int, n_jobs: int | None, route: str | None = None) -> Found:
    """Distances and indices of the k nearest rows of every query."""
    route = route or search.route(k)
    size, find = {"tree": _by_tree, "products": _by_products, "scan": _by_scan}[route](search, k)
    m = search.Q.shape[0]
    # In the order of the tree's leaves neighbouring queries walk the same nodes: a third less time.
    leaves = route == "tree" and search.same
    order = search.tree.indices.astype(np.int32) if leaves else np.arange(m, dtype=np.int32)
    values, indices = np.empty((m, k)), np.empty((m, k), np.int32)

    def fill(part: slice) -> None:
        values[order[part]], indices[order[part]] = find(order[part])

    threads.map_rows(fill, m, size, n_jobs)
    distances = search.distances(values)
    fill_zero_rows(search, k, distances, indices)
    return distances, indices


def fill_zero_rows(search: Search, k: int, distances: np.ndarray, indices: np.ndarray) -> None:
    """What zero rows find under cosine: the zero rows at 0, then all others at 1.

    The engines take them for orthogonal to everything, to each other as well.
    """
    zero = search.x_scales == 0
    order = np.concatenate([np.flatnonzero(zero), np.flatnonzero(~zero)])[: k + 1]
    for i in np.flatnonzero(search.q_scales == 0):
        indices[i] = order[order != search.skip[i]][:k]
        distances[i] = np.where(zero[indices[i]], 0.0, 1.0)


# ---- all rows within a radius ------------------------------------------------------------------------------

Pairs = tuple[np.ndarray, np.ndarray, np.ndarray]


def rows_within(search: Search, radius: float, n_jobs: int | None, route: str | None = None) -> list[Pairs]:
    """Blocks of (query, row, distance) for all pairs at most `radius` apart, a row and itself left out.

    By a tree or by products, so not for manhattan where the route is "scan".
    """
    route = route or search.route(1)
    propose = (_pairs_by_tree if route == "tree" else _pairs_by_products)(search, radius)

    def find(part: slice) -> Pairs:
        queries, columns = propose(np.arange(part.start, part.stop, dtype=np.int32))
        queries, columns = _with_zero_pairs(search, part, queries, columns)
        kept = columns != search.skip[queries]
        queries, columns = queries[kept], columns[kept]
        values = np.empty(len(queries))
        search.pairs.pairs(search.p, queries, columns, values)
        with np.errstate(over="ignore"):
            distances = search.distances(values).astype(search.X.dtype)
        distances[(search.q_scales[queries] == 0) & (search.x_scales[columns] == 0)] = 0.0  # zero rows are equal
        near = distances <= search.X.dtype.type(radius)
        return queries[near], columns[near], distances[near]

    size = min(_ROWS, max(1, 2**22 // search.X.shape[0])) if sparse.issparse(search.X) else _ROWS
    return threads.map_rows(find, search.Q.shape[0], size, n_jobs)


def _with_zero_pairs(search: Search, part: slice, queries: np.ndarray, columns: np.ndarray) -> Found:
    """The proposed pairs and, under cosine, all pairs of zero rows, each once."""
    here, there = np.flatnonzero(search.q_scales[part] == 0) + part.start, np.flatnonzero(search.x_scales == 0)
    if not len(here) or not len(there):
        return queries, columns
    other = (search.q_scales[queries] != 0) | (search.x_scales[columns] != 0)
    pairs = np.repeat(here, len(there)), np.tile(there, len(here))
    joined = [np.concatenate([a[other], b]).astype(np.int32) for a, b in zip((queries, columns), pairs, strict=True)]
    return joined[0], joined[1]


def _pairs_by_tree(search: Search, radius: float) -> Callable[[np.ndarray], Found]:
    reach = search.power(radius) ** (1 / search.p) * (1 + 1e-6)  # float32 rounds outwards by up to 6e-8
    tree = search.tree
    points = tree.data if search.Q is search.X else search.points(search.Q, search.q_scales)

    def propose(rows: np.ndarray) -> Found:
        found = cKDTree(points[rows]).sparse_distance_matrix(tree, reach, p=search.p, output_type="ndarray")
        return rows[found["i"]], found["j"].astype(np.int32)

    return propose


def _pairs_by_products(search: Search, radius: float) -> Callable[[np.ndarray], Found]:
    products = search.double if sparse.issparse(search.X) else search.single
    reach = search.power(radius) * (1 + 1e-6) * products.unit

    def propose(rows: np.ndarray) -> Found:
        bound = reach + products.slack(rows, np.full(len(rows), reach)) * (1 + 1e-6)
        limits = ((bound - products.q_norms[rows]) / 2).astype(products.half_norms.dtype)[:, None]
        limits = np.nextafter(limits, np.inf, dtype=limits.dtype)
        found = []
        for columns, product in products.blocks(rows):
            np.subtract(products.half_norms[columns], product, out=product)
            i, j = np.nonzero(~(product > limits))
            found.append((rows[i], (j + columns.start).astype(np.int32)))
        queries, indices = zip(*found, strict=True)
        return np.concatenate(queries), np.concatenate(indices)

    return propose

"""The rows of one exact search, prepared once: scaled, centred, with their norms."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial import cKDTree

from lowdim import _native
from lowdim._core.distances import (
    OWN,
    Metric,
    Table,
    check_domain,
    csr_parts,
    excess,
    origin,
    over_power,
    refusal_of_sparse,
    row_pairs,
    row_scales,
    scaled,
    squared_norms,
    table_of,
    two_tables,
)
from lowdim._core.runtime import threads

NOBODY = np.iinfo(np.int32).max  # index of a place not filled yet; the kernels use the same
BLOCK_ROWS, BLOCK_COLUMNS = 512, 1024  # a block of products; half and twice the size take the same time
SPARSE_COLUMNS = 4096  # of sparse rows: the products of one query stay in the cache while cells are added to them

Found = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True, eq=False)
class Products:
    """The rows as the products see them, shifted and scaled, and what their rounding can amount to."""

    Q: Any
    X: Any
    q_norms: np.ndarray
    half_norms: np.ndarray
    unit: float  # squared distances here = true ones times this
    rounding: float  # relative to squared norms; 0: the products are exact
    _inverted: dict[int, tuple[np.ndarray, np.ndarray, np.ndarray]] = field(
        default_factory=dict
    )  # blocks of sparse rows, column by column

    def candidates(self, rows: np.ndarray, skip: np.ndarray, k: int) -> Found:
        """The k smallest |y|^2 / 2 - x.y of each query row, as heaps: largest first."""
        values = np.full((len(rows), k), np.inf, self.half_norms.dtype)
        indices = np.full((len(rows), k), NOBODY, np.int32)
        for columns, product in self.blocks(rows):
            _native.top_products(product, self.half_norms[columns], columns.start, skip, values, indices)
        return values, indices

    def blocks(self, rows: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
        """Products of these query rows with consecutive columns, in a buffer that is used again."""
        left, n = self.Q[rows], self.X.shape[0]
        if sparse.issparse(self.X):
            yield from self._sparse_blocks(left)
            return
        buffer = np.empty(len(rows) * min(n, BLOCK_COLUMNS), self.X.dtype)
        for columns in threads.blocks(n, BLOCK_COLUMNS):
            product = buffer[: len(rows) * (columns.stop - columns.start)].reshape(len(rows), -1)
            with np.errstate(over="ignore", invalid="ignore"):
                np.matmul(left, self.X[columns].T, out=product)
            yield columns, product

    def _sparse_blocks(self, left: Any) -> Iterator[tuple[slice, np.ndarray]]:
        parts = csr_parts(left)
        for columns in threads.blocks(self.X.shape[0], SPARSE_COLUMNS):
            key = columns.start
            if key not in self._inverted:
                self._inverted[key] = csr_parts(sparse.csr_array(self.X[columns].T))
            product = np.empty((left.shape[0], columns.stop - columns.start))
            _native.shared_cell_block(*parts, *self._inverted[key], False, product)
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
    def table(self) -> Table | None:
        """The rows as compiled loops compare them pair by pair; None for metrics with engines and for functions."""
        return None if self.metric in OWN else table_of(self.Q, self.X, self.metric)

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
    if not min(Q.shape[0], X.shape[0]):
        raise ValueError(f"{owner}: {'X' if Q.shape[0] else 'queries'} must have at least one row; got none.")
    check_domain(X, metric, owner)
    if Q is not X:
        check_domain(Q, metric, owner, "queries")
    exponent = excess(X) if metric == "euclidean" else 0
    if exponent:
        X, Q = over_power(X, exponent), over_power(Q, exponent)
    x_scales = row_scales(X, metric)
    q_scales = x_scales if Q is X else row_scales(Q, metric)
    pairs = row_pairs(Q, X, q_scales, x_scales)
    skip = own_index(Q.shape[0], queries)
    search = Search(Q, X, metric, queries is None, skip, q_scales, x_scales, pairs, exponent)
    if sparse.issparse(X) and metric not in OWN and search.table is None:
        raise refusal_of_sparse(metric, owner)
    return search


def own_index(m: int, queries: Any) -> np.ndarray:
    """The index each of m queries must not find: its own, or -1 for queries from outside."""
    return np.arange(m, dtype=np.int32) if queries is None else np.full(m, -1, np.int32)

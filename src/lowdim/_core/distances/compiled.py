"""Tables of rows that compiled loops measure pair by pair, under the metrics that no matrix product gives.

`table_of` makes one of two tables of rows. Its `block` and `listed` give distances in float64; a pair has the same bits
in both. Dense rows are compared cell by cell (`LoopRows`), rows of True and False by the bits they share (`BitRows`),
sparse rows by the cells they share (`SparseRows`) or in the columns that either has (`merged.MergedRows`), numbers and
categories by their marks (`GowerRows`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from lowdim import _native
from lowdim._core.distances.merged import MERGED, MergedRows
from lowdim._core.distances.metrics import CODED, RUZICKA, Metric, ParametricMetric

Array = np.ndarray

LOOPS = ("braycurtis", "canberra", "chebyshev", "hamming", "jensenshannon", RUZICKA)  # and minkowski with its p
PRESENCE = ("dice", "hamming", "jaccard", "rogerstanimoto", "russellrao", "sokalsneath", "yule")  # of True and False
OVERLAPS = ("braycurtis", RUZICKA)  # from the sums of two rows and of their lesser cells
OF_SPARSE = (*PRESENCE, *OVERLAPS, *(name for name in MERGED if name not in PRESENCE))

_BLOCK = 1024  # rows that are packed at once


@dataclass(frozen=True, eq=False)
class LoopRows:
    """Dense rows, compared cell by cell."""

    Q: Array
    X: Array
    name: str
    p: float = 2.0

    def block(self, rows: slice, columns: slice) -> Array:
        """Distances of some rows of Q to some of X."""
        Q, X = self.prepared(self.Q[rows]), self.prepared(self.X[columns])
        out = np.empty((len(Q), len(X)))
        _native.measured_block(Q, X, self.name, self.p, 1, out)
        return out

    def listed(self, rows: slice, indices: Array) -> Array:
        """Distances of some rows of Q to the rows of X that are listed for each."""
        own = self.prepared(self.X[indices.ravel()])
        out = np.empty(indices.shape)
        places = np.arange(indices.size, dtype=np.int32).reshape(indices.shape)
        _native.measured_lists(self.prepared(self.Q[rows]), own, self.name, self.p, places, out)
        return out

    def prepared(self, rows: Array) -> Array:
        """Rows in float64; for Jensen-Shannon's distance divided by their sums."""
        wide = np.ascontiguousarray(rows, dtype=np.float64)
        return wide / wide.sum(axis=1, keepdims=True) if self.name == "jensenshannon" else wide


@dataclass(frozen=True, eq=False)
class BitRows:
    """Rows of True and False, 64 columns to a word."""

    Q: Array
    X: Array
    d: int
    name: str

    def block(self, rows: slice, columns: slice) -> Array:
        """Distances of some rows of Q to some of X."""
        out = np.empty((len(self.Q[rows]), len(self.X[columns])))
        _native.shared_bit_block(self.Q[rows], self.X[columns], out)
        return self._distances(out, rows, self.counts[columns][None])

    def listed(self, rows: slice, indices: Array) -> Array:
        """Distances of some rows of Q to the rows of X that are listed for each."""
        out = np.empty(indices.shape)
        _native.shared_bit_lists(self.Q[rows], self.X, np.ascontiguousarray(indices), out)
        return self._distances(out, rows, self.counts[indices])

    def _distances(self, shared: Array, rows: slice, others: Array) -> Array:
        _native.distances_from_shared(shared, self._q_counts[rows], np.ascontiguousarray(others), self.d, self.name)
        return shared

    @cached_property
    def counts(self) -> Array:
        """How many columns of each row of X are True."""
        return _bit_counts(self.X)

    @cached_property
    def _q_counts(self) -> Array:
        return self.counts if self.Q is self.X else _bit_counts(self.Q)


def _bit_counts(words: Array) -> Array:
    """How many bits of each row are set: what it shares with a row of ones."""
    out = np.empty((len(words), 1))
    _native.shared_bit_block(words, np.full((1, words.shape[1]), 2**64 - 1, np.uint64), out)
    return out[:, 0].copy()


@dataclass(frozen=True, eq=False)
class SparseRows:
    """Compressed sparse rows, compared by the cells that they share."""

    Q: Any
    X: Any
    name: str
    overlap: bool  # rows share the lesser of two cells, else their product
    _inverted: dict[tuple[int, int], tuple[Array, Array, Array]] = field(default_factory=dict)

    def block(self, rows: slice, columns: slice) -> Array:
        """Distances of some rows of Q to some of X."""
        key = (columns.start or 0, self.X.shape[0] if columns.stop is None else columns.stop)
        if key not in self._inverted:
            self._inverted[key] = csr_parts(sparse.csr_array(self.X[columns].T))
        Q = self.Q[rows]
        out = np.empty((Q.shape[0], key[1] - key[0]))
        _native.shared_cell_block(*csr_parts(Q), *self._inverted[key], self.overlap, out)
        return self._distances(out, rows, self.sums[columns][None])

    def listed(self, rows: slice, indices: Array) -> Array:
        """Distances of some rows of Q to the rows of X that are listed for each."""
        out = np.empty(indices.shape)
        listed = np.ascontiguousarray(indices)
        _native.shared_cell_lists(*csr_parts(self.Q[rows]), *self._parts, self.overlap, listed, out)
        return self._distances(out, rows, self.sums[indices])

    def _distances(self, shared: Array, rows: slice, others: Array) -> Array:
        sums, d = self._q_sums[rows], float(self.X.shape[1])
        _native.distances_from_shared(shared, sums, np.ascontiguousarray(others), d, self.name)
        return shared

    @cached_property
    def _parts(self) -> tuple[Array, Array, Array]:
        return csr_parts(self.X)

    @cached_property
    def sums(self) -> Array:
        """The sum of each row of X, its cells added up one after the other, as those that two rows share are."""
        return _row_sums(self.X)

    @cached_property
    def _q_sums(self) -> Array:
        return self.sums if self.Q is self.X else _row_sums(self.Q)


def _row_sums(rows: Any) -> Array:
    """What each row shares with itself, cell by cell: of equal rows, nothing is left over."""
    parts = csr_parts(rows)
    out = np.empty((rows.shape[0], 1))
    own = np.arange(rows.shape[0], dtype=np.int32)[:, None]
    _native.shared_cell_lists(*parts, *parts, True, own, out)
    return out[:, 0].copy()


def csr_parts(rows: Any) -> tuple[Array, Array, Array]:
    """Cells in float64, columns and borders of compressed sparse rows, as the kernels take them."""
    cells, columns = rows.data.astype(np.float64, copy=False), rows.indices.astype(np.int32, copy=False)
    return cells, columns, rows.indptr.astype(np.int64, copy=False)


@dataclass(frozen=True, eq=False)
class GowerRows:
    """Rows of numbers and categories, as `gower.Gower` makes tables of them."""

    Q: Array
    X: Array

    def block(self, rows: slice, columns: slice) -> Array:
        """Distances of some rows of Q to some of X."""
        Q, X = np.ascontiguousarray(self.Q[rows]), np.ascontiguousarray(self.X[columns])
        out = np.empty((len(Q), len(X)), X.dtype)
        _native.gower_rows(Q, X, out, 1)
        return out.astype(np.float64, copy=False)

    def listed(self, rows: slice, indices: Array) -> Array:
        """Distances of some rows of Q to the rows of X that are listed for each."""
        out = np.empty(indices.shape, self.X.dtype)
        Q, X = np.ascontiguousarray(self.Q[rows]), np.ascontiguousarray(self.X)
        _native.gower_lists(Q, X, np.ascontiguousarray(indices), out)
        return out.astype(np.float64, copy=False)


Table = LoopRows | BitRows | SparseRows | MergedRows | GowerRows


def table_of(Q: Any, X: Any, metric: Metric) -> Table | None:
    """The two tables as compiled loops measure them; None where they have none for this metric.

    Parameters
    ----------
    Q, X : array or sparse matrix
        Rows in the domain of the metric.
    metric : str or callable
        The metric.

    Returns
    -------
    LoopRows, BitRows, SparseRows, MergedRows, GowerRows or None

    Examples
    --------
    >>> X = np.array([[1.0, 0.0, 1.0], [1.0, 1.0, 0.0]])
    >>> table_of(X, X, "jaccard").block(slice(None), slice(None)).round(2)
    array([[0.  , 0.67],
           [0.67, 0.  ]])
    """
    name, p = _name_and_power(metric)
    if sparse.issparse(X):
        return _sparse_table(Q, X, name, p) if name in (*OF_SPARSE, "minkowski") else None
    if name == CODED:
        return GowerRows(Q, X)
    if name in PRESENCE and (name != "hamming" or (_is_binary(Q) and _is_binary(X))):
        words = packed(X)
        return BitRows(words if Q is X else packed(Q), words, X.shape[1], name)
    return LoopRows(Q, X, name, p) if name in (*LOOPS, "minkowski") else None


def _name_and_power(metric: Metric) -> tuple[str, float]:
    if isinstance(metric, ParametricMetric):
        alone = metric.name == "minkowski" and set(metric.params) == {"p"}
        return ("minkowski", float(metric.params["p"])) if alone else ("", 2.0)
    return (metric, 2.0) if isinstance(metric, str) else ("", 2.0)


def _is_binary(rows: Any) -> bool:
    cells = rows.data if sparse.issparse(rows) else rows
    return bool(((cells[:16] == 0) | (cells[:16] == 1)).all()) and bool(((cells == 0) | (cells == 1)).all())


def _sparse_table(Q: Any, X: Any, name: str, p: float) -> Table:
    if name in OVERLAPS:
        return SparseRows(Q, X, name, overlap=True)
    if name not in PRESENCE or (name == "hamming" and not (_is_binary(Q) and _is_binary(X))):
        return MergedRows(Q, X, name, p)
    (n, d), stored = X.shape, X.nnz
    if d * n <= 64 * stored:  # fewer words than cells
        words = packed(X)
        return BitRows(words if Q is X else packed(Q), words, d, name)
    return SparseRows(Q, X, name, overlap=False)


def packed(rows: Any) -> Array:
    """Rows of True and False as words of 64 bits; what is not zero is True."""
    n, d = rows.shape
    octets = np.zeros((n, 8 * max(1, -(-d // 64))), np.uint8)
    for start in range(0, n, _BLOCK):
        part = rows[start : start + _BLOCK]
        cells = part.toarray() if sparse.issparse(part) else part
        octets[start : start + _BLOCK, : -(-d // 8)] = np.packbits(cells != 0, axis=1, bitorder="little")
    return octets.view(np.uint64)

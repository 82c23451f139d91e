"""The rows of nearest-neighbour descent that have no lines of their own: bits, sparse rows, numbers and categories.

For the trees they are projected onto random directions, where near rows stay near. `points_of` finds the form of rows
for any metric.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from lowdim import _native
from lowdim._core.distances import (
    BitRows,
    GowerRows,
    LoopRows,
    MergedRows,
    Metric,
    SparseRows,
    row_scales,
    scaled,
    squared_norms,
    table_of,
)
from lowdim._core.neighbors.descent_rows import BLOCK, DensePoints, LoopPoints, Points, Unguessed, aligned
from lowdim._core.runtime import threads

DIRECTIONS = 64  # random directions that rows are projected onto

Array = np.ndarray


def points_of(X: Any, metric: Metric, n_jobs: int | None, owner: str) -> Points:
    """The rows of a search under any metric that compiled loops know."""
    if not sparse.issparse(X) and metric in ("euclidean", "cosine"):
        return DensePoints.of(X, str(metric), n_jobs, owner)
    if metric == "manhattan" and not sparse.issparse(X):
        return LoopPoints.of(LoopRows(X, X, "manhattan"), owner)
    if sparse.issparse(X) and metric in ("euclidean", "cosine", "manhattan"):
        return _sparse_points(X, str(metric))
    table = table_of(X, X, metric)
    if isinstance(table, LoopRows):
        return LoopPoints.of(table, owner)
    if isinstance(table, BitRows):
        return BitPoints(table, len(table.X))
    if isinstance(table, SparseRows):
        return SparsePoints(table.X, table.sums, table.overlap, table.name, table.X.shape[0])
    if isinstance(table, MergedRows):
        return MergedPoints(table, table.X.shape[0])
    if isinstance(table, GowerRows):
        return GowerPoints(table.X, len(table.X))
    raise ValueError(f"{owner}: metric must be one that compiled loops measure; got {metric!r}. Others: exact search.")


class Projected(Unguessed):
    """Rows that trees see through projections."""

    projected = True


@dataclass(frozen=True, eq=False)
class BitPoints(Projected):
    """Rows of True and False, 64 columns to a word."""

    table: BitRows
    n: int

    def lines(self, whole: bool, stream: np.random.Generator, n_jobs: int | None) -> Array:
        """Rows of length 1, projected."""
        directions = _directions_of(self.table.d, whole, stream)
        lengths = np.sqrt(np.maximum(self.table.counts, 1.0)).astype(np.float32)
        words = self.table.X.view(np.uint8)

        def project(part: slice) -> Array:
            cells = np.unpackbits(words[part], axis=1, count=self.table.d, bitorder="little").astype(np.float32)
            return (cells @ directions) / lengths[part, None]

        return _projected(project, self.n, directions.shape[1], n_jobs)

    def space(self, lines: Array, order: Array) -> Any:
        """The words, in order."""
        counts = self.table.counts[order].astype(np.float32)
        return _native.BitDescent(self.table.X[order], counts, self.table.d, self.table.name)


@dataclass(frozen=True, eq=False)
class SparsePoints(Projected):
    """Compressed sparse rows, measured by what they share."""

    rows: Any
    sums: Array
    overlap: bool
    formula: str
    n: int

    def lines(self, whole: bool, stream: np.random.Generator, n_jobs: int | None) -> Array:
        """Rows of length 1, projected."""
        return _projected_units(self.rows, whole, stream, n_jobs)

    def space(self, lines: Array, order: Array) -> Any:
        """The rows, in order."""
        rows = self.rows[order]
        parts = rows.data.astype(np.float32), rows.indices.astype(np.int32), rows.indptr.astype(np.int64)
        sums = self.sums[order].astype(np.float32)
        return _native.SparseDescent(*parts, sums, rows.shape[1], self.overlap, self.formula)


@dataclass(frozen=True, eq=False)
class MergedPoints(Projected):
    """Compressed sparse rows, measured in all columns in which either has a cell."""

    table: MergedRows
    n: int

    def lines(self, whole: bool, stream: np.random.Generator, n_jobs: int | None) -> Array:
        """Rows of length 1, projected."""
        return _projected_units(self.table.X, whole, stream, n_jobs)

    def space(self, lines: Array, order: Array) -> Any:
        """The rows, in order."""
        table = self.table
        return _native.MergedDescent(*table.single(order), table.X.shape[1], table.name, table.p)


def _projected_units(rows: Any, whole: bool, stream: np.random.Generator, n_jobs: int | None) -> Array:
    """Sparse rows of length 1 along random directions."""
    units = scaled(rows, row_scales(rows, "cosine"), dtype=np.float32)
    directions = _directions_of(rows.shape[1], whole, stream)
    return _projected(lambda part: units[part] @ directions, rows.shape[0], directions.shape[1], n_jobs)


def _sparse_points(X: Any, metric: str) -> SparsePoints:
    """Squared Euclidean distances from products, of rows of length 1 for cosine; manhattan from the lesser cells."""
    n = X.shape[0]
    if metric == "manhattan":
        return SparsePoints(X, np.asarray(abs(X).sum(axis=1)).ravel(), True, "difference", n)
    if metric == "cosine":
        # A row of zeros is orthogonal to all others, as if it had a length.
        return SparsePoints(scaled(X, row_scales(X, metric)), np.ones(n), False, "difference", n)
    peak = float(np.abs(X.data).max(initial=0.0))
    rows = X * math.ldexp(1.0, -math.frexp(peak)[1]) if peak else X
    return SparsePoints(rows, squared_norms(rows), False, "difference", n)


@dataclass(frozen=True, eq=False)
class GowerPoints(Projected):
    """Rows of numbers and categories, as `gower.Gower` makes tables of them."""

    table: Array
    n: int

    def lines(self, whole: bool, stream: np.random.Generator, n_jobs: int | None) -> Array:
        """Numbers along random directions; every category has a place of its own."""
        q = self.table.shape[1] // 2
        marks = self.table[:, q : 2 * q]
        of_numbers = ~(marks < 0).any(axis=0)
        directions = _directions_of(q, whole, stream)
        cells = np.where(marks == 0, -1, self.table[:, :q]).astype(np.intp)
        places = {
            j: stream.standard_normal((int(cells[:, j].max()) + 2, directions.shape[1]), dtype=np.float32)
            for j in np.flatnonzero(~of_numbers)
        }
        for found in places.values():
            found[-1] = 0.0  # a missing cell

        def project(part: slice) -> Array:
            out = self.table[part, :q][:, of_numbers].astype(np.float32) @ directions[of_numbers]
            for j, found in places.items():
                out += 0.5 * found[cells[part, j]]
            return out

        return _projected(project, self.n, directions.shape[1], n_jobs)

    def space(self, lines: Array, order: Array) -> Any:
        """The tables, in order."""
        return _native.GowerDescent(self.table[order].astype(np.float32))


def _directions_of(d: int, whole: bool, stream: np.random.Generator) -> Array:
    """Random directions; none where trees are not needed."""
    count = 16 if whole else DIRECTIONS
    return stream.standard_normal((d, count), dtype=np.float32)


def _projected(project: Any, n: int, width: int, n_jobs: int | None) -> Array:
    out = aligned(n, width)

    def fill(part: slice) -> None:
        out[part] = project(part)

    threads.map_rows(fill, n, BLOCK, n_jobs)
    return out

"""The rows of nearest-neighbour descent: what trees split, and what measures pairs, for every kind of row.

Trees split float32 rows along lines. Dense rows are split as they are or through a sketch (below); rows of bits and
sparse rows through their projections onto random directions, where near rows stay near. Pairs are measured in float32
by a compiled `DescentRows`, in an order of the rows in which neighbours share cache lines.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol

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
from lowdim._core.runtime import threads

SKETCH = 128  # coordinates of a sketch: at 64, three times as many pairs (median) need a second look
DIRECT = 192  # rows up to this length are their own sketches
DIRECTIONS = 64  # random directions that sparse rows and rows of bits are projected onto, for the trees alone

BLOCK = 1024  # rows of a block of numpy work

Array = np.ndarray
_NOTHING = np.empty(0, np.float32)


class Points(Protocol):
    """Rows of a search."""

    @property
    def n(self) -> int:
        """How many there are."""

    @property
    def root(self) -> bool:
        """Whether the roots of what was measured are handed out."""

    def lines(self, whole: bool, stream: np.random.Generator, n_jobs: int | None) -> Array:
        """Padded float32 rows for the trees; `whole`: all pairs are compared, so that these need no care."""

    def space(self, lines: Array, order: Array) -> Any:
        """What measures pairs, the rows in that order; `lines` are those of the trees, in that order too."""

    def guess(self, lines: Array, order: Array) -> Any:
        """The same by a bound that takes less time; None where there is none."""

    def distances(self, indices: Array, values: Array) -> Array:
        """What the search has measured, as distances or as numbers in their order."""


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


# ---- dense rows --------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class DensePoints:
    """Dense rows under Euclidean distances, or of length 1 for cosine distances."""

    rows: Array  # float32
    scale: float
    zero: Array  # which rows have no direction
    metric: str
    n: int

    @classmethod
    def of(cls, X: Array, metric: str, n_jobs: int | None, owner: str) -> DensePoints:
        """Rows in float32 with the Euclidean neighbours of `X`."""
        return cls(*searchable(X, metric, n_jobs, owner), metric, len(X))

    def lines(self, whole: bool, stream: np.random.Generator, n_jobs: int | None) -> Array:
        """The rows, or their sketches where they are long."""
        if whole or self.rows.shape[1] <= DIRECT:
            return padded(self.rows, None, n_jobs)
        return _sketch(self.rows, stream, n_jobs)

    def space(self, lines: Array, order: Array) -> Any:
        """The rows as the trees see them, or long rows as they are."""
        full = self.rows if self._sketched(lines) else np.empty((self.n, 0), np.float32)
        return _native.DenseDescent(lines, "squares", 2.0, _NOTHING, full, order)

    def guess(self, lines: Array, order: Array) -> Any:
        """Long rows by their sketches alone."""
        none = np.empty((self.n, 0), np.float32)
        return _native.DenseDescent(lines, "squares", 2.0, _NOTHING, none, order) if self._sketched(lines) else None

    def _sketched(self, lines: Array) -> bool:
        return lines.shape[1] < self.rows.shape[1]

    @property
    def root(self) -> bool:
        """Distances are roots of what is measured, but cosine distances, which are half of it."""
        return self.metric == "euclidean"

    def distances(self, indices: Array, values: Array) -> Array:
        """Those of the data, which may have been scaled."""
        if self.metric == "cosine":
            return _cosine_distances(indices, values, self.zero)
        return values / np.float32(self.scale)


class _Unguessed:
    """Rows whose numbers are handed out as they were measured."""

    root = False

    def guess(self, lines: Array, order: Array) -> Any:
        """None: there is no bound that takes less time."""
        return

    def distances(self, indices: Array, values: Array) -> Array:
        """Numbers in the order of the distances."""
        return values


@dataclass(frozen=True, eq=False)
class LoopPoints(_Unguessed):
    """Dense rows under a metric that is measured cell by cell."""

    rows: Array  # float32, the largest cell near 1
    name: str
    p: float
    n: int

    @classmethod
    def of(cls, table: LoopRows, owner: str) -> LoopPoints:
        """Rows in float32. A power of two changes no order; neither does another origin, where gaps alone count."""
        X, center, scale = table.X, None, 1.0
        peak = float(max(abs(X.max(initial=0.0)), abs(X.min(initial=0.0))))
        check_finite(peak, owner)
        if table.name not in ("jensenshannon", "hamming"):
            scale = math.ldexp(1.0, -math.frexp(peak)[1]) if peak else 1.0
            center = X[:BLOCK].mean(axis=0, dtype=np.float64) if table.name in _GAPS else None
        rows = np.empty(X.shape, np.float32)
        for part in threads.blocks(len(X), BLOCK):
            cells = table.prepared(X[part])
            rows[part] = (cells if center is None else cells - center) * scale
        return cls(rows, table.name, table.p, len(X))

    def lines(self, whole: bool, stream: np.random.Generator, n_jobs: int | None) -> Array:
        """The rows."""
        return padded(self.rows, None, n_jobs)

    def space(self, lines: Array, order: Array) -> Any:
        """The rows as they are."""
        relative = self.name in ("braycurtis", "ruzicka")
        sums = self.rows.sum(axis=1)[order] if relative else _NOTHING
        return _native.DenseDescent(lines, self.name, self.p, sums, np.empty((self.n, 0), np.float32), order)


_GAPS = ("manhattan", "chebyshev", "minkowski")  # metrics of the differences of cells alone


# ---- rows of bits, sparse rows -----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class BitPoints(_Unguessed):
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
class SparsePoints(_Unguessed):
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
class MergedPoints(_Unguessed):
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
class GowerPoints(_Unguessed):
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
    out = _aligned(n, width)

    def fill(part: slice) -> None:
        out[part] = project(part)

    threads.map_rows(fill, n, BLOCK, n_jobs)
    return out


# ---- dense rows in single precision ------------------------------------------------------------------------


def check_finite(peak: float, owner: str) -> None:
    """ValueError where a cell is not finite."""
    if not math.isfinite(peak):
        raise ValueError(
            f"{owner}: X must be finite; its largest absolute value is {peak}. Fill or drop such rows first."
        )


def searchable(X: np.ndarray, metric: str, n_jobs: int | None, owner: str) -> tuple[np.ndarray, float, np.ndarray]:
    """Rows in float32 with the Euclidean neighbours of `X`, their scale, and which have no direction."""
    if metric == "cosine":
        return _directions(X, n_jobs, owner)
    zero = np.zeros(0, bool)
    peak = max(threads.map_rows(lambda part: float(np.abs(X[part]).max()), X.shape[0], BLOCK, n_jobs))
    check_finite(peak, owner)
    safe = peak == 0 or 2.0**-40 < peak < 2.0**40  # squares neither overflow nor vanish
    if safe and X.dtype == np.float32:
        return np.ascontiguousarray(X), 1.0, zero
    scale = 1.0 if safe else math.ldexp(1.0, -math.frexp(peak)[1])
    center = X[:BLOCK].mean(axis=0, dtype=np.float64)  # any point among the rows: float32 then keeps their differences
    rows = np.empty(X.shape, np.float32)

    def copy(part: slice) -> None:
        rows[part] = (X[part] - center) * scale

    threads.map_rows(copy, X.shape[0], BLOCK, n_jobs)
    return rows, scale, zero


def _directions(X: np.ndarray, n_jobs: int | None, owner: str) -> tuple[np.ndarray, float, np.ndarray]:
    """Rows of length 1. Rows of zeros, orthogonal to all others by definition, get an axis of their own."""
    peaks = np.concatenate(threads.map_rows(lambda part: np.abs(X[part]).max(axis=1), X.shape[0], BLOCK, n_jobs))
    check_finite(float(peaks.max()), owner)
    zero = peaks == 0
    rows = np.zeros((X.shape[0], X.shape[1] + int(zero.any())), np.float32)

    def copy(part: slice) -> None:
        units = X[part] / np.where(zero[part], 1, peaks[part])[:, None]
        lengths = np.sqrt(np.einsum("ij,ij->i", units, units, dtype=np.float64))
        rows[part, : X.shape[1]] = units / np.where(zero[part], 1, lengths)[:, None]
        if zero.any():
            rows[part, -1] = zero[part]

    threads.map_rows(copy, X.shape[0], BLOCK, n_jobs)
    return rows, 1.0, zero


def _cosine_distances(indices: np.ndarray, squared: np.ndarray, zero: np.ndarray) -> np.ndarray:
    distances = squared / 2
    if zero.any():
        distances[zero[:, None] & zero[indices]] = 1
    return distances


def _aligned(n: int, width: int) -> np.ndarray:
    """Empty float32 rows that begin at a cache line, `width` rounded up to whole vectors of sixteen."""
    width = -(-width // 16) * 16
    raw = np.empty(n * width * 4 + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + n * width * 4].view(np.float32).reshape(n, width)


def padded(rows: np.ndarray, order: np.ndarray | None, n_jobs: int | None) -> np.ndarray:
    """The rows in `order` (None: as they are), filled up with zeros."""
    n, d = rows.shape
    out = _aligned(n, d)

    def copy(part: slice) -> None:
        out[part, :d] = rows[part] if order is None else rows[order[part]]
        out[part, d:] = 0

    threads.map_rows(copy, n, BLOCK, n_jobs)
    return out


def _sketch(rows: np.ndarray, stream: np.random.Generator, n_jobs: int | None) -> np.ndarray:
    """Leading coordinates in an orthonormal basis, and the length of the rest: no distance grows."""
    n = rows.shape[0]
    with threads.single_blas():
        center, basis = _leading_basis(rows, stream)
    out = _aligned(n, SKETCH)

    def project(part: slice) -> None:
        rest = rows[part] - center
        out[part, :-1] = rest @ basis
        rest -= out[part, :-1] @ basis.T
        out[part, -1] = np.sqrt(np.einsum("ij,ij->i", rest, rest))

    threads.map_rows(project, n, BLOCK, n_jobs)
    return out


def _leading_basis(rows: np.ndarray, stream: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Roughly the leading principal directions, from a sample and two steps of subspace iteration.

    Any orthonormal basis gives a valid sketch; a better one only rules out more pairs.
    """
    sample = rows[np.sort(stream.choice(rows.shape[0], min(rows.shape[0], 2048), replace=False))]
    center = sample.mean(axis=0)
    sample = sample - center
    basis = stream.standard_normal((rows.shape[1], SKETCH - 1), dtype=np.float32)
    for _ in range(3):
        basis = np.linalg.qr(sample.T @ (sample @ basis))[0]
    return center, np.ascontiguousarray(basis)

"""The rows of nearest-neighbour descent: what trees split, and what measures pairs; dense rows.

Trees split float32 rows along lines. Dense rows are split as they are or through a sketch (below), others through
projections (`descent_cells`). Pairs are measured in float32 by a compiled `DescentRows`, in an order of the rows in
which neighbours share cache lines.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from lowdim import _native
from lowdim._core.distances import LoopRows
from lowdim._core.runtime import threads

SKETCH = 128  # coordinates of a sketch: at 64, three times as many pairs (median) need a second look
DIRECT = 192  # rows up to this length are their own sketches

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

    @property
    def projected(self) -> bool:
        """Whether the trees see projections of the rows: then more of them are needed, the more rows there are."""

    def lines(self, whole: bool, stream: np.random.Generator, n_jobs: int | None) -> Array:
        """Padded float32 rows for the trees; `whole`: all pairs are compared, so that these need no care."""

    def space(self, lines: Array, order: Array) -> Any:
        """What measures pairs, the rows in that order; `lines` are those of the trees, in that order too."""

    def guess(self, lines: Array, order: Array) -> Any:
        """The same by a bound that takes less time; None where there is none."""

    def distances(self, indices: Array, values: Array) -> Array:
        """What the search has measured, as distances or as numbers in their order."""


# ---- dense rows --------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class DensePoints:
    """Dense rows under Euclidean distances, or of length 1 for cosine distances."""

    rows: Array  # float32
    scale: float
    zero: Array  # which rows have no direction
    metric: str
    n: int
    projected = False

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


class Unguessed:
    """Rows whose numbers are handed out as they were measured."""

    root = False
    projected = False

    def guess(self, lines: Array, order: Array) -> Any:
        """None: there is no bound that takes less time."""
        return

    def distances(self, indices: Array, values: Array) -> Array:
        """Numbers in the order of the distances."""
        return values


@dataclass(frozen=True, eq=False)
class LoopPoints(Unguessed):
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


def aligned(n: int, width: int) -> np.ndarray:
    """Empty float32 rows that begin at a cache line, `width` rounded up to whole vectors of sixteen."""
    width = -(-width // 16) * 16
    raw = np.empty(n * width * 4 + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + n * width * 4].view(np.float32).reshape(n, width)


def padded(rows: np.ndarray, order: np.ndarray | None, n_jobs: int | None) -> np.ndarray:
    """The rows in `order` (None: as they are), filled up with zeros."""
    n, d = rows.shape
    out = aligned(n, d)

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
    out = aligned(n, SKETCH)

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

"""Sparse rows under metrics that what two rows share does not give, such as the largest gap.

The columns of two rows are gone through together, so that only columns in which either has a cell are touched.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from lowdim import _native

Array = np.ndarray
Parts = tuple[Array, Array, Array, Array]  # cells, columns, borders, origins

MERGED = ("canberra", "chebyshev", "correlation", "hamming", "jensenshannon")  # and minkowski with its p


@dataclass(frozen=True, eq=False)
class MergedRows:
    """Compressed sparse rows, compared in all columns in which either has a cell."""

    Q: Any
    X: Any
    name: str
    p: float

    def block(self, rows: slice, columns: slice) -> Array:
        """Distances of some rows of Q to some of X."""
        left, right = _cut(self._q_parts, rows), _cut(self.parts, columns)
        out = np.empty((len(left[3]), len(right[3])))
        _native.merged_cell_block(*left, *right, self.X.shape[1], self.name, self.p, out)
        return out

    def listed(self, rows: slice, indices: Array) -> Array:
        """Distances of some rows of Q to the rows of X that are listed for each."""
        out, listed = np.empty(indices.shape), np.ascontiguousarray(indices)
        parts = (*_cut(self._q_parts, rows), *self.parts)
        _native.merged_cell_lists(*parts, self.X.shape[1], self.name, self.p, listed, out)
        return out

    @cached_property
    def parts(self) -> Parts:
        """The rows of X as they are compared: shares for Jensen-Shannon's distance, centred ones for correlation."""
        return _prepared(self.X, self.name)

    @cached_property
    def _q_parts(self) -> Parts:
        return self.parts if self.Q is self.X else _prepared(self.Q, self.name)

    def single(self, order: Array) -> Parts:
        """The rows of X in that order and in single precision; a power of two keeps them in its range."""
        cells, columns, starts, origins = self.parts
        counts = np.diff(starts)[order]
        borders = np.concatenate([[0], np.cumsum(counts)])
        at = np.repeat(starts[order] - borders[:-1], counts) + np.arange(borders[-1])
        scale = 1.0
        if self.name in ("canberra", "chebyshev", "minkowski"):
            peak = float(np.abs(cells).max(initial=0.0))
            scale = math.ldexp(1.0, -math.frexp(peak)[1]) if peak else 1.0
        return (cells[at] * scale).astype(np.float32), columns[at], borders, origins[order].astype(np.float32)


def _cut(parts: Parts, rows: slice) -> Parts:
    """Some consecutive rows; nothing is copied but their borders."""
    cells, columns, starts, origins = parts
    start, stop, _ = rows.indices(len(origins))
    first, last = starts[start], starts[stop]
    return cells[first:last], columns[first:last], starts[start : stop + 1] - first, origins[start:stop]


def _prepared(rows: Any, name: str) -> Parts:
    cells = rows.data.astype(np.float64)
    columns, starts = rows.indices.astype(np.int32, copy=False), rows.indptr.astype(np.int64, copy=False)
    (n, d), counts = rows.shape, np.diff(starts)
    origins = np.zeros(n)
    if name in ("jensenshannon", "correlation"):
        own = np.repeat(np.arange(n), counts)
        sums = np.bincount(own, cells, n)
        if name == "jensenshannon":
            cells /= sums[own]
        else:
            means = sums / d
            squares = np.bincount(own, np.square(cells - means[own]), n) + (d - counts) * np.square(means)
            lengths = np.sqrt(squares)
            cells /= lengths[own]
            origins = means / lengths
    return cells, columns, starts, origins

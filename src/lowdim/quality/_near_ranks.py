"""Ranks of the K nearest rows only, which is all that trustworthiness and continuity need: counted, not sorted.

The rank of j seen from i is one plus the number of rows closer to i. For the K nearest of each row this takes K passes
over a row of distances, where the whole co-ranking record sorts two of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim import _native
from lowdim._core.ranks import MOST_ENTRIES, Interval, choose_rows, mean_interval, penalty_norm
from lowdim._core.ranks.reference import Reference
from lowdim._core.runtime.threads import map_rows

Array = NDArray[Any]
MOST_NEIGHBORS = 100  # beyond, sorting whole rows is no slower


@dataclass(frozen=True, eq=False)
class NearRanks:
    """For each of `rows`: neighbours preserved, and how far beyond K those that entered or left had ranked."""

    n: int
    rows: Array
    reference: str
    k: int
    row_kept: Array
    row_intrusion: Array
    row_extrusion: Array

    @classmethod
    def of(
        cls, high: Reference, low: Reference, k: int, *, anchors: Any, random_state: Any, n_jobs: int | None
    ) -> NearRanks:
        """Count in both spaces, in blocks of rows."""
        rows = choose_rows(high.n, anchors, random_state)

        def terms(part: slice) -> Array:
            here = np.ascontiguousarray(rows[part], np.int64)
            D_high, D_low = (np.ascontiguousarray(space.block(here, True)) for space in (high, low))
            rho = column_ranks(D_high, here, nearest_columns(D_low, here, k))
            r = column_ranks(D_low, here, nearest_columns(D_high, here, k))
            return np.stack([(rho <= k).sum(axis=1), *(np.maximum(x - k, 0).sum(axis=1) for x in (rho, r))], axis=1)

        found = map_rows(terms, len(rows), max(1, min(256, MOST_ENTRIES // high.n)), n_jobs)
        return cls(high.n, rows, high.name, k, *np.concatenate(found).T)

    @property
    def sampled(self) -> bool:
        """Whether only some rows were ranked from."""
        return len(self.rows) < self.n

    def score(self, name: str) -> tuple[float, Interval | None]:
        """Trustworthiness or continuity, and its confidence interval if only some rows were ranked from."""
        depth = self.row_intrusion if name == "trustworthiness" else self.row_extrusion
        norm = penalty_norm(self.k, self.n)
        interval = mean_interval(1 - 2 * depth / norm, self.n) if self.sampled else None
        return float(1 - 2 * int(depth.sum()) / (len(self.rows) * norm)), interval


def nearest_columns(D: Array, rows: Array, k: int) -> Array:
    """The k nearest columns of each of `rows` (those of the block `D`), nearest first."""
    columns = np.empty((len(D), k), np.int32)
    _native.nearest_columns(D, rows, columns, 1)
    return columns


def column_ranks(D: Array, rows: Array, columns: Array) -> Array:
    """Ranks of the given columns seen from `rows`."""
    ranks = np.empty(columns.shape, np.int32)
    _native.column_ranks(D, rows, columns, ranks, 1)
    return ranks

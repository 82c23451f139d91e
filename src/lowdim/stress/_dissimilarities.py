"""Dissimilarities, some rows at a time: computed between rows, or read from a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lowdim._core.distances import pairwise
from lowdim.stress._majorize import Pairs, condensed

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Dissimilarities:
    """The dissimilarities of the rows of X under a metric; metric None: X holds them."""

    X: Any
    metric: Any
    n_jobs: int | None

    @property
    def n(self) -> int:
        return int(self.X.shape[0])

    def rows(self, chosen: Array) -> Array:
        """Those of the chosen rows to all."""
        if self.metric is None:
            return np.asarray(self.X[chosen])
        return pairwise(self.X[chosen], self.X, metric=self.metric, owner="MDS")

    def later(self, rows: slice) -> Array:
        """Those of some rows to themselves and all later rows."""
        if self.metric is None:
            return np.asarray(self.X[rows, rows.start :])
        return pairwise(self.X[rows], self.X[rows.start :], metric=self.metric, owner="MDS")

    def pairs(self) -> Pairs:
        """Those of all pairs."""
        return Pairs(self.n, condensed(self.later, self.n, self.X.dtype, self.n_jobs), None)

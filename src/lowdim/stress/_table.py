"""Dissimilarities, a few rows at a time: measured between rows, or read from a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial.distance import squareform

from lowdim._core.distances import pairwise
from lowdim._core.majorize import Pairs, condensed

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Table:
    """Where dissimilarities come from; metric None: X holds them."""

    X: Any
    metric: Any
    n_jobs: int | None

    @property
    def n(self) -> int:
        return int(self.X.shape[0])

    def rows(self, chosen: Array) -> Array:
        """Of the chosen rows to all."""
        if self.metric is None:
            return np.asarray(self.X[chosen])
        return pairwise(self.X[chosen], self.X, metric=self.metric)

    def later(self, rows: slice) -> Array:
        """Of some rows to themselves and all later ones."""
        if self.metric is None:
            return np.asarray(self.X[rows, rows.start :])
        return pairwise(self.X[rows], self.X[rows.start :], metric=self.metric)

    def pairs(self) -> Pairs:
        """Of all pairs."""
        return Pairs(self.n, condensed(self.later, self.n, self.X.dtype, self.n_jobs), None)


def split_unknown(X: Any, fitting: bool) -> tuple[Any, Array | None]:
    """Dissimilarities with 0 for unknown ones (NaN), and where those are; (X, None) where all are known.

    Of a table, one half may say what the other does not.
    """
    if sparse.issparse(X) or isinstance(X, np.ma.MaskedArray):
        return X, None
    try:
        table = np.asarray(X, dtype=np.float32 if getattr(X, "dtype", None) == np.float32 else np.float64)
    except (TypeError, ValueError):
        return X, None  # refused with the right words later
    if not np.isnan(table).any():
        return X, None
    if fitting and table.ndim == 1:
        with np.errstate(invalid="ignore"):
            table = squareform(table, checks=False)
    if fitting and table.ndim == 2 and table.shape[0] == table.shape[1]:
        table = np.where(np.isnan(table), table.T, table)
        unknown = np.isnan(np.diagonal(table))
        table[unknown, unknown] = 0.0
    holes = np.isnan(table)
    return np.where(holes, table.dtype.type(0), table), holes

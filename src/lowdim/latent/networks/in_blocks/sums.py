"""What a training must know of all rows before it begins: means and deviations of the columns, and their range."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from lowdim._core.distances import real_array
from lowdim.latent.networks._rows import Scaling

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class ColumnSums:
    """Of some rows: how many, means and squared deviations of the columns, smallest and largest cell, missing cells."""

    n: int
    mean: Array
    squares: Array
    low: float
    high: float
    missing: bool

    @classmethod
    def of(cls, block: Any) -> ColumnSums:
        """Of one block."""
        rows = dense(block).astype(np.float64)
        missing = bool(np.isnan(rows).any())
        rows = np.nan_to_num(rows, copy=False) if missing else rows
        mean = rows.mean(axis=0)
        squares = np.square(rows - mean).sum(axis=0)
        return cls(len(rows), mean, squares, float(rows.min()), float(rows.max()), missing)

    def __add__(self, other: ColumnSums) -> ColumnSums:
        """Of the rows of both (Chan, Golub and LeVeque 1979)."""
        n = self.n + other.n
        apart = other.mean - self.mean
        return ColumnSums(
            n,
            self.mean + apart * (other.n / n),
            self.squares + other.squares + np.square(apart) * (self.n * other.n / n),
            min(self.low, other.low),
            max(self.high, other.high),
            self.missing or other.missing,
        )

    def scaling(self, columns: bool) -> Scaling:
        """Means, and one deviation for each column or one for all."""
        return Scaling.from_variance(self.mean, self.squares / self.n, self.n, columns)


def dense(block: Any) -> Array:
    """The cells of a block of rows."""
    return real_array(block.toarray() if sparse.issparse(block) else block, "a block of rows")

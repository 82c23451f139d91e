"""Rows as a network is trained on them: centred, scaled, rounded and sorted.

Training amplifies rounding errors of its input, so the same table in another order or with another origin would give
another network. Rounding the scaled rows far below the precision of any data, and sorting them, makes it the same.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lowdim._core.incomplete.cells import column_sums
from lowdim._core.runtime import threads
from lowdim._core.tables.deviations import deviations

Array = np.ndarray
BLOCK = 2048  # rows
DIGITS = 9  # of a standard deviation: coarser than the rounding of a shift, finer than any measurement


@dataclass(frozen=True, eq=False)
class Scaling:
    """x -> (x - mean) / scale and back."""

    mean: Array
    scale: Array

    @classmethod
    def of(cls, X: Array, columns: bool) -> Scaling:
        """Column means, and one deviation for each column or one for all; missing cells are ignored."""
        X, zero = np.ascontiguousarray(X), np.zeros(X.shape[1])
        count, total, _ = column_sums(X, zero, None)
        mean = total / count
        mean = mean + column_sums(X, mean, None)[1] / count  # far from 0 the first one is not exact
        return cls.from_variance(mean, column_sums(X, mean, None)[2] / count, len(X), columns)

    @classmethod
    def from_variance(cls, mean: Array, variance: Array, n: int, columns: bool) -> Scaling:
        """From the means and variances of the columns of n rows."""
        scale = deviations(variance, mean, float(n))
        constant = scale != np.sqrt(variance)
        if not columns:
            whole = float(np.sqrt(variance[~constant].sum() / len(variance))) if not constant.all() else 1.0
            scale = np.full(len(scale), whole)
        return cls(mean, scale)

    def __call__(self, X: Array) -> Array:
        return (X - self.mean) / self.scale

    def undo(self, X: Array) -> Array:
        """Back to the units of the rows."""
        return X * self.scale + self.mean


def rounded_and_sorted(X: Array) -> tuple[Array, Array]:
    """Scaled rows rounded (in place) and sorted, and the order: the first result is `X[order]` to nine decimals."""
    weights = np.sqrt(np.arange(2.0, X.shape[1] + 2.0))  # a different one for each column

    def key(rows: slice) -> Array:
        X[rows] = np.round(X[rows], DIGITS)
        return (np.nan_to_num(X[rows]) * weights).sum(axis=1)

    order = np.argsort(np.concatenate(threads.map_rows(key, len(X), BLOCK)), kind="stable")
    return X[order], order

"""Whether a table of numbers holds counts: how often each kind was found in each row, such as species at places.

Whole numbers alone do not say so: ratings, pixels, years and ages are whole too. What tells counts from these is that
they start at zero, have no common upper end as a scale has, and vary at least as much as chance lets counts vary.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lowdim._core.runtime.threads import blocks

Array = np.ndarray
FIRST = slice(0, 64)  # rows that end the search in most tables
LEAST = 3  # rows and columns
MANY_COLUMNS = 20  # that a table of different quantities seldom has
ZEROS, IN_COLUMNS = 0.1, 0.8  # share of the cells of a wide table, and of the columns of a narrow one
UNEVEN_WIDE, UNEVEN_SMALL = 10.0, 20.0  # times as many in one column as in another
SMALL = 50  # rows and columns of a contingency table
REACH, OFTEN = 0.98, 0.5  # a scale: so near to its end, in so many columns
LOW_END = 10  # below, counts of rare things end at the same number by chance
EVEN = 0.05  # share of columns that may, such as words that stand once in each text
CERTAIN = 0.01  # chance that counts are taken for less variable than counts are, over all columns


@dataclass(frozen=True)
class Counts:
    """A table of counts.

    Attributes
    ----------
    empty_rows : int
        Rows without any count, of which there is no profile.
    """

    empty_rows: int


def counts_in(X: Array, named: bool) -> Counts | None:
    """What is known of a table of counts, and None for other tables; `named`: the rows have names."""
    if min(X.shape) < LEAST or not all(_could_count(X[part]) for part in (FIRST, *_parts(X))):
        return None
    columns = _Columns.of(X)
    flags, scale = columns.largest.max() <= 1, columns.end_together
    if flags or scale or columns.too_even:
        return None
    small = named and max(X.shape) <= SMALL and columns.unevenness <= UNEVEN_SMALL
    if not (columns.wide_counts if X.shape[1] >= MANY_COLUMNS else columns.often_zero or small):
        return None
    return Counts(int(sum((np.nansum(X[part], axis=1) == 0).sum() for part in _parts(X))))


def _parts(X: Array) -> list[slice]:
    return list(blocks(len(X), max(1, 2**20 // X.shape[1])))


def _could_count(X: Array) -> bool:
    seen = X[~np.isnan(X)]
    return bool((seen >= 0).all() and (seen == np.floor(seen)).all())


@dataclass(frozen=True, eq=False)
class _Columns:
    """What is asked of each column."""

    n: Array  # cells that are there
    totals: Array
    squares: Array
    zeros: Array
    largest: Array

    @classmethod
    def of(cls, X: Array) -> _Columns:
        n, totals, squares, zeros, largest = np.zeros((5, X.shape[1]))
        for part in _parts(X):
            cells = X[part].astype(np.float64)
            n += (~np.isnan(cells)).sum(axis=0)
            zeros += (cells == 0).sum(axis=0)
            cells = np.nan_to_num(cells, nan=0.0)
            totals += cells.sum(axis=0)
            squares += (cells**2).sum(axis=0)
            largest = np.maximum(largest, cells.max(axis=0))
        return cls(n, totals, squares, zeros, largest)

    @property
    def end_together(self) -> bool:
        """Whether most columns reach the end of one scale, as ratings, percentages and pixels do."""
        rare = self.largest.max() < LOW_END and self.zeros.sum() > self.n.sum() / 2
        return not rare and bool((self.largest >= REACH * self.largest.max()).mean() >= OFTEN)

    @property
    def too_even(self) -> bool:
        """Whether columns vary less than counts of their mean do, by the index of dispersion (chi-squared)."""
        from scipy.special import chdtr  # errors of the command line come before it is loaded

        n, means = np.maximum(self.n, 1), np.maximum(self.totals, 1) / np.maximum(self.n, 1)
        dispersion = np.maximum(self.squares - n * means**2, 0.0) / means
        return bool((chdtr(np.maximum(n - 1, 1), dispersion) < CERTAIN / len(n)).mean() > EVEN)

    @property
    def unevenness(self) -> float:
        return float(self.totals.max() / max(self.totals.min(), 1.0))

    @property
    def often_zero(self) -> bool:
        """Whether nearly each column has a row in which nothing was counted."""
        return bool((self.zeros > 0).mean() >= IN_COLUMNS)

    @property
    def wide_counts(self) -> bool:
        """Whether many cells are zero, or some columns have many times the counts of others."""
        low, high = np.quantile(self.totals, (0.1, 0.9))
        return bool(self.zeros.sum() >= ZEROS * self.n.sum() or high >= UNEVEN_WIDE * max(low, 1.0))

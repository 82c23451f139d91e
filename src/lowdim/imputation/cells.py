"""The cells of a table as models of imputation see them: standardised numbers, codes of categories, NaN for a hole."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from lowdim._core.tables.indicators import Layout

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Cells:
    """A table of numbers and categories.

    Attributes
    ----------
    coded : ndarray of shape (n, d)
        Numbers in units of the deviation of their column, about its mean; categories as codes; NaN where missing.
    layout : Layout
        Which columns are categories, and the indicator columns that stand for them.
    """

    coded: Array
    layout: Layout

    @cached_property
    def holes(self) -> Array:
        """Which cells are missing: (n, d)."""
        return np.isnan(self.coded)

    @cached_property
    def spread(self) -> Array:
        """Numbers and one 0/1 column for each category; NaN in all columns of a missing cell: (n, J)."""
        return self.layout.spread(self.coded)

    @property
    def numeric(self) -> Array:
        """Which columns of the table hold numbers: (d,)."""
        return np.array([found is None for found in self.layout.categories])

    @property
    def only_numbers(self) -> bool:
        """Whether no column holds categories."""
        return self.layout.n_questions == 0

    def without(self, hidden: Array) -> Cells:
        """The same table with further cells missing."""
        return replace(self, coded=np.where(hidden, np.nan, self.coded))

    def rows(self, which: Array) -> Cells:
        """The table of some of the rows."""
        return replace(self, coded=self.coded[which])

    def baseline(self) -> Array:
        """Means of numbers and shares of categories, of the observed cells: (J,)."""
        return np.asarray(np.nanmean(self.spread, axis=0))

    def only(self, filled: Array) -> Array:
        """Observed cells as they are, the missing ones from `filled`; memberships between 0 and 1 that sum to 1."""
        D = np.where(np.isnan(self.spread), filled, self.spread)
        for j in np.flatnonzero(~self.numeric):
            mine, rows = np.flatnonzero(self.layout.parents == j), self.holes[:, j]
            part = np.clip(D[np.ix_(rows, mine)], 0.0, 1.0)
            total = part.sum(axis=1, keepdims=True)
            D[np.ix_(rows, mine)] = np.divide(part, total, out=np.full(part.shape, 1 / len(mine)), where=total > 0)
        return D

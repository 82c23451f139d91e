"""Rows that could make structure by themselves: a few far from all others, and copies of other rows.

A row that is far out in many columns relates them, and so does a row that is there several times. Both are facts about
these rows, and none about the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lowdim._core.ranks.reference import Reference
from lowdim.trust.null import null_table

FAR_OUT, NEAR = 5.0, 5  # times as far from its fifth row as the median row
FEW = 0.02  # share of the rows: if more are far out, that is how the columns are
REPEATED, BY_CHANCE = 0.05, 0.01  # share of copies that is looked into, and that noise may have


@dataclass(frozen=True, eq=False)
class Suspects:
    """Rows of a table that are left out to see whether the others have structure too.

    Attributes
    ----------
    far : ndarray of int
        Rows far from all others.
    copies : ndarray of int
        Rows that repeat an earlier one.
    """

    far: np.ndarray
    copies: np.ndarray

    def others(self, n: int) -> np.ndarray:
        """The rows that are left."""
        return np.setdiff1d(np.arange(n), np.concatenate([self.far, self.copies]))


def suspects(rows: Any, space: Reference, rng: np.random.Generator) -> Suspects:
    """The few rows that are far from all others, and copies, if shuffled columns would not have as many."""
    copies = _copies(rows)
    if len(copies) < REPEATED * len(rows) or len(_copies(null_table(rows, "permuted", rng, "compare"))) > (
        BY_CHANCE * len(rows)
    ):
        copies = copies[:0]
    return Suspects(np.setdiff1d(_far(space), copies), copies)


def _far(space: Reference) -> np.ndarray:
    D = np.array(space.block(np.arange(space.n), False), dtype=float)
    near = np.partition(D, NEAR, axis=1)[:, NEAR]  # the row itself comes first
    far = np.flatnonzero(near > FAR_OUT * np.median(near))
    return far if len(far) <= FEW * space.n and np.median(near) > 0 else far[:0]


def _copies(rows: Any) -> np.ndarray:
    first = np.unique(np.asarray(rows), axis=0, return_index=True)[1]
    return np.setdiff1d(np.arange(len(rows)), first)

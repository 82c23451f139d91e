"""Whether rows that follow each other in the table are near each other, as in series of measurements."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import binomtest

from lowdim._core.ranks.reference import Reference

LATER = 2  # rows on: the row that the next one is compared with; farther on, small groups would have ended
MOST = 1000  # rows that are looked at
LEVEL = 0.001


@dataclass(frozen=True)
class TableOrder:
    """How often the next row of the table is nearer than the one after it, among rows that were looked at.

    Attributes
    ----------
    share : float
        In a table whose order says nothing it is a half, and about so where groups stand one below the other.
    p_value : float
        Chance of such a share there.
    n_rows : int
        Rows that were looked at, each five rows on.
    """

    share: float
    p_value: float
    n_rows: int

    @property
    def tells(self) -> bool:
        """Whether rows that follow each other are nearer than by chance."""
        return self.share > 0.5 and self.p_value <= LEVEL


def table_order(space: Reference) -> TableOrder | None:
    """Compare the distance to the next row with that to the one after it; None where distances of pairs are slow."""
    rows = np.arange(0, space.n - LATER, LATER + 1)
    if space.pairs is None or len(rows) < 2:
        return None
    rows = rows[:: -(-len(rows) // MOST)]
    near, far = (np.asarray(space.pairs(rows, rows + on), float) for on in (1, LATER))
    different = near != far
    if not different.any():
        return None
    nearer, total = int((near < far)[different].sum()), int(different.sum())
    return TableOrder(nearer / total, float(binomtest(nearer, total).pvalue), len(rows))

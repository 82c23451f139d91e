"""Observed cells left out to see how well they are filled, and the error of what was filled in.

Cells are left out as cells are missing: a row loses those that another row, drawn at random, lacks. So columns, blocks
and pairs of columns that are often missing are tested most. Where that gives too few, further cells are drawn.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lowdim.imputation.cells import Cells

Array = np.ndarray

SHARE = 0.1  # of the observed cells that are left out at a time
ENOUGH = 30  # cells at a time, where the table has ten times as many


def left_out(cells: Cells, rng: np.random.Generator) -> Array:
    """Observed cells to leave out: (n, d) of bool; never the last of a row, a column or a category."""
    observed = ~cells.holes
    holed = observed & ~observed[rng.permutation(len(observed))]
    wanted = max(1, round(SHARE * observed.sum()))
    hidden = _thinned(holed, wanted, rng)
    least = min(wanted, max(ENOUGH, wanted // 4))
    if hidden.sum() < least:
        columns = cells.holes.any(axis=0)  # those that need filling
        more = observed & ~hidden & (columns if columns.any() else True)
        hidden |= _thinned(more, int(least - hidden.sum()), rng)
    return _spared(cells, hidden)


def _thinned(mask: Array, most: int, rng: np.random.Generator) -> Array:
    places = np.flatnonzero(mask)
    if len(places) <= most:
        return mask
    found = np.zeros(mask.size, dtype=bool)
    found[rng.choice(places, most, replace=False)] = True
    return found.reshape(mask.shape)


def _spared(cells: Cells, hidden: Array) -> Array:
    """Without the cells whose loss leaves a row or column empty, or a category or a second value unseen."""
    hidden, observed = hidden.copy(), ~cells.holes
    bare = (observed & ~hidden).sum(axis=1) < 1
    hidden[bare] = False
    for j, found in enumerate(cells.layout.categories):
        column, mine = cells.coded[:, j], hidden[:, j]
        if found is None:
            if (observed[:, j] & ~mine).sum() < 2:
                hidden[:, j] = False
        else:
            left = np.bincount(column[observed[:, j] & ~mine].astype(int), minlength=len(found))
            hidden[:, j] = mine & ~np.isin(column, np.flatnonzero(left == 0))
    return hidden


@dataclass(frozen=True, eq=False)
class Errors:
    """Errors of left-out cells, those of several tables one after another."""

    loss: Array  # squared error of a number in units of its deviation; 0 or 1 for a category
    column: Array
    numeric: Array  # of each cell
    gap: Array  # truth less prediction, of numbers; NaN for categories

    @classmethod
    def of(cls, cells: Cells, hidden: Array, filled: Array) -> Errors:
        """Of the cells `hidden`, as `filled` has them."""
        rows, columns = np.nonzero(hidden)
        numeric = cells.numeric[columns]
        gap = cells.coded[rows, columns] - cells.layout.gather(filled)[rows, columns]
        loss = np.where(numeric, gap**2, gap != 0)
        return cls(loss.astype(np.float64), columns, numeric, np.where(numeric, gap, np.nan))

    @classmethod
    def joined(cls, parts: list[Errors]) -> Errors:
        """All cells together."""
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in cls.__dataclass_fields__))

    @property
    def rmse(self) -> float:
        """Root mean squared error of the numbers, in deviations of their columns; NaN where there are none."""
        return float(np.sqrt(self.loss[self.numeric].mean())) if self.numeric.any() else float("nan")

    @property
    def wrong(self) -> float:
        """Share of the categories that are wrong; NaN where there are none."""
        return float(self.loss[~self.numeric].mean()) if (~self.numeric).any() else float("nan")

    def relative(self, base: Errors) -> tuple[float, float]:
        """Root of the mean loss, each kind of cell in units of its mean loss in `base`, and its standard error."""
        unit = np.ones(len(self.loss))
        for kind in (self.numeric, ~self.numeric):
            if kind.any():
                unit[kind] = max(float(base.loss[kind].mean()), 1e-300)
        parts = self.loss / unit
        if not len(parts) or not np.isfinite(parts).all():
            return float("inf"), float("nan")
        error = float(np.sqrt(parts.mean()))
        spread = float(parts.std(ddof=1)) / np.sqrt(len(parts)) if len(parts) > 1 else float("nan")
        return error, spread / (2 * error) if error > 0 else 0.0

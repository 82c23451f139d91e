"""Chained forests: each column is predicted from all others by extremely randomised trees (Stekhoven, Geurts).

Two sweeps over the columns: few trees complete the predictors, more trees predict the cells. Further sweeps did not
lower the error of left-out cells.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from lowdim._core.runtime.rng import generator
from lowdim._core.runtime.threads import map_rows
from lowdim.imputation.cells import Cells
from lowdim.imputation.models.chains import Predict, Predictors, begin, sweep
from lowdim.imputation.models.model import Array, Model

LEAST_ROWS = 30
MOST_COLUMNS = 100  # with missing cells, beyond which forests take too long
ROUGH = 1e-5  # tolerance of fits that are compared; the last one is finer
ROUGH_TREES = (10, 30)  # of the two sweeps where models are compared
TREES = (10, 80)
DRAWN_TREES = 5  # whose mean is one draw
TRAIN_ROWS = 8000  # that a tree is grown from; of larger tables so many are drawn
DRAWN_ROWS = 2000  # the same for draws
TREES_AT_A_TIME = 10
LEAF = 5  # rows at least in a leaf, where categories are predicted: their shares, not the vote of one row
INDICATORS, CODES = 0, 1  # how categories predict: each by a column of its own, or all by their number in one column


def indicators(cells: Cells, D: Array, j: int) -> Array:
    """Numbers and indicator columns of the others."""
    return D[:, cells.layout.parents != j]


def codes(cells: Cells, D: Array, j: int) -> Array:
    """Numbers, and the number of the likeliest category, of the others: a split parts what comes before from the rest.

    Orders of categories are then seen, and trees do not draw most of their splits from the questions with most answers.
    """
    return np.delete(cells.layout.gather(D), j, axis=1)


ENCODINGS: tuple[Predictors, ...] = (indicators, codes)


class ForestChain(Model):
    """Chained forests: each column predicted by the mean of extremely randomised trees, for numbers grown to rows."""

    name: ClassVar[str] = "forest"
    words: ClassVar[str] = "chained forests"
    screen_tables: ClassVar[int] = 2

    def refusal(self, cells: Cells) -> str:
        columns = int(cells.holes.any(axis=0).sum())
        if len(cells.coded) < LEAST_ROWS:
            return f"needs at least {LEAST_ROWS} rows"
        if columns > MOST_COLUMNS:
            return f"is slow for more than {MOST_COLUMNS} columns with missing cells"
        return "" if cells.coded.shape[1] > 1 else "needs at least 2 columns"

    def path(self, cells: Cells) -> list[int | None]:
        """How categories predict, the faster way first; None where there are none."""
        return [None] if cells.only_numbers else [CODES, INDICATORS]

    def said(self, setting: int | None) -> str:
        return "categories by their numbers" if setting == CODES else ""

    def fill(self, cells: Cells, setting: int | None, start: Array | None = None) -> Array:
        D = begin(cells, None)  # from the means, as in the last fit: the start is one of the other encoding
        for trees in ROUGH_TREES if self.effort.tol > ROUGH else TREES:
            D = sweep(cells, D, self._mean_of(trees), ENCODINGS[setting or INDICATORS])
        return D

    def bootstrap(
        self, cells: Cells, setting: Any, filled: Array, count: int, rng: np.random.Generator
    ) -> Iterator[Array]:
        """Every tree is grown from a bootstrap sample of its own; a draw is the mean of a few of them."""
        kept: dict[int, Array] = {}
        seed = int(rng.integers(2**31))

        def predict(A: Array, Y: Array, new: Array, j: int) -> Array:
            found = self._trees(A, Y, new, count * DRAWN_TREES, seed + j, most=DRAWN_ROWS, resample=True)
            kept[j] = found.reshape(count, DRAWN_TREES, *found.shape[1:]).mean(axis=1)
            return np.asarray(kept[j].mean(axis=0))

        sweep(cells, filled, predict, ENCODINGS[setting or INDICATORS])
        for m in range(count):
            D = filled.copy()
            for j, tables in kept.items():
                D[np.ix_(cells.holes[:, j], np.flatnonzero(cells.layout.parents == j))] = tables[m]
            yield cells.only(D)

    def _mean_of(self, trees: int) -> Predict:
        """Predictions of so many trees; of categories the shares of rows in their leaves."""
        return lambda A, Y, new, j: np.asarray(
            self._trees(A, Y, new, trees, self.effort.seed + j, most=TRAIN_ROWS).mean(axis=0)
        )

    def _trees(
        self, A: Array, Y: Array, new: Array, count: int, seed: int, *, most: int, resample: bool = False
    ) -> Array:
        """What each of `count` trees predicts for the rows `new`: (count, m, width of Y)."""
        from sklearn.tree import ExtraTreeClassifier, ExtraTreeRegressor

        A, new = np.ascontiguousarray(A, dtype=np.float32), np.ascontiguousarray(new, dtype=np.float32)
        number, target = Y.shape[1] == 1, Y[:, 0] if Y.shape[1] == 1 else Y.argmax(axis=1)
        seeds = generator(seed).integers(2**31, size=count)

        def grown(part: slice) -> Array:
            out = np.zeros((part.stop - part.start, len(new), Y.shape[1]))
            for table, own in zip(out, seeds[part], strict=True):
                X, y = _rows(A, target, int(own), most, resample)
                if number:
                    tree: Any = ExtraTreeRegressor(random_state=int(own)).fit(X, y, check_input=False)
                    table[:, 0] = tree.predict(new, check_input=False)
                else:
                    tree = ExtraTreeClassifier(max_features="sqrt", min_samples_leaf=LEAF, random_state=int(own))
                    tree.fit(X, y, check_input=False)
                    table[:, tree.classes_] = tree.predict_proba(new, check_input=False)
            return out

        return np.concatenate(map_rows(grown, count, TREES_AT_A_TIME, self.effort.n_jobs))


def _rows(A: Array, y: Array, seed: int, most: int, resample: bool) -> tuple[Array, Array]:
    """The rows that a tree is grown from: all, a sample of many, or a bootstrap sample."""
    if len(A) <= most and not resample:
        return A, y
    some = generator(seed).choice(len(A), min(len(A), most), replace=resample)
    return A[some], y[some]

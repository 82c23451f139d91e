"""Means and most frequent categories: what every other model must improve on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from lowdim.imputation.cells import Cells
from lowdim.imputation.models.model import Array, Model, resample


class Means(Model):
    """Each missing number at the mean of its column, each category by the shares of its column."""

    name: ClassVar[str] = "mean"
    words: ClassVar[str] = "means and most frequent categories"
    posterior: ClassVar[bool] = True

    def fill(self, cells: Cells, setting: Any, start: Array | None = None) -> Array:
        return cells.only(np.broadcast_to(cells.baseline(), cells.spread.shape))

    def bootstrap(
        self, cells: Cells, setting: Any, filled: Array, count: int, rng: np.random.Generator
    ) -> Iterator[Array]:
        for _ in range(count):
            D = cells.spread[resample(cells, rng)]
            known = np.isfinite(D)
            mean = np.where(known, D, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
            yield cells.only(np.where(known.any(axis=0), mean, cells.baseline())[None])

    def posterior_draws(
        self, cells: Cells, setting: Any, filled: Array, count: int, rng: np.random.Generator
    ) -> Iterator[Array]:
        """Columns independent, with flat priors: Student's t of a number, shares by Dirichlet's distribution."""
        D, parents = cells.spread, cells.layout.parents
        for _ in range(count):
            table = D.copy()
            for j in np.flatnonzero(cells.holes.any(axis=0)):
                hole, mine = cells.holes[:, j], np.flatnonzero(parents == j)
                known = D[np.ix_(~hole, mine)]
                if cells.numeric[j]:
                    table[hole, mine[0]] = _drawn(known[:, 0], int(hole.sum()), rng)
                else:
                    table[np.ix_(hole, mine)] = rng.dirichlet(1.0 + known.sum(axis=0))
            yield table


def _drawn(known: Array, count: int, rng: np.random.Generator) -> Array:
    """Numbers from the predictive distribution of a normal column."""
    n = len(known)
    deviation = known.std() * np.sqrt(n / max(float(rng.chisquare(max(n - 1, 1))), 1e-12))
    mean = known.mean() + deviation / np.sqrt(n) * float(rng.standard_normal())
    return np.asarray(mean + deviation * rng.standard_normal(count))

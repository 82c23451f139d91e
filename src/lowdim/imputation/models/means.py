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

"""The mean of what several models fill in: better than each where their errors differ."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from lowdim.imputation.cells import Cells
from lowdim.imputation.models.model import Array, Model


@dataclass(frozen=True)
class Blend(Model):
    """Models with their settings, each with the same weight."""

    parts: tuple[tuple[Model, Any], ...] = ()
    name: ClassVar[str] = "blend"

    @property
    def words(self) -> str:  # type: ignore[override]
        """The parts, for people."""
        said = [f"{model.words}{f' ({text})' if (text := model.said(s)) else ''}" for model, s in self.parts]
        return f"the mean of {', '.join(said[:-1])} and {said[-1]}"

    def fill(self, cells: Cells, setting: Any, start: Array | None = None) -> Array:
        return np.asarray(np.mean([model.fill(cells, own) for model, own in self.parts], axis=0))

    def bootstrap(
        self, cells: Cells, setting: Any, filled: Array, count: int, rng: np.random.Generator
    ) -> Iterator[Array]:
        streams = [model.bootstrap(cells, own, model.fill(cells, own), count, rng) for model, own in self.parts]
        for tables in zip(*streams, strict=True):
            yield np.asarray(np.mean(tables, axis=0))

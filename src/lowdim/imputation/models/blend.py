"""A weighted mean of what several models fill in: better than each where their errors differ."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from lowdim.imputation.cells import Cells
from lowdim.imputation.models.model import Array, Model
from lowdim.imputation.stacking import mean_of


@dataclass(frozen=True)
class Blend(Model):
    """Models with their settings and weights, for numbers and for categories; each kind of weights sums to 1."""

    parts: tuple[tuple[Model, Any, tuple[float, float]], ...] = ()
    name: ClassVar[str] = "blend"

    @property
    def words(self) -> str:  # type: ignore[override]
        """The parts, for people."""
        said = [f"{model.name} ({' / '.join(dict.fromkeys(f'{w:.2f}' for w in own))})" for model, _, own in self.parts]
        return f"the weighted mean of {', '.join(said[:-1])} and {said[-1]}"

    @property
    def posterior(self) -> bool:  # type: ignore[override]
        """Whether all parts can be drawn from in the Bayesian way."""
        return all(model.posterior for model, _, _ in self.parts)

    def fill(self, cells: Cells, setting: Any, start: Array | None = None) -> Array:
        return self._mean([model.fill(cells, own) for model, own, _ in self.parts], cells)

    def bootstrap(
        self, cells: Cells, setting: Any, filled: Array, count: int, rng: np.random.Generator
    ) -> Iterator[Array]:
        streams = [model.bootstrap(cells, own, filled, count, rng) for model, own, _ in self.parts]
        for tables in zip(*streams, strict=True):
            yield self._mean(tables, cells)

    def posterior_draws(
        self, cells: Cells, setting: Any, filled: Array, count: int, rng: np.random.Generator
    ) -> Iterator[Array]:
        """Each table from one of the parts, drawn by the weights: the models' disagreement is part of the spread."""
        each = np.array([np.mean(weight) for _, _, weight in self.parts])
        shares = rng.multinomial(count, each / each.sum())
        for (model, own, _), share in zip(self.parts, shares, strict=True):
            if share:
                yield from model.posterior_draws(cells, own, filled, int(share), rng)

    def _mean(self, tables: Any, cells: Cells) -> Array:
        return mean_of(tables, np.array([weight for _, _, weight in self.parts]).T, cells)

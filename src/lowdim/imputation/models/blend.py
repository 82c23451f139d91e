"""A weighted mean of what several models fill in: better than each where their errors differ."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from lowdim.imputation.cells import Cells
from lowdim.imputation.models.model import Array, Model


@dataclass(frozen=True)
class Blend(Model):
    """Models with their settings and weights; weights are positive and sum to 1."""

    parts: tuple[tuple[Model, Any, float], ...] = ()
    name: ClassVar[str] = "blend"

    @property
    def words(self) -> str:  # type: ignore[override]
        """The parts, for people."""
        said = [f"{model.name} ({weight:.2f})" for model, _, weight in self.parts]
        return f"the weighted mean of {', '.join(said[:-1])} and {said[-1]}"

    @property
    def posterior(self) -> bool:  # type: ignore[override]
        """Whether all parts can be drawn from in the Bayesian way."""
        return all(model.posterior for model, _, _ in self.parts)

    def fill(self, cells: Cells, setting: Any, start: Array | None = None) -> Array:
        return self._mean([model.fill(cells, own) for model, own, _ in self.parts])

    def bootstrap(
        self, cells: Cells, setting: Any, filled: Array, count: int, rng: np.random.Generator
    ) -> Iterator[Array]:
        streams = [model.bootstrap(cells, own, filled, count, rng) for model, own, _ in self.parts]
        for tables in zip(*streams, strict=True):
            yield self._mean(tables)

    def posterior_draws(
        self, cells: Cells, setting: Any, filled: Array, count: int, rng: np.random.Generator
    ) -> Iterator[Array]:
        """Each table from one of the parts, drawn by the weights: the models' disagreement is part of the spread."""
        shares = rng.multinomial(count, [weight for _, _, weight in self.parts])
        for (model, own, _), share in zip(self.parts, shares, strict=True):
            if share:
                yield from model.posterior_draws(cells, own, filled, int(share), rng)

    def _mean(self, tables: Any) -> Array:
        weighted = (weight * table for (_, _, weight), table in zip(self.parts, tables, strict=True))
        return np.asarray(sum(weighted))

"""The baselines that the embeddings of a comparison are compared with: PCA, and random coordinates."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from lowdim._core.runtime.rng import generator
from lowdim.study.method_list import Entry, free_name
from lowdim.study.methods import find
from lowdim.study.outside import ReadyMade
from lowdim.study.running.one_method import Outcome
from lowdim.study.settings import Settings


class RandomEmbedding:
    """Random coordinates: the baseline whose R_NX is near zero at every K."""

    needs_rows = False

    def __init__(self, n_components: int, random_state: Any = 0) -> None:
        self.n_components = n_components
        self.random_state = random_state

    def get_params(self, deep: bool = False) -> dict[str, Any]:
        return {"n_components": self.n_components, "random_state": self.random_state}

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        # Its own random stream: the seed alone would repeat the normal draws of a synthetic data set.
        seed = generator(self.random_state).integers(2**32)
        return np.random.default_rng([int(seed), 0x72616E64]).standard_normal((X.shape[0], self.n_components))


def baselines_for(outcomes: list[Outcome], shape: tuple[int, ...], settings: Settings) -> list[Entry]:
    """The linear method and random coordinates for each number of components: only equal numbers are comparable."""
    widths = {o.n_components for o in outcomes if o.n_components is not None}
    there = {_width_of(outcome) for outcome in outcomes if outcome.baseline}
    return _for_widths(widths, there, {o.name for o in outcomes}, shape, settings)


def expected_runs(planned: list[Entry], shape: tuple[int, ...], settings: Settings) -> int:
    """The methods and their baselines, counted before the run by the components that each is asked for.

    A method that fails or keeps fewer components can change the number of baselines; see `Steps.expect`.
    """
    asked = [(_asked_width(entry.estimator), entry.baseline) for entry in planned]
    widths = {width for width, _ in asked if width is not None}
    there = {width for width, baseline in asked if baseline}
    return len(planned) + len(_for_widths(widths, there, {entry.name for entry in planned}, shape, settings))


def _for_widths(
    found: set[int], there: set[int | None], names: set[str], shape: tuple[int, ...], settings: Settings
) -> list[Entry]:
    """The baselines that are not there yet, under names that are free."""
    widths, taken = sorted(found) or [settings.n_components], set(names)
    method = find(settings.baseline)
    added = []
    for r in widths:
        tail = f"-{r}d" if len(widths) > 1 else ""
        linear = method.estimator(**replace(settings, n_components=r).of(method))
        wanted = [(method.name, linear)] if r not in there and r <= min(shape) else []
        for name, estimator in [*wanted, ("random", RandomEmbedding(r, settings.seed))]:
            free = free_name(f"{name}{tail}", taken)
            taken.add(free)
            added.append(Entry(free, estimator, True))
    return added


def _asked_width(estimator: Any) -> int | None:
    """The number of components that an estimator is asked for, or that a ready-made map has; None if unknown."""
    if isinstance(estimator, ReadyMade):
        return 1 if np.ndim(estimator.embedding) == 1 else int(np.shape(estimator.embedding)[1])
    asked = getattr(estimator, "n_components", None)
    return int(asked) if isinstance(asked, (int, np.integer)) and not isinstance(asked, bool) else None


def _width_of(baseline: Outcome) -> int | None:
    """The number of components of a baseline; if it failed, the number requested: it would fail again."""
    asked = getattr(baseline.estimator, "n_components", None)
    return baseline.n_components if baseline.embedding is not None else asked

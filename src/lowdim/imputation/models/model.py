"""What every model of imputation offers: a path of settings, a filled table, and one filled by a resample."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from lowdim.imputation.cells import Cells

Array = np.ndarray


@dataclass(frozen=True)
class Effort:
    """How exact fits are, and what may be spent on them."""

    tol: float = 1e-6
    max_iter: int = 1000
    n_jobs: int | None = None
    scale: bool = True
    ridge: float | None = None
    seed: int = 0  # of models that are random themselves


@dataclass(frozen=True)
class Model(ABC):
    """A way to fill missing cells; filled tables are those of `Cells.spread`, complete."""

    effort: Effort
    name: ClassVar[str] = ""
    words: ClassVar[str] = ""  # for people
    screen_tables: ClassVar[int] = 4  # with left-out cells that it is first tried on, at most
    gain: ClassVar[float] = 1.0  # share of the error so far that a later setting of its path must stay below
    posterior: ClassVar[bool] = False  # whether it can be drawn from in the Bayesian way

    def refusal(self, cells: Cells) -> str:
        """Why it cannot be used for this table; empty where it can."""
        return ""

    def path(self, cells: Cells) -> list[Any]:
        """Settings to choose from, the simplest first; [None] where there is nothing to choose."""
        return [None]

    @abstractmethod
    def fill(self, cells: Cells, setting: Any, start: Array | None = None) -> Array:
        """The completed table; `start` is one completed by a neighbouring setting."""

    @abstractmethod
    def bootstrap(
        self, cells: Cells, setting: Any, filled: Array, count: int, rng: np.random.Generator
    ) -> Iterator[Array]:
        """Tables completed by models of bootstrap samples, without noise; `filled` is that of the model itself."""

    def posterior_draws(
        self, cells: Cells, setting: Any, filled: Array, count: int, rng: np.random.Generator
    ) -> Iterator[Array]:
        """Completed tables drawn from the posterior, noise of the cells included; only where `posterior`."""
        raise NotImplementedError(f"{self.name} has no posterior")

    def said(self, setting: Any) -> str:
        """The setting in words."""
        return ""


def growing(most: int, first: int = 1) -> list[int]:
    """1, 2, ..., 6, and from there on about a quarter more each time, up to `most`."""
    found, value = [], first
    while value <= most:
        found.append(value)
        value = max(value + 1, round(1.25 * value)) if value >= 6 else value + 1
    return found


def resample(cells: Cells, rng: np.random.Generator) -> Array:
    """Rows drawn with replacement, so that each column has observed cells that differ; of many tries the last."""
    n = len(cells.coded)
    rows = rng.integers(n, size=n)
    for _ in range(20):
        known = ~cells.holes[rows]
        if (known.sum(axis=0) >= 2).all():
            break
        rows = rng.integers(n, size=n)
    return rows

"""Levels of measurement: the transformations of the dissimilarities with which distances are compared.

Disparities are the admissible values nearest to the current distances, scaled to a fixed sum of squares: without that,
all points at the origin would fit perfectly. Scaling the nearest point of a cone to a given length gives the nearest
point of that length, so this step lowers the stress as the step of the configuration does.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any

import numpy as np

from lowdim._core.runtime.notices import warn
from lowdim.stress._majorize import Pairs
from lowdim.stress._monotone import Order, SplineBasis, regression_line

LEVELS = ("ratio", "interval", "ordinal", "spline")


class Ratio:
    """The dissimilarities themselves."""

    may_be_negative = False

    def __init__(self, pairs: Pairs):
        self.pairs = self.start = pairs

    def disparities(self, distances: Any) -> np.ndarray:
        return self.pairs.delta

    def curve(self, disparities: np.ndarray) -> None:
        return None


class _Fitted(ABC):
    """A level whose disparities are fitted to the distances."""

    may_be_negative = False  # if they may, the Guttman transform can raise the stress, and shorter steps are tried

    def __init__(self, pairs: Pairs):
        self.pairs, self.length = pairs, pairs.total()

    @property
    def start(self) -> Pairs:
        """The pairs whose classical scaling is the initialisation."""
        return self.pairs

    @abstractmethod
    def _nearest(self, distances: np.ndarray) -> np.ndarray:
        """The disparities nearest to the distances, in any scale; may overwrite these."""

    def disparities(self, distances: np.ndarray) -> np.ndarray:
        found = self._nearest(distances)
        size = self.pairs.total(found)
        if size > 0:
            found *= np.sqrt(self.length / size)
        return found


class Interval(_Fitted):
    """intercept + slope delta; the smallest may become negative."""

    may_be_negative = True

    def _nearest(self, distances: np.ndarray) -> np.ndarray:
        line = regression_line(self.pairs.delta, distances, self.pairs.weights)
        return (line.intercept + line.slope * self.pairs.delta).astype(distances.dtype)

    def curve(self, disparities: np.ndarray) -> Any:
        return regression_line(self.pairs.delta, disparities, self.pairs.weights)


class Ordinal(_Fitted):
    """Any values in the order of the dissimilarities."""

    def __init__(self, pairs: Pairs, ties: str):
        super().__init__(pairs)
        self.order, self.ties = Order.of(pairs.delta, pairs.weights), ties

    @property
    def start(self) -> Pairs:
        """Ranks, mean ranks for ties: at this level nothing may depend on the values beyond their order."""
        ranks = np.zeros_like(self.pairs.delta)
        ranks[self.order.order] = self.order.ranks(ranks.dtype) / ranks.dtype.type(len(self.order.order))
        return replace(self.pairs, delta=ranks)

    def _nearest(self, distances: np.ndarray) -> np.ndarray:
        return self.order.regress(distances, self.pairs.weights, self.ties, overwrite=True)

    def curve(self, disparities: np.ndarray) -> Any:
        return self.order.function(self.pairs.delta, disparities)

    def warn_of_degenerate(self, disparities: np.ndarray, stress: float, owner: str) -> None:
        """The degenerate solution of ordinal scaling: a few clusters of points fit the rank order perfectly."""
        values = disparities[self.order.order]
        levels = 1 + int((np.diff(values) > 1e-6 * values[-1]).sum())
        runs = len(values) - int((self.order.ties[:, 1] - self.order.ties[:, 0] - 1).sum())
        if stress < 0.01 and runs > 5 and levels <= max(3, runs // 20):
            warn(
                f"{owner}: the solution is degenerate: {runs} different dissimilarities became {levels} different "
                "disparities, and the points are in a few clusters, which fit the order of the dissimilarities. Use "
                "level='spline' or 'interval', or ties='secondary'."
            )


class Spline(_Fitted):
    """A monotone spline of the dissimilarities."""

    def __init__(self, pairs: Pairs):
        super().__init__(pairs)
        self.basis = SplineBasis.of(pairs.delta, pairs.weights)

    def _nearest(self, distances: np.ndarray) -> np.ndarray:
        return self.basis.values(self.basis.regress(distances)).astype(distances.dtype)

    def curve(self, disparities: np.ndarray) -> Any:
        return self.basis.regress(disparities)


def level_of(name: str, pairs: Pairs, ties: str) -> Any:
    """The level called `name` for these pairs."""
    if name == "ordinal":
        return Ordinal(pairs, ties)
    return {"ratio": Ratio, "interval": Interval, "spline": Spline}[name](pairs)

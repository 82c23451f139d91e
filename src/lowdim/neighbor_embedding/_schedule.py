"""The phases of t-SNE's descent, and what is said about how it ended."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from lowdim._core.runtime.notices import warn
from lowdim.neighbor_embedding import _affinity
from lowdim.neighbor_embedding._gradient_descent import Descended, Phase

EARLY_GAIN, EXACT_GAIN = 1.0, 8.0  # larger ones make the map of few rows depend on rounding; see `Plan.phases`
RATE = 50.0  # the least rate of "auto" (maps of few rows hardly move), up to twice the usual: beyond, steps overshoot


def early_factor(P: Any) -> float:
    """12 where neighbourhoods are many; their number is n² over the effective number of pairs, exp of the entropy of P.

    On digits, MNIST and small tables, 4 instead of 12 lowers the divergence by up to 5 % where they are fewer than 60,
    and changes little up to 100; under 12, maps of 15 or fewer collapse.
    """
    neighborhoods = P.shape[0] ** 2 / np.exp(_affinity.entropy(P))
    return float(np.clip(neighborhoods / 15, 4.0, 12.0))


@dataclass(frozen=True)
class Plan:
    """The settings of t-SNE's descent."""

    early_exaggeration: float | str
    exaggeration: float
    early_iter: int
    max_iter: int
    learning_rate: float | str
    momentum: Any  # a number, or a pair: before and after early exaggeration

    def going_on(self, from_earlier: bool) -> Plan:
        """From an earlier map: early exaggeration would draw it together, and later steps only make it larger."""
        return replace(self, early_iter=0, max_iter=max(1, self.max_iter // 3)) if from_earlier else self

    def phases(self, P: Any, done: int, *, exact: bool) -> list[Phase]:
        """The phases of the descent after `done` steps, with and without early exaggeration.

        Gains raise the rate of a coordinate until it oscillates, and then rounding errors decide the map. Under
        exaggeration they have no advantage (measured on MNIST). Afterwards they lower the divergence of large maps by
        1 %; for few rows they are limited, so that a shift of the data or another order of the rows more often gives
        the same map. That is no guarantee: some data and perplexities still amplify rounding errors.
        """
        n, first = P.shape[0], min(max(0, self.early_iter - done), self.max_iter)
        factor = early_factor(P) if self.early_exaggeration == "auto" else float(self.early_exaggeration)
        pair = self.momentum if isinstance(self.momentum, (list, tuple)) else (self.momentum, self.momentum)
        plan = [
            (first, factor, pair[0], EARLY_GAIN),
            (self.max_iter - first, self.exaggeration, pair[1], EXACT_GAIN if exact else np.inf),
        ]
        fixed = None if self.learning_rate == "auto" else float(self.learning_rate)
        return [
            Phase(steps, by, fixed or max(n / by, min(RATE, 2 * n / by)), momentum, gain)
            for steps, by, momentum, gain in plan
            if steps
        ]

    def warn_of(self, run: Descended) -> None:
        """Where the map collapsed, or the descent did not converge."""
        if run.restarted and self.early_exaggeration != "auto":
            warn(
                f"TSNE: early_exaggeration={self.early_exaggeration:g} collapsed the map to a point or a line, so the "
                "descent was started again without it. Use 'auto', or a smaller perplexity."
            )
        if not run.converged and not run.stopped and np.isfinite(run.fall):
            change = f"fell by {100 * run.fall:.1f} %" if run.fall > 0 else f"rose by {-100 * run.fall:.1f} %"
            way_out = "Raise max_iter." if run.fall > 0 else "Lower learning_rate, or raise max_iter."
            warn(
                f"TSNE: not converged after max_iter={self.max_iter} steps: in the last ones the divergence {change}. "
                f"{way_out}",
                ConvergenceWarning,
            )

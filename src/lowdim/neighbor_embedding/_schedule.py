"""The phases of t-SNE's descent, and what is said about how it ended."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from lowdim._core.runtime.notices import warn
from lowdim.neighbor_embedding import _affinity
from lowdim.neighbor_embedding._gradient_descent import Descended, Phase

EARLY_GAIN, EXACT_GAIN = 1.0, 8.0  # larger ones make the map of few rows depend on rounding; see `_phases`
RATE = 50.0  # the least rate of "auto" (maps of few rows hardly move), up to twice the usual: beyond, steps overshoot


def early_factor(P: Any) -> float:
    """12 where neighbourhoods are many; their number is n² over the effective number of pairs, exp of the entropy of P.

    On digits, MNIST and small tables, 4 instead of 12 lowers the divergence by up to 5 % where they are fewer than 60,
    and changes little up to 100; under 12, maps of 15 or fewer collapse.
    """
    neighborhoods = P.shape[0] ** 2 / np.exp(_affinity.entropy(P))
    return float(np.clip(neighborhoods / 15, 4.0, 12.0))


def warn_of(model: Any, run: Descended) -> None:
    """Where the map collapsed, or the descent did not converge."""
    if run.restarted and model.early_exaggeration != "auto":
        warn(
            f"TSNE: early_exaggeration={model.early_exaggeration:g} collapsed the map to a point or a line, so the "
            "descent was started again without it. Use 'auto', or a smaller perplexity."
        )
    if not run.converged and not run.stopped and np.isfinite(run.fall):
        change = f"fell by {100 * run.fall:.1f} %" if run.fall > 0 else f"rose by {-100 * run.fall:.1f} %"
        way_out = "Raise max_iter." if run.fall > 0 else "Lower learning_rate, or raise max_iter."
        warn(
            f"TSNE: not converged after max_iter={model.max_iter} steps: in the last ones the divergence {change}. "
            f"{way_out}",
            ConvergenceWarning,
        )


def phases(model: Any, P: Any, done: int, *, exact: bool) -> list[Phase]:
    """The phases of the descent after `done` steps, with and without early exaggeration.

    Gains raise the rate of a coordinate until it oscillates, and then rounding errors decide the map. Under
    exaggeration they have no advantage (measured on MNIST). Afterwards they lower the divergence of large maps by
    1 %; for few rows they are limited, so that a shift of the data or another order of the rows more often gives
    the same map. That is no guarantee: some data and perplexities still amplify rounding errors.
    """
    n, first = P.shape[0], min(max(0, model.early_iter - done), model.max_iter)
    factor = early_factor(P) if model.early_exaggeration == "auto" else model.early_exaggeration
    before, after = model.momentum if isinstance(model.momentum, (list, tuple)) else (model.momentum, model.momentum)
    plan = [
        (first, factor, before, EARLY_GAIN),
        (model.max_iter - first, model.exaggeration, after, EXACT_GAIN if exact else np.inf),
    ]
    fixed = None if model.learning_rate == "auto" else float(model.learning_rate)
    return [
        Phase(steps, by, fixed or max(n / by, min(RATE, 2 * n / by)), momentum, gain)
        for steps, by, momentum, gain in plan
        if steps
    ]

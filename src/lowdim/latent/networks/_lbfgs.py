"""Full-batch training of small networks: L-BFGS on one flat vector in double precision.

The loop is SciPy's own (a line search asks for several losses in a step), so `_core.iterate` cannot drive it; stopping,
history, progress and warnings follow its rules.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from lowdim._core.iterate import Progress

MEMORY = 20  # pairs of steps remembered: with 10 the helix needs half as many steps again
WINDOW = 10  # steps over which the loss must move by more than tol


@dataclass(frozen=True, eq=False)
class Descent:
    """Where a descent ended."""

    x: np.ndarray
    loss: float
    losses: np.ndarray
    converged: bool
    stuck: bool  # in a line search that found nothing lower


def descend(
    objective: Callable[[np.ndarray], tuple[float, np.ndarray]],
    start: np.ndarray,
    *,
    max_iter: int,
    tol: float,
    owner: str,
    progress: Progress | None = None,
    after: Callable[[np.ndarray], bool] | None = None,
    bounds: list[Any] | None = None,
    unit: float | None = None,
) -> Descent:
    """Minimise a loss with its gradient until it moves by at most `tol` in ten steps: of the loss, or of `unit`.

    `after(x)` is called with the parameters after each step and ends the descent, as converged, by returning True.
    """
    from scipy.optimize import minimize

    losses: list[float] = []
    state: dict[str, Any] = {"stopped": False}

    def watch(intermediate_result: Any) -> None:
        losses.append(float(intermediate_result.fun))
        if progress is not None:
            progress.advance(f"loss {losses[-1]:.6g}")
        before = losses[-WINDOW - 1] if len(losses) > WINDOW else np.inf
        flat = before - losses[-1] <= tol * (abs(losses[-1]) if unit is None else unit)
        if flat or (after is not None and after(intermediate_result.x)):
            state["stopped"] = True
            raise StopIteration

    first, _ = objective(start)
    if not np.isfinite(first):
        raise ValueError(f"{owner}: the loss of the first weights is {first}; the rows are too large for the network.")
    options = {"maxiter": max_iter, "maxfun": 4 * max_iter + 100, "maxcor": MEMORY, "ftol": 0.0, "gtol": 1e-12}
    settings: Any = {"jac": True, "method": "L-BFGS-B", "bounds": bounds, "options": options}
    found = minimize(objective, start, callback=watch, **settings)
    # A line search that finds nothing lower is at the bottom, as far as rounding lets it see.
    converged = state["stopped"] or found.status != 1
    return Descent(np.asarray(found.x), float(found.fun), np.array(losses), bool(converged), found.status == 2)

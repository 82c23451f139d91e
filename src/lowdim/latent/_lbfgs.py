"""L-BFGS on one flat vector in double precision, for small networks and Gaussian-process models.

The loop is SciPy's own (a line search evaluates several losses in a step), so `_core.iterate` cannot drive it.
Stopping, history, progress, callbacks and warnings follow its rules.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from lowdim._core.iterate import Progress

MEMORY = 20  # pairs of steps remembered: with 10 the helix needs half as many steps again
WINDOW = 10  # steps over which the loss must change by more than tol


@dataclass(frozen=True, eq=False)
class Minimum:
    """The parameters a run ended with, and how it ended."""

    x: np.ndarray
    loss: float
    losses: np.ndarray
    converged: bool
    stuck: bool  # in a line search that found nothing lower
    stopped: bool  # by the user's callback


def minimise(
    objective: Callable[[np.ndarray], tuple[float, np.ndarray]],
    start: np.ndarray,
    *,
    max_iter: int,
    tol: float,
    owner: str,
    progress: Progress | None = None,
    until: Callable[[np.ndarray], bool] | None = None,
    callback: Callable[[float, np.ndarray], bool] | None = None,
    bounds: list[Any] | None = None,
    unit: float | None = None,
) -> Minimum:
    """Minimise a loss with its gradient until it changes by at most `tol` in ten steps: of the loss, or of `unit`.

    Parameters
    ----------
    objective : callable
        x -> (loss, gradient).
    start : ndarray
        The first parameters.
    max_iter : int
        At most this many steps.
    tol : float
        Relative change of the loss, or absolute in multiples of `unit`.
    owner : str
        Who minimises, for messages.
    progress : Progress, optional
        Advanced by one for each step.
    until : callable, optional
        until(x) after each step; True ends the run, as converged: a stopping rule of the caller's own.
    callback : callable, optional
        callback(loss, x) after each step; True ends the run, as stopped.
    bounds : list of pairs, optional
        Range of each parameter.
    unit : float, optional
        See `tol`.

    Returns
    -------
    Minimum
    """
    from scipy.optimize import minimize

    losses: list[float] = []
    state = {"ended": False, "stopped": False}

    def watch(intermediate_result: Any) -> None:
        losses.append(float(intermediate_result.fun))
        if progress is not None:
            progress.advance(f"loss {losses[-1]:.6g}")
        before = losses[-WINDOW - 1] if len(losses) > WINDOW else np.inf
        flat = before - losses[-1] <= tol * (abs(losses[-1]) if unit is None else unit)
        state["ended"] = bool(flat or (until is not None and until(intermediate_result.x)))
        state["stopped"] = callback is not None and callback(losses[-1], intermediate_result.x)
        if state["ended"] or state["stopped"]:
            raise StopIteration

    first, _ = objective(start)
    if not np.isfinite(first):
        raise ValueError(f"{owner}: the loss of the initial parameters is {first}. Rescale X.")
    options = {"maxiter": max_iter, "maxfun": 4 * max_iter + 100, "maxcor": MEMORY, "ftol": 0.0, "gtol": 1e-12}
    settings: Any = {"jac": True, "method": "L-BFGS-B", "bounds": bounds, "options": options}
    found = minimize(objective, start, callback=watch, **settings)
    # A line search that finds nothing lower is at a minimum, as far as rounding can tell.
    converged = not state["stopped"] and (state["ended"] or found.status != 1)
    return Minimum(
        np.asarray(found.x), float(found.fun), np.array(losses), converged, found.status == 2, state["stopped"]
    )

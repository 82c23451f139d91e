"""Maximisation of the likelihood, or of its lower bound, by L-BFGS."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from lowdim._core.callbacks import Relay
from lowdim._core.iterate import Callback, Progress
from lowdim._core.runtime.notices import warn
from lowdim.latent._lbfgs import minimise
from lowdim.latent.gp import _exact, _sparse, _variational
from lowdim.latent.gp._init import completed, inducing_points, row_kernel, whitening, with_more_points
from lowdim.latent.gp._process import Patterns, Predictor

Array = np.ndarray
SMOOTH = 100  # steps with coordinates that are a smooth function of the rows
FIRST_POINTS = 5  # inducing points of the first run of several
ROUND = 100  # steps in one kind of coordinates


@dataclass(frozen=True)
class Settings:
    """How a Gaussian-process latent variable model is fitted."""

    kernel: str
    n_components: int
    n_inducing: int
    back_constraint: bool
    smooth_init: bool  # begin with coordinates that are a smooth function of the rows
    max_iter: int
    tol: float
    callback: Callback | None
    n_jobs: int | None
    verbose: int | bool


@dataclass(frozen=True, eq=False)
class Fitted:
    """Latent coordinates, predictions at any latent point, and how they were found."""

    latent: Array
    predictor: Predictor
    log_likelihood: float
    n_iter: int
    converged: bool
    back: tuple[float, Array] | None = None  # gamma and coefficients of back-constraints


@dataclass(frozen=True, eq=False)
class _Maximum:
    objective: Any
    x: Array
    losses: Array
    converged: bool
    stopped: bool  # by the callback


def fit_exact(
    table: Patterns, rows: Array, X: Array, noise: float, settings: Settings, rng: np.random.Generator
) -> Fitted:
    """From initial coordinates X: first a smooth function of the rows, which keeps a curve connected; then free."""
    q, back = settings.n_components, None
    watch = None if settings.callback is None else Relay(settings.callback)
    free = _exact.Objective(table, settings.kernel, q)
    start, found = free.initial(X, noise), None
    if settings.smooth_init and settings.kernel == "rbf":
        gamma, basis = row_kernel(completed(rows, q, rng, settings.n_jobs))
        whitened = whitening(basis)
        smooth = _exact.Objective(table, settings.kernel, q, basis @ whitened)
        few = None if settings.back_constraint else SMOOTH
        found = _maximise(smooth, smooth.initial(X, noise), settings, watch, few=few)
        start = free.pack(*smooth.unpack(found.x))
        if settings.back_constraint:
            back = gamma, whitened @ found.x[: smooth.size].reshape(-1, q)
    if found is None or not (settings.back_constraint or found.stopped):
        found = _maximise(free, start, settings, watch, change=_exact.other_coordinates)
    latent, process = found.objective.unpack(found.x)
    value, predictor = _exact.likelihood(table, latent, process)[0], _exact.predictor(table, latent.copy(), process)
    return Fitted(latent.copy(), predictor, value, len(found.losses), found.converged, back)


def fit_variational(table: Patterns, X: Array, noise: float, settings: Settings) -> Fitted:
    """From initial coordinates X, with inducing points among them: few at first, then twice as many and so on.

    More points never lower the bound where everything else stays, but from the initialisation they lead to worse
    maxima. A run with more points therefore starts where the one with fewer ended; the best is taken.
    """
    watch = None if settings.callback is None else Relay(settings.callback)
    best: tuple[float, Any, Predictor, _Maximum] | None = None
    most, m = min(settings.n_inducing, len(X)), min(FIRST_POINTS, settings.n_inducing, len(X))
    points = inducing_points(X, m)
    objective = _variational.Objective(table, settings.n_components, m, settings.n_jobs)
    x = objective.initial(X, points, noise)
    while True:
        found = _maximise(objective, x, settings, watch, few=None if m == most else settings.max_iter)
        at = objective.unpack(found.x)
        value, _, predictor = _variational.bound(table, at, settings.n_jobs)
        if best is None or value > best[0]:
            best = value, at, predictor, found
        if m == most or found.stopped:
            break
        m = min(2 * m, most)
        objective = _variational.Objective(table, settings.n_components, m, settings.n_jobs)
        x = objective.pack(best[1], with_more_points(best[1], m))
    value, at, predictor, found = best
    return Fitted(at.mu.copy(), predictor, value, len(found.losses), found.converged)


def fit_sparse(table: Patterns, X: Array, noise: float, settings: Settings) -> Fitted:
    """The likelihood through inducing points, from initial coordinates X with points among them."""
    watch = None if settings.callback is None else Relay(settings.callback)
    points = inducing_points(X, settings.n_inducing)
    objective = _sparse.Objective(table, settings.n_components, len(points))
    found = _maximise(objective, objective.initial(X, points, noise), settings, watch)
    latent, points, process = objective.unpack(found.x)
    value, _, predictor = _sparse.likelihood(table, latent.copy(), points.copy(), process)
    return Fitted(latent.copy(), predictor, value, len(found.losses), found.converged)


def _maximise(
    objective: Any,
    x: Array,
    settings: Settings,
    watch: Relay | None,
    *,
    few: int | None = None,
    change: Callable[[Any, Array], tuple[Any, Array]] | None = None,
) -> _Maximum:
    """Minimise minus the log-likelihood per cell: in one run, or in rounds between which `change` changes coordinates.

    With `few` the result is an initialisation of so many steps at most, without a warning. After a line search that
    found nothing lower, L-BFGS is started once more.
    """
    most, losses, stuck = min(few or settings.max_iter, settings.max_iter), np.empty(0), False
    with Progress("GPLVM", settings.max_iter, settings.verbose) as progress:
        while True:
            run = minimise(
                objective,
                x,
                max_iter=most - len(losses) if change is None else min(ROUND, most - len(losses)),
                tol=settings.tol,
                unit=1.0,
                bounds=objective.bounds(),
                owner="GPLVM",
                progress=progress,
                callback=None if watch is None else _step(watch, objective),
            )
            losses, x = np.concatenate([losses, run.losses]), run.x
            settled = run.converged and (stuck or not run.stuck)
            if settled or run.stopped or len(losses) >= most:
                break
            stuck = run.stuck
            if change is not None:
                objective, x = change(objective, x)
    if few is None and not (run.converged or run.stopped):
        _warn_unconverged(losses, settings)
    return _Maximum(objective, x, losses, run.converged, run.stopped)


def _step(watch: Relay, objective: Any) -> Callable[[float, Array], bool]:
    return lambda loss, x: watch(loss, objective.latent(x))


def _warn_unconverged(losses: Array, settings: Settings) -> None:
    rise = float(losses[max(0, len(losses) - 11)] - losses[-1])
    warn(
        f"GPLVM: not converged after max_iter={settings.max_iter} steps: in the last ten the log-likelihood of a cell "
        f"rose by {rise:.2g} (tol={settings.tol:g}). Raise max_iter or tol.",
        ConvergenceWarning,
    )

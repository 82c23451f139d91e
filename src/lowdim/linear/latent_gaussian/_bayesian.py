"""Fits of Bayesian PCA under its two priors, and the start of their iterations."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lowdim._core.incomplete.em import fit_gaussian, initial, observed_moments
from lowdim._core.incomplete.gaussian import Gaussian
from lowdim._core.incomplete.rank import without_cells
from lowdim._core.iterate import Callback, Run
from lowdim._core.runtime import memory
from lowdim._core.runtime.notices import warn
from lowdim._core.runtime.rng import generator
from lowdim.linear.latent_gaussian._latent import spectrum, working_memory
from lowdim.linear.latent_gaussian._priors import ard_closed, ard_em, oba

Array = np.ndarray

# Where the most probable loadings leave less than this part of the noise that uncertain loadings leave, both are tested
# by predicting this share of the cells, so many times.
_DOUBTFUL, _HELD_OUT, _TRIALS = 0.5, 0.2, 3
_SURE = 4.0  # standard errors from which no more trials are needed
FEW_COLUMNS = 16  # tried first where each step costs more with more of them,
_FULL = 0.75  # and twice as many where more than this share is kept
LONG = 30.0  # seconds of processor time that are announced before they are spent
_STEPS, _SPEED = 100, 5e9  # of a fit, operations a second; 606 x 98 took 5 s with 40 columns, 15 to 35 with 97


@dataclass(frozen=True)
class Settings:
    """How the iterations run."""

    tol: float
    max_iter: int
    random_state: Any
    n_jobs: int | None
    verbose: int | bool = 0
    callback: Callback | None = None  # sees the loadings
    quiet: bool = False  # no convergence warnings

    @property
    def loop(self) -> dict[str, Any]:
        """What every loop gets."""
        names = ("tol", "max_iter", "verbose", "callback", "quiet")
        return {"owner": "BayesianPCA", **{name: getattr(self, name) for name in names}}


def by_oba(X: Array, q: int, settings: Settings, supported: Gaussian | None = None) -> tuple[Gaussian, Run]:
    """Variational, from principal axes; with very many columns, from those that the likeliest model supports."""
    mean, variance = observed_moments(X, settings.n_jobs)
    if q > FEW_COLUMNS:
        start = replace(supported or _supported(X, q, settings), mean=mean)
    else:
        start = initial(X, q, mean, variance, "isotropic", generator(settings.random_state), settings.n_jobs)
    found, run = oba(X, start, float(np.sqrt(variance.mean())), **settings.loop)
    return found.gaussian(mean, settings.n_jobs), run


def by_ard(X: Array, q: int, settings: Settings) -> tuple[Gaussian, Run]:
    """The most probable loadings; with few cells, with the noise of uncertain loadings where that predicts better."""
    start = _supported(X, q, settings)
    found, run = _probable(X, start, settings)
    if run.stopped or not _few_cells(X, found.rank):
        return found, run
    broad, broad_run = by_oba(X, q, settings, start)
    if broad_run.stopped:
        return found, replace(run, converged=False)
    if found.noise < _DOUBTFUL * broad.noise and _predicts_worse(X, q, settings):
        warn(
            "BayesianPCA: too few observed cells to tell noise from structure: cells held out are predicted worse with "
            f"the noise variance of the most probable loadings, {found.noise:.3g}, than with that of uncertain "
            f"loadings, {broad.noise:.3g}, which is assumed."
        )
        return _cautious(X, broad, settings)
    return found, run


def of_complete_rows(X: Array, q: int, random_state: Any, n_jobs: int | None) -> Gaussian:
    """The most probable model of complete rows, in closed form from their spectrum."""
    found = spectrum(X, q, random_state, n_jobs)
    axes = Gaussian(found.mean, found.loadings[:q].T, 0.0, n_jobs)
    return _chosen(axes, found.variances[:q], found.total_variance, len(X), 0.0)


def _unit(X: Array, n_jobs: int | None) -> float:
    return float(np.sqrt(observed_moments(X, n_jobs)[1].mean()))


def _probable(X: Array, start: Gaussian, settings: Settings) -> tuple[Gaussian, Run]:
    return ard_em(X, start, _unit(X, settings.n_jobs), **settings.loop)


def _cautious(X: Array, broad: Gaussian, settings: Settings) -> tuple[Gaussian, Run]:
    """From a fit with uncertain loadings, with at least its noise."""
    return ard_em(X, broad, _unit(X, settings.n_jobs), floor=float(broad.noise), **settings.loop)


def _predicts_worse(X: Array, q: int, settings: Settings) -> bool:
    """Whether cells held out are predicted worse by the most probable model than by the cautious one."""
    lead, rng = np.empty(0), generator(0)
    settings = replace(settings, tol=max(settings.tol, 1e-5), quiet=True, verbose=0, callback=None)
    for _ in range(_TRIALS):
        rows = without_cells(X, _HELD_OUT, rng)
        hidden = np.isnan(rows) & ~np.isnan(X)
        start = _supported(rows, q, settings)
        broad, _ = by_oba(rows, q, settings, start)
        models = _probable(rows, start, settings)[0], _cautious(rows, broad, settings)[0]
        errors = [(model.conditional(rows)[0] - X)[hidden] ** 2 for model in models]
        lead = np.append(lead, errors[0] - errors[1])
        if abs(lead.sum()) > _SURE * np.linalg.norm(lead):
            break
    return bool(lead.sum() > 0)


def _supported(X: Array, q: int, settings: Settings) -> Gaussian:
    """From the maximum of the likelihood with more than enough columns, those that its spectrum supports.

    A step costs the square of their number and more, so there are few until three quarters of them are kept.
    """
    tried = min(q, FEW_COLUMNS)
    start = _of_likelihood(X, tried, settings)
    while tried < q and start.rank > _FULL * tried:
        tried = min(q, 2 * tried)
        needs = working_memory(X.shape[0], X.shape[1], tried, X.itemsize, settings.n_jobs)
        memory.check("BayesianPCA", needs, f"Set n_components={start.rank} or fewer.")
        _announce(X.shape, tried, settings)
        start = _of_likelihood(X, tried, settings)
    return start


def _announce(shape: tuple[int, ...], r: int, settings: Settings) -> None:
    """A warning where so many columns take long: every row has a matrix of its own to invert in each step."""
    n, d = shape
    seconds = _STEPS * n * (2.0 * r**3 + d * r**2) / _SPEED
    if seconds > LONG and not settings.quiet:
        warn(
            f"BayesianPCA: {r} columns of loadings on {n} incomplete rows take about {seconds:.0f} s of processor "
            "time. Set n_components to bound them, or fill the cells first (lowdim.impute)."
        )


def _of_likelihood(X: Array, q: int, settings: Settings) -> Gaussian:
    """What the spectrum of the likeliest model with q columns supports."""
    likeliest, _ = fit_gaussian(
        X,
        q,
        floor=1e-6,
        tol=1e-4,
        max_iter=50,
        rng=generator(settings.random_state),
        n_jobs=settings.n_jobs,
        owner="BayesianPCA",
        verbose=settings.verbose,
        warn=False,
    )
    model, axes = likeliest.principal()
    values = (model.loadings**2).sum(axis=0) + model.noise
    total = values.sum() + (X.shape[1] - q) * model.noise
    along = Gaussian(model.mean, axes, 0.0, settings.n_jobs)
    return _chosen(along, values, float(total), _rows_worth(X), values[0])


def _chosen(axes: Gaussian, values: Array, total: float, n: float, spare: float) -> Gaussian:
    """The model along the given axes (in the place of loadings) that the eigenvalues support.

    Where none is above the noise there is still one column, of variance `spare`.
    """
    choice = ard_closed(values, total, n, len(axes.mean), len(values))
    kept = max(1, len(choice.variances))
    squares = np.append(choice.variances, spare)[:kept] - choice.noise
    W = axes.loadings[:, :kept] * np.sqrt(np.maximum(squares, 0.0))
    return Gaussian(axes.mean, W, choice.noise, axes.n_jobs)


def _few_cells(X: Array, r: int) -> bool:
    """Whether scores and loadings together are more than half as many as the observed cells."""
    n, d = X.shape
    return 2 * (r * (n + d - r) + d) > int((~np.isnan(X)).sum())


def _rows_worth(X: Array) -> float:
    """How many complete rows would have as many observed cells."""
    return float((~np.isnan(X)).sum()) / X.shape[1]

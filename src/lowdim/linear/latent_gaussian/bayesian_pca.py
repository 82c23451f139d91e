"""Bayesian principal component analysis: the number of components comes out of the fit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from lowdim._core import params
from lowdim._core.base import Reducer
from lowdim._core.incomplete.cells import within_reach
from lowdim._core.incomplete.gaussian import Gaussian, check_varies, fit_gaussian, initial, observed_moments
from lowdim._core.incomplete.rank import without_cells
from lowdim._core.iterate import Run
from lowdim._core.runtime.notices import warn
from lowdim._core.runtime.rng import generator
from lowdim.linear.latent_gaussian._latent import (
    LatentGaussian,
    has_holes,
    most_components,
    spectrum,
    spectrum_memory,
    working_memory,
)
from lowdim.linear.latent_gaussian._priors import ard_closed, ard_em, oba, shortest

_DOUBTFUL = (
    0.5  # part of the noise under uncertain loadings, below which that under the likeliest ones is put to the test
)
_TRIALS, _HELD_OUT = 3, 0.2  # by predicting this share of the cells, so many times
_FEW_COLUMNS = 16  # tried first where each step costs more with more of them


class BayesianPCA(LatentGaussian, Reducer):
    """Probabilistic PCA with a prior that gives up components the data does not need; takes missing cells as they are.

    The model is that of `ProbabilisticPCA`, x = mean + W z + noise, with a normal prior of its own width 1 / alpha_k on
    each column w_k of W. The widths are fitted too (alpha_k = d / ||w_k||²): a column whose variance does not stand
    out from the noise of n rows shrinks, its alpha grows, and it vanishes. So ask for many components and read
    `n_components_`. The scores are posterior means, as in `ProbabilisticPCA`.

    Parameters
    ----------
    n_components : int or None
        The most components to start with; None takes min(n - 1, d) - 1.
    prior : {"ard", "oba"}
        "ard": the most probable W, exact on the observed cells, columns pruned (Bishop). "oba": W has a spread of its
        own (variational), which widens its predictions a little for few rows; the mean is that of the observed cells
        (Oba and others; the `bpca` of microarray work).
    reach : float or None
        How far a filled cell of `completed_` may lie beyond the observed cells of its column, in ranges of these: a row
        known by a few extreme cells would else be extrapolated without measure. None: no bound.
    tol : float
        Stop when a step changes less: for "ard" the log-posterior per observed cell, for "oba" the length of a step.
        Complete rows under "ard" need no steps.
    max_iter : int
        Most steps.
    random_state : int, generator or None
        Start of the iteration.
    n_jobs : int or None
        Threads; None means all cores. Results do not depend on it.
    verbose : bool
        Show progress on stderr.

    Attributes
    ----------
    n_components_ : int
        Components that were kept, at least one.
    relevance_ : ndarray of shape (n_candidates,)
        ||w_k||² / s² of every component it started with, largest first; 0 for those given up.
    components_ : ndarray of shape (n_components_, n_features)
        Principal axes, orthonormal; the entry of largest magnitude is positive.
    loadings_ : ndarray of shape (n_features, n_components_)
        W, its columns along the axes.
    mean_ : ndarray of shape (n_features,)
        Mean of the model.
    noise_variance_ : float
        s².
    explained_variance_ : ndarray of shape (n_components_,)
        Variance of the model along each axis, ||w||² + s²; the prior makes it a little smaller than PCA's.
    log_likelihood_ : float
        Of all observed cells together under the fitted model, in nats.
    completed_, completed_variance_ : ndarray of shape (n_samples, n_features), or None
        Where cells were missing: the table with their expectations filled in, and the variance of each (0 where
        observed). None for complete tables.
    n_iter_, converged_ : int, bool
        Steps, and whether they settled.

    References
    ----------
    Bishop, Bayesian PCA, 1999. Oba, Sato, Takemasa, Monden, Matsubara and Ishii, A Bayesian missing value estimation
    method for gene expression profile data, 2003.

    Examples
    --------
    >>> import numpy as np, lowdim
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 2)) @ rng.standard_normal((2, 8)) + 0.1 * rng.standard_normal((200, 8))
    >>> lowdim.BayesianPCA().fit(X).n_components_
    2
    """

    _rules: ClassVar = {
        "n_components": params.whole(1) | params.none(),
        "prior": params.one_of("ard", "oba"),
        "reach": params.real(0) | params.none(),
    }
    _ways_out = "Use fewer components."

    def __init__(
        self,
        n_components=None,
        *,
        prior="ard",
        reach=0.5,
        tol=1e-9,
        max_iter=1000,
        random_state=None,
        n_jobs=None,
        verbose=False,
    ):
        self.n_components = n_components
        self.prior = prior
        self.reach = reach
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _embed(self, X: np.ndarray) -> None:
        q = most_components(X.shape, self.n_components, "BayesianPCA")
        holes = has_holes(X)
        mean, variance = observed_moments(X, self.n_jobs)
        check_varies(mean, float(variance.mean()), X.dtype, "BayesianPCA")
        if self.prior == "ard" and not holes:
            model, run = self._ard_complete(X, q), (1, True)
        else:
            solve = self._oba if self.prior == "oba" else self._ard
            model, run = solve(X, q, mean, variance)
        self._keep(model, run, X, q)
        self._keep_completed(X, holes)
        if self.completed_ is not None:
            self.completed_ = within_reach(X, self.completed_, self.reach, "BayesianPCA")

    def _settings(self) -> dict[str, Any]:
        return {"tol": self.tol, "max_iter": self.max_iter, "owner": "BayesianPCA", "verbose": self.verbose}

    def _oba(
        self,
        X: np.ndarray,
        q: int,
        mean: np.ndarray,
        variance: np.ndarray,
        settings: dict[str, Any] | None = None,
    ) -> tuple[Gaussian, tuple[int, bool]]:
        """From principal axes; of very many columns, from those that the likeliest model calls for."""
        if q > _FEW_COLUMNS:
            start = replace(self._called_for(X, q), mean=mean)
        else:
            start = initial(X, q, mean, variance, "isotropic", generator(self.random_state), self.n_jobs)
        found, run = oba(X, start, float(np.sqrt(variance.mean())), **(settings or self._settings()))
        return found.gaussian(mean, self.n_jobs), (run.n_iter, run.converged)

    def _ard(self, X: np.ndarray, q: int, mean: np.ndarray, variance: np.ndarray) -> tuple[Gaussian, tuple[int, bool]]:
        found, run = self._likely(X, q, variance, self._settings())
        if _few_cells(X, found.rank):
            broad, _ = self._oba(X, q, mean, variance)
            if found.noise < _DOUBTFUL * broad.noise and self._predicts_worse(X, q):
                warn(
                    "BayesianPCA: too few observed cells to tell noise from structure: cells held out are predicted "
                    f"worse with the likeliest noise variance, {found.noise:.3g}, than with that of loadings that are "
                    f"not known for sure, {broad.noise:.3g}, which is assumed."
                )
                found, run = self._cautious(X, broad, variance, self._settings())
        return found, (run.n_iter, run.converged)

    def _likely(self, X: np.ndarray, q: int, variance: np.ndarray, settings: dict[str, Any]) -> tuple[Gaussian, Run]:
        return ard_em(X, self._called_for(X, q), float(np.sqrt(variance.mean())), **settings)

    def _cautious(
        self, X: np.ndarray, broad: Gaussian, variance: np.ndarray, settings: dict[str, Any]
    ) -> tuple[Gaussian, Run]:
        """From a fit that knows how uncertain loadings are, with no less noise than it has."""
        return ard_em(X, broad, float(np.sqrt(variance.mean())), floor=float(broad.noise), **settings)

    def _predicts_worse(self, X: np.ndarray, q: int) -> bool:
        """Whether cells held out are predicted worse by the likeliest model than by the cautious one."""
        errors, rng = np.zeros(2), generator(0)
        settings = self._settings() | {"tol": max(self.tol, 1e-5), "quiet": True, "verbose": False}
        for _ in range(_TRIALS):
            rows = without_cells(X, _HELD_OUT, rng)
            hidden = np.isnan(rows) & ~np.isnan(X)
            mean, variance = observed_moments(rows, self.n_jobs)
            broad, _ = self._oba(rows, q, mean, variance, settings)
            models = self._likely(rows, q, variance, settings)[0], self._cautious(rows, broad, variance, settings)[0]
            errors += [float(((model.conditional(rows)[0] - X)[hidden] ** 2).sum()) for model in models]
        return bool(errors[0] > errors[1])

    def _called_for(self, X: np.ndarray, q: int) -> Gaussian:
        """From the maximum of the likelihood with ample columns, those its spectrum calls for.

        A step costs the square of their number and more, so there are few until half of them are kept.
        """
        tried = min(q, _FEW_COLUMNS)
        start = self._likeliest(X, tried)
        while tried < q and 2 * start.rank > tried:
            tried = min(q, 4 * tried)
            start = self._likeliest(X, tried)
        return start

    def _likeliest(self, X: np.ndarray, q: int) -> Gaussian:
        """What the spectrum of the likeliest model with q columns calls for."""
        likeliest, _ = fit_gaussian(
            X,
            q,
            floor=1e-6,
            tol=1e-5,
            max_iter=100,
            rng=generator(self.random_state),
            n_jobs=self.n_jobs,
            owner="BayesianPCA",
            verbose=self.verbose,
            warn=False,
        )
        model, axes = likeliest.principal()
        values = (model.loadings**2).sum(axis=0) + model.noise
        total = values.sum() + (X.shape[1] - q) * model.noise
        along = Gaussian(model.mean, axes, 0.0, self.n_jobs)
        return _chosen(along, values, float(total), _rows_worth(X), values[0])

    def _ard_complete(self, X: np.ndarray, q: int) -> Gaussian:
        found = spectrum(X, q, self.random_state, self.n_jobs)
        axes = Gaussian(found.mean, found.loadings[:q].T, 0.0, self.n_jobs)
        return _chosen(axes, found.variances[:q], found.total_variance, len(X), 0.0)

    def _keep(self, model: Gaussian, run: tuple[int, bool], X: np.ndarray, q: int) -> None:
        model, axes = model.principal()
        squares, noise = (model.loadings**2).sum(axis=0), float(model.noise)
        r = max(1, int((squares > shortest(noise, *X.shape)).sum()))
        if squares[0] <= shortest(noise, *X.shape):
            warn("BayesianPCA: no component stands out from the noise; one without loadings is kept.")
        self.mean_, self.noise_variance_ = model.mean, noise
        self.loadings_, self.components_ = model.loadings[:, :r], np.ascontiguousarray(axes[:, :r].T)
        self.explained_variance_ = squares[:r] + noise
        self.n_components_ = self._n_features_out = r
        self.relevance_ = np.zeros(q)
        self.relevance_[:r] = squares[:r] / noise
        self.n_iter_, self.converged_ = run
        self.log_likelihood_ = float(self._model().log_likelihood(X).sum())

    def _memory(self, n: int, d: int, itemsize: int, stored: int | None) -> dict[str, int]:
        q = max(1, min(n - 1, d) - 1) if self.n_components is None else max(1, min(self.n_components, n, d))
        return working_memory(n, d, q, itemsize, self.n_jobs) | spectrum_memory(n, d, q, itemsize)


def _chosen(axes: Gaussian, values: np.ndarray, total: float, n: float, spare: float) -> Gaussian:
    """The model along the given axes (in the place of loadings) that the eigenvalues call for.

    Where none stands out there is one column yet, of variance `spare`.
    """
    choice = ard_closed(values, total, n, len(axes.mean), len(values))
    kept = max(1, len(choice.variances))
    squares = np.append(choice.variances, spare)[:kept] - choice.noise
    W = axes.loadings[:, :kept] * np.sqrt(np.maximum(squares, 0.0))
    return Gaussian(axes.mean, W, choice.noise, axes.n_jobs)


def _few_cells(X: np.ndarray, r: int) -> bool:
    """Whether scores and loadings together are more than half as many as the observed cells."""
    n, d = X.shape
    return 2 * (r * (n + d - r) + d) > int((~np.isnan(X)).sum())


def _rows_worth(X: np.ndarray) -> float:
    """How many complete rows would have as many observed cells."""
    return float((~np.isnan(X)).sum()) / X.shape[1]

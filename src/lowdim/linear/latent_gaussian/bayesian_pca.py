"""Bayesian principal component analysis: the number of components comes out of the fit."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from lowdim._core import params
from lowdim._core.base import Reducer
from lowdim._core.callbacks import Relay
from lowdim._core.incomplete.cells import within_reach
from lowdim._core.incomplete.em import check_varies, observed_moments
from lowdim._core.incomplete.gaussian import Gaussian
from lowdim._core.runtime.notices import warn
from lowdim.linear.latent_gaussian import _bayesian as bayesian
from lowdim.linear.latent_gaussian._latent import (
    LatentGaussian,
    closed_memory,
    has_holes,
    most_components,
    working_memory,
)
from lowdim.linear.latent_gaussian._priors import shortest


class BayesianPCA(LatentGaussian, Reducer):
    """Probabilistic PCA with a prior that removes components the data does not support; takes incomplete rows.

    The model is that of `ProbabilisticPCA`, x = mean + W z + noise, with a normal prior of its own width 1 / alpha_k on
    each column w_k of W. The widths are fitted too (alpha_k = d / ||w_k||²): a column whose variance is not above the
    noise of n rows shrinks, its alpha grows, and it vanishes (automatic relevance determination). So ask for many
    components and read `n_components_`. The scores are posterior means, as in `ProbabilisticPCA`.

    Parameters
    ----------
    n_components : int or None
        The most components to start with; None takes min(n - 1, d) - 1.
    prior : {"ard", "oba"}
        "ard": the most probable W, exact on the observed cells, columns pruned (Bishop). "oba": W has a posterior
        distribution (variational), which gives slightly wider predictions for few rows; the mean is that of the
        observed cells (Oba and others; the `bpca` of microarray analysis).
    reach : float or None
        How far a filled cell of `completed_` may lie beyond the observed cells of its column, in ranges of these. Rows
        with few, extreme observed cells would otherwise be extrapolated without limit. None: no bound.
    max_iter : int
        Maximum number of iterations. Complete rows under "ard" need none.
    tol : float
        Convergence tolerance: change of the log-posterior per observed cell ("ard"), length of a step ("oba").
    callback : callable or None
        Called as ``callback(step, loss, state)``; returning True stops the fit. `state` is the loadings so far. Not
        called for complete rows under "ard", whose solution is in closed form.
    random_state : int, generator or None
        Seed; the same int gives the same result. For the start of the iteration.
    n_jobs : int or None
        Number of threads; None means all cores. Results do not depend on it.
    verbose : int or bool
        1 or True shows the progress of long fits on stderr.

    Attributes
    ----------
    n_components_ : int
        Components that were kept, at least one.
    relevance_ : ndarray of shape (n_candidates,)
        ||w_k||² / s² of every initial component, largest first; 0 for those removed.
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
        Iterations, and whether they converged.

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
        max_iter=1000,
        tol=1e-9,
        callback=None,
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.n_components = n_components
        self.prior = prior
        self.reach = reach
        self.max_iter = max_iter
        self.tol = tol
        self.callback = callback
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _embed(self, X: np.ndarray) -> None:
        q = most_components(X.shape, self.n_components, "BayesianPCA")
        holes = has_holes(X)
        mean, variance = observed_moments(X, self.n_jobs)
        check_varies(mean, float(variance.mean()), X.dtype, "BayesianPCA")
        if self.prior == "ard" and not holes:
            model, ended = bayesian.of_complete_rows(X, q, self.random_state, self.n_jobs), (1, True)
        else:
            solve = bayesian.by_oba if self.prior == "oba" else bayesian.by_ard
            model, run = solve(X, q, self._settings())
            ended = run.n_iter, run.converged and not run.stopped
        self._keep(model, ended, X, q)
        self._keep_completed(X, holes)
        if self.completed_ is not None:
            self.completed_ = within_reach(X, self.completed_, self.reach, "BayesianPCA")

    def _settings(self) -> bayesian.Settings:
        callback = Relay(self.callback).showing()
        return bayesian.Settings(
            self.tol, self.max_iter, self.random_state, self.n_jobs, verbose=self.verbose, callback=callback
        )

    def _keep(self, model: Gaussian, run: tuple[int, bool], X: np.ndarray, q: int) -> None:
        model, axes = model.principal()
        squares, noise = (model.loadings**2).sum(axis=0), float(model.noise)
        r = max(1, int((squares > shortest(noise, *X.shape)).sum()))
        if squares[0] <= shortest(noise, *X.shape):
            warn("BayesianPCA: no component has a variance above the noise; one with zero loadings is kept.")
        self.mean_, self.noise_variance_ = model.mean, noise
        self.loadings_, self.components_ = model.loadings[:, :r], np.ascontiguousarray(axes[:, :r].T)
        self.explained_variance_ = squares[:r] + noise
        self.n_components_ = self._n_features_out = r
        self.relevance_ = np.zeros(q)
        self.relevance_[:r] = squares[:r] / noise
        self.n_iter_, self.converged_ = run
        self.log_likelihood_ = float(self._model().log_likelihood(X).sum())

    def _tables(self, n: int, d: int, itemsize: int, holes: bool) -> dict[str, int]:
        """What is known before the fit: the iterations start with few columns, and ask again before they take more."""
        q = max(1, min(n - 1, d) - 1) if self.n_components is None else max(1, min(self.n_components, n, d))
        if holes or self.prior == "oba":
            return working_memory(n, d, min(q, bayesian.FEW_COLUMNS), itemsize, self.n_jobs, holes=holes)
        return closed_memory(n, d, q, itemsize, self.n_jobs)

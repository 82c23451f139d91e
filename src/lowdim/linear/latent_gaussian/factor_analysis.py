"""Factor analysis by maximum likelihood."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from lowdim._core import params
from lowdim._core.base import Reducer
from lowdim._core.callbacks import Relay
from lowdim._core.incomplete.em import check_varies, fit_gaussian
from lowdim._core.incomplete.gaussian import FLOOR, Gaussian
from lowdim._core.runtime.notices import warn
from lowdim._core.runtime.rng import generator
from lowdim._core.spectrum import Moments
from lowdim._core.spectrum.problem import sign_factors
from lowdim.linear.in_blocks.sums import moments_of_stream
from lowdim.linear.latent_gaussian._factors import canonical, factors
from lowdim.linear.latent_gaussian._latent import (
    LatentGaussian,
    has_holes,
    most_components,
    warn_few_cells,
    working_memory,
)
from lowdim.linear.latent_gaussian._rotation import promax, varimax

_NEWTON_COLUMNS = 1000  # beyond, d x d eigenproblems cost more than passes over the rows


class FactorAnalysis(LatentGaussian, Reducer):
    """Factor analysis: a few latent factors of many columns, each of which has a noise variance of its own.

    A row is x = mean + L f + noise with f ~ N(0, I) and a noise variance psi_j for each column, so that the factors
    explain what the columns have in common, and a noisy column does not attract them, as it does in PCA. The
    model does not depend on the units of the columns. Complete rows are fitted through their covariance by Newton's
    method on psi; with NaN, EM maximises the likelihood of the observed cells. The scores are the posterior means of
    f (regression scores). Cells are taken to be missing at random.

    Parameters
    ----------
    n_components : int
        Number of factors; at most min(n - 1, d) - 1. With (d - k)² < d + k they are not determined by the covariance.
    rotation : {None, "varimax", "quartimax", "promax"}
        None: L'L / psi is diagonal. "varimax" rotates the factors until each has few large loadings, "quartimax" until
        each column of X has (often one general factor); "promax" lets those of varimax be correlated.
    solver : {"auto", "newton", "em"}
        "newton" needs complete rows, "em" takes both; "auto" is "newton" for complete rows of up to 1000 columns.
    noise_floor : float
        Least psi_j, as a share of the variance of the column (0.005 is the convention of R's factanal).
    max_iter : int
        Maximum number of iterations.
    tol : float
        Convergence tolerance: change of the log-likelihood per observed cell.
    callback : callable or None
        Called as ``callback(step, loss, state)``; returning True stops the fit. `state` is the loadings so
        far, before rotation.
    random_state : int, generator or None
        Seed; the same int gives the same result. For the start of EM.
    n_jobs : int or None
        Number of threads; None means all cores. Results do not depend on it.
    verbose : int or bool
        1 or True shows the progress of long fits on stderr.

    Attributes
    ----------
    loadings_ : ndarray of shape (n_features, n_components_)
        L, in the units of the columns; the factor that explains most correlation first, the entry of largest
        magnitude of each (as a correlation) positive.
    components_ : ndarray of shape (n_components_, n_features)
        The same, one row a factor. Not orthonormal.
    mean_ : ndarray of shape (n_features,)
        Mean of the model.
    noise_variance_ : ndarray of shape (n_features,)
        psi, in the units of the columns.
    uniquenesses_ : ndarray of shape (n_features,)
        Share of each column's variance that is its own noise.
    rotation_ : ndarray of shape (n_components_, n_components_)
        T: the loadings are unrotated ones times T.
    factor_correlation_ : ndarray of shape (n_components_, n_components_)
        (T'T)^-1: the identity unless the rotation is "promax".
    log_likelihood_ : float
        Of all observed cells together, in nats; `score` gives the mean over rows.
    completed_, completed_variance_ : ndarray of shape (n_samples, n_features), or None
        Where cells were missing: the table with their expectations filled in, and the variance of each (0 where
        observed). None for complete tables.
    n_components_, n_iter_, converged_, solver_ : int, int, bool, str
        Factors, iterations, whether they converged, and the solver that was used.

    References
    ----------
    Joreskog, Some contributions to maximum likelihood factor analysis, 1967. Rubin and Thayer, EM algorithms for ML
    factor analysis, 1982. Kaiser, The varimax criterion, 1958.

    Examples
    --------
    >>> import numpy as np, lowdim
    >>> f = np.random.default_rng(0).standard_normal((300, 1))
    >>> X = f @ [[1.0, 2.0, 3.0, 1.0]] + np.random.default_rng(1).standard_normal((300, 4))
    >>> model = lowdim.FactorAnalysis(n_components=1).fit(X)
    >>> model.uniquenesses_.round(1)
    array([0.5, 0.2, 0.1, 0.5])
    """

    _rules: ClassVar = {
        "n_components": params.whole(1),
        "rotation": params.one_of("varimax", "quartimax", "promax") | params.none(),
        "solver": params.one_of("auto", "newton", "em"),
        "noise_floor": params.real(0, 1, open_low=True, open_high=True),
    }
    _ways_out = "Use fewer components, or fit on an iterator of batches."

    def __init__(
        self,
        n_components=2,
        *,
        rotation=None,
        solver="auto",
        noise_floor=0.005,
        max_iter=1000,
        tol=1e-10,
        callback=None,
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.n_components = n_components
        self.rotation = rotation
        self.solver = solver
        self.noise_floor = noise_floor
        self.max_iter = max_iter
        self.tol = tol
        self.callback = callback
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _embed(self, X: np.ndarray) -> None:
        holes = has_holes(X)
        if holes and self.solver == "newton":
            raise ValueError("FactorAnalysis: solver must be 'em' or 'auto' where X has missing cells; got 'newton'.")
        r = most_components(X.shape, self.n_components, "FactorAnalysis")
        if holes or self.solver == "em" or (self.solver == "auto" and X.shape[1] > _NEWTON_COLUMNS):
            self._keep(*self._by_em(X, r))
        else:
            self._keep(*self._by_newton(Moments.of(X, n_jobs=self.n_jobs), r, X.dtype))
        self._keep_completed(X, holes)

    def _embed_batches(self, batches: Any) -> None:
        if self.solver == "em":
            raise ValueError("FactorAnalysis: solver must be 'newton' or 'auto' for a stream of batches; got 'em'.")
        moments, dtype = moments_of_stream(batches, "FactorAnalysis", self._min_rows, self.n_jobs)
        self.n_features_in_ = len(moments.mean)
        self._precision = dtype.name
        r = most_components((int(moments.weight), len(moments.mean)), self.n_components, "FactorAnalysis")
        self._keep(*self._by_newton(moments, r, dtype))

    def _by_newton(self, moments: Moments, r: int, dtype: Any) -> tuple[Gaussian, float, tuple[int, bool, str]]:
        S = moments.scatter / moments.weight
        variance = np.diag(S).mean()
        check_varies(moments.mean, float(variance), dtype, "FactorAnalysis")
        # A column that varies by no more than its rounding gets the least noise and no loading.
        constant = np.diag(S) <= (32 * float(np.finfo(dtype).eps) * moments.mean) ** 2
        S = S + np.diag(np.where(constant, FLOOR * variance, 0.0))
        size = np.sqrt(np.diag(S))
        L, psi, run = factors(
            S / np.outer(size, size),
            r,
            floor=self.noise_floor,
            tol=self.tol,
            max_iter=self.max_iter,
            owner="FactorAnalysis",
            verbose=self.verbose,
            callback=Relay(self.callback).showing(lambda L: L * size[:, None]),
        )
        model = Gaussian(moments.mean, L * size[:, None], psi * size**2, self.n_jobs)
        constant = len(S) * np.log(2 * np.pi) + 2 * np.log(size).sum()
        likelihood = -0.5 * moments.weight * (constant + 2 * len(S) * run.losses[-1])
        return model, float(likelihood), (run.n_iter, run.converged, "newton")

    def _by_em(self, X: np.ndarray, r: int) -> tuple[Gaussian, float, tuple[int, bool, str]]:
        warn_few_cells(X, X.shape[1] * (r + 2) - r * (r - 1) // 2, "FactorAnalysis")
        model, run = fit_gaussian(
            X,
            r,
            noise="diagonal",
            floor=self.noise_floor,
            tol=self.tol,
            max_iter=self.max_iter,
            rng=generator(self.random_state),
            n_jobs=self.n_jobs,
            owner="FactorAnalysis",
            verbose=self.verbose,
            callback=Relay(self.callback).showing(lambda model: model.loadings),
        )
        cells = X.size - int(np.isnan(X).sum())
        return model, -run.losses[-1] * cells, (run.n_iter, run.converged, "em")

    def _keep(self, model: Gaussian, likelihood: float, run: tuple[int, bool, str]) -> None:
        L = canonical(model.loadings, model._noise())
        size = np.sqrt(model.noise + (L**2).sum(axis=1))  # rotated as correlations, so that units do not matter
        turned, self.rotation_ = _rotated(L / size[:, None], self.rotation)
        self.loadings_ = turned * size[:, None]
        self.factor_correlation_ = np.linalg.inv(self.rotation_.T @ self.rotation_)
        self.components_ = np.ascontiguousarray(self.loadings_.T)
        self.mean_, self.noise_variance_ = model.mean, np.array(model.noise)
        self.uniquenesses_ = model.noise / size**2
        self.n_components_ = self._n_features_out = model.rank
        self.log_likelihood_ = likelihood
        self.n_iter_, self.converged_, self.solver_ = run
        self.completed_ = self.completed_variance_ = None
        at_floor = int((self.uniquenesses_ <= 1.01 * self.noise_floor).sum())
        if at_floor:
            warn(
                f"FactorAnalysis: {at_floor} of {len(L)} columns have no noise left beside the factors (a Heywood "
                f"case); it is held at noise_floor={self.noise_floor:g} of their variance. Use fewer components."
            )

    def _model(self) -> Gaussian:
        model = super()._model()
        return Gaussian(model.mean, self._unrotated(), model.noise, self.n_jobs)

    def _unrotated(self) -> np.ndarray:
        return np.linalg.solve(self.rotation_.T, self.loadings_.T).T

    def _turn(self) -> np.ndarray:
        return np.linalg.inv(self.rotation_)

    def _tables(self, n: int, d: int, itemsize: int, holes: bool) -> dict[str, int]:
        r = max(1, min(self.n_components, n, d))
        em = working_memory(n, d, r, itemsize, self.n_jobs, holes=holes)
        return em | {"covariance": 14 * min(d, _NEWTON_COLUMNS) ** 2 * 8}


def _rotated(L: np.ndarray, rotation: str | None) -> tuple[np.ndarray, np.ndarray]:
    """Rotated loadings L T and T; the strongest factor first, the largest entry of each positive."""
    turned, T = L, np.eye(L.shape[1])
    if rotation == "quartimax":
        turned, T = varimax(L, weight=0.0, normalize=False, owner="FactorAnalysis")
    elif rotation is not None:
        turned, T = varimax(L, owner="FactorAnalysis")
    if rotation == "promax":
        turned, oblique = promax(turned)
        T = T @ oblique
    order = np.argsort(-(turned**2).sum(axis=0), kind="stable")
    turned, T = turned[:, order], T[:, order]
    signs = sign_factors(turned)
    return turned * signs, T * signs

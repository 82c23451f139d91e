"""GPLVM: every column a Gaussian process over latent coordinates."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from lowdim._core import params
from lowdim._core.base import Reducer
from lowdim._core.runtime import threads
from lowdim._core.runtime.rng import generator
from lowdim.latent.gp import _exact, _variational
from lowdim.latent.gp._fit import Settings, fit_exact, fit_sparse, fit_variational
from lowdim.latent.gp._init import Units, initial_latent, row_kernel
from lowdim.latent.gp._placement import CELLS, Placement
from lowdim.latent.gp._process import Patterns

EXACT = 500  # rows up to which "auto" is exact, and
SPREADS = 2e7  # numbers that the predictive variances of columns with different patterns of missing cells may need
INDUCING = 50
FAR = 1e75  # standard deviations: squares of such a distance, and of steps from there, are still finite


class GPLVM(Reducer):
    """Gaussian process latent variable model: a smooth nonlinear PCA with a likelihood and error bars.

    Every column of the table is a smooth function of a few latent coordinates plus noise, y = f(x) + e, and f is
    integrated out: y ~ N(0, K) with K = variance exp(-½ |x - x'|²) + noise I. The coordinates x and the two variances
    are fitted by maximising the likelihood, from an initialisation by PCA. With the linear kernel K = X X' + noise I
    the result is that of probabilistic PCA. For many rows the function is represented by its values at inducing points,
    the coordinates have distributions too, and a lower bound of the likelihood is maximised (the Bayesian model, in
    which coordinates that are not needed vanish).

    Parameters
    ----------
    n_components : int
        Dimension of the latent space.
    kernel : {"rbf", "linear"}
        Gaussian, or the inner product.
    solver : {"auto", "exact", "variational", "dtc"}
        "exact" takes time with n³, "variational" and "dtc" with n m² for m inducing points; "auto" is exact up to 500
        rows, then variational. "dtc" (deterministic training conditional) is the likelihood of the exact model with the
        covariance C Q^-1 C' that the points leave of K; with as many points as rows it is the exact one.
    n_inducing : int or None
        Number of inducing points of "variational" and "dtc"; None takes 50. "variational" begins with 5 and doubles
        them, so that more points do not end in a lower bound.
    back_constraint : bool
        The coordinates are a smooth function of the rows (kernel regression), so that similar rows stay near each
        other; with the exact solver and complete rows.
    init : {"pca"} or array of shape (n_samples, n_components)
        Initial coordinates: "pca", the principal components; or an array, used as it is. The likelihood has many
        maxima, and the initialisation decides which one is found.
    max_iter : int
        Maximum number of iterations of the optimiser (L-BFGS).
    tol : float
        Convergence tolerance: rise of the log-likelihood per cell in ten steps.
    callback : callable or None
        Called as ``callback(step, loss, state)``; returning True stops the fit. After every step; `loss` is minus the
        log-likelihood per standardised cell, `state` the latent coordinates so far.
    random_state : int, generator or None
        Seed; the same int gives the same result. Only the PCA of large tables is random.
    n_jobs : int or None
        Number of threads; None means all cores. Results do not depend on it.
    verbose : int or bool
        1 or True shows the progress of long fits on stderr.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The most likely coordinates of each row in the fitted model: what `transform` returns.
    latent_ : ndarray of shape (n_samples, n_components)
        The coordinates (or their means) that the model was fitted with; near `embedding_`, and noisier rows differ
        more.
    relevance_ : ndarray of shape (n_components,)
        Variance of each coordinate in squared length-scales: 0 for one that is not used.
    variance_, noise_variance_ : float
        Of the function and of the noise, in the units of X squared.
    log_likelihood_ : float
        ln p(X | coordinates) of the observed cells, in nats; for "variational" the lower bound of ln p(X).
    completed_ : ndarray of shape (n_samples, n_features) or None
        Where cells were missing: the table with their expectations filled in.
    solver_ : str
        The solver that was used.
    n_iter_ : int
        Number of steps of the final run.
    converged_ : bool
        Whether it reached `tol`; False where the callback stopped it.

    References
    ----------
    Lawrence, Probabilistic non-linear principal component analysis with Gaussian process latent variable models, 2005.
    Titsias and Lawrence, Bayesian Gaussian process latent variable model, 2010. Lawrence and Quiñonero-Candela, Local
    distance preservation in the GP-LVM through back constraints, 2006. Lawrence, Learning for larger datasets with the
    Gaussian process latent variable model, 2007.

    Examples
    --------
    >>> import lowdim
    >>> X = lowdim.datasets.helical_loop(60, random_state=0).X
    >>> model = lowdim.GPLVM(n_components=1).fit(X)
    >>> rows, std = model.inverse_transform(model.embedding_, return_std=True)
    >>> bool(abs(rows - X).mean() < 0.1), std.shape
    (True, (60, 3))
    """

    _rules: ClassVar = {
        "n_components": params.whole(1),
        "kernel": params.one_of("rbf", "linear"),
        "solver": params.one_of("auto", "exact", "variational", "dtc"),
        "n_inducing": params.none() | params.whole(2),
        "back_constraint": params.flag(),
        "init": params.one_of("pca") | params.Rule("an array", lambda v: np.ndim(v) == 2),
    }
    _takes_nan = True
    _block_rows = 512
    _ways_out = "Set solver='variational' and a small n_inducing: memory then grows with n_samples."

    def __init__(
        self,
        n_components=2,
        *,
        kernel="rbf",
        solver="auto",
        n_inducing=None,
        back_constraint=False,
        init="pca",
        max_iter=1000,
        tol=1e-4,
        callback=None,
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.n_components = n_components
        self.kernel = kernel
        self.solver = solver
        self.n_inducing = n_inducing
        self.back_constraint = back_constraint
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.callback = callback
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _embed(self, X: np.ndarray) -> np.ndarray:
        rng = generator(self.random_state)
        X = np.ascontiguousarray(X)  # other layouts round differently, and many steps magnify that
        units = Units.of(X)
        rows = units(X)
        table = Patterns.of(rows)
        self.solver_, settings = self._solver(table), self._settings()
        start, noise = initial_latent(rows, self.n_components, self.init, rng, self.n_jobs)

        if self.solver_ == "variational":
            found = fit_variational(table, start, noise, settings)
        elif self.solver_ == "dtc":
            found = fit_sparse(table, start, noise, settings)
        else:
            found = fit_exact(table, rows, start, noise, settings, rng)
        self.latent_, self.n_iter_, self.converged_ = found.latent, found.n_iter, found.converged
        self._extension = (units.mean, units.scale, found.predictor)
        self._parts = found.back
        if found.back is not None:
            self._rows = rows

        process = found.predictor.process
        self.log_likelihood_ = found.log_likelihood - table.n_cells * float(np.log(units.scale))
        self.relevance_ = process.weights * self.latent_.var(axis=0)
        self.variance_, self.noise_variance_ = (float(v * units.scale**2) for v in (process.variance, process.noise))
        expected = units.undo(found.predictor.mean(self.latent_))
        self.completed_ = np.where(np.isnan(X), expected, X) if self._incomplete else None
        return np.concatenate([self._extend(X[block]) for block in threads.blocks(len(X), self._block_rows)])

    def _settings(self) -> Settings:
        return Settings(
            self.kernel,
            self.n_components,
            n_inducing=self.n_inducing or INDUCING,
            back_constraint=self.back_constraint,
            smooth_init=isinstance(self.init, str),
            max_iter=self.max_iter,
            tol=self.tol,
            callback=self.callback,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
        )

    def _solver(self, table: Patterns) -> str:
        few = len(table.Y) <= EXACT and len(table.masks) * len(table.Y) ** 2 <= SPREADS
        chosen = "exact" if few or self.kernel == "linear" else "variational"
        solver = chosen if self.solver == "auto" else self.solver
        inducing = solver in ("variational", "dtc")
        if inducing and self.kernel == "linear":
            raise ValueError(f"GPLVM: solver must be 'exact' or 'auto' with kernel='linear'; got {solver!r}.")
        free = inducing or self.kernel == "linear" or not isinstance(self.init, str)
        if self.back_constraint and (free or len(table.masks) > 1):
            raise ValueError(
                "GPLVM: back_constraint=True must go with solver='exact', kernel='rbf', init='pca' and complete rows. "
                "Use back_constraint=False."
            )
        return solver

    # ---- new rows and inverse transform ---------------------------------------------------------------------

    def _extend(self, X: np.ndarray) -> np.ndarray:
        mean, scale, predictor = self._extension
        rows = Units(mean, scale)(X)
        if (far := float(np.nanmax(np.abs(rows), initial=0.0))) > FAR:
            raise ValueError(
                f"GPLVM: new rows must lie within {FAR:g} standard deviations of the fitted ones; got {far:.3g}."
            )
        if self._parts is not None:
            if np.isnan(rows).any():
                raise ValueError("GPLVM: rows must be complete with back_constraint=True; got NaN.")
            gamma, coefficients = self._parts
            return row_kernel(self._rows, rows, gamma)[1] @ coefficients
        breadth = 1.0 if self.solver_ == "variational" else _exact.BREADTH
        breadth = np.inf if predictor.process.kernel == "linear" else breadth
        return Placement(predictor, breadth, self.latent_, predictor.mean(self.latent_))(rows)

    def inverse_transform(self, Z: Any, *, return_outside: bool = False, return_std: bool = False) -> Any:
        """Expected rows at latent coordinates.

        Parameters
        ----------
        Z : array-like of shape (n_samples, n_components)
            Latent coordinates.
        return_outside : bool
            For learned inverses; this one is computed.
        return_std : bool
            Also return the standard deviation of each cell, noise included: large far from the fitted rows.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
            The rows.
        std : ndarray of shape (n_samples, n_features)
            Only with ``return_std=True``.
        """
        X = super().inverse_transform(Z, return_outside=return_outside)
        if not return_std:
            return X
        _, scale, predictor = self._extension
        std = scale * np.sqrt(predictor.variance(np.asarray(Z, dtype=np.float64)))
        return X, std.astype(X.dtype)

    def _invert(self, Z: np.ndarray) -> np.ndarray:
        mean, scale, predictor = self._extension
        return Units(mean, scale).undo(predictor.mean(Z.astype(np.float64)))

    def _memory(self, n: int, d: int, itemsize: int, stored: int | None) -> dict[str, int]:
        q, m = self.n_components, min(n, self.n_inducing or INDUCING)
        exact = self.solver == "exact" or self.kernel == "linear" or (self.solver == "auto" and n <= EXACT)
        memory = {"rows": 6 * n * d * 8, "optimiser": 60 * n * q * 8}
        if exact:
            placed = min(CELLS, q * min(n, self._block_rows) * (n + d))
            return memory | {"covariances": 8 * n * n * 8, "transform": 2 * placed * 8}
        pairs = m * (m + 1) // 2
        block = min(_variational.BLOCK, n * pairs)
        at_once = min(1 + threads.n_threads(self.n_jobs), -(-n * pairs // block))
        return memory | {"expectations": 4 * n * m * 8, "blocks": 3 * block * at_once * 8}

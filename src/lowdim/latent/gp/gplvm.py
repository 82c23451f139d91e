"""GPLVM: every column a Gaussian process over latent places."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from lowdim._core import params
from lowdim._core.base import Reducer
from lowdim._core.iterate import Progress
from lowdim._core.runtime import threads
from lowdim._core.runtime.notices import warn
from lowdim._core.runtime.rng import generator
from lowdim.latent._lbfgs import minimise as descend
from lowdim.latent.gp import _exact, _variational
from lowdim.latent.gp._placement import Placing
from lowdim.latent.gp._process import Table
from lowdim.latent.gp._starts import Natural, back_basis, evened, first_places, inducing_points, without_holes

EXACT = 500  # rows up to which every one is a point of its own, and
SPREADS = 2e7  # numbers that the variances of columns with different holes may take
INDUCING = 50
SMOOTH = 100  # steps with places that are a smooth function of the rows
ROUND = 100  # steps in one kind of coordinates


class GPLVM(Reducer):
    """Gaussian process latent variable model: a smooth nonlinear PCA with a likelihood and error bars.

    Every column of the table is a smooth function of a few latent coordinates plus noise, y = f(x) + e, and f is
    integrated out: y ~ N(0, K) with K = variance exp(-½ |x - x'|²) + noise I. What remains, the places x and the two
    variances, is fitted by maximising the likelihood; PCA is where it starts. With the linear kernel K = X X' + noise I
    the answer is that of probabilistic PCA. For many rows the function is known through its values at inducing points,
    places have distributions too, and a lower bound of the likelihood is maximised (the Bayesian model, which switches
    coordinates off that it does not need).

    Parameters
    ----------
    n_components : int
        Dimension of the latent space.
    kernel : {"rbf", "linear"}
        Gaussian, or the inner product.
    solver : {"auto", "exact", "variational"}
        "exact" takes time with n³, "variational" with n m² for m inducing points; "auto" is exact up to 500 rows.
    n_inducing : int or None
        Of "variational"; None takes 50.
    back_constraint : bool
        Places are a smooth function of the rows (kernel regression), so that near rows stay near; exact, complete rows.
    init : {"pca"} or array-like of shape (n_samples, n_components)
        Where places start. The likelihood has many maxima, and the start decides.
    tol : float
        Stop when the log-likelihood per cell rises by less in ten steps.
    max_iter : int
        Most steps of the optimiser (L-BFGS).
    random_state : int, generator or None
        For the PCA of large tables.
    n_jobs : int or None
        Threads; None means all cores. Results do not depend on it.
    verbose : int
        1 shows progress of long runs.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The most likely place of each row in the fitted model: what `transform` gives.
    latent_ : ndarray of shape (n_samples, n_components)
        The places (or their means) that the model was fitted with; near `embedding_`, and noisier rows differ more.
    relevance_ : ndarray of shape (n_components,)
        Variance of each coordinate in squared length-scales: 0 for one that is not used.
    variance_, noise_variance_ : float
        Of the function and of the noise, in the units of X squared.
    log_likelihood_ : float
        ln p(X | places) of the observed cells, in nats; for "variational" the lower bound of ln p(X).
    completed_ : ndarray of shape (n_samples, n_features) or None
        Where cells were missing: the table with their expectations filled in.
    solver_ : str
        The solver that was used.
    n_iter_, converged_ : int, bool
        Steps of the last descent, and whether the likelihood settled.

    References
    ----------
    Lawrence, Probabilistic non-linear principal component analysis with Gaussian process latent variable models, 2005.
    Titsias and Lawrence, Bayesian Gaussian process latent variable model, 2010. Lawrence and Quiñonero-Candela, Local
    distance preservation in the GP-LVM through back constraints, 2006.

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
        "solver": params.one_of("auto", "exact", "variational"),
        "n_inducing": params.none() | params.whole(2),
        "back_constraint": params.flag(),
        "init": params.one_of("pca") | params.Rule("an array of places", lambda v: np.ndim(v) == 2),
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
        tol=1e-4,
        max_iter=1000,
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
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _embed(self, X: np.ndarray) -> np.ndarray:
        rng = generator(self.random_state)
        X = np.ascontiguousarray(X)  # a layout of its own would round in its own way, and many steps magnify that
        units = Natural.of(X)
        rows = units.into(X)
        table = Table.of(rows)
        self.solver_ = self._solver(table)
        start, noise = first_places(rows, self.n_components, self.init, rng, self.n_jobs)

        fit = self._variational if self.solver_ == "variational" else self._exact
        self.latent_, predictor, value = fit(table, rows, start, noise, rng)
        self._extension = (units.mean, units.scale, predictor)
        self.log_likelihood_ = value - table.n_cells * float(np.log(units.scale))
        process = predictor.process
        self.relevance_ = process.weights * self.latent_.var(axis=0)
        self.variance_, self.noise_variance_ = (float(v * units.scale**2) for v in (process.variance, process.noise))
        expected = units.back(predictor.mean(self.latent_))
        self.completed_ = np.where(np.isnan(X), expected, X) if self._incomplete else None
        return np.concatenate([self._extend(X[part]) for part in threads.blocks(len(X), self._block_rows)])

    def _solver(self, table: Table) -> str:
        few = len(table.Y) <= EXACT and len(table.masks) * len(table.Y) ** 2 <= SPREADS
        chosen = "exact" if few or self.kernel == "linear" else "variational"
        solver = chosen if self.solver == "auto" else self.solver
        if solver == "variational" and self.kernel == "linear":
            raise ValueError("GPLVM: solver must be 'exact' or 'auto' with kernel='linear'; got 'variational'.")
        free = solver == "variational" or self.kernel == "linear" or not isinstance(self.init, str)
        if self.back_constraint and (free or len(table.masks) > 1):
            raise ValueError(
                "GPLVM: back_constraint=True must go with solver='exact', kernel='rbf', init='pca' and complete rows. "
                "Use back_constraint=False."
            )
        return solver

    def _exact(self, table: Table, rows: np.ndarray, start: np.ndarray, noise: float, rng: Any) -> Any:
        """From places that are a smooth function of the rows, which keeps a curve in one piece; then free."""
        self._parts = None
        objective = _exact.Objective(table, self.kernel, self.n_components)
        found = objective, objective.start(start, noise)
        if self.kernel == "rbf" and isinstance(self.init, str):
            gamma, basis = back_basis(without_holes(rows, self.n_components, rng, self.n_jobs))
            even = evened(basis)
            smooth = _exact.Objective(table, self.kernel, self.n_components, basis @ even)
            found = self._maximized(smooth, smooth.start(start, noise), None if self.back_constraint else SMOOTH)
        if self.back_constraint:
            self._rows, self._parts = rows, (gamma, even @ found[1][: smooth.size].reshape(-1, self.n_components))
        else:
            latent, process = found[0].unpack(found[1])
            found = self._maximized(objective, objective.again(latent, process), rounds=_exact.other_coordinates)
        latent, process = found[0].unpack(found[1])
        value = _exact.likelihood(table, latent, process)[0]
        return latent.copy(), _exact.predictor(table, latent.copy(), process), value

    def _variational(self, table: Table, rows: np.ndarray, start: np.ndarray, noise: float, rng: Any) -> Any:
        self._parts = None
        points = inducing_points(start, self.n_inducing or INDUCING)
        objective = _variational.Objective(table, self.n_components, len(points), self.n_jobs)
        at = objective.unpack(self._maximized(objective, objective.start(start, points, noise))[1])
        value, _, predictor = _variational.bound(table, at, self.n_jobs)
        return at.mu.copy(), predictor, value

    def _maximized(self, objective: Any, x: np.ndarray, few: int | None = None, rounds: Any = None) -> tuple[Any, Any]:
        """Descents of minus the log-likelihood per cell: one, or one after the other in coordinates that take turns.

        `few` steps are a first guess. A line search that finds nothing lower starts afresh once.
        """
        most, losses, stuck = min(few or self.max_iter, self.max_iter), np.empty(0), False
        with Progress("GPLVM", self.max_iter, self.verbose) as progress:
            while True:
                steps = most - len(losses) if rounds is None else min(ROUND, most - len(losses))
                settings: Any = {"tol": self.tol, "unit": 1.0, "bounds": objective.bounds(), "owner": "GPLVM"}
                run = descend(objective, x, max_iter=steps, progress=progress, **settings)
                losses, x = np.concatenate([losses, run.losses]), run.x
                settled = run.converged and (stuck or not run.stuck)
                if settled or len(losses) >= most:
                    break
                stuck = run.stuck
                if rounds is not None:
                    objective, x = rounds(objective, x)
        self.n_iter_, self.converged_ = len(losses), run.converged
        if not run.converged and few is None:
            self._complain(losses)
        return objective, x

    def _complain(self, losses: np.ndarray) -> None:
        rise = float(losses[max(0, len(losses) - 11)] - losses[-1])
        warn(
            f"GPLVM: not converged after max_iter={self.max_iter} steps: in the last ten the log-likelihood of a cell "
            f"rose by {rise:.2g} (tol={self.tol:g}). Raise max_iter or tol.",
            ConvergenceWarning,
        )

    # ---- new rows, and back ---------------------------------------------------------------------------------

    def _extend(self, X: np.ndarray) -> np.ndarray:
        mean, scale, predictor = self._extension
        rows = Natural(mean, scale).into(X)
        if self._parts is not None:
            if np.isnan(rows).any():
                raise ValueError("GPLVM: rows must be complete with back_constraint=True; got NaN.")
            gamma, coefficients = self._parts
            return back_basis(self._rows, rows, gamma)[1] @ coefficients
        breadth = {"exact": _exact.BREADTH, "variational": 1.0}[self.solver_]
        breadth = np.inf if predictor.process.kernel == "linear" else breadth
        return Placing(predictor, breadth, self.latent_, predictor.mean(self.latent_))(rows)

    def inverse_transform(self, Z: Any, *, return_outside: bool = False, return_std: bool = False) -> Any:
        """Expected rows at latent places.

        Parameters
        ----------
        Z : array-like of shape (n_samples, n_components)
            Latent places.
        return_outside : bool
            For learned inverses; this one is computed.
        return_std : bool
            Also return the standard deviation of each cell, noise included: large where no row was near.

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
        return Natural(mean, scale).back(predictor.mean(Z.astype(np.float64)))

    def _memory(self, n: int, d: int, itemsize: int, stored: int | None) -> dict[str, int]:
        q, m = self.n_components, min(n, self.n_inducing or INDUCING)
        exact = self.solver == "exact" or self.kernel == "linear" or (self.solver == "auto" and n <= EXACT)
        memory = {"rows": 6 * n * d * 8, "optimiser": 60 * n * q * 8}
        if exact:
            return memory | {"covariances": 8 * n * n * 8, "places of new rows": 8 * 2**22 * 8 // 4}
        block = _variational.BLOCK * (1 + threads.n_threads(self.n_jobs))
        return memory | {"expectations": 4 * n * m * 8, "blocks": 6 * block * 8}

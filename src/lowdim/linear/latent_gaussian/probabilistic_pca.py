"""Probabilistic principal component analysis."""

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
from lowdim.linear._decompose import Spectrum, decompose_moments
from lowdim.linear.in_blocks.sums import moments_of_stream
from lowdim.linear.latent_gaussian._latent import (
    LatentGaussian,
    closed_memory,
    has_holes,
    most_components,
    spectrum,
    warn_few_cells,
    working_memory,
)


class ProbabilisticPCA(LatentGaussian, Reducer):
    """PCA as a generative model, which has a likelihood and takes missing cells as they are.

    A row is x = mean + W z + noise with z ~ N(0, I) and noise of one variance s² in every column. On complete rows the
    most likely W has the principal axes V, W = V sqrt(lambda - s²), and s² is the mean of the eigenvalues left out
    (divisor n). With NaN, EM maximises the likelihood of the observed cells; no cell is filled in meanwhile. The
    scores are the posterior means (W'W + s² I)^-1 W'(x - mean) over the observed cells of a row: PCA's, divided by
    their standard deviation and shrunk towards 0 where little is known. Cells are taken to be missing at random.

    Parameters
    ----------
    n_components : int or None
        Number of components; at most min(n - 1, d) - 1, as some noise must be left (None takes that many).
    solver : {"auto", "closed", "em"}
        "closed" needs complete rows, "em" takes both; "auto" is closed wherever it can be.
    max_iter : int
        Maximum number of iterations of EM.
    tol : float
        Convergence tolerance: change of the log-likelihood per observed cell.
    callback : callable or None
        Called as ``callback(step, loss, state)``; returning True stops the fit. `state` is the loadings so
        far. The closed form makes no steps, and does not call it.
    random_state : int, generator or None
        Seed; the same int gives the same result. For the start of EM, and of the eigensolver for large
        tables.
    n_jobs : int or None
        Number of threads; None means all cores. Results do not depend on it.
    verbose : int or bool
        1 or True shows the progress of long fits on stderr.

    Attributes
    ----------
    components_ : ndarray of shape (n_components_, n_features)
        Principal axes, orthonormal; the entry of largest magnitude is positive.
    loadings_ : ndarray of shape (n_features, n_components_)
        W, its columns along the axes.
    mean_ : ndarray of shape (n_features,)
        Mean of the model; with missing cells not the mean of the observed ones.
    noise_variance_ : float
        s².
    explained_variance_ : ndarray of shape (n_components_,)
        Variance of the model along each axis, ||w||² + s²: the eigenvalues of the covariance with divisor n.
    log_likelihood_ : float
        Of all observed cells together, in nats; `score` gives the mean over rows.
    completed_, completed_variance_ : ndarray of shape (n_samples, n_features), or None
        Where cells were missing: the table with their expectations filled in, and the variance of each (0 where
        observed). None for complete tables.
    n_components_ : int
        Number of components.
    n_iter_, converged_ : int, bool
        Iterations of EM and whether it converged; 1 and True for the closed form.
    solver_ : str
        The solver that was used.

    References
    ----------
    Tipping and Bishop, Probabilistic principal component analysis, 1999. Ilin and Raiko, Practical approaches to
    principal component analysis in the presence of missing values, 2010.

    Examples
    --------
    >>> import numpy as np, lowdim
    >>> X = lowdim.datasets.swiss_roll(200, random_state=0).X
    >>> X[::5, 0] = np.nan
    >>> model = lowdim.ProbabilisticPCA(n_components=1, random_state=0).fit(X)
    >>> model.transform(X).shape, bool(np.isnan(model.completed_).any())
    ((200, 1), False)
    """

    _rules: ClassVar = {
        "n_components": params.whole(1) | params.none(),
        "solver": params.one_of("auto", "closed", "em"),
    }
    _ways_out = "Use fewer components, or fit on an iterator of batches."

    def __init__(
        self,
        n_components=None,
        *,
        solver="auto",
        max_iter=1000,
        tol=1e-9,
        callback=None,
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.n_components = n_components
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.callback = callback
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _embed(self, X: np.ndarray) -> None:
        holes = has_holes(X)
        if holes and self.solver == "closed":
            raise ValueError("ProbabilisticPCA: solver must be 'em' or 'auto' where X has missing cells; got 'closed'.")
        r = most_components(X.shape, self.n_components, "ProbabilisticPCA")
        if holes or self.solver == "em":
            self._keep(*self._by_em(X, r))
        else:
            self._keep_closed(spectrum(X, r, self.random_state, self.n_jobs), len(X), r, X.dtype)
        self._keep_completed(X, holes)

    def _by_em(self, X: np.ndarray, r: int) -> tuple[Gaussian, float, tuple[int, bool, str]]:
        d = X.shape[1]
        warn_few_cells(X, d * (r + 1) + 1 - r * (r - 1) // 2, "ProbabilisticPCA")
        model, run = fit_gaussian(
            X,
            r,
            tol=self.tol,
            max_iter=self.max_iter,
            rng=generator(self.random_state),
            n_jobs=self.n_jobs,
            owner="ProbabilisticPCA",
            verbose=self.verbose,
            callback=Relay(self.callback).showing(lambda model: model.principal()[0].loadings),
        )
        cells = X.size - int(np.isnan(X).sum())
        return model, -run.losses[-1] * cells, (run.n_iter, run.converged, "em")

    def _embed_batches(self, batches: Any) -> None:
        if self.solver == "em":
            raise ValueError("ProbabilisticPCA: solver must be 'closed' or 'auto' for a stream of batches; got 'em'.")
        moments, dtype = moments_of_stream(batches, "ProbabilisticPCA", self._min_rows, self.n_jobs)
        self.n_features_in_ = len(moments.mean)
        self._precision = dtype.name
        n, d = int(moments.weight), len(moments.mean)
        r = most_components((n, d), self.n_components, "ProbabilisticPCA")
        self._keep_closed(decompose_moments(moments, d, scale=False, ddof=0, dtype=dtype), n, r, dtype)

    def _keep_closed(self, found: Spectrum, n: int, r: int, dtype: Any) -> None:
        """Tipping and Bishop's maximum, and the likelihood there."""
        d, values = len(found.mean), found.variances[:r]
        check_varies(found.mean, found.total_variance / d, dtype, "ProbabilisticPCA")
        whole = len(found.variances) == min(n, d)
        rest = float(found.variances[r:].sum() if whole else max(found.total_variance - values.sum(), 0.0))
        noise = max(rest / (d - r), FLOOR * found.total_variance / d)
        kept = np.maximum(values, noise)
        logs = np.log(kept).sum() + (d - r) * np.log(noise)
        likelihood = -0.5 * n * (d * np.log(2 * np.pi) + logs + (values / kept).sum() + rest / noise)
        W = found.loadings[:r].T * np.sqrt(kept - noise)
        self._keep(Gaussian(found.mean, W, noise), float(likelihood), (1, True, "closed"), found.loadings[:r].T)

    def _keep(
        self, model: Gaussian, likelihood: float, run: tuple[int, bool, str], axes: np.ndarray | None = None
    ) -> None:
        if axes is None:
            model, axes = model.principal()
        self.mean_, self.loadings_, self.noise_variance_ = model.mean, model.loadings, float(model.noise)
        self.components_ = np.ascontiguousarray(axes.T)
        self.explained_variance_ = (model.loadings**2).sum(axis=0) + self.noise_variance_
        self.n_components_ = self._n_features_out = model.rank
        self.log_likelihood_ = likelihood
        self.n_iter_, self.converged_, self.solver_ = run
        self.completed_ = self.completed_variance_ = None
        total = self.explained_variance_.sum() + (len(model.mean) - model.rank) * self.noise_variance_
        if self.noise_variance_ <= 2 * FLOOR * total / len(model.mean):
            warn(
                f"ProbabilisticPCA: the rows lie on a plane of {model.rank} components, so that the noise variance "
                f"would be 0 and the likelihood infinite; it is held at {self.noise_variance_:.3g}. Use PCA, or fewer "
                "components."
            )

    def _tables(self, n: int, d: int, itemsize: int, holes: bool) -> dict[str, int]:
        r = max(1, min(n - 1, d) - 1) if self.n_components is None else max(1, min(self.n_components, n, d))
        if holes or self.solver == "em":
            return working_memory(n, d, r, itemsize, self.n_jobs, holes=holes)
        return closed_memory(n, d, r, itemsize, self.n_jobs)

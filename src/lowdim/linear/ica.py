"""Independent component analysis."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from lowdim._core import params
from lowdim._core.base import Reducer
from lowdim._core.callbacks import Relay
from lowdim._core.extend import Linear
from lowdim._core.incomplete.moments import JointGaussian, completed
from lowdim._core.incomplete.moments import needs as incomplete_needs
from lowdim._core.renamed import renamed_parameters
from lowdim._core.runtime import threads
from lowdim._core.runtime.notices import warn
from lowdim._core.runtime.rng import generator
from lowdim._core.spectrum import Moments, fix_signs
from lowdim.linear._contrast import CONTRASTS, Contrast, custom, gaussian
from lowdim.linear._fastica_infomax import LOOSE, Limits, Unmixing, deflation, infomax, parallel, stability, unit, unmix
from lowdim.linear._white_blocks import whiten_blocks
from lowdim.linear._whitened import White, WhitenedRows, given, whiten, whiten_incomplete


class ICA(Reducer):
    """Independent component analysis: the sources that were mixed into the columns.

    Rows are x = mean + A s with independent sources s, at most one of them Gaussian. For principal scores z scaled to
    unit covariance only a rotation is unknown: s = W z. FastICA makes every source as non-Gaussian as possible, by
    w <- E[z g(w'z)] - E[g'(w'z)] w; infomax maximises the likelihood of the sources, each of a peaked or a flat density
    as its samples suggest.

    Parameters
    ----------
    n_components : int or None
        Number of sources, estimated from as many leading principal components. None: the rank of the centred rows.
    algorithm : {"fastica", "infomax"}
        "fastica" is the faster one; "infomax" (maximum likelihood, quasi-Newton) converges where FastICA cycles, and
        its sources need not be exactly uncorrelated.
    mode : {"parallel", "deflation"}
        FastICA finds all sources at once, or one after another (projection pursuit). Infomax is "parallel".
    fun : {"logcosh", "exp", "cube", "skew"} or callable
        The contrast that sources make extreme. "logcosh" suits most; "exp" is robust to outliers (the holes and
        central-mass indices of projection pursuit); "cube" is kurtosis; "skew" is skewness. A function of y that
        returns g(y) in the shape of y, and g'(y) in the same shape or its mean over the samples (the last axis), as
        in scikit-learn. Infomax takes "logcosh" only.
    whiten : bool
        Find principal scores of unit variance first. False: the columns are white already (mean 0, variance 1, no
        correlations), and sources are rotations of them.
    uncorrelated : bool
        Infomax: keep the sources exactly uncorrelated, as FastICA does. Then both find the same sources.
    missing : {"error", "em"}
        Missing cells (NaN), at fit and in new rows: an error; or mean and covariance by EM under a normal distribution
        of the rows. The rotation then comes from the rows whose scores are nearly known (at least 90 % of their
        variance), and sources are those of each row's conditional mean given its observed cells.
    init : array-like of shape (n_components, n_components) or None
        Initial W, from principal scores of unit variance to sources. None: a random rotation.
    n_init : int
        Number of starts; the best result is kept. It is the one with the most non-Gaussian sources; `stability_`
        compares it with the others. `init` counts as one start, the others are random rotations.
    max_iter : int
        Maximum number of iterations per start.
    tol : float
        Convergence tolerance: the largest angle (in radians) by which a source rotates in a step; float32 rows reach
        about 1e-6.
    callback : callable or None
        Called as ``callback(step, loss, state)``; returning True stops the fit. `loss` is that angle, `state` the
        unmixing matrix so far (0 for sources that "deflation" has not reached); the order and signs of its rows are
        fixed at the end.
    random_state : int, generator or None
        Seed; the same int gives the same result.
    n_jobs : int or None
        Number of threads; None means all cores. Results do not depend on it.
    verbose : int or bool
        1 or True shows the progress of long fits on stderr.

    Attributes
    ----------
    components_ : ndarray of shape (n_components_, n_features)
        The unmixing matrix: s = components_ (x - mean_).
    mixing_ : ndarray of shape (n_features, n_components_)
        Its pseudo-inverse, A. The entry of largest magnitude of each column is positive.
    mean_ : ndarray of shape (n_features,)
        Column means.
    sources_ : ndarray of shape (n_samples, n_components_)
        The sources of the fitted rows: mean 0, variance 1 (divisor n), the least Gaussian first.
    gaussian_ : ndarray of shape (n_components_,)
        Sources that cannot be distinguished from Gaussian ones; two or more of them are separated arbitrarily, with a
        warning.
    non_gaussianity_ : ndarray of shape (n_components_,)
        How far E[G(s)] is from that of a Gaussian, in standard errors.
    stability_ : ndarray of shape (n_components_,) or None
        Mean absolute correlation of each source with its match in the runs from other starts; None for one start.
    n_components_ : int
        Number of sources.
    n_iter_ : int
        Iterations over all rows, of the start that was kept.
    converged_ : bool
        Whether `tol` was reached.

    References
    ----------
    Hyvarinen, Fast and robust fixed-point algorithms for independent component analysis, 1999. Lee, Girolami and
    Sejnowski, Independent component analysis using an extended infomax algorithm, 1999. Ablin, Cardoso and Gramfort,
    Faster independent component analysis by preconditioning with Hessian approximations, 2018.

    Examples
    --------
    >>> import numpy as np, lowdim
    >>> S = np.random.default_rng(0).uniform(-1, 1, (1000, 2))
    >>> model = lowdim.ICA(random_state=0).fit(S @ [[1.0, 0.5], [0.5, 1.0]])
    >>> bool((abs(np.corrcoef(S.T, model.sources_.T)[:2, 2:]).max(axis=1) > 0.99).all())
    True
    """

    _rules: ClassVar = {
        "n_components": params.whole(1) | params.none(),
        "algorithm": params.one_of("fastica", "infomax"),
        "mode": params.one_of("parallel", "deflation"),
        "fun": params.one_of(*CONTRASTS) | params.function(),
        "whiten": params.flag(),
        "uncorrelated": params.flag(),
        "missing": params.one_of("error", "em"),
        "init": params.none() | params.Rule("a square matrix", lambda v: np.ndim(v) == 2),
    }
    _hole_policies = ("em",)
    _keeps_embedding = False
    _block_rows = 65536
    _ways_out = "Ask for fewer n_components, or fit on a sample of the rows."

    @renamed_parameters(w_init="init", n_restarts="n_init")
    def __init__(
        self,
        n_components=None,
        *,
        algorithm="fastica",
        mode="parallel",
        fun="logcosh",
        whiten=True,
        uncorrelated=False,
        missing="error",
        init=None,
        n_init=1,
        max_iter=500,
        tol=1e-4,
        callback=None,
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.n_components = n_components
        self.algorithm = algorithm
        self.mode = mode
        self.fun = fun
        self.whiten = whiten
        self.uncorrelated = uncorrelated
        self.missing = missing
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.callback = callback
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _embed(self, X: np.ndarray) -> None:
        rng, wanted = generator(self.random_state), self._wanted(*X.shape)
        self._check_algorithm()
        self._unmixed(self._whitened(X, wanted, rng), X.dtype, wanted, rng)
        self.sources_ = np.empty((len(X), self.n_components_), dtype=X.dtype)

        def place(rows: slice) -> None:
            self.sources_[rows] = self._extend(X[rows])

        threads.map_rows(place, len(X), 4096, self.n_jobs)

    def _embed_batches(self, batches: Any) -> None:
        """Each step is a pass over blocks that can be read again; the sources are what `transform` gives."""
        if not batches.rereadable:
            raise TypeError(
                "ICA: X must be an array of rows, a data set of Arrow or a collection of Dask; got an iterator, and "
                "ICA cannot fit from a stream that is read once. Stack the batches first (np.concatenate)."
            )
        if not self.whiten:
            raise ValueError("ICA: whiten must be True for rows in blocks; got False.")
        self._check_algorithm()
        batches = batches.counted()
        self.n_features_in_ = batches.width
        found = whiten_blocks(batches, self._wanted, self.n_jobs)
        self._unmixed(found, np.dtype(np.float64), len(found.matrix), generator(self.random_state))

    def _unmixed(self, found: WhitenedRows, dtype: np.dtype, wanted: int, rng: np.random.Generator) -> None:
        """The sources of white samples, by the best of several starts."""
        contrast, white = self._contrast(), found.white
        _warn_of_size(white, wanted)

        solve, runs = self._solver(dtype, found.matrix), list[Unmixing]()
        for start in self._starts(white.k, rng):
            runs.append(unit(unmix(white, start, solve, rng)))
            if runs[-1].stopped:
                break
        values = [white.averages(run.W, contrast).value if run.value is None else run.value for run in runs]
        surprises = [contrast.surprise(value, white.n) for value in values]
        best = int(np.argmax([np.abs(surprise).sum() for surprise in surprises]))
        order = np.argsort(-np.abs(surprises[best]), kind="stable")

        self.non_gaussianity_ = surprises[best][order]
        self.gaussian_ = gaussian(self.non_gaussianity_)
        others = [run.W for i, run in enumerate(runs) if i != best]
        self.stability_ = stability(runs[best].W[order], others) if others else None
        self.n_iter_, self.converged_ = runs[best].n_iter, runs[best].converged
        self._keep(runs[best].W[order], found.matrix, found.mean)
        if not runs[-1].stopped:
            self._warn_of_doubts()

    def _whitened(self, X: np.ndarray, wanted: int, rng: np.random.Generator) -> WhitenedRows:
        """The samples, and the distribution of incomplete rows."""
        if not self.whiten:
            if self._incomplete or wanted < X.shape[1]:
                raise ValueError(
                    "ICA: whiten must be True for incomplete rows and for fewer sources than columns; got False."
                )
            return given(X, self.n_jobs)
        if self._incomplete:
            found = whiten_incomplete(X, wanted, self.n_jobs)
            self._holes = found.model
            return found
        if self._takes_nan:
            self._holes = JointGaussian.of_moments((Moments.of(X, n_jobs=self.n_jobs),))
        return whiten(X, wanted, self.n_jobs, rng)

    def _check_algorithm(self) -> None:
        for name, only in (("mode", "parallel"), ("fun", "logcosh")) if self.algorithm == "infomax" else ():
            if getattr(self, name) != only:
                raise ValueError(
                    f"ICA: {name} must be {only!r} for algorithm='infomax'; got {getattr(self, name)!r}. "
                    "Use algorithm='fastica'."
                )

    def _solver(self, dtype: np.dtype, matrix: np.ndarray) -> Any:
        """The algorithm as a function of the samples, the start, whether a rough result is enough and whether the start
        is near the solution; `matrix` whitens rows."""
        callback = Relay(self.callback).showing(lambda W: W @ matrix)
        fine = Limits(max(self.tol, 8 * float(np.finfo(dtype).eps)), self.max_iter, self.verbose, callback)
        limits = {False: fine, True: replace(fine, tol=max(fine.tol, LOOSE))}
        if self.algorithm == "fastica":
            solve, contrast = parallel if self.mode == "parallel" else deflation, self._contrast(optimised=True)
            return lambda white, start, rough, near: solve(white, start, contrast, limits[rough])
        return lambda white, start, rough, near: infomax(
            white, start, limits[rough], uncorrelated=self.uncorrelated, near=near
        )

    def _contrast(self, *, optimised: bool = False) -> Contrast:
        """The contrast that is optimised; or the one that runs are compared by, as G of a user's own is not known."""
        if isinstance(self.fun, str):
            return CONTRASTS[self.fun]
        return custom(self.fun) if optimised else CONTRASTS["logcosh"]

    def _wanted(self, n: int, d: int) -> int:
        most = min(n - 1, d)
        if self.n_components is not None and self.n_components > most:
            warn(f"ICA: {n} rows of {d} columns vary in at most {most} directions; keeping {most} components.")
        return most if self.n_components is None else min(int(self.n_components), most)

    def _starts(self, k: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
        """`init`, if given, then random rotations."""
        given = [] if self.init is None else [np.asarray(self.init, dtype=np.float64)]
        if given and (given[0].shape != (k, k) or not np.isfinite(given[0]).all()):
            raise ValueError(f"ICA: init must be {k} x {k} finite numbers; got shape {given[0].shape}.")
        yield from given
        for _ in range(self.n_init - len(given)):
            yield np.linalg.qr(rng.standard_normal((k, k)))[0]

    def _keep(self, W: np.ndarray, matrix: np.ndarray, mean: np.ndarray) -> None:
        components = W @ matrix
        mixing = fix_signs(np.linalg.pinv(components)).T
        self.components_ = components * np.where((mixing * components).sum(axis=1) < 0, -1.0, 1.0)[:, None]
        self.mixing_, self.mean_ = mixing.T, mean
        self.n_components_ = self._n_features_out = len(W)

    def _warn_of_doubts(self) -> None:
        if not self.converged_:
            warn(
                f"ICA: not converged after max_iter={self.max_iter} steps (tol={self.tol:g}). Raise max_iter or tol, "
                "or use algorithm='infomax'.",
                ConvergenceWarning,
            )
        if (doubtful := int(self.gaussian_.sum())) > 1:
            warn(
                f"ICA: {doubtful} of {self.n_components_} sources cannot be distinguished from Gaussian ones; how "
                "these are separated from each other is arbitrary. More rows or fewer n_components may help."
            )

    def _extend(self, X: np.ndarray) -> np.ndarray:
        return Linear(self.mean_, None, self.components_.T)(completed(X, self._holes))

    def _invert(self, S: np.ndarray) -> np.ndarray:
        return self.mean_ + S @ self.mixing_.T

    def _needs(self, X: Any) -> dict[str, int]:
        if not self._has_missing_cells(X):
            return super()._needs(X)
        return super()._needs(X) | incomplete_needs(*X.shape)  # the samples of the sources come after the moments

    def _memory(self, n: int, d: int, itemsize: int, stored: int | None) -> dict[str, int]:
        k = min(n - 1, d) if self.n_components is None else min(int(self.n_components), n - 1, d)
        small = min(n, d)
        return {
            "white rows": n * k * itemsize,
            "sources": n * k * itemsize,
            "covariance": 6 * small * small * 8 + (n * d * 8 if d > n else 0),
            "unmixing": 60 * k * k * 8,
        }


def _warn_of_size(white: White, wanted: int) -> None:
    if white.k < wanted:
        warn(f"ICA: the rows vary in {white.k} directions only; keeping {white.k} components.")
    if white.n < 5 * white.k:
        warn(
            f"ICA: {white.n} rows are few for {white.k} sources; some sources may be single outlying rows. Ask for "
            "fewer n_components."
        )

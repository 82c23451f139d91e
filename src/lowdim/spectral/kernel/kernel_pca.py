"""Kernel principal component analysis."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from lowdim._core import params
from lowdim._core.base import Reducer
from lowdim._core.incomplete.kernels import KernelHoles
from lowdim._core.kernels import Kernel, make_kernel
from lowdim._core.kernels.preimage import WAYS, check_way, is_linear, shift_of, shifted
from lowdim._core.landmarks.choose import METHODS, choose
from lowdim._core.runtime import memory
from lowdim._core.runtime.rng import generator
from lowdim.spectral.kernel import _axes as routes
from lowdim.spectral.kernel import _checks as checks
from lowdim.spectral.kernel import _landmarks as few_rows
from lowdim.spectral.kernel._kernel_tiles import LANES, Tiles, each_block, tiles_of
from lowdim.spectral.kernel._preimages import preimages, usual_error

_TILES = 2**26  # bytes of the blocks of the kernel that are worked on
_CANDIDATES = 1000  # rows among which sparse kernel PCA looks for those it keeps (a few seconds)


class KernelPCA(Reducer):
    """Kernel PCA: principal components of the rows after a map phi that only its inner products know.

    With K_ij = k(x_i, x_j) = phi(x_i)'phi(x_j) and Kc = HKH its centred form, the eigenvectors v of Kc with the largest
    eigenvalues l give the scores sqrt(l) v. A new row is centred with the means of the fitted ones: z = V'(k(x) -
    mean K) / sqrt(l). With the linear kernel this is PCA.

    All of K is stored where it fits. `solver="operator"` computes it again for every product instead, in little
    memory; `n_landmarks` (Nystrom) and `n_basis` or `noise` (sparse kernel PCA) build the axes from few rows, and a new
    row is compared with these alone.

    Parameters
    ----------
    n_components : int or None
        Number of components; None keeps every positive eigenvalue. Axes beyond the positive eigenvalues are zero,
        with a warning.
    kernel : str, kernel object or callable
        "linear", "poly", "rbf", "laplacian", "rational-quadratic", "matern", "bessel", "anova", "chi2", "sigmoid",
        "cosine", "constant", "precomputed"; an object of `lowdim.kernels` such as ``RBF(0.5) + 2 * Linear()``; or a
        function of two rows.
    width : str or float
        How the width of "rbf" and "laplacian" is chosen where `gamma` is None; "median" looks at the distances between
        rows, a number is the standard deviation s of exp(-d²/(2 s²)).
    gamma : float or None
        The factor in exp(-gamma d²), (gamma x'y + coef0)^degree and tanh(gamma x'y + coef0).
    degree, coef0 : number
        Of the polynomial and sigmoid kernels.
    solver : {"auto", "dense", "operator"}
        "dense" stores K (float64 rows beyond 12,000: rounded to float32, eigenvalues from one float64 product, axes to
        about 1e-6), "operator" never does; "auto" stores it where memory allows.
    n_landmarks : int or None
        Build the axes from this many rows: 1,000 to 5,000 for any number of rows; `nystrom_error_` tells what it costs.
    landmarks : {"random", "farthest", "kmeans++"}
        How these rows are chosen; by distance takes longer and covers the data better.
    n_basis : int or None
        Sparse kernel PCA: keep at most this many rows, those that explain the others best.
    noise : float or None
        Sparse kernel PCA: variance, relative to that of the first axis, that counts as noise, from 1e-6 to 1; the
        more, the fewer rows are kept. None with `n_basis`: the least that keeps no more rows than that.
    preimage : {"ridge", "fixed_point", "distance"}
        The way back. "ridge" learns it: kernel ridge regression of the rows on their scores, width and penalty by
        leave-one-out error; for any kernel. "fixed_point" walks to the row whose image is nearest (Mika et al., 1998):
        RBF, polynomial and their combinations. "distance" takes the row with the right distances to its neighbours, in
        one step (Kwok and Tsang, 2003): RBF, l2 Laplace, odd polynomials. With the linear kernel all are that of PCA.
    n_neighbors : int
        Rows that ``preimage="distance"`` measures from.
    missing : {"error", "pairwise", "expected"}
        What a missing cell (NaN) means: refused; kernels of the distance or the inner product over the columns both
        rows have, scaled up; or features averaged over what the row may be under a Gaussian model of the rows, so
        that k(x, y) is an expected value and stays positive semi-definite. At fit and for new rows.
    random_state : int, generator or None
        Start of the eigensolver, landmarks, samples.
    n_jobs : int or None
        Threads; None means all cores. Results do not depend on it.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Scores of the fitted rows.
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues l of the centred kernel matrix, sums of squared scores, as in scikit-learn. The variance of a
        component is l / n_samples (which kernlab reports, with scores that are sqrt(n_samples) times these).
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Their share of the trace of the centred kernel matrix; above 1 where negative eigenvalues lower that.
    reconstruction_error_ : float
        Squared error in feature space over all fitted rows: the sum of the eigenvalues left out.
    dual_coef_ : ndarray of shape (n_samples or n_basis_rows, n_components)
        The axes: u_j = sum over rows b of dual_coef_[b, j] phi(x_b), of length 1 (a'Ka = 1).
    basis_ : ndarray of int or None
        The rows the axes are made of, where they are not all: landmarks, or the rows kept.
    negative_share_ : float
        Share of negative eigenvalues, for kernels not known to be positive; on 1,500 rows where there are more.
    nystrom_error_ : float or None
        With landmarks: share of the spread in feature space that lies outside the span of the landmarks.
    kernel_ : Kernel
        The kernel with its parameters.
    noise_variance_, n_iter_, converged_ : float, int, bool or None
        Of sparse kernel PCA: the variance s² of the noise, and how the search for the rows ended.

    References
    ----------
    Schölkopf, Smola and Müller, Nonlinear component analysis as a kernel eigenvalue problem, 1998. Williams and Seeger,
    Using the Nyström method to speed up kernel machines, 2001. Tipping, Sparse kernel principal component analysis,
    2001.

    Examples
    --------
    >>> import lowdim
    >>> X = lowdim.datasets.noisy_circle(100, random_state=0).X
    >>> lowdim.KernelPCA(n_components=2, kernel="rbf", gamma=1.0).fit_transform(X).shape
    (100, 2)
    """

    _rules: ClassVar = {
        "n_components": params.whole(1) | params.none(),
        "kernel": params.text() | params.function() | params.Rule("a kernel", lambda v: isinstance(v, Kernel)),
        "width": params.text() | params.real(0, open_low=True),
        "gamma": params.none() | params.real(0, open_low=True),
        "degree": params.whole(1),
        "coef0": params.real(-np.inf),
        "solver": params.one_of("auto", "dense", "operator"),
        "n_landmarks": params.none() | params.whole(1),
        "landmarks": params.one_of(*METHODS),
        "n_basis": params.none() | params.whole(1),
        "noise": params.none() | params.real(1e-6, 1.0, open_high=True),
        "preimage": params.one_of(*WAYS),
        "n_neighbors": params.whole(1),
    }
    _sparse_rows = True
    _reads_holes = KernelHoles
    _block_rows = 2**30  # `_extend` has blocks of its own
    _ways_out = (
        "Set n_landmarks=2000 or so: memory then grows with n_samples x n_components; or solver='operator', which "
        "never holds the kernel matrix."
    )

    def __init__(
        self,
        n_components=2,
        *,
        kernel="rbf",
        width="median",
        gamma=None,
        degree=3,
        coef0=1.0,
        solver="auto",
        n_landmarks=None,
        landmarks="random",
        n_basis=None,
        noise=None,
        preimage="ridge",
        n_neighbors=10,
        missing="error",
        random_state=None,
        n_jobs=None,
    ):
        self.n_components = n_components
        self.kernel = kernel
        self.width = width
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.solver = solver
        self.n_landmarks = n_landmarks
        self.landmarks = landmarks
        self.n_basis = n_basis
        self.noise = noise
        self.preimage = preimage
        self.n_neighbors = n_neighbors
        self.missing = missing
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _embed(self, X: Any) -> np.ndarray:
        rng = generator(self.random_state)
        settings = {name: getattr(self, name) for name in ("width", "gamma", "degree", "coef0")}
        self.kernel_ = make_kernel(self.kernel, X, holes=self._holes, owner="KernelPCA", **settings)
        check_way(self.preimage, self.kernel_, "KernelPCA")
        self._shift = shift_of(self.kernel_, X)
        X = shifted(X, self._shift)
        tiles = tiles_of(self.kernel_, X)
        checks.check_symmetric(tiles, "KernelPCA")

        axes = self._axes(tiles, rng)

        self.negative_share_ = checks.negative_share(tiles, rng)
        checks.report_width(axes, self.kernel_, tiles.n, bool(np.ptp(own := tiles.diag()) <= 1e-6 * np.abs(own).max()))
        self.eigenvalues_ = axes.values
        self.explained_variance_ratio_ = axes.values / axes.total if axes.total > 0 else np.zeros_like(axes.values)
        self.reconstruction_error_ = max(axes.total - float(axes.values.sum()), 0.0)
        self.basis_, self.nystrom_error_ = axes.basis, axes.lost
        self._extension, self.dual_coef_ = axes.extension, axes.extension.projection
        self._mean_coef, self._mean_kernel = axes.center, axes.center_norm
        self._errors = axes.spread - np.square(axes.scores, dtype=np.float64).sum(axis=1)
        self._rows = self._own_rows(X if axes.basis is None else X[axes.basis])
        return axes.scores

    def _axes(self, tiles: Tiles, rng: np.random.Generator) -> routes.Axes:
        """Axes in feature space by the route that the parameters name."""
        self.noise_variance_ = self.n_iter_ = self.converged_ = None
        route = self._route(tiles.n, tiles.X.dtype.itemsize)
        if route in ("dense", "operator"):
            solve = routes.dense if route == "dense" else routes.operator
            return solve(tiles, self.n_components, rng, self.n_jobs)
        if self._precomputed():
            raise ValueError(
                "KernelPCA: n_landmarks, n_basis and noise must be None with kernel='precomputed', where K is there "
                "already."
            )
        if route == "landmarks":
            basis = self._choose(tiles.X, self.n_landmarks, rng)
            return few_rows.nystrom(tiles, basis, self.n_components, rng, self.n_jobs)
        some = self._choose(tiles.X, self.n_landmarks or _CANDIDATES, rng)
        axes, found = few_rows.sparse(tiles, some, self.n_components, self.noise, self.n_basis, self.n_jobs)
        self.noise_variance_, self.n_iter_, self.converged_ = found.noise, found.n_iter, found.converged
        return axes

    def _route(self, n: int, itemsize: int) -> str:
        if self.n_basis is not None or self.noise is not None:
            return "sparse"
        if self.n_landmarks is not None:
            return "landmarks"
        if self.solver != "auto":
            return self.solver
        fits = self.n_components is None or sum(self._dense_memory(n, itemsize).values()) + _TILES <= memory.limit()
        return "dense" if fits else "operator"

    def _choose(self, X: Any, m: int, rng: np.random.Generator) -> np.ndarray:
        if m >= X.shape[0]:
            return np.arange(X.shape[0])
        X = X if self._holes is None else self._holes.rows(X)
        return np.sort(choose(X, m, method=self.landmarks, rng=rng, owner="KernelPCA"))

    def _fitted_places(self) -> np.ndarray:
        return self.embedding_ if self.basis_ is None else self.embedding_[self.basis_]

    def _extend(self, X: Any) -> np.ndarray:
        return np.concatenate(self._each(shifted(X, self._shift), lambda S, rows: self._extension(S)))

    def _each(self, X: Any, work: Any) -> list[Any]:
        """`work(similarities to the rows the axes are made of, rows)` for blocks of new rows."""
        rows = np.empty((self.n_features_in_, 0)) if self._precomputed() else self._rows
        return each_block(tiles_of(self.kernel_, rows), X, work, self.n_jobs)

    @property
    def _invert(self) -> Any:
        """None where the way back is learned; that of a linear kernel is known."""
        learned = self.preimage == "ridge" and not is_linear(self.kernel_)
        return None if learned else partial(preimages, self)

    def denoise(self, X: Any) -> np.ndarray:
        """Rows led to the components and back, without what the components leave out.

        Mind `preimage`: "ridge" learns to give the fitted rows back as they are, with the part of their noise that the
        components tell, and cleans only where those are few; the other two end near where many rows are.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, fitted or new.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
            ``inverse_transform(transform(X))``.
        """
        return self.inverse_transform(np.asarray(self.transform(X)))

    def row_error(self, X: Any) -> np.ndarray:
        """Squared distance of each row, in feature space, from the span of the components.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows; large errors mark rows unlike the fitted ones.

        Returns
        -------
        error : ndarray of shape (n_samples,)
            |phi(x) - mean|² less the sum of squared scores: k(x,x) - 2 mean_i k(x,x_i) + mean K - |z|²; over the fitted
            rows they add up to `reconstruction_error_`. With a kernel that is not positive some would be negative,
            and are 0.
        """
        return self._row_error(self._rows_for(X, "row_error"))

    def _row_error(self, X: Any) -> np.ndarray:
        X = shifted(X, self._shift)
        own = self.kernel_.diag(X).astype(np.float64)

        def error(S: np.ndarray, rows: slice) -> np.ndarray:
            S = S.astype(np.float64, copy=False)
            norm = own[rows] - 2 * (S @ self._mean_coef) + self._mean_kernel
            return np.maximum(norm - (self._extension(S) ** 2).sum(axis=1), 0.0)

        return np.concatenate(self._each(X, error))

    def distance_error(self, X: Any) -> float:
        """How much shorter distances between scores are than in feature space, on average over pairs of rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            At least two rows. All pairs are compared; of more than 3,000 rows, the pairs among 3,000 drawn ones.

        Returns
        -------
        error : float
            Mean of d - dhat, d² = k(x,x) + k(y,y) - 2 k(x,y) and dhat the distance of their scores; never negative,
            as a projection makes nothing longer.
        """
        X = self._rows_for(X, "distance_error")
        if X.shape[0] < 2:
            raise ValueError("KernelPCA: distance_error must have at least 2 rows; got 1.")
        if X.shape[0] > checks.PAIRS:
            X = X[np.sort(generator(self.random_state).choice(X.shape[0], checks.PAIRS, replace=False))]
        return checks.distance_loss(tiles_of(self.kernel_, shifted(X, self._shift)), self._extend(X))

    def _rows_for(self, X: Any, what: str) -> Any:
        check_is_fitted(self)
        X, _ = self._check_rows(X, fitting=False)
        if self._precomputed():
            raise ValueError(f"KernelPCA: {what} needs k(x, x) of each row, which kernel='precomputed' does not give.")
        return X

    def novelty(self, X: Any, *, quantile: float = 0.95) -> np.ndarray:
        """How unlike the fitted rows each row is: its `row_error` over the error that few fitted rows exceed.

        Above 1 a row is farther from the components than all but ``1 - quantile`` of the fitted ones. Those were seen
        by the fit, so of new rows of the same kind somewhat more are above 1; the more components, the more.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        quantile : float
            Of the errors of the fitted rows: the one that counts as 1.

        Returns
        -------
        novelty : ndarray of shape (n_samples,)
            At least 0.
        """
        params.check("KernelPCA", {"quantile": quantile}, {"quantile": params.share()})
        return self.row_error(X) / usual_error(self, quantile)

    def _memory(self, n: int, d: int, itemsize: int, stored: int | None) -> dict[str, int]:
        k = n if self.n_components is None else min(n, self.n_components)
        rows = n * d * itemsize if stored is None else 12 * stored
        parts = {"rows": 2 * rows, "scores": 2 * n * k * 8, "tiles": _TILES}
        route = self._route(n, itemsize)
        if route == "dense":
            return parts | self._dense_memory(n, itemsize)
        if route == "operator":
            width = -(-(k + 3) // 8) * 8
            return parts | {"eigenvectors": 11 * n * width * 8, "sums": LANES * n * width * 8}
        m = min(n, self.n_landmarks or _CANDIDATES)
        return parts | {"landmarks": 13 * m * m * 8 if route == "landmarks" else 4 * m * m * 8}

    def _dense_memory(self, n: int, itemsize: int) -> dict[str, int]:
        full = self.n_components is None or n <= 2100  # LAPACK's copies
        single = itemsize == 8 and n > routes.SINGLE and not full
        width = -(-((self.n_components or n) + 3) // 8) * 8
        return {
            "kernel matrix": n * n * (4 if single else itemsize),
            "eigenvectors": 4 * n * n * 8 if full else 11 * n * width * 8,
        }

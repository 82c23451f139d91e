"""Kernel principal component analysis."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from lowdim._core import params
from lowdim._core.base import Reducer
from lowdim._core.gpu import devices
from lowdim._core.gpu.device_rows import on_host
from lowdim._core.gpu.gaussian import needs as device_needs
from lowdim._core.incomplete.kernels import KernelHoles
from lowdim._core.inverse import LearnedInverse
from lowdim._core.kernels import Kernel, make_kernel
from lowdim._core.kernels.preimage import (
    PREIMAGE_METHODS,
    Span,
    check_preimage,
    find_preimages,
    is_linear,
    shift_of,
    shifted,
)
from lowdim._core.landmarks.choose import LANDMARK_METHODS
from lowdim._core.marks_blocks import MarksBlocks
from lowdim._core.runtime import memory, threads
from lowdim._core.runtime.rng import generator
from lowdim._core.tables.arrays import extent
from lowdim.spectral.kernel import _axes as all_rows
from lowdim.spectral.kernel import _checks as checks
from lowdim.spectral.kernel import _landmarks as few_rows
from lowdim.spectral.kernel._kernel_tiles import Tiles, each_block, n_lanes, tiles_of
from lowdim.spectral.kernel._on_device import DeviceTiles, GaussianThere, scored, takes, tiles_on

_TILES = 2**26  # bytes of the blocks of the kernel in memory
_OF_A_THREAD = 2**23  # the same where the whole matrix is kept: four tiles
_CANDIDATES = 1000  # rows among which sparse kernel PCA chooses (a few seconds)


class KernelPCA(GaussianThere, MarksBlocks, Reducer):
    """Kernel PCA: principal components of the rows in the feature space of a kernel.

    With K_ij = k(x_i, x_j) = phi(x_i)'phi(x_j) and Kc = HKH its centred form, the eigenvectors v of Kc with the largest
    eigenvalues l give the scores sqrt(l) v. A new row is centred with the means of the fitted ones: z = V'(k(x) -
    mean K) / sqrt(l). With the linear kernel this is PCA.

    K is stored where it fits into memory. `solver="operator"` computes it again for every product instead;
    `n_landmarks` (Nystrom) and `n_basis` or `noise` (sparse kernel PCA) restrict the axes to the span of few rows, and
    a new row is compared with these alone.

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
        Width of "rbf" and "laplacian" where `gamma` is None: a rule, such as "median" of the distances between rows; or
        a number, the standard deviation s of exp(-d²/(2 s²)) (for "laplacian" the s of exp(-d/s)).
    gamma : float or None
        The factor in exp(-gamma d²), (gamma x'y + coef0)^degree and tanh(gamma x'y + coef0).
    degree, coef0 : number
        Of the polynomial and sigmoid kernels.
    solver : {"auto", "dense", "operator"}
        "dense" stores K (float64 rows beyond 12,000: rounded to float32, eigenvalues from one float64 product, axes to
        about 1e-6), "operator" never does; "auto" stores it where memory allows.
    n_landmarks : int or None
        Number of landmarks, rows in whose span the axes lie: 1,000 to 5,000 for any number of rows; `nystrom_error_` is
        the loss. None: all rows.
    landmarks : {"random", "farthest", "kmeans++"}
        How these rows are chosen; by distance takes longer and covers the data better.
    n_basis : int or None
        Sparse kernel PCA: keep at most this many rows, those that explain the others best.
    noise : float or None
        Sparse kernel PCA: the noise variance relative to that of the first axis, from 1e-6 to 1; the more noise, the
        fewer rows are kept. None with `n_basis`: the least noise with at most that many rows.
    preimage : {"ridge", "fixed_point", "distance"}
        Method of the inverse transform. "ridge" is learned: kernel ridge regression of the rows on their scores, width
        and penalty by leave-one-out error; for any kernel. "fixed_point" iterates to the row whose image is nearest
        (Mika et al., 1998): RBF, polynomial and their combinations. "distance" computes the row from its distances to
        its neighbours, in one step (Kwok and Tsang, 2003): RBF, l2 Laplace, odd polynomials. With the linear kernel
        all are that of PCA.
    n_neighbors : int
        Number of rows whose distances ``preimage="distance"`` uses.
    missing : {"error", "pairwise", "expected"}
        Missing cells (NaN), at fit and in new rows: an error; kernels of the distance or the inner product over the
        columns that both rows have, scaled up; or features averaged over the distribution of the row under a Gaussian
        model of the rows, so that k(x, y) is an expected value and stays positive semi-definite.
    device : str
        Where to compute: "cpu", "cuda" (an NVIDIA GPU, through PyTorch), or "auto", the GPU where there is one. A GPU
        is used for the kernel values of the Gaussian kernel of dense rows and their products: of landmarks, and of more
        than 4,000 rows without; new rows are placed there too.
    random_state : int, generator or None
        Seed; the same int gives the same result. For the eigensolver, landmarks and samples.
    n_jobs : int or None
        Number of threads; None means all cores. Results do not depend on it.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Scores of the fitted rows.
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues l of the centred kernel matrix, sums of squared scores, as in scikit-learn. The variance of a
        component is l / n_samples (which kernlab reports, with scores that are sqrt(n_samples) times these).
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Their share of the trace of the centred kernel matrix; above 1 where negative eigenvalues lower that.
    feature_space_error_ : float
        Sum of squared errors in feature space over all fitted rows: the sum of the eigenvalues left out. The values of
        `row_error` of the fitted rows add up to it.
    reconstruction_error_ : float
        The same number under its older name. It is an error in feature space, not of the cells of X as in other
        estimators.
    dual_coef_ : ndarray of shape (n_samples or n_basis_rows, n_components)
        The axes: u_j = sum over rows b of dual_coef_[b, j] phi(x_b), of length 1 (a'Ka = 1).
    basis_ : ndarray of int or None
        The rows b, where they are not all: landmarks, or the rows that sparse kernel PCA keeps.
    device_ : str
        Where kernel values were computed.
    negative_share_ : float
        Share of negative eigenvalues, for kernels not known to be positive semi-definite; on 1,500 rows where there are
        more.
    nystrom_error_ : float or None
        With landmarks: share of the variance in feature space outside the span of the landmarks.
    kernel_ : Kernel
        The kernel with its parameters.
    noise_variance_, n_iter_, converged_ : float, int, bool or None
        Of sparse kernel PCA: the variance s² of the noise, and how the choice of the rows ended.

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
        "landmarks": params.one_of(*LANDMARK_METHODS),
        "n_basis": params.none() | params.whole(1),
        "noise": params.none() | params.real(1e-6, 1.0, open_high=True),
        "preimage": params.one_of(*PREIMAGE_METHODS),
        "n_neighbors": params.whole(1),
    }
    _sparse_rows = True
    _reads_holes = KernelHoles
    _sums_stream = True
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
        device="cpu",
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
        self.device = device
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _embed(self, X: Any) -> np.ndarray:
        rng = generator(self.random_state)
        settings = {name: getattr(self, name) for name in ("width", "gamma", "degree", "coef0")}
        self.kernel_ = make_kernel(self.kernel, X, holes=self._holes, owner="KernelPCA", **settings)
        check_preimage(self.preimage, self.kernel_, "KernelPCA")
        self._shift = shift_of(self.kernel_, X)
        X = shifted(X, self._shift)
        tiles = self._tiles(X)
        checks.check_symmetric(tiles, "KernelPCA")

        axes = self._axes(tiles, rng)

        self.negative_share_ = checks.negative_share(tiles, rng)
        checks.report_width(axes, self.kernel_, tiles.n, bool(np.ptp(own := tiles.diag()) <= 1e-6 * np.abs(own).max()))
        self.eigenvalues_ = axes.values
        self.explained_variance_ratio_ = axes.values / axes.total if axes.total > 0 else np.zeros_like(axes.values)
        self.feature_space_error_ = max(axes.total - float(axes.values.sum()), 0.0)
        self.basis_, self.nystrom_error_ = axes.basis, axes.lost
        self._extension, self.dual_coef_ = axes.extension, axes.extension.projection
        self._mean_coef, self._mean_kernel = axes.center, axes.center_norm
        self._errors = axes.spread - np.square(axes.scores, dtype=np.float64).sum(axis=1)
        self._rows = self._own_rows(X if axes.basis is None else X[axes.basis])
        return axes.scores

    def _tiles(self, X: Any) -> Tiles:
        """The rows as products see them, on a GPU where one was asked for and has the kernel."""
        place = self._place(self.kernel_, X)
        self.device_ = "cpu" if place is None else place.title
        parts = self._device_memory(*extent(X))
        return tiles_of(self.kernel_, X) if place is None else tiles_on(place, self.kernel_, X, parts, self._ways_out)

    def _place(self, kernel: Any, X: Any) -> Any:
        """The device for these rows; None: the CPU, also for small matrices and what a GPU has no kernels for."""
        place, variant = devices.find(self.device, "KernelPCA"), self._variant(X.shape[0], X.dtype.itemsize)
        few = variant == "dense" and (X.shape[0] <= all_rows.CENTRED or self.n_components is None)
        return None if few or variant == "sparse" or not takes(kernel, X) else place

    def _axes(self, tiles: Tiles, rng: np.random.Generator) -> all_rows.Axes:
        """Axes in feature space, from all rows or from few, as the parameters say."""
        self.noise_variance_ = self.n_iter_ = self.converged_ = None
        variant = self._variant(tiles.n, tiles.X.dtype.itemsize)
        if variant in ("dense", "operator"):
            dense = variant == "dense" and not isinstance(tiles, DeviceTiles)
            solve = all_rows.dense if dense else all_rows.operator
            return solve(tiles, self.n_components, rng, self.n_jobs)
        if self._precomputed():
            raise ValueError(
                "KernelPCA: n_landmarks, n_basis and noise must be None with kernel='precomputed', where all of K is "
                "given."
            )
        if variant == "landmarks":
            basis = few_rows.chosen(tiles.X, self.n_landmarks, self.landmarks, self._holes, rng, self._marked)
            return few_rows.nystrom(tiles, basis, self.n_components, rng, self.n_jobs, self._marked, self._shift)
        some = few_rows.chosen(tiles.X, self.n_landmarks or _CANDIDATES, self.landmarks, self._holes, rng)
        axes, found = few_rows.sparse(tiles, some, self.n_components, self.noise, self.n_basis, self.n_jobs)
        self.noise_variance_, self.n_iter_, self.converged_ = found.noise, found.n_iter, found.converged
        return axes

    def _variant(self, n: int, itemsize: int) -> str:
        """Sparse, landmarks, dense or operator."""
        if self.n_basis is not None or self.noise is not None:
            return "sparse"
        if self.n_landmarks is not None:
            return "landmarks"
        if self.solver != "auto":
            return self.solver
        dense = sum(self._dense_memory(n, itemsize).values()) + _OF_A_THREAD * threads.n_threads(self.n_jobs)
        fits = self.n_components is None or dense <= memory.limit()
        return "dense" if fits else "operator"

    def _marks(self) -> tuple[int, str] | None:
        return (self.n_landmarks, self.landmarks) if self._variant(2, 8) == "landmarks" else None

    def _fitted_places(self) -> np.ndarray:
        return self.embedding_ if self.basis_ is None else self.embedding_[self.basis_]

    def _extend(self, X: Any) -> np.ndarray:
        place = devices.find(self.device, "KernelPCA")
        if place is not None and takes(self.kernel_, X) and takes(self.kernel_, self._rows):
            return scored(place, self.kernel_, self._rows, shifted(X, self._shift), self._extension)[0]
        return np.concatenate(self._each(shifted(on_host(X), self._shift), lambda S, rows: self._extension(S)))

    def _each(self, X: Any, work: Any) -> list[Any]:
        """`work(kernel values to the rows b of the axes, slice)` for blocks of new rows."""
        rows = np.empty((self.n_features_in_, 0)) if self._precomputed() else self._rows
        return each_block(tiles_of(self.kernel_, rows), X, work, self.n_jobs)

    @property
    def _invert(self) -> Any:
        """The pre-images; None where the inverse transform is learned (that of a linear kernel is exact)."""
        learned = self.preimage == "ridge" and not is_linear(self.kernel_)
        return None if learned else self._preimages

    def _preimages(self, Z: np.ndarray) -> np.ndarray:
        Y = np.asarray(Z, dtype=np.float64)
        settings: dict[str, Any] = {"n_neighbors": self.n_neighbors, "n_jobs": self.n_jobs, "owner": "KernelPCA"}
        found = find_preimages(self._span(), Y, self.preimage, **settings)
        return found if self._shift is None else found + self._shift

    def _span(self) -> Span:
        """The axes as sums of images of the rows that are kept: all fitted ones, or few."""
        return Span(
            kernel=self.kernel_,
            rows=on_host(self._rows).astype(np.float64),
            axes=np.asarray(self.dual_coef_, dtype=np.float64),
            mean=np.asarray(self._mean_coef, dtype=np.float64),
            offset=np.asarray(self._extension.offset, dtype=np.float64),
            scores=np.asarray(self._fitted_places(), dtype=np.float64),
            size=self._mean_kernel,
        )

    @property
    def reconstruction_error_(self) -> float:
        return self.feature_space_error_

    def denoise(self, X: Any, *, noise: float | None = 0.3) -> np.ndarray:
        """Rows reconstructed from the components, without their noise.

        Scores contain the noise of a row as far as the components do, and an inverse that is trained to reproduce the
        rows reproduces it. With ``preimage="ridge"`` the rows are therefore a smooth function of the scores here: the
        posterior mean of a Gaussian process whose width is the median distance of the scores. The other pre-images give
        rows close to many fitted ones; there the number of components matters, so choose it with `noise` left out.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, fitted or new.
        noise : float or None
            Variance of the noise of a row, relative to that of the smooth function. None: as `inverse_transform`, which
            is also what the other pre-images and the linear kernel give.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
            The rows without their noise.

        Examples
        --------
        >>> import lowdim, numpy as np
        >>> X = lowdim.datasets.noisy_circle(200, random_state=0).X
        >>> Y = lowdim.KernelPCA(2).fit(X).denoise(X)
        >>> bool(np.linalg.norm(Y, axis=1).std() < 0.6 * np.linalg.norm(X, axis=1).std())
        True
        """
        params.check("KernelPCA", {"noise": noise}, {"noise": params.none() | params.real(0, open_low=True)})
        Z = np.asarray(self.transform(X))
        if noise is None or self._invert is not None:
            return self.inverse_transform(Z)
        rows, _ = LearnedInverse.smooth(*self._placed_rows(), float(noise))(Z)
        return rows.astype(Z.dtype, copy=False)

    def row_error(self, X: Any) -> np.ndarray:
        """Squared distance of each row, in feature space, from the span of the components.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows; those with large errors are unlike the fitted ones.

        Returns
        -------
        error : ndarray of shape (n_samples,)
            |phi(x) - mean|² less the sum of squared scores: k(x,x) - 2 mean_i k(x,x_i) + mean K - |z|²; over the fitted
            rows they add up to `feature_space_error_`. Negative values, with a kernel that is not positive
            semi-definite, become 0.
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
        """Mean over pairs of rows of the distance in feature space less the distance of their scores.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            At least two rows. All pairs are compared; of more than 3,000 rows, the pairs among 3,000 drawn ones.

        Returns
        -------
        error : float
            Mean of d - dhat, d² = k(x,x) + k(y,y) - 2 k(x,y) and dhat the distance of their scores; never negative,
            as a projection does not lengthen distances.
        """
        X = self._rows_for(X, "distance_error")
        if X.shape[0] < 2:
            raise ValueError("KernelPCA: X must have at least 2 rows for distance_error; got 1.")
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
        """Novelty of each row: its `row_error` over a quantile of those of the fitted rows.

        Above 1 a row is farther from the components than all but a share ``1 - quantile`` of the fitted rows. Of new
        rows from the same distribution a larger share is above 1, as the components were fitted to the others.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        quantile : float
            The quantile of the errors of the fitted rows that is the unit.

        Returns
        -------
        novelty : ndarray of shape (n_samples,)
            At least 0.
        """
        params.check("KernelPCA", {"quantile": quantile}, {"quantile": params.share()})
        errors = self._errors
        # With every component kept the errors are rounding, and any new row is far beyond them.
        rounding = 1e-9 * (self.eigenvalues_.sum() + self.feature_space_error_) / len(errors)
        return self.row_error(X) / max(float(np.quantile(errors, quantile)), rounding, 1e-300)

    def _device_memory(self, n: int, d: int, itemsize: int, stored: int | None) -> dict[str, int]:
        """Bytes on a GPU, as `_memory`; "operator", and a matrix that does not fit, take less."""
        parts = device_needs(n, d, itemsize, min(n, self.n_landmarks or n), self.n_components or 2)
        return {name: size for name, size in parts.items() if name != "kernel matrix" or self.solver != "operator"}

    def _memory(self, n: int, d: int, itemsize: int, stored: int | None) -> dict[str, int]:
        rows = n * d * itemsize if stored is None else 12 * stored
        rows = 0 if self.kernel == "precomputed" else rows  # the copy that is centred is the kernel matrix below
        variant = self._variant(n, itemsize)
        m, n_threads = min(n, self.n_landmarks or _CANDIDATES), threads.n_threads(self.n_jobs)
        k = min(self.n_components or n, n if variant in ("dense", "operator") else m)
        parts = {"rows": 2 * rows, "scores": 2 * n * k * 8 if k < n else 0}  # all of them replace LAPACK's copies
        if variant == "dense":
            return parts | {"tiles": _OF_A_THREAD * n_threads} | self._dense_memory(n, itemsize)
        if variant == "operator":
            vectors = (11 + n_lanes(n)) * n * (-(-(k + 3) // 8) * 8) * 8  # and partial sums of products with them
            return parts | {"eigenvectors": vectors, "tiles": _OF_A_THREAD * n_threads}
        if variant == "landmarks":
            return parts | {"landmarks": 11 * m * m * 8, "blocks": 3 * 512 * m * 8 * n_threads}
        return parts | {"landmarks": 4 * m * m * 8, "tiles": _TILES}

    def _dense_memory(self, n: int, itemsize: int) -> dict[str, int]:
        full = self.n_components is None or n <= 2100  # LAPACK's copies
        single = itemsize == 8 and n > all_rows.SINGLE and not full
        width = -(-((self.n_components or n) + 3) // 8) * 8
        return {
            "kernel matrix": n * n * (4 if single else itemsize),
            "eigenvectors": 4 * n * n * 8 if full else 11 * n * width * 8,
        }

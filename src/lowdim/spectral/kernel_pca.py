"""Kernel principal component analysis."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any, ClassVar

import numpy as np
from scipy.sparse.linalg import LinearOperator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from lowdim._core import params, threads
from lowdim._core.base import Reducer
from lowdim._core.extend import Nystrom
from lowdim._core.kernels import Kernel, make_kernel
from lowdim._core.notices import warn
from lowdim._core.preimage import WAYS, check_way
from lowdim._core.rng import generator
from lowdim._core.scaling import center_kernel
from lowdim._core.spectrum import eigenpairs
from lowdim._core.values import positive_part
from lowdim.spectral._preimages import preimages, usual_error

_BLOCK = 512  # rows of the kernel matrix computed at a time


class KernelPCA(Reducer):
    """Kernel PCA: principal components of the rows after a map phi that only its inner products know.

    With K_ij = k(x_i, x_j) = phi(x_i)'phi(x_j) and Kc = HKH its centred form, the eigenvectors v of Kc with the largest
    eigenvalues l give the scores sqrt(l) v. A new row is centred with the means of the fitted ones: z = V'(k(x) -
    mean K) / sqrt(l). With the linear kernel this is PCA.

    Parameters
    ----------
    n_components : int or None
        Number of components; None keeps every positive eigenvalue. Axes beyond the positive eigenvalues are zero,
        with a warning.
    kernel : str, kernel object or callable
        "linear", "poly", "rbf", "laplacian", "sigmoid", "constant", "precomputed"; an object of `lowdim.kernels` such
        as ``RBF(0.5) + 2 * Linear()``; or a function of two rows.
    width : str or float
        How the width of "rbf" and "laplacian" is chosen where `gamma` is None; "median" looks at the distances between
        rows, a number is the standard deviation s of exp(-d²/(2 s²)).
    gamma : float or None
        The factor in exp(-gamma d²), (gamma x'y + coef0)^degree and tanh(gamma x'y + coef0).
    degree, coef0 : number
        Of the polynomial and sigmoid kernels.
    preimage : {"ridge", "fixed_point", "distance"}
        The way back. "ridge" learns it: kernel ridge regression of the rows on their scores, width and penalty by
        leave-one-out error; for any kernel. "fixed_point" walks to the row whose image is nearest (Mika et al., 1998):
        RBF, polynomial and their combinations. "distance" takes the row with the right distances to its neighbours, in
        one step (Kwok and Tsang, 2003): RBF, l2 Laplace, odd polynomials. With the linear kernel the last two are
        exact.
    n_neighbors : int
        Rows that ``preimage="distance"`` measures from.
    random_state : int, generator or None
        Start of the eigensolver.
    n_jobs : int or None
        Threads; None means all cores. Results do not depend on it.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Scores of the fitted rows.
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of the centred kernel matrix.
    kernel_ : Kernel
        The kernel with its parameters.
    reconstruction_error_ : float
        Squared error in feature space over all fitted rows: the sum of the eigenvalues left out.

    References
    ----------
    Schölkopf, Smola and Müller, Nonlinear component analysis as a kernel eigenvalue problem, 1998.

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
        "preimage": params.one_of(*WAYS),
        "n_neighbors": params.whole(1),
        "random_state": params.seed(),
        "n_jobs": params.jobs(),
    }
    _sparse_rows = True
    _ways_out = "Fit on a sample of the rows and transform the rest."

    def __init__(
        self,
        n_components=2,
        *,
        kernel="rbf",
        width="median",
        gamma=None,
        degree=3,
        coef0=1.0,
        preimage="ridge",
        n_neighbors=10,
        random_state=None,
        n_jobs=None,
    ):
        self.n_components = n_components
        self.kernel = kernel
        self.width = width
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.preimage = preimage
        self.n_neighbors = n_neighbors
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _embed(self, X: Any) -> np.ndarray:
        rng = generator(self.random_state)
        self.kernel_ = make_kernel(
            self.kernel,
            X,
            width=self.width,
            gamma=self.gamma,
            degree=self.degree,
            coef0=self.coef0,
            owner="KernelPCA",
        )
        check_way(self.preimage, self.kernel_, "KernelPCA")
        K = self._kernel_matrix(X)
        Kc, means = center_kernel(K, overwrite=K is not X)
        wanted = len(Kc) if self.n_components is None else min(self.n_components, len(Kc))
        pairs = eigenpairs(Kc, wanted, rng=rng, owner="KernelPCA")
        self._report_negative(Kc, pairs.values[0], rng)
        pairs = positive_part(pairs, self.n_components, owner="KernelPCA")
        self.eigenvalues_ = pairs.values
        self.reconstruction_error_ = float(max(np.trace(Kc, dtype=np.float64) - pairs.values.sum(), 0.0))
        self._mean_kernel = means.total
        self._rows = self._own_rows(X)
        self._extension = Nystrom.of(pairs.values, pairs.vectors, means.columns)
        return pairs.vectors * np.sqrt(pairs.values)

    def _kernel_matrix(self, X: Any) -> np.ndarray:
        """K, in blocks of rows side by side; checked where it did not come from a kernel known to be symmetric."""
        if self._precomputed() or X.shape[0] <= _BLOCK or not self.kernel_.is_psd:
            K = self.kernel_(X)
            return K if self.kernel_.is_psd else _symmetric(K)
        K = np.empty((X.shape[0], X.shape[0]), dtype=X.dtype)

        def fill(rows: slice) -> None:
            K[rows] = self.kernel_(X[rows], X)

        threads.map_rows(fill, X.shape[0], _BLOCK, self.n_jobs)
        return K

    def _report_negative(self, Kc: np.ndarray, largest: float, rng: np.random.Generator) -> None:
        """A similarity that is no inner product has negative eigenvalues; they are left out, and said."""
        if self.kernel_.is_psd or len(Kc) < 2:
            return
        mirrored = LinearOperator(Kc.shape, matvec=lambda v: -(Kc @ v), matmat=lambda V: -(Kc @ V), dtype=np.float64)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # its sign and size matter, not its digits
            found = eigenpairs(mirrored, 1, solver="block", tol=1e-5, max_iter=30, rng=rng, owner="KernelPCA")
        lowest = -found.values[0]
        if lowest < -1e-6 * max(largest, 0.0):
            warn(
                f"KernelPCA: the kernel is not positive semidefinite on these rows (smallest eigenvalue {lowest:.3g}, "
                f"largest {largest:.3g}); negative eigenvalues are left out."
            )

    def _extend(self, X: Any) -> np.ndarray:
        return self._extension(self._similarities(X))

    def _similarities(self, X: Any) -> np.ndarray:
        return X if self._precomputed() else self.kernel_(X, self._rows)

    @property
    def _invert(self) -> Any:
        return None if self.preimage == "ridge" else partial(preimages, self)

    def denoise(self, X: Any) -> np.ndarray:
        """Rows led to the components and back, without what the components leave out.

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
            k(x,x) - 2 mean_i k(x,x_i) + mean K - sum of squared scores; over the fitted rows they add up to
            `reconstruction_error_`.
        """
        check_is_fitted(self)
        X, _ = self._check_rows(X, fitting=False)
        if self._precomputed():
            raise ValueError(
                "KernelPCA: row_error needs k(x, x) of each row, which kernel='precomputed' does not give."
            )
        S = np.asarray(self._similarities(X), dtype=np.float64)
        norm = self.kernel_.diag(X) - 2 * S.mean(axis=1) + self._mean_kernel
        return np.maximum(norm - (self._extension(S) ** 2).sum(axis=1), 0.0)

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
        vectors = n * (n if self.n_components is None else min(n, 3 * (self.n_components + 30))) * 8
        return {
            "rows": n * d * itemsize if stored is None else 12 * stored,
            "kernel matrix": 3 * n * n * itemsize,
            "eigenvectors": 8 * vectors if self.n_components is None else 2 * vectors,
        }


def _symmetric(K: np.ndarray) -> np.ndarray:
    """The kernel matrix, checked: a kernel that is not symmetric has no eigenvectors to speak of."""
    if K.ndim != 2 or K.shape[0] != K.shape[1]:
        raise ValueError(f"KernelPCA: the kernel matrix must be square; got shape {K.shape}.")
    if not np.isfinite(K.sum(dtype=np.float64)):
        raise ValueError(
            "KernelPCA: the kernel gives NaN or infinity on these rows; rescale the rows, or "
            "use a smaller gamma or degree."
        )
    parts = threads.blocks(len(K), 512)  # tile by tile: a transposed matrix read by rows would crawl
    worst = max(float(np.abs(K[a, b] - K[b, a].T).max()) for i, a in enumerate(parts) for b in parts[: i + 1])
    if worst > 1e-4 * max(float(np.abs(K).max()), np.finfo(K.dtype).tiny):
        raise ValueError(f"KernelPCA: the kernel must be symmetric; k(x, y) and k(y, x) differ by up to {worst:.3g}.")
    return K

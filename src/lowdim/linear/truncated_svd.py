"""Truncated singular value decomposition."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from lowdim._core import params
from lowdim._core.base import Reducer
from lowdim._core.runtime.notices import warn
from lowdim._core.runtime.rng import generator
from lowdim._core.spectrum import Triangle, eigenpairs, fix_signs, svd
from lowdim.linear._decompose import lost_digits
from lowdim.linear.in_blocks import many_passes
from lowdim.linear.in_blocks.sums import moments_of_stream, triangle_of_stream


class TruncatedSVD(Reducer):
    """Truncated singular value decomposition: principal axes through the origin, instead of through the mean.

    With X = U S V' and the largest singular values first, a row's scores are z = V_k' x, and x is approximated by
    V_k z: no other table of rank k is nearer to X. Of centred rows it is PCA. Without centring, sparse rows such as
    counts of words stay sparse (latent semantic analysis), and the first axis mostly points at the mean.

    Parameters
    ----------
    n_components : int or None
        Number of components to keep. None: all.
    random_state : int, generator or None
        Seed; the same int gives the same result. For the start vectors of iterative solvers; None is a fixed seed.
    n_jobs : int or None
        Number of threads; None means all cores. Results do not depend on it.

    Attributes
    ----------
    components_ : ndarray of shape (n_components_, n_features)
        The right singular vectors, one row a component; the entry of largest magnitude is positive.
    singular_values_ : ndarray of shape (n_components_,)
        The singular values of X, which was not centred.
    explained_variance_ : ndarray of shape (n_components_,)
        Variance of the scores, with divisor n - 1. The first need not be the largest.
    explained_variance_ratio_ : ndarray of shape (n_components_,)
        Their share of the total variance of the columns.
    n_components_ : int
        Number of components kept.

    References
    ----------
    Eckart and Young, The approximation of one matrix by another of lower rank, 1936. Deerwester, Dumais, Furnas,
    Landauer and Harshman, Indexing by latent semantic analysis, 1990.

    Examples
    --------
    >>> import lowdim
    >>> from scipy import sparse
    >>> counts = sparse.csr_array([[2, 1, 0, 0], [4, 2, 0, 0], [0, 0, 1, 3]])
    >>> model = lowdim.TruncatedSVD(2).fit(counts)
    >>> model.singular_values_.round(4), model.transform(counts).shape
    (array([5.    , 3.1623]), (3, 2))
    """

    _rules: ClassVar = {"n_components": params.whole(1) | params.none()}
    _sparse_rows = True
    _keeps_embedding = False
    _block_rows = 65536
    _ways_out = "Ask for fewer components, or fit on a part of the rows."

    def __init__(self, n_components=2, *, random_state=None, n_jobs=None):
        self.n_components = n_components
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _embed(self, X: Any) -> None:
        found = svd(X, self._wanted(min(X.shape)), rng=self.random_state, owner="TruncatedSVD")
        if found.values[0] == 0:
            raise ValueError("TruncatedSVD: X must have a cell that is not 0; all are.")
        self.components_, self.singular_values_ = found.Vt, found.values
        self.explained_variance_ = np.var(found.U * found.values, axis=0, ddof=1)
        total = _total_variance(X)
        self.explained_variance_ratio_ = self.explained_variance_ / total if total > 0 else np.zeros(len(found.values))
        self.n_components_ = self._n_features_out = len(found.values)

    def _embed_batches(self, batches: Any) -> None:
        """From X'X, the sum over the blocks: singular values below 1e-8 of the first are rounding, and where such are
        asked for, a table of up to 2e9 multiplications is read again, for its QR decomposition.

        Of many columns X'X is not formed: block Lanczos asks for its products, one pass over the blocks a step.
        """
        if batches.rereadable and self._in_many_passes(batches.width):
            self._keep_leading(batches)
            return
        moments, dtype = moments_of_stream(batches, "TruncatedSVD", self._min_rows, self.n_jobs)
        d, n = len(moments.mean), moments.weight
        self.n_features_in_ = d
        k = self._wanted(min(int(n), d))
        found = eigenpairs(moments.about(np.zeros(d)), k, owner="TruncatedSVD")
        if not found.values[0] > 0:
            raise ValueError("TruncatedSVD: X must have a cell that is not 0; all are.")
        if batches.rereadable and lost_digits(found.values, k, int(n), d, dtype):
            self._keep_triangle(triangle_of_stream(batches, "TruncatedSVD", self._min_rows), k)
            return
        V = found.vectors[:, found.values > 0]
        variance = np.einsum("ij,ik,kj->j", V, moments.scatter, V) / (n - 1)
        self._keep_axes(_roots(found), V, variance, float(np.trace(moments.scatter)) / (n - 1))

    def _takes_one_pass(self) -> bool:
        return True

    def _in_many_passes(self, d: int) -> bool:
        return d > many_passes.WIDE and self.n_components is not None

    def _keep_triangle(self, found: Triangle, k: int) -> None:
        parts, divisor = svd(found.about_origin(), k, solver="lapack", owner="TruncatedSVD"), found.weight - 1
        variance = np.square(found.R @ parts.Vt.T).sum(axis=0) / divisor
        self._keep_axes(parts.values, parts.Vt.T, variance, float(found.squares().sum()) / divisor)

    def _keep_leading(self, batches: Any) -> None:
        sums = many_passes.sums_of_columns(batches, self._min_rows, "TruncatedSVD")
        n, d, mean = sums.weight, len(sums.mean), sums.mean
        self.n_features_in_, norm = d, float(sums.squares.sum() + n * (mean @ mean))
        if not norm > 0:
            raise ValueError("TruncatedSVD: X must have a cell that is not 0; all are.")
        settings: dict[str, Any] = {"norm": norm, "tol": 1e-10, "rng": generator(self.random_state)}
        k = self._wanted(min(int(n), d))
        found = many_passes.leading(batches, k, mean=np.zeros(d), divide=None, owner="TruncatedSVD", **settings)
        values, V = found.values[found.values > 0], found.vectors[:, found.values > 0]
        variance = (values - n * (mean @ V) ** 2) / (n - 1)
        self._keep_axes(_roots(found), V, variance, float(sums.squares.sum()) / (n - 1))

    def _keep_axes(self, values: np.ndarray, V: np.ndarray, variance: np.ndarray, total: float) -> None:
        """Singular values and vectors of X, with the variance along each axis and the total variance."""
        self.components_ = fix_signs(V).T
        self.singular_values_ = values
        self.explained_variance_ = variance
        self.explained_variance_ratio_ = self.explained_variance_ / total if total > 0 else np.zeros(len(V.T))
        self.n_components_ = self._n_features_out = len(V.T)

    def _wanted(self, most: int) -> int:
        wanted = most if self.n_components is None else int(self.n_components)
        if wanted > most:
            warn(
                f"TruncatedSVD: n_components={wanted} is more than min(n_samples, n_features) = {most}; keeping {most}."
            )
        return min(wanted, most)

    def _extend(self, X: Any) -> np.ndarray:
        return np.asarray(X @ self.components_.T.astype(X.dtype))

    def _invert(self, Z: np.ndarray) -> np.ndarray:
        return Z @ self.components_

    def _memory(self, n: int, d: int, itemsize: int, stored: int | None) -> dict[str, int]:
        k = min(n, d) if self.n_components is None else min(int(self.n_components), n, d)
        block = min(2 * k + 32, n, d)
        if stored is not None:
            return {"singular vectors": 2 * (n + d) * block * 8}
        return {"factors": n * d * 8, "singular vectors": 3 * (n + d) * k * 8}


def _roots(found: Any) -> np.ndarray:
    """Singular values of X, from the positive eigenvalues of X'X."""
    return np.sqrt(found.values[found.values > 0])


def _total_variance(X: Any) -> float:
    """The sum of the variances of the columns."""
    n = X.shape[0]
    if not sparse.issparse(X):
        return float(np.var(X, axis=0, ddof=1, dtype=np.float64).sum())
    mean = np.asarray(X.mean(axis=0, dtype=np.float64)).ravel()
    return max(0.0, float((X.data.astype(np.float64) ** 2).sum() - n * (mean @ mean))) / (n - 1)

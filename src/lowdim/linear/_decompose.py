"""The eigenvalues and loadings of centred, scaled and weighted rows, by five routes to the same numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from lowdim._core.power import power_pairs
from lowdim._core.spectrum import Moments, eigenpairs, gram, svd

SOLVERS = ("covariance", "svd", "gram", "randomized", "power")


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows with what is subtracted from them, divided by, and the weight of each."""

    X: Any
    mean: np.ndarray
    scale: np.ndarray | None
    weights: np.ndarray | None
    ddof: int
    divisor: float  # sum of weights - ddof
    total_variance: float

    @classmethod
    def of(cls, X: Any, weights: np.ndarray | None, *, scale: bool, ddof: int) -> Rows:
        weight_sum = X.shape[0] if weights is None else float(weights.sum())
        mean, variance = _mean_and_variance(X, weights, weight_sum)
        variance *= weight_sum / (weight_sum - ddof)
        divide = _divisors(variance) if scale else None
        total = float(variance.sum() if divide is None else (variance / divide**2).sum())
        return cls(X, mean, divide, weights, ddof, weight_sum - ddof, total)

    def dense(self) -> np.ndarray:
        """Centred, scaled rows times the root of their weight, in float64."""
        X = (self.X.toarray() if sparse.issparse(self.X) else self.X) - self.mean
        if self.scale is not None:
            X /= self.scale
        return X if self.weights is None else X * np.sqrt(self.weights)[:, None]

    def operator(self) -> LinearOperator:
        """The same matrix, never formed: for sparse rows, where centring would fill it."""
        X, divide = self.X, 1.0 if self.scale is None else self.scale[:, None]
        root = np.ones((X.shape[0], 1)) if self.weights is None else np.sqrt(self.weights)[:, None]
        mean = self.mean[:, None]

        def times(B: np.ndarray) -> np.ndarray:
            B = B.reshape(X.shape[1], -1) / divide
            return root * (X @ B - mean.T @ B)

        def transposed(B: np.ndarray) -> np.ndarray:
            B = root * B.reshape(X.shape[0], -1)
            return (X.T @ B - mean * B.sum(axis=0)) / divide

        return LinearOperator(
            X.shape, matvec=times, rmatvec=transposed, matmat=times, rmatmat=transposed, dtype=np.float64
        )


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Eigenvalues (as variances, decreasing) and loadings, with what made them."""

    variances: np.ndarray
    loadings: np.ndarray  # (k, d)
    mean: np.ndarray
    scale: np.ndarray | None
    divisor: float
    total_variance: float
    rank_tolerance: float
    solver: str
    run: tuple[int, bool] = (1, True)  # steps and convergence, of the power iteration


def pick_solver(n: int, d: int, k: int | None, is_sparse: bool) -> str:
    """The cheapest route that keeps the digits: k is None where the whole spectrum is wanted."""
    if is_sparse:
        return "covariance" if d <= 1000 or k is None else "randomized"
    small = n * d * min(n, d) <= 2e8
    if k is None or k > 0.5 * min(n, d):
        # All components: the covariance would lose those below sqrt(eps) of the first.
        return "svd" if small else ("covariance" if n >= d else "gram")
    if d <= 2500 and n >= d:
        return "covariance"
    if n <= 2500 and d > n:
        return "gram"
    return "randomized"


def decompose(rows: Rows, k: int, solver: str, tol: float, max_iter: int, rng: np.random.Generator) -> Spectrum:
    """The k largest eigenvalues and loadings of the rows' covariance."""
    run = (1, True)
    if solver == "covariance":
        return decompose_moments(_moments(rows), k, scale=rows.scale is not None, ddof=rows.ddof)
    if solver == "gram":
        squares, loadings = _by_gram(rows, k)
    elif solver == "power":
        squares, loadings, run = _by_power(rows, k, tol, max_iter, rng)
    else:
        matrix = rows.operator() if sparse.issparse(rows.X) else rows.dense()
        route = "randomized" if solver == "randomized" else "lapack"
        if route == "lapack" and sparse.issparse(rows.X):
            matrix = rows.dense()
        found = svd(matrix, k, solver=route, tol=tol, rng=rng, owner="PCA")
        squares, loadings = found.values**2, found.Vt
    n, d = rows.X.shape
    eps = np.finfo(np.float64).eps * max(n, d)
    return Spectrum(
        np.maximum(squares, 0.0) / rows.divisor,
        fix_signs(loadings),
        rows.mean,
        rows.scale,
        rows.divisor,
        rows.total_variance,
        np.sqrt(eps) if solver in ("covariance", "gram", "power") and min(n, d) > k else eps,
        solver,
        run,
    )


def decompose_moments(moments: Moments, k: int, *, scale: bool, ddof: int) -> Spectrum:
    """The same from the mean and scatter of a stream."""
    divisor = moments.weight - ddof
    variance = np.diag(moments.scatter) / divisor
    divide = _divisors(variance) if scale else None
    C = moments.scatter if divide is None else moments.scatter / np.outer(divide, divide)
    pairs = eigenpairs(C, k, owner="PCA")
    d = len(moments.mean)
    return Spectrum(
        np.maximum(pairs.values, 0.0) / divisor,
        fix_signs(pairs.vectors.T),
        moments.mean,
        divide,
        divisor,
        float(np.trace(C)) / divisor,
        np.finfo(np.float64).eps * d,
        "covariance",
    )


def _moments(rows: Rows) -> Moments:
    """Weight, mean and scatter of sparse rows, without filling them."""
    X = rows.X.astype(np.float64)
    weights = np.ones(X.shape[0]) if rows.weights is None else rows.weights
    scatter = (X.T @ (sparse.diags_array(weights) @ X)).toarray() - weights.sum() * np.outer(rows.mean, rows.mean)
    return Moments(float(weights.sum()), rows.mean, scatter)


def _by_gram(rows: Rows, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvectors a of Xc Xc' give the loadings Xc'a / s; those with s near 0 have no direction of their own."""
    Xc = rows.dense()
    pairs = eigenpairs(gram(Xc, mean=np.zeros(Xc.shape[1])), k, owner="PCA")
    s = np.sqrt(np.maximum(pairs.values, 0.0))
    V = Xc.T @ pairs.vectors
    # Orthonormal also where s is tiny: QR keeps the leading columns and completes the rest.
    Q, R = np.linalg.qr(V)
    return s**2, (Q * np.where(np.diag(R) < 0, -1.0, 1.0)).T


def _by_power(
    rows: Rows, k: int, tol: float, max_iter: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, tuple[int, bool]]:
    matrix = rows.operator() if sparse.issparse(rows.X) else rows.dense()
    pairs, n_iter, converged = power_pairs(
        lambda v: matrix.T @ (matrix @ v),
        rows.X.shape[1],
        k,
        tol=tol,
        max_iter=max_iter,
        rng=rng,
        owner="PCA",
    )
    return pairs.values, pairs.vectors.T, (n_iter, converged)


def _mean_and_variance(X: Any, weights: np.ndarray | None, weight_sum: float) -> tuple[np.ndarray, np.ndarray]:
    """Weighted column means and variances (divisor: the sum of weights), in float64, block by block."""
    w = np.ones(X.shape[0]) if weights is None else weights
    if sparse.issparse(X):
        X = X.astype(np.float64)
        mean = np.asarray(X.T @ w).ravel() / weight_sum
        square = np.asarray(X.multiply(X).T @ w).ravel() / weight_sum
        return mean, np.maximum(square - mean**2, 0.0)
    block = max(1, 2**22 // max(1, X.shape[1]))
    starts = range(0, X.shape[0], block)
    total = sum(w[s : s + block] @ X[s : s + block].astype(np.float64, copy=False) for s in starts)
    mean = np.asarray(total) / weight_sum
    spread = np.zeros_like(mean)
    for s in starts:
        spread += w[s : s + block] @ (X[s : s + block] - mean) ** 2
    return mean, spread / weight_sum


def _divisors(variance: np.ndarray) -> np.ndarray:
    """Standard deviations; a constant column is left as it is (divided by 1)."""
    deviation = np.sqrt(variance)
    return np.where(deviation > 0, deviation, 1.0)


def fix_signs(loadings: np.ndarray) -> np.ndarray:
    """Rows with their entry of largest magnitude positive."""
    if not loadings.size:
        return loadings
    top = np.take_along_axis(loadings, np.abs(loadings).argmax(axis=1)[:, None], axis=1)
    return loadings * np.where(top < 0, -1.0, 1.0)

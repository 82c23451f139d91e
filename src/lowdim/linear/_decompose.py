"""The eigenvalues and loadings of centred, scaled and weighted rows, by five solvers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
import scipy.linalg as sla
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from lowdim._core.extend import centred
from lowdim._core.gpu.device_rows import DeviceRows, on_host
from lowdim._core.gpu.devices import Device
from lowdim._core.gpu.places.linear_map import centred as centred_there
from lowdim._core.gpu.wide import column_moments as device_moments
from lowdim._core.gpu.wide import gram as device_gram
from lowdim._core.gpu.wide import operator, transposed_product
from lowdim._core.runtime.notices import warn
from lowdim._core.runtime.rng import generator
from lowdim._core.runtime.threads import blocks, lapack, map_rows
from lowdim._core.spectrum import Moments, eigenpairs, fix_signs, gram, mean_and_variance, svd
from lowdim._core.spectrum.moments import n_sums
from lowdim._core.spectrum.problem import unit_of
from lowdim._core.tables.deviations import deviations, rounding_of
from lowdim.linear._power import power_pairs

SOLVERS = ("covariance", "svd", "gram", "randomized", "power")
_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows with what is subtracted from them, divided by, and the weight of each."""

    X: Any
    mean: np.ndarray
    scale: np.ndarray | None
    weights: np.ndarray | None
    ddof: int
    divisor: float  # sum of weights - ddof
    variance: np.ndarray  # of each column, centred and scaled
    total_variance: float

    @classmethod
    def _about(cls, X: Any, weights: np.ndarray | None, about: Any, *, scale: bool, ddof: int) -> Rows:
        weight_sum = X.shape[0] if weights is None else float(weights.sum())
        mean, variance = about
        variance *= weight_sum / (weight_sum - ddof)
        divide = divisors(variance, mean, count_rows(X, weights), X.dtype) if scale else None
        variance = variance if divide is None else variance / divide**2
        return cls(X, mean, divide, weights, ddof, weight_sum - ddof, variance, float(variance.sum()))

    @classmethod
    def there(cls, device: Device, X: DeviceRows, weights: np.ndarray | None, *, scale: bool, ddof: int) -> Rows:
        """The same of rows on a device."""
        return cls._about(X, weights, device_moments(device, X, weights), scale=scale, ddof=ddof)

    @classmethod
    def of(cls, X: Any, weights: np.ndarray | None, *, scale: bool, ddof: int) -> Rows:
        return cls._about(X, weights, mean_and_variance(X, weights), scale=scale, ddof=ddof)

    def dense(self, dtype: Any = np.float64, part: slice = slice(None)) -> Any:
        """Centred, scaled rows times the root of their weight."""
        if isinstance(self.X, DeviceRows):
            return centred_there(self.X, self.mean, self.scale, self.weights)
        X = self.X[part].toarray() if sparse.issparse(self.X) else self.X[part]
        X = centred(X, self.mean) if X.dtype == dtype else np.subtract(X, self.mean, dtype=dtype)
        if self.scale is not None:
            X /= self.scale.astype(dtype)
        if self.weights is not None:
            X *= np.sqrt(self.weights[part])[:, None].astype(dtype)
        return X

    def triangle(self) -> np.ndarray:
        """R of the QR decomposition of the rows, block by block: R'R is their scatter, and nothing is squared."""
        n, d = self.X.shape
        R = np.zeros((0, d))
        for part in blocks(n, max(4 * d, 2**18 // d)):
            stack = np.vstack([R, self.dense(part=part)])
            R = lapack(sla.qr, stack, mode="r", overwrite_a=True, check_finite=False)[0][:d]
        return R

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

    def moments(self) -> Moments:
        """Weight, mean and scatter of sparse rows.

        X'WX - w mean mean' keeps X sparse, but cancels where means are large beside the spread; there the rows are
        filled block by block instead.
        """
        weights = np.ones(self.X.shape[0]) if self.weights is None else self.weights
        spread = mean_and_variance(self.X, self.weights)[1]
        lost = _EPS * np.max(self.mean**2 / np.where(spread > 0, spread, np.inf), initial=0.0)
        if lost > 1e-12:
            parts = blocks(self.X.shape[0], max(1, 2**23 // self.X.shape[1]))
            filled = (Moments.of(self.X[rows].toarray().astype(np.float64), weights[rows]) for rows in parts)
            return reduce(Moments.__add__, filled)
        X = self.X.astype(np.float64)
        total = float(weights.sum())
        scatter = (X.T @ (sparse.diags_array(weights) @ X)).toarray() - total * np.outer(self.mean, self.mean)
        np.fill_diagonal(scatter, total * spread)  # known without cancellation
        return Moments(total, self.mean, scatter)


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Eigenvalues (as variances, decreasing) and loadings, with what made them."""

    variances: np.ndarray
    loadings: np.ndarray  # (k, d)
    mean: np.ndarray
    scale: np.ndarray | None
    ddof: int
    divisor: float  # sum of weights - ddof
    column_variances: np.ndarray  # of the centred, scaled columns
    total_variance: float
    rank_tolerance: float  # eigenvalues below this part of the first are rounding
    most: int  # directions that can vary: min(n - 1, d)
    solver: str
    run: tuple[int, bool] = (1, True)  # steps and convergence, of the power iteration

    @property
    def resolution(self) -> float:
        """Singular values below this part of the first are rounding: squared rows keep half of the digits."""
        squared = self.solver in ("covariance", "gram", "randomized")
        return float(np.sqrt(self.rank_tolerance)) if squared else self.rank_tolerance

    def error(self, r: int) -> float:
        """Mean squared error per cell of the first r components, in the units of the rows."""
        values, d = self.variances[:r], len(self.mean)
        if self.scale is None:
            left = max(self.total_variance - float(values.sum()), 0.0)
        else:
            left = float(self.scale**2 @ np.maximum(self.column_variances - values @ self.loadings[:r] ** 2, 0.0))
        return left * self.divisor / ((self.divisor + self.ddof) * d)

    @property
    def varying(self) -> int:
        """Columns that have a part in a component above rounding."""
        kept = self.loadings[self.variances > self.rank_tolerance * self.variances[0]]
        return int((np.abs(kept).max(axis=0, initial=0.0) > 1e-12).sum())


def count_rows(X: Any, weights: np.ndarray | None) -> int:
    """Number of rows with a positive weight."""
    return X.shape[0] if weights is None else int((weights > 0).sum())


def pick_solver(n: int, d: int, k: int | None, is_sparse: bool) -> str:
    """The fastest solver by shape; k is None where the whole spectrum is wanted (measured by the benchmark "pca")."""
    if is_sparse:
        return "covariance" if d <= 1000 or k is None else "randomized"
    # The inner products of the shorter side cost as much as that many columns of a product; block Krylov takes some
    # twenty products with a block that is a little wider than k, and fewer where the spectrum has structure.
    short = min(n, d)
    if k is None or k > short // 8 or short <= 2500:
        return "covariance" if n >= d else "gram"
    return "randomized"


LARGE = 2e9  # multiplications from which the rows are not decomposed a second time for their smallest components


def refined(found: Spectrum, wanted: int, k: int, X: np.ndarray, weights: np.ndarray | None) -> Spectrum:
    """`found`, or the same from the rows themselves where it lost digits and the memory is there."""
    n, d = X.shape
    if not lost_digits(found.variances, min(wanted, found.most), n, d, X.dtype):
        return found
    spread = found.column_variances, found.total_variance
    rows = Rows(on_host(X), found.mean, found.scale, weights, found.ddof, found.divisor, *spread)
    try:
        return decompose(rows, k, "svd", 1e-8, 1, generator(0))
    except MemoryError:
        return found


def lost_digits(values: np.ndarray, wanted: int, n: int, d: int, dtype: Any) -> bool:
    """Whether squaring n rows lost the smallest of the wanted eigenvalues, and a decomposition of the rows is cheap.

    An eigenvalue of the inner products is wrong by the rounding of the first one; single-precision rows are themselves
    rounded so far that below 1e-6 nothing can be gained.
    """
    trusted = 1e-6 if dtype == np.float32 else 1e-10
    return n * d * min(n, d) <= LARGE and wanted > 1 and bool(values[wanted - 1] < trusted * values[0])


def decompose(
    rows: Rows, k: int, solver: str, tol: float, max_iter: int, rng: np.random.Generator, device: Device | None = None
) -> Spectrum:
    """The k largest eigenvalues and loadings of the rows' covariance; a GPU multiplies for "gram" and "randomized"."""
    run, (n, d) = (1, True), rows.X.shape
    if solver == "covariance":
        scale, count = rows.scale is not None, count_rows(rows.X, rows.weights)
        return decompose_moments(rows.moments(), k, scale=scale, ddof=rows.ddof, dtype=np.float64, count=count)
    if solver == "gram":
        squares, loadings = _by_gram(rows, k, device)
    elif solver == "power":
        squares, loadings, run = _by_power(rows, k, tol, max_iter, rng)
    elif solver == "svd":
        found = svd(rows.triangle() if n > 2 * d else rows.dense(), k, solver="lapack", owner="PCA")
        squares, loadings = found.values**2, found.Vt
    else:
        matrix = rows.operator() if sparse.issparse(rows.X) else rows.dense(rows.X.dtype)
        matrix = matrix if device is None else operator(device, matrix)
        found = svd(matrix, k, solver="randomized", tol=tol, rng=rng, owner="PCA")
        squares, loadings = found.values**2, found.Vt
    return Spectrum(
        np.maximum(squares, 0.0) / rows.divisor,
        fix_signs(loadings.T).T,
        rows.mean,
        rows.scale,
        rows.ddof,
        rows.divisor,
        rows.variance,
        rows.total_variance,
        rank_tolerance(n, d, np.float64 if solver in ("svd", "power") else rows.X.dtype),
        min(count_rows(rows.X, rows.weights) - 1, d),
        solver,
        run,
    )


def decompose_moments(
    moments: Moments, k: int, *, scale: bool, ddof: int, dtype: Any, count: int | None = None
) -> Spectrum:
    """The same from the mean and scatter of the rows (of one table or of a stream), multiplied in `dtype`.

    `count` is the number of rows where it is not their weight.
    """
    divisor, d = moments.weight - ddof, len(moments.mean)
    count = int(moments.weight) if count is None else count
    variance = np.maximum(np.diag(moments.scatter), 0.0) / divisor
    divide, C = None, moments.scatter
    if scale:
        divide = divisors(variance, moments.mean, count, dtype)
        C = C / np.outer(divide, divide)
    # Products of single-precision rows are right to seven digits: smaller residuals are meaningless.
    pairs = eigenpairs(C, k, tol=1e-8 if dtype == np.float32 else 1e-10, owner="PCA")
    return Spectrum(
        np.maximum(pairs.values, 0.0) / divisor,
        pairs.vectors.T,
        moments.mean,
        divide,
        ddof,
        divisor,
        np.maximum(np.diag(C), 0.0) / divisor,
        float(np.maximum(np.diag(C), 0.0).sum()) / divisor,
        rank_tolerance(count, d, dtype),
        min(count - 1, d),
        "covariance",
    )


def rank_tolerance(n: int, d: int, dtype: Any) -> float:
    """max(n, d) eps of the first eigenvalue; products in float32 leave more."""
    return max(max(n, d) * _EPS, 8.0 * float(np.finfo(dtype).eps))


def divisors(variance: np.ndarray, mean: np.ndarray, n: float, dtype: Any) -> np.ndarray:
    """Standard deviations of columns; 1, with a warning, where one is constant."""
    constant = np.sqrt(np.maximum(variance, 0.0)) <= rounding_of(mean, n, dtype)
    if constant.any():
        warn(f"PCA: {int(constant.sum())} of {len(mean)} columns are constant; scale=True leaves them as they are.")
    return deviations(variance, mean, n, dtype)


def _by_gram(rows: Rows, k: int, device: Device | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvectors a of Xc Xc' give the loadings Xc'a / s; those with s near 0 are arbitrary."""
    Xc = rows.dense(rows.X.dtype)
    G = gram(Xc, mean=np.zeros(Xc.shape[1])) if device is None else device_gram(device, Xc)
    pairs = eigenpairs(G, k, owner="PCA")
    A = pairs.vectors.astype(Xc.dtype)
    V = np.empty((Xc.shape[1], k)) if device is None else transposed_product(device, Xc, A)

    def project(columns: slice) -> None:
        V[columns] = Xc[:, columns].T @ A

    if device is None:
        map_rows(project, len(V), 4096)
    squares = np.maximum(pairs.values, 0.0)
    if squares[-1] > 1e-6 * squares[0]:  # nearly orthogonal: orthogonalised by their inner products
        V /= np.sqrt(squares)
        return squares, sla.solve_triangular(np.linalg.cholesky(V.T @ V), V.T, lower=True)
    # Where s is tiny the direction is arbitrary: QR keeps the leading columns and completes the rest.
    Q, R = np.linalg.qr(V)
    return squares, (Q * np.where(np.diag(R) < 0, -1.0, 1.0)).T


def _by_power(
    rows: Rows, k: int, tol: float, max_iter: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, tuple[int, bool]]:
    unit = unit_of(np.sqrt(rows.total_variance))
    matrix = rows.operator() if sparse.issparse(rows.X) else rows.dense()
    matrix = matrix if unit == 1 else matrix * (1 / unit)
    pairs, n_iter, converged = power_pairs(
        lambda v: matrix.T @ (matrix @ v), rows.X.shape[1], k, tol=tol, max_iter=max_iter, rng=rng, owner="PCA"
    )
    return pairs.values * unit**2, pairs.vectors.T, (n_iter, converged)


def memory_of(solver: str, n: int, d: int, k: int, itemsize: int, stored: int | None) -> dict[str, int]:
    """Bytes that a solver takes for k components of n rows, beside the rows; `stored`: the numbers of sparse rows."""
    small, table = min(n, d), 12 * stored if stored is not None else n * d * itemsize
    if solver == "covariance":
        lanes = 1 if stored is not None else n_sums(n, d)
        vectors = min(4 * d, 12 * k)  # LAPACK's work grows with the eigenvectors that are asked for
        return {"sums": lanes * d * d * 8, "eigenproblem": (d + vectors) * d * 8, "blocks": min(table, 2**23)}
    if solver == "gram":
        blocks = n * min(d, 2048) * 8
        return {"rows": n * d * itemsize + blocks, "Gram matrix": 2 * n * n * 8, "loadings": 3 * d * k * 8}
    if solver == "svd" and n > 2 * d:
        return {"blocks": 3 * min(n, 5 * d + 2**18 // d) * d * 8, "singular vectors": 6 * d * d * 8}
    if solver == "svd":
        return {"centred rows": 3 * n * d * 8, "singular vectors": 3 * (n + d) * small * 8}
    width = min(3 * (k + 30), small)
    return {"centred rows": table, "Krylov basis": 3 * (n + d) * width * 8}

"""The first eigenpairs of the covariance of rows that change a little from one call to the next.

Iterative completion needs them in every step. The last result is the start of the next: a few steps of subspace
iteration on the covariance (few columns), on the Gram matrix (few rows) or on the rows themselves, and the general
solver only at the start or where these steps do not converge.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.sparse.linalg import LinearOperator

from lowdim._core.runtime import threads
from lowdim._core.runtime.rng import generator
from lowdim._core.spectrum import Moments, eigenpairs
from lowdim._core.tables.deviations import deviations

Array = np.ndarray
Pairs = tuple[Array, Array]

SMALL = 64  # columns up to which all eigenpairs cost less than the steps
DENSE = 400  # columns (or rows) up to which the covariance (or Gram matrix) costs less than passes over the rows
DIRECT = 2**18  # cells up to which one product beats chunks
SPARE = 5  # vectors iterated beyond those wanted: the wanted ones converge faster with them
STEPS = 12  # of subspace iteration before the general solver takes over


@dataclass(frozen=True, eq=False)
class Leading:
    """Weight, means, deviations and the first eigenpairs of the covariance (divisor: the weight) of rows.

    Attributes
    ----------
    weight : float
        Number of rows, or the sum of their weights.
    mean, scale : ndarray of shape (d,)
        What is subtracted and divided by; `scale` is 1 throughout where it is not asked for.
    values : ndarray of shape (r + 1,)
        The first eigenvalues and the next one.
    vectors : ndarray of shape (d, r)
        Their vectors.
    total : float
        Sum of all eigenvalues.
    basis : ndarray of shape (d, m)
        Start of the next call.
    exact : bool
        Whether the last of `values` is exact; it is a lower bound where only the others have converged.
    """

    weight: float
    mean: Array
    scale: Array
    values: Array
    vectors: Array
    total: float
    basis: Array
    exact: bool


def leading(
    X: Array,
    r: int,
    *,
    scale: bool,
    weights: Array | None = None,
    start: Array | None = None,
    exact: bool = False,
    tol: float = 1e-11,
    share: Array | None = None,
    n_jobs: int | None = None,
) -> Leading:
    """The first r eigenpairs of the covariance of the rows of X, and the eigenvalue after them.

    `start` is the `basis` of an earlier result, `tol` the residual accepted, relative to the largest eigenvalue;
    `exact` asks for the general solver. `share` is the observed share of each column whose other cells are at its mean:
    the covariance of few enough columns is then corrected for it, as if cells were missing completely at random.
    """
    n, d = X.shape
    if d <= DENSE:
        weight, mean, C = _covariance(X, weights, n_jobs)
        if share is not None:
            C = C / np.outer(share, share)
            C[np.diag_indices(d)] *= share
        variance = np.maximum(np.diag(C), 0.0)
    else:
        weight, mean, variance = _spread(X, weights, n_jobs)
    divide = deviations(variance, mean, weight) if scale else np.ones(d)
    total = float((variance / divide**2).sum())
    if d <= DENSE:
        C = C / np.outer(divide, divide) if scale else C
        found, exact = _of_matrix(C, r + 1, start, exact, tol)
    elif n <= DENSE:
        found, exact = _of_gram(X, weights, weight, mean, divide, r + 1), True
    else:
        found, exact = _of_rows(X, weights, weight, mean, divide, r + 1, start, exact, tol, n_jobs)
    values, basis = found
    return Leading(weight, mean, divide, np.maximum(values[: r + 1], 0.0), basis[:, :r], total, basis, exact)


def _covariance(X: Array, weights: Array | None, n_jobs: int | None) -> tuple[float, Array, Array]:
    if X.size > DIRECT:
        found = Moments.of(X, weights, n_jobs=n_jobs)
        return found.weight, found.mean, found.scatter / found.weight
    w = np.ones(X.shape[0]) if weights is None else weights
    weight = float(w.sum())
    mean = w @ X / weight
    Z = X - mean
    if weights is not None:
        Z *= np.sqrt(w)[:, None]
    return weight, mean, Z.T @ Z / weight


def _spread(X: Array, weights: Array | None, n_jobs: int | None) -> tuple[float, Array, Array]:
    """Weight, means and variances, block by block, the second pass about the mean."""
    n = X.shape[0]
    w = np.ones(n) if weights is None else weights
    weight, block = float(w.sum()), max(1, 2**20 // X.shape[1])
    mean = (
        np.sum(threads.map_rows(lambda rows: w[rows] @ X[rows].astype(np.float64), n, block, n_jobs), axis=0) / weight
    )
    squares = threads.map_rows(lambda rows: w[rows] @ (X[rows] - mean) ** 2, n, block, n_jobs)
    return weight, mean, np.sum(squares, axis=0) / weight


def _of_matrix(C: Array, k: int, start: Array | None, exact: bool, tol: float) -> tuple[Pairs, bool]:
    d = C.shape[0]
    if d <= max(SMALL, 3 * k):
        values, vectors = threads.lapack(np.linalg.eigh, C)
        return (values[::-1], vectors[:, ::-1]), True
    if not exact:
        found = _subspace_iteration(lambda Q: C @ Q, _block(start, d, k), k - 1, tol)
        if found is not None:
            return found, False
    pairs = eigenpairs(C, k + SPARE, solver="lapack", owner="completion")
    return (pairs.values, pairs.vectors), True


def _block(start: Array | None, d: int, k: int) -> Array:
    """Where subspace iteration starts: the last basis, or the same random vectors every time."""
    if start is not None and start.shape[1] >= k:
        return start[:, : k + SPARE]
    return generator(0).standard_normal((d, min(k + SPARE, d)))


def _of_gram(X: Array, weights: Array | None, weight: float, mean: Array, divide: Array, k: int) -> Pairs:
    """Eigenvectors a of ZZ' give Z'a / s; QR keeps them orthonormal where s is near 0."""
    Z = (X - mean) / divide
    if weights is not None:
        Z *= np.sqrt(weights)[:, None]
    k = min(k, len(X))
    values, A = np.linalg.eigh(Z @ Z.T / weight)
    Q, R = np.linalg.qr(Z.T @ A[:, : -k - 1 : -1])
    return values[: -k - 1 : -1], Q * np.where(np.diag(R) < 0, -1.0, 1.0)


def _of_rows(
    X: Array,
    weights: Array | None,
    weight: float,
    mean: Array,
    divide: Array,
    k: int,
    start: Array | None,
    exact: bool,
    tol: float,
    n_jobs: int | None,
) -> tuple[Pairs, bool]:
    n, d = X.shape
    block = max(1, 2**19 // d)

    def product(Q: Array) -> Array:
        def part(rows: slice) -> Array:
            Z = (X[rows] - mean) / divide
            P = Z @ Q
            return Z.T @ (P if weights is None else P * weights[rows, None])

        return np.sum(threads.map_rows(part, n, block, n_jobs), axis=0) / weight

    if not exact:
        found = _subspace_iteration(product, _block(start, d, k), k - 1, max(tol, 1e-10))
        if found is not None:
            return found, False
    operator = LinearOperator(
        (d, d), matvec=lambda v: product(v.reshape(d, -1)).reshape(v.shape), matmat=product, dtype=np.float64
    )
    pairs = eigenpairs(operator, min(k + SPARE, n, d), owner="completion")
    return (pairs.values, pairs.vectors), True


def _subspace_iteration(product: Callable[[Array], Array], Q: Array, r: int, tol: float) -> Pairs | None:
    """Subspace iteration from Q until the first r residuals are below `tol` of the largest value, or None."""
    Q = np.linalg.qr(Q)[0]
    for _ in range(STEPS):
        Y = product(Q)
        values, S = np.linalg.eigh(Q.T @ Y)
        values, S = values[::-1], S[:, ::-1]
        Y, Q = Y @ S, Q @ S
        gaps = Y[:, :r] - Q[:, :r] * values[:r]
        if np.einsum("ij,ij->j", gaps, gaps).max(initial=0.0) <= (tol * values[0]) ** 2:
            return values, Q
        Q = np.linalg.qr(Y)[0]
    return None

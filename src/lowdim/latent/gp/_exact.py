"""The exact likelihood of a Gaussian-process latent variable model.

Each column y of the table is a draw from N(0, K) with K = k(X, X) + noise I over its observed rows, X being the latent
coordinates:

    ln p(Y | X) = -½ sum over columns of (n ln 2 pi + ln |K| + y' K^-1 y).

Its gradient by K is G = ½ (K^-1 Y Y' K^-1 - d K^-1), and everything else follows by the chain rule.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg as sla

from lowdim._core.runtime import threads
from lowdim.latent.gp._process import Patterns, Predictor, Process

Array = np.ndarray

BREADTH = 5.0  # standard deviation of the prior of latent coordinates, in length-scales: room for a winding curve
FLOOR, CEILING = 1e-6, 1e2  # of the noise variance, in units of the table's
LEAST, MOST = 1e-3, 1e3  # of the function's variance


def likelihood(table: Patterns, X: Array, process: Process) -> tuple[float, Array, Array]:
    """ln p(Y | X), and its gradients by X and by (ln variance, ln noise)."""
    K = process.between(X, X)
    G, value = np.zeros_like(K), -0.5 * table.n_cells * np.log(2 * np.pi)
    for p, mask in enumerate(table.masks):
        rows, columns = np.flatnonzero(mask), table.columns(p)
        L, inverse = _factor(K[np.ix_(rows, rows)], process.noise)
        Y = table.Y[np.ix_(rows, columns)]
        A = inverse @ Y
        value -= len(columns) * np.log(np.diag(L)).sum() + 0.5 * float((Y * A).sum())
        G[np.ix_(rows, rows)] += 0.5 * (A @ A.T - len(columns) * inverse)
    P = G if process.kernel == "linear" else G * K
    sizes = np.array([float((G * K).sum()), process.noise * float(np.trace(G))])
    return value, process.pulled(X, P), sizes


def _factor(K: Array, noise: float) -> tuple[Array, Array]:
    """Cholesky factor and inverse of K + noise I."""
    A = K.copy()
    A[np.diag_indices(len(A))] += noise
    L = threads.lapack(sla.cholesky, A, lower=True, check_finite=False)
    inverse = threads.lapack(sla.lapack.dpotri, L, lower=1)[0]
    return L, np.tril(inverse) + np.tril(inverse, -1).T


def predictor(table: Patterns, X: Array, process: Process) -> Predictor:
    """Predictions at any latent point from the fitted rows."""
    K, n = process.between(X, X), len(X)
    weights, spreads = np.zeros(table.Y.shape), np.zeros((len(table.masks), n, n))
    for p, mask in enumerate(table.masks):
        rows, columns = np.flatnonzero(mask), table.columns(p)
        inverse = _factor(K[np.ix_(rows, rows)], process.noise)[1]
        weights[np.ix_(rows, columns)] = inverse @ table.Y[np.ix_(rows, columns)]
        spreads[p][np.ix_(rows, rows)] = inverse
    return Predictor(process, X, weights, spreads, table.home)


class Objective:
    """Minus the log posterior as a function of one vector: latent coordinates (or coefficients), ln variance, ln noise.

    With a `basis` B (n x k) the coordinates are B C, and C is optimised: back-constraints.
    """

    def __init__(self, table: Patterns, kernel: str, q: int, basis: Array | None = None) -> None:
        self.table, self.kernel, self.q, self.basis = table, kernel, q, basis
        self.size = (len(table.Y) if basis is None else basis.shape[1]) * q

    def unpack(self, theta: Array) -> tuple[Array, Process]:
        """Latent coordinates and covariance."""
        C = theta[: self.size].reshape(-1, self.q)
        variance, noise = np.exp(theta[self.size :])
        X = C if self.basis is None else self.basis @ C
        return X, Process(self.kernel, float(variance), np.ones(self.q), float(noise))

    def latent(self, theta: Array) -> Array:
        """The latent coordinates alone."""
        return self.unpack(theta)[0].copy()

    def __call__(self, theta: Array) -> tuple[float, Array]:
        """Value and gradient, per cell."""
        X, process = self.unpack(theta)
        value, slopes, sizes = likelihood(self.table, X, process)
        if self.kernel == "rbf":
            value -= 0.5 * float(np.square(X).sum()) / BREADTH**2
            slopes = slopes - X / BREADTH**2
        else:
            sizes[0] = 0.0  # the scale of the coordinates is the variance
        slopes = slopes if self.basis is None else self.basis.T @ slopes
        scale = -1.0 / self.table.n_cells
        return scale * value, scale * np.concatenate([slopes.ravel(), sizes])

    def initial(self, X: Array, noise: float) -> Array:
        """The vector for initial latent coordinates X."""
        C = X if self.basis is None else np.linalg.lstsq(self.basis, X, rcond=1e-6)[0]
        return np.concatenate([C.ravel(), [0.0, np.log(noise)]])

    def pack(self, X: Array, process: Process) -> Array:
        """The vector for coordinates (or coefficients) and a covariance."""
        return np.concatenate([X.ravel(), np.log([process.variance, process.noise])])

    def bounds(self) -> list[tuple[float | None, float | None]]:
        """Ranges of the vector's entries."""
        free: list[tuple[float | None, float | None]] = [(None, None)] * self.size
        return [*free, (np.log(LEAST), np.log(MOST)), (np.log(FLOOR), np.log(CEILING))]


def other_coordinates(objective: Objective, theta: Array) -> tuple[Objective, Array]:
    """The same likelihood and point in terms of C, where X = L C and L L' = K + noise I; or of X again.

    Where many rows move together the curvature of the likelihood is 1 / variance, where they move independently it is
    1 / noise, a thousand to a million times larger; in terms of C both are alike. Where rows move independently, X is
    the better choice.
    """
    X, process = objective.unpack(theta)
    if objective.basis is not None or process.kernel == "linear":
        free = Objective(objective.table, objective.kernel, objective.q)
        return free, free.pack(X, process)
    L, _ = _factor(process.between(X, X), process.noise)
    whitened = Objective(objective.table, objective.kernel, objective.q, L)
    return whitened, whitened.pack(sla.solve_triangular(L, X, lower=True), process)

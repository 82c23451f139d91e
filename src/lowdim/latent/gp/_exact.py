"""The likelihood of a Gaussian-process latent variable model with every row a point of its own.

Each column y of the table is a draw N(0, K) with K = k(X, X) + noise I over the rows it has, X being the latent places:

    ln p(Y | X) = -½ sum over columns of (n ln 2 pi + ln |K| + y' K^-1 y).

Its gradient by K is G = ½ (K^-1 Y Y' K^-1 - d K^-1), and everything else follows by the chain rule.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg as sla

from lowdim.latent.gp._process import Predictor, Process, Table

Array = np.ndarray

BREADTH = 5.0  # standard deviation of the prior of latent places, in length-scales: a curve may wind within it
FLOOR, CEILING = 1e-6, 1e2  # of the noise variance, in units of the table's
LEAST, MOST = 1e-3, 1e3  # of the function's variance


def likelihood(table: Table, X: Array, process: Process) -> tuple[float, Array, Array]:
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
    L = sla.cholesky(A, lower=True, check_finite=False)
    inverse = sla.lapack.dpotri(L, lower=1)[0]
    return L, np.tril(inverse) + np.tril(inverse, -1).T


def predictor(table: Table, X: Array, process: Process) -> Predictor:
    """What the fitted rows say about any latent point."""
    K, n = process.between(X, X), len(X)
    weights, spreads = np.zeros(table.Y.shape), np.zeros((len(table.masks), n, n))
    for p, mask in enumerate(table.masks):
        rows, columns = np.flatnonzero(mask), table.columns(p)
        inverse = _factor(K[np.ix_(rows, rows)], process.noise)[1]
        weights[np.ix_(rows, columns)] = inverse @ table.Y[np.ix_(rows, columns)]
        spreads[p][np.ix_(rows, rows)] = inverse
    return Predictor(process, X, weights, spreads, table.home)


class Objective:
    """Minus the log posterior as a function of one vector: latent places (or coefficients), ln variance, ln noise.

    With a `basis` B (n x k) the places are B C and C is sought: back-constraints.
    """

    def __init__(self, table: Table, kernel: str, q: int, basis: Array | None = None) -> None:
        self.table, self.kernel, self.q, self.basis = table, kernel, q, basis
        self.size = (len(table.Y) if basis is None else basis.shape[1]) * q

    def unpack(self, theta: Array) -> tuple[Array, Process]:
        """Latent places and covariance."""
        C = theta[: self.size].reshape(-1, self.q)
        variance, noise = np.exp(theta[self.size :])
        X = C if self.basis is None else self.basis @ C
        return X, Process(self.kernel, float(variance), np.ones(self.q), float(noise))

    def __call__(self, theta: Array) -> tuple[float, Array]:
        """Value and gradient, per cell."""
        X, process = self.unpack(theta)
        value, places, sizes = likelihood(self.table, X, process)
        if self.kernel == "rbf":
            value -= 0.5 * float(np.square(X).sum()) / BREADTH**2
            places = places - X / BREADTH**2
        else:
            sizes[0] = 0.0  # the places have the scale
        places = places if self.basis is None else self.basis.T @ places
        scale = -1.0 / self.table.n_cells
        return scale * value, scale * np.concatenate([places.ravel(), sizes])

    def start(self, X: Array, noise: float) -> Array:
        """The vector for latent places X."""
        C = X if self.basis is None else np.linalg.lstsq(self.basis, X, rcond=1e-6)[0]
        return np.concatenate([C.ravel(), [0.0, np.log(noise)]])

    def again(self, X: Array, process: Process) -> Array:
        """The vector for places and a covariance found before."""
        return np.concatenate([X.ravel(), np.log([process.variance, process.noise])])

    def bounds(self) -> list[tuple[float | None, float | None]]:
        """Ranges of the vector's entries."""
        free: list[tuple[float | None, float | None]] = [(None, None)] * self.size
        return [*free, (np.log(LEAST), np.log(MOST)), (np.log(FLOOR), np.log(CEILING))]


def other_coordinates(objective: Objective, theta: Array) -> tuple[Objective, Array]:
    """The same likelihood and point over C, where places are X = L C and L L' = K + noise I; or over X again.

    Along smooth moves of many rows together the likelihood bends by 1 / variance, along rough ones by 1 / noise, a
    thousand times more or a million; over C both bend alike. Where rows move for themselves, X is the better choice.
    """
    X, process = objective.unpack(theta)
    if objective.basis is not None or process.kernel == "linear":
        free = Objective(objective.table, objective.kernel, objective.q)
        return free, free.again(X, process)
    L, _ = _factor(process.between(X, X), process.noise)
    whitened = Objective(objective.table, objective.kernel, objective.q, L)
    return whitened, whitened.again(sla.solve_triangular(L, X, lower=True), process)

"""The likelihood of a Gaussian-process latent variable model through inducing points (deterministic training
conditional, DTC; Lawrence 2007).

Each column is a draw from N(0, C Q^-1 C' + noise I), C = k(X, points), Q = k(points, points) = LL'. With W = CL'^-1,
b = 1/noise and A = I + b W'W, which is well conditioned,

    ln p(Y | X) = sum over columns of ½ [n ln(b / 2 pi) - ln |A| - b y'y + b² y'W A^-1 W'y].

Time grows with n m². With the points at the coordinates C = Q = K, and the likelihood is the exact one. Columns with
missing cells sum over their observed rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg as sla

from lowdim.latent.gp._exact import BREADTH, CEILING, FLOOR, LEAST, MOST
from lowdim.latent.gp._process import Patterns, Predictor, Process
from lowdim.latent.gp._variational import inverse

Array = np.ndarray

JITTER = 1e-8  # of the variance, on the diagonal of Q


def likelihood(
    table: Patterns, X: Array, points: Array, process: Process
) -> tuple[float, tuple[Array, Array, Array], Predictor]:
    """ln p(Y | X), its gradients by X, by the points and by (ln variance, ln noise), and the predictions."""
    C, K = process.between(X, points), process.between(points, points)
    Q = K + JITTER * process.variance * np.eye(len(points))
    back = sla.solve_triangular(sla.cholesky(Q, lower=True), np.eye(len(Q)), lower=True)  # L^-1
    W, b, unit = C @ back.T, 1.0 / process.noise, np.eye(len(Q))
    value, by_W, by_b = 0.0, np.zeros_like(W), 0.0
    weights = np.zeros((len(points), table.Y.shape[1]))
    spreads = np.zeros((len(table.masks), *Q.shape))
    for p, mask in enumerate(table.masks):
        rows, columns = np.flatnonzero(mask), table.columns(p)
        k, Y, own = len(columns), table.Y[np.ix_(rows, columns)], W[rows]
        products, B = own.T @ own, own.T @ Y
        A_inverse, A_log = inverse(b * products + unit)
        F = A_inverse @ B
        squares, fitted = float(np.square(Y).sum()), float((B * F).sum())
        value += 0.5 * (k * (len(rows) * np.log(b / (2 * np.pi)) - A_log) - b * squares + b * b * fitted)
        by_A = -0.5 * (k * A_inverse + b * b * F @ F.T)
        by_W[rows] += 2.0 * b * (own @ by_A) + b * b * (Y @ F.T)
        by_b += 0.5 * (k * len(rows) / b - squares) + b * fitted + float((by_A * products).sum())
        weights[:, columns], spreads[p] = b * back.T @ F, back.T @ (unit - A_inverse) @ back
    by_C, by_Q = by_W @ back, -0.5 * back.T @ (W.T @ by_W) @ back  # the covariance is W W' = C Q^-1 C'
    P = by_C * C
    by_X = process.weights * (P @ points - X * P.sum(axis=1)[:, None])
    by_points = process.weights * (P.T @ X - points * P.sum(axis=0)[:, None]) + process.pulled(points, by_Q * K)
    sizes = np.array([float(P.sum() + (by_Q * Q).sum()), -b * by_b])
    return value, (by_X, by_points, sizes), Predictor(process, points, weights, spreads, table.home)


class Objective:
    """Minus the log posterior as a function of one vector: coordinates, points, ln variance, ln noise.

    `tied`: the points are the coordinates, and the model is the exact one.
    """

    def __init__(self, table: Patterns, q: int, m: int) -> None:
        self.table, self.q, self.tied = table, q, m >= len(table.Y)
        n = len(table.Y)
        self.cuts = np.cumsum([n * q, 0 if self.tied else m * q])

    def unpack(self, theta: Array) -> tuple[Array, Array, Process]:
        """Latent coordinates, points and covariance."""
        X, points, (variance, noise) = np.split(theta, self.cuts)
        X = X.reshape(-1, self.q)
        process = Process("rbf", float(np.exp(variance)), np.ones(self.q), float(np.exp(noise)))
        return X, X if self.tied else points.reshape(-1, self.q), process

    def latent(self, theta: Array) -> Array:
        """The latent coordinates alone."""
        return self.unpack(theta)[0].copy()

    def __call__(self, theta: Array) -> tuple[float, Array]:
        """Value and gradient, per cell."""
        X, points, process = self.unpack(theta)
        value, (by_X, by_points, sizes), _ = likelihood(self.table, X, points, process)
        value -= 0.5 * float(np.square(X).sum()) / BREADTH**2
        by_X = by_X - X / BREADTH**2
        parts = [(by_X + by_points).ravel()] if self.tied else [by_X.ravel(), by_points.ravel()]
        scale = -1.0 / self.table.n_cells
        return scale * value, scale * np.concatenate([*parts, sizes])

    def initial(self, X: Array, points: Array, noise: float) -> Array:
        """The vector for initial latent coordinates X."""
        return np.concatenate([X.ravel(), *([] if self.tied else [points.ravel()]), [0.0, np.log(noise)]])

    def bounds(self) -> list[Any]:
        """Ranges of the vector's entries."""
        return [(None, None)] * int(self.cuts[-1]) + [(np.log(LEAST), np.log(MOST)), (np.log(FLOOR), np.log(CEILING))]

"""The Bayesian Gaussian-process latent variable model with inducing points (Titsias and Lawrence 2010).

Latent coordinates have distributions N(mu_i, diag S_i), the function is represented by its values at m inducing points,
and

    F = sum over columns of ½ [n ln(b / 2 pi) + ln |Q| - ln |A| - b y'y + b² y'P1 A^-1 P1'y - b p0 + b tr(Q^-1 P2)] - KL

is a lower bound of ln p(Y), where b = 1/noise, Q = k(points, points), A = b P2 + Q, and p0 = sum k, P1 = E k(X, points)
and P2 = sum E k(points, x) k(x, points) are expectations over the coordinates, in closed form for the Gaussian kernel.
Time grows with n m². Columns with missing cells sum over their observed rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg as sla

from lowdim._core.runtime import threads
from lowdim.latent.gp._process import Patterns, Predictor, Process

Array = np.ndarray

JITTER = 1e-5  # of the variance, on the diagonal of Q: with less, rounding errors disturb the optimiser
BLOCK = 2**21  # numbers of a block of rows


@dataclass(frozen=True, eq=False)
class Posterior:
    """Means and variances of the latent coordinates, the inducing points and the covariance."""

    mu: Array
    S: Array
    points: Array
    process: Process

    @property
    def pairs(self) -> tuple[Array, Array]:
        """Indices of pairs of points, each once."""
        return np.triu_indices(len(self.points))


def expected(at: Posterior, rows: slice) -> tuple[Array, Array]:
    """P1 (rows x m), and the terms of P2 for each row (rows x pairs)."""
    mu, S, w = at.mu[rows], at.S[rows], at.process.weights
    i, j = at.pairs
    first = _exponent(mu, w / (1.0 + w * S), at.points, 0.5) - 0.5 * np.log1p(w * S).sum(axis=1)[:, None]
    middle, gap = (at.points[i] + at.points[j]) / 2, at.points[i] - at.points[j]
    second = _exponent(mu, w / (1.0 + 2.0 * w * S), middle, 1.0) - 0.5 * np.log1p(2.0 * w * S).sum(axis=1)[:, None]
    second -= 0.25 * (w * gap * gap).sum(axis=1)
    v = at.process.variance
    return v * np.exp(first), v * v * np.exp(second)


def _exponent(mu: Array, w: Array, points: Array, factor: float) -> Array:
    """-factor sum_q w (mu - point)², by products."""
    return -factor * ((w * mu * mu).sum(axis=1)[:, None] - 2.0 * (w * mu) @ points.T + w @ (points * points).T)


def bound(table: Patterns, at: Posterior, n_jobs: int | None) -> tuple[float, dict[str, Any], Predictor]:
    """F, its gradients (mu, S, points, ln weights, ln variance, ln noise), and the predictions."""
    n, m = len(at.mu), len(at.points)
    size = max(1, BLOCK // max(1, m * (m + 1) // 2))

    def sums(rows: slice) -> tuple[Array, Array]:
        P1, P2 = expected(at, rows)
        return P1, table.masks[:, rows] @ P2

    parts = threads.map_rows(sums, n, size, n_jobs)
    P1 = np.concatenate([part[0] for part in parts])
    found = _collapsed(table, at, P1, np.sum([part[1] for part in parts], axis=0))

    def slopes(rows: slice) -> dict[str, Any]:
        return _block_slopes(at, rows, found["by_P1"][rows], table.masks[:, rows].T @ found["by_P2"])

    blocks = threads.map_rows(slopes, n, size, n_jobs)
    value, gradient = _joined(at, found, blocks)
    return value, gradient, found["predictor"]


def _collapsed(table: Patterns, at: Posterior, P1: Array, P2: Array) -> dict[str, Any]:
    """The bound without KL, and its gradients by P1, P2 (for each pattern, over pairs), Q, ln variance and ln noise."""
    m, (i, j) = len(at.points), at.pairs
    b, v = 1.0 / at.process.noise, at.process.variance
    Q = at.process.between(at.points, at.points) + JITTER * v * np.eye(m)
    Q_inverse, Q_log = inverse(Q)
    value, by_b, by_v = 0.0, 0.0, 0.0
    by_P1, by_Q, by_P2 = np.zeros_like(P1), np.zeros_like(Q), np.zeros_like(P2)
    weights, spreads = np.zeros((m, table.Y.shape[1])), np.zeros((len(table.masks), m, m))
    for p, mask in enumerate(table.masks):
        columns, rows = table.columns(p), float(mask.sum())
        k, Y = len(columns), table.Y[:, columns]
        own = np.zeros_like(Q)
        own[i, j] = own[j, i] = P2[p]
        A_inverse, A_log = inverse(b * own + Q)
        B = P1.T @ Y  # missing cells are 0 in Y
        C = A_inverse @ B
        squares, fitted, trace = float(np.square(Y).sum()), float((B * C).sum()), float((Q_inverse * own).sum())
        value += 0.5 * (k * (rows * np.log(b / (2 * np.pi)) + Q_log - A_log) - b * squares + b * b * fitted)
        value += 0.5 * k * b * (trace - rows * v)
        by_A = -0.5 * (k * A_inverse + b * b * C @ C.T)
        by_own = b * (by_A + 0.5 * k * Q_inverse)
        by_P2[p] = np.where(i == j, 1.0, 2.0) * by_own[i, j]
        by_P1 += b * b * (Y @ C.T)
        by_Q += by_A + 0.5 * k * Q_inverse - 0.5 * b * k * (Q_inverse @ own @ Q_inverse)
        by_b += 0.5 * (k * rows / b - squares + k * (trace - rows * v)) + b * fitted + float((by_A * own).sum())
        by_v -= 0.5 * k * b * rows * v
        weights[:, columns], spreads[p] = b * C, Q_inverse - A_inverse
    predictor = Predictor(at.process, at.points, weights, spreads, table.home)
    gradients = {"by_P1": by_P1, "by_P2": by_P2, "by_Q": by_Q, "Q": Q, "variance": by_v, "noise": -b * by_b}
    return {"value": value, "predictor": predictor, **gradients}


def inverse(A: Array) -> tuple[Array, float]:
    """Inverse and logarithm of the determinant."""
    L = threads.lapack(sla.cholesky, A, lower=True, check_finite=False)
    inverse = threads.lapack(sla.lapack.dpotri, L, lower=1)[0]
    return np.tril(inverse) + np.tril(inverse, -1).T, 2.0 * float(np.log(np.diag(L)).sum())


def _block_slopes(at: Posterior, rows: slice, by_P1: Array, by_P2: Array) -> dict[str, Any]:
    """Gradients of what passes through P1 and P2, for a block of rows; sums over points are products."""
    mu, S, w = at.mu[rows], at.S[rows], at.process.weights
    i, j = at.pairs
    P1, P2 = expected(at, rows)
    P1, P2 = P1 * by_P1, P2 * by_P2
    middle, gap = (at.points[i] + at.points[j]) / 2, at.points[i] - at.points[j]
    one, two = 1.0 + w * S, 1.0 + 2.0 * w * S
    a0, a1, a2 = _moments(P1, at.points, mu)
    b0, b1, b2 = _moments(P2, middle, mu)
    by_mu = -w / one * a1 - 2.0 * w / two * b1
    by_S = 0.5 * w**2 / one**2 * a2 - 0.5 * w / one * a0 + 2.0 * w**2 / two**2 * b2 - w / two * b0
    by_w = (-0.5 * a2 / one**2 - 0.5 * S / one * a0 - b2 / two**2 - S / two * b0).sum(axis=0)
    by_w = by_w - 0.25 * (P2.sum(axis=0) @ (gap * gap))
    points = P1.T @ (w / one * mu) - at.points * (P1.T @ (w / one))
    toward = P2.T @ (w / two * mu) - middle * (P2.T @ (w / two))
    apart = 0.5 * w * gap * P2.sum(axis=0)[:, None]
    np.add.at(points, i, toward - apart)
    np.add.at(points, j, toward + apart)
    return {"mu": by_mu, "S": by_S, "weights": by_w, "points": points, "variance": P1.sum() + 2.0 * P2.sum()}


def _moments(P: Array, points: Array, mu: Array) -> tuple[Array, Array, Array]:
    """Sums over points of P, P (mu - point) and P (mu - point)²."""
    total, first, second = P.sum(axis=1)[:, None], P @ points, P @ (points * points)
    return total, mu * total - first, mu * mu * total - 2.0 * mu * first + second


def _joined(at: Posterior, found: dict[str, Any], blocks: list[dict[str, Any]]) -> tuple[float, dict[str, Any]]:
    w, points, by_Q = at.process.weights, at.points, found["by_Q"]
    P = by_Q * at.process.between(points, points)
    by_points = sum(block["points"] for block in blocks) + at.process.pulled(points, P)
    row = P.sum(axis=1)
    by_w = sum(block["weights"] for block in blocks) - ((row @ points**2) - (points * (P @ points)).sum(axis=0))
    mu = np.concatenate([block["mu"] for block in blocks]) - at.mu
    S = np.concatenate([block["S"] for block in blocks]) - 0.5 * (1.0 - 1.0 / at.S)
    divergence = 0.5 * float((np.square(at.mu) + at.S - np.log(at.S) - 1.0).sum())
    variance = found["variance"] + sum(block["variance"] for block in blocks) + float((by_Q * found["Q"]).sum())
    gradient = {
        "mu": mu,
        "S": S,
        "points": by_points,
        "weights": w * by_w,
        "variance": variance,
        "noise": found["noise"],
    }
    return found["value"] - divergence, gradient


class Objective:
    """Minus the bound as a function of one vector: mu, ln S, points, ln weights, ln variance, ln noise."""

    def __init__(self, table: Patterns, q: int, m: int, n_jobs: int | None) -> None:
        self.table, self.q, self.n_jobs = table, q, n_jobs
        n = len(table.Y)
        self.cuts = np.cumsum([n * q, n * q, m * q, q, 1])

    def unpack(self, theta: Array) -> Posterior:
        """The distributions, points and covariance that the vector stands for."""
        mu, S, points, weights, variance, noise = np.split(theta, self.cuts)
        process = Process("rbf", float(np.exp(variance[0])), np.exp(weights), float(np.exp(noise[0])))
        mu, S, points = (a.reshape(-1, self.q) for a in (mu, np.exp(S), points))
        return Posterior(mu, S, points, process)

    def latent(self, theta: Array) -> Array:
        """The means of the latent coordinates alone."""
        return self.unpack(theta).mu.copy()

    def __call__(self, theta: Array) -> tuple[float, Array]:
        """Value and gradient, per cell."""
        at = self.unpack(theta)
        value, g, _ = bound(self.table, at, self.n_jobs)
        parts = (
            g["mu"].ravel(),
            (g["S"] * at.S).ravel(),
            g["points"].ravel(),
            g["weights"],
            [g["variance"], g["noise"]],
        )
        scale = -1.0 / self.table.n_cells
        return scale * value, scale * np.concatenate(parts)

    def initial(self, X: Array, points: Array, noise: float) -> Array:
        """The vector for initial latent coordinates X, of small variance."""
        weights = np.zeros(self.q)
        S = np.full(X.size, np.log(0.1))
        return np.concatenate([X.ravel(), S, points.ravel(), weights, [0.0, np.log(noise)]])

    def pack(self, at: Posterior, points: Array) -> Array:
        """The vector for the same distributions and covariance with other points."""
        logs = np.log(at.process.weights), [np.log(at.process.variance), np.log(at.process.noise)]
        return np.concatenate([at.mu.ravel(), np.log(at.S).ravel(), points.ravel(), *logs])

    def bounds(self) -> list[tuple[float | None, float | None]]:
        """Ranges of the vector's entries."""
        free, n = (None, None), self.cuts[0]
        ends = [(-7.0, 7.0), (np.log(1e-6), np.log(1e2))]
        return [free] * n + [(-14.0, 3.0)] * n + [free] * (self.cuts[2] - 2 * n) + [(-14.0, 9.0)] * self.q + ends

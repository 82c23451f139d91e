"""What Gaussian-process models share: a table and its patterns of missing cells, covariances and predictions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Patterns:
    """Standardised rows; columns with missing cells in the same rows (a pattern) share their matrices.

    Attributes
    ----------
    Y : ndarray of shape (n, d)
        Missing cells are 0.
    masks : ndarray of shape (p, n)
        1 where the cell of a row is observed, for each pattern.
    home : ndarray of shape (d,)
        The pattern of each column.
    """

    Y: Array
    masks: Array
    home: Array

    @classmethod
    def of(cls, Y: Array) -> Patterns:
        """From rows with NaN for missing cells."""
        observed = ~np.isnan(Y)
        masks, home = np.unique(observed.T, axis=0, return_inverse=True)
        return cls(np.where(observed, Y, 0.0), masks.astype(np.float64), home.ravel())

    def columns(self, p: int) -> Array:
        """Columns of a pattern."""
        return np.flatnonzero(self.home == p)

    @property
    def n_cells(self) -> int:
        """Number of observed cells."""
        return int(self.masks.sum(axis=1)[self.home].sum())


@dataclass(frozen=True, eq=False)
class Process:
    """The covariance of a column at latent points: variance exp(-½ sum_q weights_q (x_q - x'_q)²), or x'x' ("linear").

    Attributes
    ----------
    kernel : {"rbf", "linear"}
        Form of the covariance.
    variance : float
        Of the function.
    weights : ndarray of shape (q,)
        Inverse squared length-scales (automatic relevance determination).
    noise : float
        Variance of the noise.
    """

    kernel: str
    variance: float
    weights: Array
    noise: float

    def between(self, A: Array, B: Array) -> Array:
        """Covariances of rows of A with rows of B, without noise."""
        if self.kernel == "linear":
            return self.variance * (A @ B.T)
        A, B = A * np.sqrt(self.weights), B * np.sqrt(self.weights)
        D = np.square(A).sum(axis=1)[:, None] + np.square(B).sum(axis=1) - 2.0 * (A @ B.T)
        return self.variance * np.exp(-0.5 * np.maximum(D, 0.0))

    def own(self, A: Array) -> Array:
        """Variance at each row of A, without noise."""
        return self.variance * (np.square(A).sum(axis=1) if self.kernel == "linear" else np.ones(len(A)))

    def slopes(self, A: Array, B: Array, K: Array) -> Array:
        """Derivatives of `between` by the rows of A: (q, rows of A, rows of B)."""
        if self.kernel == "linear":
            return self.variance * np.broadcast_to(B.T[:, None], (B.shape[1], len(A), len(B)))
        return np.stack([w * (b - a[:, None]) * K for w, a, b in zip(self.weights, A.T, B.T, strict=True)])

    def pulled(self, X: Array, P: Array) -> Array:
        """Gradient by X of a function of K(X, X) whose gradient by K, times K for "rbf", is the symmetric P."""
        if self.kernel == "linear":
            return 2.0 * self.variance * (P @ X)
        return -2.0 * self.weights * (X * P.sum(axis=1)[:, None] - P @ X)


@dataclass(frozen=True, eq=False)
class Predictor:
    """Mean and variance of rows at latent points: k W, and k(z, z) - k S k' + noise, with an S for each pattern."""

    process: Process
    points: Array
    weights: Array  # (points, d)
    spreads: Array  # (p, points, points)
    home: Array

    def mean(self, Z: Array) -> Array:
        """Expected rows."""
        return self.process.between(Z, self.points) @ self.weights

    def variance(self, Z: Array) -> Array:
        """Variance of each cell, noise included."""
        K = self.process.between(Z, self.points)
        known = np.stack([((K @ S) * K).sum(axis=1) for S in self.spreads], axis=1)
        out = np.maximum(self.process.own(Z)[:, None] - known, 0.0) + self.process.noise
        return out[:, self.home]

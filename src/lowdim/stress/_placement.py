"""Out-of-sample stress: the coordinates of a new row from its dissimilarities to fixed points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lowdim import _native
from lowdim._core.distances import own_points
from lowdim._core.runtime import threads
from lowdim.stress._majorize import apart

Array = np.ndarray

MAX_ITER = 100
ROWS = 32  # whose nearest points are looked for at a time


@dataclass(frozen=True, eq=False)
class StressPlacement:
    """z at the local minimum of sum_j w_j (f(delta_j) - |z - z_j|)^2 that is nearest to the row's neighbours.

    Attributes
    ----------
    points : ndarray of shape (n, r)
        The fixed points, in the unit of the disparities.
    unit : float
        Dissimilarities are divided by it.
    scale : float
        Coordinates are multiplied by it.
    curve : callable record or None
        f; None: the identity.
    power : float
        w = delta**-power; a row at dissimilarity 0 from a point then has its coordinates.
    """

    points: Array
    unit: float
    scale: float
    curve: Any
    power: float

    def __call__(self, D: Array, n_jobs: int | None = None) -> Array:
        """Coordinates of rows with dissimilarities D to the points; NaN in D where one is unknown.

        D is let go of as soon as it is in the unit of the disparities: such a block may be large.
        """
        D = np.divide(D, self.unit, dtype=np.float64)
        unknown = np.isnan(D)
        plain = self.power == 0 and not unknown.any()
        D[unknown] = np.inf
        Z = self._initial(D)
        weights = np.empty((0, 0)) if plain else self._weights(D, unknown)
        D[unknown] = 0.0
        D = D if self.curve is None else self._disparities(D, unknown)
        size = float(np.abs(self.points).max(initial=0.0))
        _native.place_rows(np.ascontiguousarray(D), weights, self.points, Z, MAX_ITER, size, threads.n_threads(n_jobs))
        return Z * self.scale

    def _disparities(self, D: Array, unknown: Array) -> Array:
        """f(D), but 0 where a new row equals a fitted one: f may be positive for dissimilarity 0."""
        own = own_points(np.where(unknown, np.inf, D))
        D = self.curve(D)
        D[own] = 0.0
        return D

    def _weights(self, D: Array, unknown: Array) -> Array:
        """w, 0 for unknown dissimilarities."""
        if self.power == 0:
            return np.where(unknown, 0.0, 1.0)
        D = np.where(unknown, 1.0, D)
        same = ~apart(D, self.power)
        with np.errstate(divide="ignore", over="ignore"):
            W = np.where(same, 0.0, D**-self.power)
        W = np.where(same.any(axis=1, keepdims=True), same, W)
        W[unknown] = 0.0
        return np.ascontiguousarray(W)

    def _initial(self, D: Array) -> Array:
        """Where each row starts; few at a time, as the order of their dissimilarities takes as much memory as these."""
        return np.concatenate([self._near_mean(D[rows]) for rows in threads.blocks(len(D), ROWS)])

    def _near_mean(self, D: Array) -> Array:
        """Weighted means of the nearest points, exact at a point itself and continuous between (Franke and Little)."""
        n, r = self.points.shape
        k = min(r + 3, n - 1)
        near = np.argpartition(D, k, axis=1)[:, : k + 1] if k < n - 1 else np.broadcast_to(np.arange(n), D.shape)
        d = np.take_along_axis(D, near, axis=1)
        reach = d.max(axis=1, keepdims=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            weights = np.where(np.isinf(reach), 1.0 / d, (reach - d) / (reach * d)) ** 2
        same = d == 0
        weights = np.where(same.any(axis=1, keepdims=True), same, weights)
        weights = np.where(np.isfinite(weights), weights, 0.0)
        weights[weights.sum(axis=1) == 0] = 1.0  # all neighbours equally far
        weights /= weights.sum(axis=1, keepdims=True)
        return np.einsum("ij,ijk->ik", weights, self.points[near])

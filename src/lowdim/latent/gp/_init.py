"""Units of the fit, and the initialisation of the latent coordinates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg as sla

from lowdim._core.distances import pairwise
from lowdim._core.incomplete.em import check_varies, fit_gaussian
from lowdim._core.runtime.notices import warn
from lowdim._core.spectrum.singular import svd

Array = np.ndarray
RIDGE = 1e-2  # on the diagonal of a kernel of rows, which is 1


@dataclass(frozen=True, eq=False)
class Units:
    """Units in which the cells have mean 0 and, over all columns, variance 1."""

    mean: Array
    scale: float

    @classmethod
    def of(cls, X: Array) -> Units:
        mean = np.asarray(np.nanmean(X, axis=0, dtype=np.float64))
        variance = float(np.nanmean(np.square(X - mean)))
        check_varies(mean, variance, X.dtype, "GPLVM")
        return cls(mean, float(np.sqrt(variance)))

    def __call__(self, X: Array) -> Array:
        return (X - self.mean) / self.scale

    def undo(self, Y: Array) -> Array:
        """Back to the units of X."""
        return self.mean + self.scale * Y


def initial_latent(Y: Array, q: int, init: Any, rng: np.random.Generator, n_jobs: int | None) -> tuple[Array, float]:
    """Principal components, the first of variance 1 (or the coordinates given), and an initial noise variance."""
    Y = completed(Y, q, rng, n_jobs)
    if not isinstance(init, str):
        return _given(init, len(Y), q), 0.1
    k = min(q, *Y.shape)
    found = svd(Y, k, center=Y.mean(axis=0), rng=rng, owner="GPLVM")
    rank = int((found.values > 1e-9 * found.values[0]).sum())
    if rank < q:
        warn(f"GPLVM: n_components={q} is more than the rank of the rows, {rank}; the other coordinates are 0.")
    X = np.zeros((len(Y), q))
    X[:, :rank] = (found.U * found.values)[:, :rank] * (np.sqrt(len(Y)) / found.values[0])
    rest = float(np.square(Y - Y.mean(axis=0)).sum() - np.square(found.values).sum()) / Y.size
    return X, float(np.clip(rest, 0.01, 0.5))


def completed(Y: Array, q: int, rng: np.random.Generator, n_jobs: int | None) -> Array:
    """Rows with missing cells at their expectations under a Gaussian model: for the initialisation only."""
    if not np.isnan(Y).any():
        return Y
    r = max(1, min(q, Y.shape[1] - 1))
    settings: Any = {"tol": 1e-6, "max_iter": 200, "rng": rng, "n_jobs": n_jobs, "warn": False}
    return fit_gaussian(Y, r, owner="GPLVM", **settings)[0].conditional(Y)[0]


def _given(init: Any, n: int, q: int) -> Array:
    X = np.array(init, dtype=np.float64)
    if X.shape != (n, q) or not np.isfinite(X).all():
        raise ValueError(f"GPLVM: init must be {n} rows of {q} finite numbers; got shape {X.shape}.")
    return X


def inducing_points(X: Array, m: int) -> Array:
    """Initial inducing points: latent coordinates of m rows, evenly spaced in the order of the first coordinate."""
    if m >= len(X):
        return X.copy()
    order = np.argsort(X[:, 0], kind="stable")
    return X[order[np.round(np.linspace(0, len(X) - 1, m)).astype(int)]]


def with_more_points(at: Any, m: int) -> Array:
    """The inducing points of a fit, and means of the rows that are farthest from them, until there are m.

    Distances are those of the kernel; ties go to the first row.
    """
    points, scale = at.points, np.sqrt(at.process.weights)
    left = pairwise(at.mu * scale, points * scale).min(axis=1)
    while len(points) < m:
        far = int(left.argmax())
        points = np.vstack([points, at.mu[far]])
        left = np.minimum(left, pairwise(at.mu * scale, at.mu[[far]] * scale)[:, 0])
    return points


def row_kernel(rows: Array, new: Array | None = None, gamma: float | None = None) -> tuple[float, Array]:
    """Gaussian kernel of rows with the fitted ones, and its gamma; by default from half their median distance."""
    D = pairwise(rows if new is None else new, rows)
    if gamma is None:
        apart = float(np.median(D[np.triu_indices(len(D), 1)])) if len(D) > 1 else 1.0
        gamma = 2.0 / max(apart, 1e-150) ** 2
    return gamma, np.exp(-gamma * np.square(D))


def whitening(basis: Array) -> Array:
    """The matrix that whitens a kernel of rows: smooth and rough functions then need steps of about the same size."""
    factor = sla.cholesky(basis + RIDGE * np.eye(len(basis)), lower=True)
    return sla.solve_triangular(factor, np.eye(len(basis)), lower=True).T

"""Where the search for latent places starts."""

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
class Natural:
    """Units in which the cells have mean 0 and, over all columns, variance 1."""

    mean: Array
    scale: float

    @classmethod
    def of(cls, X: Array) -> Natural:
        mean = np.asarray(np.nanmean(X, axis=0, dtype=np.float64))
        variance = float(np.nanmean(np.square(X - mean)))
        check_varies(mean, variance, X.dtype, "GPLVM")
        return cls(mean, float(np.sqrt(variance)))

    def into(self, X: Array) -> Array:
        return (X - self.mean) / self.scale

    def back(self, Y: Array) -> Array:
        return self.mean + self.scale * Y


def first_places(Y: Array, q: int, init: Any, rng: np.random.Generator, n_jobs: int | None) -> tuple[Array, float]:
    """Principal scores, the first of variance 1 (or the places given), and a first guess at the noise."""
    Y = without_holes(Y, q, rng, n_jobs)
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


def without_holes(Y: Array, q: int, rng: np.random.Generator, n_jobs: int | None) -> Array:
    """Rows with missing cells at their expectations under a Gaussian model: for first guesses only."""
    if not np.isnan(Y).any():
        return Y
    r = max(1, min(q, Y.shape[1] - 1))
    settings: Any = {"tol": 1e-6, "max_iter": 200, "rng": rng, "n_jobs": n_jobs, "warn": False}
    return fit_gaussian(Y, r, owner="GPLVM", **settings)[0].conditional(Y)[0]


def _given(init: Any, n: int, q: int) -> Array:
    places = np.array(init, dtype=np.float64)
    if places.shape != (n, q) or not np.isfinite(places).all():
        raise ValueError(f"GPLVM: init must be finite places of shape {(n, q)}; got shape {places.shape}.")
    return places


def inducing_points(X: Array, m: int) -> Array:
    """Places of rows, evenly along the first coordinate; they move later."""
    if m >= len(X):
        return X.copy()
    order = np.argsort(X[:, 0], kind="stable")
    return X[order[np.round(np.linspace(0, len(X) - 1, m)).astype(int)]]


def back_basis(rows: Array, new: Array | None = None, gamma: float | None = None) -> tuple[float, Array]:
    """Gaussian kernel of rows with the fitted ones; gamma from half their median distance."""
    D = pairwise(rows if new is None else new, rows)
    if gamma is None:
        apart = float(np.median(D[np.triu_indices(len(D), 1)])) if len(D) > 1 else 1.0
        gamma = 2.0 / max(apart, 1e-150) ** 2
    return gamma, np.exp(-gamma * np.square(D))


def evened(basis: Array) -> Array:
    """The matrix that a kernel of rows is multiplied with so that smooth and rough functions are as easy to reach."""
    factor = sla.cholesky(basis + RIDGE * np.eye(len(basis)), lower=True)
    return sla.solve_triangular(factor, np.eye(len(basis)), lower=True).T

"""Missing counts of correspondence analysis, by the axes of the completed table (iterative CA).

With row masses r, column masses c and standard coordinates of the columns G = diag(c)^-1/2 V, the axes give a row of
sum t and principal coordinates z the counts t c (1 + G f z), f being the shrinkage of each axis. A missing count is
what they give; counts are not negative.
"""

from __future__ import annotations

import numpy as np

from lowdim._core.iterate import Run, iterate
from lowdim._core.spectrum import svd
from lowdim._core.spectrum.noise_variance import shrinking_variance
from lowdim.linear.mixed._weighted import FillSettings

Array = np.ndarray

STEPS = 10_000  # of the counts of new rows, which converge by the share of what was observed
CLOSE = 1e-13


def complete(X: Array, k: int, settings: FillSettings) -> Run[Array]:
    """The table with its missing counts at what the first k axes of the completed table give."""
    holes = np.isnan(X)
    k = max(1, min(k, min(X.shape) - 2))

    def step(filled: Array) -> tuple[Array, float]:
        total = filled.sum()
        P = filled / total
        r, c = P.sum(axis=1), P.sum(axis=0)
        root = np.sqrt(np.outer(r, c))
        found = svd((P - np.outer(r, c)) / root, owner=settings.owner)
        f = shrinkage(found.values[: min(X.shape) - 1] ** 2, k, X.shape, settings.ridge)
        fitted = total * (np.outer(r, c) + root * ((found.U[:, :k] * found.values[:k] * f) @ found.Vt[:k]))
        loss = float((((filled - fitted) / (total * root))[~holes] ** 2).sum())
        return np.where(holes, np.maximum(fitted, 0.0), X), loss

    return iterate(
        step,
        _independent(X),
        max_iter=settings.max_iter,
        tol=settings.tol,
        owner=settings.owner,
        callback=settings.callback,
    )


def _independent(X: Array) -> Array:
    """Missing counts as if rows and columns were independent: r_i c_j fitted to the observed ones."""
    holes = np.isnan(X)
    filled = np.where(holes, np.nanmean(X), X)
    for _ in range(50):
        filled = np.where(holes, np.outer(filled.sum(axis=1), filled.sum(axis=0)) / filled.sum(), X)
    return filled


def shrinkage(values: Array, k: int, shape: tuple[int, ...], ridge: float) -> Array:
    """The part of each of the first k axes that is not noise; `values` are all eigenvalues."""
    if k >= len(values):
        return np.ones(k)
    sigma2 = shrinking_variance(values[: k + 1], float(values.sum()), shape[0], shape[1] - 1, ridge)
    return np.maximum(values[:k] - sigma2, 0.0) / np.where(values[:k] > 0, values[:k], 1.0)


def fill_rows(X: Array, masses: Array, standard: Array, f: Array) -> Array:
    """New rows with their missing counts at what the axes give for the completed row, each row on its own."""
    holes = np.isnan(X)
    rows = np.flatnonzero(holes.any(axis=1))
    if not len(rows):
        return X
    some, hole = X[rows].astype(np.float64), holes[rows]
    observed = np.where(hole, 0.0, some).sum(axis=1, keepdims=True)
    if not observed.all():
        raise ValueError("CA: every incomplete row must have an observed count above 0; one has none.")
    share = np.where(hole, 0.0, masses).sum(axis=1, keepdims=True)
    filled = np.where(hole, observed / share * masses, some)
    for _ in range(STEPS):
        fitted = masses * (filled.sum(axis=1, keepdims=True) + (filled @ standard * f) @ standard.T)
        new = np.where(hole, np.maximum(fitted, 0.0), some)
        if np.abs(new - filled).max() <= CLOSE * observed.max():
            break
        filled = new
    out = X.astype(np.float64)
    out[rows] = new
    return out

"""The missing cells of a table under a low-rank model, and the moments of the observed ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lowdim import _native
from lowdim._core.runtime import threads
from lowdim._core.runtime.notices import warn
from lowdim._core.tables.deviations import deviations

Array = np.ndarray

NO_RIDGE = 1e-14  # of the largest eigenvalue: keeps the equations of rows with few cells solvable


def fill(
    X: Array,
    mean: Array,
    scale: Array | None,
    loadings: Array,
    eigenvalues: Array,
    sigma2: float,
    *,
    leverage: bool = False,
    completed: Array | None = None,
    n_jobs: int | None = None,
) -> tuple[Array, Array | None]:
    """Rows of X with their missing cells at the conditional mean of a fitted model; X is not changed.

    `completed` is where to write them: a copy of X with anything in the missing cells.
    With `leverage`, also h = v_j'(V_O'V_O + F^-1 - I)^-1 v_j for every missing cell (0 elsewhere), F the diagonal
    matrix of the shrinkage: how much more than the noise alone the cell varies.
    """
    X = np.ascontiguousarray(X)
    completed = X.copy() if completed is None else completed
    spread = np.zeros_like(X) if leverage else None
    W, strength = weights_of(loadings, eigenvalues, sigma2)
    divide = np.ones(X.shape[1]) if scale is None else scale
    fill_cells(X, completed, mean, divide, W, strength, n_jobs=n_jobs, leverage=spread)
    return completed, spread


def weights_of(loadings: Array, eigenvalues: Array, sigma2: float) -> tuple[Array, float]:
    """W, and the ridge added to W_O'W_O; without shrinkage it is tiny, so that of all scores that fit a row with few
    cells the likeliest is taken."""
    W = loadings * np.sqrt(np.maximum(eigenvalues - sigma2, 0.0))
    largest = float(eigenvalues[0]) if len(eigenvalues) and eigenvalues[0] > 0 else 1.0
    return W, max(sigma2, NO_RIDGE * largest)


def fill_cells(
    X: Array,
    completed: Array,
    mean: Array,
    scale: Array,
    W: Array,
    strength: float,
    *,
    n_jobs: int | None,
    whole: bool = False,
    leverage: Array | None = None,
) -> Array:
    """Write the missing cells of `completed`; the squared error of each row's observed cells."""
    loss = np.empty(len(X))
    spread = np.empty((0, 0), X.dtype) if leverage is None else leverage
    W, mean, scale = (np.ascontiguousarray(A, dtype=np.float64) for A in (W, mean, scale))
    rows, table = np.ascontiguousarray(X), np.ascontiguousarray(completed)  # the kernel reads row after row
    _native.fill_missing(rows, mean, scale, W, strength, whole, table, spread, loss, threads.n_threads(n_jobs))
    if table is not completed:
        completed[...] = table
    return loss


def filled(X: Array, value: Array, n_jobs: int | None = None, completed: Array | None = None) -> Array:
    """A copy of X (or `completed`) with one value for each column in the missing cells."""
    completed = X.copy() if completed is None else completed
    fill_cells(X, completed, value, np.ones(X.shape[1]), np.empty((X.shape[1], 0)), 1.0, n_jobs=n_jobs)
    return completed


def within_reach(X: Array, completed: Array, reach: float | None, owner: str) -> Array:
    """Filled cells no further than `reach` ranges beyond the observed cells of their column."""
    if reach is None:
        return completed
    low, high = np.nanmin(X, axis=0), np.nanmax(X, axis=0)
    room = (reach * (high - low)).astype(X.dtype)
    beyond = np.isnan(X) & ((completed < low - room) | (completed > high + room))
    if not beyond.any():
        return completed
    i, j = np.argwhere(beyond)[0]
    warn(
        f"{owner}: the model would fill {int(beyond.sum())} of {int(np.isnan(X).sum())} missing cells with values that "
        f"lie more than {reach:g} ranges beyond everything observed in their column (the first is row {i}, column {j}: "
        f"{completed[i, j]:.3g}, observed from {low[j]:.3g} to {high[j]:.3g}); completed_ has them at that bound. Rows "
        "with few observed and extreme cells cause this; fewer components extrapolate less. reach=None keeps them as "
        "they are."
    )
    return np.where(beyond, np.clip(completed, low - room, high + room), completed)


def refuse_weightless(counts: Array, owner: str) -> None:
    """Columns whose observed cells are all in rows of weight 0."""
    if not (counts > 0).all():
        raise ValueError(
            f"{owner}: column {int(np.argmin(counts))} must have an observed cell in a row with weight; those it has "
            "are in rows with weight 0. Leave it out, or give one of them some weight."
        )


@dataclass(frozen=True, eq=False)
class ObservedTable:
    """The rows and what is known of their observed cells."""

    X: Array
    scaled: bool
    weights: Array | None
    n_jobs: int | None
    weight: float
    cells: float  # observed ones, by weight
    fewest: int  # observed cells in a row
    mean: Array
    deviation: Array
    share: Array  # of each column's cells that are observed, by weight

    @classmethod
    def of(cls, X: Array, scaled: bool, weights: Array | None, n_jobs: int | None, owner: str) -> ObservedTable:
        w = None if weights is None else np.ascontiguousarray(weights, dtype=np.float64)
        count, total, _ = column_sums(X, np.zeros(X.shape[1]), w, n_jobs)
        refuse_weightless(count, owner)
        mean = total / count
        mean = mean + column_sums(X, mean, w, n_jobs)[1] / count  # far from 0 the first one is not exact
        variance = column_sums(X, mean, w, n_jobs)[2] / count
        weight = float(len(X) if w is None else w.sum())
        deviation = deviations(variance, mean, weight)
        return cls(X, scaled, w, n_jobs, weight, float(count.sum()), _fewest(X), mean, deviation, count / weight)

    def growth(self, completed: Array) -> Array:
        """Variances of the completed columns over those of the observed cells."""
        squares = column_sums(completed, self.mean, self.weights, self.n_jobs)[2]
        return squares / self.weight / self.deviation**2

    def free(self, r: int) -> float:
        """Observed cells less the parameters of a model of rank r."""
        d = self.X.shape[1]
        return self.cells - d - r * (self.weight - 1 + d - r)


def column_sums(X: Array, center: Array, weights: Array | None, n_jobs: int | None = None) -> Array:
    """Weight, sum and sum of squares of the observed cells of each column about a centre: (3, d)."""
    out = np.empty((3, X.shape[1]))
    w = np.empty(0) if weights is None else weights
    _native.column_sums(X, center, w, out, threads.n_threads(n_jobs))
    return out


def _fewest(X: Array) -> int:
    """The least number of observed cells in a row."""
    parts = threads.blocks(len(X), max(1, 2**18 // X.shape[1]))
    return X.shape[1] - max(int(np.isnan(X[rows]).sum(axis=1).max()) for rows in parts)

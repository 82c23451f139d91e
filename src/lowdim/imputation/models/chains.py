"""Chained equations: each column is predicted from all others, which are completed by the predictions so far.

Columns are visited from the fewest to the most missing cells, again and again. A linear chain predicts by ridge
regression whose penalty maximises the evidence; `forests` has chains of trees.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from lowdim._core.runtime.threads import single_blas
from lowdim.imputation.cells import Cells
from lowdim.imputation.models.low_rank import PCA
from lowdim.imputation.models.model import Array, Model

MOST_PREDICTORS = 100  # of a linear regression: those most correlated with the column
RIDGE_COLUMNS = 1000  # with missing cells
SWEEPS = 20
START = 10  # components of the completion that sweeps may start from; few and many have the same fixed point
SETTLED = 0.01  # change of a cell, in deviations of the residuals of its column, that ends the sweeps
EVIDENCE_STEPS = 30
DRAWN_SWEEPS = 5  # between two tables drawn from the posterior

Predict = Callable[[Array, Array, Array, int], Array]  # predictors and targets that train, predictors, column -> cells
Predictors = Callable[[Cells, Array, int], Array]  # table, completed, column -> what it is predicted from


@dataclass(frozen=True, eq=False)
class RidgeFit:
    """A ridge regression: centres, coefficients, and what drawing from its posterior needs."""

    centre: Array
    target: Array  # means of the targets: (t,)
    coefficients: Array  # (p, t)
    turn: Array  # eigenvectors of the predictors' cross products
    values: Array  # their eigenvalues, penalty added: (p, t)
    noise: Array  # residual variance of each target: (t,)
    free: Array  # residual degrees of freedom
    n: int

    def predict(self, A: Array) -> Array:
        return self.target + (A - self.centre) @ self.coefficients

    def drawn(self, A: Array, rng: np.random.Generator) -> Array:
        """Predictions by coefficients and a variance drawn from their posterior, with the noise of a cell."""
        variance = self.noise * self.free / np.maximum(rng.chisquare(self.free), 1e-12)
        deviation = np.sqrt(variance)
        shift = self.turn @ (rng.standard_normal(self.values.shape) / np.sqrt(self.values)) * deviation
        mean = self.target + deviation / np.sqrt(self.n) * rng.standard_normal(len(self.target))
        noise = deviation * rng.standard_normal((len(A), len(self.target)))
        return mean + (A - self.centre) @ (self.coefficients + shift) + noise


def ridge_fit(A: Array, Y: Array) -> RidgeFit:
    """Ridge regression of each column of Y; penalty and noise maximise the evidence (MacKay, 1992).

    Fixed points of penalty = g / sum of squared coefficients and noise = squared error / (n - g), with g the number of
    coefficients that the rows determine.
    """
    n = len(A)
    centre, target = A.mean(axis=0), Y.mean(axis=0)
    A, Y = A - centre, Y - target
    values, turn = np.linalg.eigh(A.T @ A)
    values = np.maximum(values, 0.0)[:, None]
    c, total = turn.T @ (A.T @ Y), (Y**2).sum(axis=0)
    tiny = 1e-10 * np.maximum(total, 1e-300) / n
    noise, penalty = total / n + tiny, np.ones(Y.shape[1])
    for _ in range(EVIDENCE_STEPS):
        ratio = noise * penalty
        b = c / (values + ratio)
        known = (values / (values + ratio)).sum(axis=0)
        left = np.maximum(total - 2 * (b * c).sum(axis=0) + (values * b**2).sum(axis=0), 0.0)
        before, penalty = penalty, (known + 1e-6) / ((b**2).sum(axis=0) + 1e-6)
        noise = np.maximum(left / np.maximum(n - 1 - known, 1e-3), tiny)
        if (np.abs(penalty - before) <= 1e-3 * before).all():
            break
    shrunk = values + noise * penalty
    return RidgeFit(centre, target, turn @ (c / shrunk), turn, shrunk, noise, np.maximum(n - 1 - known, 1.0), n)


class RidgeChain(Model):
    """Chained ridge regressions; categories by regressions of their indicator columns."""

    name: ClassVar[str] = "ridge"
    words: ClassVar[str] = "chained ridge regressions"
    gain: ClassVar[float] = 0.98  # sweeps that settle end alike from any start, up to rounding
    posterior: ClassVar[bool] = True

    def refusal(self, cells: Cells) -> str:
        columns = int(cells.holes.any(axis=0).sum())
        if columns > RIDGE_COLUMNS:
            return f"is slow for more than {RIDGE_COLUMNS} columns with missing cells"
        return "" if cells.coded.shape[1] > 1 else "needs at least 2 columns"

    def path(self, cells: Cells) -> list[int]:
        """Components of the completion that the first sweep starts from, 0 being the means.

        Where neighbouring columns are nearly equal, sweeps from the means move the cells that lack together only a
        little at a time: on spectra of 100 wavelengths the error was 6.5e-4 deviations after 30 of them, and 1.8e-4
        after 5 from a low-rank completion.
        """
        most = max(PCA(self.effort).path(cells), default=0) if not PCA(self.effort).refusal(cells) else 0
        return [0, min(START, most)] if most else [0]

    def fill(self, cells: Cells, setting: int | None, start: Array | None = None) -> Array:
        first = PCA(self.effort).fill(cells, setting) if setting else None
        D, parents = begin(cells, first), cells.layout.parents
        deviation = np.ones(len(parents))  # of the residuals, which a change is compared with

        def predict(A: Array, Y: Array, new: Array, j: int) -> Array:
            found = ridge_fit(A, Y)
            deviation[parents == j] = np.sqrt(found.noise)
            return found.predict(new)

        for _ in range(min(SWEEPS, self.effort.max_iter)):
            before = D
            D = sweep(cells, D, predict)
            if (np.abs(D - before) / deviation).max() <= SETTLED:
                break
        return D

    def said(self, setting: int | None) -> str:
        return f"started from {setting} components" if setting else ""

    def bootstrap(
        self, cells: Cells, setting: Any, filled: Array, count: int, rng: np.random.Generator
    ) -> Iterator[Array]:
        """Regressions of resampled rows, two sweeps: the first moves the predictors too."""
        for _ in range(count):
            D = filled
            for _ in range(2):
                D = sweep(cells, D, lambda A, Y, new, j: ridge_fit(*resampled(A, Y, rng)).predict(new))
            yield D

    def posterior_draws(
        self, cells: Cells, setting: Any, filled: Array, count: int, rng: np.random.Generator
    ) -> Iterator[Array]:
        """Data augmentation: coefficients given the cells and cells given the coefficients, in turns."""
        D = filled
        for _ in range(count):
            for _ in range(DRAWN_SWEEPS):
                D = sweep(cells, D, lambda A, Y, new, j: ridge_fit(A, Y).drawn(new, rng))
            yield D


def related(cells: Cells, D: Array, j: int) -> Array:
    """Numbers and indicator columns of the others; of very many those most correlated with column j."""
    parents = cells.layout.parents
    mine, others = np.flatnonzero(parents == j), np.flatnonzero(parents != j)
    if len(others) > MOST_PREDICTORS:
        Z = D[~cells.holes[:, j]]
        Z = Z - Z.mean(axis=0)
        size = np.sqrt((Z**2).sum(axis=0))
        Z /= np.where(size > 0, size, 1.0)
        strength = np.abs(Z[:, others].T @ Z[:, mine]).max(axis=1)
        others = np.sort(others[np.argsort(-strength, kind="stable")[:MOST_PREDICTORS]])
    return D[:, others]


def sweep(cells: Cells, D: Array, predict: Predict, predictors: Predictors = related) -> Array:
    """Each column with missing cells predicted once, from the others as they are completed so far."""
    D, parents = D.copy(), cells.layout.parents
    counts = cells.holes.sum(axis=0)
    with single_blas():
        for j in np.argsort(counts, kind="stable"):
            if not counts[j]:
                continue
            hole, mine = cells.holes[:, j], np.flatnonzero(parents == j)
            A = predictors(cells, D, int(j))
            D[np.ix_(hole, mine)] = predict(A[~hole], D[np.ix_(~hole, mine)], A[hole], int(j))
    return cells.only(D)


def resampled(A: Array, Y: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    """A bootstrap sample of the rows."""
    rows = rng.integers(len(A), size=len(A))
    return A[rows], Y[rows]


def begin(cells: Cells, start: Array | None) -> Array:
    """What the first sweep completes the predictors by: `start`, or the means."""
    return cells.only(np.broadcast_to(cells.baseline(), cells.spread.shape) if start is None else start)

"""Chained equations: each column is predicted from all others, which are completed by the predictions so far.

Columns are visited from the fewest to the most missing cells, again and again. A linear chain predicts by ridge
regression whose penalty maximises the evidence, a forest chain by extremely randomised trees.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from lowdim._core.runtime.rng import generator
from lowdim._core.runtime.threads import n_threads, single_blas
from lowdim.imputation.cells import Cells
from lowdim.imputation.models.model import Array, Model

MOST_PREDICTORS = 100  # of a linear regression: those most correlated with the column
RIDGE_COLUMNS = 1000  # with missing cells
SWEEPS = 10
EVIDENCE_STEPS = 30
DRAWN_SWEEPS = 5  # between two tables drawn from the posterior
DRAWN_TREES, DRAWN_ROWS = 20, 2000  # of a forest that is grown for one draw
FOREST_ROWS = 50
FOREST_COLUMNS = 100  # with missing cells, beyond which forests take too long
LEAF = 2  # least rows in a leaf
ROUGH_TREES = (10, 25)  # of the sweeps where models are compared
TRAIN_ROWS = 8000  # that a forest is grown from; of larger tables so many are drawn
ROUGH = 1e-5  # tolerance of fits that are compared; the last one is finer

Predict = Callable[[Array, Array, Array, int], Array]  # predictors and targets that train, predictors, column -> cells


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
    posterior: ClassVar[bool] = True

    def refusal(self, cells: Cells) -> str:
        columns = int(cells.holes.any(axis=0).sum())
        if columns > RIDGE_COLUMNS:
            return f"is slow for more than {RIDGE_COLUMNS} columns with missing cells"
        return "" if cells.coded.shape[1] > 1 else "needs at least 2 columns"

    def fill(self, cells: Cells, setting: Any, start: Array | None = None) -> Array:
        D = _begin(cells, start)
        for _ in range(min(SWEEPS, self.effort.max_iter)):
            before = D.copy()
            D = sweep(cells, D, lambda A, Y, new, j: ridge_fit(A, Y).predict(new))
            if np.abs(D - before).max() <= max(self.effort.tol, 1e-4):
                break
        return D

    def bootstrap(
        self, cells: Cells, setting: Any, filled: Array, count: int, rng: np.random.Generator
    ) -> Iterator[Array]:
        """Regressions of resampled rows, two sweeps: the first moves the predictors too."""
        for _ in range(count):
            D = filled
            for _ in range(2):
                D = sweep(cells, D, lambda A, Y, new, j: ridge_fit(*_resampled(A, Y, rng)).predict(new))
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


class ForestChain(Model):
    """Chained forests: each column predicted by extremely randomised trees."""

    name: ClassVar[str] = "forest"
    words: ClassVar[str] = "chained forests"
    screen_tables: ClassVar[int] = 2
    trees: ClassVar[int] = 100
    sweeps: ClassVar[int] = 3

    def refusal(self, cells: Cells) -> str:
        columns = int(cells.holes.any(axis=0).sum())
        if len(cells.coded) < FOREST_ROWS:
            return f"needs at least {FOREST_ROWS} rows"
        if columns > FOREST_COLUMNS:
            return f"is slow for more than {FOREST_COLUMNS} columns with missing cells"
        return "" if cells.coded.shape[1] > 1 else "needs at least 2 columns"

    def fill(self, cells: Cells, setting: Any, start: Array | None = None) -> Array:
        D, rough = _begin(cells, start), self.effort.tol > ROUGH
        for trees in ROUGH_TREES if rough else (self.trees,) * self.sweeps:
            D = sweep(cells, D, self._grow(trees, None), all_predictors=True)
        return D

    def bootstrap(
        self, cells: Cells, setting: Any, filled: Array, count: int, rng: np.random.Generator
    ) -> Iterator[Array]:
        for _ in range(count):
            yield sweep(cells, filled, self._grow(DRAWN_TREES, rng), all_predictors=True)

    def _grow(self, trees: int, rng: np.random.Generator | None) -> Predict:
        """Fit to the observed rows (of a bootstrap sample, with a generator) and predict; categories by shares."""
        from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor

        seed = self.effort.seed if rng is None else int(rng.integers(2**31))
        options: dict[str, Any] = {
            "n_estimators": trees, "min_samples_leaf": LEAF, "n_jobs": n_threads(self.effort.n_jobs),
            "random_state": seed,
        }  # fmt: skip

        def predict(A: Array, Y: Array, new: Array, j: int) -> Array:
            if rng is not None:
                A, Y = _resampled(A, Y, rng, DRAWN_ROWS)
            elif len(A) > TRAIN_ROWS:
                some = generator(self.effort.seed + j).choice(len(A), TRAIN_ROWS, replace=False)
                A, Y = A[some], Y[some]
            if Y.shape[1] == 1:
                return np.asarray(ExtraTreesRegressor(**options).fit(A, Y[:, 0]).predict(new))[:, None]
            out = np.zeros((len(new), Y.shape[1]))
            found = ExtraTreesClassifier(**options).fit(A, Y.argmax(axis=1))
            out[:, found.classes_] = found.predict_proba(new)
            return out

        return predict


def sweep(cells: Cells, D: Array, predict: Predict, all_predictors: bool = False) -> Array:
    """Each column with missing cells predicted once, from the others as they are completed so far."""
    D, parents = D.copy(), cells.layout.parents
    counts = cells.holes.sum(axis=0)
    with single_blas():
        for j in np.argsort(counts, kind="stable"):
            if not counts[j]:
                continue
            hole, mine = cells.holes[:, j], np.flatnonzero(parents == j)
            others = np.flatnonzero(parents != j)
            if not all_predictors and len(others) > MOST_PREDICTORS:
                others = _related(D[~hole], mine, others)
            A = D[:, others]
            D[np.ix_(hole, mine)] = predict(A[~hole], D[np.ix_(~hole, mine)], A[hole], int(j))
    return cells.only(D)


def _related(D: Array, mine: Array, others: Array) -> Array:
    """The columns most correlated with the target."""
    Z = D - D.mean(axis=0)
    size = np.sqrt((Z**2).sum(axis=0))
    Z /= np.where(size > 0, size, 1.0)
    strength = np.abs(Z[:, others].T @ Z[:, mine]).max(axis=1)
    return np.sort(others[np.argsort(-strength, kind="stable")[:MOST_PREDICTORS]])


def _resampled(A: Array, Y: Array, rng: np.random.Generator, most: int | None = None) -> tuple[Array, Array]:
    size = len(A) if most is None else min(len(A), most)
    rows = rng.integers(len(A), size=size)
    return A[rows], Y[rows]


def _begin(cells: Cells, start: Array | None) -> Array:
    return cells.only(np.broadcast_to(cells.baseline(), cells.spread.shape) if start is None else start)

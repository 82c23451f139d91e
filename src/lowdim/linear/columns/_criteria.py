"""Criteria of single columns for their selection, and the regression of the other columns on the chosen ones.

Every criterion is a function of the rows that gives one number for each column; larger is better.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from lowdim._core.runtime import threads
from lowdim._core.spectrum import Moments
from lowdim._core.tables.deviations import rounding_of
from lowdim._core.tables.labels import Target

_CELLS = 2**20  # of rows that are read at a time
_SAME = 1e-4  # variances this near to each other, relatively, are those of standardised columns
_NEIGHBORS = 3  # of the estimate of mutual information
_DIGITS = 9  # weights of a linear model that agree so far are equal


def moments(X: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Number of observed cells, mean and variance of each column; a column that is constant but for rounding has 0."""
    parts = _row_blocks(X)
    count = sum((~np.isnan(X[rows])).sum(axis=0) for rows in parts)
    mean = sum(np.nansum(X[rows], axis=0, dtype=np.float64) for rows in parts) / count
    squares = sum(np.nansum((X[rows] - mean) ** 2, axis=0) for rows in parts)
    variance = squares / np.maximum(count - 1, 1)
    constant = np.sqrt(variance) <= rounding_of(mean, len(X), X.dtype)
    return count, mean, np.where(constant, 0.0, variance)


def _row_blocks(X: np.ndarray) -> list[slice]:
    return threads.blocks(len(X), max(1, _CELLS // X.shape[1]))


def standardized(X: np.ndarray) -> np.ndarray:
    """Columns of mean 0 and variance 1 over their observed cells, in float64; constant ones are 0."""
    _, mean, variance = moments(X)
    Y = X.astype(np.float64)
    Y -= mean
    Y /= np.where(variance > 0, np.sqrt(variance), np.inf)
    return Y


def by_variance(X: np.ndarray, k: int, owner: str) -> np.ndarray:
    """The variance of each column over its observed cells; an error where k of them cannot be chosen by it."""
    count, _, variance = moments(X)
    if k < X.shape[1]:
        _refuse_equal(variance, count, k, owner)
    return variance


def variance_of(sums: Moments, k: int, dtype: np.dtype, owner: str) -> np.ndarray:
    """The same from the sums of complete rows."""
    n = int(sums.weight)
    variance = np.diag(sums.scatter) / max(n - 1, 1)
    variance = np.where(np.sqrt(variance) <= rounding_of(sums.mean, n, dtype), 0.0, variance)
    if k < len(variance):
        _refuse_equal(variance, np.full(len(variance), n), k, owner)
    return variance


def regression_of(sums: Moments, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """As `regression`, from the sums of complete rows."""
    scale = np.sqrt(np.diag(sums.scatter))[chosen]
    scale = np.where(scale > 0, scale, 1.0)
    within = sums.scatter[np.ix_(chosen, chosen)] / np.multiply.outer(scale, scale)
    coef = np.linalg.pinv(within, hermitian=True) @ (sums.scatter[chosen] / scale[:, None]) / scale[:, None]
    coef[:, chosen] = np.eye(len(chosen))
    return sums.mean.copy(), coef


def _refuse_equal(variance: np.ndarray, count: np.ndarray, k: int, owner: str) -> None:
    vary = variance > 0
    if not vary.any():
        raise ValueError(f"{owner}: X must vary; all columns are constant.")
    if vary.sum() <= k:  # only constant columns are left out
        return
    # With missing cells, columns standardised with one divisor have different variances with the other.
    for values in (variance[vary], (variance * (count - 1) / count)[vary]):
        if np.ptp(values) <= _SAME * values.max():
            raise ValueError(
                f"{owner}: criterion='variance' must have columns of different variance; got {vary.sum()} columns of "
                f"variance {values.max():.4g}. A variance filter after standardising has nothing to choose from: "
                "filter first, then scale."
            )


def by_mutual_information(Y: np.ndarray, target: Target, seed: int, n_jobs: int | None, owner: str) -> np.ndarray:
    """Mutual information of each column and the target, in nats, from nearest neighbours (Kraskov; Ross)."""
    from sklearn.feature_selection import mutual_info_classif, mutual_info_regression

    estimate: Any = mutual_info_classif if target.classes else mutual_info_regression
    values = _in_units(target)

    def score(column: np.ndarray) -> float:
        seen = ~np.isnan(column)
        x, y = column[seen], values[seen]
        if len(x) <= _NEIGHBORS:
            raise ValueError(
                f"{owner}: criterion='mutual-information' needs columns of at least {_NEIGHBORS + 1} cells in rows "
                f"with a label; got one of {len(x)}. Drop the column, or use criterion='variance'."
            )
        different = len(np.unique(y))
        # The estimate of a constant column would be that of the noise that breaks ties in it.
        if np.ptp(x) == 0 or different == 1 or (target.classes and different == len(y)):
            return 0.0
        found = estimate(x[:, None], y, discrete_features=False, n_neighbors=_NEIGHBORS, random_state=seed)
        return float(found[0])

    def scores(columns: slice) -> list[float]:
        return [score(column) for column in Y[:, columns].T]

    return np.concatenate(threads.map_rows(scores, Y.shape[1], 16, n_jobs))


def by_elimination(Y: np.ndarray, target: Target, k: int, step: int) -> np.ndarray:
    """How many columns recursive elimination by a linear model removes before each column."""
    from sklearn.linear_model import LogisticRegression, Ridge

    model = LogisticRegression(max_iter=1000) if target.classes else Ridge()
    y = _in_units(target)
    with threads.single_blas():
        place = _ranking(model, Y, y, k, step) + k
        kept = place == k + 1
        # The chosen columns are put in order one at a time, whatever the step was before.
        place[kept] = _ranking(model, Y[:, kept], y, 1, 1)
    return len(place) - np.searchsorted(np.sort(place), place, side="right").astype(np.float64)


def _ranking(model: Any, Y: np.ndarray, y: np.ndarray, k: int, step: int) -> np.ndarray:
    """1 for the k columns that are left, larger numbers for those that were eliminated earlier."""
    from sklearn.feature_selection import RFE

    if Y.shape[1] == k:
        return np.ones(k, dtype=int)
    return RFE(model, n_features_to_select=k, step=step, importance_getter=_positions).fit(Y, y).ranking_


def _positions(model: Any) -> np.ndarray:
    """Columns by the squared weights of a linear model, the smallest 0; of equal ones, the last column is smallest."""
    weights = np.square(np.atleast_2d(model.coef_)).sum(axis=0)
    weights = np.round(weights / (weights.max() or 1.0), _DIGITS)
    order = np.lexsort((-np.arange(len(weights)), weights))
    positions = np.empty(len(weights))
    positions[order] = np.arange(len(weights))
    return positions


def by_forest(Y: np.ndarray, target: Target, n_trees: int, seed: int, n_jobs: int | None) -> np.ndarray:
    """The mean decrease in impurity that each column brings to the trees of a random forest."""
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    kind: Any = RandomForestClassifier if target.classes else RandomForestRegressor
    y = _in_units(target)
    return kind(n_trees, random_state=seed, n_jobs=threads.n_threads(n_jobs)).fit(Y, y).feature_importances_


def _in_units(target: Target) -> np.ndarray:
    """The classes, or a quantity of mean 0 and variance 1; scaled before it is squared, so that nothing overflows."""
    if target.classes:
        return target.values
    y = target.values / np.abs(target.values).max()
    y = y - y.mean()
    return y / y.std()


def best_first(scores: np.ndarray, k: int) -> np.ndarray:
    """The numbers of the k columns with the largest scores; of equal ones, the first."""
    return np.argsort(-scores, kind="stable")[:k]


def regression(X: np.ndarray, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All columns from the chosen ones by least squares: x = offset + (x[chosen] - offset[chosen]) coef.

    A column with missing cells is regressed over the rows in which it and all chosen columns are observed.
    """
    d, k = X.shape[1], len(chosen)
    _, offset, variance = moments(X)
    coef = np.zeros((k, d))
    coef[np.arange(k), chosen] = 1.0
    others = np.setdiff1d(np.arange(d), chosen)
    if not len(others):
        return offset, coef
    scale = np.where(variance > 0, np.sqrt(variance), 1.0)[chosen]
    A = np.column_stack([np.ones(len(X)), (X[:, chosen] - offset[chosen]) / scale])
    for columns, found in _solutions(A, X, others, offset):
        offset[columns] += found[0]
        coef[:, columns] = found[1:] / scale[:, None]
    return offset, coef


def _solutions(
    A: np.ndarray, X: np.ndarray, others: np.ndarray, offset: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Column numbers, and the least-squares solutions of A w = x - offset for these columns x."""
    if not np.isnan(X).any():
        inverse = np.linalg.pinv(A, rcond=max(A.shape) * float(np.finfo(np.float64).eps))
        yield others, sum(inverse[:, rows] @ (X[rows][:, others] - offset[others]) for rows in _row_blocks(X))
        return
    complete = ~np.isnan(A).any(axis=1)
    for j in others:
        rows = complete & ~np.isnan(X[:, j])
        if rows.any():
            yield np.array([j]), np.linalg.lstsq(A[rows], X[rows, j : j + 1] - offset[j], rcond=None)[0]

"""Single imputation by means and by regression: baselines for comparison, which bias variances and correlations."""

from __future__ import annotations

import numpy as np

from lowdim._core.incomplete.cells import fill_cells

ROUNDING = 1e-10  # of the largest eigenvalue
RIDGE = 1e-13  # likewise: makes collinear columns solvable


def by_means(X: np.ndarray) -> np.ndarray:
    """Each missing cell at the mean of its column: keeps means, shrinks variances and correlations."""
    return np.where(np.isnan(X), np.nanmean(X, axis=0, dtype=np.float64), X).astype(X.dtype)


def by_regression(X: np.ndarray) -> np.ndarray:
    """Each missing cell at its expectation given the observed cells of its row: overstates correlations.

    Mean and covariance are those of complete rows where there are enough of them, else of the mean-filled table. With
    C = WW' the missing cells are W t, t the shortest score that fits the observed ones; directions whose variance is
    rounding are left out.
    """
    hole = np.isnan(X)
    whole = X[~hole.any(axis=1)]
    source = whole if len(whole) > 2 * X.shape[1] else by_means(X)
    mean = np.asarray(np.mean(source, axis=0, dtype=np.float64))
    C = np.atleast_2d(np.cov(source.astype(np.float64), rowvar=False))
    values, vectors = np.linalg.eigh(C)
    kept = values > ROUNDING * values[-1]
    filled = X.copy()
    W, ridge = vectors[:, kept] * np.sqrt(values[kept]), RIDGE * float(values[-1])
    fill_cells(X, filled, mean, np.ones(len(mean)), W, ridge, n_jobs=None)
    return filled

"""Filling holes the ways that distort: kept to be compared with."""

from __future__ import annotations

import numpy as np


def by_means(X: np.ndarray) -> np.ndarray:
    """Each hole at the mean of its column: keeps means, shrinks variances, pulls correlations to 0."""
    return np.where(np.isnan(X), np.nanmean(X, axis=0, dtype=np.float64), X).astype(X.dtype)


def by_regression(X: np.ndarray) -> np.ndarray:
    """Each hole at its expectation given the rest of its row: keeps means, overstates correlations.

    Mean and covariance are those of complete rows where there are enough of them, else of the mean-filled table; the
    observed cells of a row predict its missing ones by least squares, rows with the same holes at once.
    """
    hole = np.isnan(X)
    whole = X[~hole.any(axis=1)]
    source = whole if len(whole) > 2 * X.shape[1] else by_means(X)
    mean = source.mean(axis=0, dtype=np.float64)
    C = np.atleast_2d(np.cov(source.astype(np.float64), rowvar=False))
    filled = by_means(X).astype(np.float64)
    patterns, member = np.unique(hole, axis=0, return_inverse=True)
    for p, pattern in enumerate(patterns):
        if not pattern.any():
            continue
        rows, seen = np.flatnonzero(member.ravel() == p), ~pattern
        slope = np.linalg.lstsq(C[np.ix_(seen, seen)], C[np.ix_(seen, pattern)], rcond=1e-10)[0]
        filled[np.ix_(rows, pattern)] = mean[pattern] + (X[np.ix_(rows, seen)] - mean[seen]) @ slope
    return np.where(hole, filled, X).astype(X.dtype)

"""The ridge of kernel CCA by cross-validation: correlations of held-out rows."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np

from lowdim._core.spectrum import Moments
from lowdim._core.views import Setting, Views, from_moments, joint_moments
from lowdim.spectral.kernel._feature_space import FeatureSpace

FOLDS = 5
LEAST_ROWS = 2 * FOLDS
_GRID = np.logspace(-5, 0, 9)  # of the variance in feature space


def grid(x: FeatureSpace, y: FeatureSpace, ridges: Any = None) -> np.ndarray:
    """Pairs of ridges to try, the largest first: `argmax` then takes the larger of two that are equal."""
    if ridges is None:
        return np.multiply.outer(_GRID[::-1], (x.variance, y.variance))
    return np.multiply.outer(np.sort(np.asarray(ridges, dtype=np.float64))[::-1], np.ones(2))


def curve(
    Fx: np.ndarray, Fy: np.ndarray, ridges: np.ndarray, k: int, rng: np.random.Generator, n_jobs: Any, owner: str
) -> np.ndarray:
    """Held-out correlation for each pair of ridges: the mean over the first k pairs of scores.

    Held-out rows are scored by the model of the others, and the scores of all folds give one correlation for each pair,
    with its sign and about the means of the fitted rows. Only sums of squares and products are needed.
    """
    order = rng.permutation(len(Fx))
    parts = [joint_moments(Fx[rows], Fy[rows], n_jobs) for rows in np.array_split(order, FOLDS)]
    sums = np.zeros((len(ridges), 3, k))
    for left_out, part in enumerate(parts):
        train = reduce(Moments.__add__, parts[:left_out] + parts[left_out + 1 :])
        views, _ = from_moments(train, Fx.shape[1], Setting(False, (1.0, 1.0), owner), np.float64)
        if views.pairs:
            scatter = part.about(train.mean)
            for i, ridge in enumerate(ridges):
                sums[i] += _held_out_sums(views, ridge, scatter, Fx.shape[1], k)
    xx, yy, xy = sums[:, 0], sums[:, 1], sums[:, 2]
    spread = np.sqrt(xx * yy)
    return np.divide(xy, spread, out=np.zeros_like(xy), where=spread > 0).mean(axis=1)


def _held_out_sums(views: Views, ridge: Any, scatter: np.ndarray, d: int, k: int) -> np.ndarray:
    """Sums of zx², zy² and zx zy over the held-out rows, 0 for pairs that the model does not have."""
    tuned = replace(views, x=replace(views.x, ridge=ridge[0]), y=replace(views.y, ridge=ridge[1]))
    P, _, Q = tuned.solve(min(k, views.pairs), solver="auto")
    A, B = tuned.x.weights(P) / tuned.x.deviations(P), tuned.y.weights(Q) / tuned.y.deviations(Q)
    found = np.zeros((3, k))
    for row, (left, block, right) in enumerate(
        ((A, scatter[:d, :d], A), (B, scatter[d:, d:], B), (A, scatter[:d, d:], B))
    ):
        found[row, : A.shape[1]] = (left * (block @ right)).sum(axis=0)
    return found

"""The weights of locally linear embedding."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np

import lowdim
from lowdim._core.graph.local_fits import Patches, weights
from lowdim._core.neighbors import nearest
from lowdim.study.reproductions import Line
from lowdim.study.reproductions._averages import averaged

TITLE = "Weights of LLE: unchanged by rotation, scale and translation"
SOURCE = "Three documents state the invariance, and that the weights of each row sum to 1. No numbers."
ROWS = 500
NEIGHBORS = 10
REPEATS = 3
PUBLISHED = {
    "largest difference of a sum of weights from 1": "0",
    "largest change of a weight by rotation": "0",
    "largest change of a weight by a scale of 7": "0",
    "largest change of a weight by translation": "0",
}


def run(
    repeats: int, rng: np.random.Generator, advance: Callable[[str, int, int], None]
) -> tuple[list[Line], list[str]]:
    """Over `repeats` rolls."""
    return averaged(repeats, rng, advance, _numbers, PUBLISHED), NOTES


def _numbers(rng: np.random.Generator) -> dict[str, float]:
    roll = lowdim.datasets.swiss_roll(ROWS, random_state=rng)
    near = nearest(roll.X, NEIGHBORS).indices
    turn = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    changed = {"rotation": roll.X @ turn, "a scale of 7": 7 * roll.X, "translation": roll.X - 5.0}
    W = _weights(roll.X, near)
    found = {"largest difference of a sum of weights from 1": float(np.abs(W.sum(axis=1) - 1).max())}
    for name, X in changed.items():
        found[f"largest change of a weight by {name}"] = float(np.abs(_weights(X, near) - W).max())
    stretched = _weights(roll.X * [1.0, 3.0, 1.0], near)
    found["largest change of a weight where one column is stretched"] = float(np.abs(stretched - W).max())
    found["rows from their neighbours: share of the variance that is lost"] = _lost(roll.X, W, near)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a map that is reported here
        Z = lowdim.LLE(2, n_neighbors=NEIGHBORS, random_state=0).fit_transform(roll.X)
    found["points of the map by the same weights: share of the variance that is lost"] = _lost(Z, W, near)
    found["points of a random map by the same weights"] = _lost(rng.standard_normal((ROWS, 2)), W, near)
    return found


def _weights(X: np.ndarray, near: np.ndarray) -> np.ndarray:
    patches = Patches.chosen(near, np.ones(near.shape, dtype=bool))
    return weights(X, X, patches, ridge="auto", rank=2).reshape(near.shape)


def _lost(X: np.ndarray, W: np.ndarray, near: np.ndarray) -> float:
    """What rows differ from the weighted sums of their neighbours, over their variance."""
    gaps = X - np.einsum("ij,ijc->ic", W, X[near])
    return float(np.square(gaps).sum() / np.square(X - X.mean(axis=0)).sum())


NOTES = [
    f"{ROWS} rows of a Swiss roll, {NEIGHBORS} neighbours. Differences of 1e-9 and less are rounding. A row has more "
    "neighbours than columns, so that the weights are not determined without a ridge; it is a share of the local "
    "variance, without which the scale would change them.",
]

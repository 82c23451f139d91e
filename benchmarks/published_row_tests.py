"""Published tests of the rows of a map, in a few lines each, to compare `lowdim.trust.rows` with.

Both compare a statistic of each row with that of the rows of maps of noise, by the same method with the same settings.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.spatial.distance import cdist
from sklearn.base import clone


def maps_of_noise(
    X: np.ndarray, model: Any, count: int, rng: np.random.Generator, *, again: bool
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Tables of noise and their maps: columns permuted, or their values drawn again with replacement."""
    found = []
    for _ in range(count):
        rows = rng.permuted(X, axis=0)
        if again:
            rows = np.stack([rng.choice(column, len(X)) for column in X.T], axis=1)
        copy = clone(model)
        if "random_state" in copy.get_params():
            copy.set_params(random_state=int(rng.integers(2**31)))
        found.append((rows, copy.fit_transform(rows)))
    return found


def reliability(X: np.ndarray, Z: np.ndarray, share: float = 0.5) -> np.ndarray:
    """scDEED (Xia, Lee, Li 2024): of the nearer half of the rows, distances in the map, in two orders.

    For each row the correlation of its distances in the map to the nearest rows of the data, in their order, with its
    distances to the nearest rows of the map.
    """
    high, low, k = cdist(X, X), cdist(Z, Z), int(len(X) * share)
    by_data = np.take_along_axis(low, np.argsort(high, axis=1), axis=1)[:, 1 : k + 1]
    by_map = np.sort(low, axis=1)[:, 1 : k + 1]
    return np.array([np.corrcoef(one, other)[0, 1] for one, other in zip(by_data, by_map, strict=True)])


def divergence(X: np.ndarray, Z: np.ndarray, perplexity: float = 20.0) -> np.ndarray:
    """EMBEDR (Johnson, Kath, Mani 2022): of each row, the divergence of its weights in the data from those in the map.

    Weights are those of t-SNE, of the nearest rows (three times the perplexity), normalised for each row.
    """
    k = min(len(X) - 1, int(3 * perplexity))
    high = cdist(X, X, "sqeuclidean")
    near = np.argsort(high, axis=1)[:, 1 : k + 1]
    P = np.stack([_weights(row, perplexity) for row in np.take_along_axis(high, near, axis=1)])
    Q = 1 / (1 + np.take_along_axis(cdist(Z, Z, "sqeuclidean"), near, axis=1))
    Q /= Q.sum(axis=1, keepdims=True)
    return np.asarray(np.sum(P * np.log(np.maximum(P, 1e-300) / Q), axis=1))


def _weights(squares: np.ndarray, perplexity: float) -> np.ndarray:
    """Gaussian weights whose entropy is that of so many equal ones."""

    def at(log_width: float) -> np.ndarray:
        w = np.exp(-(squares - squares[0]) / np.exp(log_width))
        return np.asarray(w / w.sum())

    def excess(log_width: float) -> float:
        p = at(log_width)
        return float(-np.sum(p * np.log(np.maximum(p, 1e-300))) - np.log(perplexity))

    scale = float(np.log(squares.mean()))
    return at(brentq(excess, scale - 12, scale + 12))


def scdeed(X: np.ndarray, Z: np.ndarray, model: Any, rng: np.random.Generator) -> np.ndarray:
    """Share of the rows of one permuted table that are at least as reliable; up to 0.05 is called trustworthy."""
    ((rows, placed),) = maps_of_noise(X, model, 1, rng, again=False)
    return _shares(-reliability(X, Z), -reliability(rows, placed))


def embedr(
    X: np.ndarray, Z: np.ndarray, model: Any, rng: np.random.Generator, *, count: int = 3, perplexity: float = 20.0
) -> np.ndarray:
    """Share of the rows of tables drawn again column by column whose divergence is at most as large."""
    noise = maps_of_noise(X, model, count, rng, again=True)
    pooled = np.concatenate([divergence(rows, placed, perplexity) for rows, placed in noise])
    return _shares(divergence(X, Z, perplexity), pooled)


def _shares(values: np.ndarray, null: np.ndarray) -> np.ndarray:
    """Share of the null values that are at most as large."""
    return np.asarray((1 + np.searchsorted(np.sort(null), values, side="right")) / (1 + len(null)))

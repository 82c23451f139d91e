"""What a fitted configuration says about itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from lowdim._core.majorize import Pairs, condensed, n_pairs
from lowdim._core.rng import generator

Array = np.ndarray


def measures(pairs: Pairs, disparities: Array, Z: Array, n_jobs: int | None) -> dict[str, float]:
    """Stress in four forms, from the configuration and its disparities alone."""
    stress, force = pairs.stress(Z, disparities, n_jobs)
    _, spread = pairs.stress(Z, np.zeros_like(disparities), n_jobs)
    size, length = max(-float((spread * Z).sum()), 0.0), pairs.total(disparities)
    # sum w (dhat - d) d: what a change of size would gain, without the difference of two large sums
    gain = float((force * Z).sum()) ** 2 / size if size > 0 else 0.0
    return {
        "stress_": stress,
        "stress1_": float(np.sqrt(stress / size)) if size > 0 else (np.inf if stress > 0 else 0.0),
        "stress_normalized_": float(np.sqrt(stress / length)) if length > 0 else 0.0,
        "stress_scale_optimal_": float(np.sqrt(max(stress - gain, 0.0) / length)) if length > 0 else 0.0,
    }


@dataclass(frozen=True, eq=False)
class ShepardDiagram:
    """Dissimilarities, the distances they became and the disparities between, pair by pair, by dissimilarity.

    Attributes
    ----------
    dissimilarities, distances, disparities : ndarray (pairs,)
        The known pairs.
    """

    dissimilarities: Array
    distances: Array
    disparities: Array


@dataclass(frozen=True, eq=False)
class PermutationTest:
    """Stress of the data beside the stress of the same dissimilarities dealt out at random.

    Attributes
    ----------
    stress : float
        Normalised stress of the data.
    null : ndarray (draws,)
        That of each random table.
    p_value : float
        Share of tables, the data's included, with no more stress than the data.
    """

    stress: float
    null: Array
    p_value: float


def square(vector: Array, n: int) -> Array:
    """A vector of pairs as a symmetric table."""
    out = np.zeros((n, n), vector.dtype)
    out[np.triu_indices(n, 1)] = vector
    return out + out.T


def refit(model: Any, D: Array, **changed: Any) -> float:
    """Normalised stress of the same method on another table of dissimilarities."""
    return float(clone(model).set_params(metric="precomputed", missing="error", **changed).fit(D).stress_normalized_)


def random_tables(n: int, n_draws: int, random_state: Any) -> Any:
    """Tables of independent uniform dissimilarities."""
    rng = generator(random_state)
    for _ in range(n_draws):
        yield square(rng.random(n_pairs(n)), n)


def shuffled_tables(D: Array, n_draws: int, random_state: Any) -> Any:
    """Tables with the same dissimilarities in other places."""
    n, rng = len(D), generator(random_state)
    vector = condensed(lambda rows: D[rows, rows.start :], n, D.dtype)
    for _ in range(n_draws):
        yield square(rng.permutation(vector), n)

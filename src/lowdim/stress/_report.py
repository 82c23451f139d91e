"""What a fitted configuration says about itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from lowdim._core.runtime.rng import generator
from lowdim.stress._majorize import Pairs, n_pairs

Array = np.ndarray


def measures(pairs: Pairs, disparities: Array, Z: Array, n_jobs: int | None) -> dict[str, float]:
    """Stress in four forms, from the configuration and its disparities alone."""
    stress, force = pairs.stress(Z, disparities, n_jobs)
    return forms(stress, float((force * Z).sum()), pairs.spread(Z, n_jobs), pairs.total(disparities))


def forms(stress: float, gain: float, size: float, length: float) -> dict[str, float]:
    """From sums over pairs: w (dhat - d)^2, w (dhat - d) d, w d^2 and w dhat^2.

    The best change of size takes gain^2 / size off the stress; so no difference of two large sums is needed.
    """
    best = max(stress - gain**2 / size, 0.0) if size > 0 else stress
    return {
        "stress_": stress,
        "stress1_": float(np.sqrt(stress / size)) if size > 0 else (np.inf if stress > 0 else 0.0),
        "stress_normalized_": float(np.sqrt(stress / length)) if length > 0 else 0.0,
        "stress_scale_optimal_": float(np.sqrt(best / length)) if length > 0 else 0.0,
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


def embedded(Z: Array, n_jobs: int | None) -> Array:
    """Distances of all pairs of points."""
    n = len(Z)
    scale = float(np.abs(Z).max(initial=0.0)) or 1.0  # the kernel takes lengths around 1
    return scale * Pairs(n, np.empty(n_pairs(n)), None).distances(np.ascontiguousarray(Z, dtype=float) / scale, n_jobs)


def shepard(delta: Array, d: Array, disparities: Array) -> ShepardDiagram:
    """The diagram of the known pairs, by dissimilarity and then by disparity."""
    order = np.lexsort((disparities, delta))[: int((~np.isnan(delta)).sum())]  # NaN comes last
    return ShepardDiagram(delta[order], d[order], disparities[order])


def refit(model: Any, X: Any, **changed: Any) -> float:
    """Stress of the same method on other data or with other settings."""
    return float(clone(model).set_params(**changed).fit(X).stress_scale_optimal_)


def random_stress(model: Any, n: int, n_draws: int, random_state: Any) -> Array:
    """Stress of tables of independent uniform dissimilarities."""
    rng = generator(random_state)
    tables = (square(rng.random(n_pairs(n)), n) for _ in range(n_draws))
    return np.array([refit(model, D, metric="precomputed", missing="error") for D in tables])


def permutation_test(model: Any, X: Any, n_draws: int, random_state: Any) -> PermutationTest:
    """Stress of the data against that of shuffled dissimilarities; the data counts as one of the draws.

    Known dissimilarities change places among themselves; which pairs are unknown, and what pairs count, stays.
    """
    rng, fitted = generator(random_state), clone(model).fit(X)
    stress, delta = float(fitted.stress_scale_optimal_), fitted.dissimilarities_
    if delta is None:
        raise ValueError(f"MDS: a permutation test needs all pairs, kept for few rows; got {len(fitted.embedding_)}.")
    known = np.flatnonzero(~np.isnan(delta))

    def dealt() -> Array:
        table = delta.copy()
        table[known] = rng.permutation(delta[known])
        return square(table, len(fitted.embedding_))

    null = np.array([refit(model, dealt(), metric="precomputed", missing="error") for _ in range(n_draws)])
    return PermutationTest(stress, null, float((1 + (null <= stress).sum()) / (1 + n_draws)))

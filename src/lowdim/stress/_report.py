"""Diagnostics of a configuration: forms of stress, Shepard diagrams, reference values of random data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from lowdim._core.runtime.rng import generator
from lowdim.stress._majorize import Pairs, n_pairs

Array = np.ndarray


@dataclass(frozen=True)
class StressForms:
    """The stress of a configuration: sum w (dhat - d)^2, Kruskal's stress-1, and over sum w dhat^2."""

    raw: float
    stress1: float
    normalized: float
    scale_optimal: float  # the normalised one at the best scale of the configuration

    @classmethod
    def of(cls, pairs: Pairs, disparities: Array, Z: Array, n_jobs: int | None) -> StressForms:
        """From the configuration and its disparities alone."""
        stress, force = pairs.stress(Z, disparities, n_jobs)
        return cls.of_sums(stress, float((force * Z).sum()), pairs.spread(Z, n_jobs), pairs.total(disparities))

    @classmethod
    def of_sums(cls, stress: float, gain: float, size: float, length: float) -> StressForms:
        """From sums over pairs: w (dhat - d)^2, w (dhat - d) d, w d^2 and w dhat^2.

        The best change of scale lowers the stress by gain^2 / size; so no difference of two large sums is needed.
        """
        best = max(stress - gain**2 / size, 0.0) if size > 0 else stress
        return cls(
            stress,
            float(np.sqrt(stress / size)) if size > 0 else (np.inf if stress > 0 else 0.0),
            float(np.sqrt(stress / length)) if length > 0 else 0.0,
            float(np.sqrt(best / length)) if length > 0 else 0.0,
        )


@dataclass(frozen=True, eq=False)
class ShepardDiagram:
    """Dissimilarities, distances in the embedding and disparities, pair by pair, sorted by dissimilarity.

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
    """Stress of the data and of the same dissimilarities in random order.

    Attributes
    ----------
    stress : float
        Normalised stress of the data.
    null : ndarray (draws,)
        That of each permuted table.
    p_value : float
        Share of tables, the data's included, with at most the stress of the data.
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
    scale = float(np.abs(Z).max(initial=0.0)) or 1.0  # the compiled code takes lengths around 1
    return scale * Pairs(n, np.empty(n_pairs(n)), None).distances(np.ascontiguousarray(Z, dtype=float) / scale, n_jobs)


def shepard(delta: Array, d: Array, disparities: Array) -> ShepardDiagram:
    """The diagram of the known pairs, by dissimilarity and then by disparity."""
    order = np.lexsort((disparities, delta))[: int((~np.isnan(delta)).sum())]  # NaN comes last
    return ShepardDiagram(delta[order], d[order], disparities[order])


# The following take an estimator as scikit-learn's `cross_validate` does: only to clone it, with public parameters and
# methods; it need not be fitted and is not changed.


def refit(estimator: Any, X: Any, **changed: Any) -> float:
    """Stress of a clone of the estimator, with some parameters changed, fitted to X."""
    return float(clone(estimator).set_params(**changed).fit(X).stress_scale_optimal_)


def random_stress(estimator: Any, n: int, n_draws: int, random_state: Any) -> Array:
    """Stress of clones of the estimator on tables of independent uniform dissimilarities."""
    rng = generator(random_state)
    tables = (square(rng.random(n_pairs(n)), n) for _ in range(n_draws))
    return np.array([refit(estimator, D, metric="precomputed", missing="error") for D in tables])


def permutation_test(estimator: Any, X: Any, n_draws: int, random_state: Any) -> PermutationTest:
    """Stress of clones of the estimator on the data and on permuted dissimilarities; the data is one of the draws.

    Known dissimilarities are permuted; which pairs are unknown, and the weights of pairs, stay.
    """
    rng, fitted = generator(random_state), clone(estimator).fit(X)
    stress, delta = float(fitted.stress_scale_optimal_), fitted.dissimilarities_
    if delta is None:
        raise ValueError(
            f"MDS: a permutation test needs all pairs, which are not kept for {len(fitted.embedding_)} rows."
        )
    known = np.flatnonzero(~np.isnan(delta))

    def permuted() -> Array:
        table = delta.copy()
        table[known] = rng.permutation(delta[known])
        return square(table, len(fitted.embedding_))

    null = np.array([refit(estimator, permuted(), metric="precomputed", missing="error") for _ in range(n_draws)])
    return PermutationTest(stress, null, float((1 + (null <= stress).sum()) / (1 + n_draws)))

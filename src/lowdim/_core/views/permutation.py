"""Permutation p-values of canonical correlations (Winkler et al., 2020).

Permuting the rows of one orthonormal basis permutes its table: a permutation costs one small product.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lowdim._core.extend import Linear
from lowdim._core.runtime import threads
from lowdim._core.runtime.rng import generator
from lowdim._core.views import View


def scores(view: View, X: np.ndarray, P: np.ndarray) -> np.ndarray:
    """U filter [P, its complement]: the scores of all axes, those without a partner too."""
    full = np.hstack([P, np.linalg.qr(P, mode="complete")[0][:, P.shape[1] :]])
    return Linear(view.mean, None, view.weights(full))(X) / np.sqrt(view.divisor)


def p_values(Gx: Any, Gy: Any, rho: np.ndarray, pairs: int, count: int, random_state: Any, n_jobs: Any) -> np.ndarray:
    """Share of permutations whose statistic is as large, made monotone."""
    seeds = generator(random_state).integers(2**32, size=count)
    observed = _wilks(rho)[:pairs]

    def exceed(some: slice) -> np.ndarray:
        K = np.stack([Gx.T @ Gy[generator(int(seed)).permutation(len(Gy))] for seed in seeds[some]])
        found = [_wilks(np.linalg.svd(K[:, j:, j:], compute_uv=False))[..., 0] for j in range(pairs)]
        return np.sum(np.transpose(found) >= observed * (1 - 1e-10), axis=0)

    hits = np.sum(threads.map_rows(exceed, count, 32, n_jobs), axis=0)
    return np.maximum.accumulate((1.0 + hits) / (1.0 + count))


def _wilks(rho: np.ndarray) -> np.ndarray:
    """-sum over i >= k of log(1 - rho_i²), for each k."""
    terms = -np.log(np.maximum(1.0 - rho**2, 1e-12))
    return np.cumsum(terms[..., ::-1], axis=-1)[..., ::-1]

"""What pairs count: weights given, weights that follow from the loss, unknown pairs; and rows that are one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import squareform

from lowdim._core.distances import real_array
from lowdim._core.majorize import Pairs, condensed, n_pairs, pair_start

Array = np.ndarray


def user_weights(weights: Any, n: int, dtype: Any, owner: str) -> Array:
    """Weights of pairs from a symmetric table (n, n) or a vector of pairs."""
    table = real_array(weights, f"{owner}: weights")
    if table.shape not in ((n, n), (n_pairs(n),)):
        raise ValueError(
            f"{owner}: weights must be a symmetric table of shape ({n}, {n}) or a vector of {n_pairs(n)} pairs; got "
            f"shape {table.shape}."
        )
    if not np.isfinite(table).all() or table.min(initial=0.0) < 0:
        raise ValueError(f"{owner}: weights must be finite and not negative. 0 leaves a pair out.")
    if table.ndim == 1:
        return table.astype(dtype)
    if np.abs(table - table.T).max(initial=0.0) > 1e-6 * table.max(initial=0.0):
        raise ValueError(f"{owner}: weights must be symmetric. Pass (W + W.T) / 2 if the two halves mean the same.")
    return condensed(lambda rows: table[rows, rows.start :], n, dtype)


def weight_table(weights: Any, n: int, dtype: Any, owner: str) -> Array | None:
    """The same as a table of which rows can be taken."""
    if weights is None:
        return None
    pairs = user_weights(weights, n, dtype, owner)
    return squareform(pairs, checks=False) if np.ndim(weights) == 1 else np.asarray(weights, dtype=dtype)


def known(pairs: Pairs) -> Pairs:
    """NaN, an unknown dissimilarity, becomes 0 with weight 0."""
    if not np.isnan(pairs.delta.sum(dtype=np.float64)):
        return pairs
    holes = np.isnan(pairs.delta)
    weights = np.ones_like(pairs.delta) if pairs.weights is None else pairs.weights.copy()
    weights[holes] = 0.0
    return Pairs(pairs.n, np.where(holes, pairs.delta.dtype.type(0), pairs.delta), weights)


def over_power(pairs: Pairs, power: float) -> Pairs:
    """Weights over delta**power; pairs at dissimilarity 0 have to be merged before."""
    with np.errstate(divide="ignore"):
        weights = np.where(pairs.delta > 0, pairs.delta**-power, 0).astype(pairs.delta.dtype)
    return replace(pairs, weights=weights if pairs.weights is None else weights * pairs.weights)


def same_rows(pairs: Pairs) -> Array:
    """The group of each row, rows at known dissimilarity 0 being one."""
    zero = np.flatnonzero((pairs.delta == 0) & (True if pairs.weights is None else pairs.weights > 0))
    if not len(zero):
        return np.arange(pairs.n)
    i = np.searchsorted([pair_start(i, pairs.n) for i in range(pairs.n)], zero, side="right") - 1
    i = np.minimum(i, pairs.n - 2)
    j = zero - np.array([pair_start(int(a), pairs.n) for a in i]) + i + 1
    graph = csr_array((np.ones(len(zero)), (i, j)), shape=(pairs.n, pairs.n))
    return connected_components(graph, directed=False)[1]


def merged(pairs: Pairs, group: Array, power: float) -> Pairs:
    """Groups of rows as single rows, weighted over delta**power.

    sum w (delta - d)^2 over pairs with the same d is, but for a constant, the sum of w times the square at their
    weighted mean: nothing is lost.
    """
    g = int(group.max()) + 1
    W, WD = np.zeros((g, g)), np.zeros((g, g))
    heavy = over_power(pairs, power)
    assert heavy.weights is not None
    for i in range(pairs.n - 1):
        at = pair_start(i, pairs.n)
        row = slice(at, at + pairs.n - 1 - i)
        w, others = heavy.weights[row].astype(np.float64), group[i + 1 :]
        W[group[i]] += np.bincount(others, w, minlength=g)
        WD[group[i]] += np.bincount(others, w * pairs.delta[row], minlength=g)
    W, WD = W + W.T, WD + WD.T
    D = np.divide(WD, W, out=np.zeros_like(W), where=W > 0)
    dtype = pairs.delta.dtype
    return Pairs(
        g,
        condensed(lambda rows: D[rows, rows.start :], g, dtype),
        condensed(lambda rows: W[rows, rows.start :], g, dtype),
    )

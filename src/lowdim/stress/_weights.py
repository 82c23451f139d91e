"""Weights of pairs: given ones, those of the loss, 0 for unknown pairs; and rows at dissimilarity 0, merged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import squareform

from lowdim._core.distances import real_array
from lowdim.stress._majorize import Pairs, apart, condensed, n_pairs, pair_start, reached

Array = np.ndarray


def user_weights(weights: Any, n: int, dtype: Any, owner: str) -> tuple[Array, float]:
    """Weights of pairs from a symmetric table (n, n) or a vector of pairs, in a unit near the largest, and that unit.

    The unit is a power of two, so that no digit changes; sums of the weights stay in range whatever their scale.
    """
    table = real_array(weights, f"{owner}: weights")
    if table.shape not in ((n, n), (n_pairs(n),)):
        raise ValueError(
            f"{owner}: weights must be a symmetric table of shape ({n}, {n}) or a vector of {n_pairs(n)} pairs; got "
            f"shape {table.shape}."
        )
    if not np.isfinite(table).all() or table.min(initial=0.0) < 0:
        raise ValueError(f"{owner}: weights must be finite and not negative. 0 leaves a pair out.")
    unit = 2.0 ** int(np.frexp(table.max(initial=0.0))[1] - 1) if table.max(initial=0.0) > 0 else 1.0
    if table.ndim == 1:
        return (table / unit).astype(dtype), unit
    if np.abs(table - table.T).max(initial=0.0) > 1e-6 * table.max(initial=0.0):
        raise ValueError(f"{owner}: weights must be symmetric. Pass (W + W.T) / 2 if the two halves mean the same.")
    return condensed(lambda rows: table[rows, rows.start :] / unit, n, dtype), unit


def weight_table(weights: Any, n: int, dtype: Any, owner: str) -> tuple[Array | None, float]:
    """The same as a square table."""
    if weights is None:
        return None, 1.0
    pairs, unit = user_weights(weights, n, dtype, owner)
    return squareform(pairs, checks=False), unit


def known(pairs: Pairs) -> tuple[Pairs, Array | None]:
    """The pairs with unknown dissimilarities (NaN) as 0 of weight 0, and which these are (None: there are none)."""
    if not np.isnan(pairs.delta.sum(dtype=np.float64)):
        return pairs, None
    holes = np.isnan(pairs.delta)
    weights = np.ones_like(pairs.delta) if pairs.weights is None else pairs.weights.copy()
    weights[holes] = 0.0
    return Pairs(pairs.n, np.where(holes, pairs.delta.dtype.type(0), pairs.delta), weights), holes


def check_connected(n: int, linked: Callable[[int], Array], owner: str) -> None:
    """ValueError where the known pairs do not connect all of n rows: the components would have no common position."""
    lost = int((~reached(n, linked)).sum())
    if lost:
        raise ValueError(
            f"{owner}: known dissimilarities of positive weight must join all rows; {lost} of {n} rows cannot be "
            "reached from the first one. Leave them out, or fill some of their dissimilarities in."
        )


def over_power(pairs: Pairs, power: float) -> Pairs:
    """Weights over delta**power; rows at dissimilarity 0 must have been merged."""
    with np.errstate(divide="ignore", over="ignore"):
        weights = np.where(apart(pairs.delta, power), pairs.delta**-power, 0).astype(pairs.delta.dtype)
    return replace(pairs, weights=weights if pairs.weights is None else weights * pairs.weights)


def same_rows(pairs: Pairs, power: float) -> Array:
    """The group of each row; rows at known dissimilarity 0 are in one group."""
    zero = np.flatnonzero(~apart(pairs.delta, power) & (True if pairs.weights is None else pairs.weights > 0))
    if not len(zero):
        return np.arange(pairs.n)
    starts = np.array([pair_start(i, pairs.n) for i in range(pairs.n - 1)])
    i = np.searchsorted(starts, zero, side="right") - 1
    j = zero - starts[i] + i + 1
    graph = csr_array((np.ones(len(zero)), (i, j)), shape=(pairs.n, pairs.n))
    return connected_components(graph, directed=False)[1]


def merged(pairs: Pairs, group: Array, power: float) -> Pairs:
    """Groups of rows as single rows, weighted over delta**power.

    Over pairs with the same d, sum w (delta - d)^2 is, up to a constant, (sum w) (mean - d)^2 with the weighted mean of
    their delta: the minimum is the same.
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

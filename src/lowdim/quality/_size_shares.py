"""How the area under R_NX of a row is put together from its ranks among all rows and among samples of them.

A *level* is a pair (m, k): the row's k nearest among m ranked rows are known in both spaces. A neighbourhood of K of
n rows holds about K m / n of m sampled rows, so each level stands for its own range of K.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim._core.ranks import sizes

Array = NDArray[Any]
Level = tuple[int, int]

LEAST = 5  # sampled rows of a neighbourhood whose R_NX is estimated from them


def size_shares(n: int, levels: list[Level]) -> list[Array]:
    """For each level the weights of the sizes 1..k in the area over K = 1..n-2; all of them add up to one.

    The first level has all other rows, m = n - 1; each of the others begins where the one before it ends. Where a
    neighbourhood holds fewer than `LEAST` sampled rows, its weight is divided between the last sizes of the level
    before and the first of this one, which interpolates R_NX on the scale of log K.
    """
    K = sizes(n - 2)
    share = 1 / K / np.sum(1 / K)
    shares = [np.zeros(k) for _, k in levels]
    start = 0
    for at, (m, k) in enumerate(levels):
        ratio = 1.0 if at == 0 else (m + 1) / n
        end = n - 2 if at == len(levels) - 1 else min(n - 2, int(k / ratio))
        held, weight = K[start:end] * ratio, share[start:end]
        least = min(LEAST, k) if at > 0 else 0
        gap = held < least
        sizes_here = np.clip(np.rint(held[~gap]), 1, k).astype(np.int64)
        shares[at] += np.bincount(sizes_here, weights=weight[~gap], minlength=k + 1)[1:]
        if gap.any():
            here = np.log(K[start:end][gap] / start) / np.log(least / ratio / start)
            _spread(shares[at - 1], slice(levels[at - 1][1] // 2, None), float(weight[gap] @ (1 - here)))
            _spread(shares[at], slice(least - 1, 2 * least), float(weight[gap] @ here))
        start = max(start, end)
    return shares


def _spread(share: Array, part: slice, weight: float) -> None:
    """Add `weight` to these sizes, the same on each stretch of log k."""
    inverse = 1 / sizes(len(share))[part]
    share[part] += weight * inverse / inverse.sum()


def weights_of_ranks(share: Array, m: int) -> tuple[Array, float]:
    """w and c with: sum of share[k-1] R_NX(k) over k = sum over ranked rows of w[larger of both ranks], minus c.

    R_NX(k) = (m Q_NX(k) - k) / (m - k) among m ranked rows; `w` begins with that of rank 0 and ends with a zero.
    """
    k = sizes(len(share))
    tail = np.cumsum((share * m / (k * (m - k)))[::-1])[::-1]
    return np.concatenate([[0.0], tail, [0.0]]), float(np.sum(share * k / (m - k)))


def matched_ranks(high: Array, low: Array) -> Array:
    """The rank in the lists `high` of each entry of the lists `low` (rows of both belong together); 0 if not there."""
    k, past = high.shape[1], int(max(high.max(), low.max())) + 1
    start = np.arange(len(high), dtype=np.int64)[:, None] * past
    keys, wanted = (start + high).ravel(), (start + low).ravel()
    order = np.argsort(keys, kind="stable")
    at = np.minimum(np.searchsorted(keys[order], wanted), len(keys) - 1)
    found = order[at]
    return np.where(keys[found] == wanted, found % k + 1, 0).reshape(low.shape)

"""Random pairs of rows, the same for every embedding, and the standard error of what is estimated from them.

Pairs are drawn one by one, or, where distances come row by row (geodesics, other metrics), in groups that start from
the same row. An estimate that is a smooth function of means over the pairs is, to first order, its true value plus the
mean of the *influences* of the pairs, so that its standard error is that of a mean: no resampling is needed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from lowdim._core.ranks.reference import Reference
from lowdim._core.runtime.threads import blocks

Array = NDArray[Any]
Interval = tuple[float, float]

SOURCES = 400  # rows that pairs start from if distances are computed row by row
WIDTH = NormalDist().inv_cdf(0.975)  # standard errors from the middle of a 95 % interval to its ends


@dataclass(frozen=True, eq=False)
class RowPairs:
    """Pairs of rows, a sample or all of them, and their distances in the data.

    `distances(space)` gives those of the same pairs in another space. `group` is the row that each pair starts from,
    None if pairs were drawn one by one; `share` is the share of all rows that pairs start from.
    """

    delta: Array
    distances: Callable[[Reference], Array]
    group: Array | None = None
    share: float = 0.0
    sampled: bool = True

    @cached_property
    def ranks(self) -> Array:
        """Ranks of the distances in the data; equal ones share their mean rank."""
        return rankdata(self.delta)

    def interval(self, value: float, influence: Array, low: float, high: float) -> Interval:
        """95 % confidence interval of an estimate within its range, from the influence of each pair."""
        half = WIDTH * self.standard_error(influence)
        return float(max(low, value - half)), float(min(high, value + half))

    def standard_error(self, influence: Array) -> float:
        """Of the sum of the influences, which are those of the pairs on the estimate and add up to zero."""
        if self.group is None:
            m = len(influence)
            return float(np.sqrt(influence @ influence * m / (m - 1)))
        # Two stages: rows without replacement, then pairs of each row.
        sums, count = np.bincount(self.group, weights=influence), np.bincount(self.group)
        within = influence - (sums / count)[self.group]
        rows, each = len(sums), int(count.min())
        between = sums @ sums * rows / (rows - 1) if rows > 1 else 0.0
        inside = within @ within * each / (each - 1) if each > 1 else sums @ sums
        return float(np.sqrt((1 - self.share) * between + self.share * inside))


def every_pair(source: Reference) -> RowPairs:
    """All pairs i < j."""
    return RowPairs(_all_distances(source), _all_distances, sampled=False)


def above(rows: Array, n: int) -> Array:
    """Where a block of distances of `rows` has the pairs i < j."""
    return np.arange(n)[None, :] > rows[:, None]


def _all_distances(space: Reference) -> Array:
    parts = blocks(space.n, max(1, 2**20 // space.n))
    rows = [np.arange(part.start, part.stop) for part in parts]
    return np.concatenate([space.block(r, False)[above(r, space.n)].astype(float) for r in rows])


def draw(source: Reference, pairs: int, rng: np.random.Generator) -> RowPairs:
    """A uniform sample of pairs of different rows."""
    n = source.n
    if source.pairs is not None:
        i, j = rng.integers(n, size=pairs), rng.integers(n - 1, size=pairs)
        j += j >= i
        return RowPairs(source.pairs(i, j).astype(float), lambda space: _one_by_one(space, i, j))
    rows = np.sort(rng.choice(n, size=min(n, SOURCES), replace=False))
    each, drawn = max(1, pairs // len(rows)), []
    for part in blocks(len(rows), max(1, 2**20 // n)):
        start = rows[part]
        j = rng.integers(n - 1, size=(len(start), each))
        drawn.append((start, j + (j >= start[:, None])))
    group = np.repeat(np.arange(len(rows)), each)
    return RowPairs(_by_rows(source, drawn), lambda space: _by_rows(space, drawn), group, len(rows) / n)


def _one_by_one(space: Reference, i: Array, j: Array) -> Array:
    if space.pairs is None:
        raise TypeError("distances of single pairs are needed of the embedding where the data has them.")
    return space.pairs(i, j).astype(float)


def _by_rows(space: Reference, drawn: list[tuple[Array, Array]]) -> Array:
    if space.listed is not None:
        return space.listed(drawn)
    found = [np.take_along_axis(space.block(start, False), j, axis=1).ravel() for start, j in drawn]
    return np.concatenate(found).astype(float)


def rank_influence(x: Array, y: Array) -> Array:
    """The influence of each pair on Spearman's correlation of two samples given by their ranks.

    With R and S the ranks as shares of the sample (ties at the middle), the correlation is C / sqrt(V W), where C is
    the covariance of R and S, and V and W are their variances. A pair changes C by its own product and by the ranks of
    all pairs beyond it. Treating the ranks as given numbers would leave out the second part.
    """
    m = len(x)
    R, S = (x - 0.5) / m - 0.5, (y - 0.5) / m - 0.5
    C, V, W = R @ S / m, R @ R / m, S @ S / m
    if not V * W > 0:
        return np.full(m, np.nan)
    (beyond_x, own_x), (beyond_y, own_y) = _means_beyond(x, [S, R]), _means_beyond(y, [R, S])
    of_C = R * S + beyond_x + beyond_y - 3 * C
    of_V, of_W = R * R + 2 * own_x - 3 * V, S * S + 2 * own_y - 3 * W
    return (of_C / np.sqrt(V * W) - C / np.sqrt(V * W) / 2 * (of_V / V + of_W / W)) / m


def _means_beyond(ranks: Array, values: list[Array]) -> list[Array]:
    """For each entry the mean over all of each vector, counting entries of higher rank fully, of equal rank half."""
    at = (2 * ranks).astype(np.int64)  # mean ranks are multiples of a half
    size = int(at.max()) + 1
    found = []
    for value in values:
        here = np.bincount(at, weights=value, minlength=size)
        after = np.cumsum(here[::-1])[::-1] - here
        found.append((after + here / 2)[at] / len(ranks))
    return found

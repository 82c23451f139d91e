"""Which map answers a question best, and which do as well within chance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.stats import norm, rankdata

from lowdim._core.ranks.reference import Reference, euclidean
from lowdim._core.tables.brief import brief

LEVEL = 0.05
LEAST = 0.01  # a smaller difference is not called one, however certain it is: no reader could see it
BLOCKS = 40  # regions of the data; rows of one region are not independent of each other
RESAMPLES = 1000
ANCHORS, OTHERS = 300, 1000  # rows from which, and to which, distances are ranked


@dataclass(frozen=True)
class Ranking:
    """Maps in the order in which they answer one question.

    Attributes
    ----------
    question : str
        "neighbours", "distances", "along the data" or "labels".
    measure : str
        What was measured, as a phrase.
    values : dict of str to float
        Map -> the measure, best first.
    behind : dict of str to (difference, low, high)
        Map -> by how much it is behind the best one, with an interval that holds for all of them at once at 95 %.
    ties : tuple of str
        Maps that are not behind the best one beyond chance, the best one first.
    """

    question: str
    measure: str
    values: dict[str, float]
    behind: dict[str, tuple[float, float, float]]
    ties: tuple[str, ...]

    __repr__ = brief

    @property
    def best(self) -> str:
        """The map with the largest value."""
        return next(iter(self.values))


def ranking(question: str, measure: str, per_row: Mapping[str, np.ndarray], blocks: np.ndarray) -> Ranking:
    """Order maps by the mean over rows; differences to the best with errors that allow for dependence in regions.

    Parameters
    ----------
    question, measure : str
        As in `Ranking`.
    per_row : mapping of str to array
        Map -> the measure of each row, larger is better; the same rows for all, NaN for rows without a value.
    blocks : array of int
        The region of each row.
    """
    means = {name: float(np.nanmean(values)) for name, values in per_row.items()}
    order = sorted(means, key=lambda name: -means[name])  # stable: of equal ones the first given
    best = order[0]
    z = float(norm.ppf(1 - LEVEL / 2 / max(1, len(order) - 1)))
    behind, ties = {}, [best]
    for name in order[1:]:
        difference, error = block_mean(per_row[best] - per_row[name], blocks)
        behind[name] = (difference, difference - z * error, difference + z * error)
        if behind[name][1] <= 0 or difference < LEAST:
            ties.append(name)
    return Ranking(question, measure, {name: means[name] for name in order}, behind, tuple(ties))


def block_mean(values: np.ndarray, blocks: np.ndarray) -> tuple[float, float]:
    """The mean, and its standard error if rows of different regions are independent but those of one region are not."""
    known = np.isfinite(values)
    values, blocks = values[known], blocks[known]
    mean = float(values.mean())
    sums = np.bincount(blocks, weights=values - mean)
    used = int((np.bincount(blocks) > 0).sum())
    if used < 2:
        return mean, float("inf")
    return mean, float(np.sqrt((sums**2).sum() * used / (used - 1)) / len(values))


def regions(source: Reference, rng: np.random.Generator) -> np.ndarray:
    """The region of each row: the nearest of a few random rows."""
    count = min(BLOCKS, max(2, source.n // 10))
    centres = np.sort(rng.choice(source.n, count, replace=False))
    found = [_ordered(source, centres[[at]], np.arange(source.n))[0] for at in range(count)]
    return np.asarray(np.argmin(np.stack(found), axis=0))


def distance_agreement(
    source: Reference, maps: Mapping[str, np.ndarray], rng: np.random.Generator
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """For sampled rows: rank correlation of their distances to other rows, in the data and in each map.

    Returns
    -------
    rows : ndarray of int
        The sampled rows.
    agreement : dict of str to ndarray
        Map -> the correlation of each of them.
    """
    n = source.n
    rows = np.sort(rng.choice(n, min(n, ANCHORS), replace=False))
    others = np.sort(rng.choice(n, min(n, OTHERS), replace=False))
    away = rows[:, None] != others
    high = _ranks(_ordered(source, rows, others), away)
    spaces = {name: euclidean(np.ascontiguousarray(Z, float), name) for name, Z in maps.items()}
    return rows, {name: correlation(high, _ranks(_ordered(Z, rows, others), away)) for name, Z in spaces.items()}


def reference_agreement(one: Reference, other: Reference, rng: np.random.Generator) -> float:
    """Mean rank correlation of two kinds of distances, as in `distance_agreement`."""
    rows = np.sort(rng.choice(one.n, min(one.n, ANCHORS), replace=False))
    others = np.sort(rng.choice(one.n, min(one.n, OTHERS), replace=False))
    away = rows[:, None] != others
    first, second = (_ranks(_ordered(space, rows, others), away) for space in (one, other))
    return float(np.nanmean(correlation(first, second)))


def _ordered(space: Reference, rows: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Numbers ordered like the distances of `rows` to `others`."""
    if space.columns is not None:
        return np.asarray(space.columns(rows, others), float)
    return np.asarray(space.block(rows, True), float)[:, others]


def _ranks(distances: np.ndarray, away: np.ndarray) -> np.ndarray:
    """Ranks in each row, NaN for a row's distance to itself."""
    return np.asarray(rankdata(np.where(away, distances, np.nan), axis=1, nan_policy="omit"))


def correlation(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Of each row of A with that of B; 0 where one of them is constant."""
    A, B = (ranks - np.nanmean(ranks, axis=1, keepdims=True) for ranks in (A, B))
    size = np.sqrt(np.nansum(A * A, axis=1) * np.nansum(B * B, axis=1))
    return np.asarray(np.nansum(A * B, axis=1) / np.where(size > 0, size, 1.0))


def resampled(values: np.ndarray, blocks: np.ndarray, rng: np.random.Generator) -> tuple[float, float, float]:
    """The mean with its 95 % interval: regions are drawn again with replacement, rows of a region together."""
    known = np.isfinite(values)
    sums, counts = (np.bincount(blocks[known], weights=w) for w in (values[known], np.ones(int(known.sum()))))
    there = counts > 0
    drawn = rng.multinomial(int(there.sum()), np.full(int(there.sum()), 1 / there.sum()), size=RESAMPLES)
    means = (drawn @ sums[there]) / (drawn @ counts[there])
    low, high = np.quantile(means, [LEVEL / 2, 1 - LEVEL / 2])
    return float(values[known].mean()), float(low), float(high)

"""Measures as functions of sums over pairs, with the derivatives that their standard errors need."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, nan, sqrt
from typing import Any

from numpy.typing import NDArray

Array = NDArray[Any]

# The sums: number of pairs; u and v are delta and d around a pilot mean, e = delta - scale d around a pilot scale.
COUNT, U, V, UU, VV, UV, EE, ED, DD, DELTA2, GAP2, DELTA, SAMMON = range(13)
N_SUMS = 13
EQUAL = 1e-12  # of the sum of squares: if all values are equal, only rounding remains


@dataclass(frozen=True)
class Statistic:
    """A function of the sums that does not change when all of them are multiplied by the same number.

    `slopes(sums)` are its derivatives by the sums that it depends on, `low` and `high` the range of its values,
    `power(u, v)` the power of two that converts it into true units if delta has the unit 2**u and d the unit 2**v.
    """

    value: Callable[[Array], float]
    slopes: Callable[[Array], dict[int, float]]
    low: float = 0.0
    high: float = inf
    power: Callable[[int, int], int] = lambda u, v: 0


def _root_of_share(s: Array, over: int) -> float:
    return sqrt(s[GAP2] / s[over]) if s[over] > 0 else inf


def _root_slopes(s: Array, over: int) -> dict[int, float]:
    value = _root_of_share(s, over)
    return {GAP2: value / (2 * s[GAP2]), over: -value / (2 * s[over])} if 0 < value < inf else {}


def _left_over(s: Array) -> float:
    """Sum of squared differences after the best rescaling of the embedding."""
    return max(s[EE] - (s[ED] ** 2 / s[DD] if s[DD] > 0 else 0.0), 0.0)


def _scale_optimal(s: Array) -> float:
    return sqrt(_left_over(s) / s[DELTA2])


def _scale_optimal_slopes(s: Array) -> dict[int, float]:
    left, value = _left_over(s), _scale_optimal(s)
    if not left > 0:
        return {}
    slope, scale = value / (2 * left), s[ED] / s[DD] if s[DD] > 0 else 0.0
    return {EE: slope, ED: -2 * scale * slope, DD: scale**2 * slope, DELTA2: -value / (2 * s[DELTA2])}


def _share(s: Array, part: int, whole: int) -> float:
    return float(s[part] / s[whole])


def _share_slopes(s: Array, part: int, whole: int) -> dict[int, float]:
    return {part: 1 / s[whole], whole: -s[part] / s[whole] ** 2}


def _spreads(s: Array) -> tuple[float, float]:
    """Sums of squares around the means; 0 where all values are equal."""
    found = (s[square] - s[total] ** 2 / s[COUNT] for square, total in ((UU, U), (VV, V)))
    a, b = (spread if spread > EQUAL * s[square] else 0.0 for spread, square in zip(found, (UU, VV), strict=True))
    return a, b


def _pearson(s: Array) -> float:
    a, b = _spreads(s)
    if not a * b > 0:
        return nan
    cross = s[UV] - s[U] * s[V] / s[COUNT]
    return min(1.0, max(-1.0, cross / sqrt(a * b)))


def _pearson_slopes(s: Array) -> dict[int, float]:
    # Sampled pairs are summed around their own means: the sums of u and v are zero, and so are the slopes by them.
    (a, b), r = _spreads(s), _pearson(s)
    return {UV: 1 / sqrt(a * b), UU: -r / (2 * a), VV: -r / (2 * b)} if a * b > 0 else {}


normalized = Statistic(
    lambda s: _root_of_share(s, DELTA2), lambda s: _root_slopes(s, DELTA2), power=lambda u, v: max(u, v) - u
)
stress1 = Statistic(lambda s: _root_of_share(s, DD), lambda s: _root_slopes(s, DD), power=lambda u, v: max(u, v) - v)
scale_optimal = Statistic(_scale_optimal, _scale_optimal_slopes, high=1.0)
mean_gap = Statistic(  # times the number of all pairs: the raw stress, also from a sample
    lambda s: _share(s, GAP2, COUNT), lambda s: _share_slopes(s, GAP2, COUNT), power=lambda u, v: 2 * max(u, v)
)
sammon = Statistic(
    lambda s: _share(s, SAMMON, DELTA),
    lambda s: _share_slopes(s, SAMMON, DELTA),
    power=lambda u, v: 2 * (max(u, v) - u),
)
pearson = Statistic(_pearson, _pearson_slopes, low=-1.0, high=1.0)

"""Intrinsic dimension from distances to nearest neighbours: estimators, their standard errors, and the effect of edges.

Around a row of a d-dimensional sheet, the number of rows within a distance r grows like r^d. Each estimator reads d
from this growth at some scale (number of neighbours). Contributions of neighbouring rows depend on each other, so
standard errors add the products of contributions of rows and their neighbours (as for time series and maps, Conley
1999).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

Array = NDArray[Any]

NORMAL = 1.959964  # 95 % of a normal distribution are within so many standard deviations
# Rows spread evenly over a cube of D dimensions: the estimate is below D by a share that depends on the scale s, the
# number of rows n and D only through u = (s / n)^(1/D), the size of a neighbourhood. Least squares over D = 1 to 30,
# n = 200 to 20,000, s = 1.5 to 48: root mean square error 0.010 (benchmarks/intrinsic_dimension.py).
EDGE = ((0.329, 1.08), (0.454, 9.69))
UNSURE = 0.1  # of the correction: the formula is that good, for cubes
MOST = 1e4  # dimensions
GRIDE_SCALE = 1.5  # of the ratio of distances to neighbours 2 m and m, in units of m
ML_SCALE = 0.526  # of all ratios of the distance to neighbour k, in units of k; the formula then fits to 0.007
CORRELATION_SCALE = 0.768  # of pairs within a radius that holds k neighbours; the formula then fits to 0.019


@dataclass(frozen=True)
class Estimate:
    """A dimension with its standard error, and the number of neighbours it was read at."""

    value: float
    error: float
    scale: float

    def interval(self) -> tuple[float, float]:
        """95 % interval; symmetric on a log scale, as the errors are relative ones."""
        width = NORMAL * self.error / self.value
        return self.value * float(np.exp(-width)), self.value * float(np.exp(width))


def gride(distances: Array, indices: Array, m: int) -> Estimate:
    """Maximum likelihood from the ratio of the distances to neighbours 2 m and m; m = 1 is TwoNN. NaN where all are 1.

    Denti, Doimo, Laio, Mira (2022), The generalized ratios intrinsic dimension estimator.
    """
    logs = np.log(distances[:, 2 * m - 1] / distances[:, m - 1])
    logs = np.maximum(logs, 1e-12)

    def scores(d: float) -> Array:
        inner = (m - 1) * logs / -np.expm1(-d * logs) if m > 1 else 0.0
        return 1 / d + inner - (2 * m - 1) * logs

    if scores(MOST).sum() >= 0:  # nearly all rows have both neighbours equally far away, as on a grid
        return Estimate(np.nan, np.nan, GRIDE_SCALE * m)
    d = float(brentq(lambda d: float(scores(d).sum()), 1e-3, MOST, rtol=1e-10))
    curvature = 1 / d**2 + (m - 1) * np.square(logs / (2 * np.sinh(np.minimum(d * logs / 2, 300))))
    spread = _spread(scores(d), indices[:, : 2 * m])
    return Estimate(d, spread / float(curvature.sum()), GRIDE_SCALE * m)


def maximum_likelihood(distances: Array, indices: Array, k: int) -> Estimate:
    """Levina and Bickel's estimator from k neighbours, its inverses averaged over rows (MacKay and Ghahramani)."""
    inverses = np.mean(np.log(distances[:, k - 1 : k] / distances[:, : k - 1]), axis=1)
    mean = float(inverses.mean())
    if mean <= 0:  # all neighbours of each row are equally far
        return Estimate(np.nan, np.nan, ML_SCALE * k)
    spread = _spread(inverses - mean, indices[:, :k]) / len(inverses)
    return Estimate(1 / mean, spread / mean**2, ML_SCALE * k)


def correlation(distances: Array, indices: Array, k: int) -> Estimate:
    """Takens' maximum likelihood form of the correlation dimension, over all pairs within one radius.

    The radius is the median distance to neighbour k, so that about k neighbours of a row are within it; rows in denser
    regions have more of them, of which the lists hold the nearest.
    """
    radius = float(np.median(distances[:, k - 1]))
    inside = distances < radius
    logs = np.where(inside, np.log(radius / np.where(inside, distances, radius)), 0.0).sum(axis=1)
    counts = inside.sum(axis=1)
    if logs.sum() <= 0:  # no two rows are nearer than the radius
        return Estimate(np.nan, np.nan, CORRELATION_SCALE * k)
    mean = float(logs.sum() / counts.sum())
    spread = _spread(logs - mean * counts, indices[:, :k]) / float(counts.sum())
    return Estimate(1 / mean, spread / mean**2, CORRELATION_SCALE * k)


def without_edge(found: Estimate, n: int) -> Estimate:
    """The dimension of a cube for which the estimate is expected at this scale; the error grows alike."""

    def expected(D: float) -> float:
        u = (found.scale / n) ** (1 / D)
        return D * (1 - sum(a * u**p for a, p in EDGE))

    def solved(value: float) -> float:
        top = value
        while expected(top) < value and top < 1e6:
            top *= 1.5
        return float(brentq(lambda D: expected(D) - value, value, top, rtol=1e-10)) if top > value else value

    if not np.isfinite(found.value):
        return found
    D = solved(found.value)
    slope = (solved(found.value * 1.001) - D) / (found.value * 0.001)
    return Estimate(D, float(np.hypot(found.error * slope, UNSURE * (D - found.value))), found.scale)


def _spread(scores: Array, near: Array) -> float:
    """Standard deviation of the sum of scores that depend on each other between neighbours."""
    own = float(np.square(scores).sum())
    cross = float(sum(scores @ scores[column] for column in near.T))
    return float(np.sqrt(max(own, own + cross)))

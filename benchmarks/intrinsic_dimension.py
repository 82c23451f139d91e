"""How far estimates of the intrinsic dimension fall short in cubes, and the formula that corrects them.

``python -m benchmarks.intrinsic_dimension`` draws rows evenly from cubes, estimates their dimension at several scales,
and fits ``1 - estimate / D = a u^p + b u^q`` with ``u = (scale / n)^(1/D)``: the constants `EDGE`, `ML_SCALE` and
`CORRELATION_SCALE` of ``lowdim.select._dimension_estimators``. It takes about five minutes.
"""

from __future__ import annotations

import sys

import numpy as np
from scipy.optimize import least_squares, minimize_scalar

from lowdim._core.neighbors import nearest
from lowdim.select import _dimension_estimators as estimators

DIMENSIONS = (1, 2, 3, 4, 6, 8, 10, 14, 20, 30)
ROWS = (200, 600, 2000, 6000, 20_000)
NEIGHBOR = (1, 2, 4, 8, 16, 32)
COUNT = 20
DRAWN = 6000  # rows of each setting


def lists(n, D, rng):
    """Distances to neighbours and their places, for about `DRAWN` rows in all."""
    for _ in range(max(1, DRAWN // n)):
        found = nearest(rng.random((n, D)), 2 * NEIGHBOR[-1])
        yield found.distances, found.indices


def mean_of(estimate, made):
    """Estimates of several draws, averaged as their likelihoods would be: by their inverses."""
    return 1 / np.mean([1 / estimate(*each).value for each in made])


def main():
    rng, ratios, others = np.random.default_rng(0), [], []
    for n in ROWS:
        for D in DIMENSIONS:
            made = list(lists(n, D, rng))
            ratios += [(n, D, m, mean_of(lambda d, i, m=m: estimators.gride(d, i, m), made)) for m in NEIGHBOR]
            likelihood = mean_of(lambda d, i: estimators.maximum_likelihood(d, i, COUNT), made)
            correlation = mean_of(lambda d, i: estimators.correlation(d, i, COUNT), made)
            others.append((n, D, likelihood, correlation))
    report(np.array(ratios), np.array(others))


def report(ratios, others):
    n, D, m, found = ratios.T
    u, short = (estimators.GRIDE_SCALE * m / n) ** (1 / D), 1 - found / D
    fit = least_squares(lambda p: p[0] * u ** p[1] + p[2] * u ** p[3] - short, [0.3, 1, 0.4, 9])
    sys.stdout.write(f"EDGE: {np.round(fit.x, 3)}, root mean square error {np.sqrt(np.mean(fit.fun**2)):.4f}\n")
    n, D = others[:, 0], others[:, 1]
    for name, seen in (("ML_SCALE", others[:, 2]), ("CORRELATION_SCALE", others[:, 3])):

        def error(scale, seen=seen):
            v = (scale * COUNT / n) ** (1 / D)
            return D * (1 - sum(a * v**p for a, p in estimators.EDGE)) / seen - 1

        best = minimize_scalar(lambda scale, error=error: np.sum(error(scale) ** 2), bounds=(0.05, 3), method="bounded")
        sys.stdout.write(f"{name}: {best.x:.3f}, root mean square error {np.sqrt(np.mean(error(best.x) ** 2)):.4f}\n")


if __name__ == "__main__":
    main()

"""The evidence of probabilistic PCA for each number of components."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

_EPS = float(np.finfo(np.float64).eps)


def minka_evidence(values: np.ndarray, n: float, d: int) -> np.ndarray | None:
    """Laplace approximation of the log evidence (Minka, 2000, equation 76) for 1 .. d - 1 components.

    None where there are fewer rows than columns, or the columns are linearly dependent.
    """
    if n < d or d < 2 or numerical_rank(values, n, d) < d:
        return None
    r, rest = np.arange(1, d), values[::-1].cumsum()[::-1][1:]
    v = rest / (d - r)
    spans = d - np.arange(d)
    prior = np.cumsum(gammaln(spans / 2) - np.log(np.pi) * spans / 2)[:-1] - r * np.log(2)
    fit = -n / 2 * (np.cumsum(np.log(values))[:-1] + np.log(v) * (d - r))
    free = d * r - r * (r + 1) / 2
    return prior + fit + np.log(2 * np.pi) * (free + r) / 2 - _curvature(values, v, n) / 2 - r * np.log(n) / 2


def numerical_rank(values: np.ndarray, n: float, d: int) -> int:
    """How many variances are above the rounding of the largest."""
    return int((values > max(n, d) * _EPS * values[0]).sum())


def _curvature(values: np.ndarray, v: np.ndarray, n: float) -> np.ndarray:
    """sum_{i<=r} sum_{j>i} log(lambda_i - lambda_j)(1/l_j - 1/lambda_i) n with l_j = v_r for j > r; for each r."""
    d, floor = len(values), _EPS * values[0]
    i, j = np.triu_indices(d, 1)
    gaps, inverse = np.zeros((d, d)), np.zeros((d, d))
    gaps[i, j] = np.log(np.maximum(values[i] - values[j], floor))
    inverse[i, j] = np.log(np.maximum(1 / values[j] - 1 / values[i], _EPS / values[0]))
    r = np.arange(1, d)
    first = np.cumsum(gaps.sum(axis=1))[:-1]
    inside = np.cumsum(inverse.sum(axis=0))[:-1]  # pairs i < j < r
    beyond = np.array([np.log(np.maximum(1 / v[k - 1] - 1 / values[:k], _EPS / values[0])).sum() for k in r])
    pairs = r * d - r * (r + 1) / 2
    return first + inside + (d - r) * beyond + pairs * np.log(n)

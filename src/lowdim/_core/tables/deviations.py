"""Standard deviations to divide columns by, and which columns are constant but for rounding."""

from __future__ import annotations

from typing import Any

import numpy as np

_EPS = float(np.finfo(np.float64).eps)


def rounding_of(mean: np.ndarray, n: float, dtype: Any = np.float64) -> np.ndarray:
    """The deviation up to which a column of n cells is constant: what rounding its mean and its cells leaves.

    Sums are in float64; cells given in `dtype` are known to half a unit of its last digit.
    """
    return max(_EPS * (16.0 + np.sqrt(n)), 0.5 * float(np.finfo(dtype).eps)) * np.abs(mean)


def deviations(variance: np.ndarray, mean: np.ndarray, n: float, dtype: Any = np.float64) -> np.ndarray:
    """Standard deviations of columns; 1 where a column is constant, so that it can be divided by."""
    deviation = np.sqrt(np.maximum(variance, 0.0))
    return np.where(deviation <= rounding_of(mean, n, dtype), 1.0, deviation)

"""Weights of rows, as every estimator that takes `sample_weight` checks them."""

from __future__ import annotations

from numbers import Number
from typing import Any

import numpy as np


def check_weights(sample_weight: Any, n: int, owner: str) -> np.ndarray:
    """One finite weight >= 0 for each of n rows, not all of them 0, in float64; a number stands for all rows."""
    if isinstance(sample_weight, Number):
        sample_weight = np.full(n, sample_weight)
    try:
        given = np.asarray(sample_weight)
        if given.dtype.kind == "c":
            raise TypeError("complex numbers")
        weights = np.ascontiguousarray(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{owner}: sample_weight must be an array of {n} numbers; got {sample_weight!r}.") from error
    if weights.shape != (n,):
        raise ValueError(f"{owner}: sample_weight must have one weight for each row, {n}; got shape {weights.shape}.")
    if not np.isfinite(weights).all():
        raise ValueError(f"{owner}: sample_weight must be finite; got {weights[~np.isfinite(weights)][0]:g}.")
    if not (weights >= 0).all():
        raise ValueError(f"{owner}: sample_weight must not be negative; got {weights.min():g}.")
    if not weights.any():
        raise ValueError(f"{owner}: sample_weight must have at least one non-zero entry; got {n} zeros.")
    return weights

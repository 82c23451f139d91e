"""Checks of the arguments of the generators."""

from __future__ import annotations

import math
import operator
from numbers import Real

import numpy as np

from lowdim._core.runtime import memory


def check_count(owner: str, value: object, name: str = "n_samples", least: int = 1) -> int:
    """A number of rows or pixels as an int."""
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError
        count = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"{owner}: {name} must be a whole number; got {value!r}.") from None
    if count < least:
        raise ValueError(f"{owner}: {name} must be at least {least}; got {count}.")
    return count


def check_noise(owner: str, noise: object) -> float:
    """The standard deviation of the added noise as a float."""
    if not isinstance(noise, Real) or isinstance(noise, (bool, np.bool_)):
        raise TypeError(f"{owner}: noise must be a number (a standard deviation); got {noise!r}.")
    sd = float(noise)
    if not (math.isfinite(sd) and sd >= 0):
        raise ValueError(f"{owner}: noise must be finite and at least 0; got {noise!r}.")
    return sd


def start(owner: str, n_samples: object, noise: object, random_state: object) -> tuple[int, float, np.random.Generator]:
    """Checked arguments and the random generator: the first line of every data set."""
    n, sd = check_count(owner, n_samples), check_noise(owner, noise)
    memory.check(owner, {"rows": 80 * n}, "Ask for fewer rows.")
    from lowdim._core.runtime.rng import (
        generator,  # it imports scikit-learn, which is not needed to list names
    )

    return n, sd, generator(random_state)

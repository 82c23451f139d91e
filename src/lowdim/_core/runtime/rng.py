"""Random generators are made here only."""

from __future__ import annotations

import numpy as np


def generator(random_state: object = None) -> np.random.Generator:
    """A generator from what users pass: None, an int, a Generator, or scikit-learn's RandomState.

    An int always gives the same stream. A RandomState is advanced by one draw, as scikit-learn's methods do; a
    Generator is used as it is.
    """
    if isinstance(random_state, np.random.Generator):
        return random_state
    if random_state is None or isinstance(random_state, (int, np.integer)):
        if random_state is not None and random_state < 0:
            raise ValueError(f"random_state must be None, a non-negative int or a generator; got {random_state!r}.")
        return np.random.default_rng(None if random_state is None else int(random_state))
    from sklearn.utils import check_random_state  # seldom needed, and slow to import

    try:
        legacy = check_random_state(random_state)
    except ValueError:
        raise ValueError(
            f"random_state must be None, a non-negative int or a generator; got {random_state!r}."
        ) from None
    return np.random.default_rng(legacy.randint(np.iinfo(np.int32).max))

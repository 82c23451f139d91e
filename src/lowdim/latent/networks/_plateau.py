"""When training on mini-batches has reached a plateau.

An epoch's loss is noisy, so a rule that waits for a new minimum stops by chance, and one that counts epochs stops
wherever its schedule ends. Here the mean loss of the last epochs is compared with the mean of as many before them, and
the decrease is measured by all that training has gained: a bound on a likelihood has no zero.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

DECAY = 4.0  # the learning rate is divided by this at a plateau
DECAYS = 3  # times; at the next plateau training has ended
LEAST_STEPS = 100  # of a window: an epoch of a small table is one or two steps
TIMES = 50.0  # `tol`, which is a change in ten steps of L-BFGS, is so many times larger here, for a window
LEAST_RATE = 0.1  # share of the learning rate: below, a loss stands still because the steps are short


def window(patience: int, n_batches: int, decays: int) -> int:
    """Epochs whose mean is compared with that of as many before; half of them once the learning rate has decreased."""
    epochs = max(patience, -(-LEAST_STEPS // n_batches))
    return epochs if decays == 0 else max(1, epochs // 2)


def reached(losses: Sequence[float], length: int, tol: float, gained: float) -> bool:
    """Whether the mean of the last losses is lower than that of as many before by less than 50 `tol` of `gained`.

    `losses` are those since the learning rate was last changed.

    Examples
    --------
    >>> falling = [1 / (1 + i) for i in range(40)]
    >>> reached(falling, 10, 4e-4, 1.0), reached(falling, 10, 1e-5, 1.0)
    (True, False)
    """
    if len(losses) < 2 * length:
        return False
    before, last = np.mean(losses[-2 * length : -length]), np.mean(losses[-length:])
    return not float(before - last) > TIMES * tol * max(gained, 0.0)

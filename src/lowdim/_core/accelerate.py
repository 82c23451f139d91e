"""Anderson acceleration of a fixed-point map that must not make its loss worse.

EM and related methods converge linearly, with a rate that approaches 1 as more cells are missing. The last few
iterates and their images tell how the map bends; their best combination extrapolates to its fixed point (Anderson,
1965; as DAAREM, Henderson and Varadhan, 2019, for EM). An extrapolation that raises the loss is taken back, so that
the loss is as monotone as that of the map.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Array = np.ndarray

MEMORY = 10


@dataclass(frozen=True, eq=False)
class Point:
    """A place, where the map sends it, and the loss at the place itself."""

    place: Array
    image: Array
    loss: float


History = tuple[Point, ...]  # newest last


def accelerated(
    evaluate: Callable[[Array], Point], *, below: float = np.inf
) -> Callable[[History], tuple[History, float]]:
    """A step for `iterate` from the map alone; start it with ``(evaluate(place),)``.

    Parameters
    ----------
    evaluate : callable
        place -> Point. The map must not raise the loss; where it has no loss, the length of its step will do.
    below : float
        Jump only from where the loss is at most this. For a loss that is a length: far from a fixed point a shorter
        step need not be a better place.

    Returns
    -------
    callable
        History -> (history with one more point, its loss). A jump that raises the loss is replaced by the plain
        image, and the memory starts afresh.
    """

    def step(history: History) -> tuple[History, float]:
        now = history[-1]
        jumping = len(history) > 1 and now.loss <= below
        if jumping:
            found = evaluate(_jump(history))
            if found.loss <= now.loss:
                return (*history, found)[-MEMORY:], found.loss
        found = evaluate(now.image)
        return (*(() if jumping else history), found)[-MEMORY:], found.loss

    return step


def _jump(history: History) -> Array:
    """The combination of images whose combined steps nearly cancel (least squares, damped)."""
    places = np.array([point.place for point in history])
    steps = np.array([point.image for point in history]) - places
    changes, moves = np.diff(steps, axis=0), np.diff(places, axis=0)
    gram = changes @ changes.T
    damping = 1e-12 * np.trace(gram) + np.finfo(np.float64).tiny
    weights = np.linalg.solve(gram + damping * np.eye(len(gram)), changes @ steps[-1])
    return places[-1] + steps[-1] - weights @ (moves + changes)

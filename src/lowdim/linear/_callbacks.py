"""A user's callback for fits that consist of several loops."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

from lowdim._core.iterate import Callback


def consecutive(callback: Callback | None, show: Callable[[Any], Any] = lambda state: state) -> Callback | None:
    """The callback with steps counted on from one loop to the next, each state as `show` gives it."""
    if callback is None:
        return None
    steps = count(1)
    return lambda _, loss, state: callback(next(steps), loss, show(state))

"""The user's callback over a fit that consists of several loops: starts, connected components, components in turn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lowdim._core.iterate import Callback, wants_stop


class Relay:
    """Passes the steps of several loops to one callback: numbers them through, and stops every loop after a stop.

    A loop that comes after the stop makes one step only: its part of the result is still needed.
    """

    def __init__(self, callback: Callback | None) -> None:
        self.callback, self.steps, self.stopped = callback, 0, False

    def __call__(self, loss: float, state: Any) -> bool:
        """Report one more step; True where the fit must stop."""
        return self._pass_on(loss, lambda: state)

    def showing(self, show: Callable[[Any], Any] = lambda state: state) -> Callback | None:
        """A callback for one loop that shows the user `show(state)`; None where the user gave none."""
        if self.callback is None:
            return None

        def callback(step: int, loss: float, state: Any) -> bool:
            return self._pass_on(loss, lambda: show(state))

        return callback

    def _pass_on(self, loss: float, result: Callable[[], Any]) -> bool:
        if not self.stopped and self.callback is not None:
            self.steps += 1
            self.stopped = wants_stop(self.callback(self.steps, float(loss), result()))
        return self.stopped

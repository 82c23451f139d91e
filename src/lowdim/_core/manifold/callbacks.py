"""The user's callback over a fit that consists of several runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lowdim._core.iterate import Callback, wants_stop


class Relay:
    """Passes steps of several runs to one callback: numbers them through, and stops every run after the first stop.

    A connected component that comes after the stop makes one step only: its rows still need coordinates.
    """

    def __init__(self, callback: Callback | None) -> None:
        self.callback, self.steps, self.stopped = callback, 0, False

    def showing(self, show: Callable[[Any], Any]) -> Callback | None:
        """A callback for one run that shows the user `show(state)`; None where the user gave none."""
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

"""What many maps of the same rows will take, said before they are made."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from math import log

import numpy as np
from numpy.typing import NDArray

from lowdim._core.runtime.notices import warn

Array = NDArray[np.intp]

TRIED_FROM = 8000  # rows: of fewer, the first map itself is soon done
PARTS = 32, 8  # of the rows that are tried, every 32nd and every 8th: 1 % of what 20 maps take
LONG = 120.0  # seconds that are announced where nobody watches
POWERS = 1.0, 3.0  # of the number of rows that time may grow with


def expected_seconds(make: Callable[[Array], object], n: int) -> float | None:
    """Seconds of one map of n rows, from maps of two parts of them; None of few rows, or where a part has no map.

    Time grows with some power of the number of rows. Both parts say which: small parts have other shares of what does
    not grow, so that it is an estimate.
    """
    if n < TRIED_FROM:
        return None
    seconds, sizes = [], []
    for part in PARTS:
        rows = np.arange(0, n, part)
        start = time.monotonic()
        try:
            make(rows)
        except ValueError:  # settings that need more rows than these
            return None
        seconds.append(max(time.monotonic() - start, 1e-6))
        sizes.append(len(rows))
    power = float(np.clip(log(seconds[1] / seconds[0]) / log(sizes[1] / sizes[0]), *POWERS))
    return float(seconds[1] * (n / sizes[1]) ** power)


def spoken(seconds: float) -> str:
    """A time as a person would say it: "about 40 s", "about 9 min", "about 3.5 h"."""
    if seconds < 90:
        return f"about {max(1, round(seconds))} s"
    return f"about {round(seconds / 60)} min" if seconds < 5400 else f"about {seconds / 3600:.1f} h"


@dataclass
class Announcer:
    """Says on stderr what is to come and what is left, if `verbose`, and calls `progress`.

    Where nobody watches (neither `verbose` nor `progress`), it warns before the first map if all of them take long.
    """

    owner: str
    total: int
    verbose: int | bool
    progress: Callable[[int, int], None] | None
    _start: float = field(default_factory=time.monotonic)

    def begin(self, what: str, one: Callable[[], float | None]) -> None:
        """Before the first map; `one` estimates the seconds of one."""
        watched = bool(self.verbose)
        seconds = one() if watched or self.progress is None else None
        total = None if seconds is None else self.total * seconds
        if watched:
            self._say(what if total is None else f"{what}: {spoken(total)}")
        elif total is not None and total > LONG:
            warn(
                f"{self.owner}: {what} take {spoken(total)}. verbose=1 shows how far they are; fewer n_resamples, or a "
                "sample of the rows, take less."
            )
        self._start = time.monotonic()

    def done(self, count: int) -> None:
        """So many maps are made."""
        if self.verbose:
            left = (time.monotonic() - self._start) / count * (self.total - count)
            self._say(f"{count} of {self.total}" + (f", {spoken(left)} left" if count < self.total else ""))
        if self.progress is not None:
            self.progress(count, self.total)

    def _say(self, text: str) -> None:
        sys.stderr.write(f"{self.owner}: {text}\n")

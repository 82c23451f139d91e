"""Time and memory of a call, and how much of the machine others used meanwhile."""

from __future__ import annotations

import os
import resource
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

_UNIT = 1 if sys.platform == "darwin" else 1024  # of ru_maxrss
_SHORTEST = 0.2  # seconds; the kernel counts processor time in hundredths


class Meter:
    """Started when it is made; `read` says what has happened since."""

    def __init__(self) -> None:
        _forget_peak()
        self.before = _memory("VmRSS")
        self.busy, self.own = busy(), _processor()
        self.start = time.perf_counter()

    def read(self) -> dict[str, Any]:
        """Seconds, processor seconds, share of the machine used by others, and bytes."""
        seconds, finished, own = time.perf_counter() - self.start, time.monotonic(), _processor()
        started = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * _UNIT
        return {
            "seconds": seconds,
            "finished": finished,
            "processor": own - self.own,
            "others": self._others(seconds, own - self.own),
            "peak": started or _peak(),  # what a contender does in processes of its own, it does there alone
            "before": None if started else self.before,
        }

    def _others(self, seconds: float, own: float) -> float | None:
        now = busy()
        if now is None or self.busy is None or seconds < _SHORTEST:
            return None
        return min(1.0, max(0.0, (now - self.busy - own) / (seconds * (os.cpu_count() or 1))))


def busy() -> float | None:
    """Seconds that all processors together have worked since the machine was started; None where nobody counts."""
    with suppress(OSError, ValueError, IndexError):
        counts = [int(word) for word in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
        idle = counts[3] + counts[4]  # the fourth is idle, the fifth waits for a disk
        return (sum(counts) - idle) / os.sysconf("SC_CLK_TCK")
    return None


def wait_until_quiet(longest: float, share: float = 0.1) -> None:
    """Return when the machine has been at rest for half a second, or after so many seconds."""
    end = time.monotonic() + longest
    while time.monotonic() < end:
        before = busy()
        time.sleep(0.5)
        if before is None or (busy() or 0.0) - before < share * 0.5 * (os.cpu_count() or 1):
            return


def _processor() -> float:
    """Processor seconds of this process and of those it has started and waited for."""
    return sum(os.times()[:4])


def _memory(field: str) -> int | None:
    """A line of /proc/self/status in bytes; None where the system has no such file."""
    with suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith(field + ":"):
                return int(line.split()[1]) * 1024
    return None


def _forget_peak() -> None:
    """From now on the peak is that of the measured call (Linux; elsewhere that of the whole process)."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def _peak() -> int:
    """Most memory this process has held, in bytes."""
    # The kernel's other record survives exec, so that it can be the parent's.
    return _memory("VmHWM") or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _UNIT

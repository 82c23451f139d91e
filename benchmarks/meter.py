"""Time and memory of a call, and the processor time that other processes took meanwhile."""

from __future__ import annotations

import os
import resource
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LIMIT = 0.2  # share of the machine that other processes may use; a run above it is disturbed
SAMPLE = 0.5  # seconds of watching before a run
_UNIT = 1 if sys.platform == "darwin" else 1024  # of ru_maxrss
_SHORTEST = 0.2  # seconds; the kernel counts processor time in hundredths


@dataclass(frozen=True)
class Counts:
    """Processor seconds of the whole machine since it was started."""

    worked: float  # by all processes
    stolen: float  # by the host of a virtual machine, for other machines (steal time)


@dataclass(frozen=True)
class Share:
    """Share of all processors, 0 to 1, that this program did not have; None where the system does not count it."""

    others: float | None = None  # other processes and steal time together
    steal: float | None = None


def counts() -> Counts | None:
    """The first line of /proc/stat; None where there is no such file."""
    with suppress(OSError, ValueError, IndexError):
        ticks = [int(word) for word in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
        user, nice, system, _idle, _iowait, irq, softirq, steal = ticks
        unit = os.sysconf("SC_CLK_TCK")
        return Counts((user + nice + system + irq + softirq) / unit, steal / unit)
    return None


def own_seconds() -> float:
    """Processor seconds of this process and of the children it has waited for."""
    return sum(os.times()[:4])


class Watch:
    """What other processes take of the machine, from the moment the watch is made."""

    def __init__(
        self,
        read: Callable[[], Counts | None] = counts,
        own: Callable[[], float] = own_seconds,
        clock: Callable[[], float] = time.perf_counter,
        processors: int = os.cpu_count() or 1,
    ) -> None:
        self._read, self._own, self._clock, self._processors = read, own, clock, processors
        self._start = read(), own(), clock()

    def share(self) -> Share:
        """Work of the machine that is not this program's; nothing is said about less than 0.2 seconds."""
        (before, own, start), now = self._start, self._read()
        seconds, mine = self._clock() - start, self._own() - own
        if before is None or now is None or seconds < _SHORTEST:
            return Share()
        whole = seconds * self._processors
        stolen = now.stolen - before.stolen
        # Some kernels count steal time as work of the process that waits for it: never less than nothing.
        foreign = max(0.0, now.worked - before.worked - mine) + stolen
        return Share(min(1.0, foreign / whole), min(1.0, stolen / whole))


class Guard:
    """Watches the machine before and during each run of the runner."""

    def before(self, longest: float) -> Share:
        """Wait until the machine is quiet, at most so many seconds; the share during the last half second."""
        end = time.monotonic() + longest
        while True:
            watch = Watch()
            time.sleep(SAMPLE)
            share = watch.share()
            if not is_loud([share.others]) or time.monotonic() >= end:
                return share

    def start(self) -> None:
        """A run begins."""
        self._watch = Watch()

    def during(self, measured: Share | None) -> Share:
        """The share during the run: as the run itself measured it, else that of its whole process."""
        return self._watch.share() if measured is None or measured.others is None else measured


def is_loud(shares: Iterable[float | None]) -> bool:
    """Whether one of these shares is above the limit."""
    return any(share is not None and share > LIMIT for share in shares)


class Meter:
    """Started when it is made; `read` says what has happened since."""

    def __init__(self) -> None:
        _forget_peak()
        self.before = _memory("VmRSS")
        self.own, self._watch = own_seconds(), Watch()
        self.start = time.perf_counter()

    def read(self) -> dict[str, Any]:
        """Seconds, processor seconds, share of the machine used by others, and bytes."""
        seconds, finished, own = time.perf_counter() - self.start, time.monotonic(), own_seconds()
        share = self._watch.share()
        started = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * _UNIT
        return {
            "seconds": seconds,
            "finished": finished,
            "processor": own - self.own,
            "others": share.others,
            "steal": share.steal,
            "peak": started or _peak(),  # what a contender does in processes of its own, it does there alone
            "before": None if started else self.before,
        }


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

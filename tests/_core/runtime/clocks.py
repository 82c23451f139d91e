"""Time that a busy machine does not stretch.

A deadline by the clock also counts the work of other programs. What a test means by "at once" is that the process did
not go on working: its processor time says that. Nothing here notices a process that waits and does nothing; the time
limit of the test ends one that waits for ever.
"""

import os
import resource
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path


def stopwatch() -> Callable[[], float]:
    """Seconds since now, of the clock or of the processor time of this process, whichever is less.

    On a quiet machine several threads take more processor time than the clock shows; on a busy one the clock runs on
    while they wait.
    """
    clock, work = time.monotonic(), time.process_time()
    return lambda: min(time.monotonic() - clock, time.process_time() - work)


def children() -> float:
    """Processor time of all children of this process that have ended and were waited for."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def descendants() -> float:
    """Processor time of the processes that this one started, and those that they started, while they live.

    Where the system does not say (only Linux does), the clock.
    """
    if not Path("/proc/self/stat").exists():
        return time.monotonic()
    parents, spent = {}, {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # ended meanwhile
            fields = path.read_text(errors="replace").rpartition(")")[2].split()
            parents[int(path.parent.name)] = int(fields[1])
            spent[int(path.parent.name)] = int(fields[11]) + int(fields[12])
    family = {os.getpid()}
    while more := {process for process, parent in parents.items() if parent in family} - family:
        family |= more
    return sum(spent[process] for process in family - {os.getpid()}) / os.sysconf("SC_CLK_TCK")

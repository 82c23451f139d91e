"""The memory limit: a computation that would exceed it raises an error before it allocates."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from weakref import WeakSet

_UNITS = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}
_UNITS |= {"kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40}

_SMALL = 2**24  # bytes that any machine has
_limit: ContextVar[int | None] = ContextVar("lowdim_memory_limit", default=None)
_sample: ContextVar[int] = ContextVar("lowdim_sample_rows", default=20_000)


@contextmanager
def config(*, memory_limit: int | float | str | None = None, sample_rows: int | None = None) -> Iterator[None]:
    """Settings for the block that follows.

    Parameters
    ----------
    memory_limit : int, float, str or None
        The most memory that one `fit`, or reading one file, may plan for: bytes, or text such as ``"8GB"`` or
        ``"512MiB"``. None keeps what is in force: the variable ``LOWDIM_MEMORY_LIMIT``, else the memory this machine
        has available. Threads that are started inside the block are under its limit too.
    sample_rows : int or None
        The most rows of a collection of Dask that a method which needs its rows in one memory is fitted to: a random
        sample where there are more. None keeps what is in force: 20,000 outside of any block.

    Examples
    --------
    >>> import lowdim
    >>> with lowdim.config(memory_limit="2GB"):
    ...     lowdim.PCA(2).fit([[0.0, 1.0], [1.0, 0.0], [2.0, 5.0]]).n_components_
    2
    """
    size = _chosen() if memory_limit is None else parse_size(memory_limit, "config")
    rows = _sample.get() if sample_rows is None else sample_rows
    if not isinstance(rows, int) or rows < 2:
        raise ValueError(f"config: sample_rows must be a whole number of at least 2; got {sample_rows!r}.")
    token, block = _limit.set(size), _Block(size, WeakSet(threading.enumerate()))
    before = _sample.set(rows)
    _open.append(block)
    try:
        yield
    finally:
        _open.remove(block)
        _sample.reset(before)
        _limit.reset(token)


def sample_rows() -> int:
    """The most rows of a collection of Dask that are brought into one memory."""
    return _sample.get()


@dataclass(frozen=True, eq=False)
class _Block:
    """An open block of `config`, and the threads that were there before it: those that come later are inside it."""

    limit: int | None
    before: WeakSet[threading.Thread]


_open: list[_Block] = []


def _chosen() -> int | None:
    """The limit of the innermost block around this code, or of the blocks that this thread was started in."""
    if (own := _limit.get()) is not None:
        return own
    thread = threading.current_thread()
    return min((b.limit for b in list(_open) if b.limit is not None and thread not in b.before), default=None)


def parse_size(size: int | float | str, owner: str, name: str = "memory_limit") -> int:
    """Bytes from a number or from text with a unit."""
    text = str(size).strip().lower().replace(" ", "")
    number = text.rstrip("bkmgti")
    try:
        count = float(number) * _UNITS[text[len(number) :]]
    except (ValueError, KeyError):
        count = -1.0
    if isinstance(size, bool) or not 0 < count < float("inf"):
        raise ValueError(f"{owner}: {name} must be a positive size such as 2e9 or '2GB'; got {size!r}.")
    return int(count)


def limit() -> int:
    """The limit in force, in bytes."""
    asked = asked_limit()
    return _available() if asked is None else asked


def asked_limit() -> int | None:
    """The limit that the user has set, in bytes; None where it is the memory there is."""
    if (chosen := _chosen()) is not None:
        return chosen
    if variable := os.environ.get("LOWDIM_MEMORY_LIMIT"):
        return parse_size(variable, "LOWDIM_MEMORY_LIMIT")
    return None


def _available() -> int:
    """Memory available without swapping, within the container's limit where there is one."""
    found = []
    for path, pick in (("/proc/meminfo", _meminfo), ("/sys/fs/cgroup/memory.max", int)):
        try:
            with open(path, encoding="ascii") as source:
                found.append(pick(source.read()))
        except (OSError, ValueError, KeyError):
            continue
    if found:
        return min(found)
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return 2**62  # nothing known: no limit


def _meminfo(text: str) -> int:
    fields = dict(line.split(":", 1) for line in text.splitlines() if ":" in line)
    return int(fields["MemAvailable"].split()[0]) * 1024


def check(owner: str, parts: Mapping[str, int], ways_out: str = "") -> None:
    """Raise MemoryError before allocating when `parts` (name -> bytes) add up to more than the limit."""
    total = sum(parts.values())
    if total <= _SMALL and not _open and "LOWDIM_MEMORY_LIMIT" not in os.environ:
        return  # not worth asking the system
    most = limit()
    if total <= most:
        return
    listed = ", ".join(f"{name} {show(size)}" for name, size in sorted(parts.items(), key=lambda p: -p[1]))
    raise MemoryError(
        f"{owner}: this needs about {show(total)} ({listed}); the limit is {show(most)}. "
        f"{ways_out + ' ' if ways_out else ''}The limit is set by lowdim.config(memory_limit=...) or by the variable "
        "LOWDIM_MEMORY_LIMIT."
    )


def show(size: float) -> str:
    """A size with its unit.

    >>> show(2_500_000_000)
    '2.5 GB'
    """
    for unit, factor in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= factor:
            return f"{size / factor:.3g} {unit}"
    return f"{int(size)} B"

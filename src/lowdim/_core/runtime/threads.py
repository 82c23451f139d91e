"""The one place that touches thread counts.

Results never depend on `n_jobs`: work is cut into blocks whose borders depend on the data's size alone, each block
runs with one BLAS thread, and partial results are combined in block order.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from functools import lru_cache
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

T = TypeVar("T")

_MOST = 1024  # threads; more would only wait for each other, and compiled code counts them in 32 bits


def n_threads(n_jobs: int | None = None) -> int:
    """How many threads `n_jobs` means.

    None: OMP_NUM_THREADS where it is set (joblib sets it for its workers), else every usable core. Negative: counted
    from the number of usable cores, -1 being all of them.
    """
    usable = _usable()
    if n_jobs is None:
        wanted = os.environ.get("OMP_NUM_THREADS", "")
        return max(1, min(usable, int(wanted))) if wanted.isdigit() else usable
    if isinstance(n_jobs, bool) or not hasattr(n_jobs, "__index__") or n_jobs == 0:
        raise ValueError(f"n_jobs must be None or a non-zero integer; got {n_jobs!r}.")
    return min(int(n_jobs), _MOST) if n_jobs > 0 else max(1, usable + 1 + int(n_jobs))


@lru_cache(maxsize=1)
def _usable() -> int:
    """Cores this process may use; cached, as asking takes as long as a small kernel."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)


@lru_cache(maxsize=1)
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


_guard = threading.Lock()
_inside = 0  # blocks open now, in all Python threads
_before: list[int] = []  # the caller's settings, while there are any


@lru_cache(maxsize=1)
def _blas() -> list[Any]:
    """The loaded BLAS libraries; cached, as asking the loader takes longer than a small product."""
    return [library for library in _controller().lib_controllers if library.user_api == "blas"]


@contextmanager
def single_blas() -> Iterator[None]:
    """One BLAS thread inside the block; the caller's setting is restored when the last open block ends.

    The setting belongs to the process: blocks opened by several Python threads at once are counted, so that none
    restores what another had set.
    """
    global _inside, _before
    with _guard:
        if _inside == 0:
            _before = [library.get_num_threads() for library in _blas()]
            _set_threads([1] * len(_before))
        _inside += 1
    try:
        yield
    finally:
        with _guard:
            _inside -= 1
            if _inside == 0:
                _set_threads(_before)


def _set_threads(counts: list[int]) -> None:
    for library, count in zip(_blas(), counts, strict=True):
        library.set_num_threads(count)


def interruptible(function: Callable[[], T]) -> T:
    """`function()` in a thread of its own, so that Ctrl-C works while it runs.

    For long calls of LAPACK, which cannot be interrupted: after Ctrl-C the call continues in the background.
    """
    if threading.current_thread() is not threading.main_thread():
        return function()
    done = threading.Event()
    outcome: dict[str, Any] = {}

    def run() -> None:
        try:
            outcome["value"] = function()
        except BaseException as error:  # noqa: BLE001 (handed to the caller)
            outcome["error"] = error
        done.set()

    threading.Thread(target=run, daemon=True).start()
    while not done.wait(0.1):
        pass
    if "error" in outcome:
        raise outcome["error"]
    return outcome["value"]


def blocks(n: int, size: int) -> list[slice]:
    """Consecutive slices of at most `size` rows; their borders depend on nothing else."""
    size = max(1, int(size))
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]


def map_rows(
    function: Callable[[slice], T], n: int, block: int, n_jobs: int | None = None, progress: Any = None
) -> list[T]:
    """`function(rows)` for consecutive blocks of `block` rows, in block order, on `n_jobs` threads.

    BLAS runs on one thread inside, whatever `n_jobs` is, so that the bits do not depend on it.
    """
    parts = blocks(n, block)
    workers = min(n_threads(n_jobs), len(parts))
    results: list[T] = []
    with single_blas(), ThreadPoolExecutor(workers) if workers > 1 else nullcontext() as pool:
        try:
            for value in map(function, parts) if pool is None else pool.map(function, parts):
                results.append(value)
                if progress is not None:
                    progress.advance()
        except BaseException:
            if pool is not None:
                pool.shutdown(wait=False, cancel_futures=True)
            raise
    return results

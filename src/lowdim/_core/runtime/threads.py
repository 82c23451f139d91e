"""How work is cut and shared between threads.

Results never depend on `n_jobs`: work is cut into blocks whose borders depend on the data's size alone, each block
runs with one BLAS thread, and partial results are combined in block order. `background` has the threads, `blas` theirs.
"""

from __future__ import annotations

import _thread
import os
from collections.abc import Callable
from contextlib import closing
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np

from lowdim._core.runtime.background import aside, side_by_side
from lowdim._core.runtime.blas import callers_blas, on_one_blas_thread, single_blas

__all__ = [
    "aside",
    "blocks",
    "can_start",
    "into_one_array",
    "lapack",
    "map_rows",
    "n_threads",
    "on_one_blas_thread",
    "single_blas",
]

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


def can_start() -> bool:
    """Whether the system lets this process start one more thread now."""
    try:  # not a `threading.Thread`: Ctrl-C that comes while one is dropped would be lost
        _thread.start_new_thread(int, ())
    except RuntimeError:
        return False
    return True


@lru_cache(maxsize=1)
def _usable() -> int:
    """Cores this process may use; cached, as asking takes as long as a small kernel."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)


def vector_width() -> str:
    """The vector instructions that compiled kernels use here."""
    from lowdim import _native

    return _native.simd_width()


LONG = 5e8  # multiplications from which a decomposition takes long enough for Ctrl-C and a second thread to matter


def lapack(function: Callable[..., T], A: np.ndarray, *more: Any, **options: Any) -> T:
    """`function(A, *more, **options)`: a decomposition or product of a matrix that may be large.

    A short one runs on one BLAS thread: its bits depend on nothing else. A long one runs beside the calling thread,
    which hears Ctrl-C meanwhile, on as many BLAS threads as the caller has set, unless other threads fit at the time.
    """
    short, long = sorted(A.shape[-2:])
    if float(short) * short * long < LONG:
        with single_blas():
            return function(A, *more, **options)
    with callers_blas():
        return aside(lambda: function(A, *more, **options))


def blocks(n: int, size: int) -> list[slice]:
    """Consecutive slices of at most `size` rows; their borders depend on nothing else."""
    size = max(1, int(size))
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]


def into_one_array(function: Callable[[slice], np.ndarray], n: int, size: int, dtype: np.dtype) -> np.ndarray:
    """`function(rows)` for consecutive blocks of `size` rows, each written straight into its place: held only once.

    Numbers beyond the range of `dtype` become infinite; whoever asked has to look.
    """
    result = np.empty(0, dtype)
    for rows in blocks(n, size):
        part = function(rows)
        if rows.start == 0:
            result = np.empty((n, *part.shape[1:]), dtype)
        with np.errstate(over="ignore"):
            result[rows] = part
    return result


def map_rows(
    function: Callable[[slice], T], n: int, block: int, n_jobs: int | None = None, progress: Any = None
) -> list[T]:
    """`function(rows)` for consecutive blocks of `block` rows, in block order, on `n_jobs` threads.

    BLAS runs on one thread inside, whatever `n_jobs` is, so that the bits do not depend on it.
    """
    parts = blocks(n, block)
    workers = min(n_threads(n_jobs), len(parts))

    def one(part: slice) -> T:
        with single_blas():  # of the thread that does the work
            return function(part)

    found = (function(part) for part in parts) if workers < 2 else side_by_side(one, parts, workers)
    results: list[T] = []
    with single_blas(), closing(found):
        for value in found:
            results.append(value)
            if progress is not None:
                progress.advance()
    return results

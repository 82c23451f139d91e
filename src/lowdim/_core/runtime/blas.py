"""How many threads BLAS uses: a setting of the process, which fits that run at the same time share.

Inside a fit it is one, so that the bits depend neither on the caller's setting nor on what else runs. The threads of
BLAS are given back only to long decompositions (`callers_blas`), and only while no other thread is inside a block.
Where OpenMP runs BLAS, each thread has a setting of its own, and opens a block of its own.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache, wraps
from typing import Any, TypeVar, cast

from threadpoolctl import ThreadpoolController

F = TypeVar("F", bound=Callable[..., Any])

_lock = threading.RLock()  # a block may be dropped by the garbage collector while its thread holds the lock
_open: dict[int, int] = {}  # blocks open now, by number, and the thread of each
_before: list[int] = []  # the caller's settings, while blocks are open
_wide = False  # whether a long decomposition has them back


@lru_cache(maxsize=1)
def _libraries() -> list[Any]:
    """The loaded BLAS libraries; cached, as asking the loader takes longer than a small product."""
    import numpy.linalg  # noqa: F401 (numpy and scipy may bring one each, which has to be there to be found)
    import scipy.linalg  # noqa: F401

    return [library for library in ThreadpoolController().lib_controllers if library.user_api == "blas"]


def _shared() -> list[Any]:
    """Those whose setting is one for all threads."""
    return [library for library in _libraries() if getattr(library, "threading_layer", None) != "openmp"]


def _of_each_thread() -> list[Any]:
    """Those that are run by OpenMP, where each thread has a setting of its own."""
    return [library for library in _libraries() if getattr(library, "threading_layer", None) == "openmp"]


def _set(counts: list[int]) -> None:
    for library, count in zip(_shared(), counts, strict=True):
        # threadpoolctl (from 3.8) heeds the first thread that sets OpenBLAS, and nobody else, without a word.
        forget = getattr(library, "clear_controlling_thread", lambda **_: None)
        forget(force=True)
        library.set_num_threads(count)
        forget(force=True)


class _Settings:
    """What one open block has changed: the settings of its thread, and a place among the open blocks.

    A block that Ctrl-C ends between two lines is closed when it is dropped: each line leaves a state that closing can
    undo. Others are kept and used again: Ctrl-C that comes while an object is being dropped is lost.
    """

    spare: list[_Settings] = []  # noqa: RUF012 (of blocks that have been left)

    def __init__(self) -> None:
        self._own: list[tuple[Any, int]] = []  # settings of this thread, where it has some of its own

    def open(self) -> None:
        global _before, _wide
        here = threading.get_ident()
        with _lock:
            if not _open:
                _before = [library.get_num_threads() for library in _shared()]
            if here not in _open.values():
                self._own = [(library, library.get_num_threads()) for library in _of_each_thread()]
            first = not _open or _wide
            _open[id(self)] = here
            if first:
                _wide = False
                _set([1] * len(_before))
            for library, _ in self._own:
                library.set_num_threads(1)

    def close(self) -> None:
        with _lock:
            for library, count in self._own:
                library.set_num_threads(count)
            self._own = []
            if _open.keys() == {id(self)}:
                _set(_before)
            _open.pop(id(self), None)

    def __del__(self) -> None:
        if id(self) in _open:
            self.close()


class single_blas:
    """One BLAS thread inside the block; the caller's setting is back when the last open block ends.

    Blocks opened by several Python threads at once are counted, so that none restores what another had set.
    """

    def __enter__(self) -> None:
        try:
            self._settings = _Settings.spare.pop()
        except IndexError:
            self._settings = _Settings()
        self._settings.open()

    def __exit__(self, *_: object) -> None:
        self._settings.close()
        _Settings.spare.append(self._settings)


def on_one_blas_thread(function: F) -> F:
    """The function inside a block, so that its bits depend neither on the caller's setting nor on other fits."""

    @wraps(function)
    def inside(*args: Any, **options: Any) -> Any:
        with single_blas():
            return function(*args, **options)

    return cast(F, inside)


@contextmanager
def callers_blas() -> Iterator[None]:
    """The caller's number of BLAS threads, for a long call inside blocks of this thread alone."""
    global _wide
    with _lock:
        widens = bool(_open) and set(_open.values()) == {threading.get_ident()}
        if widens:
            _wide = True
            _set(_before)
    try:
        yield
    finally:
        with _lock:
            if widens and _wide:
                _wide = False
                _set([1] * len(_before) if _open else _before)


def narrow() -> None:
    """One BLAS thread from now on: what is still at work when the process ends must not hold it up."""
    with _lock:
        _set([1] * len(_shared()))


def threads_in_blocks() -> set[int]:
    """Threads other than this one that are inside a block."""
    return set(_open.copy().values()) - {threading.get_ident()}


def _after_fork() -> None:
    """In the child of a fork there is only the thread that forked, and only its blocks will end."""
    global _lock, _open, _wide
    _lock = threading.RLock()
    lost = {number for number, thread in _open.items() if thread != threading.get_ident()}
    if lost:
        _open = {number: thread for number, thread in _open.items() if number not in lost}
        if not _open:
            _wide = False
            _set(_before)


if hasattr(os, "register_at_fork"):  # a fork while another thread holds the lock would leave it locked for ever
    os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_after_fork)

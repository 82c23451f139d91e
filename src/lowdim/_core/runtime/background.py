"""Work in threads of their own, which may be left behind: after Ctrl-C, and when the interpreter ends.

A call of LAPACK cannot be stopped. So a long one runs in a thread beside the one that asked for it, which waits, hears
Ctrl-C and goes on at once. Python code that is left behind stops at its next line. Where no thread can be started the
work is done in the thread that asked, with the same result.

When the interpreter ends, fits in other threads are stopped the same way. What is then still inside a library would
find that library taken down around it (OpenBLAS waits for its threads for ever, or frees the memory they use): then the
process ends without that.
"""

from __future__ import annotations

import atexit
import contextvars
import importlib
import itertools
import sys
import threading
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from lowdim import _importing, _native
from lowdim._core.runtime import blas

Task = TypeVar("Task")
T = TypeVar("T")

PATIENCE = 0.3  # seconds that Ctrl-C waits for threads to stop; what takes longer is left behind
AT_EXIT = 0.8  # the same for fits in other threads when the interpreter ends


class _Stopped(BaseException):
    """Raised inside a thread whose work nobody waits for any more."""


class _Helper(threading.Thread):
    """One thread that works for another."""

    started: set[_Helper] = set()  # noqa: RUF012 (all of them, on purpose)
    ended: list[list[_Helper]] = []  # noqa: RUF012

    def __init__(self, work: Callable[[], None], may_stop: bool) -> None:
        super().__init__(daemon=True)  # the interpreter does not wait for it
        self._work: Callable[[], None] | None = partial(contextvars.copy_context().run, work)
        self._may_stop = may_stop
        self._ending = threading.Lock()
        self._ended = self.left = False

    def run(self) -> None:
        """Do the work, unless it is stopped."""
        # Python runs callbacks when a thread is dropped. Ctrl-C that came in one would be lost, and comes in the main
        # thread alone: so threads that have ended are dropped in the next one.
        _Helper.ended.clear()
        with suppress(_Stopped):
            try:
                _Helper.started.add(self)
                if self._work is not None:
                    _held(self._work)
            finally:
                self._work = None  # and with it the arrays it works on
                with self._ending:
                    self._ended = True
                _Helper.started.discard(self)

    def stop(self) -> None:
        """Raise `_Stopped` there before the next line; a call of a library ends first, and is left behind."""
        self.left = True
        with self._ending:  # its number may belong to another thread as soon as it has ended
            if self._may_stop and not self._ended and self.ident is not None:
                _native.raise_in(self.ident, _Stopped)


class _Team:
    """Threads that work through tasks and hand in what they find, in any order."""

    def __init__(self, function: Callable[[Any], Any], tasks: Sequence[Any], may_stop: bool) -> None:
        self._function, self._tasks, self._may_stop = function, tasks, may_stop
        self._next = itertools.count()
        self._stopped = False
        self._found: SimpleQueue[tuple[int, Any, BaseException | None]] = SimpleQueue()
        self._early: dict[int, tuple[Any, BaseException | None]] = {}
        self._helpers: list[_Helper] = []

    def start(self, count: int) -> bool:
        """Start up to `count` threads; False where there can be none."""
        for _ in range(count):
            self._helpers.append(_Helper(self._work, self._may_stop))
            try:
                self._helpers[-1].start()
            except RuntimeError:  # can't start new thread
                self._helpers.pop()
                break
        return bool(self._helpers)

    def _work(self) -> None:
        while not self._stopped and (place := next(self._next)) < len(self._tasks):
            found: tuple[int, Any, BaseException | None]
            try:
                found = place, self._function(self._tasks[place]), None
            except BaseException as error:  # noqa: BLE001 (handed to the thread that waits)
                found = place, None, SystemExit() if isinstance(error, _Stopped) else error
            self._found.put(found)

    def result(self, place: int) -> Any:
        """What was found for one task; waits for it. Errors come in the order of the tasks."""
        while place not in self._early:
            with suppress(Empty):  # not every system wakes a waiting thread for a signal
                found, value, error = self._found.get(timeout=0.1)
                self._early[found] = value, error
        value, error = self._early.pop(place)
        if error is not None:
            raise error
        return value

    def stop(self) -> None:
        """No more tasks; those under way stop, or are left behind."""
        self._stopped = True
        for helper in self._helpers:
            helper.stop()
        _wait(self._helpers, PATIENCE)
        self._let_go()

    def join(self) -> None:
        """Wait for the threads to end: their tasks are done."""
        for helper in self._helpers:
            helper.join()
        self._let_go()

    def _let_go(self) -> None:
        _Helper.ended.append(self._helpers)
        self._helpers = []


def _held(function: Callable[[], T]) -> T:
    """The function, while what this thread keeps for libraries cannot be taken down: see `_native.hold_thread`."""
    _native.hold_thread(True)
    try:
        return function()
    finally:
        _native.hold_thread(False)


def _wait(helpers: Sequence[threading.Thread], seconds: float) -> None:
    until = time.monotonic() + seconds
    for helper in helpers:
        with suppress(RuntimeError):  # Ctrl-C came while it was being started: it finds that there is nothing to do
            helper.join(max(0.0, until - time.monotonic()))


def side_by_side(
    function: Callable[[Task], T], tasks: Sequence[Task], workers: int, *, may_stop: bool = True
) -> Generator[T, None, None]:
    """`function(task)` for all tasks on some threads; results in the order of the tasks. Close it when done."""
    team = _Team(function, tasks, may_stop)
    try:
        if not team.start(workers):
            yield from map(function, tasks)
            return
        for place in range(len(tasks)):
            yield team.result(place)
        team.join()
    except BaseException:
        team.stop()
        raise


def aside(function: Callable[[], T], *, may_stop: bool = True) -> T:
    """`function()` in a thread of its own, so that Ctrl-C is heard while it runs. Only the main thread hears it.

    After Ctrl-C the function stops at its next line, or with `may_stop=False` runs to its end.
    """
    if threading.current_thread() is not threading.main_thread():
        return _held(function)
    (value,) = side_by_side(lambda _: function(), [None], 1, may_stop=may_stop)
    return value


def imported(name: str) -> Any:
    """A module whose import takes long. Ctrl-C does not tear it: what is left behind finishes the import."""
    if name in sys.modules:
        return importlib.import_module(name)
    return aside(lambda: _importing.load(name), may_stop=False)


# ---- the end of the interpreter -----------------------------------------------------------------------------


def _busy() -> list[threading.Thread]:
    """Threads that work here, other than this one."""
    inside = blas.threads_in_blocks()
    alive = [thread for thread in threading.enumerate() if thread.ident in inside]
    return [*alive, *(helper for helper in list(_Helper.started) if helper.is_alive() and helper not in alive)]


def _at_exit() -> None:
    """Stop fits in other threads (daemons: others have been waited for); leave without them if need be."""
    if not (busy := _busy()):
        return
    _native.stop_other_threads()
    blas.narrow()
    waited_for = [thread for thread in busy if not (isinstance(thread, _Helper) and thread.left)]
    for thread in busy:
        if isinstance(thread, _Helper):
            thread.stop()
        elif thread.ident is not None:
            _native.raise_in(thread.ident, SystemExit)
    _wait(waited_for, AT_EXIT)
    if _busy():
        _native.end_at_once()


atexit.register(_at_exit)

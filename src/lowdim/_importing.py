"""Imports that a fork waits for: what another thread is importing would stay half imported in the child, for ever."""

from __future__ import annotations

import os
import time
from _thread import get_ident
from importlib import import_module
from types import ModuleType

WAIT = 60.0  # seconds; an import that takes longer is not waited for
_inside: list[int] = []  # threads that import something here now


def load(name: str) -> ModuleType:
    """The module of that name."""
    _inside.append(get_ident())
    try:
        return import_module(name)
    finally:
        _inside.remove(get_ident())


def _wait() -> None:
    me, until = get_ident(), time.monotonic() + WAIT
    while any(other != me for other in _inside) and time.monotonic() < until:
        time.sleep(0.002)


def _forget() -> None:
    """In the child there is only the thread that forked."""
    me = get_ident()
    _inside[:] = [one for one in _inside if one == me]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_wait, after_in_child=_forget)

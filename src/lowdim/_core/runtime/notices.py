"""Warnings that point at the user's own line."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from lowdim._core.runtime.printable import printable_lines

_INSIDE = ("lowdim.", "sklearn.", "contextlib", "concurrent.", "threading")
_heard: ContextVar[list[str] | None] = ContextVar("lowdim_heard", default=None)


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn as if from the first caller outside this package and scikit-learn's plumbing."""
    message = printable_lines(message)
    if (heard := _heard.get()) is not None:
        heard.append(message)
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and (frame.f_globals.get("__name__", "") + ".").startswith(_INSIDE):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level + 1)


@contextmanager
def listening() -> Iterator[list[str]]:
    """Our warnings inside the block, as they are given: so that nothing is said twice."""
    heard: list[str] = []
    token = _heard.set(heard)
    try:
        yield heard
    finally:
        _heard.reset(token)

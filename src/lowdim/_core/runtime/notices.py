"""Warnings that point at the user's own line."""

from __future__ import annotations

import sys
import warnings

_INSIDE = ("lowdim.", "sklearn.", "contextlib", "concurrent.", "threading")


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn as if from the first caller outside this package and scikit-learn's plumbing."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and (frame.f_globals.get("__name__", "") + ".").startswith(_INSIDE):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level + 1)

"""What each command does; `cli` parses the arguments.

A command is imported when it runs, and methods and measures where they are used, after the table is read: an error in
an option, a file name or a table comes at once.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from importlib import import_module

_HOMES = {
    "compare": "compare",
    "datasets": "built_in",
    "describe": "tables",
    "fit": "models",
    "impute": "tables",
    "inverse": "models",
    "reproduce": "built_in",
    "score": "score",
    "transform": "models",
    "view": "view",
}


def command(name: str) -> Callable[[Namespace], int | None]:
    """The function of a command: it takes the parsed arguments, and returns the exit code (None: 0)."""
    found: Callable[[Namespace], int | None] = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    return found

"""Errors of the command line that the user can correct."""

from __future__ import annotations

import re


class UserError(Exception):
    """A mistake in a file or an option: shown as one line, without a traceback."""


# What a message says in Python -> what it says on the command line.
_WORDS = (
    (r"lowdim\.config\(memory_limit=\.\.\.\)", "--limit-memory"),
    (
        r"Keep the complete rows, X\[.*?axis=1\)\], or fill the cells first, with .*? or lowdim\.impute\(X\)\.",
        "Use the complete rows alone (--rows complete), or fill the cells first (lowdim impute).",
    ),
    (r"pass y \(on the command line: (--label COL)\)", r"choose it with \1"),
    (r"scale=(?:True|False) \(on the command line: (--[a-z-]+)\)", r"\1"),
    (r"[Ss]et ([a-z_]+)=([^ ,;.]+)(?=[ ,;.]|$)", r"use --set \1=\2"),
)


def with_option_names(message: str) -> str:
    """The text of an error or note, with command-line options instead of Python."""
    for python, words in _WORDS:
        message = re.sub(python, words, message)
    return message

"""Errors of the command line that the user can correct."""

from __future__ import annotations


class UserError(Exception):
    """A mistake in a file or an option: shown as one line, without a traceback."""


def with_option_names(message: str) -> str:
    """The text of an error, with the command-line option instead of the Python call."""
    return message.replace("lowdim.config(memory_limit=...)", "--memory-limit")

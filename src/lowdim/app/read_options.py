"""Options for reading a table from a file."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ReadOptions:
    """Roles of the columns, rows to keep, and the format of text files.

    `needed` are the columns a saved model was fitted with; `columns` are those named on the command line.
    """

    label: str | None = None
    names: str | None = None
    drop: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    needed: tuple[str, ...] = ()
    needed_kinds: tuple[tuple[str, str], ...] = ()  # (column, kind) as the saved model has them
    kinds: tuple[tuple[str, str], ...] = ()  # (column, kind) as named on the command line
    rows: str = "all"  # or "complete"
    missing: str = "error"  # or "keep"
    na: tuple[str, ...] = ()
    header: bool = True
    separator: str | None = None  # None: detected
    decimal_comma: bool = False
    encoding: str | None = None  # None: UTF-8, or UTF-16 with a byte order mark
    array: str | None = None
    min_rows: int = 3

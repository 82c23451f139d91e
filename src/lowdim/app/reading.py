"""What the command line says about a file."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Reading:
    """Which columns are what, which rows to keep, how text is written.

    `needed` are columns a saved model asks for; unlike `columns`, nobody has typed them.
    """

    label: str | None = None
    names: str | None = None
    drop: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    needed: tuple[str, ...] = ()
    rows: str = "all"  # or "complete"
    missing: str = "error"  # or "keep"
    na: tuple[str, ...] = ()
    header: bool = True
    separator: str | None = None  # None: found out
    decimal_comma: bool = False
    encoding: str | None = None  # None: UTF-8, or UTF-16 where the file says so
    array: str | None = None
    min_rows: int = 3

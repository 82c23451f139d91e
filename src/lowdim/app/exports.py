"""Result tables as files: cells that a spreadsheet would run as formulas are made harmless in text files.

A spreadsheet that opens a CSV file runs cells that begin with = + - @ or a tab, whoever wrote them. Such text gets an
apostrophe in front, which spreadsheets take for "text"; numbers stay as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from lowdim.app.console import print_line
from lowdim.app.file_formats import check_extension, write

TEXT_FILES = (".csv", ".tsv")
RUNS = r"^[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]"  # also in their full width
NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
ONLY_SIGNS = r"^[+-]+$"  # a mark for "none": no formula


def export(
    path: str | Path,
    frame: pl.DataFrame,
    measured: Sequence[str] | None = None,
    *,
    keep_formulas: bool = False,
    shown: str | Path | None = None,
) -> Path:
    """Write a data frame, as `file_formats.write` does; a line on stderr says how many cells were made harmless.

    `shown` is the path in that line and in errors, if the file will be moved there.
    """
    path = Path(path)
    if keep_formulas or check_extension(path) not in TEXT_FILES:
        return write(path, frame, measured, shown)
    safe, count = harmless(frame)
    if count:
        cells = "1 cell" if count == 1 else f"{count} cells"
        print_line(
            f"note: {shown or path}: {cells} that a spreadsheet would run as a formula written with ' in front "
            "(--keep-formulas leaves them as they are)",
            error=True,
        )
    return write(path, safe, measured, shown)


def harmless(frame: pl.DataFrame) -> tuple[pl.DataFrame, int]:
    """The table with an apostrophe before text, and names of columns, that a spreadsheet would run; how many."""
    columns, count = [], 0
    for column in frame:
        if column.dtype == pl.String:
            runs = _runs(column)
            count += int(runs.sum())
            column = pl.select(pl.when(runs).then("'" + column).otherwise(column).alias(column.name)).to_series()
        columns.append(column)
    names = pl.Series(frame.columns, dtype=pl.String)
    risky = _runs(names)
    made = pl.DataFrame(columns)
    made.columns = [f"'{name}" if runs else name for name, runs in zip(names, risky, strict=True)]
    return made, count + int(risky.sum())


def _runs(texts: pl.Series) -> pl.Series:
    plain = texts.str.contains(NUMBER) | texts.str.contains(ONLY_SIGNS)
    return (texts.str.contains(RUNS) & ~plain).fill_null(False)

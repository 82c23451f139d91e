"""Columns of forms that have a mark in some cells and nothing in the others: marked or not, as 1 and 0."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from lowdim.app.reading.loaded import Loaded, in_columns, listed

MARKS = {"x", "\u2713", "\u2714", "\u2611", "\u2612", "\u2717", "\u2718"}


def with_ticks_as_numbers(loaded: Loaded) -> Loaded:
    """The table with such columns as numbers, and a note: a column with one value alone would be left out.

    A column in whose text words were read as missing (NA) has more than marks and nothing.
    """
    worded = " ".join(note for note in loaded.notes if "in the text of column" in note)
    ticked = [c.name for c in loaded.frame if _is_ticked(c) and f"column {listed([c.name])}" not in worded]
    if not ticked:
        return loaded
    frame = loaded.frame.with_columns(pl.col(name).is_not_null().cast(pl.Int64) for name in ticked)
    mark = loaded.frame[ticked[0]].drop_nulls()[0].strip()
    return replace(
        loaded, frame=frame, notes=(*loaded.notes, f"{mark!r} or nothing read as 1 or 0 {in_columns(ticked)}")
    )


def _is_ticked(column: pl.Series) -> bool:
    if column.dtype != pl.String or not 0 < column.null_count() < len(column):
        return False
    first = column.drop_nulls()[0].strip().lower()
    return first in MARKS and bool((column.drop_nulls().str.strip_chars().str.to_lowercase() == first).all())

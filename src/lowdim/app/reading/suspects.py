"""Numbers that may stand for missing cells, such as -999: they stay, with a note, unless the user names them."""

from __future__ import annotations

from typing import Any

import polars as pl

from lowdim.app.reading.loaded import listed

SUSPECTS = (-99.0, -999.0, -9999.0, -99999.0, -999.25)
APART = 0.1  # all other numbers are above this share of the suspect


def note_suspects(frame: pl.DataFrame, notes: list[str]) -> None:
    """A note for each number that looks like a mark for missing cells."""
    found: dict[float, list[str]] = {}
    for column in frame:
        least: Any = column.min() if column.dtype.is_numeric() else None
        if least in SUSPECTS:
            others = column.filter(column != least).drop_nulls().to_numpy()
            if len(others) and others.min() > APART * least:
                found.setdefault(float(least), []).append(column.name)
    for value, columns in found.items():
        notes.append(
            f"{value:g} in columns {listed(columns)} may stand for missing cells; it is used as a number "
            f"(--na {value:g} reads it as missing)"
        )


def with_numeric_words(frame: pl.DataFrame, na: tuple[str, ...]) -> pl.DataFrame:
    """The table with null where a number is one of the words that the user chose for missing."""
    values = []
    for word in na:
        try:
            values.append(float(word))
        except ValueError:
            continue
    if not values:
        return frame
    numeric = [name for name, kind in frame.schema.items() if kind.is_numeric()]
    return frame.with_columns(
        pl.when(~pl.col(name).cast(pl.Float64).is_in(values)).then(pl.col(name)).alias(name) for name in numeric
    )

"""Marks for missing cells: numbers that may be one, and those that the user names (--na).

Numbers such as -999, or 99 among 1 to 5, stay numbers, with a note. What the user names is missing among data, not in
names of rows: an id can be 99.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import polars as pl

from lowdim.app.read_options import ReadOptions
from lowdim.app.reading.loaded import Loaded, in_columns
from lowdim.app.reading.source import Source
from lowdim.study.columns.kinds import kind_of
from lowdim.study.columns.raw_columns import named_columns

LOW = (-1.0, -7.0, -8.0, -9.0, -77.0, -88.0, -99.0, -999.0, -9999.0, -99999.0, -999.25)
HIGH = (77.0, 88.0, 97.0, 98.0, 99.0, 777.0, 888.0, 997.0, 998.0, 999.0, 9999.0, 99999.0)
SMALL = -10.0  # above it, only whole numbers are suspects
APART = 0.1  # other numbers are above this share of a low suspect
FAR = 5.0  # a high suspect is so many times larger than other numbers
FEWEST = 3  # different other numbers beside a high suspect
SIGN = 2.0  # beside -1 there is a larger number than this: -1, 0, 1 are codes of their own


def note_suspects(frame: pl.DataFrame, notes: list[str]) -> None:
    """A note for each number that looks like a mark for missing cells: where it is, how often, and the option."""
    found: dict[float, list[str]] = {}
    for column in frame:
        if column.dtype.is_numeric():
            for value, count in _suspects(column).items():
                found.setdefault(value, []).append(f"{column.name} ({count} cell{'s' if count > 1 else ''})")
    for value, columns in found.items():
        notes.append(
            f"{value:g} may stand for missing cells {in_columns(columns)}; it is used as a number "
            f"(--na {value:g} reads it as missing)"
        )


def _suspects(column: pl.Series) -> dict[float, int]:
    """Suspicious numbers of a column, and how often each is there."""
    least, largest = column.min(), column.max()
    if least is None or not (least in LOW or largest in HIGH):  # no other number is looked at
        return {}
    values = column.drop_nulls().to_numpy()
    values = values[np.isfinite(values)]
    whole = bool((values == np.round(values)).all())
    low = [value for value in LOW if value in values and (whole or value < SMALL)]
    high = [value for value in HIGH if value in values and whole]
    others = values[~np.isin(values, [*low, *high])]
    if not len(others):
        return {}
    found = [value for value in low if others.min() > APART * value and (value != -1.0 or others.max() > SIGN)]
    if others.min() >= 0 and len(np.unique(others)) >= FEWEST:
        found += [value for value in high if others.max() * FAR <= value]
    return {value: int((values == value).sum()) for value in found}


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


def without_marks_in_names(source: Source, how: ReadOptions, reader: Callable[[Source, ReadOptions], Loaded]) -> Loaded:
    """The table as `reader` reads it; columns of ids and names are those that it reads without the user's marks."""
    if not how.na:
        return reader(source, how)
    before = list(source.notes)
    plain = reader(replace(source, notes=[*before]), replace(how, na=()))
    loaded = reader(replace(source, notes=[*before]), how)
    if plain.frame.columns != loaded.frame.columns or plain.frame.height != loaded.frame.height:
        return loaded
    kept = [name for name in loaded.frame.columns if _lost(loaded, plain, name) and _is_name(plain, name, how)]
    if not kept:
        return loaded
    loaded = reader(source, replace(how, unmarked=tuple(kept)))  # with notes about the other columns alone
    frame = loaded.frame.with_columns(plain.frame[name] for name in kept)
    said = f"{', '.join(how.na)} stays as it is {in_columns(kept)}, which name the rows"
    return replace(loaded, frame=frame, notes=(*loaded.notes, said))


def _lost(loaded: Loaded, plain: Loaded, name: str) -> bool:
    return loaded.frame[name].null_count() > plain.frame[name].null_count()


def _is_name(plain: Loaded, name: str, how: ReadOptions) -> bool:
    if name in (how.names, plain.names):
        return True
    column = plain.frame.select(name)
    if column.dtypes[0] != pl.String and not column.dtypes[0].is_integer():
        return False
    return kind_of(name, named_columns(column, name)[name]).kind == "id"

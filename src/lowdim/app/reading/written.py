"""What the cells of a text file were before they became numbers or missing: codes such as 01234, words such as NA."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import polars as pl

from lowdim.app.reading.loaded import counted, in_columns, listed
from lowdim.app.reading.number_text import MISSING_WORDS, Findings, are_codes

FEW = 3  # columns with leading zeros: of many columns, it is the way in which all numbers were written
GROUPED, SHORT = re.compile(r"[+-]?[1-9]\d{0,2}\.\d{3}"), re.compile(r"[+-]?\d{1,3}")
ENOUGH = 3  # cells with three digits after a point, that it is no accident


def with_codes(
    frame: pl.DataFrame, written: Mapping[str, pl.Series], na: Sequence[str], notes: list[str]
) -> pl.DataFrame:
    """Columns of digits with leading zeros as text: they are codes, such as postcodes, that a number would shorten."""
    absent = [*MISSING_WORDS, *na]
    codes = {name: _texts(column, absent) for name, column in written.items()}
    codes = {name: column for name, column in codes.items() if are_codes(column)}
    if not codes:
        return frame
    shown = listed(list(codes))
    if len(codes) > max(FEW, len(written) // 2):
        notes.append(f"numbers have leading zeros in {len(codes)} columns; read as numbers")
        return frame
    notes.append(
        f"leading zeros kept in columns {shown}: read as codes, not as numbers (--as number:COL reads numbers)"
    )
    return frame.with_columns(column.alias(name) for name, column in codes.items())


def _texts(column: pl.Series, absent: Sequence[str]) -> pl.Series:
    return pl.select(pl.when(~column.is_in(absent)).then(column)).to_series()


def note_points(frame: pl.DataFrame, rows: Sequence[Sequence[str]], notes: list[str]) -> None:
    """A note on columns whose points could stand between thousands: each has three digits after it.

    `rows` are the first rows of columns that semicolons separate. A column with other decimals decides for the file.
    """
    found: dict[str, str] = {}
    for j, column in enumerate(frame):
        cells = [row[j].strip() for row in rows if j < len(row) and row[j].strip() not in MISSING_WORDS]
        pointed = [cell for cell in cells if "." in cell]
        if not column.dtype.is_float():
            continue
        if not all(GROUPED.fullmatch(cell) for cell in pointed):
            return
        if len(pointed) >= ENOUGH and all("." in cell or SHORT.fullmatch(cell) for cell in cells):
            found[column.name] = pointed[0]
    if found:
        example = next(iter(found.values()))
        notes.append(
            f"every point {in_columns(list(found))} has three digits after it: {example} is read as "
            f"{float(example):g} (--thousands . reads {example.replace('.', '')})"
        )


def note_words(frame: pl.DataFrame, written: Mapping[str, pl.Series], findings: Findings, notes: list[str]) -> None:
    """Notes that name the words read as missing, how often they are there and where, but for those in `findings`."""
    numbers: dict[str, tuple[int, list[str]]] = {}
    for name, column in written.items():
        lost = column.filter(frame[name].is_null() & (column != "").fill_null(False))
        text = frame[name].dtype == pl.String
        for word, count in lost.value_counts(sort=True).rows():
            if text:
                notes.append(
                    f"{word!r} read as missing: {counted(count, 'cell')} in the text of column {listed([name])}"
                )
            elif name not in findings.words.get(word, (0, []))[1]:
                cells, columns = numbers.get(word, (0, []))
                numbers[word] = (cells + count, [*columns, name])
    for word, (count, columns) in numbers.items():
        notes.append(f"{word!r} read as missing: {counted(count, 'cell')} {in_columns(columns)}")

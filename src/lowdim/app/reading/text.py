"""Delimited text (CSV, TSV and the like): a table with notes about everything that is unusual in the file.

The first lines decide about separator, header and decimal comma; whole columns are looked at by polars alone. A UTF-8
file with a usual header is read in place.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from lowdim.app.errors import UserError
from lowdim.app.read_options import ReadOptions
from lowdim.app.reading.clutter.below import one_table, without_remarks
from lowdim.app.reading.clutter.forms import as_plain_text
from lowdim.app.reading.clutter.odd_columns import with_odd_columns
from lowdim.app.reading.dialect import SPACED, Dialect, find_dialect, first_lines, rows_of, with_tabs
from lowdim.app.reading.distances import triangle_in
from lowdim.app.reading.encodings import as_bytes, as_utf8, blocks
from lowdim.app.reading.header import Header, find_header
from lowdim.app.reading.loaded import Loaded, counted, told_apart, unique_names
from lowdim.app.reading.marks import note_suspects, with_numeric_words
from lowdim.app.reading.number_text import MISSING_WORDS, Findings, numbers_in, shows_decimal_comma
from lowdim.app.reading.source import Source
from lowdim.app.reading.written import note_points, note_words, with_codes

UNIT_SEPARATOR = "\x1f"
PATTERN = re.compile(r"[*?\[]")
LEADING_ZERO = re.compile(rb"(?:^|[\s,;|\"'])0[0-9]")  # at the beginning of a cell


@dataclass(frozen=True, eq=False)
class Text:
    """A text in UTF-8, its separator and its header; `start` is the number of bytes above the data."""

    source: Source
    content: Path | bytes
    dialect: Dialect
    header: Header
    start: int
    decimal_comma: bool

    @property
    def width(self) -> int:
        return len(self.header.names)

    @property
    def in_place(self) -> bool:
        names = self.header.names
        return self.header.plain and all(names) and len(set(names)) == len(names)


def read_text(source: Source, how: ReadOptions) -> Loaded:
    """The table in a text file."""
    content = as_utf8(source, how.encoding)
    if isinstance(content, Path) and PATTERN.search(str(content)):  # some releases of polars match it all the same
        content = content.read_bytes()
    lines = first_lines(content)
    if not any(line.strip(" \t\r\n\ufeff") for line in lines):
        raise UserError(f"{source.shown} is empty.")
    if (found := triangle_in(content, lines, source, how)) is not None:
        return found
    content, dialect, how = _separated(content, source, how)
    if not any(cell.strip() for row in dialect.rows for cell in row):
        raise UserError(f"{source.shown} has no cells, only separators.")
    content, dialect = _shorter(content, dialect, without_remarks(content, dialect, source), source, how)
    header = find_header(dialect.rows, how, source.notes)
    content, dialect = _shorter(content, dialect, one_table(content, dialect, header, source), source, how)
    decimal_comma = how.decimal_comma or how.thousands == "." or has_decimal_comma(dialect, header, source.notes)
    text = Text(source, content, dialect, header, sum(dialect.sizes[: header.first]), decimal_comma)
    _check_quotes(text)
    frame = frame_of(text, how)
    about = told_apart(frame.columns, header.about)
    return Loaded(frame, tuple(source.notes), names=frame.columns[0] if header.row_names else None, about=about)


def _separated(content: Path | bytes, source: Source, how: ReadOptions) -> tuple[Path | bytes, Dialect, ReadOptions]:
    """The text with one character between its columns, its dialect, and the options that its form gives."""
    content, how = as_plain_text(content, source, how)
    lines = first_lines(content)
    dialect = find_dialect(source, how, lines)
    if dialect.separator == SPACED:
        content = with_tabs(as_bytes(content), source.notes)
    elif how.separator is None and all(len(row) < 2 for row in dialect.rows):
        found = with_odd_columns(content, lines, source)
        if found is None:
            return content, dialect, how
        content = found
    else:
        return content, dialect, how
    return content, find_dialect(source, replace(how, separator="\t"), first_lines(content)), how


def _shorter(
    before: Path | bytes, dialect: Dialect, content: Path | bytes, source: Source, how: ReadOptions
) -> tuple[Path | bytes, Dialect]:
    """The content with the rows that it still has, if lines were taken away."""
    if content is before:
        return content, dialect
    quiet = replace(source, notes=[])
    return content, find_dialect(quiet, replace(how, separator=dialect.separator), first_lines(content))


def has_decimal_comma(dialect: Dialect, header: Header, notes: list[str]) -> bool:
    rows = [row for row in dialect.rows[header.first :] if len(row) == len(header.names)]
    if dialect.separator == "," or not any(
        shows_decimal_comma([row[j] for row in rows]) for j in range(len(header.names))
    ):
        return False
    notes.append("numbers have a decimal comma: 1,5 is read as 1.5")
    return True


def frame_of(text: Text, how: ReadOptions) -> pl.DataFrame:
    as_text = how.thousands == "." or (text.decimal_comma and text.dialect.separator == ",")
    raw = _parsed(text, how, text.decimal_comma and not as_text, **({"infer_schema": False} if as_text else {}))
    names, notes = text.header.names, text.source.notes
    if not names[-1] and raw.width > 1 and raw[:, -1].null_count() == raw.height:
        notes.append("lines end in a separator; the empty last column is left out")
        raw, names = raw[:, :-1], names[:-1]
    raw.columns = unique_names(names, notes)
    frame, findings = _converted(raw, how, text.decimal_comma)
    late = "decimal commas" in findings.styles and not text.decimal_comma and text.dialect.separator != ","
    if late:  # a column that polars read as 1.234 could be a thousand: all columns are read again
        notes.append("numbers have a decimal comma: 1,5 is read as 1.5")
        again = _parsed(text, how, decimal_comma=True)[:, : raw.width]
        again.columns = raw.columns
        frame, findings = _converted(again, how, decimal_comma=True)
    notes += findings.notes()
    frame = _as_written(with_numeric_words(frame, how.na), text, how, findings)
    frame = _without_blank_lines(frame, text)
    if text.dialect.separator == ";" and not text.decimal_comma:
        note_points(frame, text.dialect.rows[text.header.first :], notes)
    note_suspects(frame, notes)
    return frame


def _parsed(text: Text, how: ReadOptions, decimal_comma: bool, **more: Any) -> pl.DataFrame:
    """The table as polars reads it. A line with too many or too few cells is an error with its number."""
    options = {
        "separator": text.dialect.separator,
        "quote_char": text.dialect.quote,
        "infer_schema_length": None,
        "glob": False,
        "null_values": [*MISSING_WORDS, *how.na],
        "decimal_comma": decimal_comma,
        **more,
    }
    data: Any = text.content
    if not text.in_place and text.start:
        data = as_bytes(text.content)[text.start :]
        if not data.strip():
            return pl.DataFrame(schema={str(i): pl.String for i in range(text.width)})
    data = data if isinstance(data, Path) else io.BytesIO(data)
    try:
        frame = pl.read_csv(data, has_header=text.in_place, **options)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        _check_widths(text)
        options["infer_schema"] = False  # numbers that no type of polars holds, for example: they are converted later
        try:
            if isinstance(data, io.BytesIO):
                data.seek(0)
            frame = pl.read_csv(data, has_header=text.in_place, **options)
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
            frame = pl.read_csv(_quoted_again(text), has_header=text.in_place, **options)
    if "columns" not in more and (frame.width != text.width or (frame.height and frame[:, -1].null_count())):
        _check_widths(text)
    return frame


def _check_widths(text: Text) -> None:
    """An error that names the first line with another number of cells than the header, empty ones at its end aside."""
    if text.width < 2 or (_has_no_quotes(text) and not _some_width_differs(text)):
        return
    before = 0
    for i, (row, line) in enumerate(_rows(text)):
        short = len(row) < text.width or any(cell.strip() for cell in row[text.width :])
        if i >= text.header.first and len(row) != text.width and short and "".join(row).strip():
            raise UserError(
                f"{text.source.shown}: line {before + 1} has {len(row)} fields; {text.width} are expected. Correct the "
                "line, put quotes around cells that contain the separator, or choose it with --separator."
            )
        before = line


def _quoted_again(text: Text) -> io.BytesIO:
    """The data with quotes around every cell, as a mark inside a cell needs them: 5" is 5 inches.

    Empty cells behind the last column, as spreadsheets write them in some of the lines, are left out.
    """
    _check_closed(text)
    wide = not _has_no_quotes(text) and not any("quotation marks inside" in note for note in text.source.notes)
    longer = sum(len(row) > text.width for row, _ in _rows(text))
    if wide and not longer:
        text.source.notes.append("quotation marks inside cells are part of the text")
    if longer and not any("separators at the end" in note for note in text.source.notes):
        text.source.notes.append(f"separators at the end of {counted(longer, 'line')}, with nothing between, left out")
    out = io.StringIO(newline="")
    writer = csv.writer(
        out, delimiter=text.dialect.separator, quotechar=text.dialect.quote, quoting=csv.QUOTE_ALL, lineterminator="\n"
    )
    rows = (row[: text.width] for row, _ in _rows(text) if row)
    writer.writerows(rows if text.in_place else islice(rows, text.header.first, None))
    return io.BytesIO(out.getvalue().encode())


def _check_quotes(text: Text) -> None:
    """An error where a quotation never ends, which an odd number of marks tells in most files."""
    mark = text.dialect.quote.encode()
    if sum(block.count(mark) for block in blocks(text.content)) % 2:
        _check_closed(text)


def _check_closed(text: Text) -> None:
    """An error where a quotation that begins never ends: everything below it would be one cell."""
    begin = 0
    try:
        for _, line in _rows(text, strict=True):
            begin = line
    except csv.Error as error:
        if "unexpected end" in str(error):
            raise UserError(
                f"{text.source.shown}: the quotation mark in line {begin + 1} is never closed. Close it, or remove it."
            ) from error


def _has_no_quotes(text: Text) -> bool:
    return not any(text.dialect.quote.encode() in block for block in blocks(text.content))


def _some_width_differs(text: Text) -> bool:
    """The same question for text without quotes, at the speed of polars."""
    data: Any = text.content if isinstance(text.content, Path) else io.BytesIO(text.content)
    lines = pl.read_csv(
        data, has_header=False, separator=UNIT_SEPARATOR, quote_char=None, schema={"line": pl.String},
        truncate_ragged_lines=True, glob=False,
    )["line"]  # fmt: skip
    counts = lines.str.count_matches(text.dialect.separator, literal=True)
    told = lines.str.strip_chars() != ""
    return bool((told & (counts != text.width - 1)).fill_null(False).any())


def _rows(text: Text, strict: bool = False) -> Iterator[tuple[list[str], int]]:
    """All rows of cells, with the number of the line that each ends in."""
    stream = io.TextIOWrapper(io.BytesIO(as_bytes(text.content)), encoding="utf-8-sig", newline="")
    reader = rows_of(stream, text.dialect.separator, text.dialect.quote, strict=strict)
    for row in reader:
        yield row, reader.line_num


def _without_blank_lines(frame: pl.DataFrame, text: Text) -> pl.DataFrame:
    """Remove blank lines, which polars reads as rows of missing values."""
    if not frame.height or min(frame.null_count().row(0)) == 0:
        return frame
    empty = frame.select(pl.all_horizontal(pl.all().is_null())).to_series().to_numpy()
    if not empty.any():
        return frame
    blank = np.array([len(row) < 2 and not "".join(row).strip() for row, _ in _rows(text)][text.header.first :], bool)
    if len(blank) > len(empty):  # polars skips blank lines before the first line of text
        blank = blank[np.argmin(blank) :]
    lost = empty & blank if len(blank) == len(empty) else empty
    inside = int(lost[: np.flatnonzero(~lost).max(initial=-1) + 1].sum())
    if inside:
        text.source.notes.append(f"{counted(inside, 'blank line')} between the rows left out")
    return frame.filter(pl.Series(~lost))


def _converted(raw: pl.DataFrame, how: ReadOptions, decimal_comma: bool) -> tuple[pl.DataFrame, Findings]:
    """Columns of text as numbers where every cell is one; other text as it is, text of spaces alone as missing."""
    known = "," if decimal_comma else "." if pl.Float64 in raw.dtypes else None
    findings, columns = Findings(decimal=known, thousands=how.thousands), []
    for column in raw:
        if column.dtype == pl.String:
            numbers = numbers_in(column, how.na, findings)
            blank = column.str.strip_chars() == ""
            column = numbers if numbers is not None else pl.select(pl.when(~blank).then(column)).to_series()
        columns.append(column)
    frame = pl.DataFrame(columns)
    frame.columns = raw.columns
    return frame, findings


def _as_written(frame: pl.DataFrame, text: Text, how: ReadOptions, findings: Findings) -> pl.DataFrame:
    """The table again, with codes such as 01234 as text; notes about these and about words read as missing."""
    whole = [j for j, column in enumerate(frame) if column.dtype.is_integer()]
    codes = whole if whole and _has_leading_zeros(text) else []
    places = sorted({*codes, *(j for j, column in enumerate(frame) if column.null_count())})
    if not places:
        return frame
    raw = _parsed(text, how, False, columns=places, null_values=None, infer_schema=False)
    written = {frame.columns[j]: column.str.strip_chars() for j, column in zip(places, raw, strict=True)}
    marked = {name: column for name, column in written.items() if name not in how.unmarked}
    note_words(frame, marked, findings, text.source.notes)
    return with_codes(frame, {frame.columns[j]: written[frame.columns[j]] for j in codes}, how.na, text.source.notes)


def _has_leading_zeros(text: Text) -> bool:
    return any(LEADING_ZERO.search(block) for block in blocks(text.content))

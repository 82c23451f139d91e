"""Delimited text that is too large to be read at once: its form, from the first lines, and its records in parts."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl

from lowdim.app.errors import UserError
from lowdim.app.read_options import ReadOptions
from lowdim.app.reading.dialect import SPACED, Dialect, find_dialect, first_lines
from lowdim.app.reading.encodings import MARKS
from lowdim.app.reading.header import Header, find_header
from lowdim.app.reading.kinds import utf16_without_mark
from lowdim.app.reading.source import Source
from lowdim.app.reading.text import Text, frame_of, has_decimal_comma

_WAY = "Convert the file to UTF-8 or to Parquet, or take fewer rows or columns."


@dataclass(frozen=True)
class Form:
    """How a text is written; `start` is the number of bytes above the first record."""

    shown: str
    dialect: Dialect
    header: Header
    start: int
    decimal_comma: bool

    @property
    def row_names(self) -> str | None:
        """The column of the names of the rows."""
        return self.header.names[0] if self.header.row_names else None


@dataclass(frozen=True)
class Span:
    """Records that follow each other: bytes from `first` to `last`, and how many records they are."""

    first: int
    last: int
    n_rows: int


def form_of(source: Source, how: ReadOptions) -> Form:
    """The form that the first lines have; UserError for one that is only read as a whole."""
    assert isinstance(source.content, Path)
    start = source.head(4096)
    if how.transpose or how.label_file is not None:
        option = "--transpose" if how.transpose else "--label-file"
        raise UserError(f"{source.shown}: {option} needs a table that is read at once; this one is read in parts.")
    if any(start.startswith(mark) for mark in MARKS) or utf16_without_mark(start):
        raise UserError(f"{source.shown} is not UTF-8, and too large to be read at once. {_WAY}")
    mark = len(codecs.BOM_UTF8) if start.startswith(codecs.BOM_UTF8) else 0
    dialect = find_dialect(source, how, first_lines(source.content))
    if dialect.separator == SPACED:
        raise UserError(
            f"{source.shown}: columns separated by runs of spaces are read at once, and this file is too large for it. "
            "Convert it to CSV or Parquet."
        )
    header = find_header(dialect.rows, how, source.notes)
    comma = how.decimal_comma or how.thousands == "." or has_decimal_comma(dialect, header, source.notes)
    above = sum(dialect.sizes[: header.first]) or mark
    below = replace(dialect, rows=dialect.rows[header.first :], sizes=[])
    form = Form(source.shown, below, replace(header, first=0, plain=False), above, comma)
    _check_text(source.head(above), form)
    return form


def spans_of(path: Path, form: Form, size: int) -> Iterator[Span]:
    """The records in spans of about so many bytes; line ends in quotes do not end a record."""
    first, waiting, quotes = form.start, b"", 0
    with open(path, "rb") as stream:
        stream.seek(first)
        while block := stream.read(size):
            data = waiting + block
            ends = _ends(data, form)
            if not len(ends):
                waiting = data
                continue
            last = int(ends[-1]) + 1
            _check_text(data[:last], form)
            yield Span(first, first + last, _count(data, ends))
            first, waiting = first + last, data[last:]
        quotes = waiting.count(form.dialect.quote.encode())
    if quotes % 2:
        raise UserError(f"{form.shown}: a quotation mark after byte {first:,} is never closed. Close it, or remove it.")
    if waiting.strip():
        _check_text(waiting, form)
        yield Span(first, first + len(waiting), 1)


def records(path: Path, form: Form, span: Span, at: np.ndarray | None = None) -> bytes:
    """The text of a span, or of some of its records."""
    with open(path, "rb") as stream:
        stream.seek(span.first)
        data = stream.read(span.last - span.first)
    if at is None:
        return data
    data = data if data.endswith(b"\n") else data + b"\n"
    ends = _ends(data, form)
    starts = np.concatenate([[0], ends[:-1] + 1])
    told = np.flatnonzero(_told(data, starts, ends))[at]
    return b"".join(data[starts[k] : ends[k] + 1] for k in told.tolist())


def table_of(data: bytes, form: Form, how: ReadOptions, n_rows: int) -> pl.DataFrame:
    """The records as a table, of which so many are expected."""
    text = Text(Source(form.shown, ".csv", data), data, form.dialect, form.header, 0, form.decimal_comma)
    frame = frame_of(text, how)
    if frame.height != n_rows:
        raise UserError(
            f"{form.shown}: {n_rows} records have {frame.height} rows: lines of spaces alone, or quotation marks in "
            "cells. A table of this size must have one record in each line; convert it to Parquet."
        )
    return frame


def _ends(data: bytes, form: Form) -> np.ndarray:
    """Positions of the line ends that are not in quotes."""
    text, mark = np.frombuffer(data, np.uint8), form.dialect.quote.encode()
    ends = np.flatnonzero(text == ord("\n"))
    if mark not in data:
        return ends
    quotes = np.flatnonzero(text == ord(mark))
    return ends[np.searchsorted(quotes, ends) % 2 == 0]


def _told(data: bytes, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Which lines are not blank."""
    text = np.frombuffer(data, np.uint8)
    sizes = ends - starts
    return (sizes > 1) | ((sizes == 1) & (text[np.minimum(starts, len(text) - 1)] != ord("\r")))


def _count(data: bytes, ends: np.ndarray) -> int:
    return int(_told(data, np.concatenate([[0], ends[:-1] + 1]), ends).sum())


def _check_text(data: bytes, form: Form) -> None:
    if data.isascii():
        return
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        raise UserError(f"{form.shown} is not UTF-8, and too large to be read at once. {_WAY}") from None

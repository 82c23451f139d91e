"""Delimited text (CSV, TSV): encoding, separator, header, blank lines.

What can be detected from the file is detected, with a note; what cannot (an encoding, a decimal comma) is an error that
names the option. A UTF-8 file is read in place; only a file in another encoding is converted in memory.
"""

from __future__ import annotations

import codecs
import csv
import io
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl

from lowdim.app.errors import UserError
from lowdim.app.read_options import ReadOptions

MISSING_WORDS = ["", "NA", "N/A", "NaN", "nan", "null", "NULL"]
SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
FOREIGN = {b"PAR1": "Parquet", b"ARROW1": "Arrow", b"\x93NUMPY": "numpy", b"PK\x03\x04": "zip (a spreadsheet?)"}
HEAD = 2**16  # bytes read to detect the separator
LINES = 20


def read_text(path: Path, how: ReadOptions) -> tuple[pl.DataFrame, list[str]]:
    """The table in a text file, and notes about its format."""
    content, notes = _content(path, how.encoding)
    lines = _first_lines(content)
    if not lines:
        raise UserError(f"{path} is empty.")
    separator = _separator(path, how, lines, notes)
    if how.header:
        _check_header(path, list(csv.reader(lines, delimiter=separator)), notes)
    frame = pl.read_csv(
        content if isinstance(content, Path) else io.BytesIO(content),
        separator=separator,
        has_header=how.header,
        infer_schema_length=None,
        null_values=[*MISSING_WORDS, *how.na],
        decimal_comma=how.decimal_comma,
    )
    if not how.header:
        frame.columns = [str(i + 1) for i in range(frame.width)]
    frame = frame.with_columns(_cleaned(frame[name], how) for name, kind in frame.schema.items() if kind == pl.String)
    return _without_blank_lines(frame, content, separator, how.header, notes), notes


def _content(path: Path, encoding: str | None) -> tuple[Path | bytes, list[str]]:
    """The path if the file is UTF-8 text, else its text converted to UTF-8."""
    with open(path, "rb") as source:
        start = source.read(8)
    for mark, kind in FOREIGN.items():
        if start.startswith(mark):
            raise UserError(f"{path} is not a text table: it starts like a {kind} file.")
    notes = []
    if encoding is None and start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "utf-16"
        notes.append("read as UTF-16, by its byte order mark")
    content: Path | bytes = path if encoding is None else _decoded(path, encoding)
    feeds, returns = _line_ends(content, path)
    if returns and not feeds:  # old Macs ended lines by carriage returns alone
        notes.append("lines end in carriage returns alone; read as line ends")
        content = _bytes(content).replace(b"\r", b"\n")
    return content, notes


def _bytes(content: Path | bytes) -> bytes:
    return content if isinstance(content, bytes) else content.read_bytes()


def _decoded(path: Path, encoding: str) -> bytes:
    try:
        return path.read_bytes().decode(encoding).encode("utf-8")
    except LookupError:
        raise UserError(
            f"--encoding {encoding!r} is not known; common encodings are latin-1, cp1252 and utf-16."
        ) from None
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is not {encoding} text (byte {error.start + 1}); choose another --encoding.") from None


def _line_ends(content: Path | bytes, path: Path) -> tuple[bool, bool]:
    """Whether there are line feeds and carriage returns; the same pass checks that all bytes are UTF-8."""
    feeds = returns = False
    decoder, done = codecs.getincrementaldecoder("utf-8")(), 0
    for block in _blocks(content):
        try:
            decoder.decode(block, final=not block)
        except UnicodeDecodeError as error:
            raise UserError(
                f"{path} is not UTF-8 text (near byte {done + error.start + 1}). Choose its encoding, such as "
                "--encoding latin-1 or --encoding cp1252."
            ) from None
        feeds, returns, done = feeds or b"\n" in block, returns or b"\r" in block, done + len(block)
    return feeds, returns


def _blocks(content: Path | bytes) -> Iterator[bytes]:
    """The bytes in blocks, then one empty block."""
    with open(content, "rb") if isinstance(content, Path) else io.BytesIO(content) as source:
        while block := source.read(2**22):
            yield block
    yield b""


def _first_lines(content: Path | bytes) -> list[str]:
    """The first complete lines that are not blank."""
    with open(content, "rb") if isinstance(content, Path) else io.BytesIO(content) as source:
        head, more = source.read(HEAD), source.read(1)
    lines = head.decode("utf-8-sig", errors="ignore").splitlines(keepends=True)
    whole = lines[:-1] if more and len(lines) > 1 else lines
    return [line for line in whole if line.strip()][:LINES]


def _separator(path: Path, how: ReadOptions, lines: list[str], notes: list[str]) -> str:
    if how.separator == "," and how.decimal_comma:
        raise UserError("--decimal-comma needs a separator other than a comma.")
    usual = "\t" if path.suffix.lower() == ".tsv" else ";" if how.decimal_comma else ","
    if how.separator:
        return how.separator
    others = [mark for mark in SEPARATORS if mark != usual and not (mark == "," and how.decimal_comma)]
    found = next((mark for mark in (usual, *others) if _separates(lines, mark)), usual)
    if found != usual:
        notes.append(f"columns are separated by {SEPARATORS[found]} (--separator chooses another separator)")
    return found


def _separates(lines: list[str], mark: str) -> bool:
    """Whether a character separates every line into the same number of columns, two or more."""
    widths = {
        len(row) for row in csv.reader(lines[:-1] or lines, delimiter=mark)
    }  # the last may end inside a quotation
    return len(widths) == 1 and widths.pop() > 1


def _check_header(path: Path, rows: list[list[str]], notes: list[str]) -> None:
    """An error for a header with repeated names (polars would rename them silently), numbers or a comment."""
    names = rows[0]
    if names[0].startswith("#") and len(rows) > 1 and len(rows[1]) != len(names):
        raise UserError(
            f"{path}: the first line is a comment ({names[0][:40]!r}); remove the lines before the column names."
        )
    twice = [name for name, count in Counter(names).items() if count > 1]
    if all(_is_number(name) for name in names):
        if twice or any("." in name or "e" in name.lower() for name in names):
            raise UserError(
                f"{path}: the first line has only numbers; if it is data, add --no-header, "
                "otherwise add a first line with column names."
            )
        notes.append("the first line has whole numbers, read as column names (--no-header reads it as data)")
    elif twice:
        raise UserError(
            f"{path}: column names must be different; {twice[0]!r} appears {names.count(twice[0])} times. "
            "Rename them in the file."
        )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _cleaned(column: pl.Series, how: ReadOptions) -> pl.Series:
    """Numbers with spaces around them as numbers; other text as it is; text of spaces alone as missing."""
    stripped = column.str.strip_chars()
    absent = stripped.is_in([*MISSING_WORDS, *how.na]).fill_null(True)
    point = "," if how.decimal_comma else "."
    text = pl.select(pl.when(~absent).then(stripped)).to_series()
    plain = text if point == "." else text.str.replace_all(".", "?", literal=True).str.replace(",", ".", literal=True)
    numbers = plain.cast(pl.Float64, strict=False)
    if numbers.null_count() == text.null_count() < len(text):
        return numbers.alias(column.name)
    return pl.select(pl.when(stripped != "").then(column)).to_series().alias(column.name)


def _without_blank_lines(
    frame: pl.DataFrame, content: Path | bytes, separator: str, header: bool, notes: list[str]
) -> pl.DataFrame:
    """Remove blank lines, which polars reads as rows of missing values."""
    empty = np.logical_and.reduce([column.is_null().to_numpy() for column in frame])
    if not empty.any():
        return frame
    text = io.StringIO(_bytes(content).decode("utf-8-sig"), newline="")
    blank = np.array([len(row) < 2 and not "".join(row).strip() for row in csv.reader(text, delimiter=separator)])
    blank = blank[np.argmin(blank) + header :]  # polars skips blank lines before the first line of text
    lost = empty & blank if len(blank) == len(empty) else empty
    inside = int(lost[: np.flatnonzero(~lost).max(initial=-1) + 1].sum())
    if inside:
        notes.append(f"{inside} blank lines between the rows left out")
    return frame.filter(pl.Series(~lost))

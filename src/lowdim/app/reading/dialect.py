"""The separator and the quote character of delimited text, from its first lines."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lowdim.app.errors import UserError
from lowdim.app.read_options import ReadOptions
from lowdim.app.reading.number_text import is_missing, is_number
from lowdim.app.reading.source import Source

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
HEAD, LARGEST_HEAD = 2**16, 2**26  # bytes looked at
ENOUGH = 20  # lines
MOST_CELLS = 5000  # that are looked at to choose the separator
LARGEST_CELL = 2**31 - 1
SPACED = ""  # runs of spaces
COMMENTS = ("#", "%", "//", "!")
_SPACED_CELL = re.compile(r'"(?:[^"]|"")*"|\S+')


@dataclass(frozen=True)
class Dialect:
    """Separator and quote character; `rows` are the first lines, separated, and `sizes` their lengths in bytes."""

    separator: str
    quote: str
    rows: list[list[str]]
    sizes: list[int]


def first_lines(content: Path | bytes) -> list[str]:
    """The first lines as they are, blank ones too; a line that is cut at the end is left out."""
    with open(content, "rb") if isinstance(content, Path) else io.BytesIO(content) as stream:
        head, more = stream.read(HEAD), stream.read(1)
        while more and head.count(b"\n") < ENOUGH and len(head) < LARGEST_HEAD:  # lines can be long
            head, more = head + more + stream.read(3 * len(head)), stream.read(1)
    lines = list(io.StringIO(head.decode("utf-8", errors="ignore"), newline=""))
    return lines[:-1] if more and len(lines) > 1 else lines


def find_dialect(source: Source, how: ReadOptions, lines: list[str]) -> Dialect:
    """How lines are separated; a note where it is not by the usual separator of the extension."""
    if how.separator == "," and how.decimal_comma and not _has_quotes(lines):
        raise UserError("--decimal-comma needs a separator other than a comma, or quotes around the numbers.")
    separator = how.separator or _separator(source, how, lines)
    if separator == SPACED:
        return Dialect(SPACED, '"', [], [])
    quote = _quote(lines, separator, source.notes)
    rows, sizes = _separated(lines, separator, quote)
    return Dialect(separator, quote, rows, sizes)


def rows_of(lines: Iterable[str], separator: str, quote: str = '"', *, strict: bool = False) -> Any:
    """A reader of rows; a cell may be as long as it is."""
    csv.field_size_limit(LARGEST_CELL)
    return csv.reader(lines, delimiter=separator, quotechar=quote, strict=strict)


def _separated(lines: list[str], separator: str, quote: str = '"') -> tuple[list[list[str]], list[int]]:
    """Rows and the number of bytes of each; a row may have several lines."""
    text = [line.removeprefix("\ufeff") if not i else line for i, line in enumerate(lines)]
    reader = rows_of(text, separator, quote)
    rows, sizes, done = [], [], 0
    for row in reader:
        rows.append(row)
        sizes.append(sum(len(line.encode()) for line in lines[done : reader.line_num]))
        done = reader.line_num
    return rows, sizes


def _separator(source: Source, how: ReadOptions, lines: list[str]) -> str:
    usual = "\t" if source.suffix in (".tsv", ".tab") else ";" if how.decimal_comma else ","
    marks = [usual, *(mark for mark in SEPARATORS if mark != usual and not (mark == "," and how.decimal_comma))]
    if how.decimal_comma and _has_quotes(lines):
        marks.append(",")
    fits = {mark: _fit(lines, mark) for mark in marks}
    best = max(fits.values())
    if best[0] == 0:
        return SPACED if _are_spaced(lines) else usual
    found = next(mark for mark in marks if fits[mark] == best)
    if found != usual:
        source.notes.append(f"columns are separated by {SEPARATORS[found]} (--separator chooses another separator)")
    return found


def _has_quotes(lines: list[str]) -> bool:
    return any('"' in line for line in lines)


def _fit(lines: list[str], mark: str) -> tuple[float, float]:
    """The share of lines with the usual number of cells (0 if that is one), and the share of cells that are whole."""
    told = [line for line in lines if line.strip() and not line.lstrip().startswith(COMMENTS)] or lines
    if not any(mark in line for line in told) or _breaks_quotes(told, mark):
        return 0.0, 0.0
    rows = [row for row in _separated(told, mark)[0] if any(cell.strip() for cell in row)]
    if not rows:
        return 0.0, 0.0
    rows = rows[:-1] if len(rows) > 2 else rows  # the last may end inside a quotation
    width, count = Counter(len(row) for row in rows).most_common(1)[0]
    if width < 2:
        return 0.0, 0.0
    cells = [cell for row in rows for cell in row[: max(2, MOST_CELLS // len(rows))]]
    others = [other for other in SEPARATORS if other not in (mark, ",")]
    whole = sum(is_number(cell) or not any(other in cell for other in others) for cell in cells)
    return round(count / len(rows), 1), round(whole / len(cells), 2)


def _breaks_quotes(lines: list[str], mark: str) -> bool:
    """Whether text goes on after a closing quote: the character that separates must stand there."""
    try:
        list(rows_of(lines, mark, strict=True))
    except csv.Error as error:
        return "expected after" in str(error)
    return False


def _are_spaced(lines: list[str]) -> bool:
    """Whether spaces separate numbers: all columns have numbers, or all but one of three or more."""
    rows = [_SPACED_CELL.findall(line) for line in lines if line.strip() and not line.lstrip().startswith(COMMENTS)]
    quoted = _has_quotes(lines)
    if len(rows) < 2 or (quoted and any(_has_open_quote(row) for row in rows)):
        return False
    width = len(rows[-1])
    if width < 2 or any(len(row) != width for row in rows[1:]) or len(rows[0]) not in (width, width - 1):
        return False
    numeric = sum(all(is_number(row[j]) or is_missing(row[j]) for row in rows[1:]) for j in range(width))
    if quoted:  # as R writes tables: text in quotes, one space between cells
        return numeric > 0
    return numeric == width or (width > 2 and numeric == width - 1)


def _has_open_quote(cells: list[str]) -> bool:
    return any('"' in cell and not (len(cell) > 1 and cell[0] == cell[-1] == '"') for cell in cells)


def with_tabs(data: bytes, notes: list[str]) -> bytes:
    """Text whose columns are separated by spaces, with tabs instead."""
    notes.append("columns are separated by spaces (--separator chooses another separator)")
    trimmed = re.sub(rb"(?m)^[ \t]+|[ \t]+(?=\r?$)", b"", data)
    return re.sub(rb'("(?:[^"]|"")*")|[ \t]+', lambda found: found.group(1) or b"\t", trimmed)


def _quote(lines: list[str], separator: str, notes: list[str]) -> str:
    """The single quote if it stands around cells and nowhere else, and no double quote is there."""
    if _has_quotes(lines) or not any("'" in line for line in lines):
        return '"'
    cells = [cell.strip() for line in lines for cell in line.rstrip("\r\n").split(separator)]
    marked = [cell for cell in cells if "'" in cell]
    around = [cell for cell in marked if len(cell) > 1 and cell[0] == cell[-1] == "'"]
    if len(around) < 2 or (len(around) < len(marked) and not _join(cells)):
        return '"'
    notes.append("single quotes stand around cells; read without them")
    return "'"


def _join(cells: list[str]) -> bool:
    """Whether quotes that open in one piece close in a later one: a separator stands between quotes."""
    opened = False
    for cell in cells:
        if "'" not in cell:
            continue
        if not opened and cell[0] == "'" and not (len(cell) > 1 and cell[-1] == "'"):
            opened = True
        elif opened and cell[-1] == "'":
            opened = False
        elif not (cell[0] == cell[-1] == "'"):
            return False
    return not opened

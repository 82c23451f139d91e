"""What stands below the rows of a text file: remarks, the column names again, a second table."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lowdim.app.errors import UserError
from lowdim.app.reading.dialect import Dialect, rows_of
from lowdim.app.reading.encodings import as_bytes, blocks
from lowdim.app.reading.header import Header
from lowdim.app.reading.loaded import counted
from lowdim.app.reading.number_text import is_missing, is_number
from lowdim.app.reading.source import Source

MOST_REMARKS = 20  # lines
TAIL = 2**15  # bytes in which they stand
REMARK = re.compile(r"^\s*(?:[*#%©¹²³†‡(!~]|//|--)|:|\.$")
BLANK = re.compile(rb"\n[ \t,;|\r]*\n")
MOST_GAPS = 1000  # blank lines looked at


def without_remarks(content: Path | bytes, dialect: Dialect, source: Source) -> Path | bytes:
    """The text without the lines of a source or a remark below its last row, named in a note.

    A remark is a text in the first cell alone. Where other rows begin with text, it must say more than a name: a cut
    row is an error, not a remark.
    """
    width, tail = Counter(len(row) for row in dialect.rows if row).most_common(1)[0][0], _tail(content)
    if width < 2:
        return content
    lines = tail.splitlines(keepends=True)
    numbers = _begins_with_numbers(dialect.rows, width)
    found: list[_Candidate] = []
    for i in range(len(lines) - 1, max(0, len(lines) - MOST_REMARKS), -1):
        line = lines[i].decode("utf-8", errors="replace").strip("\r\n")
        if not line.strip(" \t" + dialect.separator):
            continue
        if (remark := _remark(line, dialect, width)) is None:
            break
        apart = not lines[i - 1].strip()
        short = line.strip() == remark  # one cell, or a sentence with the separator in it
        found.append(_Candidate(i, remark, bool(REMARK.search(remark)) or (short and (numbers or apart))))
    remarks = _below_first(found)
    if not remarks:
        return content
    _note_remarks(remarks, source)
    return as_bytes(content)[: -sum(map(len, lines[remarks[-1].place :]))]


@dataclass(frozen=True)
class _Candidate:
    """A line with a text in its first cell alone, and whether it is surely no row."""

    place: int
    text: str
    sure: bool


def _below_first(found: Sequence[_Candidate]) -> Sequence[_Candidate]:
    """Of the last lines, from below, those up to the uppermost that is surely a remark."""
    return found[: max((k + 1 for k, one in enumerate(found) if one.sure), default=0)]


def _note_remarks(remarks: Sequence[_Candidate], source: Source) -> None:
    """A note with the first of the remarks, which are listed from below."""
    first = remarks[-1].text
    said = first if len(first) <= 60 else f"{first[:57]}..."
    more = f" and {counted(len(remarks) - 1, 'more line')}" if len(remarks) > 1 else ""
    source.notes.append(f"the text below the rows is a remark, not used as data: {said!r}{more}")


def _tail(content: Path | bytes) -> bytes:
    if isinstance(content, bytes):
        return content[-TAIL:]
    with open(content, "rb") as stream:
        size = stream.seek(0, 2)
        stream.seek(max(0, size - TAIL))
        return stream.read()


def _begins_with_numbers(rows: Sequence[Sequence[str]], width: int) -> bool:
    """Whether the first column has numbers, below its name and beside other cells."""
    cells = [row[0] for row in rows if len(row) == width and any(cell.strip() for cell in row[1:])]
    return len(cells) > 1 and all(is_number(cell) or is_missing(cell) for cell in cells[1:])


def _remark(line: str, dialect: Dialect, width: int) -> str | None:
    """The text of a line that can be a remark; None for a row."""
    if line.count(dialect.quote) % 2:
        return None
    row = _row(line.encode(), dialect)
    told = row[0].strip() if row else ""
    if not told or is_number(told) or is_missing(told):
        return None
    if any(cell.strip() for cell in row[1:]):  # a sentence with the separator in it: "Source: ministry, 2020"
        return line.strip() if len(row) < width and REMARK.search(row[0]) else None
    return told


def rows_of_one_table(rows: Sequence[Sequence[str]], source: Source) -> int:
    """How many rows of a sheet are above its remarks; an error where another table begins below a blank row."""
    width, found = max(map(len, rows), default=0), []
    numbers = _begins_with_numbers(rows, width)
    for i in range(len(rows) - 1, max(0, len(rows) - MOST_REMARKS), -1):
        told, others = rows[i][0].strip(), any(cell.strip() for cell in rows[i][1:])
        if not told and not others:
            continue
        if width < 2 or others or is_number(told) or is_missing(told):
            break
        apart = not any(cell.strip() for cell in rows[i - 1])
        found.append(_Candidate(i, told, numbers or apart or bool(REMARK.search(told))))
    remarks = _below_first(found)
    end = remarks[-1].place if remarks else len(rows)
    if remarks:
        _note_remarks(remarks, source)
    for i in range(2, end - 1):
        above = any(map(is_number, rows[i - 2]))
        if above and not any(cell.strip() for cell in rows[i - 1]) and _are_names(rows[i], rows[i + 1]):
            raise UserError(
                f"{source.shown}: a second table begins in row {i + 1} of the cells ({', '.join(rows[i][:4])}). Keep "
                "one table in a sheet, or remove the row if it belongs to the first."
            )
    return end


def one_table(content: Path | bytes, dialect: Dialect, header: Header, source: Source) -> Path | bytes:
    """The text with its column names once; an error where another table begins."""
    names = next((row for row in reversed(dialect.rows[: header.first]) if any(cell.strip() for cell in row)), None)
    if names is None or len(names) < 2 or any(is_number(cell) for cell in names):
        return content
    place = dialect.rows[: header.first].index(names)
    begin = sum(dialect.sizes[:place])
    size = dialect.sizes[place]
    line = (
        as_bytes(content)[begin : begin + size].strip(b"\r\n")
        if isinstance(content, bytes)
        else _first(content, begin, size)
    )
    again = sum(block.count(b"\n" + line) for block in blocks(content)) if line else 0
    if again:
        content = _without_repeats(as_bytes(content), line, begin + size, source)
    _refuse_second(content, dialect, source)
    return content


def _first(path: Path, begin: int, size: int) -> bytes:
    with open(path, "rb") as stream:
        stream.seek(begin)
        return stream.read(size).strip(b"\r\n")


def _without_repeats(data: bytes, line: bytes, end: int, source: Source) -> bytes:
    """The data below the column names without the lines that repeat them."""
    head, rows = data[:end], data[end:].splitlines(keepends=True)
    kept = [row for row in rows if row.strip(b"\r\n") != line]
    if len(kept) < len(rows):
        source.notes.append(f"the column names come {len(rows) - len(kept) + 1} times; read once")
    return head + b"".join(kept)


def _refuse_second(content: Path | bytes, dialect: Dialect, source: Source) -> None:
    """An error where a blank line is followed by other column names."""
    if not any(BLANK.search(block) for block in blocks(content)):
        return
    data = as_bytes(content)
    if data.count(dialect.quote.encode()):  # a blank line may be inside a cell
        return
    for gap in list(BLANK.finditer(data))[:MOST_GAPS]:
        before = _row(data[: gap.start()].rsplit(b"\n", 1)[-1], dialect)
        below = data[gap.end() :].split(b"\n", 2)
        if len(below) < 2:
            continue
        names, row = _row(below[0], dialect), _row(below[1], dialect)
        if _are_names(names, row) and any(map(is_number, before)):
            line = data[: gap.end()].count(b"\n") + 1
            raise UserError(
                f"{source.shown}: a second table begins in line {line} ({', '.join(names[:4])}). Keep one table in a "
                "file, or remove the line if it is a row."
            )


def _row(line: bytes, dialect: Dialect) -> list[str]:
    text = line.decode("utf-8", errors="replace").strip("\r\n")
    found: list[str] = next(rows_of([text], dialect.separator, dialect.quote), [])
    return found


def _are_names(names: Sequence[str], row: Sequence[str]) -> bool:
    """Whether a row of different words stands above a row with numbers."""
    told = [cell.strip() for cell in names]
    words = len(told) > 1 and len(set(told)) == len(told)
    plain = all(cell and not is_number(cell) and not is_missing(cell) for cell in told)
    return words and plain and len(row) == len(names) and any(map(is_number, row))

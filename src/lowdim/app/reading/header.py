"""The lines above the data: comments, a title, column names, units. Shared by text files and spreadsheets.

Rows are lists of cells as text; a blank line is a row without text. What is recognised is left out of the data, with a
note.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from lowdim.app.read_options import ReadOptions
from lowdim.app.reading.clutter.above import YEARS, are_names, described, numeric_columns, skip_settings
from lowdim.app.reading.loaded import counted, listed
from lowdim.app.reading.number_text import is_missing, is_number

COMMENTS = ("#", "%", "//", "!")
MOST_TITLES = 10
LOOKED_AT = 50  # rows that decide whether a column has numbers; fewer of them in wide tables
MOST_CELLS = 20_000
LONGEST_UNIT = 20
UNITS = {
    "m", "cm", "mm", "µm", "nm", "km", "kg", "g", "mg", "µg", "t", "s", "ms", "min", "h", "d", "%", "°C", "°F", "K",
    "Hz", "kHz", "MHz", "V", "mV", "A", "mA", "W", "Pa", "kPa", "bar", "mol", "l", "ml",
}  # fmt: skip
MOST_LINES, COUNTED = 3, ("one", "two", "three")  # lines of names

Rows = Sequence[Sequence[str]]


@dataclass(frozen=True)
class Header:
    """The names of all columns as the file has them, and the position of the first row of data.

    `plain`: the names are the first row and nothing else is above the data. `row_names`: the first column has row names
    and no name of its own. `about`: what a line under the names says of each column; empty where there is none.
    """

    names: list[str]
    first: int
    plain: bool
    row_names: bool = False
    about: tuple[str, ...] = ()


def find_header(rows: Rows, how: ReadOptions, notes: list[str]) -> Header:
    """What the first rows are. There is at least one row with text."""
    top = _skip_blank(rows, 0)
    top = _skip_comments(rows, top, notes)
    top = _skip_titles(rows, top, notes)
    top = skip_settings(rows, top, notes) if how.header else top
    names = [cell.strip() for cell in rows[top]]
    rest = [row for row in rows[top + 1 : top + 1 + max(4, min(LOOKED_AT, MOST_CELLS // len(names)))] if _filled(row)]
    width = _usual_width(rest) if rest else len(names)
    if how.header and (joined := _in_lines(names, rest, how, notes)) is not None:
        names, below = joined
        for _ in range(below):
            rest, top = rest[1:], _skip_blank(rows, top + 1)
    if not how.header or (not how.has_header and _is_data(names, rest, how, notes)):
        return Header([str(i + 1) for i in range(max(width, len(names)))], top, False)
    first, row_names = top + 1, False
    about: tuple[str, ...] = ()
    if len(names) == width - 1 and all(len(row) == width for row in rest):
        names, row_names = _with_short_header(names, rest, notes)
    elif len(names) == width + 1 and not names[-1]:
        names = names[:-1]
    if _is_units(names, rest, how):
        units = [cell.strip() for cell in rest[0] if cell.strip()]
        notes.append(f"the line under the column names has units ({listed(units)}), not used as data")
        first = _below(rows, first, 1)
    else:
        about, lines = described(names, rest, how, notes)
        first = _below(rows, first, lines)
    plain = first == 1 and not row_names and list(rows[0]) == names
    return Header(names, first, plain, row_names, about)


def _below(rows: Rows, first: int, count: int) -> int:
    """The row below so many rows with text."""
    for _ in range(count):
        first = next(i for i in range(first, len(rows)) if _filled(rows[i])) + 1
    return first


def _filled(row: Sequence[str]) -> bool:
    return any(cell.strip() for cell in row)


def _skip_blank(rows: Rows, top: int) -> int:
    while top < len(rows) - 1 and not _filled(rows[top]):
        top += 1
    return top


def _usual_width(rows: Rows) -> int:
    return Counter(len(row) for row in rows if _filled(row)).most_common(1)[0][0]


def _skip_comments(rows: Rows, top: int, notes: list[str]) -> int:
    """The row after the comments. A last one with as many cells as the next row has the column names: "#a,b"."""
    begin = top
    while top < len(rows) - 1 and rows[top] and rows[top][0].lstrip().startswith(COMMENTS):
        below = _skip_blank(rows, top + 1)
        if not _filled(rows[below]):
            break
        is_last = not (rows[below] and rows[below][0].lstrip().startswith(COMMENTS))
        remark = rows[top][0].lstrip("#%/ ") != rows[top][0].lstrip("#%/")
        over_numbers = any(is_number(cell) for cell in rows[below])
        if is_last and len(rows[top]) == len(rows[below]) and (over_numbers or not remark):
            break
        top = below
    if top > begin:
        count = sum(_filled(row) for row in rows[begin:top])
        notes.append(f"{counted(count, 'comment line')} above the column names left out")
    return top


def _skip_titles(rows: Rows, top: int, notes: list[str]) -> int:
    """The row after a title: rows with one text above rows that have several."""
    begin = top
    while top < min(len(rows) - 1, begin + MOST_TITLES) and _is_title(rows, top):
        top = _skip_blank(rows, top + 1)
    if top > begin:
        said = next(cell.strip() for cell in rows[begin] if cell.strip())
        notes.append(f"the text above the column names is a title, not used as data: {said[:60]!r}")
    return top


def _is_title(rows: Rows, top: int) -> bool:
    row, below = rows[top], _below_titles(rows, top + 1)
    rest = [other for other in rows[top + 1 : top + LOOKED_AT] if _filled(other)]
    told = [cell for cell in row if cell.strip()]
    if not rest or len(told) != 1 or is_number(told[0]):
        return False
    usual = _usual_width(rest)
    if usual < 2 or not row[0].strip():
        return False
    if len(row) < usual - 1 or (len(row) == 1 and not any(is_number(cell) for cell in below)):
        return True  # with one cell fewer it could be a header without a name for the row names
    names = [cell for cell in below if cell.strip()]
    return len(row) == usual > 2 and len(names) >= 2 and not any(_is_quantity(cell) for cell in names)


def _below_titles(rows: Rows, top: int) -> Sequence[str]:
    """The first row from here that is not blank, nor a text in the first of several cells: a further title."""
    for row in rows[top : top + MOST_TITLES]:
        told = [cell for cell in row if cell.strip()]
        if told and (len(told) > 1 or len(row) == 1 or not row[0].strip() or is_number(told[0])):
            return row
    return rows[_skip_blank(rows, top)]


def _is_quantity(cell: str) -> bool:
    """Whether a cell is a number, and no year, which is a name as often."""
    return is_number(cell) and not (cell.strip().isdigit() and int(cell) in YEARS)


def _in_lines(names: list[str], rest: Rows, how: ReadOptions, notes: list[str]) -> tuple[list[str], int] | None:
    """The column names where they stand in two or three lines, and how many lines below the first; None for one line.

    Merged cells: names, then blanks, above a line of text over columns of numbers.
    """
    groups, above = [list(names)], list(names)
    for below in range(1, MOST_LINES):
        if len(rest) < below + 2 or len(rest[below - 1]) != len(names):
            return None
        lower = [cell.strip() for cell in rest[below - 1]]
        if all(above) or any(map(_is_quantity, above)):
            return None
        if (found := _joined(groups, lower, rest[below:], how)) is not None:
            notes.append(f"the column names stand in {COUNTED[below]} lines; read as {listed(found)}")
            return found, below
        groups, above = [*groups, lower], lower
    return None


def _joined(groups: Sequence[list[str]], lower: list[str], rest: Rows, how: ReadOptions) -> list[str] | None:
    """The names of all lines together, the last one above columns of numbers; None where it is not the last."""
    width = range(len(lower))
    below_blanks = any(lower[j] and not groups[-1][j] for j in width)
    named = all(lower[j] or any(group[j] for group in groups) for j in width)
    numeric = [j for j in numeric_columns(rest, how) if j in width]
    if not below_blanks or not named or any(is_number(cell) for cell in lower):
        return None
    if not any(lower[j] and not is_missing(lower[j], how.na) for j in numeric):
        return None
    spread = [list(group) for group in groups]
    for group in spread:
        for j in range(1, len(lower)):
            group[j] = group[j] or group[j - 1]
    plain = [next((part[j] for part in (lower, *reversed(groups)) if part[j]), "") for j in width]
    if len(set(plain)) == len(plain):
        return plain
    return [" ".join(part for part in (*(group[j] for group in spread), lower[j]) if part) for j in width]


def _is_data(first: list[str], rest: Rows, how: ReadOptions, notes: list[str]) -> bool:
    """Whether the first row is data: numbers where the other rows have numbers, and not like 1, 2, 3 or 2019, 2020."""
    if not rest:
        numbers = [cell for cell in first if cell]
        found = bool(numbers) and all(is_number(cell) for cell in numbers)
    else:
        columns = [j for j in numeric_columns(rest, how) if j < len(first)]
        cells = [first[j] for j in columns if not is_missing(first[j], how.na)]
        if not cells or not all(is_number(cell) for cell in cells):
            return False
        numbered = are_names(cells) or are_names([cell for cell in first if is_number(cell)])
        names = len(first) > 1 and numbered and len(set(first)) == len(first)
        if names and not _is_square_of_distances([first, *rest]):
            notes.append(
                "the first line has evenly spaced numbers or years, read as names (--no-header reads it as data)"
            )
            return False
        found = True
    if found:
        notes.append(
            "the first line has numbers, read as data; columns are named 1, 2, ... (--header reads it as names)"
        )
    return found


def _is_square_of_distances(rows: Rows) -> bool:
    """Whether all rows together are a symmetric table with a zero diagonal: its first row can be 0, 1, 2."""
    try:
        numbers = [[None if is_missing(cell) else float(cell) for cell in row] for row in rows]
    except ValueError:
        return False
    n = len(numbers)
    if any(len(row) != n for row in numbers) or any(numbers[i][i] != 0.0 for i in range(n)):
        return False
    pairs = [(numbers[i][j], numbers[j][i]) for i in range(n) for j in range(i)]
    return all(None in pair or pair[0] == pair[1] for pair in pairs)


def _with_short_header(names: list[str], rest: Rows, notes: list[str]) -> tuple[list[str], bool]:
    """A header with one name fewer than the rows have cells: row names come first, or lines end in a separator.

    Where the place of the row names is there, without a name, the column without a name is the last one.
    """
    if not names[0] or not any(row[-1].strip() for row in rest):
        return [*names, ""], False
    name = "row_name"
    while name in names:
        name += "_"
    notes.append(f"the header has one name fewer than the rows have cells: the first column is named {name!r}")
    return [name, *names], True


def _is_units(names: list[str], rest: Rows, how: ReadOptions) -> bool:
    """Whether the first row has units: short text above numbers, nothing (or a remark in brackets) above text."""
    if len(rest) < 3 or len(rest[0]) != len(names):
        return False
    units = [cell.strip() for cell in rest[0]]
    numeric = set(numeric_columns(rest[1:], how))
    above = [units[j] for j in numeric if j < len(units)]
    told = [unit for unit in above if unit and not is_missing(unit, how.na)]
    if not told or len(told) * 2 < len(above) or any(is_number(unit) and unit != "%" for unit in above if unit):
        return False
    if any(len(unit) > LONGEST_UNIT for unit in told):
        return False
    if len(told) == 1 and not (told[0].strip("()[]<>") in UNITS or _in_brackets(told[0])):
        return False  # one word above one column can be anything
    others = [units[j] for j in range(len(units)) if j not in numeric]
    return all(not unit or unit == "-" or _in_brackets(unit) for unit in others)


def _in_brackets(text: str) -> bool:
    return len(text) > 2 and text[0] + text[-1] in ("()", "[]", "<>")

"""What stands above the rows besides names: the settings of an instrument, and lines that describe the columns."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from lowdim.app.read_options import ReadOptions
from lowdim.app.reading.loaded import counted, listed
from lowdim.app.reading.number_text import is_missing, is_number

MOST_SETTINGS = 60  # lines
NARROW = 2  # cells of a line such as "Date, 4/12/2021"
FEWEST_NAMES, FEWEST_ROWS = 3, 2  # of a table below settings
MOST_DESCRIPTIONS = 2  # lines
YEARS = range(1800, 2101)

Rows = Sequence[Sequence[str]]


def skip_settings(rows: Rows, top: int, notes: list[str]) -> int:
    """The row of the names below lines of another width, as instruments write them: their own name, dates, settings."""
    for place in range(top + 1, min(len(rows) - FEWEST_ROWS, top + MOST_SETTINGS)):
        widths = _table_at(rows, place)
        if widths and all(_is_setting(row, widths) for row in rows[top:place] if _told(row)):
            count = sum(bool(_told(row)) for row in rows[top:place])
            said = ", ".join(cell.strip() for cell in rows[top] if cell.strip())
            shown = said if len(said) <= 60 else f"{said[:57]}..."
            notes.append(f"{counted(count, 'line')} above the column names left out, beginning with {shown!r}")
            return place
    return top


def _told(row: Sequence[str]) -> list[str]:
    """The cells up to the last one that is not empty."""
    end = max((j + 1 for j, cell in enumerate(row) if cell.strip()), default=0)
    return [cell.strip() for cell in row[:end]]


def _is_setting(row: Sequence[str], widths: set[int]) -> bool:
    told = _told(row)
    return len(told) <= NARROW or len(row) not in widths or all(":" in cell for cell in told)


def _table_at(rows: Rows, place: int) -> set[int]:
    """The numbers of cells of names here and of rows with numbers below; empty where no table begins here."""
    names = _told(rows[place])
    body = [row for row in rows[place + 1 : place + 1 + 2 * FEWEST_ROWS] if _told(row)][:FEWEST_ROWS]
    inner = names[1:] if names and not names[0] else names
    if len(inner) < FEWEST_NAMES or not all(inner) or len(set(inner)) < len(inner) or len(body) < FEWEST_ROWS:
        return set()
    if any(map(is_number, inner)) and not _are_numbered(names, body):
        return set()
    widths = {len(row) for row in body}
    fits = len(widths) == 1 and min(widths) in (len(rows[place]), len(rows[place]) + 1)
    widths |= {len(rows[place]), min(widths) - 1}  # as wide as rows without a name: their header, as R writes it
    return widths if fits and all(any(map(is_number, row)) for row in body) else set()


def _are_numbered(names: Sequence[str], body: Rows) -> bool:
    """Whether the numbers among names number the columns, beside a text or the empty place of the row names.

    Rows of data whose numbers are evenly spaced too are no rows below names.
    """
    numbers = [cell for cell in names if is_number(cell)]
    if len(numbers) == len(names) or not are_names(numbers):
        return False
    return not any(are_names([cell for cell in row if is_number(cell)]) for row in body)


def described(names: Sequence[str], rest: Rows, how: ReadOptions, notes: list[str]) -> tuple[tuple[str, ...], int]:
    """Texts that describe the columns, as surveys have the questions under short names, and how many lines they take.

    A line describes the columns where all those of numbers have a text in it, and no other column has its text again.
    """
    for count in range(MOST_DESCRIPTIONS, 0, -1):
        lines, body = rest[:count], rest[count:]
        if len(body) < FEWEST_ROWS or any(len(line) != len(names) for line in lines):
            continue
        numeric = numeric_columns(body, how)
        if all(_describes(line, body, numeric, how) for line in lines):
            about = tuple(" ".join(cell.split()) for cell in lines[0])
            told = [text for text, name in zip(about, names, strict=True) if text and text != name]
            which = "line" if count == 1 else f"{count} lines"
            notes.append(
                f"the {which} under the column names describe{'s' * (count == 1)} the columns, not used as data "
                f"({listed([repr(text) for text in told], 2)})"
            )
            return about, count
    return (), 0


def _describes(line: Sequence[str], body: Rows, numeric: Sequence[int], how: ReadOptions) -> bool:
    cells = [cell.strip() for cell in line]
    over = [cells[j] for j in numeric if j < len(cells)]
    if len(over) < 2 or any(is_missing(cell, how.na) or is_number(cell) for cell in over):
        return False
    different = len(set(filter(None, cells))) == len(list(filter(None, cells)))
    others = (j for j in range(len(cells)) if j not in numeric and cells[j])
    return different and not any(cells[j] == row[j].strip() for j in others for row in body if j < len(row))


def numeric_columns(rest: Rows, how: ReadOptions) -> list[int]:
    """Columns whose cells are numbers or missing, with one number at least."""
    found = []
    for j in range(max(map(len, rest), default=0)):
        cells = [row[j] for row in rest if j < len(row) and not is_missing(row[j], how.na)]
        if cells and all(is_number(cell) for cell in cells):
            found.append(j)
    return found


def are_names(cells: Sequence[str]) -> bool:
    """Whether numbers look like names of columns: evenly spaced (0, 1, 2, or wavelengths) or years."""
    try:
        values = [float(cell) for cell in cells]
    except ValueError:
        return False
    steps = [after - before for before, after in pairwise(values)]
    whole = all(value.is_integer() for value in values)
    enough = len(steps) >= (1 if whole else 3)  # three numbers with decimals are evenly spaced by chance too often
    even = enough and min(steps) > 0 and max(steps) - min(steps) < 1e-6 * max(steps)
    years = all(value in YEARS for value in values) and values == sorted(set(values))
    return even or years

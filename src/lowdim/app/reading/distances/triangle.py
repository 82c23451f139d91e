"""Distances written as a lower triangle in text, with or without names, and the matrices of PHYLIP."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from lowdim.app.errors import UserError
from lowdim.app.read_options import ReadOptions
from lowdim.app.reading.distances.record import FEWEST, are_rounded, distances_of
from lowdim.app.reading.encodings import as_bytes
from lowdim.app.reading.loaded import Loaded
from lowdim.app.reading.number_text import is_number
from lowdim.app.reading.source import Source

LOOKED_AT = 6  # lines that tell whether the others have to be read
MARKS, SPACES = re.compile(r"[,;\t]"), re.compile(r"\s+")


def triangle_in(content: Path | bytes, lines: list[str], source: Source, how: ReadOptions) -> Loaded | None:
    """Distances, if the text is a matrix of PHYLIP or a lower triangle; else None."""
    if how.distances not in (None, "lower", "square"):
        return None
    first = _separated(lines[:LOOKED_AT])
    possible = _could_be_phylip(first) or _could_be_triangle(first) or _could_be_printed(first)
    if not possible and how.distances != "lower":
        return None
    rows = _separated(as_bytes(content).decode("utf-8").splitlines())
    found = _phylip(rows, source) or _printed(rows, source) or _triangle(rows, source, asked=how.distances == "lower")
    if found is None and how.distances == "lower" and len({len(row) for row in rows[1:]}) > 1:
        raise UserError(
            f"{source.shown}: --distances lower needs lines of 1, 2, 3, ... numbers (each may begin with a name), or a "
            f"square table with one side empty; the first lines have {_widths(rows)} cells."
        )
    return found


def _widths(rows: list[list[str]]) -> str:
    return ", ".join(str(len(row)) for row in rows[:4])


def _separated(lines: list[str]) -> list[list[str]]:
    """The cells of all lines that are not blank; spaces separate them if nothing else does."""
    told = [line for line in (line.strip("\ufeff \t\r\n") for line in lines) if line]
    between = MARKS if any(MARKS.search(line) for line in told) else SPACES
    return [_cells(line, between) for line in told]


def _cells(line: str, between: re.Pattern[str]) -> list[str]:
    cells = [cell.strip().strip('"') for cell in between.split(line)]
    while cells and not cells[-1]:
        cells.pop()
    return cells


def _could_be_phylip(rows: list[list[str]]) -> bool:
    return len(rows) > 2 and len(rows[0]) == 1 and rows[0][0].isdigit() and int(rows[0][0]) >= 2 and len(rows[2]) > 1


def _could_be_triangle(rows: list[list[str]]) -> bool:
    """Whether each line has one cell more than the one above it; a header may come first.

    Lines end in a zero, or begin with a name, the first of which stands alone.
    """
    body = rows[1:] if _has_header(rows) else rows
    if len(body) < FEWEST or len(body[0]) not in (1, 2):
        return False
    growing = all(len(row) == len(body[0]) + i for i, row in enumerate(body))
    if growing and len(body[0]) == 1 and not any(is_number(row[0]) for row in body):
        return all(_numbers(row[1:]) is not None for row in body)
    return growing and all(_numbers(row[-1:]) == [0.0] for row in body)


def _has_header(rows: list[list[str]]) -> bool:
    """Whether the first line has names: no numbers, or those that begin the lines under it."""
    if len(rows) < 2 or len(rows[0]) < 3:
        return False
    named = not any(is_number(cell) for cell in rows[0][1:])
    starts = [row[0] for row in rows[1:] if row]
    return named or starts == rows[0][: len(starts)]


def _could_be_printed(rows: list[list[str]]) -> bool:
    """Whether lines are as R prints distances: names of all items but the last, then lines of one more number each."""
    if len(rows) < FEWEST or len(rows[0]) < 2:
        return False
    header, body = rows[0], rows[1:]
    starts = [row[0] for row in body if row]
    below = header[1 : 1 + len(starts)]
    return starts[: len(below)] == below and all(len(row) == i + 2 for i, row in enumerate(body))


def _printed(rows: list[list[str]], source: Source) -> Loaded | None:
    if not _could_be_printed(rows) or len(rows) != len(rows[0]) + 1:
        return None
    D = _lower([[], *([*row[1:]] for row in rows[1:])])
    if D is None:
        return None
    names = [rows[0][0], *(row[0] for row in rows[1:])]
    notes = [*source.notes, f"a lower triangle: distances between {len(D)} items (--distances no: rows)"]
    return distances_of(D, names, notes)


def _numbers(cells: list[str]) -> list[float] | None:
    try:
        return [float(cell) for cell in cells]
    except ValueError:
        return None


def _phylip(rows: list[list[str]], source: Source) -> Loaded | None:
    if not _could_be_phylip(rows) or len(rows) != int(rows[0][0]) + 1:
        return None
    body, n = rows[1:], len(rows) - 1
    if all(len(row) == n + 1 for row in body):
        D = _matrix([row[1:] for row in body])
        if D is None or not are_rounded(D) or np.diag(D).any() or D.min() < 0:
            return None
        D = (D + D.T) / 2
    else:
        D = _lower([row[1:] for row in body])
        if D is None:
            return None
    notes = [*source.notes, f"a PHYLIP matrix: distances between {n} items (--distances no: rows)"]
    return distances_of(D, [row[0] for row in body], notes)


def _triangle(rows: list[list[str]], source: Source, *, asked: bool) -> Loaded | None:
    if not asked and not _could_be_triangle(rows):
        return None
    header = _has_header(rows)
    body = rows[1:] if header else rows
    named = any(row and not is_number(row[0]) for row in body) or (header and len(body[0]) == 2)
    D = _lower([row[1:] if named else row for row in body])
    if D is None or (named and len(D) > len(body)):  # the first item has no line, so no name
        return None
    names = [row[0] for row in body] if named else [str(i + 1) for i in range(len(D))]
    notes = [*source.notes, f"a lower triangle: distances between {len(D)} items (--distances no: rows)"]
    return distances_of(D, names, notes)


def _matrix(cells: list[list[str]]) -> np.ndarray | None:
    numbers = [_numbers(row) for row in cells]
    return None if any(row is None for row in numbers) else np.array(numbers)


def _lower(cells: list[list[str]]) -> np.ndarray | None:
    """The full table from lines of 1, 2, 3, ... numbers that end in the diagonal or before it; None if they do not."""
    numbers = [row for row in (_numbers(row) for row in cells) if row is not None]
    if len(numbers) < len(cells) or len(cells) < 2:
        return None
    lengths = [len(row) for row in numbers]
    start = lengths[0]
    if start not in (0, 1) or lengths != list(range(start, start + len(lengths))):
        return None
    ends = [row[-1] for row in numbers if row]
    with_diagonal = start == 1 and not any(ends)
    n = len(numbers) + (start == 1 and not with_diagonal)
    D = np.zeros((n, n))
    shift = n - len(numbers)
    for i, row in enumerate(numbers):
        D[i + shift, : len(row)] = row
    D = D + D.T
    return D if np.isfinite(D).all() and D.min() >= 0 and not np.diag(D).any() else None

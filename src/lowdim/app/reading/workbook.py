"""Spreadsheets: Excel (.xlsx, .xlsm, .xlsb, .xls) and OpenDocument (.ods), by calamine.

Cells come with their own types; comments, titles, names and units above the data are found as in text files.
"""

from __future__ import annotations

import shlex
from typing import Any

import polars as pl

from lowdim.app.errors import UserError
from lowdim.app.read_options import ReadOptions
from lowdim.app.reading.clutter.below import rows_of_one_table
from lowdim.app.reading.header import find_header
from lowdim.app.reading.loaded import Loaded, counted, library, listed, told_apart, unique_names
from lowdim.app.reading.marks import note_suspects, with_numeric_words
from lowdim.app.reading.number_text import Findings
from lowdim.app.reading.source import Source
from lowdim.app.reading.values import column_of, text_of
from lowdim.study.suggestions import did_you_mean

LEAST, ROWS = 2, 3  # columns and rows (the header is one) of a table


def read_workbook(source: Source, how: ReadOptions) -> Loaded:
    """The table of one sheet."""
    calamine = library("python_calamine", "app", source.shown, "reading spreadsheets")
    try:
        with source.open() as stream:
            book = calamine.CalamineWorkbook.from_filelike(stream)
            rows = _without_empty_columns(_cells(book, source, how))
    except calamine.PasswordError:
        raise UserError(f"{source.shown} is protected by a password; save it without one.") from None
    except calamine.CalamineError as error:
        raise UserError(f"{source.shown} cannot be read as a spreadsheet: {str(error).rstrip('.')}.") from error
    notes = source.notes
    cells = [[text_of(cell) for cell in row] for row in rows]
    end = rows_of_one_table(cells, source)
    rows, cells = rows[:end], cells[:end]
    header = find_header(cells, how, notes)
    names = unique_names(header.names, notes)
    body = [row for row in rows[header.first :] if any(cell not in (None, "") for cell in row)]
    lost = len(rows) - header.first - len(body)
    if lost:
        notes.append(f"{counted(lost, 'blank row')} left out")
    findings = Findings(decimal="," if how.decimal_comma else None, thousands=how.thousands)
    columns = [column_of(name, [row[j] for row in body], how.na, findings) for j, name in enumerate(names)]
    frame = with_numeric_words(pl.DataFrame(columns), how.na)
    notes += findings.notes()
    note_suspects(frame, notes)
    return Loaded(frame, tuple(notes), about=told_apart(names, header.about))


def _cells(book: Any, source: Source, how: ReadOptions) -> list[list[Any]]:
    """The cells of the chosen sheet, or of the first sheet that has any."""
    names = list(book.sheet_names)
    if how.sheet is not None:
        return _filled(book, _chosen(how.sheet, names, source)) or _no_cells(source, f"the sheet {how.sheet!r}")
    filled = {name: cells for name in names if (cells := _filled(book, name))}
    if not filled:
        return _no_cells(source, "the file")
    first = next(iter(filled))
    tables = [name for name, cells in filled.items() if _is_table(cells)]
    chosen = first if first in tables or not tables else tables[0]
    if chosen != first and len(tables) > 1:
        ways = ", ".join(f"--sheet {shlex.quote(name)}" for name in tables[:8])
        raise UserError(f"{source.shown}: the first sheet, {first!r}, has no table; choose another: {ways}.")
    if chosen != first:
        source.notes.append(f"the first sheet, {first!r}, has no table; {chosen!r} is the only sheet that has one")
    if len(names) > 1:
        source.notes.append(f"the sheet {chosen!r} is read (--sheet chooses one of {listed(names)})")
    return filled[chosen]


def _is_table(rows: list[list[Any]]) -> bool:
    """Whether several rows have cells in the same columns: two columns or more, or one of numbers."""
    counts = [sum(cell not in (None, "") for cell in row) for row in rows]
    if sum(count >= LEAST for count in counts) >= ROWS:
        return True
    numbers = [
        sum(isinstance(row[j], (int, float)) for row in rows if j < len(row)) for j in range(max(map(len, rows)))
    ]
    return max(numbers) >= ROWS


def _no_cells(source: Source, what: str) -> list[list[Any]]:
    raise UserError(f"{source.shown}: {what} has no cells.")


def _filled(book: Any, name: str) -> list[list[Any]]:
    rows = book.get_sheet_by_name(name).to_python(skip_empty_area=True)
    return rows if any(cell not in (None, "") for row in rows for cell in row) else []


def _chosen(sheet: str, names: list[str], source: Source) -> str:
    if sheet in names:
        return sheet
    if sheet.isdigit() and 1 <= int(sheet) <= len(names):
        return names[int(sheet) - 1]
    raise UserError(
        f"{source.shown}: --sheet {sheet!r} is not a sheet.{did_you_mean(sheet, names)} Sheets: {listed(names, 12)}."
    )


def _without_empty_columns(rows: list[list[Any]]) -> list[list[Any]]:
    """Columns between or after the data that have no cell at all left out: they are layout."""
    width = max(len(row) for row in rows)
    rows = [[*row, *[""] * (width - len(row))] for row in rows]
    kept = [j for j in range(width) if any(row[j] not in (None, "") for row in rows)]
    return [[row[j] for j in kept] for row in rows]

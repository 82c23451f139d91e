"""Columns from cells of Python's types, as spreadsheets and JSON have them."""

from __future__ import annotations

import datetime
import json
from collections.abc import Sequence
from typing import Any

import polars as pl

from lowdim.app.reading.number_text import Findings, numbers_in


def column_of(name: str, cells: Sequence[Any], na: tuple[str, ...], findings: Findings) -> pl.Series:
    """A column whose type keeps every cell: numbers, true/false or dates if all cells are, else text.

    Text beside numbers is read as numbers where every text is one, or a word for missing.
    """
    present = [cell for cell in cells if cell is not None and cell != ""]
    values = [None if cell == "" else cell for cell in cells]
    if not present:
        return pl.Series(name, values, dtype=pl.String)
    if all(isinstance(cell, bool) for cell in present):
        return pl.Series(name, values, dtype=pl.Boolean)
    if all(_is_number(cell) for cell in present):
        return _numeric(name, values)
    if all(isinstance(cell, (datetime.date, datetime.datetime)) for cell in present):
        return pl.Series(name, [_moment(cell) for cell in values], dtype=pl.Datetime)
    text = pl.Series(name, [None if cell is None else text_of(cell) for cell in values], dtype=pl.String)
    if any(isinstance(cell, (bool, dict, list)) for cell in present):
        return text
    numbers = numbers_in(text, na, findings)
    return text if numbers is None else numbers


def _is_number(cell: Any) -> bool:
    return isinstance(cell, (int, float)) and not isinstance(cell, bool)


def _numeric(name: str, values: list[Any]) -> pl.Series:
    whole = all(cell is None or (float(cell).is_integer() and abs(cell) < 2**53) for cell in values)
    if whole:  # spreadsheets and SPSS have floats only; whole numbers are often classes or identifiers
        return pl.Series(name, [None if cell is None else int(cell) for cell in values], dtype=pl.Int64)
    if any(isinstance(cell, int) and abs(cell) > 2**53 for cell in values):  # identifiers: floats would lose digits
        return pl.Series(name, [None if cell is None else str(cell) for cell in values], dtype=pl.String)
    return pl.Series(name, [None if cell is None else float(cell) for cell in values], dtype=pl.Float64)


def _moment(cell: Any) -> Any:
    is_day = isinstance(cell, datetime.date) and not isinstance(cell, datetime.datetime)
    return datetime.datetime(cell.year, cell.month, cell.day) if is_day else cell


def text_of(cell: Any) -> str:
    """A cell as people would write it: whole numbers without decimals."""
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 2**53:
        return str(int(cell))
    if isinstance(cell, (dict, list)):
        return json.dumps(cell, ensure_ascii=False)
    return "" if cell is None else str(cell)

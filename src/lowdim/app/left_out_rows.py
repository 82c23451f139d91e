"""Rows that the user leaves out by name or number, and a last row that summarises the others, or seems to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from lowdim.app.column_names import listed_names, quoted
from lowdim.app.errors import UserError
from lowdim.app.reading.loaded import listed
from lowdim.study.suggestions import did_you_mean

if TYPE_CHECKING:
    from lowdim.app.input_table import InputTable

SUMMARIES = (
    *("total", "totals", "grand total", "sum", "average", "averages", "avg", "mean", "median", "all", "overall"),
    *("summe", "gesamt", "insgesamt", "mittelwert", "durchschnitt", "totale", "moyenne", "media", "suma"),
)

FEWEST = 3  # rows that a total can be told from
CLOSE = 1e-3  # the share by which a total may differ from the sum, as rounding does


def without_total(frame: pl.DataFrame, asked: Sequence[str] = ()) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """The table without a last row that says it is a total, and whose numbers are the sums or means of the others.

    It stays where the user leaves it out by name or number (`asked`).
    """
    n = frame.height - 1
    if n < FEWEST:
        return frame, ()
    last = frame.row(n)
    words = (i for i, value in enumerate(last) if isinstance(value, str) and _says_summary(value))
    place = next(words, None)
    if place is None or frame[:n, place].eq_missing(frame[n:, place][0]).any():
        return frame, ()
    told = [j for j, value in enumerate(last) if frame.dtypes[j].is_numeric() and value is not None]
    known = [str(frame.height), str(last[place]).strip()]
    if any(word in known for one in asked for word in listed_names(one, known)):
        return frame, ()
    fits = sum(_summarises(frame[:n, j], float(last[j])) for j in told)
    if not fits or 2 * fits < len(told):
        return frame, ()
    said = f"the last row, {str(last[place]).strip()!r}, sums up or averages the rows above it and is left out"
    return frame.head(n), (said,)


def _says_summary(value: str) -> bool:
    return value.strip().rstrip(":").casefold() in SUMMARIES


def _summarises(rows: pl.Series, value: float) -> bool:
    """Whether a number is the sum or the mean of a column."""
    values = rows.drop_nulls().to_numpy().astype(np.float64)
    if len(values) < FEWEST or not np.isfinite(values).all() or not np.ptp(values):
        return False
    return any(abs(value - found) <= CLOSE * abs(found) for found in (values.sum(), values.mean()))


def without_rows(found: InputTable, asked: Sequence[str], source: str) -> InputTable:
    """The table without these rows; an error for one that is not there."""
    names = found.names or []
    wanted = [word for value in asked for word in listed_names(value, names)]
    numbers = [str(number) for number in found.numbers]
    left = []
    for word in wanted:
        places = [i for i, name in enumerate(names) if name == word]
        if not places and word in numbers:
            places = [numbers.index(word)]
        if not places:
            known = names or [f"1 to {numbers[-1]}" if numbers else "none"]
            raise UserError(
                f"{source}: --drop-rows {word!r} is not a row.{did_you_mean(word, names)} Rows: {listed(known)}."
            )
        left += places
    kept = np.setdiff1d(np.arange(found.n_rows), left)
    rows = f"{len(set(left))} row{'' if len(set(left)) == 1 else 's'}"
    return found.take(kept, f"{rows} left out (--drop-rows): {listed(wanted)}")


def with_note_on_summary(found: InputTable) -> InputTable:
    """The table with a note where its last row is called a total or a mean of the others."""
    last = found.n_rows - 1
    if last < 2 or found.frame is None:
        return found
    row = int(found.table.rows[last])
    texts = [column for column in found.frame if isinstance(column[row], str) and _says_summary(column[row])]
    column = next((column for column in texts if (column == column[row]).sum() == 1), None)
    if column is None:
        return found
    words = found.names[last] if found.names is not None else ""
    way = quoted(words) if words == column[row] else str(found.numbers[last])
    note = (
        f"the last row has {column[row]!r} in column {column.name!r}: if it summarises the others, leave it out with "
        f"--drop-rows {way}"
    )
    return replace(found, notes=(*found.notes, note))

"""Rows that the user leaves out by name or number, and last rows that summarise the others, or seem to."""

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
    from lowdim.app.read_options import ReadOptions

TOTALS = (
    *("total", "totals", "grand total", "sum", "average", "averages", "avg", "mean", "median", "all", "overall"),
    *("summe", "gesamt", "gesamtsumme", "insgesamt", "mittelwert", "durchschnitt", "totale", "moyenne", "media"),
    *("suma", "totaal", "gemiddelde", "promedio"),
)
SPREADS = (
    *("min", "minimum", "max", "maximum", "sd", "std", "std dev", "stdev", "standard deviation", "stabw"),
    *("standardabweichung", "écart-type", "ecart-type", "count", "anzahl"),
)

FEWEST = 3  # rows that a total can be told from
CLOSE = 1e-3  # the share by which a total may differ from the sum, as rounding does
MOST = 8  # rows of summaries below each other


def without_totals(frame: pl.DataFrame, how: ReadOptions) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """The table without last rows that say they are totals or means, and whose numbers are those of the others.

    They stay where the user keeps them, or leaves one out by name or number.
    """
    place, n = _summary_rows(frame)
    if place is None or how.keep_totals:
        return frame, ()
    names = [str(frame[i, place]).strip() for i in range(n, frame.height)]
    known = [*names, *(str(i + 1) for i in range(n, frame.height))]
    if any(word in known for one in how.drop_rows for word in listed_names(one, known)):
        return frame, ()
    body, fits = frame.head(n), [_fits(frame, n, i) for i in range(n, frame.height)]
    left = [name for name, fit in zip(names, fits, strict=True) if fit]
    if not left:
        return frame, ()
    what = f"the last row, {left[0]!r}, sums up or averages the rows above it and is"
    if len(left) > 1:
        what = f"rows below the others that summarise them ({listed(left)}) are"
    kept = [frame[n + i : n + i + 1] for i, fit in enumerate(fits) if not fit]
    return pl.concat([body, *kept]), (f"{what} left out (--keep-totals keeps {'it' if len(left) == 1 else 'them'})",)


def _summary_rows(frame: pl.DataFrame) -> tuple[int | None, int]:
    """The column that calls the last rows summaries, and the number of rows above these; None where there are none."""
    end = frame.height
    if end <= FEWEST:
        return None, end
    last = frame.row(end - 1)
    place = next((i for i, value in enumerate(last) if isinstance(value, str) and _says_summary(value)), None)
    if place is None:
        return None, end
    n = end - 1
    while n > max(FEWEST, end - MOST) and _says_summary(str(frame[n - 1, place] or "")):
        n -= 1
    if frame[:n, place].is_in(frame[n:, place].to_list()).any():  # a category that other rows have too
        return None, end
    return place, n


def _fits(frame: pl.DataFrame, n: int, row: int) -> bool:
    """Whether at least half of the numbers of a row are those of the first `n` rows."""
    last = frame.row(row)
    told = [j for j, value in enumerate(last) if frame.dtypes[j].is_numeric() and value is not None]
    spreads = any(isinstance(value, str) and _word(value) in SPREADS for value in last)
    fits = sum(_summarises(frame[:n, j], float(last[j]), spreads) for j in told)
    return bool(fits) and 2 * fits >= len(told)


def _says_summary(value: str) -> bool:
    return _word(value) in (*TOTALS, *SPREADS)


def _word(value: str) -> str:
    return value.strip().rstrip(":.").casefold()


def _summarises(rows: pl.Series, value: float, spreads: bool) -> bool:
    """Whether a number is the sum or the middle of a column, or, with `spreads`, its ends, spread or length."""
    values = rows.drop_nulls().to_numpy().astype(np.float64)
    if len(values) < FEWEST or not np.isfinite(values).all() or not np.ptp(values):
        return False
    ends = (values.min(), values.max(), values.std(), values.std(ddof=1), float(len(values)))
    found = ends if spreads else (values.sum(), values.mean(), np.median(values))
    return any(abs(value - one) <= CLOSE * abs(one) for one in found)


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

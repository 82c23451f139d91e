"""Rows that the user leaves out by name or number, and a last row that seems to summarise the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

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
    if last < 2:
        return found
    texts = [c for c in found.table.columns if c.values.dtype.kind == "O" and c.values[last] is not None]
    column = next((c for c in texts if _is_summary(c.values, last)), None)
    if column is None:
        return found
    named = column.use == "name"
    way = quoted(str(column.values[last])) if named else str(found.numbers[last])
    note = (
        f"the last row has {str(column.values[last])!r} in column {column.name!r}: if it summarises the others, leave "
        f"it out with --drop-rows {way}"
    )
    return replace(found, notes=(*found.notes, note))


def _is_summary(values: np.ndarray, last: int) -> bool:
    """Whether the last value says that its row is a summary, and no other row has it."""
    word = str(values[last]).strip().rstrip(":").casefold()
    return word in SUMMARIES and not any(value == values[last] for value in values[:last].tolist())

"""What is in a table: columns, missing cells, units, equal rows."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from lowdim.study.columns import Column, Table
from lowdim.study.columns.counts import counts_in
from lowdim.study.columns.scales import deviations, units_differ

MOST_PATTERNS = 5


@dataclass(frozen=True, eq=False)
class Description:
    """What is in a table.

    Attributes
    ----------
    table : Table
        The columns.
    n_rows, n_complete : int
        Rows, and rows without a missing cell in the columns of the map.
    missing : int
        Missing cells in these columns.
    patterns : list of (tuple of str, int)
        Columns that are missing together, and in how many rows; the most frequent first.
    n_duplicates : int
        Rows that are equal to an earlier one in all columns of the map.
    units_differ : bool
        A few columns of numbers would decide all distances.
    counts : bool
        The cells seem to be counts, of which correspondence analysis compares the shares.
    spread : dict of str
        Standard deviation of each column of numbers in the map.
    """

    table: Table
    n_rows: int
    n_complete: int
    missing: int
    patterns: list[tuple[tuple[str, ...], int]]
    n_duplicates: int
    units_differ: bool
    counts: bool
    spread: dict[str, float]

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON can hold it."""
        return {
            "rows": self.n_rows,
            "complete_rows": self.n_complete,
            "missing_cells": self.missing,
            "missing_together": [{"columns": list(names), "rows": count} for names, count in self.patterns],
            "duplicate_rows": self.n_duplicates,
            "units_differ": self.units_differ,
            "counts": self.counts,
            "standard_deviations": self.spread,
            "columns": [column.to_dict() for column in self.table.columns],
        }

    def sentences(self) -> list[str]:
        """The same in words, without the list of columns."""
        used = self.table.used
        cells = self.n_rows * len(used)
        found = [self._size()]
        if not used or not self.n_rows:
            return found
        if self.missing:
            found.append(
                f"{self.missing:,} of {cells:,} cells are missing ({self.missing / cells:.1%}); "
                f"{self.n_complete:,} rows are complete"
            )
            found += [
                f"missing {'together ' if len(names) > 1 else ''}in {_rows(count)}: {', '.join(names)}"
                for names, count in self.patterns
            ]
        else:
            found.append("no cell is missing")
        if self.n_duplicates:
            found.append(
                f"{_rows(self.n_duplicates)} {'is' if self.n_duplicates == 1 else 'are'} equal to an earlier one"
            )
        if self.counts:
            found.append("the cells seem to be counts: the method ca compares rows by shares of their counts")
        elif self.units_differ:
            low, high = min(self.spread, key=self._spread_of), max(self.spread, key=self._spread_of)
            found.append(
                f"columns have different units: the standard deviation of {high!r} is {_short(self.spread[high])}, "
                f"that of {low!r} {_short(self.spread[low])}"
            )
        return found

    def _size(self) -> str:
        used, all_columns = self.table.used, len(self.table.columns)
        if not self.n_rows:
            return f"no rows, {all_columns} columns"
        rows = _rows(self.n_rows)
        if not used:
            return (
                f"{rows}; none of {all_columns} columns can be in a map as it is: ask for one as a "
                "number or as categories"
            )
        ordered = sum(bool(column.levels) for column in used)
        kinds = f"{len(used) - len(self.table.categories)} of numbers, {len(self.table.categories)} of categories"
        kinds += f", {ordered} of which {'has' if ordered == 1 else 'have'} an order" if ordered else ""
        return f"{rows}; {len(used)} of {all_columns} columns would be in the map ({kinds})"

    def _spread_of(self, name: str) -> float:
        return self.spread[name]


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count:,} rows"


def _short(value: float) -> str:
    """Three digits; thousands with commas."""
    return f"{float(f'{value:.3g}'):,.0f}" if 1000 <= abs(value) < 1e9 else f"{value:.3g}"


def describe(table: Table) -> Description:
    """What is in a table."""
    used = table.used
    n = len(table.rows)
    holes = np.column_stack([column.missing for column in used]) if used else np.zeros((n, 0), dtype=bool)
    numbers = [column for column in used if column.kind == "number"]
    X = table.numbers()
    counts = bool(used) and len(numbers) == len(used) and counts_in(X, table.names is not None) is not None
    return Description(
        table, len(holes), int((~holes.any(axis=1)).sum()), int(holes.sum()), _patterns(holes, used),
        _duplicates(used) if used else 0, bool(numbers) and not counts and units_differ(X), counts,
        dict(zip((c.name for c in numbers), map(float, deviations(X)), strict=True)),
    )  # fmt: skip


def _patterns(holes: np.ndarray, used: list[Column]) -> list[tuple[tuple[str, ...], int]]:
    rows = holes[holes.any(axis=1)]
    if not len(rows):
        return []
    patterns, counts = np.unique(rows, axis=0, return_counts=True)
    order = np.argsort(-counts, kind="stable")[:MOST_PATTERNS]
    return [(tuple(used[j].name for j in np.flatnonzero(patterns[i])), int(counts[i])) for i in order]


def _duplicates(used: list[Column]) -> int:
    """Rows that are equal to an earlier one, missing cells being equal to each other."""
    coded = np.column_stack([_codes(column.values) for column in used])
    return int(len(coded) - len(np.unique(coded, axis=0)))


def _codes(values: np.ndarray) -> np.ndarray:
    if values.dtype.kind == "f":
        return np.unique(values, return_inverse=True)[1].ravel()
    places = {value: i for i, value in enumerate(Counter(values.tolist()))}
    return np.array([places[value] for value in values.tolist()])

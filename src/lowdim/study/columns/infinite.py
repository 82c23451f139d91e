"""Infinite numbers in the columns of a table, which are missing cells for the methods."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from lowdim.study.columns.column import Column

MOST_NAMED = 5


def with_finite(columns: Sequence[Column], rows: np.ndarray) -> tuple[tuple[Column, ...], tuple[str, ...]]:
    """The columns with infinite cells of the map as missing, as errors of spreadsheets (#DIV/0!) are, and a note."""
    found = {c.name: np.isinf(c.values) for c in columns if c.use == "map" and c.values.dtype.kind == "f"}
    found = {name: wrong for name, wrong in found.items() if wrong.any()}
    if not found:
        return tuple(columns), ()
    names = [repr(name) for name in list(found)[:MOST_NAMED]]
    more = f", ... ({len(found)} in all)" if len(found) > MOST_NAMED else ""
    count = sum(int(wrong.sum()) for wrong in found.values())
    first = int(rows[next(iter(found.values())).argmax()]) + 1
    note = (
        f"{count} infinite value{'' if count == 1 else 's'} (or beyond 1.8e308) in {', '.join(names)}{more} read as "
        f"missing; first: row {first}; drop=[...] (on the command line: --drop) leaves the column out"
    )
    return tuple(_finite(c) if c.name in found else c for c in columns), (note,)


def _finite(column: Column) -> Column:
    values = np.where(np.isinf(column.values), np.nan, column.values)
    if np.isnan(values).all():
        return replace(column, values=values, kind="empty", use="left out", why="no finite values")
    return replace(column, values=values, why=f"numbers, {np.nanmin(values):g} to {np.nanmax(values):g}")

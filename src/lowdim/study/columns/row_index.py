"""The index of a pandas data frame as the names of its rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowdim.study.columns.column import Column, as_text
from lowdim.study.columns.wishes import Wishes


def with_index(columns: list[Column], X: Any, wishes: Wishes) -> list[Column]:
    """The columns, before them the index as names of the rows where it says more than 0, 1, 2, ...

    Whole numbers that are left of a larger table give way to a column that has names.
    """
    index = getattr(X, "index", None)
    if wishes.names is not None or index is None or not hasattr(X, "iloc") or list(index) == list(range(len(index))):
        return columns
    whole = all(isinstance(value, (int, np.integer)) and not isinstance(value, bool) for value in index)
    if whole and any(column.use == "name" for column in columns):
        return columns
    taken = {column.name for column in columns}
    name = str(index.name) if getattr(index, "name", None) is not None else "index"
    while name in taken:
        name = f"{name} (index)"
    values = np.empty(len(index), dtype=object)
    values[:] = [_text(value) for value in index]
    found = Column(name, "id", values, "the index of the data frame", "name", "names of the rows")
    others = [column.used("shown") if column.use == "name" else column for column in columns]
    return [found, *others]


def _text(value: Any) -> str | None:
    """A name: the parts of an index of several levels together, dates without midnight."""
    if isinstance(value, tuple):
        return ", ".join(_text(part) or "" for part in value)
    if hasattr(value, "to_datetime64"):
        value = value.to_datetime64()
    return None if value is None or value != value else as_text(value)

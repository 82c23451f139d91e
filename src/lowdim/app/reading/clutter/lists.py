"""Columns whose cells are lists of numbers, such as embeddings: one column for each place in the list."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from lowdim.app.reading.loaded import Loaded

LIST_TEXT = r"^\s*\[\s*[-+0-9.][-+0-9.eE,\s]*\]\s*$"


def with_lists_as_columns(loaded: Loaded) -> Loaded:
    """The table with each column of equally long lists as columns of numbers, and a note."""
    taken = set(loaded.frame.columns)
    columns: list[pl.Series] = []
    notes = []
    for column in loaded.frame:
        lists = _lists(column)
        names = [f"{column.name}_{j + 1}" for j in range(_length(lists))] if lists is not None else []
        if lists is None or not names or taken & set(names):
            columns.append(column)
            continue
        columns += [lists.list.get(j).cast(pl.Float64).alias(name) for j, name in enumerate(names)]
        notes.append(f"column {column.name} has lists of {len(names)} numbers: read as {names[0]} to {names[-1]}")
    return replace(loaded, frame=pl.DataFrame(columns), notes=(*loaded.notes, *notes)) if notes else loaded


def _lists(column: pl.Series) -> pl.Series | None:
    """The column as lists of numbers; None if it has anything else."""
    if isinstance(column.dtype, pl.Array) and column.dtype.inner.is_numeric():
        return column.arr.to_list()
    if isinstance(column.dtype, pl.List):
        return column if column.dtype.inner.is_numeric() else None
    if column.dtype != pl.String or not column.drop_nulls().head(20).str.contains(LIST_TEXT).all():
        return None
    if column.null_count() == len(column) or not column.drop_nulls().str.contains(LIST_TEXT).all():
        return None
    cells = column.str.strip_chars().str.strip_chars("[]").str.replace_all(r"[,\s]+", " ").str.strip_chars()
    found = cells.str.split(" ").cast(pl.List(pl.Float64), strict=False)
    return None if found.list.eval(pl.element().is_null()).list.any().any() else found


def _length(lists: pl.Series) -> int:
    """How long all lists are; 0 where they differ, or are too short to be vectors."""
    lengths = lists.drop_nulls().list.len().unique()
    return int(lengths[0]) if len(lengths) == 1 and lengths[0] > 1 else 0

"""Embeddings as tables: one line per row, with what is needed to find the row again; written and read back here.

The file of one method has the columns ``row``, ``name``, ``label`` (the last two where there are any) and the
coordinates. The file of a comparison has, after the first three, ``METHOD_1``, ``METHOD_2``, ..., ``METHOD_quality``
for each method.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from lowdim.app.files import UserError
from lowdim.app.reading import Reading
from lowdim.app.tables import Table, assemble, load
from lowdim.study.spelling import did_you_mean

if TYPE_CHECKING:
    from lowdim.study.comparison import Comparison

ABOUT = ("row", "name", "label")
QUALITY = "_quality"


def one_map(names: list[str], Z: np.ndarray, table: Table) -> pl.DataFrame:
    """The places one method gave to the rows of a table."""
    return pl.DataFrame({**_about(table), **{name: np.ascontiguousarray(Z[:, j]) for j, name in enumerate(names)}})


def compared_maps(result: Comparison, table: Table) -> pl.DataFrame:
    """The place and the quality of every row in each map of a comparison."""
    columns = _about(table)
    for name, Z in result.embeddings.items():
        columns |= {f"{name}_{j + 1}": np.ascontiguousarray(Z[:, j]) for j in range(Z.shape[1])}
        columns[f"{name}{QUALITY}"] = result.per_row[name]
    return pl.DataFrame(columns)


def _about(table: Table) -> dict[str, Any]:
    columns: dict[str, Any] = {"row": table.numbers}
    if table.names is not None:
        columns["name"] = table.names
    if table.labels is not None:
        columns["label"] = _label_column(table.labels)
    return columns


def _label_column(labels: np.ndarray) -> pl.Series:
    """Labels as they were in the file: whole numbers with holes are not written with decimals."""
    column = pl.Series(labels.tolist())
    if column.dtype != pl.Float64:
        return column
    column = column.fill_nan(None)
    return column.cast(pl.Int64) if (column.drop_nulls() == column.drop_nulls().round()).all() else column


@dataclass(frozen=True, eq=False)
class Placed:
    """An embedding that was read; `rows` are the numbers of its rows where the file has them."""

    table: Table
    rows: np.ndarray | None


def read_map(path: str | Path, name: str | None = None, columns: tuple[str, ...] = ()) -> Placed:
    """An embedding from a file: one of a comparison's by its name, the columns named, or all columns of numbers."""
    frame, notes = load(path, Reading())
    ours = frame.columns[:1] == ["row"] and frame["row"].dtype.is_integer()
    chosen = columns or _columns_of(frame.columns, name, ours, path)
    read = assemble(
        Path(path).stem, frame, Reading(columns=chosen, missing="keep"), source=str(path), notes=notes,
        option="--embedding-columns",
    )  # fmt: skip
    return Placed(read, frame["row"].to_numpy() if ours else None)


def _columns_of(columns: list[str], name: str | None, ours: bool, path: str | Path) -> tuple[str, ...]:
    maps = _maps(columns) if ours else {}
    if name is not None:
        if name not in maps:
            listed = f" It has: {', '.join(maps)}." if maps else " It is no file of embeddings that compare wrote."
            raise UserError(f"{path}: --map {name!r} is not a map in the file.{did_you_mean(name, maps)}{listed}")
        return maps[name]
    if len(maps) > 1:
        raise UserError(
            f"{path} holds {len(maps)} maps ({', '.join(maps)}); say which with --map NAME, "
            "or name columns with --embedding-columns A,B."
        )
    if maps:
        return next(iter(maps.values()))
    return tuple(c for i, c in enumerate(columns) if not (ours and i < len(ABOUT) and c in ABOUT))


def _maps(columns: list[str]) -> dict[str, tuple[str, ...]]:
    """The maps in a comparison's file: coordinates with the quality of each row behind them."""
    maps = {}
    for end in (column for column in columns if column.endswith(QUALITY)):
        name = end.removesuffix(QUALITY)
        found: list[str] = []
        while f"{name}_{len(found) + 1}" in columns:
            found.append(f"{name}_{len(found) + 1}")
        if found:
            maps[name] = tuple(found)
    return maps


def rows_of_map(placed: Placed, table: Table, path: str | Path) -> Table:
    """The rows of the table that an embedding places, in its order; found by their number where it has them."""
    here = placed.table.frame.height
    if placed.rows is None or np.array_equal(placed.rows, table.numbers):
        if here != table.frame.height:
            raise UserError(f"{path} must have {table.frame.height} rows, as the data has; got {here}.")
        return table
    where = {number: i for i, number in enumerate(table.numbers.tolist())}
    unknown = [number for number in placed.rows.tolist() if number not in where]
    if unknown:
        raise UserError(f"{path} has the row number {unknown[0]}, which the data has not.")
    rows = np.array([where[number] for number in placed.rows.tolist()])
    note = f"{here} of {table.frame.height} rows, those with a number in {path}"
    return table.take(rows, note)

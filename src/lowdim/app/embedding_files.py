"""Files of embeddings: one line per row of the data, written by one command and read by another.

The file of one method has the columns ``row``, ``name``, ``label`` (the last two only if the data has them) and the
coordinates. The file of a comparison has, after these three, ``METHOD_1``, ``METHOD_2``, ..., ``METHOD_quality`` for
each method, and ``METHOD_verdict`` and ``METHOD_p_value`` where its rows were judged; ``METHOD_cluster`` where the
verdict speaks of clusters.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from lowdim.app.column_names import all_names
from lowdim.app.errors import UserError
from lowdim.app.input_table import InputTable, load
from lowdim.app.read_options import ReadOptions
from lowdim.app.reading.loaded import missing_values
from lowdim.study.columns.asked_kinds import as_kind
from lowdim.study.columns.raw_columns import named_columns
from lowdim.study.suggestions import did_you_mean

if TYPE_CHECKING:
    from lowdim.study.comparison import Comparison

ABOUT = ("row", "name", "label")
QUALITY = "_quality"


def embedding_frame(names: list[str], Z: np.ndarray, table: InputTable) -> pl.DataFrame:
    """The embedding of one method as a data frame."""
    return pl.DataFrame({**about_rows(table), **{name: np.ascontiguousarray(Z[:, j]) for j, name in enumerate(names)}})


def comparison_frame(result: Comparison, table: InputTable) -> pl.DataFrame:
    """The embeddings of a comparison and the quality of each row in each of them, as a data frame."""
    columns = about_rows(table)
    for name, Z in result.embeddings.items():
        columns |= {f"{name}_{j + 1}": np.ascontiguousarray(Z[:, j]) for j in range(Z.shape[1])}
        columns[f"{name}{QUALITY}"] = result.per_row[name]
        if name in result.verdict.rows:
            columns[f"{name}_verdict"] = result.verdict.rows[name].tolist()
            columns[f"{name}_p_value"] = result.verdict.p_values[name]
        if name == result.verdict.recommended and result.evidence is not None and result.evidence.clusters is not None:
            columns[f"{name}_cluster"] = [cluster or None for cluster in result.evidence.clusters.tolist()]
    return pl.DataFrame(columns)


def about_rows(table: InputTable) -> dict[str, Any]:
    """What the rows are called: their numbers, and names and labels where there are any."""
    columns: dict[str, Any] = {"row": table.numbers}
    if table.names is not None:
        columns["name"] = table.names
    if table.labels is not None:
        columns["label"] = _label_column(table.labels)
    return columns


def _label_column(labels: np.ndarray) -> pl.Series:
    """Labels as they were in the file: whole numbers with missing values are not written with decimals."""
    column = pl.Series(labels.tolist())
    if column.dtype != pl.Float64:
        return column
    column = column.fill_nan(None)
    return column.cast(pl.Int64) if (column.drop_nulls() == column.drop_nulls().round()).all() else column


@dataclass(frozen=True, eq=False)
class EmbeddingTable:
    """An embedding read from a file; `rows` are the row numbers, None if the file has none."""

    name: str
    columns: tuple[str, ...]
    Z: np.ndarray
    rows: np.ndarray | None
    notes: tuple[str, ...] = ()


def read_embedding(path: str | Path, name: str | None = None, columns: tuple[str, ...] = ()) -> EmbeddingTable:
    """Read an embedding: that of a method from the file of a comparison, the named columns, or all columns."""
    loaded = load(path, ReadOptions(distances="no"))
    frame, notes = loaded.frame, loaded.notes
    ours = frame.columns[:1] == ["row"] and frame["row"].dtype.is_integer()
    chosen = all_names(columns, frame.columns) or _columns_of(frame.columns, name, ours, path)
    Z = np.column_stack([_coordinates(frame, column, path) for column in chosen])
    holes = np.isnan(Z)
    if holes.any():
        notes = (*notes, missing_values(int(holes.sum()), int(holes.any(axis=1).sum()), len(Z)))
    return EmbeddingTable(Path(path).stem, tuple(chosen), Z, frame["row"].to_numpy() if ours else None, tuple(notes))


def _coordinates(frame: pl.DataFrame, name: str, path: str | Path) -> np.ndarray:
    """One column of coordinates; NaN for a row without a place."""
    if name not in frame.columns:
        hint = did_you_mean(name, frame.columns, cutoff=0.5)
        raise UserError(f"{path}: --embedding-columns {name!r} is not a column.{hint}")
    try:
        values = as_kind(name, named_columns(frame.select(name), str(path))[name], "number", str(path)).values
    except ValueError as error:
        raise UserError(f"{error} Choose the columns of the embedding with --embedding-columns A,B.") from error
    if np.isinf(values).any():
        raise UserError(f"{path}: column {name!r} has {int(np.isinf(values).sum())} infinite values.")
    return values


def _columns_of(columns: list[str], name: str | None, ours: bool, path: str | Path) -> tuple[str, ...]:
    maps = map_columns(columns) if ours else {}
    if name is not None:
        if name not in maps:
            listed = f" It has: {', '.join(maps)}." if maps else " The file was not written by lowdim compare."
            raise UserError(f"{path}: --map {name!r} is not in the file.{did_you_mean(name, maps)}{listed}")
        return maps[name]
    if len(maps) > 1:
        raise UserError(
            f"{path} has the maps of {len(maps)} methods ({', '.join(maps)}); choose one with --map NAME, "
            "or choose columns with --embedding-columns A,B."
        )
    if maps:
        return next(iter(maps.values()))
    return tuple(c for i, c in enumerate(columns) if not (ours and i < len(ABOUT) and c in ABOUT))


def map_columns(columns: list[str]) -> dict[str, tuple[str, ...]]:
    """Method -> columns of its coordinates, in the file of a comparison."""
    maps = {}
    for end in (column for column in columns if column.endswith(QUALITY)):
        name = end.removesuffix(QUALITY)
        found: list[str] = []
        while f"{name}_{len(found) + 1}" in columns:
            found.append(f"{name}_{len(found) + 1}")
        if found:
            maps[name] = tuple(found)
    return maps


def matching_rows(embedding: EmbeddingTable, table: InputTable, path: str | Path) -> InputTable:
    """The rows of the table that are in the embedding, in its order; matched by row number if the file has it."""
    here = len(embedding.Z)
    if embedding.rows is None or np.array_equal(embedding.rows, table.numbers):
        if here != table.n_rows:
            raise UserError(f"{path} must have {table.n_rows} rows, as many as the data; got {here}.")
        return table
    where = {number: i for i, number in enumerate(table.numbers.tolist())}
    unknown = [number for number in embedding.rows.tolist() if number not in where]
    if unknown:
        raise UserError(f"{path} has the row number {unknown[0]}, which is not in the data.")
    rows = np.array([where[number] for number in embedding.rows.tolist()])
    note = f"{here} of {table.n_rows} rows: those whose number is in {path}"
    return table.take(rows, note)

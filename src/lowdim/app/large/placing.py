"""Rows of large tables as methods see them, and the places of all rows, written as they come."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from lowdim._core.runtime.files import write_atomically
from lowdim.app.console import progress
from lowdim.app.embedding_files import about_rows
from lowdim.app.errors import UserError
from lowdim.app.input_table import InputTable, assemble
from lowdim.app.large import parts as sizes
from lowdim.app.large.parts import Parts, Runner
from lowdim.app.large.unfinished import mark_of, unfinished
from lowdim.app.read_options import ReadOptions


def sample_of(parts: Parts, how: ReadOptions, seed: int, runner: Runner, most: int | None = None) -> InputTable:
    """Random rows of a large table, as if they were a table, with their numbers in the file."""
    with progress() as advance:
        numbers, frame = parts.drawn(most or sizes.SAMPLE, seed, runner, advance)
    found = assemble(parts.path.stem, frame, parts.as_read(how), source=str(parts.path), notes=parts.notes)
    rows = numbers[found.table.rows]
    table = replace(found.table, rows=rows, n_given=parts.n_rows, drawn_from=parts.n_rows)
    return replace(found, table=table if len(numbers) < parts.n_rows else replace(table, drawn_from=None), frame=None)


@dataclass(frozen=True, eq=False)
class Placed:
    """What a worker needs to place the rows of a part by some models."""

    parts: Parts
    models: tuple[tuple[str, Any], ...]  # (what the columns of its coordinates begin with, fitted model)
    how: ReadOptions

    def columns(self, k: int) -> list[str]:
        """The names of the columns of coordinates of one model."""
        prefix, model = self.models[k]
        names = [str(name) for name in model.get_feature_names_out()]
        return names if not prefix else [f"{prefix}_{j + 1}" for j in range(len(names))]

    def frame(self, border: tuple[int, int]) -> pl.DataFrame:
        """The coordinates of the rows of a part, and what they are called."""
        from lowdim.app.commands.models import needed_of, seen_by

        cells, found = self.parts.read(*border), pl.DataFrame()
        for k, (_, model) in enumerate(self.models):
            how = replace(self.parts.as_read(self.how), min_rows=1, **needed_of(model))
            table = assemble(self.parts.path.stem, cells, how, source=str(self.parts.path))
            Z = np.asarray(model.transform(seen_by(model, table)))
            places = {name: np.ascontiguousarray(Z[:, j]) for j, name in enumerate(self.columns(k))}
            if not k:
                about = {key: value for key, value in about_rows(table).items() if key in self._about}
                found = _typed(pl.DataFrame({**about, **places}), self._kind_of_label(cells, table))
            else:  # rows without any value that a model needs have no place in its map
                found = found.join(pl.DataFrame({"row": table.numbers, **places}), on="row", how="left")
        return found.with_columns(pl.col("row") + border[0])

    @property
    def _about(self) -> set[str]:
        """What is written of each row: labels and names where columns of them are known, not as each part looks."""
        how = self.parts.as_read(self.how)
        return {"row"} | ({"label"} if how.label else set()) | ({"name"} if how.names else set())

    def _kind_of_label(self, cells: pl.DataFrame, table: InputTable) -> Any:
        """The type of the column of labels in each part: that of the file where it has types."""
        name = table.label_name
        kind = cells[name].dtype if self.parts.typed and name in cells.columns else pl.String
        return kind if kind.is_numeric() else pl.String


def _typed(frame: pl.DataFrame, label: Any) -> pl.DataFrame:
    return frame.with_columns(pl.col("label").cast(label)) if "label" in frame.columns else frame


def placed_part(given: Placed, border: tuple[int, int]) -> pl.DataFrame:
    """The coordinates of the rows of a part."""
    return given.frame(border)


def place(given: Placed, out: Path, runner: Runner) -> None:
    """The coordinates of all rows in a Parquet file, a few parts in memory at a time.

    Parts that are placed are kept until all are: a run that is stopped is gone on with by the same one.
    """
    borders = given.parts.borders()
    with unfinished(out, mark_of(given.parts, given.models, given.how), len(borders)) as found:
        if 0 not in found.placed:  # the types of columns are those of the first part
            found.keep(0, given.frame(borders[0]))
        schema = pl.read_parquet_schema(found.path(0))
        left = [i for i in range(len(borders)) if i not in found.placed]
        with progress() as advance:
            frames = runner.in_order(placed_part, given, [borders[i] for i in left])
            for i, frame in zip(left, frames, strict=True):
                found.keep(i, frame.cast(schema))
                advance("placing rows", len(found.placed), len(borders))
        write_atomically(out, found.together)


def write_map(Z: np.ndarray, names: list[str], out: Path) -> None:
    """The coordinates of all rows, which are known, in a Parquet file."""
    columns = {name: np.ascontiguousarray(Z[:, j]) for j, name in enumerate(names)}
    frame = pl.DataFrame({"row": np.arange(1, len(Z) + 1), **columns})
    write_atomically(out, lambda path: frame.write_parquet(path))


def called(table: InputTable, how: ReadOptions) -> ReadOptions:
    """The options by which all rows are called as those of a sample are."""
    name = next((column.name for column in table.table.columns if column.use == "name"), None)
    return replace(how, label=None if table.table.label is None else table.table.label.name, names=name)


def check_parquet(path: Any, option: str) -> None:
    """UserError for another format: it cannot be written as it comes."""
    if Path(path).suffix.lower() != ".parquet":
        raise UserError(
            f"{path}: a table of this size is written as it comes, which needs a Parquet file: {option} NAME.parquet"
        )


@dataclass(frozen=True, eq=False)
class Seen:
    """What an estimator sees of the parts of a table: what was done to the columns of a sample is done to all."""

    parts: Parts
    model: Any  # that of tables like this one
    how: ReadOptions

    def rows(self, border: tuple[int, int]) -> Any:
        """The rows of a part."""
        from lowdim.app.commands.models import needed_of, seen_by
        from lowdim.study.columns.table_model import TableModel

        how = replace(self.parts.as_read(self.how), min_rows=1, **needed_of(self.model))
        table = assemble(self.parts.path.stem, self.parts.read(*border), how, source=str(self.parts.path))
        seen = self.model.seen(table.table) if isinstance(self.model, TableModel) else seen_by(self.model, table)
        return seen.to_pandas() if isinstance(seen, pl.DataFrame) else seen


def seen_part(given: Seen, border: tuple[int, int]) -> Any:
    """What an estimator sees of a part."""
    return given.rows(border)

"""`lowdim describe` and `lowdim impute`: what is in a table, and its missing cells filled."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

import lowdim
from lowdim.app import sources
from lowdim.app.arguments import read_options
from lowdim.app.console import column_lines, print_json, print_line, print_notes
from lowdim.app.file_formats import check_extension, write
from lowdim.app.output_paths import check_apart, check_writable

if TYPE_CHECKING:
    from lowdim.study.columns import Column
    from lowdim.study.completion import FilledCell


def describe(arguments: Namespace) -> None:
    """Say what is in a table."""
    from lowdim.study.description import describe as described

    table = sources.load(arguments.source, read_options(arguments, missing="keep", min_rows=1), seed=arguments.seed)
    found = described(table.table)
    if arguments.json:
        print_json({"source": table.name, **found.to_dict(), "notes": list(table.notes)})
        return
    lines = [table.name, *column_lines(table.table), *found.sentences(), *(f"note: {note}" for note in table.notes)]
    for line in lines:
        print_line(line)


def impute(arguments: Namespace) -> None:
    """Fill the missing cells of a table; write the completed table and the filled cells."""
    from lowdim.study.completion import fill

    out = check_writable(arguments.out)
    cells = check_writable(arguments.cells or out.with_name(f"{out.stem}-cells.csv"))
    for path in (out, cells):
        check_extension(path)
    check_apart({"--out": out, "--cells": cells}, {"the table that is read": arguments.source})
    table = sources.load(arguments.source, read_options(arguments, missing="keep"), seed=arguments.seed)
    print_notes(table)
    with lowdim.config(memory_limit=arguments.limit_memory):
        found = fill(table.table, draws=arguments.draws, seed=arguments.seed, n_jobs=arguments.n_jobs)
    for note in found.notes:
        print_line(f"note: {' '.join(note.split())}", error=True)
    write(out, pl.DataFrame([_series(column, found.columns.get(column.name)) for column in table.table.columns]))
    write(cells, _cell_frame(found.cells))
    about = {"completed": str(out), "cells": str(cells), "filled": len(found.cells), "how": found.how}
    if arguments.json:
        print_json(about)
    else:
        print_line(f"{len(found.cells)} cells filled: {found.how}\ncompleted: {out}\ncells: {cells}")


def _series(column: Column, completed: np.ndarray | None) -> pl.Series:
    """A column as it is written: completed if it is in the map, whole numbers without decimals, dates as text."""
    values = column.values if completed is None else completed
    if values.dtype.kind == "M":
        return pl.Series(column.name, [text or None for text in column.texts()])
    made = pl.Series(column.name, values.tolist(), strict=False)
    if made.dtype != pl.Float64:
        return made
    made = made.fill_nan(None)
    return made.cast(pl.Int64) if (made.drop_nulls() == made.drop_nulls().round()).all() else made


def _cell_frame(cells: Sequence[FilledCell]) -> pl.DataFrame:
    """The filled cells: row, column, value, standard deviation (numbers), agreement of the draws (categories)."""
    rows = [(c.row, c.column, str(c.value), c.spread, c.agreement) for c in cells]
    schema = {"row": pl.Int64, "column": pl.String, "value": pl.String, "standard_deviation": pl.Float64,
              "agreement": pl.Float64}  # fmt: skip
    return pl.DataFrame(rows, schema=schema, orient="row")

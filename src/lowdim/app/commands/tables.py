"""`lowdim describe` and `lowdim impute`: what is in a table, and its missing cells filled."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

import lowdim
from lowdim.app import sources
from lowdim.app.arguments import read_options
from lowdim.app.console import column_lines, in_words, print_json, print_line, print_note, print_notes
from lowdim.app.exports import export
from lowdim.app.file_formats import check_extension
from lowdim.app.input_table import table_name
from lowdim.app.output_paths import check_apart, check_writable

if TYPE_CHECKING:
    from lowdim.app.input_table import InputTable
    from lowdim.study.columns import Column
    from lowdim.study.completion import Completed, FilledCell


def describe(arguments: Namespace) -> None:
    """Say what is in a table."""
    how = read_options(arguments, missing="keep", min_rows=0, takes_distances=True, need_columns=False)
    table = sources.load(arguments.source, how, seed=arguments.seed)
    found = _description(table)
    if arguments.json:
        print_json({"source": table.name, **found.to_dict(), "notes": list(table.notes)})
        return
    lines = [
        table.name,
        *column_lines(table.table),
        *found.sentences(),
        *(f"note: {in_words(note)}" for note in table.notes),
    ]
    for line in lines:
        print_line(line)


def _description(table: InputTable) -> Any:
    """What is in the table, or known about the distances."""
    from lowdim.study.descriptions.items import describe_distances
    from lowdim.study.descriptions.tables import describe as described

    return described(table.table) if table.distances is None else describe_distances(table.distances, table.names)


def impute(arguments: Namespace) -> None:
    """Fill the missing cells of a table; write the completed table and the filled cells."""
    name = arguments.source.removeprefix(sources.PREFIX)
    out = check_writable(arguments.out or f"{table_name(name)}-complete.csv")
    cells = check_writable(arguments.cells or out.with_name(f"{out.stem}-cells.csv"))
    for path in (out, cells):
        check_extension(path)
    check_apart({"--out": out, "--cells": cells}, {"the table that is read": arguments.source})
    table = sources.load(arguments.source, read_options(arguments, missing="keep"), seed=arguments.seed)
    print_notes(table)
    found = _filled(table, arguments)
    for note in found.notes:
        print_note(note)
    export(out, _completed(table, found.columns), keep_formulas=arguments.keep_formulas)
    export(cells, _cell_frame(found.cells), keep_formulas=arguments.keep_formulas)
    about = {"completed": str(out), "cells": str(cells), "filled": len(found.cells), "how": found.how}
    if arguments.json:
        print_json({**about, "models": [_plain(one) for one in found.models]})
        return
    print_line(f"{len(found.cells)} cells filled: {found.how}")
    for one in found.models:
        print_line(f"  {_model_line(one)}")
    print_line(f"completed: {out}")
    print_line(f"cells: {cells}")


def _filled(table: InputTable, arguments: Namespace) -> Completed:
    """The missing cells, filled."""
    from lowdim.study.completion import fill

    with lowdim.config(memory_limit=arguments.limit_memory):
        return fill(
            table.table,
            method=arguments.method,
            draws=arguments.draws,
            budget=arguments.budget,
            seed=arguments.seed,
            n_jobs=arguments.n_jobs,
            verbose=sys.stderr.isatty(),
        )


def _model_line(one: Mapping[str, Any]) -> str:
    """A model that was compared: its error relative to column means, or why it was not tried."""
    if not np.isfinite(one["error"]):
        return f"{one['method']:<12} -  {one['note']}"
    return f"{one['method']:<12} {one['error']:.3f} ± {one['standard_error']:.3f}  {one['note']}".rstrip()


def _plain(one: Mapping[str, Any]) -> dict[str, Any]:
    """Numbers that are not known as null."""
    return {key: None if isinstance(v, float) and not np.isfinite(v) else v for key, v in one.items()}


def _completed(table: InputTable, filled: Mapping[str, np.ndarray]) -> pl.DataFrame:
    """The table of the file with its missing cells filled; all other cells, rows and columns are as they were."""
    assert table.frame is not None
    rows, frame = table.table.rows, table.frame
    for column in table.table.used:
        lost = column.missing
        if not lost.any():
            continue
        given = frame[column.name].to_list()
        values = _rounded(column, filled[column.name])
        if column.kind == "number" and not frame[column.name].dtype.is_numeric():  # numbers that are text in the file
            given = [None] * frame.height
            lost = np.ones_like(lost)
        for i in np.flatnonzero(lost):
            given[rows[i]] = values[i]
        frame = frame.with_columns(pl.Series(column.name, given, strict=False))
    return frame


def _rounded(column: Column, values: np.ndarray) -> list[Any]:
    """Filled values with as many decimals as the observed ones have (at most six)."""
    if column.kind != "number":
        return values.tolist()
    seen = column.values[~column.missing]
    places = next((k for k in range(6) if np.allclose(seen, np.round(seen, k), rtol=1e-12, atol=0)), 6)
    found = np.round(values, places)
    return [int(value) for value in found] if places == 0 else found.tolist()


def _cell_frame(cells: Sequence[FilledCell]) -> pl.DataFrame:
    """The filled cells: row, column, value, standard deviation (numbers), agreement of the draws (categories)."""
    rows = [(c.row, c.column, str(c.value), c.spread, c.agreement) for c in cells]
    schema = {"row": pl.Int64, "column": pl.String, "value": pl.String, "standard_deviation": pl.Float64,
              "agreement": pl.Float64}  # fmt: skip
    return pl.DataFrame(rows, schema=schema, orient="row")

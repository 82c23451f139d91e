"""SPSS and Stata files, by pyreadstat: numbers, text, and value labels where every value of a column has one."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from lowdim.app.errors import UserError
from lowdim.app.read_options import ReadOptions
from lowdim.app.reading.loaded import Loaded, in_columns, library, told_apart, unique_names
from lowdim.app.reading.marks import note_suspects, with_numeric_words
from lowdim.app.reading.number_text import Findings
from lowdim.app.reading.source import Source
from lowdim.app.reading.values import column_of


def read_spss(source: Source, how: ReadOptions) -> Loaded:
    return _read(source, how, "read_sav", "SPSS")


def read_stata(source: Source, how: ReadOptions) -> Loaded:
    return _read(source, how, "read_dta", "Stata")


def _read(source: Source, how: ReadOptions, function: str, program: str) -> Loaded:
    pyreadstat = library("pyreadstat", "formats", source.shown, f"reading {program} files")
    damaged = (pyreadstat.ReadstatError, getattr(pyreadstat, "PyreadstatError", pyreadstat.ReadstatError))
    try:
        with source.path() as path:
            columns, about = getattr(pyreadstat, function)(
                str(path), output_format="dict", encoding=how.encoding, user_missing=False
            )
    except damaged as error:
        raise UserError(f"{source.shown} cannot be read as {program}: {str(error).rstrip('.')}.") from error
    notes, labelled, found = source.notes, [], []
    for name, cells in columns.items():
        labels = about.variable_value_labels.get(name, {})
        values = [_cell(value) for value in np.asarray(cells, dtype=object)]
        if labels and all(value is None or value in labels for value in values):
            labelled.append(name)
            values = [None if value is None else str(labels[value]) for value in values]
            found.append(pl.Series(name, values, dtype=pl.String))
        else:
            found.append(column_of(name, values, (), Findings()) if not _is_text(values) else pl.Series(name, values))
    if labelled:
        notes.append(f"value labels read instead of codes {in_columns(labelled)}")
    frame = pl.DataFrame(found)
    frame.columns = unique_names(frame.columns, notes)
    frame = with_numeric_words(frame, how.na)
    note_suspects(frame, notes)
    labels = [about.column_names_to_labels.get(name) or "" for name in columns]
    return Loaded(frame, tuple(notes), about=told_apart(frame.columns, labels))


def _cell(value: Any) -> Any:
    """A cell of Python's types; NaN and empty text are missing."""
    value = value.item() if isinstance(value, np.generic) else value
    return None if value is None or value == "" or (isinstance(value, float) and np.isnan(value)) else value


def _is_text(values: list[Any]) -> bool:
    """Whether all cells are text: the file says so, and digits in it are not numbers."""
    return all(value is None or isinstance(value, str) for value in values)

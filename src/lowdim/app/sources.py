"""The input of a command: a file, or a built-in data set by its name."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import lowdim
from lowdim.app.column_names import resolved
from lowdim.app.errors import UserError
from lowdim.app.input_table import InputTable, assemble, read
from lowdim.app.read_options import ReadOptions
from lowdim.app.reading.kinds import SUPPORTED
from lowdim.app.reading.source import STANDARD_INPUT
from lowdim.study.columns import Kind
from lowdim.study.suggestions import did_you_mean

PREFIX = "dataset:"
ROWS = 2000  # of a generated set: on a Swiss roll of 1000, ten neighbours make short circuits
FIXED = ("clock", "world")  # sets with a number of rows of their own


def load(source: str, how: ReadOptions, *, seed: int = 0) -> InputTable:
    """The table that the first argument of a command names. A name that could be a file or a data set is an error."""
    if source.startswith(PREFIX):
        return _built_in(source.removeprefix(PREFIX), how, seed)
    if source == STANDARD_INPUT:
        return read(source, how)
    is_file, is_name = Path(source).exists(), _known(source) is not None
    if is_file and is_name:
        raise UserError(
            f"{source} is both a file in this folder and a built-in data set; "
            f"write ./{source} for the file or {PREFIX}{source} for the data set."
        )
    if is_name:
        return _built_in(source, how, seed)
    if not is_file and not Path(source).suffix and "/" not in source:
        raise UserError(f"{source} is neither a file nor a built-in data set.{_near(source)}")
    return read(source, how)


def _known(name: str) -> str | None:
    """The registered name; dashes and underscores are the same. None if there is no such data set."""
    if Path(name).suffix or "/" in name:  # a file name: the data sets need not be imported
        return None
    wanted = name.lower().replace("_", "-")
    return next((known for known in lowdim.datasets.names() if known.replace("_", "-") == wanted), None)


def _near(name: str) -> str:
    hint = did_you_mean(name.lower().replace("_", "-"), lowdim.datasets.names())
    return f"{hint} `lowdim datasets` lists the data sets; supported files are {', '.join(SUPPORTED)}."


def generate(name: str, *, seed: int = 0, n_samples: int | None = None, noise: float | None = None) -> Any:
    """A built-in data set."""
    known = _known(name)
    if known is None:
        raise UserError(f"{name!r} is not a built-in data set.{_near(name)}")
    try:
        return lowdim.datasets.load(known, n_samples, noise, random_state=seed)
    except TypeError as error:
        raise UserError(f"{known} does not take that option ({error}).") from error


def frame_of(data: Any, *, coordinates: bool = False) -> pl.DataFrame:
    """A data set as a data frame: columns x1, x2, ..., then the label, and the true coordinates if wanted."""
    columns = {f"x{j + 1}": np.ascontiguousarray(data.X[:, j]) for j in range(data.X.shape[1])}
    columns["label"] = np.asarray(data.label_names)[data.labels] if data.label_names else data.labels
    if coordinates:
        columns |= {
            f"true_{name}": np.ascontiguousarray(data.coordinates[:, j]) for j, name in enumerate(data.coordinate_names)
        }
    return pl.DataFrame(columns)


def _built_in(name: str, how: ReadOptions, seed: int) -> InputTable:
    if how.label_file is not None:
        raise UserError(f"--label-file is for files; the built-in data set {name} has labels.")
    data = generate(name, seed=seed, n_samples=None if _known(name) in FIXED else ROWS)
    frame = frame_of(data, coordinates=True)
    how = resolved(how, frame.columns)
    aside = [column for column in frame.columns if column == "label" or column.startswith("true_")]
    wanted = how.label or "label"
    others = (column for column in aside if column != wanted)
    how = replace(how, label=wanted, drop=(*how.drop, *others), kinds=_kinds(frame, wanted, how))
    note = data.description if data.description.endswith(".") else f"{data.description}."
    table = assemble(data.name, frame, how, source=data.name, notes=[note])
    # Two classes without names are the cells of a board: where a row lies says more.
    board = wanted == "label" and not data.label_names and len(np.unique(data.labels)) == 2
    return replace(table, positions=tuple(c for c in frame.columns if c.startswith("true_")) if board else ())


def _kinds(frame: pl.DataFrame, label: str, how: ReadOptions) -> tuple[tuple[str, Kind], ...]:
    """All columns of a built-in set are numbers, whatever they look like, unless the user says otherwise."""
    numbers = [c for c in frame.columns if c != label and frame[c].dtype.is_numeric()]
    return (*((column, "number") for column in numbers), *how.kinds)


def descriptions() -> dict[str, str]:
    """Every built-in data set with its description."""
    # A few rows are enough: the description does not depend on their number.
    return {name: lowdim.datasets.load(name, 40, random_state=0).description for name in lowdim.datasets.names()}

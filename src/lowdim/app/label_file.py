"""Labels from a second file: found by the names of the rows where both files have them, else by the order of the rows.

A label that cannot be given to a row without guessing is an error: files of different lengths without names in common,
a name that stands twice in the file of labels.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import polars as pl

from lowdim.app.column_names import one_name
from lowdim.app.errors import UserError
from lowdim.app.read_options import ReadOptions
from lowdim.app.reading.any_file import read_any
from lowdim.app.reading.loaded import listed
from lowdim.study.columns import Wishes, read_table
from lowdim.study.suggestions import did_you_mean

MOSTLY = 0.5  # of the rows must be named in the other file for a column to have their names


def with_labels(frame: pl.DataFrame, how: ReadOptions, names: str | None) -> tuple[pl.DataFrame, ReadOptions, str]:
    """The table with a column of labels, options in which it is the label, and a note about how they were joined.

    `names` is the column that has the names of the rows, where that is known.
    """
    path = how.label_file
    assert path is not None
    labels = _read(path, how, frame.height)
    own, theirs = _shared_names(frame, labels, names, how.label)
    column = _label_column(labels, how.label, theirs, path)
    if own is None or theirs is None:
        found, note = _by_order(frame, labels[column], path)
    else:
        found, note = _by_name(frame[own], labels, column, theirs, path)
    called = column if column not in frame.columns else f"{column} ({Path(path).name})"
    return frame.with_columns(found.alias(called)), replace(how, label=called, label_file=None), note


def _read(path: str, how: ReadOptions, rows: int) -> pl.DataFrame:
    """The file of labels; a first line that looks like a name and is needed as a label is one."""
    if not Path(path).is_file():
        raise UserError(f"no such file: {path} (--label-file).")
    plain = ReadOptions(distances="no", header=how.header, encoding=how.encoding)
    frame = read_any(path, plain).frame
    if frame.width == 1 and frame.height == rows - 1 and how.header:
        frame = read_any(path, replace(plain, header=False)).frame
    if not frame.width or not frame.height:
        raise UserError(f"{path}: the file of labels is empty (--label-file).")
    return frame


def _shared_names(
    frame: pl.DataFrame, labels: pl.DataFrame, names: str | None, label: str | None
) -> tuple[str | None, str | None]:
    """The columns of both tables that hold the names of the rows; None where there are none."""
    if labels.width == 1:
        return None, None
    ours = [names] if names is not None else [c for c in frame.columns if frame[c].n_unique() == frame.height]
    best: tuple[float, str | None, str | None] = (MOSTLY, None, None)
    for own in ours:
        wanted = set(_texts(frame[own]))
        for theirs in (column for column in labels.columns if column != label):
            share = len(wanted & set(_texts(labels[theirs]))) / max(1, len(wanted))
            if share > best[0] or (share == best[0] == 1.0 and own == theirs):
                best = (share, own, theirs)
    return best[1], best[2]


def _texts(column: pl.Series) -> list[str | None]:
    """Cells as text without spaces around it; whole numbers without a point, so that 1 and 1.0 are one name."""
    texts = []
    for value in column.to_list():
        whole = isinstance(value, float) and value.is_integer()
        texts.append(None if value is None else str(int(value) if whole else value).strip())
    return texts


def _label_column(labels: pl.DataFrame, asked: str | None, names: str | None, path: str) -> str:
    """The column with the labels: the one asked for, the only one, or the one that looks like a label."""
    asked = one_name(asked, labels.columns)
    if asked is not None:
        if asked not in labels.columns:
            hint = did_you_mean(asked, labels.columns)
            raise UserError(f"{path}: --label {asked!r} is not a column.{hint} Columns: {listed(labels.columns, 12)}.")
        return asked
    others = [column for column in labels.columns if column != names]
    if len(others) == 1:
        return others[0]
    found = read_table(labels.select(others), Wishes(owner=path, need_columns=False)).label
    if found is None:
        raise UserError(f"{path}: which column has the labels? Say --label COL; columns: {listed(others, 12)}.")
    return found.name


def _by_order(frame: pl.DataFrame, column: pl.Series, path: str) -> tuple[pl.Series, str]:
    if len(column) != frame.height:
        raise UserError(
            f"{path}: {len(column)} labels for {frame.height} rows, and no column of names that both files have. Give "
            "both files a column with the names of the rows, or one label for each row."
        )
    return column, f"labels {column.name!r} from {path}, by the order of the rows: the files share no names"


def _by_name(own: pl.Series, labels: pl.DataFrame, column: str, theirs: str, path: str) -> tuple[pl.Series, str]:
    keys, names = _texts(labels[theirs]), _texts(own)
    needed = set(names)
    twice = [str(key) for key, count in Counter(keys).items() if count > 1 and key is not None and key in needed]
    if twice:
        raise UserError(
            f"{path}: column {theirs!r} has {listed([repr(key) for key in twice])} more than once; each row must have "
            "one label."
        )
    places = {key: i for i, key in enumerate(keys)}
    order = pl.Series([None if name is None else places.get(name) for name in names], dtype=pl.Int64)
    found = labels[column].gather(order)
    note = f"labels {column!r} from {path}, by the names of the rows ({own.name!r} here, {theirs!r} there)"
    lost = [str(name) for name in names if name not in places]
    if lost:
        note += f"; {len(lost)} of {len(names)} rows have none: {listed(lost)}"
    return found, note

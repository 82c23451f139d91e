"""Tables of dissimilarities with labels: pandas and polars frames whose rows and columns name the items."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lowdim._core.distances import real_array

Array = np.ndarray


def labelled(D: Any, owner: str, names: Sequence[str] | None = None) -> tuple[Any, list[str] | None]:
    """The numbers of a frame of dissimilarities, columns in the order of the items, and the names of the items.

    Rows are named by the index of a pandas frame, or by a first column of text, as files have it; columns by the
    header. Where both are there they must name the same items, and columns follow the rows; where one is only counted
    (0, 1, ...), the other one names the items. With `names` (the fitted items) rows may be anything, and columns follow
    those. What is no frame comes back as it is, without names.
    """
    if not is_frame(D):
        return D, None
    rows, columns, values = _parts(D, owner)
    if names is not None:
        rows = list(names)
        columns = columns if columns is not None else rows
    if rows is not None and columns is not None:
        return values[:, _order(rows, columns, owner)], rows
    return values, rows if columns is None else columns


def is_frame(D: Any) -> bool:
    """Whether it has named columns, as tables of pandas and polars do."""
    return hasattr(D, "columns") and hasattr(D, "to_numpy")


def frame_like(frame: Any, D: Array, names: list[str], *, rows: bool = False) -> Any:
    """D as a frame of the same kind, its columns named (its rows too, if asked and possible)."""
    make = type(frame)
    if not hasattr(frame, "iloc"):
        return make(D, schema=names)
    return make(D, columns=names, index=names) if rows else make(D, columns=names)


def with_named_columns(D: Any, owner: str, names: Sequence[str] | None = None) -> Any:
    """A frame whose columns are the items in order, for scikit-learn to take the names from; other input as it is."""
    values, found = labelled(D, owner, names)
    if found is None or len(set(found)) < len(found) or len(found) != values.shape[1]:
        return values
    return frame_like(D, values, found)


def _parts(D: Any, owner: str) -> tuple[list[str] | None, list[str] | None, Array]:
    """Names of rows and columns (None where they are only counted), and the cells between them."""
    columns, index = list(D.columns), list(getattr(D, "index", range(len(D))))
    cells = D.to_numpy()
    if columns and len(cells) and all(isinstance(cell, str) for cell in cells[:, 0]):
        index, columns, cells = list(cells[:, 0]), columns[1:], cells[:, 1:]
    return _names(index), _names(columns), real_array(cells, f"{owner}: the table of dissimilarities")


def _names(given: list[Any]) -> list[str] | None:
    """As text; None for 0, 1, ..., and for column_0, column_1, ... of polars, which say nothing."""
    counted = given == list(range(len(given))) or given == [f"column_{j}" for j in range(len(given))]
    return None if counted else [str(name) for name in given]


def _order(wanted: list[str], columns: list[str], owner: str) -> Any:
    """Where the columns called `wanted` are."""
    if wanted == columns:
        return slice(None)
    lost, more = [name for name in wanted if name not in columns], [name for name in columns if name not in wanted]
    if lost or more:
        said = f"there is no column {lost[0]!r}" if lost else f"column {more[0]!r} is none of them"
        raise ValueError(
            f"{owner}: the columns of the dissimilarities must be named as the {len(wanted)} items are; {said}. "
            "Pass D.to_numpy() to ignore the names."
        )
    if len(set(columns)) < len(columns) or len(wanted) != len(columns):
        raise ValueError(
            f"{owner}: the columns of the dissimilarities are in another order and some names are repeated."
        )
    place = {name: j for j, name in enumerate(columns)}
    return np.array([place[name] for name in wanted])

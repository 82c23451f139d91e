"""The columns of data frames, dictionaries, arrays and lists: float64, datetime64 or objects, missing cells marked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from lowdim._core.tables.columns import as_cells, frame_columns, is_frame, raw_columns
from lowdim.study.columns.given import different_names


def named_columns(X: Any, owner: str) -> dict[str, np.ndarray]:
    """Name -> values, in the order of the table; columns without names are "1", "2", ..., repeated names get a number.

    Numbers are float64 with NaN, dates datetime64 with NaT, everything else objects with None.
    """
    if isinstance(X, Mapping):
        return _of_mapping(X, owner)
    if is_frame(X):
        return dict(zip(different_names([str(name) for name in X.columns]), _of_frame(X), strict=True))
    cells = as_cells(X)
    if cells.ndim != 2:
        raise ValueError(f"{owner}: X must be a table of rows and columns; got shape {cells.shape}.")
    return {str(j + 1): column for j, column in enumerate(raw_columns(cells))}


def _of_mapping(X: Mapping[Any, Any], owner: str) -> dict[str, np.ndarray]:
    lengths = {str(name): len(values) for name, values in X.items()}
    if len(set(lengths.values())) != 1:
        listed = ", ".join(f"{name!r} {length}" for name, length in list(lengths.items())[:4])
        raise ValueError(f"{owner}: the columns must be equally long; got {listed or 'none'}.")
    columns = {}
    for name, values in X.items():
        array = np.asarray(values) if isinstance(values, np.ndarray) else np.array(list(values), dtype=object)
        if array.dtype.kind in "iuO" and any(map(_is_long, array.tolist())):
            array = np.array([None if v is None else str(v) for v in array.tolist()], dtype=object)
        dates = array.dtype.kind == "M"
        columns[str(name)] = array.astype("datetime64[s]") if dates else raw_columns(array[:, None])[0]
    return columns


def _is_long(value: Any) -> bool:
    """Whether a value is a whole number that a float cannot hold."""
    return isinstance(value, int) and abs(value) >= 2**53


def _of_frame(X: Any) -> list[np.ndarray]:
    dates = [_is_date(kind) for kind in X.dtypes]
    if not any(dates):
        return [_exact(X, j, column) for j, column in enumerate(frame_columns(X))]
    others = _others(X, dates)
    return [_date(X, j) if date else _exact(X, j, others[j]) for j, date in enumerate(dates)]


def _exact(X: Any, j: int, column: np.ndarray) -> np.ndarray:
    """The column; as text where it has whole numbers that floats cannot hold, such as long ids."""
    if column.dtype.kind != "f" or not (np.abs(column) >= 2**53).any():
        return column
    source = X.get_columns()[j] if hasattr(X, "get_columns") else X.iloc[:, j]
    if "int" not in str(source.dtype).lower():
        return column
    values = np.empty(len(column), dtype=object)
    values[:] = [None if value is None or value != value else str(value) for value in source.to_list()]
    return values


def _others(X: Any, dates: list[bool]) -> list[Any]:
    """The columns that hold no dates; None at the others."""
    kept = [j for j, date in enumerate(dates) if not date]
    part = X[:, kept] if hasattr(X, "get_columns") else X.iloc[:, kept]
    columns = iter(frame_columns(part))
    return [None if date else next(columns) for date in dates]


def _is_date(kind: Any) -> bool:
    """Whether a type of a column (pandas, polars) is that of dates."""
    if hasattr(kind, "is_temporal"):
        return bool(kind.is_temporal()) and str(kind).startswith(("Date", "Datetime"))
    return getattr(kind, "kind", "O") == "M"


def _date(X: Any, j: int) -> np.ndarray:
    column = X.get_columns()[j] if hasattr(X, "get_columns") else X.iloc[:, j]
    if getattr(column.dtype, "tz", None) is not None:
        column = column.dt.tz_convert("UTC").dt.tz_localize(None)
    return np.asarray(column.to_numpy(), dtype="datetime64[s]")

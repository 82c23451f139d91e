"""Tables whose columns are numbers or categories: data frames, arrays of objects, plain arrays.

A column of numbers becomes float64 with NaN for missing cells. Any other column becomes codes 0, 1, ... into its sorted
categories, again as float64 with NaN for missing cells, so that a mixed table is one float array and a list that
says which columns are categories.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np

_NUMBERS = (Real, Decimal)  # databases give decimal numbers, which are no `Real`
_TRUTH = (bool, np.bool_)
UNSEEN = -1.0  # the code of a category that was not there at fit


def is_frame(X: Any) -> bool:
    """Whether X is a data frame (pandas, polars): columns with names and types of their own."""
    return all(hasattr(X, name) for name in ("columns", "dtypes", "shape")) and len(X.shape) == 2


def has_categories(X: Any) -> bool:
    """Whether X holds anything but numbers, without looking into more cells than that takes."""
    if is_frame(X):
        return not all(_frame_column_is_numeric(column) for column in _frame_columns(X))
    if isinstance(X, np.ndarray) and X.dtype.kind != "O":
        return X.dtype.kind in "US" and X.ndim == 2
    cells = as_cells(X)
    return cells.ndim == 2 and not all(_all_numbers(cells[:, j]) for j in range(cells.shape[1]))


def as_cells(X: Any) -> np.ndarray:
    """The cells of an array or of lists, each as the object it is (numpy alone would turn [1.0, "a"] into text)."""
    return X if isinstance(X, np.ndarray) else np.array(X, dtype=object)


def frame_columns(X: Any) -> Iterator[np.ndarray]:
    """The columns of a data frame as in `raw_columns`, one after another."""
    return (_frame_column(column) for column in _frame_columns(X))


def raw_columns(X: Any) -> list[np.ndarray]:
    """The columns: float64 where they are numbers, else objects with None in missing cells."""
    if is_frame(X):
        return list(frame_columns(X))
    cells = as_cells(X)
    return [_object_column(cells[:, j]) for j in range(cells.shape[1])]


def categories_of(column: np.ndarray) -> tuple[Any, ...]:
    """The different values of a column, sorted: truth values and numbers first, then text.

    Whole numbers stay whole numbers, also in a column of floats (as a missing cell makes it).
    """
    if column.dtype.kind == "f":
        found = np.unique(column[~np.isnan(column)])
        whole = bool((found == np.round(found)).all() and np.abs(found).max(initial=0.0) < 2**53)
        return tuple((found.astype(np.int64) if whole else found).tolist())
    different = {_identity(value): value for value in column if value is not None}
    return tuple(sorted(different.values(), key=_sort_key))


def code(column: np.ndarray, categories: Sequence[Any]) -> np.ndarray:
    """Each value's place among the categories; NaN for a missing cell, `UNSEEN` for an unknown value."""
    places = {_identity(category): float(i) for i, category in enumerate(categories)}
    if column.dtype.kind == "f":
        return np.array([np.nan if v != v else places.get(_identity(v), UNSEEN) for v in column.tolist()])
    return np.array([np.nan if v is None else places.get(_identity(v), UNSEEN) for v in column])


def decode(coded: np.ndarray, categories: Sequence[Sequence[Any] | None]) -> np.ndarray:
    """The table behind the codes: floats where all columns are numbers, else objects."""
    if all(found is None for found in categories):
        return coded
    table = coded.astype(object)
    for j, found in enumerate(categories):
        if found is not None:
            table[:, j] = [None if c != c else found[int(c)] for c in coded[:, j].tolist()]
    return table


# ---- columns of data frames ---------------------------------------------------------------------------------


def _frame_columns(X: Any) -> list[Any]:
    if hasattr(X, "get_columns"):  # polars
        return list(X.get_columns())
    return [X.iloc[:, j] for j in range(X.shape[1])]


def _frame_column_is_numeric(column: Any) -> bool:
    if hasattr(column.dtype, "is_numeric"):
        return bool(column.dtype.is_numeric())
    kind = getattr(column.dtype, "kind", "O")
    if kind == "O" and not hasattr(column, "cat"):
        return _all_numbers(np.asarray(column, dtype=object))
    return kind in "iuf" and not hasattr(column, "cat")


def _frame_column(column: Any) -> np.ndarray:
    polars = hasattr(column.dtype, "is_numeric")
    if _frame_column_is_numeric(column):
        values = column.to_numpy() if polars else column.to_numpy(dtype=np.float64, na_value=np.nan)
        return np.array(values, dtype=np.float64)
    values = column.to_list() if polars else np.asarray(column, dtype=object).tolist()
    return _objects([_plain(value) for value in values])


# ---- columns of arrays --------------------------------------------------------------------------------------


def _object_column(cells: np.ndarray) -> np.ndarray:
    if cells.dtype.kind in "iuf":
        return cells.astype(np.float64)
    if cells.dtype.kind == "O" and _all_numbers(cells):
        return np.array([np.nan if _is_hole(value) else float(value) for value in cells])
    return _objects([_plain(value) for value in cells.tolist()])


def _objects(values: list[Any]) -> np.ndarray:
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column


def _all_numbers(cells: np.ndarray) -> bool:
    """Whether every observed cell is a number, and there is at least one."""
    there = [value for value in cells.tolist() if not _is_hole(value)]
    return bool(there) and all(isinstance(value, _NUMBERS) and not isinstance(value, _TRUTH) for value in there)


def _is_hole(value: Any) -> bool:
    """None, NaN, and the missing values of data frames, whose comparisons are neither true nor false."""
    try:
        return value is None or bool(value != value)
    except (TypeError, ValueError):
        return type(value).__name__ == "NAType"


def _plain(value: Any) -> Any:
    """A category as a plain Python value, so that a model file can hold it; None for a missing cell."""
    if value is None or _is_hole(value):
        return None
    value = value.item() if isinstance(value, np.generic) else value
    if type(value) in (str, bool, int, float):
        return value
    return str(value)


def _identity(value: Any) -> tuple[bool, Any]:
    """True and 1 are different categories; 1 and 1.0 are the same."""
    return isinstance(value, bool), value


def _sort_key(value: Any) -> tuple[int, Any]:
    return (2, value) if isinstance(value, str) else (int(not isinstance(value, bool)), value)

"""Columns that hold something else than numbers, found and named for error messages: text, dates."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, time, timedelta
from typing import Any

import numpy as np

from lowdim._core.tables.columns import as_cells, is_frame
from lowdim._core.tables.form import refuse_no_table, said_by

_NUMPY_DATES = (np.datetime64, np.timedelta64)
_DATES = (date, time, timedelta, *_NUMPY_DATES)
_NAMED = 3  # columns that an error message names


def column_names(X: Any) -> list[str]:
    """The columns as error messages name them: in quotes, or by their number where they have no names."""
    return [repr(str(name)) for name in X.columns] if is_frame(X) else [str(j) for j in range(np.shape(X)[1])]


def some_of(names: list[str]) -> str:
    """A few columns and how many more there are, such as: columns 'a', 'b', 'c' and 4 more."""
    if len(names) == 1:
        return f"column {names[0]}"
    shown = names if len(names) <= _NAMED else [*names[:_NAMED], f"{len(names) - _NAMED} more"]
    return f"columns {', '.join(shown[:-1])} and {shown[-1]}"


def dates_by_type(X: Any) -> list[str]:
    """Names of the columns whose type is one of dates or durations; of an array of dates, all of them."""
    if is_frame(X):
        return [name for name, kind in zip(column_names(X), list(X.dtypes), strict=True) if _is_temporal(kind)]
    array = isinstance(X, np.ndarray) and X.ndim == 2 and _is_temporal(X.dtype)
    return column_names(X) if array else []


def dates_among_objects(X: Any) -> list[str]:
    """Names of the columns of objects in which a cell is a date or a duration."""
    return [name for name, cells in _object_columns(X) if any(_is_date(value) for value in cells)]


@contextmanager
def naming_text(X: Any, owner: str, name: str = "X", way: str = "") -> Iterator[None]:
    """Inside, X is converted to numbers; what is no table is refused before, and every error comes under our name.

    Where the conversion fails because of text or dates, the error names their columns; `way` is a way out of the
    caller's own, beside FAMD.
    """
    refuse_no_table(X, owner, name)
    if _has_numpy_dates(X) and (dates := dates_among_objects(X)):  # numpy would turn them into numbers
        raise ValueError(dates_refused(owner, name, dates))
    try:
        yield
    except (TypeError, ValueError, OverflowError) as error:
        if dates := dates_among_objects(X):
            raise ValueError(dates_refused(owner, name, dates)) from error
        if text := {column: found for column, cells in _object_columns(X) if (found := _first_text(cells)) is not None}:
            verb = "holds" if len(text) == 1 else "hold"
            raise ValueError(
                f"{owner}: {name} must hold numbers; {some_of(list(text))} {verb} text such as "
                f"{next(iter(text.values()))!r}. Leave such columns out, use lowdim.FAMD, which takes numbers and "
                f"categories{way}, or code them as numbers."
            ) from error
        with said_by(owner):
            raise


def dates_refused(owner: str, name: str, columns: list[str]) -> str:
    """The message about dates in these columns."""
    return (
        f"{owner}: {name} holds dates or durations ({some_of(columns)}); convert them to numbers first, in a unit you "
        "choose."
    )


def _object_columns(X: Any) -> Iterator[tuple[str, list[Any]]]:
    """Name and cells of the columns whose type is not one of numbers."""
    if is_frame(X):
        for name, kind, label in zip(column_names(X), list(X.dtypes), range(X.shape[1]), strict=True):
            if getattr(kind, "kind", "O") not in "biuf":
                column = X.iloc[:, label] if hasattr(X, "iloc") else X.get_columns()[label]
                yield name, list(column)
        return
    cells = _cells(X)
    if cells is not None and cells.ndim == 2 and cells.dtype.kind in "OUS":
        yield from ((name, cells[:, j].tolist()) for j, name in enumerate(column_names(cells)))


def _has_numpy_dates(X: Any) -> bool:
    """Whether a cell of an array of objects or of lists is a date or a duration of numpy; makes no copy of them."""
    if isinstance(X, np.ndarray):
        return X.dtype.kind == "O" and X.ndim == 2 and any(isinstance(value, _NUMPY_DATES) for value in X.flat)
    if not isinstance(X, (list, tuple)):
        return False
    return any(isinstance(value, _NUMPY_DATES) for row in X if isinstance(row, (list, tuple)) for value in row)


def _cells(X: Any) -> np.ndarray | None:
    """The cells of an array or of lists of equal length; None for anything else."""
    if not isinstance(X, (np.ndarray, list, tuple)):
        return None
    try:
        return as_cells(X)
    except ValueError:
        return None


def _is_temporal(kind: Any) -> bool:
    return getattr(kind, "kind", "") in ("m", "M") or bool(getattr(kind, "is_temporal", bool)())


def _is_date(value: Any) -> bool:
    return isinstance(value, _DATES) or type(value).__name__ == "Period"


def _first_text(cells: list[Any]) -> str | None:
    """The first text among the cells that is no number."""
    for value in cells:
        if isinstance(value, (str, bytes)):
            try:
                float(value)
            except ValueError:
                return str(value)
    return None

"""Tables of numbers and categories, checked and coded: what FAMD, MCA and Gower's distance share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lowdim._core.runtime.notices import warn
from lowdim._core.tables import missing
from lowdim._core.tables.columns import UNSEEN, as_cells, code, is_frame
from lowdim._core.tables.kinds import dates_among_objects, dates_by_type, dates_refused

_NAMED = 3  # columns, and values of each, that a message names


def mixed_cells(X: Any, owner: str) -> Any:
    """X as a data frame or an array of cells; an error for sparse tables, for dates and for what is no table."""
    missing.refuse_sparse(X, owner)
    if isinstance(X, np.ma.MaskedArray):
        X = _unmasked(X)
    if not is_frame(X):
        X = _two_dimensional(X, owner)
    if X.shape[1] == 0:
        raise ValueError(f"{owner}: X has 0 feature(s) (shape={X.shape}) while a minimum of 1 is required.")
    if any(getattr(kind, "kind", "") == "c" for kind in getattr(X, "dtypes", [getattr(X, "dtype", None)])):
        raise ValueError(f"{owner}: Complex data not supported. Pass real and imaginary parts as columns.")
    refuse_dates(X, owner)
    return X


def refuse_dates(X: Any, owner: str) -> None:
    """Dates are neither numbers nor categories, as a type of column or among objects."""
    if dates := dates_by_type(X) or dates_among_objects(X):
        raise ValueError(dates_refused(owner, "X", dates))


def code_column(column: np.ndarray, categories: Sequence[Any] | None, name: str, owner: str) -> np.ndarray:
    """Numbers as they are, categories as codes; an error for text in a column that held numbers at fit."""
    if categories is not None:
        return code(column, categories)
    if column.dtype.kind == "O" and any(value is not None for value in column):
        there = [value for value in column if value is not None]
        found = next((value for value in there if isinstance(value, str)), there[0])
        raise ValueError(f"{owner}: column {name} held numbers at fit; got {found!r}.")
    return column.astype(np.float64)


def unseen_cells(coded: np.ndarray, categories: Sequence[Sequence[Any] | None]) -> np.ndarray:
    """Which cells hold a category that was not there at fit."""
    return np.asarray((coded == UNSEEN) & np.array([found is not None for found in categories]))


def name_unseen(unseen: np.ndarray, columns: Sequence[np.ndarray], names: Sequence[str]) -> str:
    """Columns and values of such cells (at least one): column 'a' has 'x' and 'y' (3 cells): not there at fit."""
    parts = []
    for j in np.flatnonzero(unseen.any(axis=0)).tolist():
        values = sorted({repr(value) for value in columns[j][unseen[:, j]].tolist()})
        parts.append(f"column {names[j]} has {_listed(values)} ({_counted(int(unseen[:, j].sum()), 'cell')})")
    shown = "; ".join(parts[:_NAMED])
    more = f"; and {_counted(len(parts) - _NAMED, 'more column')}" if len(parts) > _NAMED else ""
    return f"{shown}{more}: not there at fit"


def warn_of_unseen(
    coded: np.ndarray,
    columns: Sequence[np.ndarray],
    categories: Sequence[Sequence[Any] | None],
    names: Sequence[str],
    *,
    then: str,
    owner: str,
) -> None:
    """One warning that names columns and values that were not there at fit; `then` says what is done with them."""
    unseen = unseen_cells(coded, categories)
    if unseen.any():
        warn(f"{owner}: {name_unseen(unseen, columns, names)}. {then}")


def _listed(words: Sequence[str]) -> str:
    words = [*words[:_NAMED], f"{len(words) - _NAMED} more"] if len(words) > _NAMED else words
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _counted(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def _unmasked(X: np.ma.MaskedArray) -> np.ndarray:
    """The cells, None where they are masked."""
    if not np.ma.is_masked(X):
        return np.asarray(X)
    if X.dtype.kind in "biuf":
        return np.ma.filled(X.astype(np.float64), np.nan)
    cells = np.ma.getdata(X).astype(object)
    cells[np.ma.getmaskarray(X)] = None
    return cells


def _two_dimensional(X: Any, owner: str) -> np.ndarray:
    try:
        cells = as_cells(X)
    except ValueError as error:
        raise ValueError(f"{owner}: X must be a table whose rows have equally many cells; got {error}.") from error
    if cells.ndim != 2:
        raise ValueError(
            f"{owner}: X must be a table of rows and columns; got an array of shape {cells.shape}. Reshape your data: "
            "X.reshape(1, -1) is a single row, X.reshape(-1, 1) a single column."
        )
    return cells

"""What people pass as a table in Python, as one of the forms that are looked at: a data frame, columns, or an array."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

import numpy as np


def as_table(X: Any, owner: str) -> Any:
    """Arrow tables, records, lists of dictionaries or of named tuples as columns; lazy frames read; the rest as it is.

    A path is an error that says how files are read.
    """
    if isinstance(X, PurePath) or (isinstance(X, str) and len(X) < 4096):
        raise TypeError(
            f"{owner}: X must be a table of rows and columns; got the text {str(X)!r}. Read the file first, for "
            f"example with pandas or polars, or give it to the command line, which reads any file: lowdim compare {X}"
        )
    if type(X).__module__.startswith("polars") and hasattr(X, "collect"):
        return X.collect()
    if hasattr(X, "column_names") and hasattr(X, "schema") and hasattr(X, "column"):  # pyarrow
        return {name: X.column(j).to_numpy(zero_copy_only=False) for j, name in enumerate(_different(X.column_names))}
    if hasattr(X, "iloc") and hasattr(X, "columns"):
        return _with_vectors(X)
    if isinstance(X, np.ma.MaskedArray) and X.dtype.kind in "biuf":
        return np.ma.filled(X.astype(np.float64), np.nan)
    if isinstance(X, np.ndarray) and X.dtype.names:
        _check_fields(X, owner)
        return {name: X[name].ravel() for name in X.dtype.names}
    if isinstance(X, (list, tuple)) and X:
        return _of_records(X)
    return X


def _with_vectors(X: Any) -> Any:
    """A pandas frame whose cells that are vectors of one length, such as embeddings, are columns."""
    parts: list[Any] = []
    for j, name in enumerate(X.columns):
        cells: list[Any] = X.iloc[:, j].tolist() if str(X.dtypes.iloc[j]) == "object" else [None]
        if not all(isinstance(cell, (list, tuple, np.ndarray)) for cell in cells[:20]):
            parts.append(X.iloc[:, [j]])
            continue
        if not all(isinstance(cell, (list, tuple, np.ndarray)) and len(cell) == len(cells[0]) for cell in cells):
            return X
        vectors = np.array([np.asarray(cell) for cell in cells])
        if vectors.ndim != 2 or vectors.dtype.kind not in "iuf" or vectors.shape[1] < 2:
            return X
        names = [f"{name}_{k + 1}" for k in range(vectors.shape[1])]
        parts.append(type(X)(vectors, columns=names, index=X.index))
    return X if all(part.shape[1] == 1 for part in parts) else parts[0].join(parts[1:])


def _check_fields(X: np.ndarray, owner: str) -> None:
    wrong = next((name for name in X.dtype.names or () if X[name].size != len(X)), None)
    if wrong is not None:
        raise ValueError(f"{owner}: field {wrong!r} of X must have one value in each row; got shape {X[wrong].shape}.")


def _of_records(X: Any) -> Any:
    """Columns, if every row is a dictionary, or a tuple with names."""
    if all(isinstance(row, Mapping) for row in X):
        names = list(dict.fromkeys(name for row in X for name in row))
        return {str(name): [row.get(name) for row in X] for name in names}
    fields = getattr(X[0], "_fields", None)
    if fields and all(getattr(row, "_fields", None) == fields for row in X):
        return {name: [row[j] for row in X] for j, name in enumerate(fields)}
    return X


def _different(names: Any) -> list[str]:
    return different_names([str(name) for name in names])


def different_names(names: list[str]) -> list[str]:
    """Every name once: a repeated one gets the first free number."""
    taken, seen, found = set(names), set(), []
    for name in names:
        new, count = name, 1
        while new in seen or (count > 1 and new in taken):
            count += 1
            new = f"{name}_{count}"
        seen.add(new)
        found.append(new)
    return found


def note_on_names(X: Any, names: list[str]) -> tuple[str, ...]:
    """A note on columns of a data frame that got another name."""
    given = [str(name) for name in getattr(X, "columns", ())]
    if len(given) != len(names):
        return ()
    changed = [f"{old!r} -> {new!r}" for old, new in zip(given, names, strict=True) if old != new]
    more = f", ... ({len(changed)} in all)" if len(changed) > 5 else ""
    return (f"repeated column names made different: {', '.join(changed[:5])}{more}",) if changed else ()

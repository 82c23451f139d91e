"""Whether something is a table at all, asked once at the door: before it is converted or compiled code reads it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from scipy import sparse

from lowdim._core.runtime.foreign_tables import is_arrow
from lowdim._core.runtime.printable import printable_lines
from lowdim._core.streams.structure import check_structure
from lowdim._core.tables.columns import is_frame

_NO_TABLES = (str, bytes, bytearray, Mapping, set, frozenset, type(None), int, float, complex)


def refuse_no_table(X: Any, owner: str, name: str = "X") -> None:
    """TypeError or ValueError for what is no table of numbers in memory, and the way out."""
    if sparse.issparse(X):
        check_structure(X, f"{owner}: {name}")
    elif hasattr(X, "collect") and hasattr(X, "collect_schema"):
        raise TypeError(f"{owner}: {name} must be rows in memory; got a lazy frame. Pass {name}.collect().")
    elif isinstance(X, _NO_TABLES):
        shown = f"the text {X[:40]!r}" if isinstance(X, (str, bytes)) else f"a value of type {type(X).__name__}"
        way = " Read the file first, for example with pandas or polars." if isinstance(X, (str, bytes)) else ""
        if isinstance(X, Mapping):
            way = f" A dictionary of columns is one as pandas.DataFrame({name})."
        raise TypeError(f"{owner}: {name} must be a table of rows and columns; got {shown}.{way}")
    elif is_arrow(X):
        raise TypeError(
            f"{owner}: {name} must be an array or a data frame; a {type(X).__name__} of pyarrow is made into one by "
            f"pandas, which is not installed. Install it, or pass polars.from_arrow({name})."
        )
    elif is_frame(X):
        _refuse_names(list(X.columns), owner, name)
    elif isinstance(X, np.ndarray):
        _refuse_kind(X.dtype, owner, name)
    elif isinstance(X, (list, tuple)):
        refuse_ragged(X, f"{owner}: {name}")


def _refuse_names(columns: list[Any], owner: str, name: str) -> None:
    way = f"Rename them, or pass {name}.to_numpy(), without names."
    twins = [column for column, count in Counter(map(str, columns)).items() if count > 1]
    if twins and len(set(columns)) < len(columns):
        count = sum(str(column) == twins[0] for column in columns)
        raise ValueError(
            f"{owner}: the columns of {name} must have different names; {twins[0]!r} is there {count} times. {way}"
        )
    kinds = sorted({type(column).__name__ for column in columns if not isinstance(column, str)})
    if kinds and any(isinstance(column, str) for column in columns):
        raise TypeError(
            f"{owner}: the columns of {name} must be named by text throughout; some names are of type {kinds[0]}. {way}"
        )


def _refuse_kind(dtype: np.dtype, owner: str, name: str) -> None:
    if dtype.kind == "c":
        raise ValueError(
            f"{owner}: {name} must hold real numbers; got {dtype}. Complex data not supported: pass real and imaginary "
            f"parts as columns, np.hstack([{name}.real, {name}.imag])."
        )
    if dtype.kind == "V":
        raise TypeError(
            f"{owner}: {name} must be a table of numbers; got records ({dtype}). Pass their fields as columns: "
            f"np.column_stack([{name}[field] for field in {name}.dtype.names])."
        )


def refuse_ragged(X: Any, what: str) -> None:
    """ValueError for lists of different lengths."""
    lengths = [len(row) for row in X if isinstance(row, (list, tuple))]
    if len(lengths) == len(X) and len(set(lengths)) > 1:
        odd = next(i for i, length in enumerate(lengths) if length != lengths[0])
        raise ValueError(
            f"{what} must have rows of the same length; row 0 has {lengths[0]} cells, row {odd} {lengths[odd]}. Fill "
            "the others with float('nan') where cells are missing."
        )


@contextmanager
def said_by(owner: str) -> Iterator[None]:
    """Inside, other libraries check a table; their errors come out under our name."""
    try:
        yield
    except (TypeError, ValueError, OverflowError) as error:
        if str(error).startswith(f"{owner}:"):
            raise
        kind = TypeError if isinstance(error, TypeError) else ValueError
        beyond = "a number is beyond the range of float64: " if isinstance(error, OverflowError) else ""
        raise kind(printable_lines(f"{owner}: {beyond}{error}")) from error


def remember_columns(estimator: Any, X: Any, *, reset: bool) -> None:
    """scikit-learn's bookkeeping of the columns, for tables that are not arrays of floats."""
    from sklearn.utils.validation import validate_data  # takes half a second, which errors of the command line have not

    with said_by(type(estimator).__name__):
        validate_data(estimator, X, reset=reset, skip_check_array=True)


def canonical(X: Any) -> Any:
    """Sparse rows with sorted indices and no cell twice; a copy where they are not: the one given stays."""
    if not sparse.issparse(X):
        return X
    X = usual_indices(X)
    if X.has_canonical_format:
        return X
    X = X.copy()
    X.sum_duplicates()
    return X


def usual_indices(X: Any) -> Any:
    """Compressed sparse tables with indices of 32 or 64 bits, both kinds alike, and no values behind the last row.

    scipy takes others, but warns of small integers, and its own functions fail where values are left over.
    """
    if X.format not in ("csr", "csc"):
        return X
    count, kind = int(X.indptr[-1]), X.indices.dtype
    if kind in (np.int32, np.int64) and kind == X.indptr.dtype and len(X.data) == count:
        return X
    kind = np.result_type(kind, X.indptr.dtype, np.int32)
    kind = kind if kind == np.int32 else np.dtype(np.int64)
    parts = X.data[:count], X.indices[:count].astype(kind), X.indptr.astype(kind)
    return type(X)(parts, shape=X.shape)

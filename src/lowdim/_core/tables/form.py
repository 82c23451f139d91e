"""Whether something is a table at all, asked once at the door: before it is converted or compiled code reads it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from scipy import sparse

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
    except (TypeError, ValueError) as error:
        if str(error).startswith(f"{owner}:"):
            raise
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{owner}: {error}") from error


# ---- sparse tables ------------------------------------------------------------------------------------------


def check_structure(X: Any, what: str) -> None:
    """ValueError where the parts of a sparse table contradict each other: compiled code trusts them.

    scipy's own check sorts and cuts the arrays it is given; this one changes nothing. `what` begins the message.
    """
    fault = _CHECKS.get(X.format, lambda X: None)(X)
    if fault:
        raise ValueError(
            f"{what} is not a valid sparse table: {fault}. Build it again, for example by scipy.sparse.coo_array("
            "(values, (rows, columns)), shape=...).tocsr()."
        )


def _compressed_fault(X: Any) -> str | None:
    rows, columns = X.shape if X.format != "csc" else X.shape[::-1]
    if X.format == "bsr":
        rows, columns = rows // X.blocksize[0], columns // X.blocksize[1]
    indices, indptr = X.indices, X.indptr
    if indices.dtype.kind not in "iu" or indptr.dtype.kind not in "iu" or indices.ndim != 1 or indptr.ndim != 1:
        return "indices and indptr must be vectors of integers"
    if len(indptr) != rows + 1:
        return f"indptr must have {rows + 1} entries; it has {len(indptr)}"
    if len(indices) != len(X.data):
        return f"there are {len(indices)} indices for {len(X.data)} values"
    if indptr[0] != 0 or indptr[-1] > len(indices) or (indptr[1:] < indptr[:-1]).any():
        return "indptr must start at 0, never fall, and end within the values"
    return _index_fault(indices, columns, "indices")


def _coordinate_fault(X: Any) -> str | None:
    parts = X.coords if hasattr(X, "coords") else (X.row, X.col)
    for part, size, name in zip(parts, X.shape, ("row", "column"), strict=False):
        if part.dtype.kind not in "iu" or len(part) != len(X.data):
            return f"there must be a whole {name} number for each value"
        if fault := _index_fault(part, size, f"{name} numbers"):
            return fault
    return None


def _listed_fault(X: Any) -> str | None:
    if any(len(row) != len(values) for row, values in zip(X.rows, X.data, strict=True)):
        return "there must be a column number for each value"
    return _index_fault(np.concatenate([[], *X.rows]), X.shape[1], "column numbers")


def _index_fault(indices: np.ndarray, size: int, name: str) -> str | None:
    if len(indices) and not (indices.min() >= 0 and indices.max() < size):
        bad = indices[(indices < 0) | (indices >= size)][0]
        return f"{name} must be from 0 to {size - 1}; got {bad:g}"
    return None


_CHECKS = {
    **dict.fromkeys(("csr", "csc", "bsr"), _compressed_fault),
    "coo": _coordinate_fault,
    "lil": _listed_fault,
}


def canonical(X: Any) -> Any:
    """Sparse rows with sorted indices and no cell twice; a copy where they are not: the one given stays."""
    if not sparse.issparse(X) or X.has_canonical_format:
        return X
    X = X.copy()
    X.sum_duplicates()
    return X

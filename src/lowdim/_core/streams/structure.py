"""Sparse tables whose parts contradict each other: refused before compiled code reads them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse


def checked_block(block: Any, owner: str, width: int | None = None) -> Any:
    """A block of rows, or a pair of blocks, as it is; ValueError where one is sparse and malformed.

    With `width`, that of a block which has another number of columns than the whole table announces.
    """
    for part in block if isinstance(block, (tuple, list)) and len(block) == 2 else [block]:
        if sparse.issparse(part):
            check_structure(part, f"{owner}: a block of rows")
    if width is not None and getattr(block, "ndim", 0) == 2 and block.shape[1] != width:
        raise ValueError(f"{owner}: X must have {width} columns, as it announces; a block has {block.shape[1]}.")
    return block


def check_structure(X: Any, what: str) -> None:
    """ValueError where the parts of a sparse table contradict each other: compiled code trusts them.

    scipy's own check sorts and cuts the arrays it is given; this one changes nothing. `what` begins the message.
    """
    fault = _form_fault(X) or _CHECKS.get(X.format, lambda X: None)(X)
    if fault:
        raise ValueError(
            f"{what} is not a valid sparse table: {fault}. Build it again, for example by scipy.sparse.coo_array("
            "(values, (rows, columns)), shape=...).tocsr()."
        )


def _form_fault(X: Any) -> str | None:
    if len(X.shape) != 2:
        return f"it must have rows and columns; it has {len(X.shape)} dimension(s)"
    return "its values must be numbers; they are objects" if X.dtype.kind == "O" else None


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

"""Arrays of rows: the precisions that are computed in, byte order, shape and size."""

from __future__ import annotations

import operator
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from lowdim._core.gpu.device_rows import DeviceRows

FLOATS = (np.float64, np.float32)


def same_shape(X: Any, y: Any) -> bool:
    """Whether both are tables of the same shape; what has no shape of its own is looked at as an array."""
    shapes = [tuple(getattr(table, "shape", None) or np.asarray(table, dtype=object).shape) for table in (X, y)]
    return len(shapes[0]) == 2 and shapes[0] == shapes[1]


def extent(X: Any) -> tuple[int, int, int, int | None]:
    """Rows, columns, bytes of a number, and how many are stored where X is sparse (else None)."""
    n, d = X.shape if len(X.shape) == 2 else 2 * (int((1 + np.sqrt(1 + 8 * len(X))) // 2),)
    itemsize = 4 if getattr(X, "dtype", None) == np.float32 else 8
    return int(n), int(d), itemsize, int(X.nnz) if sparse.issparse(X) else None


def native(X: Any) -> Any:
    """An array in this machine's byte order, so that float32 from another one stays float32."""
    if isinstance(X, np.ndarray) and X.dtype.kind == "f" and not X.dtype.isnative:
        return X.astype(X.dtype.newbyteorder("="))
    return X


def is_placed(X: Any) -> bool:
    """Whether rows have a layout of their own: sparse ones, and those on a device."""
    return sparse.issparse(X) or isinstance(X, DeviceRows)


def contiguous(value: Any) -> Any:
    """The same with every array in one piece, also those in records, lists and mappings; strided ones become rows."""
    if isinstance(value, np.ndarray):
        return value if value.flags.forc or value.dtype == object else np.ascontiguousarray(value)
    if isinstance(value, dict):
        return _where_changed(value, {name: contiguous(part) for name, part in value.items()})
    if type(value) in (list, tuple):
        parts = [contiguous(part) for part in value]
        return value if all(map(operator.is_, parts, value)) else type(value)(parts)
    if is_dataclass(value) and not isinstance(value, type):
        before = {field.name: getattr(value, field.name) for field in fields(value) if field.init}
        after = {name: contiguous(part) for name, part in before.items()}
        changed = {name: part for name, part in after.items() if part is not before[name]}
        return replace(value, **changed) if changed else value
    return value


def _where_changed(value: dict[Any, Any], after: dict[Any, Any]) -> dict[Any, Any]:
    return after if any(after[name] is not part for name, part in value.items()) else value

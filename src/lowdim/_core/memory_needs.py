"""How much memory a fit takes: here, on a GPU, or on one worker of Dask that does one task at a time.

On a worker, beside the program itself, as measured with one process of one thread (`tests/test_worker_memory.py`): a
block is there with a copy of it that was checked, or with copies of those of its rows that are placed at a time.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import sparse

from lowdim._core import streams, validate
from lowdim._core.tables.tensors import as_rows_of

FAN_IN = 8  # records that one task adds, as in `streams.dask_blocks`
STEPS = ("fit", "transform")
CENTRED = 1.5  # copies of rows that are placed at a time
CHUNK = 2048  # rows that are seen in double precision at a time
NARROW = 32  # columns that blocks of many columns are multiplied with at a time
FITTED = 16  # bytes for a row that new ones are compared with, and row of a block: distance and place


def needed(model: Any, X: Any, device: str, step: str) -> int:
    """Bytes, for rows or their shape; for a collection of Dask those of a worker."""
    X, name = as_rows_of(model, X, "fit"), type(model).__name__
    if step not in STEPS:
        raise ValueError(f"{name}: step must be 'fit' or 'transform'; got {step!r}.")
    if streams.is_lazy(X):
        return on_worker(model, X, step)
    if step != "fit":
        raise ValueError(f"{name}: step must be 'fit' for rows in memory, whose `transform` takes no more than that.")
    shape = isinstance(X, tuple) and len(X) == 2 and all(isinstance(v, (int, np.integer)) for v in X)
    if device != "cpu":
        return validate.bytes_on_device(model, X)
    if shape or model._is_mixed():
        n, d = X if shape else np.shape(X)
        return sum(model._memory(int(n), int(2 * d + 1 if model._is_mixed() else d), 8, None).values())
    return sum(model._needs(X if hasattr(X, "shape") else np.asarray(X)).values())


def on_worker(model: Any, X: Any, step: str) -> int:
    """Bytes for the largest block of X."""
    name = type(model).__name__
    rows, d, itemsize = _largest_block(X, name)
    if step == "fit":
        return int(2 * rows * d * itemsize + 8 * min(rows, CHUNK) * d + _of_records(model, d, itemsize, name))
    together = min(rows, model._block_rows)
    return int((rows + CENTRED * together) * d * itemsize + _of_model(model, together, name))


def _largest_block(X: Any, owner: str) -> tuple[int, int, int]:
    chunks = getattr(X, "chunks", None)
    if chunks is None or any(math.isnan(size) for size in chunks[0]):
        raise ValueError(
            f"{owner}: the blocks must have known sizes for estimate_memory: X.compute_chunk_sizes() of an array, "
            "X.to_dask_array(lengths=True) of a data frame."
        )
    return int(max(chunks[0])), int(X.shape[1]), int(X.dtype.itemsize)


def _of_records(model: Any, d: int, itemsize: int, owner: str) -> float:
    """Records of blocks that one task adds."""
    pick = None if model._pick is None else model._pick()
    if pick is not None:
        return FAN_IN * (pick.most + 4 * pick.n_landmarks) * d * itemsize
    if model._fit_graph is not None:
        raise ValueError(
            f"{owner}: estimate_memory does not know what a worker needs for the neighbour graph; a shard has at most "
            "50,000 rows or 256 MB. step='transform' is known once the model is fitted."
        )
    if model._embed_batches is None:
        return 0.0
    pairs = d + 1  # numbers for each column: its products with all others, or with the columns of a narrow block
    return 8.0 * FAN_IN * d * (NARROW if model._in_many_passes(d) else pairs)


def _of_model(model: Any, rows: int, owner: str) -> float:
    """The fitted model, and what it compares so many new rows with."""
    if not any(name.endswith("_") and not name.startswith("_") for name in vars(model)):
        raise ValueError(f"{owner}: estimate_memory(X, step='transform') needs a fitted model; call fit first.")
    fitted = 0 if model._rows is None else model._rows.shape[0]
    return _bytes_of(vars(model), set()) + FITTED * fitted * rows


def _bytes_of(value: Any, seen: set[int]) -> int:
    """Of the arrays in a model, each counted once."""
    if id(value) in seen:
        return 0
    seen.add(id(value))
    if isinstance(value, np.ndarray):
        return int(value.nbytes)
    if sparse.issparse(value):
        return sum(_bytes_of(part, seen) for part in vars(value).values() if isinstance(part, np.ndarray))
    if isinstance(value, dict):
        return sum(_bytes_of(part, seen) for part in value.values())
    if isinstance(value, (list, tuple)):
        return sum(_bytes_of(part, seen) for part in value)
    return _bytes_of(vars(value), seen) if hasattr(value, "__dict__") and not isinstance(value, type) else 0

"""Rows that come in blocks: an iterator of batches, a data set of Arrow (a folder of Parquet files), or Dask.

A stage that reads such rows asks `gather`: a small record of each block, added up. The same stage then serves all
three: the records of batches are added one after the other, those of Dask in a tree, where the blocks are. Blocks of
Arrow and Dask can be read again (`rereadable`) and sampled. Only `dask_blocks` imports Dask, and only when a collection
of Dask is given.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from lowdim._core.streams.arrow_blocks import ArrowBlocks
from lowdim._core.streams.batches import Batches, Remembered, Running
from lowdim._core.streams.mapped_blocks import MappedBlocks, beyond_memory, larger_than_memory
from lowdim._core.streams.structure import checked_block

__all__ = [
    "ArrowBlocks",
    "Batches",
    "MappedBlocks",
    "Remembered",
    "Running",
    "beyond_memory",
    "blocks_of",
    "checked_block",
    "column_names",
    "is_dataset",
    "is_lazy",
    "is_stream",
    "larger_than_memory",
    "placed_lazily",
    "refuse_streams",
]


def is_lazy(X: Any) -> bool:
    """Whether X is a collection of Dask (array, data frame or series); Dask is not imported to find out."""
    return type(X).__module__.partition(".")[0] == "dask" and hasattr(X, "__dask_graph__")


def is_dataset(X: Any) -> bool:
    """Whether X is a data set of Arrow (`pyarrow.dataset.dataset("folder")`)."""
    return type(X).__module__.partition(".")[0] == "pyarrow" and hasattr(X, "count_rows")


def is_stream(X: Any) -> bool:
    """Whether X comes in blocks: an iterator of batches, a data set of Arrow, or a collection of Dask."""
    return isinstance(X, (Iterator, Running)) or is_lazy(X) or is_dataset(X)


def refuse_streams(X: Any, what: str) -> None:
    """TypeError for a collection of Dask or a data set of Arrow where all rows are needed at once, with the way out.

    `what` (owner and name) begins the message. To compute such rows without being asked could fill the memory.
    """
    if is_lazy(X):
        raise TypeError(
            f"{what} must be rows in memory; got a collection of Dask. Compute a sample, and place its rows: "
            "rows = X[::100].compute() of an array, X.sample(frac=0.01).compute() of a data frame; Z = "
            "model.transform(rows)."
        )
    if is_dataset(X):
        raise TypeError(
            f"{what} must be rows in memory; got a pyarrow data set. Take a sample, and place its rows: rows = "
            "X.take(numbers).to_pandas(); Z = model.transform(rows)."
        )


def column_names(X: Any) -> np.ndarray | None:
    """The columns of a data set or data frame whose names are all text; None elsewhere, as scikit-learn has it."""
    names = list(X.schema.names if is_dataset(X) else getattr(X, "columns", ()))
    return np.asarray(names, dtype=object) if names and all(isinstance(name, str) for name in names) else None


def blocks_of(X: Any, owner: str, targets: Any = None) -> Any:
    """The blocks of a stream, in pairs with the blocks of `targets` where Dask is given them."""
    if is_lazy(X):
        from lowdim._core.streams.dask_blocks import DaskBlocks

        return DaskBlocks.of(X, owner, targets)
    if isinstance(X, np.memmap):
        return MappedBlocks(X, owner)
    if is_dataset(X):
        if targets is not None:
            raise ValueError(f"{owner}: targets must be None for a data set of Arrow; give pairs of batches instead.")
        return ArrowBlocks(X, owner)
    return Batches(X, owner)


def placed_lazily(model: Any, method: str, X: Any, names: Any, options: dict[str, Any] | None = None) -> Any:
    """The collection of Dask that holds `model.method(block)` for each block of X, with columns called `names`."""
    from lowdim._core.streams.dask_blocks import mapped

    return mapped(model, method, X, [str(name) for name in names], options or {})

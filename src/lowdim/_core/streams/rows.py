"""Some rows of a block, and blocks put together: arrays, sparse tables and data frames alike."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from scipy import sparse

Array = np.ndarray


def n_rows(block: Any) -> int:
    """Number of rows."""
    return int(block.shape[0]) if hasattr(block, "shape") else len(block)


def within(numbers: Array | None, start: int, stop: int) -> Array | None:
    """Which rows of the block that holds rows start to stop are among the sorted `numbers`; None for all."""
    if numbers is None:
        return None
    first, last = np.searchsorted(numbers, [start, stop])
    return numbers[first:last] - start


def taken(block: Any, at: Array | None) -> Any:
    """These rows of a block; None for all."""
    if at is None:
        return block
    return block.iloc[at] if hasattr(block, "iloc") else block[at]


def stacked(parts: list[Any], owner: str) -> Any:
    """The rows of all parts in one table."""
    parts = [part for part in parts if n_rows(part)]
    if not parts:
        raise ValueError(f"{owner}: X must have rows; got none.")
    if sparse.issparse(parts[0]):
        return sparse.vstack(parts, format="csr")
    if hasattr(parts[0], "iloc"):
        frames: Any = import_module(type(parts[0]).__module__.partition(".")[0])  # pandas, without needing it here
        return frames.concat(parts)
    return np.concatenate([np.asarray(part) for part in parts])

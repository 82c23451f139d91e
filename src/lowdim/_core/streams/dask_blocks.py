"""Collections of Dask: sums over their blocks, samples of their rows, and maps of block to block.

The only module that imports Dask. Blocks are read where they are; what comes back is one small record, a sample of
rows, or nothing before the user asks for it (`mapped`). Sums are added in a tree whose shape depends on the number of
blocks alone, so neither the number of workers nor a lost one changes a bit of them.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import dask
import dask.array as da
import numpy as np
from scipy import sparse

Array = np.ndarray

FAN_IN = 8  # records that one task adds: a worker holds this many at most


@dataclass(frozen=True, eq=False)
class DaskBlocks:
    """Blocks of whole rows as delayed objects, in order, with the blocks of targets where there are any.

    Examples
    --------
    >>> import dask.array as da
    >>> DaskBlocks.of(da.ones((10, 3), chunks=(4, 2)), "PCA").gather(len)
    10
    """

    rows: list[Any]
    targets: list[Any] | None
    owner: str

    @classmethod
    def of(cls, X: Any, owner: str, targets: Any = None) -> DaskBlocks:
        """The blocks of X; `targets` may be a collection of Dask or an array."""
        if X.ndim != 2:
            raise ValueError(f"{owner}: X must have rows and columns; got {X.ndim} dimension(s).")
        rows = _blocks(X)
        return cls(rows, None if targets is None else _beside(targets, X, len(rows), owner), owner)

    def gather(self, of: Callable[[Any], Any]) -> Any:
        """The sum of `of(block)` (of `of((block, targets))` where there are targets); None where there are no rows."""
        once = dask.delayed(_of_block, pure=False)
        pairs = zip(self.rows, self.targets or [None] * len(self.rows), strict=True)
        parts = [once(of, block, target, self.targets is not None) for block, target in pairs]
        return _computed(_tree(parts))

    def counts(self) -> Array:
        """Rows of each block."""
        count = dask.delayed(_length, pure=False)
        return np.array(_computed([count(block) for block in self.rows]), dtype=np.int64)

    def sample(self, most: int, rng: np.random.Generator) -> tuple[Array | None, Any, Any]:
        """Numbers, rows and targets of at most so many rows, drawn without replacement, in their order.

        The numbers are None where these are all rows. Which rows are drawn does not depend on how they are chunked.
        """
        counts = self.counts()
        n, numbers = int(counts.sum()), None
        if n > most:
            numbers = np.sort(rng.choice(n, most, replace=False))
        ends = np.cumsum(counts)
        here = [_within(numbers, end - count, end) for count, end in zip(counts, ends, strict=True)]
        return numbers, self._taken(self.rows, here), self.targets and self._taken(self.targets, here)

    def _taken(self, blocks: list[Any], here: list[Array | None]) -> Any:
        take = dask.delayed(_take, pure=False)
        wanted = [(block, at) for block, at in zip(blocks, here, strict=True) if at is None or len(at)]
        parts = [part for part in _computed([take(block, at) for block, at in wanted]) if _length(part)]
        if not parts:
            raise ValueError(f"{self.owner}: X must have rows; got none.")
        return _stacked(parts)


def mapped(model: Any, method: str, X: Any, names: list[str], options: dict[str, Any]) -> Any:
    """`model.method(block)` for each block of X, computed when it is asked for.

    An array of Dask for an array, a data frame with the index of X for a data frame. Each worker uses one thread of
    ours, as Dask runs several blocks at once; results do not depend on it.
    """
    shipped = copy.copy(model)
    if hasattr(shipped, "n_jobs"):
        shipped.n_jobs = 1
    dtype = np.dtype(np.float32) if getattr(X, "dtype", None) == np.float32 else np.dtype(np.float64)
    if hasattr(X, "map_partitions") and hasattr(X, "columns"):
        import pandas as pd

        form = {name: pd.Series(dtype=_frame_dtype(X)) for name in names}
        meta = pd.DataFrame(form, index=X._meta.index)
        return X.map_partitions(_placed_frame, shipped, method, names, options, meta=meta)
    X = X.rechunk({1: -1})
    return X.map_blocks(
        _placed, shipped, method, len(names), options,
        dtype=dtype, chunks=(X.chunks[0], (len(names),)), meta=np.empty((0, 0), dtype),
    )  # fmt: skip


def from_rows(Z: Array, X: Any) -> Any:
    """An array in memory in the row chunks of X."""
    return da.from_array(Z, chunks=(X.chunks[0], Z.shape[1]))


def _frame_dtype(X: Any) -> np.dtype:
    return np.dtype(np.float32) if {np.dtype(t) for t in X.dtypes if isinstance(t, np.dtype)} == {
        np.dtype(np.float32)
    } and len(X.dtypes) else np.dtype(np.float64)


def _placed(block: Any, model: Any, method: str, width: int, options: dict[str, Any]) -> Array:
    if _length(block) == 0:
        return np.empty((0, width), getattr(block, "dtype", np.float64))
    return np.asarray(getattr(model, method)(block, **options))


def _placed_frame(part: Any, model: Any, method: str, names: list[str], options: dict[str, Any]) -> Any:
    import pandas as pd

    Z = np.empty((0, len(names))) if len(part) == 0 else np.asarray(getattr(model, method)(part, **options))
    return pd.DataFrame(Z, index=part.index, columns=names)


def _blocks(X: Any) -> list[Any]:
    """Delayed blocks of whole rows."""
    if not hasattr(X, "rechunk"):  # a data frame: its partitions
        return list(X.to_delayed())
    whole = X.rechunk({1: -1}) if X.ndim == 2 and len(X.chunks[1]) > 1 else X
    return list(whole.to_delayed().ravel())


def _beside(targets: Any, X: Any, n_blocks: int, owner: str) -> list[Any]:
    """The targets in the blocks of X."""
    known = hasattr(X, "chunks") and not any(math.isnan(size) for size in X.chunks[0])
    if not hasattr(targets, "__dask_graph__"):
        if not known:
            raise ValueError(
                f"{owner}: the blocks of X have unknown sizes, so an array of targets cannot be cut into them. Pass the "
                "targets as a collection of Dask with the same partitions, or call X.compute_chunk_sizes() first."
            )
        values = np.asarray(targets)
        if len(values) != X.shape[0]:
            raise ValueError(f"{owner}: X and the targets must have as many rows; got {X.shape[0]} and {len(values)}.")
        borders = np.cumsum([0, *X.chunks[0]])
        return [values[start:stop] for start, stop in zip(borders[:-1], borders[1:], strict=True)]
    if known and hasattr(targets, "rechunk") and not any(math.isnan(size) for size in targets.chunks[0]):
        if targets.shape[0] != X.shape[0]:
            raise ValueError(
                f"{owner}: X and the targets must have as many rows; got {X.shape[0]} and {targets.shape[0]}."
            )
        targets = targets.rechunk({0: X.chunks[0]})
    blocks = _blocks(targets)
    if len(blocks) != n_blocks:
        raise ValueError(f"{owner}: X and the targets must have as many blocks; got {n_blocks} and {len(blocks)}.")
    return blocks


def _tree(parts: list[Any]) -> Any:
    add = dask.delayed(_sum, pure=False)
    while len(parts) > 1:
        parts = [add(parts[i : i + FAN_IN]) for i in range(0, len(parts), FAN_IN)]
    return parts[0]


def _computed(found: Any) -> Any:
    return dask.compute(found)[0]


def _of_block(of: Callable[[Any], Any], block: Any, target: Any, paired: bool) -> Any:
    """None for a block without rows, as filters leave them."""
    if paired and _length(target) != _length(block):
        raise ValueError(f"a block of X has {_length(block)} rows and that of the targets {_length(target)}.")
    return None if _length(block) == 0 else of((block, target) if paired else block)


def _sum(parts: list[Any]) -> Any:
    total = None
    for part in parts:
        if part is not None:
            total = part if total is None else total + part
    return total


def _length(block: Any) -> int:
    return int(block.shape[0]) if hasattr(block, "shape") else len(block)


def _within(numbers: Array | None, start: int, stop: int) -> Array | None:
    """Which rows of a block are among the drawn ones; None for all."""
    if numbers is None:
        return None
    first, last = np.searchsorted(numbers, [start, stop])
    return numbers[first:last] - start


def _take(block: Any, at: Array | None) -> Any:
    if at is None:
        return block
    return block.iloc[at] if hasattr(block, "iloc") else block[at]


def _stacked(parts: list[Any]) -> Any:
    if sparse.issparse(parts[0]):
        return sparse.vstack(parts, format="csr")
    if hasattr(parts[0], "iloc"):
        import pandas as pd

        return pd.concat(parts)
    return np.concatenate([np.asarray(part) for part in parts])

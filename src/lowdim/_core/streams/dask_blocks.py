"""Collections of Dask: sums over their blocks, samples of their rows, and maps of block to block.

The only module that imports Dask. Blocks are read where they are; what comes back is one small record, a sample of
rows, or nothing before the user asks for it (`mapped`). Sums are added in a tree whose shape depends on the number of
blocks alone, so neither the number of workers nor a lost one changes a bit of them.
"""

from __future__ import annotations

import contextlib
import copy
import itertools
import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import dask
import dask.array as da
import numpy as np

from lowdim._core.runtime import memory
from lowdim._core.streams.rows import n_rows, stacked, taken, within
from lowdim._core.streams.structure import checked_block

Array = np.ndarray
_Whole = tuple[str, int | None]  # owner and, where known, number of columns of the table that a block belongs to

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

    rereadable: ClassVar[bool] = True

    rows: list[Any]
    targets: list[Any] | None
    width: int
    owner: str
    sizes: tuple[int, ...] | None = None  # rows of each block, where the collection knows them

    @classmethod
    def of(cls, X: Any, owner: str, targets: Any = None) -> DaskBlocks:
        """The blocks of X; `targets` may be a collection of Dask or an array."""
        if X.ndim != 2:
            raise ValueError(f"{owner}: X must have rows and columns; got {X.ndim} dimension(s).")
        rows = _blocks(X)
        beside = None if targets is None else _beside(targets, X, len(rows), owner)
        return cls(rows, beside, int(X.shape[1]), owner, _sizes(X))

    def gather(self, of: Callable[..., Any], *, numbered: bool = False) -> Any:
        """The sum of `of(block)` (of `of((block, targets))` where there are targets); None where there are no rows.

        With `numbered`, `of` is also given the number of the first row of the block.
        """
        once, shared = dask.delayed(_of_block, pure=False), dask.delayed(of, pure=False, traverse=False)
        starts = self.starts() if numbered else [None] * len(self.rows)
        blocks = zip(self.rows, self.targets or [None] * len(self.rows), starts, strict=True)
        paired = self.targets is not None
        parts = [once(shared, block, target, paired, start, self._whole) for block, target, start in blocks]
        return _computed(_tree(parts))

    @property
    def _whole(self) -> _Whole:
        return self.owner, self.width

    def counts(self) -> Array:
        """Rows of each block; blocks of unknown size are read for it."""
        if self.sizes is not None:
            return np.array(self.sizes, dtype=np.int64)
        count = dask.delayed(n_rows, pure=False)
        return np.array(_computed([count(block) for block in self.rows]), dtype=np.int64)

    def starts(self) -> list[int]:
        """The number of the first row of each block."""
        return [0, *np.cumsum(self.counts())[:-1].tolist()]

    def each(self, rng: np.random.Generator) -> Iterator[tuple[int, Any]]:
        """Every block with rows, with the number of its first row, in a random order: one at a time comes here."""
        starts = self.starts()
        for i in rng.permutation(len(self.rows)).tolist():
            block = checked_block(_computed(self.rows[i]), *self._whole)
            if n_rows(block):
                yield starts[i], block

    def counted(self) -> DaskBlocks:
        """The same blocks with their sizes, so that they are counted once."""
        return replace(self, sizes=tuple(self.counts().tolist()))

    def n_rows(self) -> int:
        """Rows of all blocks."""
        return int(self.counts().sum())

    def in_rows(self, Z: Array) -> Any:
        """An array in memory as an array of Dask with the rows of these blocks."""
        return da.from_array(Z, chunks=(tuple(int(count) for count in self.counts()), Z.shape[1]))

    def sample(self, most: int, rng: np.random.Generator) -> tuple[Array | None, Any, Any]:
        """Numbers, rows and targets of at most so many rows, drawn without replacement, in their order.

        The numbers are None where these are all rows. Which rows are drawn does not depend on how they are chunked.
        """
        counted = self.counted()
        n, numbers = counted.n_rows(), None
        if n > most:
            numbers = np.sort(rng.choice(n, most, replace=False))
        return numbers, *counted.at(numbers)

    def at(self, numbers: Array | None) -> tuple[Any, Any]:
        """The rows with these sorted numbers (None: all of them) and their targets."""
        counts = self.counts()
        ends = np.cumsum(counts)
        here = [within(numbers, end - count, end) for count, end in zip(counts, ends, strict=True)]
        beside = self.targets and self._taken(self.targets, here, (self.owner, None))
        return self._taken(self.rows, here, self._whole), beside

    def in_shards(self, route: Callable[[Any], Array], n_shards: int, of: Callable[[Array, Any], Any]) -> list[Any]:
        """`of(numbers, rows)` for each shard with rows: those for which `route(block)`, of shape (rows, c), names it.

        As many shards are put together at a time as fit a quarter of the memory; for each group the blocks are read.
        """
        route, of = (dask.delayed(function, pure=False, traverse=False) for function in (route, of))
        cut, join = dask.delayed(_cut, pure=False), dask.delayed(_joined, pure=False)
        starts, found = self.starts(), []
        each = 2 * 8 * self.width * self.n_rows() / n_shards
        together = max(1, min(n_shards, int(memory_of_workers() / 4 / max(1.0, each))))
        for first in range(0, n_shards, together):
            here = range(first, min(first + together, n_shards))
            pieces = [
                cut(route, block, start, here, self._whole) for block, start in zip(self.rows, starts, strict=True)
            ]
            shards = [join(of, [piece[at] for piece in pieces], self.owner) for at in range(len(here))]
            found += [shard for shard in _computed(shards) if shard is not None]
        return found

    def _taken(self, blocks: list[Any], here: list[Array | None], whole: _Whole) -> Any:
        take = dask.delayed(_taken_from, pure=False)
        wanted = [(block, at) for block, at in zip(blocks, here, strict=True) if at is None or len(at)]
        return stacked(_computed([take(block, at, whole) for block, at in wanted]), self.owner)


def memory_of_workers() -> float:
    """Bytes of memory of all workers of the cluster in use; without one, of this machine."""
    client = getattr(sys.modules.get("distributed"), "default_client", None)
    if client is not None:
        with contextlib.suppress(ValueError):  # there is none
            workers = client().scheduler_info(n_workers=-1)["workers"].values()
            return float(sum(worker["memory_limit"] for worker in workers)) or memory.limit()
    return memory.limit()


def mapped(model: Any, method: str, X: Any, names: list[str], options: dict[str, Any]) -> Any:
    """`model.method(block)` for each block of X, computed when it is asked for.

    An array of Dask for an array, a data frame with the index of X for a data frame. Each worker uses one thread of
    ours, as Dask runs several blocks at once; results do not depend on it.
    """
    shipped = copy.copy(model)
    if hasattr(shipped, "n_jobs"):
        shipped.n_jobs = 1
    if hasattr(X, "columns"):
        meta = _frame(X._meta, np.empty((0, len(names)), _frame_dtype(X)), names)
        return X.map_partitions(_placed_frame, shipped, method, names, options, meta=meta)
    dtype = np.dtype(np.float32 if X.dtype == np.float32 else np.float64)
    X = X.rechunk({1: -1})
    return X.map_blocks(
        _placed, shipped, method, len(names), options,
        dtype=dtype, chunks=(X.chunks[0], (len(names),)), meta=np.empty((0, 0), dtype),
    )  # fmt: skip


def _frame_dtype(X: Any) -> np.dtype:
    """Single precision where all columns have it."""
    return np.dtype(np.float32 if all(kind == np.float32 for kind in X.dtypes) else np.float64)


def _placed(block: Any, model: Any, method: str, width: int, options: dict[str, Any]) -> Array:
    if n_rows(block) == 0:
        return np.empty((0, width), getattr(block, "dtype", np.float64))
    return np.asarray(getattr(model, method)(block, **options))


def _placed_frame(part: Any, model: Any, method: str, names: list[str], options: dict[str, Any]) -> Any:
    Z = np.empty((0, len(names))) if len(part) == 0 else np.asarray(getattr(model, method)(part, **options))
    return _frame(part, Z, names)


def _frame(like: Any, Z: Array, names: list[str]) -> Any:
    """A data frame of the kind and with the index of another."""
    return type(like)(Z, index=like.index, columns=names)


def _blocks(X: Any) -> list[Any]:
    """Delayed blocks of whole rows."""
    if not hasattr(X, "rechunk"):  # a data frame: its partitions
        return list(X.to_delayed())
    whole = X.rechunk({1: -1}) if X.ndim == 2 and len(X.chunks[1]) > 1 else X
    return list(whole.to_delayed().ravel())


def _sizes(X: Any) -> tuple[int, ...] | None:
    """Rows of each block, where the collection knows them."""
    known = hasattr(X, "chunks") and not any(math.isnan(size) for size in X.chunks[0])
    return tuple(int(size) for size in X.chunks[0]) if known else None


def _beside(targets: Any, X: Any, n_blocks: int, owner: str) -> list[Any]:
    """The targets in the blocks of X."""
    known = _sizes(X) is not None
    if not hasattr(targets, "__dask_graph__"):
        if not known:
            raise ValueError(
                f"{owner}: the blocks of X have unknown sizes, so an array of targets cannot be cut into them. Pass "
                "the targets as a collection of Dask with the same partitions, or call X.compute_chunk_sizes() first."
            )
        values = np.asarray(targets)
        if len(values) != X.shape[0]:
            raise ValueError(f"{owner}: X and the targets must have as many rows; got {X.shape[0]} and {len(values)}.")
        borders = np.cumsum([0, *X.chunks[0]])
        return [values[start:stop] for start, stop in itertools.pairwise(borders)]
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


def _of_block(of: Callable[..., Any], block: Any, target: Any, paired: bool, start: int | None, whole: _Whole) -> Any:
    """None for a block without rows, as filters leave them."""
    checked_block(block, *whole)
    if paired and n_rows(target) != n_rows(block):
        raise ValueError(f"a block of X has {n_rows(block)} rows and that of the targets {n_rows(target)}.")
    if n_rows(block) == 0:
        return None
    given = (block, target) if paired else block
    return of(given) if start is None else of(given, start)


def _cut(route: Callable[[Any], Array], block: Any, start: int, shards: range, whole: _Whole) -> list[Any]:
    """Numbers and rows of a block for each of some shards."""
    checked_block(block, *whole)
    if n_rows(block) == 0:
        return [None] * len(shards)
    where = route(block)
    rows = [np.flatnonzero((where == shard).any(axis=1)) for shard in shards]
    return [(at + start, taken(block, at)) if len(at) else None for at in rows]


def _joined(of: Callable[[Array, Any], Any], pieces: list[Any], owner: str) -> Any:
    """What is asked of a shard, from its pieces in the order of the blocks; None of an empty one."""
    pieces = [piece for piece in pieces if piece is not None]
    if not pieces:
        return None
    return of(np.concatenate([numbers for numbers, _ in pieces]), stacked([rows for _, rows in pieces], owner))


def _taken_from(block: Any, at: Array | None, whole: _Whole) -> Any:
    return taken(checked_block(block, *whole), at)


def _sum(parts: list[Any]) -> Any:
    total = None
    for part in parts:
        if part is not None:
            total = part if total is None else total + part
    return total

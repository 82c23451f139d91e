"""Training by mini-batches of rows that are read block by block, once for each epoch.

Blocks are read in another order in each epoch; the rows of several are mixed before they are cut into mini-batches, so
that a table which is sorted by something is not learnt in that order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from lowdim._core.runtime import memory
from lowdim._core.runtime.rng import generator
from lowdim._core.streams import beyond_memory, is_lazy, is_stream
from lowdim.latent.networks._rows import DIGITS, Scaling
from lowdim.latent.networks._train import SMALL, Trainer
from lowdim.latent.networks.in_blocks.sums import ColumnSums, dense

Array = np.ndarray
MIXED = 2**27  # bytes of rows that are mixed


@dataclass(frozen=True, eq=False)
class InBlocks:
    """The blocks of a training, the numbers of the rows of its sample, and sums over all rows."""

    blocks: Any
    numbers: Array
    sums: ColumnSums


class BlockTrainer(Trainer):
    """A training whose rows are those of a sample for all but the mini-batches.

    The sample has the held-out rows, which no mini-batch has.
    """

    def __init__(self, *given: Any, rows: InBlocks, scaling: Scaling) -> None:
        super().__init__(*given)
        self.source, self.scaling = rows, scaling
        self.held_numbers = np.sort(rows.numbers[self.order[self.held_rows]])
        self.n_trained = rows.sums.n - len(self.held_numbers)
        if rows.sums.n * len(rows.sums.mean) > SMALL and self.dtype == np.float64:
            self.dtype = np.float32
            self.X, self.X_held = self.X.float(), self.X_held.float()

    def batches(self) -> Iterator[Any]:
        """Mini-batches of all rows but those held out; the last may be smaller."""
        size, pool, waiting = self.training.batch_size, [], 0
        width = len(self.source.sums.mean)
        for start, block in self.source.blocks.each(self.rng):
            pool.append(self._scaled(block, start))
            waiting += len(pool[-1])
            if waiting * width * np.dtype(self.dtype).itemsize >= MIXED:
                mixed = self._mixed(pool)
                whole = len(mixed) // size * size
                yield from (self.tensor(mixed[i : i + size]) for i in range(0, whole, size))
                pool, waiting = [mixed[whole:]], len(mixed) - whole
        if waiting:
            mixed = self._mixed(pool)
            yield from (self.tensor(mixed[i : i + size]) for i in range(0, len(mixed), size))

    def _scaled(self, block: Any, start: int) -> Array:
        rows = dense(block)
        held = self.held_numbers[slice(*np.searchsorted(self.held_numbers, [start, start + len(rows)]))] - start
        rows = np.delete(rows, held, axis=0) if len(held) else rows
        return np.round(self.scaling(rows.astype(np.float64)), DIGITS).astype(self.dtype)

    def _mixed(self, pool: list[Array]) -> Array:
        rows = np.concatenate(pool)
        return rows[self.rng.permutation(len(rows))]


class TrainsBlocks:
    """A part of `Reducer`: trained on all rows of blocks that can be read again, if they are more than a sample.

    The embedding, and what is said about errors, are those of the sample; so is the fit where cells are missing.
    """

    _blocks: Any = None  # during a fit: the record `InBlocks`
    _fit_table: Any
    _needs: Any
    transform: Any

    def _comes_in_blocks(self, X: Any) -> bool:
        """Whether X is a stream, or a mapped file of which a fit would need more than the memory limit."""
        return is_stream(X) or beyond_memory(X, self._needs)

    def _fit_sample(self, X: Any, blocks: Any, target: str) -> Any:
        if getattr(self, "solver", "auto") == "lbfgs":
            return super()._fit_sample(X, blocks, target)  # type: ignore[misc]
        seed = generator(getattr(self, "random_state", None)).integers(2**62)
        numbers, rows, _ = blocks.sample(memory.sample_rows(), generator(int(seed)))
        sums = None if numbers is None else blocks.gather(ColumnSums.of)
        if sums is None or sums.missing:
            return super()._fit_sample(X, blocks, target)  # type: ignore[misc]
        self._blocks = InBlocks(blocks, numbers, sums)
        try:
            self._fit_table(rows)
        finally:
            del self._blocks
        self.sample_indices_ = numbers
        return self.transform(X) if is_lazy(X) else None

    def _scaling_of(self, X: Array, columns: bool) -> Scaling:
        """Of all rows."""
        return Scaling.of(X, columns) if self._blocks is None else self._blocks.sums.scaling(columns)

    def _reading(self, scaling: Scaling) -> dict[str, Any]:
        """The trainer of `train`, where rows are read in blocks."""
        if self._blocks is None:
            return {}
        source = self._blocks
        return {"trainer": lambda *given: BlockTrainer(*given, rows=source, scaling=scaling)}

"""Data sets of Arrow, such as a folder of Parquet files: read batch by batch, as often as a method asks.

Nothing of pyarrow is imported: its record batches make their own data frames.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from lowdim._core.streams.batches import Batches
from lowdim._core.streams.rows import stacked, taken, within

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class ArrowBlocks:
    """The record batches of a data set as data frames."""

    rereadable: ClassVar[bool] = True

    dataset: Any
    owner: str

    @property
    def width(self) -> int:
        """Number of columns."""
        return len(self.dataset.schema.names)

    def gather(self, of: Callable[..., Any], *, numbered: bool = False) -> Any:
        """The sum of `of(frame)` over the batches that have rows; None where there are none.

        With `numbered`, `of` is also given the number of the first row of the batch.
        """
        return Batches(self._frames()).gather(of, numbered=numbered)

    def n_rows(self) -> int:
        """Rows of the data set."""
        return int(self.dataset.count_rows())

    def counted(self) -> ArrowBlocks:
        """Itself: a data set knows how many rows it has."""
        return self

    def each(self, rng: np.random.Generator) -> Iterator[tuple[int, Any]]:
        """Every batch with the number of its first row; the files, or parts of a table, in a random order."""
        parts = list(self.dataset.get_fragments())
        starts = np.cumsum([0, *(part.count_rows() for part in parts)])
        for i in rng.permutation(len(parts)).tolist():
            start = int(starts[i])
            for batch in parts[i].to_batches(schema=self.dataset.schema):
                if batch.num_rows:
                    yield start, batch.to_pandas()
                start += batch.num_rows

    def at(self, numbers: Array | None) -> tuple[Any, None]:
        """The rows with these sorted numbers (None: all); no targets."""
        parts, start = [], 0
        for frame in self._frames():
            parts.append(taken(frame, within(numbers, start, start + len(frame))))
            start += len(frame)
        return stacked(parts, self.owner), None

    def sample(self, most: int, rng: np.random.Generator) -> tuple[Array | None, Any, None]:
        """Numbers and rows of at most so many rows, drawn without replacement, in their order; no targets.

        The numbers are None where these are all rows.
        """
        n = self.n_rows()
        numbers = np.sort(rng.choice(n, most, replace=False)) if n > most else None
        return numbers, *self.at(numbers)

    def _frames(self) -> Iterator[Any]:
        return (batch.to_pandas() for batch in self.dataset.to_batches() if batch.num_rows)

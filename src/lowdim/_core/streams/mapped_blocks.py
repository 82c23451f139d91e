"""Arrays in files that are mapped into memory (`numpy.load(path, mmap_mode="r")`), block by block."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from lowdim._core.runtime import memory
from lowdim._core.streams.batches import Batches

Array = np.ndarray
BLOCK = 2**25  # bytes


def beyond_memory(X: Any, needs: Callable[[Any], dict[str, int]]) -> bool:
    """Whether X is a mapped file of more rows than a sample, of which a fit would need more than the memory limit.

    `needs` gives the parts of what a fit takes.
    """
    mapped = isinstance(X, np.memmap) and X.ndim == 2 and X.dtype.kind in "biuf"
    return mapped and len(X) > memory.sample_rows() and sum(needs(X).values()) > memory.limit()


def larger_than_memory(X: Any) -> bool:
    """Whether X is a mapped file of rows with more bytes than the memory limit: each pass over it reads the disk."""
    return isinstance(X, np.memmap) and X.ndim == 2 and X.dtype.kind in "biuf" and X.nbytes > memory.limit()


@dataclass(frozen=True, eq=False)
class MappedBlocks:
    """Blocks of rows that are copied out of the file when they are read, so that its pages need not stay.

    Examples
    --------
    >>> MappedBlocks(np.ones((10, 3)), "Isomap").gather(len)
    10
    """

    rereadable: ClassVar[bool] = True

    array: Array
    owner: str

    @property
    def width(self) -> int:
        """Number of columns."""
        return int(self.array.shape[1])

    def gather(self, of: Callable[..., Any], *, numbered: bool = False) -> Any:
        """The sum of `of(block)` over the blocks; with `numbered`, `of` is given the number of the first row too."""
        return Batches(self._blocks(), self.owner).gather(of, numbered=numbered)

    def sample(self, most: int, rng: np.random.Generator) -> tuple[Array | None, Array, None]:
        """Numbers and rows of at most so many rows, drawn without replacement, in their order; no targets.

        The numbers are None where these are all rows.
        """
        n = len(self.array)
        numbers = np.sort(rng.choice(n, most, replace=False)) if n > most else None
        return numbers, np.array(self.array if numbers is None else self.array[numbers]), None

    def each(self, rng: np.random.Generator) -> Iterator[tuple[int, Array]]:
        """Every block with the number of its first row, in a random order."""
        size = self._size
        for start in (rng.permutation(-(-len(self.array) // size)) * size).tolist():
            yield start, np.array(self.array[start : start + size])

    @property
    def _size(self) -> int:
        return max(1, BLOCK // max(1, self.array.itemsize * self.width))

    def _blocks(self) -> Iterator[Array]:
        size = self._size
        return (np.array(self.array[start : start + size]) for start in range(0, len(self.array), size))

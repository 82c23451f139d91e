"""An iterator of batches, read once in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from lowdim._core.streams.rows import n_rows
from lowdim._core.streams.structure import checked_block

S = TypeVar("S")


class Batches:
    """Batches of rows, alone or in pairs with their targets.

    Parameters
    ----------
    batches : iterable
        Read once.
    owner : str
        Whose they are, for errors.

    Examples
    --------
    >>> Batches([[1, 2], [3]]).gather(len)
    3
    """

    rereadable = False

    def __init__(self, batches: Iterable[Any], owner: str = "Batches") -> None:
        self._batches, self._owner = batches, owner

    def gather(self, of: Callable[..., S], *, numbered: bool = False) -> S | None:
        """The sum of `of(batch)` over the batches, the first on the left; None where there is none.

        With `numbered`, `of` is also given the number of the first row of the batch.
        """
        total: Any = None
        start = 0
        for batch in self._batches:
            checked_block(batch, self._owner)
            part = of(batch, start) if numbered else of(batch)
            total = part if total is None else total + part
            start += n_rows(batch) if numbered else 0
        return total


class Remembered:
    """Blocks that remember the first sum that was gathered from them.

    Parameters
    ----------
    blocks : Batches, ArrowBlocks, DaskBlocks or MappedBlocks
        The blocks.

    Examples
    --------
    >>> blocks = Remembered(Batches([[1, 2], [3]]))
    >>> blocks.gather(len), blocks.total
    (3, 3)
    """

    def __init__(self, blocks: Any) -> None:
        self._blocks = blocks
        self._found: list[Any] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._blocks, name)

    def gather(self, of: Callable[..., Any], **options: Any) -> Any:
        """As the blocks do."""
        self._found.append(self._blocks.gather(of, **options))
        return self._found[-1]

    @property
    def total(self) -> Any:
        """The first sum; None where it is not one that a batch more can be added to."""
        first = self._found[0] if self._found else None
        return first if len(self._found) == 1 or getattr(first, "goes_on", False) else None


class Running:
    """One batch, and the sum of those before it: a stage that gathers it has read them all.

    Parameters
    ----------
    batch : Any
        The new batch, or the pair of it and its targets.
    before : record or None
        The sum of the earlier ones; it is not changed.

    Examples
    --------
    >>> running = Running([1, 2], 3)
    >>> running.gather(len), running.total
    (5, 5)
    """

    rereadable = False

    def __init__(self, batch: Any, before: Any) -> None:
        self._batch, self._before = batch, before
        self.total: Any = None

    def gather(self, of: Callable[[Any], Any]) -> Any:
        """The sum of the earlier batches and of `of(batch)`."""
        part = of(self._batch)
        self.total = part if self._before is None else self._before + part
        return self.total

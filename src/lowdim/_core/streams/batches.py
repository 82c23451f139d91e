"""An iterator of batches, read once in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

S = TypeVar("S")


class Batches:
    """Batches of rows, alone or in pairs with their targets.

    Parameters
    ----------
    batches : iterable
        Read once.

    Examples
    --------
    >>> Batches([[1, 2], [3]]).gather(len)
    3
    """

    rereadable = False

    def __init__(self, batches: Iterable[Any]) -> None:
        self._batches = batches

    def gather(self, of: Callable[[Any], S]) -> S | None:
        """The sum of `of(batch)` over the batches, the first on the left; None where there is none."""
        total: Any = None
        for batch in self._batches:
            part = of(batch)
            total = part if total is None else total + part
        return total

"""A comparison of rows that were drawn from more: from a collection of Dask, a data set of Arrow or a large file."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from lowdim._core import streams
from lowdim._core.runtime import memory
from lowdim._core.runtime.rng import generator
from lowdim.study.columns.given import as_table

SHOWN = 20  # rows that make a group visible


@dataclass(frozen=True, eq=False)
class Drawn:
    """Rows drawn at random, each with the same chance.

    Attributes
    ----------
    n_all : int
        How many there are.
    n : int
        How many were drawn.
    rows : ndarray of int or None
        Their numbers, from 0, in their order; None where the rows of the comparison know them.
    placed : tuple of str
        The methods that place all other rows.
    left : dict of str to str
        The methods that cannot, with the reason.
    where : str
        Where these places are found.
    """

    n_all: int
    n: int
    rows: np.ndarray | None = None
    placed: tuple[str, ...] = ()
    left: dict[str, str] = field(default_factory=dict)
    where: str = ""

    @property
    def least(self) -> int:
        """Rows of a group of which so many are expected among those drawn that it can be seen."""
        return math.ceil(SHOWN * self.n_all / self.n)


def rows_in_memory(X: Any, y: Any, seed: int, distances: bool, **given: Any) -> tuple[Any, Any, Drawn | None]:
    """Of a collection of Dask or a data set of Arrow: random rows with their labels, and how they were drawn.

    Anything else is the table it is. `given` holds arguments with a value for each row, which cannot be drawn.
    """
    if not (streams.is_lazy(X) or streams.is_dataset(X)):
        return as_table(X, "compare"), y, None
    if distances:
        streams.refuse_streams(X, "compare: distances")
    for name, value in given.items():
        if value is not None and not isinstance(value, (str, int)):
            raise TypeError(f"compare: {name} must not have a value for each row where rows are drawn; got {value!r}.")
    blocks = streams.blocks_of(X, "compare", None if isinstance(y, str) else y)
    n_all = blocks.n_rows()
    numbers, rows, targets = blocks.sample(memory.sample_rows(), generator(seed))
    drawn = None if numbers is None else Drawn(n_all, len(numbers), numbers)
    if hasattr(rows, "iloc") and rows.index.dtype.kind in "iu":  # numbers, which begin again in each block
        rows = rows.reset_index(drop=True)
    return as_table(rows, "compare"), y if targets is None else np.asarray(targets), drawn


def numbered(drawn: Drawn | None, rows: np.ndarray | None, n: int) -> np.ndarray | None:
    """The numbers of the rows of a comparison in the whole table; `rows` are those among the rows drawn."""
    if drawn is None or drawn.rows is None:
        return rows
    return drawn.rows[np.arange(n) if rows is None else rows]


def with_places(drawn: Drawn | None, outcomes: Iterable[Any], where: str) -> Drawn | None:
    """The same rows, and which of the fitted methods place the others; `where` says where they are found."""
    if drawn is None:
        return None
    estimators = {one.name: one.estimator for one in outcomes if one.embedding is not None}
    reasons = {name: can_place(estimator) for name, estimator in estimators.items()}
    placed = tuple(name for name, reason in reasons.items() if reason is None)
    left = {name: reason for name, reason in reasons.items() if reason is not None and name != "random"}
    return replace(drawn, placed=placed, left=left, where=where)


def can_place(estimator: Any) -> str | None:
    """None if a fitted method places new rows, else the reason."""
    if not hasattr(estimator, "transform") or not getattr(estimator, "needs_rows", True):
        return "it has no model of new rows"
    if not any(name.endswith("_") and not name.startswith("_") for name in vars(estimator)):
        return "its map was made by an earlier run, without the model"
    if not getattr(estimator, "_places_rows", True):
        return "a map of distances or affinities alone"
    return None

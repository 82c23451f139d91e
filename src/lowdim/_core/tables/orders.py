"""Columns of ordered categories: those of data frames, by their type, and how to make them."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np

from lowdim._core.tables.columns import UNSEEN, is_frame

Levels = tuple[str, ...]


def orders_of(X: Any) -> list[Levels | None]:
    """The levels of each column in their order, lowest first; None for a column without an order.

    Ordered are the ordered categories of pandas and the type Enum of polars, of text.
    """
    if not is_frame(X):
        return [None] * int(np.shape(X)[1])
    return [_levels(kind) for kind in list(X.dtypes)]


def _levels(kind: Any) -> Levels | None:
    ordered = bool(getattr(kind, "ordered", False)) or type(kind).__name__ == "Enum"
    if not ordered:
        return None
    levels = list(kind.categories)
    return tuple(levels) if levels and all(isinstance(level, str) for level in levels) else None


def ordered_column(frame: type, values: Sequence[Any], levels: Levels) -> Any:
    """A column of ordered categories, of the library that this class of data frames comes from."""
    library = import_module(frame.__module__.partition(".")[0])
    if hasattr(library, "Enum"):
        return library.Series(list(values), dtype=library.Enum(list(levels)))
    return library.Categorical(list(values), categories=list(levels), ordered=True)


def check_levels(coded: np.ndarray, column: np.ndarray, levels: Levels, name: str, owner: str) -> None:
    """An error for a value that is none of the levels: it has no place in their order."""
    strange = coded == UNSEEN
    if strange.any():
        raise ValueError(
            f"{owner}: column {name} must hold one of its ordered values ({', '.join(levels)}); got "
            f"{column[int(strange.argmax())]!r}."
        )

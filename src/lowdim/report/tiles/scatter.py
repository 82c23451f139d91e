"""What tiles are made of: maps of the same rows, their colours, names and texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True, eq=False)
class Places:
    """One map: two coordinates for each row, NaN where a row has no place; `flat` maps have one component."""

    name: str
    xy: np.ndarray
    flat: bool = False


@dataclass(frozen=True, eq=False)
class Colour:
    """A quantity (NaN: unknown), or classes with the code of each row (-1: none), to colour maps by.

    `only` names the map it belongs to, such as the quality of each row in it; None: all maps.
    """

    name: str
    values: np.ndarray
    classes: Sequence[str] | None = None
    only: str | None = None


@dataclass(frozen=True, eq=False)
class Scatter:
    """Maps of the same rows.

    Attributes
    ----------
    title : str
        The heading of the page.
    maps : sequence of Places
        The maps, the first to be seen first.
    numbers : ndarray of int
        The number shown for each row.
    colours : sequence of Colour
        What maps can be coloured by; the page opens with the first.
    names : sequence of str, optional
        A name for each row.
    texts : mapping of str to sequence of str
        Further columns, shown with a row that is pointed at.
    notes : sequence of str
        What a reader must know.
    """

    title: str
    maps: Sequence[Places]
    numbers: np.ndarray
    colours: Sequence[Colour] = ()
    names: Sequence[str] | None = None
    texts: dict[str, Sequence[str]] = field(default_factory=dict)
    notes: Sequence[str] = ()

    def __post_init__(self) -> None:
        n = len(self.numbers)
        if not n or not self.maps:
            raise ValueError(f"tiles: at least one row and one map are needed; got {n} rows, {len(self.maps)} maps.")
        parts: list[tuple[str, int]] = [(place.name, len(place.xy)) for place in self.maps]
        parts += [(colour.name, len(colour.values)) for colour in self.colours]
        parts += [(name, len(texts)) for name, texts in self.texts.items()]
        parts += [] if self.names is None else [("names", len(self.names))]
        for name, rows in parts:
            if rows != n:
                raise ValueError(f"tiles: {name!r} must have {n} rows; got {rows}.")
        for place in self.maps:
            if not np.isfinite(place.xy).all(axis=1).any():
                raise ValueError(f"tiles: the map {place.name!r} must have a place for some row; it has none.")

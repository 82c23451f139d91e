"""Lines of two items and their distance."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from lowdim._core.runtime.memory import limit
from lowdim.app.errors import UserError
from lowdim.app.reading.distances.record import FEWEST, distances_of
from lowdim.app.reading.loaded import Loaded


@dataclass(frozen=True)
class _Pairs:
    """Names of the items of each line, and the column of their distances."""

    first: list[str]
    second: list[str]
    values: pl.Series

    @property
    def items(self) -> list[str]:
        return list(dict.fromkeys(name for pair in zip(self.first, self.second, strict=True) for name in pair))

    @property
    def different(self) -> int:
        """Pairs of two different items, each counted once."""
        return len({frozenset(pair) for pair in zip(self.first, self.second, strict=True) if pair[0] != pair[1]})


def pairs_in(loaded: Loaded) -> Loaded:
    """Distances where a table has every pair of the same items and a number; a note where it has some of them."""
    frame = loaded.frame
    if frame.width != 3 or frame.height < FEWEST or not frame.height <= 2 * 10**7:
        return loaded
    for value in (2, 0, 1):
        found = _with_values(frame, value)
        if found is None:
            continue
        n = len(found.items)
        text = all(frame[:, j].dtype == pl.String for j in range(3) if j != value)
        if n >= FEWEST and found.different == n * (n - 1) // 2 and _agree(found):
            note = "two items and a number in each line, every pair once: "
            return _table(found, [*loaded.notes, note + _said(found) + " (--distances no: rows)"], "the table")
        shared = set(found.first) & set(found.second)
        if text and n >= FEWEST and 2 * len(shared) >= min(len(set(found.first)), len(set(found.second))):
            note = (
                f"each line names two of the same {n} items and has a number: read as rows (--distances pairs: "
                "distances between the items)"
            )
            return replace(loaded, notes=(*loaded.notes, note))
    return loaded


def _with_values(frame: pl.DataFrame, value: int) -> _Pairs | None:
    """The table with this column as distances; None where the others are no items or it has no numbers."""
    items = [frame[:, j] for j in range(3) if j != value]
    are_items = all(column.dtype == pl.String or column.dtype.is_integer() for column in items)
    alike = items[0].dtype == items[1].dtype and not any(column.null_count() for column in items)
    values = frame[:, value]
    if not (are_items and alike and values.dtype.is_numeric()) or values.null_count() or (values < 0).any():
        return None
    first, second = (column.cast(pl.String).to_list() for column in items)
    return _Pairs(first, second, values)


def _agree(found: _Pairs) -> bool:
    """Whether pairs that appear in both directions have one distance, and items none from themselves."""
    known: dict[frozenset[str], float] = {}
    for a, b, value in zip(found.first, found.second, found.values.to_list(), strict=True):
        if not np.isclose(known.setdefault(frozenset((a, b)), value if a != b else 0.0), value):
            return False
    return True


def read_pairs(loaded: Loaded, shown: str) -> Loaded:
    """Distances as the user says: two items and a number in each line; a pair in both directions must say the same."""
    frame = loaded.frame
    numeric = [j for j in range(frame.width) if frame[:, j].dtype.is_numeric()]
    if frame.width != 3 or not numeric:
        raise UserError(
            f"{shown}: --distances pairs needs three columns, two items and their distance; got {frame.width} columns. "
            "--columns chooses three."
        )
    value = numeric[-1]
    first, second = (frame[:, j].cast(pl.String).fill_null("").to_list() for j in range(3) if j != value)
    found = _Pairs(first, second, frame[:, value])
    return _table(found, [*loaded.notes, _said(found)], shown)


def _said(found: _Pairs) -> str:
    return f"distances between {len(found.items)} items from {len(found.first)} pairs"


def _table(found: _Pairs, notes: list[str], shown: str) -> Loaded:
    names = found.items
    if 16 * len(names) ** 2 > limit():
        raise UserError(f"{shown}: a table of the distances between {len(names)} items exceeds the memory limit.")
    place = {name: i for i, name in enumerate(names)}
    D = np.full((len(names), len(names)), np.nan)
    np.fill_diagonal(D, 0.0)
    lines = zip(found.first, found.second, found.values.cast(pl.Float64).to_list(), strict=True)
    for row, (a, b, value) in enumerate(lines, 1):
        i, j = place[a], place[b]
        if value is None or not value >= 0 or (i == j and value):
            raise UserError(
                f"{shown}: the distance in row {row} ({a!r}, {b!r}) must be a number of at least 0, and 0 from an item "
                f"to itself; got {value}."
            )
        if i != j and not np.isnan(D[i, j]) and not np.isclose(D[i, j], value):
            raise UserError(f"{shown}: the pair {a!r}, {b!r} has two distances, {D[i, j]:g} and {value:g} (row {row}).")
        D[i, j] = D[j, i] = value
    return distances_of(D, names, notes)

"""The column that maps are coloured by when a report opens and there is no label: what the map is arranged by.

For each column, the mean of the neighbours in the map is a guess of a row's value; the share of the column's variance
that these guesses explain is 1 where the column changes smoothly over the map, and 0 where it is scattered. Categories
are guessed by the shares of their neighbours, and measured the same way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lowdim._core.neighbors import nearest
from lowdim._core.runtime.rng import generator
from lowdim.study.columns import Column
from lowdim.study.columns.scales import HAND_MADE

NEIGHBORS = 10
MOST_ROWS = 2000  # looked at; a sample of more
MOST_CLASSES = 20  # colours that can be told apart
LEAST = 0.1  # explained share below which a column is scattered over the map


@dataclass(frozen=True)
class OpeningColour:
    """A column to colour maps by, the map that it was found in, and the share that neighbours explain there."""

    column: str
    method: str
    share: float

    @property
    def why(self) -> str:
        """The reason as a sentence."""
        return (
            f"maps open coloured by {self.column!r}: of all columns, it changes most smoothly over the map by "
            f"{self.method} (neighbours in the map explain {self.share:.0%} of its variance)"
        )


def opening_colour(columns: Sequence[Column], method: str, Z: np.ndarray, seed: int = 0) -> OpeningColour | None:
    """The column that a map shows best; None where it shows none, or columns are too many to mean something each."""
    used = [column for column in columns if column.use == "map"]
    if not 0 < len(used) <= HAND_MADE:
        return None
    rows = np.flatnonzero(np.isfinite(Z).all(axis=1))
    if len(rows) > MOST_ROWS:
        rows = np.sort(generator(seed).choice(rows, MOST_ROWS, replace=False))
    if len(rows) <= 2 * NEIGHBORS:
        return None
    near = nearest(np.ascontiguousarray(Z[rows], dtype=np.float64), NEIGHBORS).indices
    shares = {column.name: _explained(column.take(rows), near) for column in used}
    best = max(shares, key=lambda name: shares[name])
    return OpeningColour(best, method, shares[best]) if shares[best] >= LEAST else None


def _explained(column: Column, near: np.ndarray) -> float:
    """The share of a column's variance that the means of neighbours explain, over the cells that are known."""
    known = ~column.missing
    if known.sum() <= NEIGHBORS:
        return 0.0
    if column.kind == "number":
        values = np.where(known, column.values, 0.0).astype(np.float64)[:, None]
    else:
        levels, codes = np.unique(column.values[known].astype(str), return_inverse=True)
        if len(levels) > MOST_CLASSES:
            return 0.0
        values = np.zeros((len(known), len(levels)))
        values[known] = np.eye(len(levels))[codes.ravel()]
    values /= np.abs(values).max() or 1.0
    values[known] -= values[known].mean(axis=0)
    counts = known[near].sum(axis=1)
    guesses = np.where(known[near][..., None], values[near], 0.0).sum(axis=1) / np.maximum(counts, 1)[:, None]
    there = known & (counts > 0)
    total = float((values[there] ** 2).sum())
    return 1.0 - float(((values[there] - guesses[there]) ** 2).sum()) / total if total > 0 else 0.0

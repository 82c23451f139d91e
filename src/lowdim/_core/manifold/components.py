"""Parts of a graph that are embedded on their own, and where they are put beside each other."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lowdim._core.extend import Nystrom
from lowdim._core.graph.repair import DETOUR
from lowdim._core.runtime.threads import blocks
from lowdim._core.scaling.additive import shift_new_distances


@dataclass(frozen=True, eq=False)
class Part:
    """One connected part: its rows, the path lengths (sources, rows) and how they become places."""

    rows: np.ndarray
    sources: np.ndarray
    geodesics: np.ndarray
    eigenvalues: np.ndarray
    extension: Nystrom
    shift: np.ndarray
    constant: float = 0.0  # added to lengths between different rows

    def places(self) -> np.ndarray:
        """Where its own rows are: sqrt(l) v where all of them are sources, else from their path lengths."""
        if len(self.sources) == len(self.rows):
            return self.extension.projection * self.eigenvalues + self.shift
        return self.place(self.geodesics.T)

    def place(self, lengths: np.ndarray) -> np.ndarray:
        """Places from path lengths to the sources, one row of lengths a row placed."""
        Z = np.empty((len(lengths), len(self.shift)))
        for rows in blocks(len(lengths), max(1, 2**20 // max(1, lengths.shape[1]))):
            D = shift_new_distances(lengths[rows], self.constant, "cailliez") if self.constant else lengths[rows]
            Z[rows] = self.extension(-0.5 * np.square(D, dtype=np.float64))
        return Z + self.shift

    def lengths(self, neighbors: np.ndarray, reach: np.ndarray) -> np.ndarray:
        """Path lengths to the sources from a new row: the shortest way through one of its neighbours."""
        return (self._ways(neighbors) + reach[:, None].astype(self.geodesics.dtype)).min(axis=0)

    def same_side(self, neighbors: np.ndarray, reach: np.ndarray) -> np.ndarray:
        """Which neighbours of a new row are near the nearest of them along the graph too.

        A row between two folds would join them. Differences of path lengths to the sources bound the path between two
        neighbours from below. A row that is a fitted one keeps those through which no path is shorter than its own.
        """
        ways, first = self._ways(neighbors), int(np.argmin(reach))
        apart = np.abs(ways - ways[first]).max(axis=1)
        return np.asarray((apart <= reach + (2.0 * DETOUR - 1.0) * reach[first]) | (reach == reach[first]))

    def _ways(self, rows: np.ndarray) -> np.ndarray:
        D = self.geodesics
        return D[rows] if len(self.sources) == len(self.rows) else D[:, rows].T


def tile(parts: list[Any]) -> list[Any]:
    """The parts side by side along the first axis. A part is a record with a `shift` and `places()`."""
    if len(parts) == 1:
        return parts
    moves = beside([part.places()[:, 0] for part in parts])
    first = np.eye(1, len(parts[0].shift))[0]
    return [replace(part, shift=part.shift + move * first) for part, move in zip(parts, moves, strict=True)]


def beside(firsts: list[np.ndarray]) -> list[float]:
    """How far to move each part along the first axis (its coordinates there are given) so that none overlap.

    Between two there is a gap of a tenth of their total width.
    """
    boxes = [(float(first.min()), float(first.max())) for first in firsts]
    gap = 0.1 * sum(high - low for low, high in boxes) or 1.0
    moves, edge = [], 0.0
    for low, high in boxes:
        moves.append(edge - low)
        edge += high - low + gap
    return moves


def over_parts(rows: list[np.ndarray], values: list[np.ndarray], n: int) -> np.ndarray:
    """Numbers of n rows from those of each part; zeros for rows in none."""
    out = np.zeros(n, dtype=values[0].dtype)
    for mine, part in zip(rows, values, strict=True):
        out[mine] = part
    return out


def side_by_side(rows: list[np.ndarray], places: list[np.ndarray], n: int) -> tuple[np.ndarray, np.ndarray]:
    """Places of n rows from those of each part, put beside each other, and the part of each row; NaN and -1: none."""
    Z, home = np.full((n, places[0].shape[1]), np.nan), np.full(n, -1)
    moves = beside([part[:, 0] for part in places]) if len(places) > 1 else [0.0]
    for number, (mine, part, move) in enumerate(zip(rows, places, moves, strict=True)):
        Z[mine], home[mine] = part, number
        Z[mine, 0] += move
    return Z, home

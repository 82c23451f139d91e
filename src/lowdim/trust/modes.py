"""Peaks of density in a set of rows, and how deep the valleys between them are.

Density at a row follows from the distance to its k-th neighbour. Rows are added from the densest on; a row next to two
peaks joins them, and the valley of the lower one is how much denser its peak is than that row, on a log scale (Chazal,
Guibas, Oudot, Skraba, Persistence-based clustering in Riemannian manifolds, 2013).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Modes:
    """The peaks of a set of rows.

    Attributes
    ----------
    labels : ndarray of int
        Group of each row: the connected components, or the two sides of the deepest valley where there is one
        component; 0 is the largest.
    n_components : int
        Connected components of the neighbour graph with at least `least` rows.
    valley : float
        Depth of the deepest valley between two peaks with at least `least` rows each, in standard deviations of the
        log density; infinite with several components, 0 with one peak.
    """

    labels: Array
    n_components: int
    valley: float


def modes(distances: Array, indices: Array, dimension: float, least: int) -> Modes:
    """Peaks from neighbour lists within the set."""
    k = indices.shape[1]
    density = -dimension * np.log(np.maximum(distances[:, -1], np.finfo(float).tiny))
    order = _densest_first(distances)
    forest = _Forest(density, least)
    neighbours = _both_ways(indices)
    for row in order:
        forest.add(int(row), neighbours[row])
    labels, sizes = forest.components()
    large = np.flatnonzero(sizes >= least)
    if len(large) > 1:
        return Modes(labels, len(large), np.inf)
    # The log of a distance to neighbour k varies by 1 / sqrt(k) in units of the log density.
    return Modes(forest.sides(labels), 1, forest.deepest * np.sqrt(k))


def saddle(distances: Array, indices: Array, dimension: float, sides: Array) -> float:
    """Depth of the shallowest valley between the densest row of side 0 and that of another side, in deviations.

    The valley is that of the best path: the one whose least dense row is densest. Infinite where there is no path.
    Rows of side -1 are only passed through.
    """
    k = indices.shape[1]
    density = -dimension * np.log(np.maximum(distances[:, -1], np.finfo(float).tiny))
    own, *others = (int(rows[np.argmax(density[rows])]) for rows in _by_side(sides))
    forest, neighbours, found = _Forest(density, len(density)), _both_ways(indices), np.inf
    for row in _densest_first(distances):
        forest.add(int(row), neighbours[row])
        if forest.parent[own] < 0:
            continue
        met = [peak for peak in others if forest.parent[peak] >= 0 and forest.root(peak) == forest.root(own)]
        found = min([found, *(float(min(density[own], density[peak]) - density[row]) for peak in met)])
        others = [peak for peak in others if peak not in met]
        if not others:
            break
    return found * np.sqrt(k)


def _by_side(sides: Array) -> list[Array]:
    """The rows of each side that has any, side 0 first."""
    return [np.flatnonzero(sides == side) for side in np.unique(sides) if side >= 0]


def outer_dimension(distances: Array) -> float:
    """How many dimensions the neighbourhoods have between their middle and last neighbour (Gride at one scale)."""
    k = distances.shape[1]
    half = max(1, k // 2)
    known = distances[:, half - 1] > 0
    spread = float(np.log(distances[known, k - 1] / distances[known, half - 1]).mean()) if known.any() else 0.0
    return sum(1 / j for j in range(half, k)) / spread if spread > 0 else np.inf


def _densest_first(distances: Array) -> Array:
    """Rows by density; two that are each other's last neighbour are equally dense, and the neighbour before decides."""
    return np.lexsort((distances[:, -2], distances[:, -1]) if distances.shape[1] > 1 else (distances[:, -1],))


def _both_ways(indices: Array) -> list[Array]:
    """Neighbours of each row and rows that it is a neighbour of."""
    n, k = indices.shape
    rows = np.concatenate([np.repeat(np.arange(n), k), indices.ravel()])
    others = np.concatenate([indices.ravel(), np.repeat(np.arange(n), k)])
    order = np.argsort(rows, kind="stable")
    return np.split(others[order], np.cumsum(np.bincount(rows, minlength=n))[:-1])


class _Forest:
    """Sets of rows that grow from peaks and are joined where they meet."""

    def __init__(self, density: Array, least: int):
        self.density, self.least = density, least
        self.parent = np.full(len(density), -1)  # -1: not added yet; a root is its own parent
        self.members: dict[int, list[int]] = {}
        self.deepest, self.side = 0.0, np.empty(0, int)

    def root(self, row: int) -> int:
        while self.parent[row] != row:
            self.parent[row] = self.parent[self.parent[row]]
            row = int(self.parent[row])
        return row

    def add(self, row: int, neighbours: Array) -> None:
        """Join the row to the peaks next to it, and those to each other; a row next to none is a peak."""
        there = neighbours[self.parent[neighbours] >= 0]
        self.parent[row], self.members[row] = row, [row]
        # The highest peak first: which of several peaks end here must not depend on the numbers of their rows.
        for other in sorted({self.root(int(each)) for each in there}, key=lambda peak: (-self.density[peak], peak)):
            self._join(self.root(row), other, row)

    def _join(self, one: int, other: int, at: int) -> None:
        if one == other:
            return
        high, low = (one, other) if self.density[one] >= self.density[other] else (other, one)
        depth = float(self.density[low] - self.density[at])
        if min(len(self.members[high]), len(self.members[low])) >= self.least and depth > self.deepest:
            self.deepest, self.side = depth, np.array(self.members[low])
        self.parent[low] = high
        self.members[high] += self.members.pop(low)

    def components(self) -> tuple[Array, Array]:
        """Component of each row, the largest first, and their sizes."""
        labels = np.empty(len(self.parent), int)
        ordered = sorted(self.members.values(), key=len, reverse=True)
        for label, rows in enumerate(ordered):
            labels[rows] = label
        return labels, np.array([len(rows) for rows in ordered])

    def sides(self, labels: Array) -> Array:
        """The rows on the lower side of the deepest valley get the label 1."""
        found = np.zeros_like(labels)
        found[self.side] = 1
        return found

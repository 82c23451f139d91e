"""Classical scaling of geodesic distances in one connected component, and its extension to new rows.

The geodesic distance of a new row x to a source s is that through one of its neighbours j: the least of d(x, j) +
D_G(j, s). From these distances Gower's formula gives the coordinates of x, as it does for fitted rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from lowdim._core.extend import Nystrom
from lowdim._core.graph.repair import DETOUR
from lowdim._core.manifold.neighborhood import nearest_of_each
from lowdim._core.runtime.threads import blocks
from lowdim._core.scaling.additive import shift_new_distances

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class GeodesicComponent:
    """One connected component: its rows, their geodesic distances to the sources, and the formula for coordinates.

    Sources are the rows that paths start from: all rows of the component, or landmarks among them.
    """

    rows: Array
    sources: Array
    geodesics: Array  # (sources, rows)
    eigenvalues: Array
    extension: Nystrom
    shift: Array  # added to coordinates, so that components lie side by side
    constant: float = 0.0  # added to the distances between different rows (kernel Isomap)

    def embedding(self) -> Array:
        """Coordinates of its rows: sqrt(l) v where all of them are sources, else from their geodesic distances."""
        if self.all_sources:
            return self.extension.projection * self.eigenvalues + self.shift
        return self.transform(self.geodesics.T)

    def transform(self, distances: Array) -> Array:
        """Coordinates from geodesic distances to the sources, one line of distances for each row."""
        Z = np.empty((len(distances), len(self.shift)))
        for rows in blocks(len(distances), max(1, 2**20 // max(1, distances.shape[1]))):
            D = distances[rows]
            D = shift_new_distances(D, self.constant, "cailliez") if self.constant else D
            Z[rows] = self.extension(-0.5 * np.square(D, dtype=np.float64))
        return Z + self.shift

    @property
    def all_sources(self) -> bool:
        """Whether paths start from every row."""
        return len(self.sources) == len(self.rows)

    def to_sources(self, rows: Array) -> Array:
        """Geodesic distances of some of its rows (by position) to the sources."""
        return self.geodesics[rows] if self.all_sources else self.geodesics[:, rows].T


def geodesics_of_new_rows(
    components: list[GeodesicComponent], reach: sparse.csr_array, *, one_fold: bool
) -> Iterator[tuple[GeodesicComponent, Array, Array]]:
    """Geodesic distances of new rows through their neighbours, component by component.

    Parameters
    ----------
    components : list of GeodesicComponent
        A new row belongs to the component of its nearest neighbour; only neighbours in that component count.
    reach : csr_array of shape (m, n)
        Distances of the new rows to their neighbours among the n fitted rows.
    one_fold : bool
        Leave out neighbours that are far along the graph from the nearest one (`_same_fold`), so that a new row
        between two folds does not join them.

    Yields
    ------
    component : GeodesicComponent
    rows : ndarray of int
        Which of the new rows belong to it.
    distances : ndarray of shape (len(rows), sources)
        Their geodesic distances to its sources.
    """
    component_of, position = _positions(components, reach.shape[1])
    home = component_of[nearest_of_each(reach)[0]]
    for number, component in enumerate(components):
        rows = np.flatnonzero(home == number)
        if not len(rows):
            continue
        distances = []
        for i in rows:
            stored = slice(reach.indptr[i], reach.indptr[i + 1])
            neighbors, lengths = reach.indices[stored], reach.data[stored]
            inside = component_of[neighbors] == number
            distances.append(_through(component, position[neighbors[inside]], lengths[inside], one_fold))
        yield component, rows, np.stack(distances)


def lists_of_new_rows(
    components: list[GeodesicComponent], near: Array, lengths: Array, n: int
) -> Iterator[tuple[GeodesicComponent, Array, Array, Array]]:
    """The same rows with equally many neighbours each, before paths are compared.

    Parameters
    ----------
    components : list of GeodesicComponent
        As in `geodesics_of_new_rows`.
    near, lengths : ndarray of shape (m, k)
        The neighbours of the new rows, nearest first, and their distances.
    n : int
        Fitted rows.

    Yields
    ------
    component : GeodesicComponent
    rows : ndarray of int
        Which of the new rows belong to it.
    near : ndarray of shape (len(rows), k)
        Positions of their neighbours in the component.
    lengths : ndarray of shape (len(rows), k)
        Their distances; inf for neighbours outside.
    """
    component_of, position = _positions(components, n)
    found = component_of[near]
    for number, component in enumerate(components):
        rows = np.flatnonzero(found[:, 0] == number)
        if len(rows):
            inside = found[rows] == number
            yield component, rows, position[near[rows]], np.where(inside, lengths[rows], np.inf)


def _positions(components: list[GeodesicComponent], n: int) -> tuple[Array, Array]:
    """The component of each of n rows (-1: none), and its position there."""
    component_of, position = np.full(n, -1), np.zeros(n, dtype=np.intp)
    for number, component in enumerate(components):
        component_of[component.rows], position[component.rows] = number, np.arange(len(component.rows))
    return component_of, position


def _through(component: GeodesicComponent, neighbors: Array, lengths: Array, one_fold: bool) -> Array:
    """Geodesic distances of a new row to the sources: the shortest path through one of its neighbours."""
    known = component.to_sources(neighbors)
    if one_fold:
        kept = _same_fold(known, lengths)
        known, lengths = known[kept], lengths[kept]
    return (known + lengths[:, None].astype(known.dtype)).min(axis=0)


def _same_fold(known: Array, lengths: Array) -> Array:
    """Which neighbours of a new row are near its nearest one along the graph too.

    Differences of distances to the sources bound the distance between two neighbours from below. A new row that equals
    a fitted one keeps all neighbours through which no path is shorter than its own.
    """
    first = int(np.argmin(lengths))
    apart = np.abs(known - known[first]).max(axis=1)
    return np.asarray((apart <= lengths + (2.0 * DETOUR - 1.0) * lengths[first]) | (lengths == lengths[first]))

"""The first look for short circuits of a graph of many rows: are paths longer without all suspects?

The same question as in `detours`, with the same answer, at a quarter of the time: rows are renumbered so that those
near each other are near in memory, paths are searched with buckets instead of a heap, edges that are left out are
marked instead of copied, and one search gives the distances and the busy rows. Every fit of a method on a neighbour
graph asks it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from lowdim import _native
from lowdim._core.graph.edges import bare_arrays, some_edges
from lowdim._core.runtime.threads import n_threads

Array = np.ndarray

WIDTH = 1 / 3  # of a bucket, in sizes of neighbourhoods: half an edge; from a quarter to one makes little difference


@dataclass(frozen=True, eq=False)
class Renumbered:
    """A graph whose rows are numbered by steps from one of them.

    Attributes
    ----------
    start, to, length : ndarray
        The edges in the new numbering; those of a row in their old order.
    order, place : ndarray
        The old number of each new row; the new number of each old one.
    origin : ndarray
        Where each edge was stored before.
    later : ndarray
        Place of each edge among those of its ends, the later one.
    size : float
        The median radius of neighbourhoods at the ends of an edge, or its length where that is more.
    """

    start: Array
    to: Array
    length: Array
    order: Array
    place: Array
    origin: Array
    later: Array
    size: float
    n_jobs: int | None

    @classmethod
    def of(cls, G: sparse.csr_array, k: int, n_jobs: int | None) -> Renumbered:
        """`k` is how many neighbours each row was joined to."""
        n, m = G.shape[0], G.nnz
        edges, later = bare_arrays(G), np.empty(m, np.int32)
        size = _native.edge_places(*edges, k, later)
        order, start = np.empty(n, np.int32), np.empty(n + 1, np.int64)
        to, origin = np.empty(m, np.int32), np.empty(m, np.int64)
        _native.near_order(edges[0], edges[1], order, start, to, origin)
        place = np.empty(n, np.int32)
        place[order] = np.arange(n, dtype=np.int32)
        return cls(start, to, edges[2][origin], order, place, origin, later[origin], size, n_jobs)

    def distances(self, kept: Array, sources: Array) -> Array:
        """Distances from old rows to new ones over the edges kept."""
        return self._paths(kept, sources, np.empty(0))

    def paths(self, kept: Array, sources: Array) -> tuple[Array, Array]:
        """The same, and how many shortest paths run through each old row."""
        through = np.empty(len(self.order))
        distance = self._paths(kept, sources, through)
        return distance, through[self.place]

    def _paths(self, kept: Array, sources: Array, through: Array) -> Array:
        n, threads, starts = len(self.order), n_threads(self.n_jobs), self.place[sources]
        distance, edges = np.empty((len(sources), n)), (self.start, self.to, self.length)
        found = _native.tree_paths(*edges, kept.view(np.uint8), starts, WIDTH * self.size, distance, through, threads)
        if found != 0:
            rest = bare_arrays(some_edges(sparse.csr_array(edges[::-1], shape=(n, n)), kept))
            if found < 0:  # the lengths differ too much for buckets
                _native.heap_paths(*rest, starts, np.arange(len(starts)), distance, threads)
            if len(through):  # of several shortest paths each has its share
                _native.path_flow(*rest, starts, through, np.empty(len(rest[1])), threads)
        return distance

    def joined(self, kept: Array) -> Array:
        """The edges kept, and the shortest others that join their components."""
        both = kept.copy()
        _native.keep_joined(self.start, self.to, self.length, self.order, self.origin, both.view(np.uint8))
        return both

    def without(self, rows: Array) -> Array:
        """The edges that none of the old rows marked is an end of."""
        rows = rows[self.order]
        return ~(np.repeat(rows, np.diff(self.start)) | rows[self.to])

"""A loop in the data or a short circuit? Both are edges without which the path between their ends is long.

Taken out, the edges that close a loop leave a strip with two ends, and these edges joined its ends: from either side of
the cut, nothing is farther than the other side. They are also about as many as the edges across the strip anywhere
else, because they are a section of it like any other. A short circuit leads from one place of a sheet to another. The
sheet goes on behind at least one of them, or it is much wider than the short circuit.

Both signs are asked for. A roll whose innermost rows touch the next turn is wide at the touch and ends there, but only
on one side; a chain of rows from edge to edge of a sheet joins two ends, but the sheet is wide.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np
from scipy import sparse

from lowdim._core.graph.connectivity import components, joined
from lowdim._core.graph.edges import edge_rows
from lowdim._core.graph.shortest_paths import geodesics

Array = np.ndarray

# Of rings, frames and annuli of 300 to 1,000 rows: nothing lies beyond, and the cut has 0.33 to 2.3 times the edges of
# the narrowest section. Of rolls: 0.13 and more lie beyond on one side, or the cut has at most 0.26 of these edges.
BEYOND = 0.03  # share of the rows that may lie beyond the other side of the cut
FARTHER = 2.0  # radii of the neighbourhoods by which they would
NARROWER = 0.3  # of the edges across the strip: a cut that has fewer is no section of it
SECTIONS = np.linspace(0.25, 0.75, 11)  # where the strip is measured, as shares of the way from one side to the other
GROUPS = 16  # cuts that are looked at, the largest first
LONGEST = 20.0  # radii of a detour, to choose the edge that represents a cut


class Places(Protocol):
    """A graph and its stored edges."""

    @property
    def G(self) -> sparse.csr_array:
        """The graph."""

    @property
    def row(self) -> Array:
        """The row that each stored edge belongs to."""

    @property
    def size(self) -> Array:
        """The radius at the ends of each stored edge."""

    @property
    def n_jobs(self) -> int | None:
        """Threads."""

    def detour_of(self, once: Array, missing: Array, reach: float) -> Array:
        """Paths between the ends of some edges, in radii, where edges are missing."""


def around_holes(places: Places, found: Array) -> Array:
    """Which of the stored edges in `found` close a loop; both directions of an edge alike."""
    loops, bare = np.zeros(len(found), dtype=bool), joined(places.G, ~found)
    for cut in _cuts(places, found):
        if _closes_a_loop(places, cut, bare):
            loops |= cut
    return loops


def _cuts(places: Places, found: Array) -> Iterator[Array]:
    """Edges that are near each other, the largest groups first."""
    G = places.G
    ends = np.unique(places.row[found])
    near = np.zeros(G.shape[0], dtype=bool)
    near[ends] = near[G[ends].indices] = True
    rows, group = np.flatnonzero(near), np.full(G.shape[0], -1)
    group[rows] = components(G[rows][:, rows])[1]
    number, count = np.unique(group[places.row[found]], return_counts=True)
    for each in number[np.argsort(-count, kind="stable")][:GROUPS]:
        yield found & (group[places.row] == each)


def _closes_a_loop(places: Places, cut: Array, bare: sparse.csr_array) -> bool:
    """Whether a cut opens a strip, both by itself and, in `bare`, with all other cuts.

    By itself, other short circuits may be the way round. With all cuts the data may be in pieces, which are joined by
    their shortest edges: where that is an edge of this cut, the way has become short and says nothing.
    """
    G = places.G
    once, rest = np.flatnonzero(cut & (places.row < G.indices)), joined(G, ~cut)
    middle = once[np.argmax(places.detour_of(once, cut, LONGEST))]
    sides = np.array([places.row[middle], G.indices[middle]], dtype=np.int32)
    own, all_cut = (geodesics(graph, sides, n_jobs=places.n_jobs) for graph in (rest, bare))
    way, margin = float(own[0, sides[1]]), FARTHER * float(np.median(places.size))
    if not _joins_ends(own, sides, margin) or len(once) < NARROWER * _narrowest(rest, own[0], way):
        return False
    return float(all_cut[0, sides[1]]) < way or _joins_ends(all_cut, sides, margin)


def _joins_ends(distance: Array, sides: Array, margin: float) -> bool:
    """Whether from either side hardly a row is farther than the other side."""
    reached = distance[:, np.isfinite(distance[0])]
    return bool((reached > distance[0, sides[1]] + margin).mean(axis=1).max() <= BEYOND)


def _narrowest(rest: sparse.csr_array, distance: Array, way: float) -> int:
    """Edges across the strip where they are fewest, not near its ends."""
    ends = distance[edge_rows(rest)], distance[rest.indices]
    across = [int(((ends[0] <= at) & (ends[1] > at)).sum()) for at in SECTIONS * way]
    return min(across)

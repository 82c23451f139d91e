"""Essential loops, which no flat map can show, cut open: a ring becomes a path (after Lee and Verleysen 2005).

A tree of shortest paths from a central row has no loops. Every other edge closes a loop with the tree, and is put back
if that loop is a sum of short ones. Otherwise the loop goes around a hole, and the edge stays cut. The cut is on the
side of the ring, the tube or the hole that is farthest from the centre.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from lowdim import _native
from lowdim._core.graph import components, edge_arrays, edge_rows, geodesics, join_edges, some_edges
from lowdim._core.graph.edges import turned

Array = np.ndarray

# Edges of a short loop: random samples of a surface have gaps bounded by up to 9 edges (8 neighbours).
SHORT = 11
SAMPLED = 16  # rows from which paths are computed to find the central row


def torn(G: sparse.csr_array, short: int = SHORT, *, n_jobs: int | None = None) -> tuple[sparse.csr_array, Array]:
    """G without the edges that close long loops, and these edges, one pair of rows each.

    Parameters
    ----------
    G : csr_array of shape (n, n)
        From `neighbor_graph`; each of its components is treated on its own.
    short : int
        Loops of at most so many edges, in balls of radius (short - 1) / 2 edges, are no essential loops.
    n_jobs : int or None
        Threads. The result does not depend on it.

    Returns
    -------
    graph : csr_array of shape (n, n)
    edges : ndarray of shape (m, 2)
    """
    start, to, _ = edge_arrays(G)
    depth, row = _depths(G, n_jobs), edge_rows(G)
    others = _outside_tree(G, depth)
    generator = np.full(G.nnz, -1, dtype=np.int32)
    generator[others] = np.arange(len(others), dtype=np.int32)
    generator = np.maximum(generator, turned(G, generator))
    essential = np.empty(len(others), dtype=np.uint8)
    order = np.argsort(depth, kind="stable").astype(np.int32)
    _native.essential_loops(start, to, generator, order, max(1, (short - 1) // 2), essential)

    cut = others[essential > 0]
    kept = ~np.isin(generator, generator[cut]) | (generator < 0)
    return some_edges(G, kept), np.column_stack([row[cut], G.indices[cut]]).astype(np.intp)


def _depths(G: sparse.csr_array, n_jobs: int | None) -> Array:
    """Path lengths from the central row of each component: the one whose farthest sampled row is nearest."""
    count, labels = components(G)
    depth = np.full(G.shape[0], np.inf)
    for c in range(count):
        rows = np.flatnonzero(labels == c)
        some = rows[np.linspace(0, len(rows) - 1, min(len(rows), SAMPLED)).astype(np.intp)]
        farthest = geodesics(G, some, n_jobs=n_jobs)[:, rows].max(axis=0)
        depth[rows] = geodesics(G, [rows[farthest.argmin()]], n_jobs=n_jobs)[0, rows]
    return depth


def _outside_tree(G: sparse.csr_array, depth: Array) -> Array:
    """Positions, one for each pair, of the stored edges that are not in a tree of shortest paths."""
    row = edge_rows(G)
    once = np.flatnonzero(row < G.indices)
    ends = np.sort(np.column_stack([depth[row[once]], depth[G.indices[once]]]), axis=1)
    tight = once[ends[:, 0] + G.data[once] == ends[:, 1]]
    listed = [(float(e), int(row[e]), int(G.indices[e])) for e in tight]
    tree, _ = join_edges(listed, np.arange(G.shape[0]))
    return np.setdiff1d(once, np.array([int(e) for e, _, _ in tree], dtype=np.intp), assume_unique=True)

"""Short circuits in a neighbour graph: edges from one fold of the data to another, found and removed.

One such edge shortens the paths between most pairs of rows. Four methods find them, each with a score for an edge:

detour     Without the edge and its like the path between its ends is long (`_core/graph/detours.py`). The score is the
           length of that path over the radius of the neighbourhoods. It finds single edges, bundles of them and chains
           of rows.
flow       Many shortest paths run through an end of the edge, and all paths that avoid that end are long. The score is
           the number of paths through that row over the usual number (total flow, after Choi and Choi 2007).
linearity  The edge leaves the tangent plane of its neighbourhood. The score is the length of its component normal to
           the plane, over the largest of: its length, the mean length of its row's edges, and 14 times the median
           normal component of the edges around.
stability  In sparser graphs of the same rows (0.8 to 1 times the neighbours, joined only where both ends agree) the
           ends are far from each other. The score is the length of the path between them over that of the edge.

An edge without which the graph would be disconnected is not removed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from lowdim import _native
from lowdim._core.graph import components, edge_arrays, edge_rows, join_edges, joined, some_edges, with_edges
from lowdim._core.graph.detours import DETOURS, detour_scores
from lowdim._core.graph.edges import bare_arrays, nearest_first, ranks, turned
from lowdim._core.runtime import threads
from lowdim._core.runtime.rng import generator

Array = np.ndarray

REPAIR_METHODS = ("detour", "flow", "linearity", "stability")
Suspicious = tuple[Any, Any, Any]  # edges, scores, and whether each was removed; None three times without repair
NO_REPAIR: Suspicious = (None, None, None)

# Chosen on Swiss rolls of 1,000 to 4,000 rows (noise 0.05, 8 to 10 neighbours, three seeds each) with and without five
# rows between the turns: all five are found, and less than 0.5 % of the edges along the roll are false positives. For
# "linearity" that holds up to 30,000 rows and a noise of 0.2.
DETOUR = 3.0  # a row is a short cut where the path around it is so many times longer than that through it
BUSIEST = 0.05  # share of the edges, those with most paths, that paths around a row may not use
BENT = 0.5  # normal component of an edge over its length
OUTLYING = 7.0  # normal component of an edge over the median of the edges around
UNSTABLE = 3.5  # length of the path in sparser graphs over that of the edge
LONGEST = 6.0  # how far that path is searched
SCALES = (0.8, 0.9, 1.0)

EXACT_UP_TO = 1000  # rows up to which paths from all of them are counted
SOURCES = 500  # beyond, from so many of them
BLOCK = 2048


@dataclass(frozen=True, eq=False)
class Repair:
    """Settings of the repair of a neighbour graph."""

    method: str | None
    n_components: int  # dimension of the tangent planes
    holes: Any = None  # completes rows with missing cells, where there are any


@dataclass(frozen=True, eq=False)
class Repaired:
    """A graph without its short circuits.

    Attributes
    ----------
    graph : csr_array of shape (n, n)
        What is left of the graph.
    edges : ndarray of shape (m, 2)
        The suspicious edges, the most suspicious first.
    scores : ndarray of shape (m,)
        Their scores.
    removed : ndarray of shape (m,)
        False for those that keep the graph connected.
    """

    graph: sparse.csr_array
    edges: Array
    scores: Array
    removed: Array

    def numbered(self, rows: Array | None = None) -> Suspicious:
        """Edges, scores, and which were removed; edges in the row numbers of the user's table, where given."""
        return self.edges if rows is None else np.sort(rows[self.edges], axis=1), self.scores, self.removed


def repaired(
    G: sparse.csr_array,
    method: str,
    *,
    rows: Any,
    n_components: int,
    n_neighbors: int | None,
    n_jobs: int | None = None,
) -> Repaired:
    """Remove the short circuits of a graph.

    Parameters
    ----------
    G : csr_array of shape (n, n)
        From `neighbor_graph`.
    method : {"detour", "flow", "linearity", "stability"}
        The score that finds them.
    rows : callable
        () -> the coordinates of the rows, dense or sparse; called only for "linearity".
    n_components : int
        Dimension of the tangent planes.
    n_neighbors : int or None
        How many neighbours each row was joined to; None: the median number of edges of a row.
    n_jobs : int or None
        Threads. The result does not depend on it.

    Returns
    -------
    Repaired
    """
    k = n_neighbors or usual_degree(G)
    if G.nnz == 0:
        return _without(G, np.empty(0), 0.0)
    if method == "detour":
        return _without(G, detour_scores(G, k, n_jobs), DETOURS)
    if method == "flow":
        return _without(G, flow_scores(G, n_jobs), 0.0)
    if method == "linearity":
        return _without(G, linearity_scores(G, rows(), n_components, k), BENT)
    return _without(G, stability_scores(G, k, n_jobs), UNSTABLE)


def usual_degree(G: sparse.csr_array) -> int:
    """The median number of edges of a row."""
    return max(1, int(np.median(np.diff(G.indptr))))


def _without(G: sparse.csr_array, scores: Array, limit: float) -> Repaired:
    """G without edges above the limit, except the least suspicious ones that keep it connected."""
    row, column = edge_rows(G), G.indices
    found = np.flatnonzero((scores > limit) & (row < column))
    found = found[np.lexsort((-G.data[found], -scores[found]))]
    rest = some_edges(G, scores <= limit)
    needed = [(float(G.data[e]), int(row[e]), int(column[e])) for e in found[::-1]]
    kept, _ = join_edges(needed, components(rest)[1])
    holding = {(i, j) for _, i, j in kept}
    pairs = np.column_stack([row[found], column[found]]).astype(np.intp).reshape(-1, 2)
    removed = np.array([(i, j) not in holding for i, j in pairs.tolist()], dtype=bool)
    return Repaired(with_edges(rest, kept) if kept else rest, pairs, scores[found], removed)


def flow_scores(G: sparse.csr_array, n_jobs: int | None = None) -> Array:
    """Of each stored edge: the flow through the end at which it is a short cut, over the median; 0 for the others.

    Candidates are rows with a high flow f: log f > median + median absolute deviation. Where the neighbours of such a
    row form groups between which paths that avoid the row are long, edges to all but the largest group are short cuts.
    Paths around a row may not use the busiest edges, so that two short cuts side by side do not hide each other.
    """
    flow, along = total_flow(G, n_jobs)
    level = np.log1p(flow)
    usual = float(np.median(level))
    busy = np.flatnonzero(level > usual + np.median(np.abs(level - usual))).astype(np.int32)
    group = np.zeros(G.nnz, dtype=np.int32)
    typical = float(np.median(G.data))
    quiet = edge_arrays(some_edges(G, along <= np.quantile(along, 1.0 - BUSIEST)))
    _native.neighbor_groups(*edge_arrays(G), *quiet, busy, DETOUR, typical, group, threads.n_threads(n_jobs))
    outside = group != np.repeat(_largest_group(G, group), np.diff(G.indptr))
    scores = np.where(outside, (1.0 + flow[edge_rows(G)]) / (1.0 + float(np.median(flow))), 0.0)
    return np.maximum(scores, turned(G, scores))


def total_flow(G: sparse.csr_array, n_jobs: int | None = None) -> tuple[Array, Array]:
    """Shortest paths through each row and along each stored edge, both directions of a pair counted.

    Exact up to 1,000 rows; beyond, from 500 rows drawn with a fixed seed, scaled up.
    """
    n = G.shape[0]
    m = n if n <= EXACT_UP_TO else SOURCES
    sources = np.arange(n) if m == n else np.sort(generator(0).permutation(n)[:m])
    node, edge = np.empty(n), np.empty(G.nnz)
    _native.path_flow(*edge_arrays(G), sources.astype(np.int32), node, edge, threads.n_threads(n_jobs))
    return node * (n / m), (edge + turned(G, edge)) * (n / m)


def _largest_group(G: sparse.csr_array, group: Array) -> Array:
    """Of each row the group of most of its edges; of equals the first, which holds the nearest neighbour."""
    row, width = edge_rows(G), int(group.max()) + 1
    counts = np.bincount(row * width + group, minlength=G.shape[0] * width).reshape(-1, width)
    return counts.argmax(axis=1)


def linearity_scores(G: sparse.csr_array, X: Any, r: int, k: int) -> Array:
    """Of each stored edge: its component normal to the tangent plane at either end, relative to its length.

    Where rows are so dense that edges are no longer than the noise, the normal component of most edges is about their
    length. An edge must therefore also leave the plane `OUTLYING` times as far as the edges around it.
    """
    n, d = X.shape
    off = np.zeros(G.nnz)
    if r >= d:
        return off  # the plane is the whole space
    order, row = nearest_first(G), edge_rows(G)
    for rows in threads.blocks(n, max(1, min(BLOCK, 2**22 // (max(k, 1) * d)))):
        axes = _tangents(G, X, order, rows, r, k)
        edges = slice(G.indptr[rows.start], G.indptr[rows.stop])
        V = _dense(X, G.indices[edges]) - _dense(X, row[edges])
        along = np.einsum("erd,ed->er", axes[row[edges] - rows.start], V)
        off[edges] = np.sqrt(np.maximum(np.square(V).sum(axis=1) - np.square(along).sum(axis=1), 0.0))
    noise = _row_medians(G, _row_medians(G, off)[G.indices])  # of the neighbours' medians: robust to one bad row
    size = np.maximum(np.maximum(G.data, _usual_lengths(G)[row]), OUTLYING / BENT * noise[row])
    scores = np.divide(off, size, out=np.zeros_like(off), where=size > 0)
    scores *= (np.diff(G.indptr) > r)[row]  # fewer neighbours do not span a plane
    return np.maximum(scores, turned(G, scores))


def _row_medians(G: sparse.csr_array, values: Array) -> Array:
    """The (lower) median of the values on each row's stored edges; 0 where it has none."""
    counts = np.diff(G.indptr)
    order = np.lexsort((values, edge_rows(G)))
    middle = np.minimum(G.indptr[:-1] + np.maximum(counts - 1, 0) // 2, G.nnz - 1)
    return np.where(counts > 0, values[order[middle]], 0.0)


def _tangents(G: sparse.csr_array, X: Any, order: Array, rows: slice, r: int, k: int) -> Array:
    """The r leading directions of each row with its k nearest neighbours; missing ones count as the row itself."""
    here = np.arange(rows.start, rows.stop)
    at = G.indptr[here][:, None] + np.arange(k)
    known = at < G.indptr[here + 1][:, None]
    members = np.where(known, G.indices[order[np.minimum(at, G.nnz - 1)]], here[:, None])
    members = np.column_stack([here, members])
    patches = _dense(X, members.ravel()).reshape(*members.shape, -1)
    weights = np.column_stack([np.ones(len(here), dtype=bool), known])[..., None]
    centre = (patches * weights).sum(axis=1, keepdims=True) / weights.sum(axis=1, keepdims=True)
    with threads.single_blas():
        return np.linalg.svd((patches - centre) * weights, full_matrices=False)[2][:, :r]


def _dense(X: Any, rows: Array) -> Array:
    found = X[rows]
    return np.asarray(found.toarray() if sparse.issparse(found) else found, dtype=np.float64)


def stability_scores(G: sparse.csr_array, k: int, n_jobs: int | None = None) -> Array:
    """Of each stored edge: the path between its ends in sparser graphs over its length (the median of three).

    A sparser graph keeps an edge when it is among the nearest of both its ends; its components are joined by the
    shortest edges of G. Paths are searched up to 6 times the longest edge of a row.
    """
    rank = ranks(G, nearest_first(G))
    later = np.maximum(rank, turned(G, rank))
    usual, starts = _usual_lengths(G), np.minimum(G.indptr[:-1], G.nnz - 1)  # rows without edges have no score
    row, first, ends = edge_rows(G), G.indptr.astype(np.int64), G.indices.astype(np.int32)
    reach = LONGEST * np.maximum.reduceat(G.data, starts).astype(np.float64)
    size = np.maximum(G.data, np.maximum(usual[row], usual[G.indices])).astype(np.float64)
    ratios = []
    for scale in SCALES:
        sparser = bare_arrays(joined(G, later < max(2, int(np.ceil(scale * k)))))
        path = np.empty(G.nnz)
        _native.distances_within(*sparser, first, ends, reach, path, threads.n_threads(n_jobs))
        path = np.minimum(path, LONGEST * size)
        ratios.append(np.divide(path, size, out=np.ones_like(path), where=size > 0))
    scores = np.median(ratios, axis=0)
    return np.maximum(scores, turned(G, scores))


def _usual_lengths(G: sparse.csr_array) -> Array:
    """The mean length of each row's edges; 0 where it has none."""
    total = np.bincount(edge_rows(G), G.data, minlength=G.shape[0])
    return np.asarray(total / np.maximum(np.diff(G.indptr), 1))

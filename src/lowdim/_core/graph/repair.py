"""Short circuits in a neighbour graph: edges that leap from one fold of a sheet to another, found and taken out.

One such edge shortens the paths between most pairs of rows. Three ways to find them, each with a score for an edge:

flow       Many shortest paths run through an end of the edge, and the ways around that end are long. The score is the
           number of paths through that row over the usual number (total flow, after Choi and Choi 2007).
linearity  The edge leaves the tangent plane of its neighbourhood. The score is the part of it outside the plane, over
           the largest of its length, the mean length of its row's edges, and 14 times what edges around leave it by.
stability  In sparser graphs of the same rows, of 0.8 to 1 times the neighbours and joined only where both ends agree,
           the ends are far from each other. The score is how many times longer than the edge the way between them is.

An edge without which the graph would fall apart stays where it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from lowdim import _native
from lowdim._core.graph import Edges, components, edge_arrays, edge_rows, join_edges, some_edges, with_edges
from lowdim._core.runtime import threads
from lowdim._core.runtime.rng import generator

compiled: Any = _native  # a compiled module has no types to check

Array = np.ndarray

METHODS = ("flow", "linearity", "stability")
Suspicious = tuple[Any, Any, Any]  # edges, scores, and whether each was removed; None three times without repair
NOT_ASKED: Suspicious = (None, None, None)

# Chosen on Swiss rolls of 1,000 to 4,000 rows (noise 0.05, 8 to 10 neighbours, three seeds each) with and without five
# rows between the turns: all five are found, and of the edges along the sheet less than 0.5 % raise a false alarm. For
# "linearity" that holds up to 30,000 rows and a noise of 0.2.
DETOUR = 3.0  # the way around a row over the way through it, from which on the row is a short cut
BUSIEST = 0.05  # share of the edges that no way around may use
BENT = 0.5  # part of an edge outside the tangent plane
OUTLYING = 7.0  # times as far outside as edges around are, their median
UNSTABLE = 3.5  # length of the way in sparser graphs over that of the edge
LONGEST = 6.0  # how far that way is looked for
SCALES = (0.8, 0.9, 1.0)

EXACT_UP_TO = 1000  # rows for which paths from all of them are counted; beyond, from so many of them
SOURCES = 500
BLOCK = 2048


@dataclass(frozen=True, eq=False)
class Repair:
    """How an estimator wants its graph repaired."""

    method: str | None
    n_components: int  # dimension of the tangent planes
    holes: Any = None  # how rows with missing cells are read


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
        False for those that hold the graph together.
    """

    graph: sparse.csr_array
    edges: Array
    scores: Array
    removed: Array

    def named(self, rows: Array | None = None) -> Suspicious:
        """Edges, scores, and which are gone; the edges by other numbers of the rows, where these are given."""
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
    """Take the short circuits out of a graph.

    Parameters
    ----------
    G : csr_array of shape (n, n)
        From `neighbor_graph`.
    method : {"flow", "linearity", "stability"}
        How they are found.
    rows : callable
        () -> the coordinates of the rows, dense or sparse; asked only for "linearity".
    n_components : int
        Dimension of the tangent planes.
    n_neighbors : int or None
        How many neighbours each row was joined to; None: the usual number of edges of a row.
    n_jobs : int or None
        Threads. The result does not depend on it.

    Returns
    -------
    Repaired
    """
    k = n_neighbors or max(1, int(np.median(np.diff(G.indptr))))
    if G.nnz == 0:
        return _without(G, np.empty(0), 0.0)
    if method == "flow":
        return _without(G, flow_scores(G, n_jobs), 0.0)
    if method == "linearity":
        return _without(G, linearity_scores(G, rows(), n_components, k), BENT)
    return _without(G, stability_scores(G, k, n_jobs), UNSTABLE)


def _without(G: sparse.csr_array, scores: Array, limit: float) -> Repaired:
    """G without edges above the limit, but for the least suspicious ones that hold it together."""
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

    Looked at are rows whose flow is above the usual: log f > median + median absolute deviation. Where neighbours of
    such a row fall into groups between which the way around it is long, edges to all but the largest group count. Ways
    around a row use none of the busiest edges: two short cuts side by side must not hide each other.
    """
    flow, along = total_flow(G, n_jobs)
    level = np.log1p(flow)
    usual = float(np.median(level))
    busy = np.flatnonzero(level > usual + np.median(np.abs(level - usual))).astype(np.int32)
    group = np.zeros(G.nnz, dtype=np.int32)
    typical = float(np.median(G.data))
    ways = edge_arrays(some_edges(G, along <= np.quantile(along, 1.0 - BUSIEST)))
    compiled.neighbor_groups(*edge_arrays(G), *ways, busy, DETOUR, typical, group, threads.n_threads(n_jobs))
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
    compiled.path_flow(*edge_arrays(G), sources.astype(np.int32), node, edge, threads.n_threads(n_jobs))
    return node * (n / m), (edge + turned(G, edge)) * (n / m)


def _largest_group(G: sparse.csr_array, group: Array) -> Array:
    """Of each row the group of most of its edges; of equals the first, which holds the nearest neighbour."""
    row, width = edge_rows(G), int(group.max()) + 1
    counts = np.bincount(row * width + group, minlength=G.shape[0] * width).reshape(-1, width)
    return counts.argmax(axis=1)


def linearity_scores(G: sparse.csr_array, X: Any, r: int, k: int) -> Array:
    """Of each stored edge: its part outside the tangent plane at either end, relative to its length.

    Where rows lie so densely that edges are no longer than the noise, most edges leave the plane by about their length.
    So what is usual around a row sets a limit of its own: an edge must stick out `OUTLYING` times as far.
    """
    n, d = X.shape
    off = np.zeros(G.nnz)
    if r >= d:
        return off  # nothing is outside
    order, place = nearest_first(G), edge_rows(G)
    for rows in threads.blocks(n, max(1, min(BLOCK, 2**22 // (max(k, 1) * d)))):
        axes = _tangents(G, X, order, rows, r, k)
        part = slice(G.indptr[rows.start], G.indptr[rows.stop])
        V = _dense(X, G.indices[part]) - _dense(X, place[part])
        along = np.einsum("erd,ed->er", axes[place[part] - rows.start], V)
        off[part] = np.sqrt(np.maximum(np.square(V).sum(axis=1) - np.square(along).sum(axis=1), 0.0))
    noise = _row_medians(G, _row_medians(G, off)[G.indices])  # of the neighbours' medians: one bad row moves none
    size = np.maximum(np.maximum(G.data, _usual_lengths(G)[place]), OUTLYING / BENT * noise[place])
    scores = np.divide(off, size, out=np.zeros_like(off), where=size > 0)
    scores *= (np.diff(G.indptr) > r)[place]  # fewer neighbours span no plane that could be left
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
    part = X[rows]
    return np.asarray(part.toarray() if sparse.issparse(part) else part, dtype=np.float64)


def stability_scores(G: sparse.csr_array, k: int, n_jobs: int | None = None) -> Array:
    """Of each stored edge: how many times longer the way between its ends is in sparser graphs (the middle of three).

    A sparser graph keeps an edge when it is among the nearest of both its ends; what falls apart is joined by the
    shortest edges of G. Ways are looked for up to 6 times the longest edge of a row.
    """
    rank = np.empty(G.nnz, dtype=np.int64)
    rank[nearest_first(G)] = np.arange(G.nnz) - np.repeat(G.indptr[:-1], np.diff(G.indptr))
    later = np.maximum(rank, turned(G, rank))
    usual, starts = _usual_lengths(G), np.minimum(G.indptr[:-1], G.nnz - 1)  # a row without edges asks nothing
    row, first, ask = edge_rows(G), G.indptr.astype(np.int64), G.indices.astype(np.int32)
    reach = LONGEST * np.maximum.reduceat(G.data, starts).astype(np.float64)
    size = np.maximum(G.data, np.maximum(usual[row], usual[G.indices])).astype(np.float64)
    ratios = []
    for scale in SCALES:
        sparser = _joined(G, later < max(2, int(np.ceil(scale * k))))
        way = np.empty(G.nnz)
        compiled.distances_within(*sparser, first, ask, reach, way, threads.n_threads(n_jobs))
        way = np.minimum(way, LONGEST * size)
        ratios.append(np.divide(way, size, out=np.ones_like(way), where=size > 0))
    scores = np.median(ratios, axis=0)
    return np.maximum(scores, turned(G, scores))


def _joined(G: sparse.csr_array, kept: Array) -> Edges:
    """Some edges of G, and the shortest others that join what they leave apart."""
    rest, row = some_edges(G, kept), edge_rows(G)
    label = components(rest)[1]
    across = np.flatnonzero((label[row] != label[G.indices]) & (row < G.indices))
    across = across[np.argsort(G.data[across], kind="stable")]
    taken, _ = join_edges([(float(G.data[e]), int(row[e]), int(G.indices[e])) for e in across], label)
    return edge_arrays(with_edges(rest, taken) if taken else rest)


def turned(G: sparse.csr_array, values: Array) -> Array:
    """Values of stored edges, each at the place of its other direction."""
    there = sparse.csr_array((np.arange(G.nnz), G.indices, G.indptr), shape=G.shape).T.tocsr()
    return values[there.data]


def nearest_first(G: sparse.csr_array) -> Array:
    """The places of the stored edges, row by row, the shortest of each row first."""
    return np.lexsort((G.data, edge_rows(G)))


def _usual_lengths(G: sparse.csr_array) -> Array:
    """The mean length of each row's edges; 0 where it has none."""
    total = np.bincount(edge_rows(G), G.data, minlength=G.shape[0])
    return np.asarray(total / np.maximum(np.diff(G.indptr), 1))

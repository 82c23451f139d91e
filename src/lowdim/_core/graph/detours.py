"""Short circuits as edges without which the path between their ends is a long detour.

An edge along the data is one of many: where it is missing, others lead from one end to the other. A short circuit has
no such others, but it may have company: a bundle of edges between two folds where neighbourhoods are too large, or a
chain of rows from one fold to the next. So suspects are taken out together, by two signs:

- long edges: not among the nearest 80 % of the neighbours of both ends, or the nearest half (bundles);
- edges of busy rows: those through which most shortest paths from a few rows run, and, once these are gone, those that
  take over (single edges and chains, whatever the number of rows in the chain).

In each of the rests, whose parts are joined by the shortest edges, suspects with a short path between their ends are
put back. That is repeated until nothing changes: a cut that suspects leave in a sheet closes from its ends, while all
edges of a short circuit have a long detour to the last. So do suspects with a much shorter detour than those around
them, as at the ends of a cut; but where a quarter of those around have a very long one, a bundle is not opened from its
ends. "Long" is measured in radii of the neighbourhoods. Edges that close a loop around a hole are told from these at
the end (`holes`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from lowdim import _native
from lowdim._core.gpu import devices
from lowdim._core.gpu.devices import Device
from lowdim._core.gpu.edges import Lengths, orders
from lowdim._core.graph.connectivity import components, join_edges, joined
from lowdim._core.graph.edges import bare_arrays, edge_rows, nearest_first, ranks, some_edges, turned
from lowdim._core.graph.first_look import Renumbered
from lowdim._core.graph.holes import around_holes
from lowdim._core.graph.shortest_paths import geodesics, geodesics_on
from lowdim._core.runtime.rng import generator
from lowdim._core.runtime.threads import n_threads

Array = np.ndarray

# Chosen on Swiss rolls with too many neighbours and with chains of 1 to 8 rows, and on data without short circuits; the
# numbers are in docs/decisions/0051-short-circuits.md.
SHORTER = (0.8, 0.5)  # of the neighbours, the nearest, are above suspicion
LEAST = 6  # neighbours, however few a row has
BUSY, PEELS = 0.03, 2  # share of the rows that are taken out as busy, and how often
BUSIER = 3.0  # times the median number of paths
SUSPECT = 3.5  # radii of a detour that makes a suspect
DETOURS = 6.0  # radii of a detour that makes a short circuit
FAR = 20.0  # up to which the detour is measured
UNEVEN, ENOUGH = 0.7, 12.0  # of the usual detour around: less is the end of a cut, unless it has so many radii
BUNDLE, QUARTER, HALF = 8.0, 0.75, 0.5  # where a quarter of the edges around have so many radii, half of that will do
SOURCES = 8  # rows that paths start from
FEWER_SOURCES = {5000: 3}  # of the first look, from so many rows on: it is to be a small part of a fit
ROUNDS = 3  # a short circuit may hide another one
FEW = 50  # rows among which there are no detours
MANY = 50.0  # neighbourhoods within the detour of a suspect: more than three dimensions, a search longer than most fits

LONGER = 1.5  # a distance that is so many times longer without the short circuits was spoilt by them
SPOILT = 0.12  # share of the distances that makes a warning
CHAIN, SPOILT_BY_CHAIN = 3, 0.09  # rows that are an end of every edge found, and the share that is enough then
DOUBT = 0.05  # without all suspects, from the first rows; less needs no second look
MEASURED = 32  # rows from which the share is measured
SEEN_FROM = 400  # rows: of fewer, neighbourhoods often reach as far as folds are apart, and nothing is seen
UNSURE = 0.2  # share of the distances that the longer half of the edges decide; of rolls of 150 to 400 rows over 0.2


@dataclass(frozen=True, eq=False)
class ShortCircuits:
    """What was found: the edges, the rows that most paths run through first, and what they do to the distances."""

    edges: Array  # (m, 2)
    rows: Array  # ends of these edges, the busiest first
    spoilt: float  # share of the geodesic distances that are 1.5 times longer without these edges


def short_circuits(
    G: sparse.csr_array, k: int, n_jobs: int | None = None, device: Device | None = None
) -> ShortCircuits | None:
    """The short circuits of a graph where they spoil more than a few geodesic distances; else None.

    Time grows with the number of edges: paths are searched from a few rows only, and not in graphs whose paths of few
    edges reach hundreds of rows, as in data of many dimensions. Without all suspects paths are longer than without some
    of them. Where even these are hardly longer, or all of them alike, there is nothing to look for.
    """
    if G.shape[0] < FEW or G.nnz == 0:
        return None
    if not (_doubtful(G, k, n_jobs) if device is None else _doubtful_on(_Places.of(G, k, n_jobs, device), k)):
        return None
    places, sources = _Places.of(G, k, n_jobs, device), _sources(G.shape[0], 0)
    found, more = detours(G, k, n_jobs), _sources(G.shape[0], 0, MEASURED)
    spoilt = _spoilt(geodesics(G, more, n_jobs=n_jobs), places, found, more) if found.any() else 0.0
    if spoilt <= SPOILT_BY_CHAIN:
        return None
    once = np.flatnonzero(found & (places.row < G.indices))
    edges = np.column_stack([places.row[once], G.indices[once]]).astype(np.intp)
    if spoilt <= SPOILT and not _is_chain(edges):
        return None
    flow = places.flow(np.ones(G.nnz, dtype=bool), np.zeros(G.shape[0], dtype=bool), sources)
    ends, busiest = np.unique(edges), np.argsort(-flow[edges].min(axis=1), kind="stable")
    return ShortCircuits(edges[busiest], ends[np.argsort(-flow[ends], kind="stable")], spoilt)


def _is_chain(edges: Array) -> bool:
    """Whether a few rows are ends of all edges, as those of a chain from one fold to the next.

    Edges across a hole, which spoil as many distances, have ends of their own each.
    """
    for _ in range(CHAIN):
        if not len(edges):
            break
        edges = edges[(edges != np.bincount(edges.ravel()).argmax()).all(axis=1)]
    return not len(edges)


def unseen(G: sparse.csr_array, k: int, n_jobs: int | None = None) -> float:
    """Of few rows: the share of the distances that depend on the longer edges; 0 where it is small, or rows are many.

    Where neighbourhoods reach from fold to fold, most long edges are short circuits, and none of them has a detour. Few
    rows of other data depend on their long edges too: this is a reason to look again, and not a finding.
    """
    if not FEW <= G.shape[0] < SEEN_FROM or k <= LEAST or G.nnz == 0:
        return 0.0
    places, sources = _Places.of(G, k, n_jobs), _sources(G.shape[0], 0, MEASURED)
    share = _spoilt(geodesics(G, sources, n_jobs=n_jobs), places, places.later >= LEAST, sources, alike=True)
    return share if share > UNSURE else 0.0


def _doubtful(G: sparse.csr_array, k: int, n_jobs: int | None) -> bool:
    """A first look from few rows: whether paths are longer without all suspects by one of the signs.

    Of the long edges only the most are taken out; without some of them paths would be shorter.
    """
    look, n = Renumbered.of(G, k, n_jobs), G.shape[0]
    count = _first_sources(n)
    sources, whole = _sources(n, 0, count), np.ones(G.nnz, dtype=bool)
    before, flow = look.paths(whole, sources)
    if _reaches_far(before, look.size, k):
        return False

    def spoilt(kept: Array) -> bool:
        return _longer(before, look.distances(look.joined(kept), sources), alike=True) > DOUBT

    if spoilt(look.later < min(_above_suspicion(k))):
        return True
    usual = float(np.median(flow))
    busy = _busiest(flow, np.zeros(n, dtype=bool), usual)
    rest = look.paths(look.without(busy), _sources(n, 1, count))[1]
    return spoilt(look.without(_busiest(rest, busy, usual)))


def _doubtful_on(places: _Places, k: int) -> bool:
    """The same with paths from a GPU."""
    n = places.G.shape[0]
    count = _first_sources(n)
    sources = _sources(n, 0, count)
    before = places.lengths(places.G, sources)
    if _reaches_far(before, float(np.median(places.size)), k):
        return False
    signs = list(_signs(places, k, None, count))[-2:]
    return any(_spoilt(before, places, sign, sources, alike=True) > DOUBT for sign in signs)


def _first_sources(n: int) -> int:
    return next((few for rows, few in FEWER_SOURCES.items() if n >= rows), SOURCES)


def _reaches_far(before: Array, size: float, k: int) -> bool:
    """Whether paths of few edges reach hundreds of rows, so that there is no surface to be cut short."""
    return bool((before < SUSPECT * size).sum(axis=1).mean() > MANY * k)


def _spoilt(before: Array, places: _Places, missing: Array, sources: Array, *, alike: bool = False) -> float:
    """Share of the distances that are 1.5 times longer where edges are missing.

    `alike`: longer than what a quarter of them is too, as in a sparser graph all paths are somewhat longer.
    """
    return _longer(before, places.lengths_without(missing, sources), alike=alike)


def _longer(before: Array, after: Array, *, alike: bool) -> float:
    """The same from the distances with and without the edges."""
    compared = np.isfinite(before) & (before > 0)
    if not compared.any():
        return 0.0
    ratio = after[compared] / before[compared]
    usual = float(np.partition(ratio, len(ratio) // 4)[len(ratio) // 4]) if alike else 1.0
    return float((ratio > LONGER * usual).mean())


def detour_scores(G: sparse.csr_array, k: int, n_jobs: int | None = None) -> Array:
    """Of each stored edge that is a short circuit: the detour between its ends in radii, up to 20; 0 for the others."""
    found, scores = detours(G, k, n_jobs), np.zeros(G.nnz)
    if found.any():
        places = _Places.of(G, k, n_jobs)
        once = np.flatnonzero(found & (places.row < G.indices))
        scores[once] = np.maximum(places.detour_of(once, found, FAR), np.nextafter(DETOURS, np.inf))
    return np.maximum(scores, turned(G, scores))


def detours(G: sparse.csr_array, k: int, n_jobs: int | None = None) -> Array:
    """Which stored edges are short circuits, both directions of an edge alike.

    Parameters
    ----------
    G : csr_array of shape (n, n)
        From `neighbor_graph`.
    k : int
        How many neighbours each row was joined to.
    n_jobs : int or None
        Threads. The result does not depend on it.

    Returns
    -------
    ndarray of bool, one for each stored edge
    """
    found = np.zeros(G.nnz, dtype=bool)
    if G.shape[0] < FEW or G.nnz == 0:
        return found
    places = _Places.of(G, k, n_jobs)
    for _ in range(ROUNDS):
        new = np.logical_or.reduce([_unhealed(places, found | sign) for sign in _signs(places, k, found)])
        if not (new & ~found).any():
            break
        found |= new
    return found & ~around_holes(places, found) if found.any() else found


def _signs(places: _Places, k: int, found: Array | None = None, sources: int = SOURCES) -> Iterator[Array]:
    """The suspects by each sign: long edges, and edges of busy rows where those found already are missing."""
    for few in sorted(_above_suspicion(k), reverse=True):
        yield places.later >= few
    kept = np.ones(places.G.nnz, dtype=bool) if found is None else ~found
    busy = _busy_rows(places, kept, sources)
    yield busy[places.row] | busy[places.G.indices]


def _above_suspicion(k: int) -> set[int]:
    """How many of the nearest neighbours are above suspicion, by each share."""
    return {max(LEAST, int(np.ceil(share * k))) for share in SHORTER}


def _unhealed(places: _Places, suspects: Array) -> Array:
    """The suspects that still have a long detour between their ends when all others were put back."""
    once = np.flatnonzero(suspects & (places.row < places.G.indices))
    once = once[places.detour_of(once, suspects, SUSPECT) > SUSPECT]
    while len(once):
        suspects = places.both(once)
        far = places.far(once, suspects)
        if far.all():
            return suspects
        once = once[far]
    return np.zeros_like(suspects)


@dataclass(frozen=True, eq=False)
class _Places:
    """A graph and what is asked about its stored edges again and again."""

    G: sparse.csr_array
    row: Array
    back: Array  # where the other direction of each edge is stored
    later: Array  # place among the edges of either end, the later one
    size: Array  # radius of the neighbourhoods at its ends, or its length where that is more
    n_jobs: int | None
    device: Device | None  # a GPU that sorts edges and searches paths from a few rows

    @classmethod
    def of(cls, G: sparse.csr_array, k: int, n_jobs: int | None, device: Device | None = None) -> _Places:
        row = edge_rows(G)
        if device is None:
            back, order = turned(G, np.arange(G.nnz)), nearest_first(G)
        else:
            back, order = devices.run(device, lambda on: orders(on, G.indptr, G.indices, G.data), "neighbour graph")
        rank, count = ranks(G, order), np.diff(G.indptr)
        last = order[np.clip(G.indptr[:-1] + np.minimum(k, count) - 1, 0, G.nnz - 1)]
        radius = np.where(count > 0, G.data[last], 0.0).astype(np.float64)
        radius = np.maximum(radius, np.median(radius))
        size = np.maximum(G.data, np.maximum(radius[row], radius[G.indices]))
        size = np.where(size > 0, size, 1.0)  # equal rows only
        return cls(G, row, back, np.maximum(rank, rank[back]), size, n_jobs, device)

    def lengths(self, G: sparse.csr_array, sources: Array) -> Array:
        """Geodesic distances from a few rows."""
        if self.device is None:
            return geodesics(G, sources, n_jobs=self.n_jobs)
        return np.asarray(geodesics_on(self.device, G, sources).cpu().numpy())

    def lengths_without(self, missing: Array, sources: Array) -> Array:
        """Geodesic distances from a few rows where edges are missing, parts being joined by the shortest of these."""
        if self.device is None:
            return self.lengths(joined(self.G, ~missing), sources)
        kept = ~missing

        def search(on: Device) -> Array:
            return self._there(on).joined(on.tensor(kept), join_edges).geodesics(sources)

        return devices.run(self.device, search, "shortest paths")

    def flow(self, kept: Array, busy: Array, sources: Array) -> Array:
        """How many of the shortest paths from some rows run through each, along edges kept between rows not busy."""
        found: Array | None = None
        if self.device is not None:

            def search(on: Device) -> Array | None:
                G, closed = self._there(on), on.tensor(busy)
                return G.kept(on.tensor(kept) & ~(closed[G.rows] | closed[G.ends])).flow(sources)

            found = devices.run(self.device, search, "shortest paths")
        if found is None:
            edges = bare_arrays(some_edges(self.G, kept & ~(busy[self.row] | busy[self.G.indices])))
            found = np.empty(self.G.shape[0])
            _native.path_flow(*edges, sources, found, np.empty(len(edges[1])), n_threads(self.n_jobs))
        return found

    def _there(self, on: Device) -> Lengths:
        """The graph on a GPU."""
        return Lengths.of(on, self.G.indptr, self.G.indices, self.G.data)

    def both(self, once: Array) -> Array:
        """Marks some edges in both directions."""
        marked = np.zeros(self.G.nnz, dtype=bool)
        marked[once] = marked[self.back[once]] = True
        return marked

    def detour_of(self, once: Array, missing: Array, reach: float) -> Array:
        """Paths between the ends of some edges, in radii, where edges are missing; beyond `reach` a little more."""
        row, n = self.row[once], self.G.shape[0]
        first = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=n))]).astype(np.int64)
        farthest, length = np.zeros(n), np.empty(len(once))
        np.maximum.at(farthest, row, reach * self.size[once])
        ends, rest = self.G.indices[once].astype(np.int32), bare_arrays(joined(self.G, ~missing))
        _native.distances_within(*rest, first, ends, farthest, length, n_threads(self.n_jobs))
        return np.minimum(length / self.size[once], np.nextafter(reach, np.inf))

    def far(self, once: Array, suspects: Array) -> Array:
        """Which edges have a long detour; if all have, which have one as long as usual around them, or a very long one.

        A wide bundle is not opened from its ends: what is put back makes the detours of the others shorter, one after
        the other. The detour of the edges at the ends may be half of what a quarter of the edges around them have.
        """
        length, rows = self.detour_of(once, suspects, FAR), np.unique(self.row[suspects])
        group = np.zeros(self.G.shape[0], dtype=np.int32)
        group[rows] = components(self.G[rows][:, rows])[1]
        at = group[self.row[once]]
        order = np.lexsort((length, at))
        start, count = np.unique(at[order], return_index=True, return_counts=True)[1:]
        usual, large = (length[order][start + ((count - 1) * part).astype(np.int64)][at] for part in (0.5, QUARTER))
        bundle = (large >= BUNDLE) & (length >= HALF * large)
        long = (length > DETOURS) | bundle
        return (length >= UNEVEN * usual) | (length >= ENOUGH) | bundle if long.all() else long


def _busy_rows(places: _Places, kept: Array, sources: int) -> Array:
    """The rows that most paths run through, and those that take over without them."""
    n = places.G.shape[0]
    busy, usual = np.zeros(n, dtype=bool), -1.0
    for peel in range(PEELS):
        flow = places.flow(kept, busy, _sources(n, peel, sources))
        usual = float(np.median(flow)) if peel == 0 else usual
        busy = _busiest(flow, busy, usual)
    return busy


def _busiest(flow: Array, busy: Array, usual: float) -> Array:
    """The rows marked as busy already, and those that most paths run through."""
    found, first = busy.copy(), np.flatnonzero(flow > BUSIER * usual)
    found[first[np.argsort(-flow[first], kind="stable")[: int(np.ceil(BUSY * len(flow)))]]] = True
    return found


def _sources(n: int, number: int, count: int = SOURCES) -> Array:
    """A few rows that paths start from."""
    return np.sort(generator(number).permutation(n)[:count]).astype(np.int32)

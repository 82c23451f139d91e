"""What methods on neighbour graphs share: the neighbour graph at fit, neighbours of new rows, and equal rows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from inspect import signature
from typing import Any

import numpy as np
from scipy import sparse

from lowdim._core.gpu import devices
from lowdim._core.gpu.device_rows import DeviceRows
from lowdim._core.gpu.devices import Device
from lowdim._core.gpu.edges import all_different, equal_on, hashes_on
from lowdim._core.graph import Connected, connect, neighbor_graph, stored_edges
from lowdim._core.graph.detours import LEAST, LONGER, SEEN_FROM, short_circuits, unseen
from lowdim._core.graph.repair import NO_REPAIR, Repair, Repaired, Suspicious, repaired, usual_degree
from lowdim._core.landmarks.choose import choose
from lowdim._core.landmarks.in_stream import nearest_counts
from lowdim._core.neighbors import SEARCH, nearest, within
from lowdim._core.runtime import memory
from lowdim._core.runtime.notices import warn
from lowdim._core.tables.equal_rows import hashes, same_rows

_WATCHED: ContextVar[bool] = ContextVar("lowdim_watched_graphs", default=True)


@contextmanager
def unwatched() -> Iterator[None]:
    """Inside, neighbour graphs are not searched for short circuits to warn of: nobody reads warnings about noise."""
    token = _WATCHED.set(False)
    try:
        yield
    finally:
        _WATCHED.reset(token)


@dataclass(frozen=True, eq=False)
class Neighborhood:
    """Settings of the neighbour graph: so many nearest rows, or all within a radius; of a sparse graph, its edges."""

    n_neighbors: int
    radius: float | None
    metric: Any
    search: str
    n_jobs: int | None
    owner: str
    device: Device | None = None  # where neighbours are searched; None: the CPU

    @property
    def _precomputed(self) -> bool:
        return isinstance(self.metric, str) and self.metric == "precomputed"

    def connected(
        self, X: Any, policy: str, repair: Repair, *, first: np.ndarray | None = None, graph: Any = None
    ) -> tuple[Connected, Suspicious]:
        """The graph of the rows after the policy `disconnected`, and the edges that `repair` found suspicious.

        `first` are the numbers that the rows have in the user's table, `graph` what `self.graph(X)` would give where
        that is known already.
        """
        G, suspicious = self.repaired(X, repair, first=first, graph=graph)
        how: dict[str, Any] = {"metric": self.metric, "n_jobs": self.n_jobs, "device": self.device}
        found = connect(G, X, policy=policy, owner=self.owner, **how)
        return found, suspicious

    def repaired(
        self, X: Any, repair: Repair, *, first: np.ndarray | None = None, graph: Any = None
    ) -> tuple[sparse.csr_array, Suspicious]:
        """The graph without its short circuits, connected or not, and the edges that `repair` found suspicious.

        Short circuits that are left, because nobody asked for a repair or because it did not find them, make a warning.
        """
        G, suspicious = self.graph(X) if graph is None else graph, NO_REPAIR
        if repair.method is not None:
            found = self._without_short_circuits(G, X, repair)
            G, suspicious = found.graph, found.numbered(first)
        if repair.method != "detour":
            self._warn_of_short_circuits(G, X, repair, first)
        else:
            self._warn_of_few_rows(G, X)
        return G, suspicious

    def graph(self, X: Any) -> sparse.csr_array:
        """Lengths of the edges: two rows are joined when either is a neighbour of the other."""
        if self._precomputed and sparse.issparse(X) and self.radius is None:
            return stored_edges(X, owner=self.owner)
        if self.radius is None:
            return neighbor_graph(self.nearest(X, self.n_neighbors), owner=self.owner, device=self.device)
        self._check_edges(X)
        found = within(X, self.radius, metric=self.metric, n_jobs=self.n_jobs, owner=self.owner)
        return neighbor_graph(found, owner=self.owner)

    def _without_short_circuits(self, G: sparse.csr_array, X: Any, repair: Repair) -> Repaired:
        if repair.method == "linearity" and self._precomputed:
            raise ValueError(
                f"{self.owner}: repair='linearity' needs the rows, which metric='precomputed' does not give. Use "
                "repair='detour', 'flow' or 'stability', which need only the graph."
            )
        return repaired(
            G,
            repair.method or "",
            rows=lambda: X if repair.holes is None else repair.holes.rows(X),
            n_components=repair.n_components,
            n_neighbors=None if self._listed(X) else self.n_neighbors,
            n_jobs=self.n_jobs,
        )

    def _listed(self, X: Any) -> bool:
        """Whether rows have the edges of a radius or of a given graph, not a number of neighbours."""
        return not are_searched(X, self.radius, self._precomputed)

    def _warn_of_short_circuits(self, G: sparse.csr_array, X: Any, repair: Repair, first: np.ndarray | None) -> None:
        if not _WATCHED.get():
            return
        k = usual_degree(G) if self._listed(X) else self.n_neighbors
        found = short_circuits(G, k, self.n_jobs, self.device)
        if found is None:
            return
        edges, rows = (a if first is None else first[a] for a in (found.edges, found.rows))
        named = ", ".join(f"{i}-{j}" for i, j in np.sort(edges[:3], axis=1).tolist())
        busy = ", ".join(map(str, rows[:3].tolist()))
        less = "" if self._precomputed and self._listed(X) else f", or take {self._fewer(X)}"
        left = "" if repair.method is None else f" after repair={repair.method!r}"
        warn(
            f"{self.owner}: the neighbour graph seems to have short circuits{left}. Without {len(edges)} of its "
            f"{G.nnz // 2} edges (rows {named}{', ...' if len(edges) > 3 else ''}), {found.spoilt:.0%} of the geodesic "
            f"distances are at least {LONGER - 1:.0%} longer; rows {busy} have most paths through them. Set "
            f"repair='detour', which removes these edges{less}. Where the data form a loop or surround a hole, these "
            "edges may belong there."
        )

    def _warn_of_few_rows(self, G: sparse.csr_array, X: Any) -> None:
        """A repair that nothing is left of to be seen may have missed what it was asked for."""
        if not _WATCHED.get():
            return
        k = usual_degree(G) if self._listed(X) else self.n_neighbors
        share = unseen(G, k, self.n_jobs)
        if share:
            warn(
                f"{self.owner}: repair='detour' may miss short circuits of fewer than {SEEN_FROM} rows; there are "
                f"{G.shape[0]}. With the {LEAST} nearest rows of each alone, {share:.0%} of the geodesic distances are "
                f"at least {LONGER - 1:.0%} longer than before, beside the others. Compare with the map of "
                f"{self._fewer(X)}, and trust what both show."
            )

    def _fewer(self, X: Any) -> str:
        return "a smaller radius" if self._listed(X) else f"fewer neighbours than {self.n_neighbors}"

    def nearest(self, rows: Any, k: int, queries: Any = None) -> Any:
        settings: dict[str, Any] = {"metric": self.metric, "n_jobs": self.n_jobs, "device": self.device}
        settings |= {"owner": self.owner, "name": "n_neighbors"}
        return nearest(rows, k, queries=queries, approximate=SEARCH[self.search], **settings)

    def for_weights(self, rows: Any, X: Any, holes: Any, completed: Any) -> tuple[Any, Any, Any]:
        """What `NeighborWeights` takes: new rows, the fitted rows that reconstruct them, and the neighbours.

        Where cells are missing, `completed` are the fitted rows with these filled, and those of new rows are filled.
        """
        near = self.nearest(rows, min(self.n_neighbors, len(rows)), X)
        if holes is None or completed is None:
            return X, rows, near
        return holes.rows_among(X, near, completed), completed, near

    def _check_edges(self, X: Any) -> None:
        """Estimate the memory of the graph from a few rows: how many edges a radius makes depends on the data."""
        n = X.shape[0]
        some = np.linspace(0, n - 1, min(n, 200)).astype(int)
        rows = None if self._precomputed else X
        reached = within(rows, self.radius or 0.0, metric=self.metric, queries=X[some], owner=self.owner)
        edges = int(reached.nnz / len(some) * n)
        needed = {f"neighbour graph (about {edges // n} edges a row)": 80 * edges}
        memory.check(self.owner, needed, "Use a smaller radius, or n_neighbors.")

    def reach(self, rows: Any, new: Any, n: int) -> sparse.csr_array:
        """Distances from each new row to its neighbours among the n fitted rows; at least to the nearest."""
        stored = self._precomputed and sparse.issparse(new)
        if self.radius is None and not stored:
            found = self.nearest(rows, min(self.n_neighbors, n), new)
            m, k = found.indices.shape
            start = k * np.arange(m + 1)
            return sparse.csr_array((found.distances.ravel(), found.indices.ravel(), start), shape=(m, n))
        if self.radius is None:
            near = sparse.csr_array(new)
        else:
            near = within(rows, self.radius, metric=self.metric, queries=new, owner=self.owner)
        alone = np.flatnonzero(np.diff(near.indptr) == 0)
        if len(alone) and stored:
            raise ValueError(
                f"{self.owner}: every row of X must store a distance to a fitted row; row {alone[0]} stores none."
            )
        return self._with_nearest(near, alone, rows, new) if len(alone) else near

    def _with_nearest(self, near: sparse.csr_array, alone: np.ndarray, rows: Any, new: Any) -> sparse.csr_array:
        """Rows without a neighbour within the radius get the nearest one."""
        found = self.nearest(rows, 1, new[alone])
        entries = near.tocoo()
        data = np.concatenate([entries.data, found.distances[:, 0]])
        ends = np.concatenate([entries.row, alone]), np.concatenate([entries.col, found.indices[:, 0]])
        return sparse.csr_array((data, ends), shape=near.shape)


def are_searched(X: Any, radius: float | None, precomputed: bool) -> bool:
    """Whether rows get a number of neighbours: not within a radius, nor where a sparse graph has them."""
    return radius is None and not (precomputed and sparse.issparse(X))


def enough_neighbors(estimator: type, wanted: int, n: int, searched: bool = True) -> int:
    """As many as wanted; of fewer rows than the default of the class needs, all others, with a warning.

    A number that was chosen is left to be refused, and one that is not used (not `searched`) is left as it is.
    """
    if not searched or wanted < n or n < 2 or wanted != signature(estimator).parameters["n_neighbors"].default:
        return wanted
    warn(
        f"{estimator.__name__}: the default n_neighbors={wanted} is too large for {n} rows; {n - 1} were used instead."
    )
    return n - 1


def nearest_of_each(near: sparse.csr_array) -> tuple[np.ndarray, np.ndarray]:
    """The column of the least stored value of each row (of equal values the first) and that value; no row is empty."""
    starts = near.indptr[:-1]
    least = np.minimum.reduceat(near.data, starts)
    at = np.flatnonzero(near.data == np.repeat(least, np.diff(near.indptr)))
    return near.indices[at[np.searchsorted(at, starts)]], least


@dataclass(frozen=True, eq=False)
class Distinct:
    """Equal rows as one row with a count: the first of each kind, the kind of every row, the size of each kind."""

    first: np.ndarray
    kind: np.ndarray
    counts: np.ndarray

    @classmethod
    def of(cls, X: Any, *, given: bool = False, device: Device | None = None) -> Distinct:
        """Rows of a table (or of a table of distances) with the same cells, found by a hash and then compared.

        `given`: the rows are nodes of a graph, which are all different. A `device` looks whether there are any.
        """
        n = X.shape[0]
        place = None if given or sparse.issparse(X) else device
        if place is not None and devices.run(place, lambda on: all_different(on, X), "equal rows"):
            return cls(np.arange(n), np.arange(n), np.ones(n, dtype=np.int64))
        there = place if isinstance(X, DeviceRows) else None
        keys = np.arange(n) if given else hashes(X) if there is None else hashes_on(there, X)
        _, first, kind, counts = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
        if len(first) == n or not (same_rows(X, first[kind]) if there is None else equal_on(there, X, first[kind])):
            return cls(np.arange(n), np.arange(n), np.ones(n, dtype=np.int64))
        order = np.argsort(first)
        number = np.empty(len(first), dtype=np.int64)
        number[order] = np.arange(len(first))
        return cls(first[order], number[kind], counts[order])

    @property
    def all(self) -> bool:
        """Whether no two rows are equal."""
        return len(self.first) == len(self.kind)

    def among(self, kept: np.ndarray) -> Distinct:
        """Of some kinds alone; rows of the others have kind -1, see `spread`."""
        number = np.full(len(self.first), -1)
        number[kept] = np.arange(len(kept))
        return Distinct(self.first[kept], number[self.kind], self.counts[kept])

    def spread(self, values: np.ndarray, outside: float = np.nan) -> np.ndarray:
        """For every row, the value of its kind; `outside` for rows of kinds that were left out."""
        if len(self.kind) and self.kind.min() >= 0:
            return values[self.kind]
        blank = np.full((1, *values.shape[1:]), outside, dtype=values.dtype)
        return np.concatenate([values, blank])[self.kind]

    def pick(self, X: Any, *, square: bool) -> Any:
        """The first of each kind; of a square table also their columns."""
        if self.all:
            return X
        return X[np.ix_(self.first, self.first)] if square else X[self.first]

    def landmarks(
        self, X: Any, m: int | None, *, method: str, metric: Any, rng: Any, n_jobs: int | None, owner: str
    ) -> Distinct:
        """m landmarks chosen by distance; every row is counted with the landmark nearest to it."""
        if m is None or m >= len(self.first):
            return self
        precomputed = isinstance(metric, str) and metric == "precomputed"
        if precomputed and sparse.issparse(X):
            raise ValueError(f"{owner}: n_landmarks must be None for a sparse graph, which lacks most distances.")
        rows = self.pick(X, square=precomputed)
        some = self.first[np.sort(choose(rows, m, method=method, metric=metric, rng=rng, owner=owner))]
        if precomputed:
            kind = np.argmin(X[:, some], axis=1)
        else:
            kind = nearest(X[some], 1, queries=X, metric=metric, n_jobs=n_jobs, owner=owner).indices[:, 0]
        return Distinct(some, kind, np.bincount(kind, minlength=m))

    def marked(self, X: Any, marked: Any, *, metric: Any, n_jobs: int | None, owner: str, **_: Any) -> Distinct:
        """Landmarks that were chosen from a stream; all its rows are counted, where they can be read again."""
        some = self.first[np.unique(self.kind[marked.positions])]
        kind = nearest(X[some], 1, queries=X, metric=metric, n_jobs=n_jobs, owner=owner).indices[:, 0]
        counts = np.bincount(kind, minlength=len(some))
        if marked.blocks is not None:
            counts = marked.blocks.gather(partial(nearest_counts, landmarks=X[some], metric=metric, owner=owner))
        return Distinct(some, kind, np.maximum(counts, 1))

    def n_neighbors(self, wanted: int, owner: str) -> int:
        """As many as wanted; all other rows, with a warning, where equal rows leave fewer different ones."""
        most = len(self.first) - 1
        if most < 1:
            raise ValueError(f"{owner}: X must have at least 2 different rows; got 1.")
        if self.all or wanted <= most:
            return wanted
        warn(f"{owner}: X has {most + 1} different rows, so that n_neighbors={wanted} is too many; {most} are used.")
        return most

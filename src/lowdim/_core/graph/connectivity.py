"""Connected components, and the one policy for data whose neighbour graph has several of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import squareform

from lowdim._core.gpu import devices
from lowdim._core.gpu.devices import Device
from lowdim._core.gpu.spectral import labels_of
from lowdim._core.graph.edges import Edge, edge_rows, some_edges, with_edges
from lowdim._core.runtime.notices import warn

POLICIES = ("bridge", "separate", "largest", "error")

_SMALL = 16  # components up to this size look for their nearest outsider in one shared search


def components(G: Any, device: Device | None = None) -> tuple[int, np.ndarray]:
    """Number of connected components, and the component of each row: 0 is the largest, of equals the first met."""
    if device is not None:
        n, arrays = G.shape[0], (edge_rows(G), G.indices)

        def labels(on: Device) -> Any:
            rows, ends = (on.tensor(part).long() for part in arrays)
            return labels_of(on, rows, ends, n)

        found = devices.run(device, labels, "components")
        found = found.cpu().numpy()
        return by_size(found) if found.any() else (1, np.zeros(n, dtype=np.int32))
    return by_size(connected_components(sparse.csr_array(G), directed=False)[1])


def by_size(found: np.ndarray) -> tuple[int, np.ndarray]:
    """Labels numbered by decreasing size, ties by first row."""
    _, first, found, sizes = np.unique(found, return_index=True, return_inverse=True, return_counts=True)
    label = np.empty(len(sizes), dtype=np.int32)
    label[np.lexsort((first, -sizes))] = np.arange(len(sizes), dtype=np.int32)
    return len(sizes), label[found]


@dataclass(frozen=True, eq=False)
class Connected:
    """A graph after the policy for disconnected data; rows keep their numbers, `kept` says which to embed."""

    graph: sparse.csr_array
    n_components: int  # before joining
    labels: np.ndarray  # component of each row before joining, 0 the largest
    kept: np.ndarray

    def parts(self, policy: str) -> list[np.ndarray]:
        """The rows of each component that is embedded separately."""
        if policy == "separate":
            return [np.flatnonzero(self.labels == c) for c in range(self.n_components)]
        return [np.flatnonzero(self.kept)]

    def bridges(self) -> tuple[np.ndarray, np.ndarray]:
        """Both ends of the edges between components, each edge once."""
        rows = np.repeat(np.arange(self.graph.shape[0]), np.diff(self.graph.indptr))
        across = (self.labels[rows] != self.labels[self.graph.indices]) & (rows < self.graph.indices)
        return rows[across], self.graph.indices[across]


def connect(
    G: sparse.csr_array,
    X: Any,
    *,
    policy: str,
    metric: Any = "euclidean",
    owner: str = "connect",
    n_jobs: int | None = None,
    device: Any = None,
) -> Connected:
    """Apply the policy for disconnected graphs; a connected graph passes unchanged.

    Parameters
    ----------
    G : csr_array of shape (n, n)
        From `neighbor_graph`.
    X : array or sparse matrix
        The rows, or with ``metric="precomputed"`` their distances (dense, condensed or sparse).
    policy : {"bridge", "separate", "largest", "error"}
        Join the components by their shortest edges (a minimum spanning tree of the components); keep them separate;
        keep only the rows of the largest; raise. All but the last warn, with the number of components.
    metric : str or callable
        Distance that measures the bridges.
    owner : str
        Name of the caller, for messages.
    n_jobs : int or None
        Threads of the search for bridges.
    device : Device, optional
        A GPU that searches for bridges, see `nearest`.

    Returns
    -------
    Connected
        The graph in the numbering of G, whatever the policy.
    """
    if policy not in POLICIES:
        raise ValueError(f"{owner}: disconnected must be one of {', '.join(POLICIES)}; got {policy!r}.")
    count, labels = components(G, device)
    kept = np.ones(G.shape[0], dtype=bool)
    if count == 1:
        return Connected(G, count, labels, kept)
    found = f"{owner}: the neighbour graph has {_counted(labels)}"
    if policy == "error":
        raise ValueError(
            f"{owner}: the neighbour graph must be connected; got {_counted(labels)}. "
            "Raise n_neighbors or radius, or set disconnected to 'bridge', 'separate' or 'largest'."
        )
    if policy == "bridge":
        G = with_edges(G, bridges(X, labels, metric=metric, owner=owner, n_jobs=n_jobs, device=device))
    elif policy == "separate":
        warn(f"{found}; each is embedded on its own.")
    else:
        kept = labels == 0
        warn(f"{found}; {int((~kept).sum())} rows outside the largest are left out.")
    return Connected(G, count, labels, kept)


def bridges(
    X: Any, labels: np.ndarray, *, metric: Any, owner: str, n_jobs: int | None = None, device: Any = None
) -> list[Edge]:
    """The shortest edges that join the components with these labels, and the warning that they do."""
    edges = list(_bridges(X, labels, metric, owner, n_jobs, device))
    warn(f"{owner}: the neighbour graph has {_counted(labels)}; they were joined by their shortest edges.")
    return edges


def bridged(G: sparse.csr_array, numbers: np.ndarray, X: Any, labels: np.ndarray, **settings: Any) -> sparse.csr_array:
    """A graph joined by the shortest edges among some of its rows.

    Of these, which must be of every component, `numbers` says which they are and `labels` the component; `X` holds
    them. `settings` are the metric, the owner and the number of threads.
    """
    edges = _bridges(X, labels, settings["metric"], settings["owner"], settings["n_jobs"])
    return with_edges(G, [(length, int(numbers[i]), int(numbers[j])) for length, i, j in edges])


def _counted(labels: np.ndarray) -> str:
    sizes = np.bincount(labels)
    listed = ", ".join(map(str, sizes[:5])) + (", ..." if len(sizes) > 5 else "")
    return f"{len(sizes)} components ({listed} rows)"


def _bridges(
    X: Any, labels: np.ndarray, metric: Any, owner: str, n_jobs: int | None, device: Any = None
) -> Iterator[Edge]:
    """The edges of a minimum spanning tree of the components, by Boruvka's rounds.

    In a round every component but the largest offers its shortest edge to the outside; offers are taken in
    order of length unless their ends are joined already. By the cut property each taken edge belongs to a
    minimum spanning tree, ties included: what joined a component earlier in the round is no longer than its
    offer.
    """
    known = isinstance(metric, str) and metric == "precomputed"
    part, there = labels, _on_device(X, labels, metric, owner, device)
    while part.max() > 0:
        if known and sparse.issparse(X):
            offers = _stored_across(X, part)
        elif there is not None:
            offers = there(part)
        else:
            offers = _offers_known(X, part) if known else _offers(X, part, metric, owner, n_jobs, device)
        taken, joined = join_edges(sorted(offers), part)
        if not taken:
            raise ValueError(
                f"{owner}: disconnected='bridge' must know distances between components; got none that joins "
                f"the last {part.max() + 1} of them (a sparse precomputed matrix holds only what is stored). "
                "Use disconnected='separate', 'largest' or 'error', or pass rows or a dense matrix."
            )
        yield from taken
        part = joined


def join_edges(edges: Iterable[Edge], part: np.ndarray) -> tuple[list[Edge], np.ndarray]:
    """The edges, in the order given, whose ends were not joined yet (Kruskal), and the parts they leave."""
    parent = list(range(int(part.max()) + 1))

    def root(p: int) -> int:
        while parent[p] != p:
            parent[p] = p = parent[parent[p]]
        return p

    taken = []
    for length, i, j in edges:
        a, b = root(int(part[i])), root(int(part[j]))
        if a != b and np.isfinite(length):
            parent[a] = b
            taken.append((length, i, j))
    return taken, by_size(np.array([root(p) for p in range(len(parent))])[part])[1]


def joined(G: sparse.csr_array, kept: np.ndarray) -> sparse.csr_array:
    """Some edges of G, and the shortest others that join their connected components."""
    rest, row = some_edges(G, kept), edge_rows(G)
    label = components(rest)[1]
    across = np.flatnonzero((label[row] != label[G.indices]) & (row < G.indices))
    across = across[np.argsort(G.data[across], kind="stable")]
    pair = np.sort(np.stack([label[row[across]], label[G.indices[across]]]).astype(np.int64), axis=0)
    first = np.unique(pair[0] * G.shape[0] + pair[1], return_index=True)[1]  # the shortest of two components
    across = across[np.sort(first)]
    taken, _ = join_edges([(float(G.data[e]), int(row[e]), int(G.indices[e])) for e in across], label)
    return with_edges(rest, taken) if taken else rest


def _stored_across(D: Any, part: np.ndarray) -> Iterator[Edge]:
    """The shortest stored distance of each two components: a sparse matrix knows no others."""
    stored = D.tocoo()
    ends = np.sort(part[np.stack([stored.row, stored.col])].astype(np.int64), axis=0)
    across = np.flatnonzero(ends[0] != ends[1])
    across = across[np.lexsort((stored.col[across], stored.row[across], stored.data[across]))]
    _, first = np.unique(ends[0, across] * len(part) + ends[1, across], return_index=True)
    for at in across[first]:
        yield _edge(stored.data[at], stored.row[at], stored.col[at])


def _offers_known(D: Any, part: np.ndarray) -> Iterator[Edge]:
    """Shortest edge from each component but the largest to the outside, in a table of distances."""
    D = squareform(D) if np.ndim(D) == 1 else np.asarray(D)
    for c in range(1, int(part.max()) + 1):
        inside, outside = np.flatnonzero(part == c), np.flatnonzero(part != c)
        block = D[np.ix_(inside, outside)]
        i, j = np.unravel_index(int(np.argmin(block)), block.shape)
        yield _edge(block[i, j], inside[i], outside[j])


def _offers(
    X: Any, part: np.ndarray, metric: Any, owner: str, n_jobs: int | None, device: Any = None
) -> Iterator[Edge]:
    """Shortest edge from each component but the largest to the outside, by searches for nearest rows.

    A row of a component of s rows has an outsider among its s + 1 nearest (itself included), so small
    components share one search; each larger one searches the rows outside it.
    """
    from lowdim._core.neighbors import nearest

    sizes, how = np.bincount(part), {"metric": metric, "n_jobs": n_jobs, "owner": owner, "device": device}
    small = np.flatnonzero((sizes[part] <= _SMALL) & (part > 0))
    if len(small):
        k = int(sizes[part[small]].max()) + 1
        found = nearest(X, k, queries=X[small], **how)
        yield from _first_outside(found, small, part)
    for c in np.flatnonzero(sizes > _SMALL)[1:]:  # the largest comes first and needs no offer
        inside, outside = np.flatnonzero(part == c), np.flatnonzero(part != c)
        found = nearest(X[outside], 1, queries=X[inside], **how)
        i = int(np.argmin(found.distances[:, 0]))
        yield _edge(found.distances[i, 0], inside[i], outside[found.indices[i, 0]])


def _on_device(X: Any, labels: np.ndarray, metric: Any, owner: str, device: Any) -> Any:
    """The search of `_offers` on a GPU, bounds first; None where it has none for these rows."""
    from lowdim._core.neighbors.on_device import shortest_across

    dense = not sparse.issparse(X) and isinstance(metric, str) and metric == "euclidean"
    offer = shortest_across(device, X, labels, owner) if device is not None and dense else None
    if offer is None:
        return None
    return lambda part: (_edge(*offer(part, number)) for number in range(1, int(part.max()) + 1))


def _first_outside(found: Any, rows: np.ndarray, part: np.ndarray) -> Iterator[Edge]:
    """For each component among `rows` the shortest edge to another one."""
    here = np.arange(len(rows))
    at = np.argmax(part[found.indices] != part[rows][:, None], axis=1)
    lengths, ends = found.distances[here, at], found.indices[here, at]
    order = np.lexsort((rows, lengths, part[rows]))
    _, first = np.unique(part[rows][order], return_index=True)
    for r in order[first]:
        yield _edge(lengths[r], rows[r], ends[r])


def _edge(length: Any, i: Any, j: Any) -> Edge:
    return float(length), int(min(i, j)), int(max(i, j))

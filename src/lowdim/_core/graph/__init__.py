"""Graphs on the rows of a table: who is next to whom, what hangs together, how far it is along the edges.

A graph is a `scipy.sparse.csr_array` G of shape (n, n). A stored entry G[i, j] is an edge of that length,
also when the length is 0 (two equal rows are next to each other, not unrelated); what is not stored is no
edge. Edges have no direction, so G is symmetric.

The length of a path is the sum of its edges; the geodesic distance of two rows is the length of the shortest
path, and inf when there is none. What becomes of rows that no path joins is one choice for all methods: see
`connect`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import squareform

from lowdim import _native
from lowdim._core.distances import check_dissimilarities, real_sparse
from lowdim._core.runtime.notices import warn
from lowdim._core.runtime.threads import blocks, n_threads

compiled: Any = _native  # a compiled module has no types to check

POLICIES = ("bridge", "separate", "largest", "error")

# Sources searched together by vector width, and how often an edge may be relaxed on average before the heap
# takes over: relaxing an edge costs 11 ns in the heap, and 0.3 ns (AVX-512) to 1.4 ns (baseline) a lane in a
# group.
# Measured in CPU seconds of one thread, k = 10, groups of 16 / 32 / 64, one heap a source, scipy's Dijkstra:
#                                                 AVX-512          baseline        heap   scipy      relaxed
#   Swiss roll, 5,000 rows, all pairs         .56 / .41 / .34   1.05 / .92 / 1.00   3.2    4.7         3.0
#   MNIST (784 columns), 5,000, all pairs     .94 / .73 / .55   1.86 / 1.8 / 1.96   3.7    4.8         4.3
#   Swiss roll, 20,000, 200 random sources    .21 / .20 / .17    .39 / .45 / .60    .66    .89         9.5
#   MNIST, 5,000, 200 random sources         .053 /.041 /.031   .100 /.090 /.095    .18    .22         5.5
# So groups win on every one of these; the heap stays for the graphs where they would not.
_LANES = {"avx512": 64, "avx2": 32, "baseline": 32}
_PATIENCE = {"avx512": 40.0, "avx2": 20.0, "baseline": 8.0}
_TABLE_BYTES = 128 * 2**20  # most memory for one thread's table of n x lanes distances
_GROUPS_PER_CALL = 32  # groups between two steps of the progress bar
_SMALL = 16  # components up to this size look for their nearest outsider in one shared search


def neighbor_graph(neighbors: Any, n: int | None = None, *, owner: str = "neighbor_graph") -> sparse.csr_array:
    """The symmetric graph of a neighbour search: i and j are joined when either is a neighbour of the other.

    Parameters
    ----------
    neighbors : Neighbors or sparse matrix
        The neighbours of the rows, or a square sparse matrix whose stored entries are lengths (it need not be
        symmetric).
    n : int or None
        Number of rows of the graph, when the record covers only the first ones.
    owner : str
        Who asks, for messages.

    Returns
    -------
    csr_array of shape (n, n)
        Sorted int32 indices, nothing on the diagonal, lengths 0 stored. Where the two directions differ the
        smaller length holds.

    Examples
    --------
    >>> from scipy import sparse
    >>> A = sparse.csr_array(([0.0, 2.0], ([0, 1], [1, 2])), shape=(3, 3))
    >>> G = neighbor_graph(A)
    >>> G.nnz, G.toarray()[2].tolist()
    (4, [0.0, 2.0, 0.0])
    """
    forth = _directed(neighbors, n, owner)
    _check_lengths(forth.data, owner)
    both = _side_by_side(forth, forth.T.tocsr())
    both.sort_indices()
    return _shortest_of_each_pair(both)


def stored_edges(D: Any, *, owner: str = "stored_edges") -> sparse.csr_array:
    """The graph whose edges are the stored entries of a sparse matrix of distances, all of them and no others.

    Nobody is asked for a number of neighbours: a row may have one edge, many, or none.

    Parameters
    ----------
    D : sparse matrix of shape (n, n)
        Lengths >= 0; an edge may be stored in one direction or in both. Stored zeros are edges of length 0, those on
        the diagonal are none.
    owner : str
        Who asks, for messages.

    Returns
    -------
    csr_array of shape (n, n)
        Symmetric, as from `neighbor_graph`.

    Examples
    --------
    >>> from scipy import sparse
    >>> stored_edges(sparse.csr_array([[0.0, 1.0, 0.0], [0.0, 0.0, 2.0], [0.0, 0.0, 0.0]])).nnz
    4
    """
    if not sparse.issparse(D):
        raise TypeError(f"{owner}: the graph must be a scipy sparse matrix; got {type(D).__name__}.")
    return neighbor_graph(check_dissimilarities(D, owner, sparse_ok=True), owner=owner)


def _directed(neighbors: Any, n: int | None, owner: str) -> sparse.csr_array:
    """One row of stored lengths for each row of the record or matrix."""
    if not sparse.issparse(neighbors):
        m, k = neighbors.indices.shape
        size, start = max(m, n or m), k * np.minimum(np.arange(max(m, n or m) + 1), m)
        parts = (neighbors.distances.ravel(), neighbors.indices.ravel(), start)
        return sparse.csr_array(parts, shape=(size, size))
    if neighbors.shape[0] != neighbors.shape[1]:
        raise ValueError(f"{owner}: the sparse matrix must be square; got shape {neighbors.shape}.")
    return real_sparse(neighbors, f"{owner}: the sparse matrix")


def _side_by_side(A: sparse.csr_array, B: sparse.csr_array) -> sparse.csr_array:
    """Each row holds the entries of A, then those of B. (A + B would add lengths up and drop the zeros.)"""
    in_A = np.arange(A.nnz) + np.repeat(B.indptr[:-1], np.diff(A.indptr))
    in_B = np.arange(B.nnz) + np.repeat(A.indptr[1:], np.diff(B.indptr))
    indices = np.empty(A.nnz + B.nnz, dtype=np.int32)
    data = np.empty(A.nnz + B.nnz, dtype=A.dtype)
    indices[in_A], indices[in_B] = A.indices, B.indices
    data[in_A], data[in_B] = A.data, B.data
    return sparse.csr_array((data, indices, A.indptr + B.indptr), shape=A.shape)


def _shortest_of_each_pair(G: sparse.csr_array) -> sparse.csr_array:
    """Of sorted entries that name the same pair the smallest; none that joins a row to itself."""
    n = G.shape[0]
    rows = np.repeat(np.arange(n, dtype=np.int32), np.diff(G.indptr))
    new = np.ones(G.nnz, dtype=bool)
    new[1:] = (rows[1:] != rows[:-1]) | (G.indices[1:] != G.indices[:-1])
    first = np.flatnonzero(new)
    data = np.minimum.reduceat(G.data, first) if len(first) else G.data
    proper = rows[first] != G.indices[first]
    first, data = first[proper], data[proper]
    start = np.concatenate([[0], np.cumsum(np.bincount(rows[first], minlength=n))]).astype(np.int32)
    return sparse.csr_array((data, G.indices[first].astype(np.int32), start), shape=(n, n))


def _check_lengths(lengths: np.ndarray, owner: str) -> None:
    if not np.isfinite(lengths).all():
        count = int((~np.isfinite(lengths)).sum())
        raise ValueError(
            f"{owner}: lengths of edges must be finite; got {count} that are NaN or infinite. Rescale the data if "
            "their distances are too large for floating-point numbers; in a sparse matrix, store no entry for no edge."
        )
    if lengths.size and lengths.min() < 0:
        raise ValueError(
            f"{owner}: lengths of edges must be >= 0; got {lengths.min()}. Turn similarities into distances first."
        )


def some_edges(G: sparse.csr_array, kept: np.ndarray) -> sparse.csr_array:
    """G with some of its stored edges."""
    start = np.concatenate([[0], np.cumsum(kept)])[G.indptr].astype(G.indptr.dtype)
    return sparse.csr_array((G.data[kept], G.indices[kept], start), shape=G.shape)


def has_edges(G: sparse.csr_array, columns: np.ndarray) -> np.ndarray:
    """Whether row i is joined to columns[i, j], for the sorted edges of `neighbor_graph`."""
    n = G.shape[0]
    stored = edge_rows(G) * np.int64(n) + G.indices
    return np.isin(np.arange(n)[:, None] * np.int64(n) + columns, stored)


def edge_rows(G: sparse.csr_array) -> np.ndarray:
    """The row of each stored edge."""
    return np.repeat(np.arange(G.shape[0]), np.diff(G.indptr))


def components(G: Any) -> tuple[int, np.ndarray]:
    """How many parts no edge joins, and the part of each row: 0 is the largest, of equals the first met."""
    return _by_size(connected_components(sparse.csr_array(G), directed=False)[1])


def _by_size(found: np.ndarray) -> tuple[int, np.ndarray]:
    """Labels numbered by decreasing size, ties by first row."""
    _, first, found, sizes = np.unique(found, return_index=True, return_inverse=True, return_counts=True)
    label = np.empty(len(sizes), dtype=np.int32)
    label[np.lexsort((first, -sizes))] = np.arange(len(sizes), dtype=np.int32)
    return len(sizes), label[found]


@dataclass(frozen=True, eq=False)
class Connected:
    """A graph after the policy for disconnected data; rows keep their numbers, `kept` says which to embed."""

    graph: sparse.csr_array
    n_components: int  # parts before joining
    labels: np.ndarray  # part of each row before joining, 0 the largest
    kept: np.ndarray

    def parts(self, policy: str) -> list[np.ndarray]:
        """The rows of each part that is embedded on its own."""
        if policy == "separate":
            return [np.flatnonzero(self.labels == c) for c in range(self.n_components)]
        return [np.flatnonzero(self.kept)]

    def bridges(self) -> tuple[np.ndarray, np.ndarray]:
        """Both ends of the edges that join parts, each edge once."""
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
) -> Connected:
    """Apply the policy for data whose graph falls apart; a connected graph passes unchanged.

    Parameters
    ----------
    G : csr_array of shape (n, n)
        From `neighbor_graph`.
    X : array or sparse matrix
        The rows, or with ``metric="precomputed"`` their distances (dense, condensed or sparse).
    policy : {"bridge", "separate", "largest", "error"}
        Join the parts by the shortest edges that do (a minimum spanning tree of the parts); keep them apart;
        keep only the rows of the largest; raise. All but the last warn, with the number of parts.
    metric : str or callable
        Distance that measures the bridges.
    owner : str
        Who asks, for messages.
    n_jobs : int or None
        Threads of the search for bridges.

    Returns
    -------
    Connected
        The graph in the numbering of G, whatever the policy.
    """
    if policy not in POLICIES:
        raise ValueError(f"{owner}: disconnected must be one of {', '.join(POLICIES)}; got {policy!r}.")
    count, labels = components(G)
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
        G = with_edges(G, list(_bridges(X, labels, metric, owner, n_jobs)))
        warn(f"{found}; they were joined by their shortest edges.")
    elif policy == "separate":
        warn(f"{found}; each is embedded on its own.")
    else:
        kept = labels == 0
        warn(f"{found}; {int((~kept).sum())} rows outside the largest are left out.")
    return Connected(G, count, labels, kept)


def _counted(labels: np.ndarray) -> str:
    sizes = np.bincount(labels)
    listed = ", ".join(map(str, sizes[:5])) + (", ..." if len(sizes) > 5 else "")
    return f"{len(sizes)} components ({listed} rows)"


Edge = tuple[float, int, int]  # length and ends, so that sorting goes by length and then by row


def with_edges(G: sparse.csr_array, edges: list[Edge]) -> sparse.csr_array:
    """G and some more edges."""
    stored, (lengths, i, j) = G.tocoo(), (np.array(part) for part in zip(*edges, strict=True))
    data = np.concatenate([stored.data, lengths.astype(G.dtype)])
    ends = np.concatenate([stored.row, i]), np.concatenate([stored.col, j])
    return neighbor_graph(sparse.coo_array((data, ends), shape=G.shape))


def _bridges(X: Any, labels: np.ndarray, metric: Any, owner: str, n_jobs: int | None) -> Iterator[Edge]:
    """The edges of a minimum spanning tree of the components, by Boruvka's rounds.

    In a round every component but the largest offers its shortest edge to the outside; offers are taken in
    order of length unless their ends are joined already. By the cut property each taken edge belongs to a
    minimum spanning tree, ties included: what joined a component earlier in the round is no longer than its
    offer.
    """
    known = isinstance(metric, str) and metric == "precomputed"
    part = labels
    while part.max() > 0:
        if known and sparse.issparse(X):
            offers = _stored_across(X, part)
        else:
            offers = _offers_known(X, part) if known else _offers(X, part, metric, owner, n_jobs)
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
    return taken, _by_size(np.array([root(p) for p in range(len(parent))])[part])[1]


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


def _offers(X: Any, part: np.ndarray, metric: Any, owner: str, n_jobs: int | None) -> Iterator[Edge]:
    """Shortest edge from each component but the largest to the outside, by searches for nearest rows.

    A row of a component of s rows has an outsider among its s + 1 nearest (itself included), so small
    components share one search; each larger one searches the rows outside it.
    """
    from lowdim._core.neighbors import nearest

    sizes = np.bincount(part)
    small = np.flatnonzero((sizes[part] <= _SMALL) & (part > 0))
    if len(small):
        k = int(sizes[part[small]].max()) + 1
        found = nearest(X, k, metric=metric, queries=X[small], n_jobs=n_jobs, owner=owner)
        yield from _first_outside(found, small, part)
    for c in np.flatnonzero(sizes > _SMALL)[1:]:  # the largest comes first and needs no offer
        inside, outside = np.flatnonzero(part == c), np.flatnonzero(part != c)
        found = nearest(X[outside], 1, metric=metric, queries=X[inside], n_jobs=n_jobs, owner=owner)
        i = int(np.argmin(found.distances[:, 0]))
        yield _edge(found.distances[i, 0], inside[i], outside[found.indices[i, 0]])


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


def geodesics(
    G: Any,
    sources: Any = None,
    *,
    n_jobs: int | None = None,
    dtype: Any = None,
    progress: Any = None,
) -> np.ndarray:
    """Lengths of the shortest paths from `sources` to every row: exact, and inf where no path leads.

    Each length is the least, over all paths, of the sum rounded from the source outwards in float64. It does
    not depend on `n_jobs`, on the vector width of the machine or on which sources are asked for together.
    D[i, j] and D[j, i] are summed from opposite ends and agree to 1e-12 relative (each edge of the path can
    add 1.1e-16).

    Parameters
    ----------
    G : sparse matrix of shape (n, n)
        Symmetric, lengths >= 0; stored zeros are edges of length 0.
    sources : array of int or None
        Rows to start from; None means every row.
    n_jobs : int or None
        Threads.
    dtype : float32, float64 or None
        Type of the result; None is float64. Paths are summed in float64 either way.
    progress : object with an ``advance()``, or None
        Advanced after each block of sources.

    Returns
    -------
    ndarray of shape (len(sources), n)

    Examples
    --------
    >>> from scipy import sparse
    >>> path = sparse.csr_array([[0.0, 1.0, 0.0], [1.0, 0.0, 2.0], [0.0, 2.0, 0.0]])
    >>> geodesics(path, [0]).tolist()
    [[0.0, 1.0, 3.0]]
    """
    edges, kind = edge_arrays(G), _checked_dtype(dtype)
    wanted = _checked_sources(sources, G.shape[0])
    distinct, back = np.unique(wanted, return_inverse=True)
    if len(distinct) < len(wanted):
        return geodesics(G, distinct, n_jobs=n_jobs, dtype=dtype, progress=progress)[back]
    out = np.empty((len(wanted), G.shape[0]), dtype=kind)
    _search(edges, wanted, out, n_threads(n_jobs), progress)
    return out


Edges = tuple[np.ndarray, np.ndarray, np.ndarray]  # starts, ends and lengths, as the kernels take them


def _search(edges: Edges, sources: np.ndarray, out: np.ndarray, threads: int, progress: Any) -> None:
    """Fill row s of `out` with the distances from sources[s]."""
    rows, groups = _grouped(edges, sources, _lanes(out.shape[1], len(sources), threads))
    ordered = sources[rows]
    patience, hopeless = _PATIENCE[compiled.simd_width()], False
    for part in blocks(len(groups) - 1, max(_GROUPS_PER_CALL, 4 * threads)):
        if hopeless:
            some = slice(groups[part.start], groups[part.stop])
            compiled.heap_paths(*edges, ordered[some], rows[some], out, threads)
        else:
            borders = groups[part.start : part.stop + 1]
            hopeless = compiled.batched_paths(*edges, ordered, rows, borders, out, patience, threads) > 0
        if progress is not None:
            progress.advance()


def _lanes(n: int, m: int, threads: int) -> int:
    """Sources in a group: what suits the vectors, less if the table gets too large or a thread idles."""
    lanes = _LANES[compiled.simd_width()]
    while lanes > 8 and (8 * n * lanes > _TABLE_BYTES or m <= (threads - 1) * lanes):
        lanes //= 2
    return lanes


def _grouped(edges: Edges, sources: np.ndarray, lanes: int) -> tuple[np.ndarray, np.ndarray]:
    """An order of the sources in which neighbours follow each other, and the borders of the groups in it."""
    order = np.empty(len(sources), dtype=np.int64)
    groups = np.empty(len(sources) + 1, dtype=np.int64)
    count = compiled.source_groups(edges[0], edges[1], sources, lanes, order, groups)
    return order, groups[: count + 1]


def edge_arrays(G: Any) -> Edges:
    """A symmetric graph as the kernels take it."""
    if not sparse.issparse(G) or G.shape[0] != G.shape[1]:
        raise ValueError(f"geodesics: G must be a square sparse matrix; got {type(G).__name__}, {np.shape(G)}.")
    graph = sparse.csr_array(G)
    _check_lengths(graph.data, "geodesics")
    graph = graph if graph.has_sorted_indices else graph.sorted_indices()
    turned = graph.T.tocsr()
    if not all(np.array_equal(getattr(graph, a), getattr(turned, a)) for a in ("indptr", "indices", "data")):
        raise ValueError("geodesics: G must be symmetric; got one-way edges. Pass it through neighbor_graph first.")
    return (
        np.ascontiguousarray(graph.indptr, dtype=np.int64),
        np.ascontiguousarray(graph.indices, dtype=np.int32),
        np.ascontiguousarray(graph.data, dtype=np.float64),
    )


def _checked_sources(sources: Any, n: int) -> np.ndarray:
    if sources is None:
        return np.arange(n, dtype=np.int32)
    found = np.asarray(sources)
    if found.ndim != 1 or (found.size and found.dtype.kind not in "iu"):
        raise ValueError(f"geodesics: sources must be a list of row numbers; got {found.dtype}, {found.shape}.")
    if found.size and not (found.min() >= 0 and found.max() < n):
        raise ValueError(f"geodesics: sources must lie in 0..{n - 1}; got {found.min()}..{found.max()}.")
    return found.astype(np.int32)


def _checked_dtype(dtype: Any) -> np.dtype:
    kind = np.dtype(np.float64 if dtype is None else dtype)
    if kind not in (np.float32, np.float64):
        raise ValueError(f"geodesics: dtype must be float32 or float64; got {kind}.")
    return kind


def laplacian(W: Any, *, normalization: str = "none") -> tuple[sparse.csr_array, np.ndarray]:
    """The Laplacian of a graph with weights W, and the degrees d = W 1 (the diagonal of W counts).

    none:         L = diag(d) - W                      f'Lf = 1/2 sum_ij W_ij (f_i - f_j)²
    symmetric:    L = I - diag(d)^-1/2 W diag(d)^-1/2  eigenvalues in [0, 2]
    random-walk:  L = I - diag(d)^-1 W                 the same eigenvalues; L 1 = 0

    A row of degree 0 has an empty row in L, so that the multiplicity of the eigenvalue 0 is the number of
    components, isolated rows included. All in float64: what follows works near a null space.

    Parameters
    ----------
    W : array or sparse matrix of shape (n, n)
        Symmetric weights >= 0.
    normalization : {"none", "symmetric", "random-walk"}
        Which of the three.

    Returns
    -------
    L : csr_array of shape (n, n)
    degrees : ndarray of shape (n,)

    Examples
    --------
    >>> L, degrees = laplacian([[0.0, 2.0, 0.0], [2.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    >>> L.toarray().tolist(), degrees.tolist()
    ([[2.0, -2.0, 0.0], [-2.0, 2.0, 0.0], [0.0, 0.0, 0.0]], [2.0, 2.0, 0.0])
    """
    weights = sparse.csr_array(W, dtype=np.float64)
    if weights.shape[0] != weights.shape[1]:
        raise ValueError(f"laplacian: W must be square; got shape {weights.shape}.")
    if weights.nnz and not (np.isfinite(weights.data).all() and weights.data.min() >= 0):
        raise ValueError(f"laplacian: W must be finite and >= 0; got {weights.data.min()} as the smallest entry.")
    degrees = np.asarray(weights.sum(axis=1)).ravel()
    if normalization == "none":
        return (_diagonal(degrees) - weights).tocsr(), degrees
    linked = degrees > 0
    if normalization == "symmetric":
        half = _diagonal(np.divide(1.0, np.sqrt(degrees), out=np.zeros_like(degrees), where=linked))
        return (_diagonal(linked) - half @ weights @ half).tocsr(), degrees
    if normalization == "random-walk":
        inverse = _diagonal(np.divide(1.0, degrees, out=np.zeros_like(degrees), where=linked))
        return (_diagonal(linked) - inverse @ weights).tocsr(), degrees
    raise ValueError(f"laplacian: normalization must be none, symmetric or random-walk; got {normalization!r}.")


def _diagonal(values: np.ndarray) -> sparse.csr_array:
    at = np.arange(len(values) + 1, dtype=np.int32)
    return sparse.csr_array((values.astype(np.float64), at[:-1], at), shape=(len(values), len(values)))

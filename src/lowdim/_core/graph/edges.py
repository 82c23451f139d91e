"""Edges between rows: neighbour graphs made symmetric, stored distances, and edges taken out or added."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from lowdim._core.distances import check_dissimilarities, real_sparse
from lowdim._core.gpu import devices
from lowdim._core.gpu.devices import Device
from lowdim._core.gpu.edges import symmetric


def neighbor_graph(
    neighbors: Any, n: int | None = None, *, owner: str = "neighbor_graph", device: Device | None = None
) -> sparse.csr_array:
    """The symmetric graph of a neighbour search: i and j are joined when either is a neighbour of the other.

    Parameters
    ----------
    neighbors : Neighbors or sparse matrix
        The neighbours of the rows, or a square sparse matrix whose stored entries are lengths (it need not be
        symmetric).
    n : int or None
        Number of rows of the graph, when the record covers only the first ones.
    owner : str
        Name of the caller, for messages.
    device : Device, optional
        A GPU that sorts the edges of a record of all rows.

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
    if device is not None and not sparse.issparse(neighbors) and n in (None, len(neighbors.indices)):
        _check_lengths(neighbors.distances, owner)
        lists, size = (neighbors.indices, neighbors.distances), len(neighbors.indices)
        parts = devices.run(device, lambda on: symmetric(on, *lists), owner)
        return sparse.csr_array(parts, shape=(size, size))
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
        Name of the caller, for messages.

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
    return sparse.csr_array((data, indices, _added(A.indptr, B.indptr)), shape=A.shape)


def _added(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Borders of the rows of two graphs together; each may have 2^31 entries, their sum more."""
    return _short(a.astype(np.int64) + b)


def _short(start: np.ndarray) -> np.ndarray:
    """Borders in 32 bits where they fit, so that the numbers of columns stay so too."""
    return start.astype(np.int32) if start[-1] <= np.iinfo(np.int32).max else start


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
    start = _short(np.concatenate([[0], np.cumsum(np.bincount(rows[first], minlength=n))]))
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


def turned(G: sparse.csr_array, values: np.ndarray) -> np.ndarray:
    """Values of stored edges, each moved to the entry of its other direction."""
    there = sparse.csr_array((np.arange(G.nnz), G.indices, G.indptr), shape=G.shape).T.tocsr()
    return values[there.data]


_PADDED = 4  # times as many cells as edges may be sorted, so that all rows are sorted at once


def nearest_first(G: sparse.csr_array) -> np.ndarray:
    """Positions of the stored edges, row by row, the shortest of each row first."""
    count = np.diff(G.indptr)
    widest = int(count.max(initial=0))
    if not np.isfinite(G.data).all() or len(count) * widest > _PADDED * G.nnz:  # a few rows have most of the edges
        return np.lexsort((G.data, edge_rows(G)))
    stored = np.arange(widest) < count[:, None]
    table = np.full(stored.shape, np.inf, dtype=G.dtype)
    table[stored] = G.data
    return np.asarray((G.indptr[:-1, None] + np.argsort(table, axis=1, kind="stable"))[stored])


def ranks(G: sparse.csr_array, order: np.ndarray) -> np.ndarray:
    """The place of each stored edge among those of its row, from `nearest_first`."""
    rank = np.empty(G.nnz, dtype=np.int64)
    rank[order] = np.arange(G.nnz) - np.repeat(G.indptr[:-1], np.diff(G.indptr))
    return rank


Edge = tuple[float, int, int]  # length and ends, so that sorting goes by length and then by row


def with_edges(G: sparse.csr_array, edges: list[Edge]) -> sparse.csr_array:
    """G and some more edges, none of which it has: put between the sorted entries of its rows."""
    lengths, i, j = (np.array(part) for part in zip(*edges, strict=True))
    row, column, length = np.concatenate([i, j]), np.concatenate([j, i]), np.concatenate([lengths, lengths])
    order = np.lexsort((column, row))
    row, column, length = row[order], column[order], length[order]
    counts = np.diff(G.indptr)[row]
    new = np.repeat(np.arange(len(row)), counts)
    stored = np.repeat(G.indptr[row] - (np.cumsum(counts) - counts), counts) + np.arange(len(new))
    at = G.indptr[row] + np.bincount(new[G.indices[stored] < column[new]], minlength=len(row))
    start = G.indptr + np.concatenate([[0], np.cumsum(np.bincount(row, minlength=G.shape[0]))])
    parts = (np.insert(G.data, at, length), np.insert(G.indices, at, column), _short(start))
    return sparse.csr_array(parts, shape=G.shape)


Edges = tuple[np.ndarray, np.ndarray, np.ndarray]  # starts, ends and lengths, as the kernels take them


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
    return bare_arrays(graph)


def bare_arrays(G: sparse.csr_array) -> Edges:
    """The same without a check, for a graph that `neighbor_graph` made or that is a part of one."""
    return (
        np.ascontiguousarray(G.indptr, dtype=np.int64),
        np.ascontiguousarray(G.indices, dtype=np.int32),
        np.ascontiguousarray(G.data, dtype=np.float64),
    )

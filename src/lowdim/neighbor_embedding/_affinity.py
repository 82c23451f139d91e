"""Affinities of t-SNE: from distances of neighbours to probabilities.

A graph holds the distances of each row to its neighbours; `weights` converts them to a distribution for each row (of a
given perplexity, of a given width, or uniform), and `joint` to one symmetric distribution over all pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from lowdim import _native
from lowdim._core.graph import stored_edges
from lowdim._core.neighbors import Neighbors
from lowdim._core.runtime import threads
from lowdim._core.runtime.notices import warn

KINDS = ("gaussian", "uniform")


def as_graph(found: Neighbors, n: int) -> sparse.csr_array:
    """Lists of neighbours as rows of stored distances, those of duplicates as stored zeros."""
    m, k = found.indices.shape
    starts = np.arange(0, m * k + 1, k, dtype=np.int64 if m * k > 2**31 - 1 else np.int32)
    return sparse.csr_array((found.distances.ravel(), found.indices.ravel(), starts), shape=(m, n))


def n_neighbors(perplexity: float | Sequence[float], n: int, owner: str) -> int:
    """How many neighbours a Gaussian of that perplexity needs: three times as many, or all there are.

    A perplexity is the effective number of neighbours, so n - 1 is the most it can be.
    """
    largest = float(np.max(perplexity))
    if float(np.min(perplexity)) < 1:
        raise ValueError(f"{owner}: perplexity must be at least 1, one neighbour; got {float(np.min(perplexity)):g}.")
    if largest > n - 1:
        raise ValueError(
            f"{owner}: perplexity must be less than the number of rows; got {largest:g} for {n} rows. "
            f"A third of the rows, {max(1, (n - 1) // 3)}, is a large one already."
        )
    if 3 * largest > n - 1 + 2:
        warn(
            f"{owner}: perplexity={largest:g} is more than a third of the {n - 1} other rows: all of them count as "
            "neighbours, and the map shows little of the local structure. Try "
            f"perplexity={max(1, (n - 1) // 3)} or less."
        )
    return max(1, min(n - 1, int(np.ceil(3 * largest))))


def fitting(perplexity: Any, default: float, n: int, owner: str, *, say: bool) -> Any:
    """A perplexity as given; the default, on too few rows for it, a third of them, with a warning if asked."""
    if not isinstance(perplexity, (int, float)) or perplexity != default or n - 1 >= default:
        return perplexity
    fewer = max(1.0, (n - 1) / 3)
    if say:
        warn(f"{owner}: the default perplexity {default:g} is too large for {n} rows; {fewer:.3g} was used instead.")
    return fewer


def weights(
    graph: sparse.csr_array,
    *,
    perplexity: float | Sequence[float] = 30.0,
    sigma: float | None = None,
    kind: str = "gaussian",
    n_jobs: int | None = None,
) -> sparse.csr_array:
    """A distribution over the neighbours of each row: p_j|i = exp(-beta_i d_ij²) / sum.

    Parameters
    ----------
    graph : csr_array of shape (m, n)
        Distances of m rows to their neighbours.
    perplexity : float or sequence of float
        2^entropy of each row, by which beta_i is found; of several, the distributions are averaged. A row whose
        neighbours are too few, or too many of which are equally near, gets the nearest possible value.
    sigma : float, optional
        One width for all rows instead: beta = 1 / (2 sigma²).
    kind : {"gaussian", "uniform"}
        "uniform": every neighbour has the same probability.
    n_jobs : int, optional
        Threads. The result does not depend on it.

    Returns
    -------
    csr_array of shape (m, n), float64
        Each row with neighbours sums to 1.

    Examples
    --------
    >>> graph = sparse.csr_array([[0.0, 1.0, 2.0], [1.0, 0.0, 1.0], [2.0, 1.0, 0.0]])
    >>> P = weights(graph, perplexity=1.5)
    >>> round(float(np.exp2(-(P.data * np.log2(P.data))[:2].sum())), 6)
    1.5
    """
    starts = graph.indptr.astype(np.int64)
    if kind == "uniform":
        data = np.repeat(1.0 / np.maximum(np.diff(starts), 1), np.diff(starts))
    else:
        squares = np.square(graph.data, dtype=np.float64)
        if sigma is not None:
            data = _of_width(squares, starts, sigma)
        else:
            values = np.atleast_1d(np.asarray(perplexity, dtype=np.float64))
            data = np.mean([_of_perplexity(squares, starts, value, n_jobs) for value in values], axis=0)
    return sparse.csr_array((data, graph.indices, graph.indptr), shape=graph.shape)


def _of_perplexity(squares: np.ndarray, starts: np.ndarray, perplexity: float, n_jobs: int | None) -> np.ndarray:
    found, betas = np.empty_like(squares), np.empty(len(starts) - 1)
    _native.calibrate_rows(starts, squares, perplexity, threads.n_threads(n_jobs), found, betas)
    return found


def _of_width(squares: np.ndarray, starts: np.ndarray, sigma: float) -> np.ndarray:
    """Relative to the nearest neighbour, so that the probabilities of an isolated row do not underflow."""
    counts, filled = np.diff(starts), np.flatnonzero(np.diff(starts))
    least, total = np.zeros(len(counts)), np.ones(len(counts))
    least[filled] = np.minimum.reduceat(squares, starts[filled]) if len(filled) else 0.0
    found = np.exp(-(squares - np.repeat(least, counts)) / (2.0 * sigma * sigma))
    total[filled] = np.add.reduceat(found, starts[filled]) if len(filled) else 1.0
    return found / np.repeat(total, counts)


def joint(P: sparse.csr_array) -> sparse.csr_array:
    """(P + P') / 2n: symmetric to the last bit, and summing to 1.

    Parameters
    ----------
    P : csr_array of shape (n, n)
        Distributions of rows over their neighbours, as `weights` makes them.

    Returns
    -------
    csr_array of shape (n, n), float64

    Examples
    --------
    >>> joint(sparse.csr_array([[0.0, 1.0], [1.0, 0.0]])).toarray()
    array([[0. , 0.5],
           [0.5, 0. ]])
    """
    both = (P + P.T).tocsr()
    both.sort_indices()
    both.data /= both.data.sum()
    return both


def entropy(P: Any) -> float:
    """Of the pairs, in nats; P is a sparse matrix or a graph on a device."""
    if not sparse.issparse(P):
        return float(P.entropy())
    p = P.data[P.data > 0]
    return float(-(p * np.log(p)).sum())


def given(X: Any, owner: str) -> sparse.csr_array:
    """The affinities that a user gives, as a symmetric distribution over pairs of different rows."""
    P = sparse.csr_array(X, dtype=np.float64)
    if P.shape[0] != P.shape[1]:
        raise ValueError(f"{owner}: affinities must be a square table, one row and column a row; got shape {P.shape}.")
    if P.nnz and not (float(P.data.min()) >= 0 and np.isfinite(P.data).all()):
        raise ValueError(f"{owner}: affinities must be finite and not negative; got {float(P.data.min()):g}.")
    P = P - sparse.diags_array(P.diagonal()).tocsr()
    P.eliminate_zeros()
    check_neighbors((P + P.T).tocsr(), owner)
    return joint(P)


def check_neighbors(graph: Any, owner: str) -> None:
    """Every row must have a neighbour: without one no force would attract it."""
    alone = np.flatnonzero(np.diff(graph.indptr) == 0)
    if len(alone):
        raise ValueError(
            f"{owner}: {len(alone)} rows of X store no distance to another row (the first is row {alone[0]}), so "
            "they have no neighbours. Leave them out or store distances for them."
        )


def nearest_first(graph: sparse.csr_array) -> sparse.csr_array:
    """The graph with the edges of each row in order of length, as a search gives them: sums then round alike."""
    rows = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
    order = np.lexsort((graph.indices, graph.data, rows))
    return sparse.csr_array((graph.data[order], graph.indices[order], graph.indptr), shape=graph.shape)


def stored_graph(X: Any, owner: str) -> sparse.csr_array:
    """The graph that precomputed sparse distances are; every row must have a neighbour.

    Where all rows store as many distances, these are the lists of a search, and are taken as such: a search among the
    rows gives the same graph. Otherwise they are edges, which hold in both directions.
    """
    graph = stored_edges(X, owner=owner)
    check_neighbors(graph, owner)
    lists = sparse.csr_array(X, dtype=np.float64)
    rows = np.repeat(np.arange(lists.shape[0]), np.diff(lists.indptr))
    others = rows != lists.indices
    counts = np.bincount(rows[others], minlength=lists.shape[0])
    if counts.min() != counts.max():
        return graph
    pointers = np.concatenate([[0], np.cumsum(counts)])
    return nearest_first(sparse.csr_array((lists.data[others], lists.indices[others], pointers), shape=lists.shape))

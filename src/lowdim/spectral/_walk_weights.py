"""Weights of the edges of a neighbour graph, and rules for the width of the heat kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from lowdim._core.distances import real_array, real_sparse
from lowdim._core.graph.edges import edge_rows, nearest_first
from lowdim._core.kernels.catalogue import RBF

WIDTH_CONVENTIONS = ("exp(-d2/(2*s2))", "exp(-d2/s2)", "exp(-d2/s)")  # formulas of a width s; see `RBF.from_width`
EDGE_WIDTH_RULES: dict[str, Callable[[np.ndarray], Any]] = {"median": np.median, "mean": np.mean, "largest": np.max}


def edge_gamma(lengths: np.ndarray, width: float | str, convention: str, gamma: float | None, owner: str) -> float:
    """The gamma of exp(-gamma d²): itself, from a width in the formula named, or from a rule about edge lengths.

    A rule gives the root of the median (mean, largest) squared length as the width; edges of length 0 do not count.
    """
    if gamma is not None:
        return float(gamma)
    if isinstance(width, str):
        square = float(EDGE_WIDTH_RULES[width](_positive_squares(lengths, owner)))
        width = square if convention == "exp(-d2/s)" else square**0.5  # there s stands for a squared length
    return RBF.from_width(width, convention).gamma


def kernel_sum_gamma(squares: np.ndarray, owner: str) -> float:
    """The gamma where the sum of the kernel S grows fastest with eps = 1 / gamma: d log S / d log eps is largest.

    Between an eps so small that K is the identity and one so large that all entries are 1, S grows like
    eps^(dimension / 2): there the kernel resolves the shape of the data. `squares` are squared distances from some rows
    to all, themselves included.
    """
    positive = _positive_squares(np.sqrt(squares), owner)
    low, high = np.log2(positive.min()), np.log2(positive.max())
    steps = 2.0 ** np.linspace(low, high + 1, int(np.clip(4 * (high - low + 1), 8, 80)))
    slopes = [_slope(squares, eps) for eps in steps]
    return float(1.0 / steps[int(np.argmax(slopes))])


def _slope(squares: np.ndarray, eps: float) -> float:
    """d log S / d log eps = sum (d² / eps) exp(-d² / eps) / sum exp(-d² / eps)."""
    e = squares / eps
    kernel = np.exp(-e)
    return float((e * kernel).sum() / kernel.sum())


def _positive_squares(lengths: np.ndarray, owner: str) -> np.ndarray:
    squares = np.square(lengths[lengths > 0], dtype=np.float64)
    if not squares.size:
        raise ValueError(
            f"{owner}: the graph must have an edge between different rows for a width to be found; got "
            f"{len(lengths)} edges, none of positive length. Pass gamma, raise n_neighbors or radius."
        )
    return squares


def kth_lengths(G: sparse.csr_array, k: int) -> np.ndarray:
    """The length of the k-th shortest edge of each row, or of its longest; 0 for rows without edges."""
    counts = np.diff(G.indptr)
    ordered = G.data[nearest_first(G)].astype(np.float64)
    at = G.indptr[:-1] + np.minimum(k, counts) - 1
    return np.where(counts > 0, np.append(ordered, 0.0)[at], 0.0)


def one_sided_edges(G: sparse.csr_array, k: int) -> np.ndarray:
    """Whether only one end of an edge has the other among its k nearest neighbours; equally near ones all count.

    The k nearest neighbours of a row are its k shortest edges, as others only have it among theirs.
    """
    reach = kth_lengths(G, k)
    return G.data > np.minimum(reach[edge_rows(G)], reach[G.indices])


def shortest_edges(G: sparse.csr_array) -> np.ndarray:
    """The length of the shortest edge of each row; infinite for rows without edges."""
    least = np.full(G.shape[0], np.inf)
    linked = np.diff(G.indptr) > 0
    if linked.any():
        least[linked] = np.minimum.reduceat(G.data, G.indptr[:-1][linked])
    return least


def check_weights(W: Any, owner: str) -> Any:
    """A symmetric table of weights >= 0, dense or sparse; halves that differ by rounding are averaged."""
    what = f"{owner}: the weights"
    W = real_sparse(W, what) if sparse.issparse(W) else real_array(W, what)
    if W.ndim != 2 or W.shape[0] != W.shape[1]:
        raise ValueError(f"{what} must be a square table; got shape {W.shape}.")
    values = W.data if sparse.issparse(W) else W
    largest, least = float(np.max(values, initial=0.0)), float(np.min(values, initial=0.0))
    if not (np.isfinite(largest) and least >= 0):
        raise ValueError(f"{what} must be finite and not negative; got {least:g} to {largest:g}.")
    gap = float(np.abs(W - W.T).max()) if W.shape[0] else 0.0
    if gap > 1e-6 * largest:
        raise ValueError(f"{what} must be symmetric; got entries that differ by {gap:g}. Pass (W + W.T) / 2.")
    return W if gap == 0 else (W + W.T) * 0.5


def at_first_rows(W: Any, first: np.ndarray, n: int) -> sparse.csr_array:
    """Weights between distinct rows as a matrix of all n rows, in the rows and columns that are the first of each."""
    if len(first) == n:
        return W
    edges = sparse.coo_array(W)
    return sparse.csr_array((edges.data, (first[edges.row], first[edges.col])), shape=(n, n))

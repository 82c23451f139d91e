"""UMAP's fuzzy graph of neighbours, and the kernel of its map."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import least_squares

from lowdim import _native
from lowdim._core.graph import Connected, connect
from lowdim._core.manifold.random_walk import weakest_link, with_values
from lowdim._core.runtime import threads

LEAST_WIDTH = 1e-3  # of the mean distance to the neighbours


@dataclass(frozen=True, eq=False)
class Calibrated:
    """Memberships exp(-(d - reach) / width) of neighbours, and the reach and width of each row."""

    memberships: sparse.csr_array
    reaches: np.ndarray
    widths: np.ndarray


def calibrated(graph: sparse.csr_array, connectivity: float, n_jobs: int | None = None) -> Calibrated:
    """exp(-(d_ij - rho_i) / sigma_i) for each stored distance: 1 for the nearest, and of k in sum log2(k + 1).

    Parameters
    ----------
    graph : csr_array of shape (m, n)
        Distances of m rows to their neighbours.
    connectivity : float
        rho_i is the distance of the neighbour with this rank, among those that are not at distance 0.
    n_jobs : int, optional
        Threads. The result does not depend on it.

    Returns
    -------
    Calibrated
        The memberships are a csr_array of shape (m, n), float64.
    """
    starts, distances = graph.indptr.astype(np.int64), graph.data.astype(np.float64)
    found, (reaches, widths) = np.empty_like(distances), np.empty((2, graph.shape[0]))
    _native.fuzzy_rows(
        starts, distances, float(connectivity), LEAST_WIDTH, threads.n_threads(n_jobs), found, reaches, widths
    )
    return Calibrated(with_values(graph, found), reaches, widths)


def memberships(graph: sparse.csr_array, connectivity: float, n_jobs: int | None = None) -> sparse.csr_array:
    """The memberships alone, see `calibrated`."""
    return calibrated(graph, connectivity, n_jobs).memberships


def union(W: sparse.csr_array, mix: float) -> sparse.csr_array:
    """Symmetric weights: the fuzzy union w + w' - ww' (mix 1), the intersection ww' (mix 0), or a mixture."""
    W = W.copy()
    W.sort_indices()
    other = sparse.csr_array(W.T)
    other.sort_indices()
    both = W.multiply(other)
    found = sparse.coo_array(mix * (W + other) + (1.0 - 2.0 * mix) * both)
    kept = (found.row != found.col) & (found.data != 0)
    found = sparse.csr_array((found.data[kept], (found.row[kept], found.col[kept])), shape=W.shape)
    found.sort_indices()
    return found


def joined(W: sparse.csr_array, X: Any, **settings: Any) -> tuple[sparse.csr_array, Connected]:
    """The weights after the policy for connected components; an edge that joins two has the weight of the weakest link.

    Parameters
    ----------
    W : csr_array of shape (n, n)
        Symmetric weights.
    X : array or sparse matrix
        Rows or distances, to find the shortest edges between components.
    **settings
        Of `connect`.

    Returns
    -------
    csr_array, Connected
    """
    found = connect(W, X, **settings)
    if found.graph is W:
        return W, found
    ends = np.repeat(np.arange(W.shape[0]), np.diff(found.graph.indptr))
    across = found.labels[ends] != found.labels[found.graph.indices]
    return with_values(found.graph, np.where(across, weakest_link(W, W.data), found.graph.data)), found


def curve(min_dist: float, spread: float, owner: str) -> tuple[float, float]:
    """a and b of 1 / (1 + a d^2b), which is about 1 up to `min_dist` and then exp(-(d - min_dist) / spread)."""
    if min_dist > spread:
        raise ValueError(f"{owner}: min_dist must be at most spread={spread:g}; got {min_dist:g}.")
    # In units of the spread, so that the same curve is fitted whatever that is.
    d = np.linspace(0.0, 3.0, 300)
    wanted = np.where(d < min_dist / spread, 1.0, np.exp(-(d - min_dist / spread)))
    a, b = least_squares(lambda ab: 1.0 / (1.0 + ab[0] * d ** (2.0 * ab[1])) - wanted, (1.0, 1.0), method="lm").x
    return float(a * spread ** (-2.0 * b)), float(b)

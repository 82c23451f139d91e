"""The kernel of diffusion maps between all rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from lowdim._core.distances import pairwise
from lowdim._core.graph import Connected, connect, neighbor_graph
from lowdim._core.manifold.random_walk import VANISHED, weakest_link, with_values
from lowdim._core.runtime import threads
from lowdim.spectral._falloff import Falloff


def all_distances(X: Any, metric: Any, n_jobs: int | None) -> np.ndarray:
    """The full table in float64."""
    if metric == "precomputed":
        return np.array(X, dtype=np.float64)
    D = np.empty((X.shape[0], X.shape[0]))

    def fill(rows: slice) -> None:
        D[rows] = pairwise(X[rows], X, metric, owner="DiffusionMaps")

    threads.map_rows(fill, len(D), max(1, 2**22 // len(D)), n_jobs)
    np.fill_diagonal(D, 0.0)
    return D


def full_kernel(D: np.ndarray, fall: Falloff, found: Any, X: Any, **settings: Any) -> tuple[np.ndarray, Connected]:
    """Weights of all pairs (written over D), bridges included, and the connected graph."""
    for rows in threads.blocks(len(D), max(1, 2**20 // len(D))):
        own = None if fall.scales is None else fall.scales[rows, None]
        D[rows] = fall.weights(D[rows] ** 2, own, fall.scales)
    K = _symmetric(D)
    near = neighbor_graph(found)
    weights = fall.weigh(near)
    strong = with_values(near, np.where(weights > VANISHED, 1.0, 0.0))
    strong.eliminate_zeros()
    joined = connect(strong if _is_connected(strong) else _pairs(K), X, **settings)
    _bridge(joined, K, weakest_link(near, np.maximum(weights, VANISHED)))
    return K, joined


def _is_connected(G: sparse.csr_array) -> bool:
    return sparse.csgraph.connected_components(G, directed=False, return_labels=False) == 1


def _pairs(K: np.ndarray) -> sparse.csr_array:
    """The pairs that the kernel joins."""
    joined = K > VANISHED
    np.fill_diagonal(joined, False)
    return sparse.csr_array(joined, dtype=np.float64)


def _symmetric(K: np.ndarray) -> np.ndarray:
    """K made symmetric in place: the halves differ by rounding, the lower one is kept."""
    for rows in threads.blocks(len(K), 512):
        K[rows, rows] = np.tril(K[rows, rows]) + np.tril(K[rows, rows], -1).T
        K[: rows.start, rows] = K[rows, : rows.start].T
    return K


def _bridge(joined: Connected, K: np.ndarray, link: float) -> None:
    """Edges between components have at least the weight of the weakest link."""
    edges = joined.graph.tocoo()
    across = joined.labels[edges.row] != joined.labels[edges.col]
    i, j = edges.row[across], edges.col[across]
    K[i, j] = np.maximum(K[i, j], link)

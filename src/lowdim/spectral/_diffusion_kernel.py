"""The kernel of diffusion maps: Gaussian weights between all rows or along a graph, and their width."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from lowdim._core.distances import pairwise
from lowdim._core.graph import Connected, connect, neighbor_graph
from lowdim._core.kernels.catalogue import RBF
from lowdim._core.manifold.neighborhood import Neighborhood, nearest_of_each
from lowdim._core.manifold.random_walk import VANISHED, nearness, weakest_link, with_values
from lowdim._core.runtime import threads
from lowdim._core.runtime.rng import generator
from lowdim.spectral._walk_weights import EDGE_WIDTH_RULES, kernel_sum_gamma

WIDTH_RULES = ("median", "self-tuning", "kernel-sum")
NEIGHBOR = 10  # whose squared distance the rule "median" takes
OWN_SCALE = 7  # the neighbour whose distance is the scale of a row (Zelnik-Manor and Perona)
_SAMPLED = 400_000  # distances that the rule "kernel-sum" uses


@dataclass(frozen=True, eq=False)
class Falloff:
    """exp(-gamma d²), or with a scale for each row exp(-d² / (s_i s_j))."""

    gamma: float | None
    scales: np.ndarray | None

    def exponents(self, squares: np.ndarray, own: Any, other: Any) -> np.ndarray:
        """The exponents for rows with the scales `own` and `other` (not used with a gamma)."""
        return squares / (own * other) if self.gamma is None else self.gamma * squares

    def along(self, G: sparse.csr_array, own: np.ndarray | None = None) -> np.ndarray:
        """The exponents of the edges of a graph of lengths; `own`: scales of its rows where they are new ones."""
        squares = np.square(G.data, dtype=np.float64)
        if self.scales is None:
            return self.exponents(squares, None, None)
        rows = np.repeat(np.arange(G.shape[0]), np.diff(G.indptr))
        return self.exponents(squares, (self.scales if own is None else own)[rows], self.scales[G.indices])

    def weigh(self, G: sparse.csr_array) -> np.ndarray:
        return np.exp(-self.along(G))

    def along_new(self, reach: sparse.csr_array, gaps: np.ndarray) -> np.ndarray:
        """The exponents from new rows to their neighbours, given the lengths."""
        if self.scales is None:
            return self.along(reach)
        nearest, least = nearest_of_each(reach)
        return self.along(reach, self._own(_reach(reach, OWN_SCALE), nearness(least, gaps[nearest]), nearest))

    def to_all(self, D: np.ndarray, gaps: np.ndarray) -> np.ndarray:
        """The exponents from new rows to all fitted ones, given the distances."""
        squares = np.square(D, dtype=np.float64)
        if self.scales is None:
            return self.exponents(squares, None, None)
        nearest, k = np.argmin(D, axis=1), min(OWN_SCALE, D.shape[1]) - 1
        close = nearness(D.min(axis=1), gaps[nearest])
        own = self._own(np.partition(D, k, axis=1)[:, k].astype(np.float64), close, nearest)
        return self.exponents(squares, own[:, None], self.scales)

    def _own(self, reach: np.ndarray, close: np.ndarray, nearest: np.ndarray) -> np.ndarray:
        """Scales of new rows: the distance to their 7th neighbour; next to a fitted row, the scale of that one."""
        scales: Any = self.scales
        return close * scales[nearest] + (1.0 - close) * np.maximum(reach, scales.min())


def falloff(X: Any, width: Any, convention: str, around: Neighborhood, found: Any) -> Falloff:
    """From a number or a rule; `found` are neighbours of all rows, or a sparse graph of distances."""
    if not isinstance(width, str):
        return Falloff(RBF.from_width(width, convention).gamma, None)
    if width == "kernel-sum":
        return Falloff(kernel_sum_gamma(_sample_of_squares(X, around), around.owner), None)
    reach = _reach(found, NEIGHBOR if width == "median" else OWN_SCALE)
    positive = reach[reach > 0]
    if not positive.size:
        raise ValueError(
            f"{around.owner}: X must have different rows for a width to be found; got none at a positive distance "
            f"among the nearest {NEIGHBOR} of each. Pass a number as width."
        )
    if width == "median":
        return Falloff(1.0 / float(EDGE_WIDTH_RULES["median"](positive**2)), None)
    return Falloff(None, np.maximum(reach, positive.min()))


def _reach(found: Any, k: int) -> np.ndarray:
    """The distance of each row to its k-th neighbour, or to the last one there is."""
    if not sparse.issparse(found):
        return found.distances[:, min(k, found.distances.shape[1]) - 1].astype(np.float64)
    reach = np.zeros(found.shape[0])
    for i, (start, stop) in enumerate(zip(found.indptr[:-1], found.indptr[1:], strict=True)):
        if stop > start:
            reach[i] = np.sort(found.data[start:stop])[min(k, stop - start) - 1]
    return reach


def _sample_of_squares(X: Any, around: Neighborhood) -> np.ndarray:
    """Squared distances from some rows, drawn with a fixed seed, to all."""
    n = X.shape[0]
    some = np.sort(generator(0).permutation(n)[: max(20, min(n, 1000, _SAMPLED // n))])
    if around.metric == "precomputed":
        block = np.append(X.data, np.zeros(n)) if sparse.issparse(X) else X[some]  # a row is 0 from itself
    else:
        block = pairwise(X[some], X, around.metric, owner="DiffusionMaps")
    return np.square(block, dtype=np.float64)


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
        D[rows] = np.exp(-fall.exponents(D[rows] ** 2, own, fall.scales))
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

"""UMAP's fuzzy graph of neighbours: made, combined with that of another model, of new rows; the kernel of its map."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import least_squares
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from lowdim import _native
from lowdim._core.gpu import devices
from lowdim._core.graph import Connected, connect
from lowdim._core.manifold.neighborhood import Distinct
from lowdim._core.manifold.random_walk import weakest_link, with_values
from lowdim._core.maps_blocks import MapsBlocks
from lowdim._core.runtime import threads
from lowdim._core.runtime.rng import generator
from lowdim.neighbor_embedding import _affinity, _new_rows
from lowdim.neighbor_embedding._out_of_reach import cut_memberships, without_long_edges

LEAST_WIDTH = 1e-3  # of the mean distance to the neighbours
LEAST, MOST = 1e-8, 1e-4  # bounds of the weight that an edge has in the one of two graphs that lacks it

POWER = np.log(2.0)  # weights of combined graphs are raised to a power from 1/2 to 2: many may be 1, whatever it is

START_SIZE = 10.0  # half the width of UMAP's initial map


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


def given(X: Any, mix: float) -> sparse.csr_array:
    """The weights that a user gives, from 0 to 1; both directions are combined where they differ.

    >>> given([[0.0, 0.5], [0.5, 0.0]], 1.0).toarray()
    array([[0. , 0.5],
           [0.5, 0. ]])
    """
    W = sparse.csr_array(X, dtype=np.float64)
    if W.shape[0] != W.shape[1]:
        raise ValueError(f"UMAP: weights must be a square table, one row and column a row; got shape {W.shape}.")
    if W.nnz and not (W.data.min() >= 0 and W.data.max() <= 1):
        raise ValueError(
            f"UMAP: weights must be from 0 to 1; got {W.data.min():g} to {W.data.max():g}. For distances set "
            "metric='precomputed' instead of affinity='precomputed'."
        )
    W = sparse.csr_array(W - sparse.diags_array(W.diagonal()))
    W.eliminate_zeros()
    W.sort_indices()
    _affinity.check_neighbors(W + W.T, "UMAP")
    return W if not len((W - W.T).data) else union(W, mix)


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


# ---- graphs of all rows, and of two models ------------------------------------------------------------------


def of_all_rows(W: sparse.csr_array, same: Distinct) -> sparse.csr_array:
    """Weights between distinct rows as a graph of all rows.

    A row that equals an earlier one has the edges of that row, and an edge of weight 1 to it.
    """
    n = len(same.kind)
    if same.all:
        return W
    again = np.setdiff1d(np.arange(n), same.first)
    again = again[same.kind[again] >= 0]
    copies = sparse.coo_array(W[same.kind[again]])
    one, other = again[copies.row], same.first[copies.col]
    edges, equal = sparse.coo_array(W), (again, same.first[same.kind[again]])
    i = np.concatenate([same.first[edges.row], one, other, *equal])
    j = np.concatenate([same.first[edges.col], other, one, *equal[::-1]])
    values = np.concatenate([edges.data, copies.data, copies.data, np.ones(2 * len(again))])
    found = sparse.csr_array((values, (i, j)), shape=(n, n))
    found.sort_indices()
    return found


def combined(left: sparse.csr_array, right: sparse.csr_array, how: str, k: float) -> sparse.csr_array:
    """The fuzzy intersection ("*"), union ("+") or contrast ("-") of two graphs of the same rows.

    Intersection: w w'; union: w + w' - w w'; contrast: w (1 - w'), what the left graph has and the right one lacks. For
    the intersection an edge that one of the graphs lacks has half of its least weight there, from 1e-8 to 1e-4: so no
    row loses all of its neighbours. Each row is then scaled to a strongest weight of 1; the weights of an intersection
    or union are raised to the power, from 1/2 to 2, by which they sum to log2(k + 1), as those of k neighbours do; both
    directions of an edge are united.

    >>> left, right = (sparse.csr_array([[0.0, w], [w, 0.0]]) for w in (0.5, 0.25))
    >>> combined(left, right, "+", 1).toarray()
    array([[0., 1.],
           [1., 0.]])
    """
    found = _operated(left, right, how)
    found.eliminate_zeros()
    found.sort_indices()
    return union(_rescaled(found, None if how == "-" else k), 1.0)


def _operated(left: sparse.csr_array, right: sparse.csr_array, how: str) -> sparse.csr_array:
    both = sparse.csr_array(left.multiply(right))
    if how == "+":
        return sparse.csr_array(left + right - both)
    if how == "-":
        shared = with_values(left, left.data * _beside(left, right))
        return with_values(left, np.maximum(left.data - shared.data, _floor(left)))  # a trace of what both have
    alone = [with_values(one, np.where(_beside(one, other) > 0, 0.0, one.data)) for one, other in
             ((left, right), (right, left))]  # fmt: skip
    return sparse.csr_array(both + _floor(right) * alone[0] + _floor(left) * alone[1])


def _beside(left: sparse.csr_array, right: sparse.csr_array) -> np.ndarray:
    """What `right` has at the stored entries of `left`, 0 where it has none."""
    rows = np.repeat(np.arange(left.shape[0]), np.diff(left.indptr))
    return np.asarray(right[rows, left.indices]).ravel() if left.nnz else np.zeros(0)


def _floor(G: sparse.csr_array) -> float:
    return float(np.clip(G.data.min(initial=1.0) / 2, LEAST, MOST))


def _rescaled(W: sparse.csr_array, k: float | None) -> sparse.csr_array:
    """Each row with a strongest weight of 1, and with `k` raised to the power by which it sums to log2(k + 1)."""
    counts = np.diff(W.indptr)
    filled = np.flatnonzero(counts)
    starts, counts = W.indptr[filled], counts[filled]
    if not len(filled):
        return W
    logs = np.log(W.data) - np.repeat(np.log(np.maximum.reduceat(W.data, starts)), counts)
    if k is None:
        return with_values(W, np.exp(logs))
    low, high = np.full(len(filled), -POWER), np.full(len(filled), POWER)
    wanted = np.log2(np.minimum(k, counts) + 1)
    for _ in range(40):
        middle = (low + high) / 2
        above = np.add.reduceat(np.exp(np.repeat(np.exp(middle), counts) * logs), starts) > wanted
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return with_values(W, np.exp(np.repeat(np.exp(low), counts) * logs))


class WithGraph(_new_rows.PlacesRows, MapsBlocks):
    """What a fitted UMAP gives of its fuzzy graph: memberships of new rows, and models of two graphs together."""

    recall_: float | None

    def __mul__(self, other: Any) -> Any:
        return self._combined(other, "*") if isinstance(other, WithGraph) else NotImplemented

    def __add__(self, other: Any) -> Any:
        return self._combined(other, "+") if isinstance(other, WithGraph) else NotImplemented

    def __sub__(self, other: Any) -> Any:
        return self._combined(other, "-") if isinstance(other, WithGraph) else NotImplemented

    @threads.on_one_blas_thread
    def _combined(self: Any, other: Any, how: str) -> Any:
        """A model of both graphs, with the settings of this one; components are joined where its map has them near."""
        for model in (self, other):
            check_is_fitted(model)
            if getattr(model, "graph_", None) is None:
                raise ValueError(
                    "UMAP: models must have a graph to be combined; one is from a file of an earlier release. "
                    "Fit it again."
                )
        n, m = self.graph_.shape[0], other.graph_.shape[0]
        if n != m:
            raise ValueError(f"UMAP: models must be of the same rows to be combined; got {n} and {m} rows.")
        found = type(self)(**self.get_params(deep=False))
        found.set_params(densities=0.0, device="cpu", init="random" if self.init == "random" else "spectral")
        return found._of_graph(
            combined(self.graph_, other.graph_, how, (self.n_neighbors + other.n_neighbors) / 2), self
        )

    def _of_graph(self: Any, W: sparse.csr_array, of: Any) -> Any:
        """Fitted to a graph alone, with the places of the rows in the map of another model."""
        self.a_, self.b_, self.not_shown_, self.recall_ = of.a_, of.b_, of.not_shown_, None
        self.graph_, self._rows, self._holes = W, None, None
        every = Distinct(*(np.arange(W.shape[0]),) * 2, np.ones(W.shape[0], dtype=np.int64))
        near = np.flatnonzero(np.diff(W.indptr) > 0)  # others were left out of both maps
        same = every if len(near) == W.shape[0] else every.among(near)
        W = W if len(near) == W.shape[0] else W[near][:, near]
        places = np.nan_to_num(np.asarray(of.embedding_, dtype=np.float64))[same.first]
        Z = self._laid_out(W, places, same, None, generator(self.random_state), None, "euclidean")
        self.embedding_ = Z.astype(of.embedding_.dtype)
        self._n_features_out, self._extension = Z.shape[1], None
        return self

    @threads.on_one_blas_thread
    def affinities(self: Any, X: Any) -> sparse.csr_array:
        """The fuzzy graph of rows under the settings of this model, which need not be fitted and does not change.

        It can be looked at, changed, joined with others, and mapped by a model with ``affinity="precomputed"``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows; with ``metric="precomputed"`` their distances.

        Returns
        -------
        W : csr_array of shape (n_samples, n_samples)
            Symmetric weights from 0 to 1; what `graph_` is after a fit.
        """
        model = clone(self).set_params(device="cpu", init="pca")
        model._check_parameters()
        rows, _ = model._check_rows(X, fitting=True)
        same = Distinct.of(rows, given=model._precomputed() and sparse.issparse(rows))
        _, W = model._weights(same.pick(rows, square=model._precomputed()), same, None)
        return of_all_rows(W, same)

    @threads.on_one_blas_thread
    def memberships(self: Any, X: Any) -> sparse.csr_array:
        """How much each new row is a neighbour of the fitted rows, by which `transform` places it.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows; with ``metric="precomputed"`` their distances to the fitted rows.

        Returns
        -------
        W : csr_array of shape (n_samples, n_fitted)
            Memberships from 0 to 1 of the nearest fitted rows; of equal fitted rows the first stands for all.
        """
        check_is_fitted(self)
        X, _ = self._check_rows(X, fitting=False)
        groups, weights, _ = self._near_fitted(X[:, self._extension] if self._precomputed() else X)
        near = [np.repeat(new, found.indices.shape[1]) for new, found in groups]
        ends = [self._extension[found.indices.ravel()] for _, found in groups]
        values = np.concatenate([w.ravel() for w in weights])
        shape = X.shape[0], len(self.embedding_)
        return sparse.csr_array((values, (np.concatenate(near), np.concatenate(ends))), shape=shape)

    def _weights(self: Any, rows: Any, same: Distinct, place: Any) -> tuple[Any, sparse.csr_array]:
        """Distances of rows to their neighbours (None where weights are given), and the fuzzy graph."""
        if self.affinity == "precomputed":
            return None, given(rows, self.set_op_mix_ratio)
        graph = without_long_edges(self._graph(rows, same, place), self.disconnection_distance)
        W = memberships(graph, self.local_connectivity, self.n_jobs)
        return graph, union(W, self.set_op_mix_ratio)

    def _near_fitted(self: Any, X: Any) -> tuple[Any, Any, np.ndarray]:
        """The nearest fitted rows of new ones, their memberships, and the new rows that have none within reach."""
        k = min(self.n_neighbors, len(self._extension))
        groups = _new_rows.neighbors_of_new(self._neighborhood(devices.find(self.device, "UMAP")), self._rows, X, k)
        graphs = (_affinity.as_graph(found, len(self._extension)) for _, found in groups)
        found = [memberships(graph, self.local_connectivity, self.n_jobs) for graph in graphs]
        weights = [w.data.reshape(w.shape[0], -1) for w in found]
        return (groups, *cut_memberships(groups, weights, self.disconnection_distance))

    @property
    def _places_rows(self: Any) -> bool:
        return self.affinity != "precomputed" and getattr(self, "_extension", True) is not None

    def _n_graph(self: Any, n: int) -> int:
        return int(min(self.n_neighbors, n - 1))

    def _start_scale(self: Any, Z: np.ndarray) -> float:
        """As wide as the map will be."""
        return float(START_SIZE * self.spread / np.abs(Z).max())

    def _precomputed(self: Any) -> bool:
        return self.affinity == "precomputed" or super()._precomputed()

    def _check_rows(self: Any, X: Any, *, fitting: bool) -> Any:
        if not fitting and not self._places_rows:
            raise ValueError(
                "UMAP: a model of weights alone (affinity='precomputed', or combined of two others) has no rows of its "
                "own, so that it cannot place new ones. Fit on rows or distances, or transform by each of the two."
            )
        return super()._check_rows(X, fitting=fitting)

    def _extend(self: Any, X: Any) -> np.ndarray:
        fitted = self._fitted_places().astype(np.float64) / self.spread
        groups, weights, lost = self._near_fitted(X[:, self._extension] if self._precomputed() else X)
        place = devices.find(self.device, "UMAP")
        Z = _new_rows.place_by_memberships(groups, weights, fitted, self._forces(), self.n_jobs, place)
        Z[lost] = np.nan
        return np.asarray(self.spread * Z)

    def _fitted_places(self: Any) -> np.ndarray:
        return np.ascontiguousarray(self.embedding_[self._extension])

"""The stages of TCIE in one connected component: geodesic distances, stress over trusted pairs, landmarks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import lapack
from scipy.sparse.csgraph import minimum_spanning_tree
from sklearn.exceptions import ConvergenceWarning

from lowdim._core.callbacks import Relay
from lowdim._core.extend import Interpolation, NeighborWeights
from lowdim._core.graph import geodesics, neighbor_graph
from lowdim._core.iterate import Run
from lowdim._core.manifold.reduced import SPARE
from lowdim._core.neighbors import Neighbors, nearest
from lowdim._core.runtime import threads
from lowdim._core.runtime.notices import warn
from lowdim.stress._initial import classical_of_table, principal_axes
from lowdim.stress._levels import Ratio
from lowdim.stress._majorize import Pairs, condensed
from lowdim.stress._solvers import Problem, minimize_stress

Array = np.ndarray

INVERTED = 8000  # rows up to which the Laplacian of the weights is inverted, once for all steps


@dataclass(frozen=True, eq=False)
class ComponentGeodesics:
    """Geodesic distances between the sources (all rows, or landmarks), a neighbour graph of these, and the sources
    nearest to every row.

    With landmarks, the graph joins each to the nearest others by geodesic distance, so that no edge is a short circuit
    however few landmarks there are.
    """

    D: Array
    graph: sparse.csr_array
    sources: Array | None
    near: Neighbors | None  # landmarks nearest to each row by geodesic distance

    @classmethod
    def of(cls, graph: sparse.csr_array, sources: Array | None, k: int, r: int, **settings: Any) -> ComponentGeodesics:
        """From the graph of all rows; k neighbours for each landmark, r the dimension of the embedding."""
        D = geodesics(graph, sources, **settings)
        if sources is None:
            return cls(D, graph, None, None)
        among = np.ascontiguousarray(D[:, sources])
        near = _nearest_sources(among, min(k + 1, len(among)))
        others = Neighbors(near.indices[:, 1:], near.distances[:, 1:])  # a landmark is its own nearest
        tree = minimum_spanning_tree(sparse.csr_array(among))
        joined = sparse.csr_array(neighbor_graph(others).maximum(tree.maximum(tree.T)))
        return cls(among, joined, sources, _nearest_sources(D, min(r + SPARE, len(among))))

    def nearest_source(self, n: int) -> Array:
        """The number of the source nearest to each of n rows."""
        return np.arange(n) if self.near is None else self.near.indices[:, 0]

    def extended(self, Z: Array, X: Any, n_jobs: int | None) -> Array:
        """Coordinates of all rows from those of the sources, by reconstruction weights where the rows X are given."""
        if self.near is None:
            return Z
        if X is None:
            return Interpolation(Z)(self.near)
        component_of = np.zeros(len(Z), dtype=int)
        return NeighborWeights(Z, component_of, None, "auto", Z.shape[1])(X, X[self.sources], self.near, n_jobs)


@dataclass(frozen=True, eq=False)
class EmbeddedComponent:
    """One component embedded: coordinates, one-sidedness and boundary of its rows, and how the solver ended."""

    embedding: Array
    one_sidedness: Array
    boundary: Array
    sources: Array  # the rows that paths start from
    kept_share: float
    stress: float
    run: Run[None]
    neighbors_kept: tuple[Array, Array]  # by the map and by Isomap's, of each source; see `neighbors_kept`


def neighbors_kept(graph: sparse.csr_array, Z: Array, k: int, n_jobs: int | None) -> Array:
    """Of the k places nearest to each place of the map, the share that is joined to it in the graph: (n,)."""
    n, k = len(Z), min(k, len(Z) - 1)
    if k < 1:
        return np.ones(n)
    near = nearest(Z, k, n_jobs=n_jobs).indices
    listed = sparse.csr_array((np.ones(n * k), near.ravel(), np.arange(0, n * k + 1, k)), shape=(n, n))
    edges = sparse.csr_array((np.ones(graph.nnz), graph.indices, graph.indptr), shape=graph.shape)
    return np.asarray(edges.multiply(listed).sum(axis=1)).ravel() / k


def _nearest_sources(D: Array, k: int) -> Neighbors:
    """The k nearest sources of each row (a column of D), a source itself first."""
    indices, values = np.empty((D.shape[1], k), dtype=np.int32), np.empty((D.shape[1], k))
    for part in threads.blocks(D.shape[1], 1024):
        columns = np.ascontiguousarray(D[:, part].T)
        some = np.sort(np.argpartition(columns, k - 1, axis=1)[:, :k], axis=1)
        order = np.argsort(np.take_along_axis(columns, some, axis=1), axis=1, kind="stable")
        indices[part] = np.take_along_axis(some, order, axis=1)
        values[part] = np.take_along_axis(columns, indices[part].astype(np.intp), axis=1)
    return Neighbors(indices, values)


@dataclass(frozen=True, eq=False)
class LeastStress:
    """The configuration of least stress over the kept pairs, and that of all pairs from which it was reached."""

    Z: Array
    start: Array
    stress: float
    run: Run[None]


def least_stress(
    D: Array,
    kept: Array,
    r: int,
    solver: str,
    rng: np.random.Generator,
    *,
    relay: Relay,
    n_jobs: int | None,
    **loop: Any,
) -> LeastStress:
    """The configuration of least stress over the kept pairs, from classical scaling of all geodesic distances."""
    n = len(D)
    if n == 1 or D.max() == 0:
        return LeastStress(np.zeros((n, r)), np.zeros((n, r)), 0.0, Run(None, np.zeros(1), 1, True))
    unit = 2.0 ** int(np.frexp(D.max())[1])
    D = D / unit
    weights = None if kept.all() else condensed(lambda rows: kept[rows, rows.start :], n, np.float64, n_jobs)
    pairs = Pairs(n, condensed(lambda rows: D[rows, rows.start :], n, np.float64, n_jobs), weights)
    problem = Problem(pairs, Ratio(pairs), n_jobs, None if kept.all() or n > INVERTED else laplacian_inverse(kept))
    start = problem.scaled(classical_of_table(lambda chosen: D[chosen], n, r, rng))
    callback = relay.showing(lambda Z: unit * Z)
    best, run = minimize_stress(problem, start, solver, callback=callback, warn=False, owner="TCIE", **loop)
    if not (run.converged or run.stopped):
        warn(
            f"TCIE: not converged after max_iter={loop['max_iter']} steps (stress {np.sqrt(best.loss):.6g}, "
            f"tol={loop['tol']:g}). Raise max_iter or tol.",
            ConvergenceWarning,
        )
    Z = principal_axes(best.point.reshape(n, -1))
    return LeastStress(Z * unit, start.reshape(n, -1), pairs.stress(Z, n_jobs=n_jobs)[0] * unit**2, run)


def laplacian_inverse(kept: Array) -> Callable[[Array], Array]:
    """F -> V^+ F for forces, which add up to 0, V being the Laplacian of the kept pairs, which connect all rows.

    A step needs two or three such products. Solving with factors takes four times as long, and conjugate gradients need
    a pass over all pairs for each of their steps.
    """
    V = -kept.astype(np.float64)
    np.fill_diagonal(V, 0.0)
    np.fill_diagonal(V, -V.sum(axis=1))
    V += np.trace(V) / len(V) ** 2  # along the constant vector, where V is 0 and forces are too
    factor = threads.lapack(lapack.dpotrf, V, overwrite_a=True)[0]
    V, failed = threads.lapack(lapack.dpotri, factor, overwrite_c=True)
    if failed:
        raise np.linalg.LinAlgError("TCIE: the kept pairs do not connect all rows.")
    upper = np.triu(V, 1)
    V = np.triu(V) + upper.T

    def solve(F: Array) -> Array:
        with threads.single_blas():  # reading V takes all the time
            return V @ F

    return solve

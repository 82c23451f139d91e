"""One connected part of a graph as TCIE sees it: path lengths between its rows, or between landmarks among them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import lapack
from scipy.sparse.csgraph import minimum_spanning_tree
from sklearn.exceptions import ConvergenceWarning

from lowdim._core.extend import Interpolation, Rebuilt
from lowdim._core.graph import geodesics, neighbor_graph
from lowdim._core.iterate import Run
from lowdim._core.manifold.reduced import MIXED
from lowdim._core.neighbors import Neighbors
from lowdim._core.runtime import threads
from lowdim._core.runtime.notices import warn
from lowdim.stress._levels import Ratio
from lowdim.stress._majorize import Pairs, condensed
from lowdim.stress._solvers import Problem, descend
from lowdim.stress._start import classical_of_table, principal_axes

Array = np.ndarray

INVERTED = 8000  # rows for which the Laplacian of the weights is inverted, once for all steps


@dataclass(frozen=True, eq=False)
class Sheet:
    """Path lengths between the rows that are laid out, a graph of these, and for the others those near them.

    With landmarks, the graph joins each to the nearest others along the paths, so that no edge leaps from fold to fold
    however few there are.
    """

    D: Array
    graph: sparse.csr_array
    sources: Array | None
    near: Neighbors | None  # landmarks nearest to each row along the paths

    @classmethod
    def of(cls, graph: sparse.csr_array, sources: Array | None, k: int, r: int, **settings: Any) -> Sheet:
        """From the graph of all rows; k neighbours for each landmark, r the dimension of the map."""
        D = geodesics(graph, sources, **settings)
        if sources is None:
            return cls(D, graph, None, None)
        among = np.ascontiguousarray(D[:, sources])
        near = _least(among, min(k + 1, len(among)))
        others = Neighbors(near.indices[:, 1:], near.distances[:, 1:])  # a landmark is its own nearest
        tree = minimum_spanning_tree(sparse.csr_array(among))
        joined = sparse.csr_array(neighbor_graph(others).maximum(tree.maximum(tree.T)))
        return cls(among, joined, sources, _least(D, min(r + MIXED, len(among))))

    def home(self, n: int) -> Array:
        """The number, among those laid out, of the row that stands for each of n rows."""
        return np.arange(n) if self.near is None else self.near.indices[:, 0]

    def spread(self, Z: Array, X: Any, n_jobs: int | None) -> Array:
        """Places of all rows from those laid out: rebuilt from landmarks where their coordinates are given."""
        if self.near is None:
            return Z
        if X is None:
            return Interpolation(Z)(self.near)
        part = np.zeros(len(Z), dtype=int)
        return Rebuilt(Z, part, None, "auto", Z.shape[1])(X, X[self.sources], self.near, n_jobs)


@dataclass(frozen=True, eq=False)
class LaidOut:
    """A part laid out: where its rows are, how one-sided they lie, which are at the boundary, and how it went."""

    places: Array
    sides: Array
    edge: Array
    sources: Array  # the rows that paths start from
    kept_share: float
    stress: float
    run: Run[None]


def _least(D: Array, k: int) -> Neighbors:
    """Of each column, the k rows of least value, that of value 0 on the way from a row to itself first."""
    indices, values = np.empty((D.shape[1], k), dtype=np.int32), np.empty((D.shape[1], k))
    for part in threads.blocks(D.shape[1], 1024):
        columns = np.ascontiguousarray(D[:, part].T)
        some = np.sort(np.argpartition(columns, k - 1, axis=1)[:, :k], axis=1)
        order = np.argsort(np.take_along_axis(columns, some, axis=1), axis=1, kind="stable")
        indices[part] = np.take_along_axis(some, order, axis=1)
        values[part] = np.take_along_axis(columns, indices[part].astype(np.intp), axis=1)
    return Neighbors(indices, values)


def least_stress(
    D: Array, kept: Array, r: int, solver: str, rng: np.random.Generator, *, n_jobs: int | None, **loop: Any
) -> tuple[Array, float, Run[None]]:
    """The places of least stress over the pairs that count, reached from classical scaling of all path lengths.

    Returns
    -------
    Z : ndarray of shape (n, r)
    stress : float
    run : Run
    """
    n = len(D)
    if n == 1 or D.max() == 0:
        return np.zeros((n, r)), 0.0, Run(None, np.zeros(1), 1, True)
    unit = 2.0 ** int(np.frexp(D.max())[1])
    D = D / unit
    weights = None if kept.all() else condensed(lambda rows: kept[rows, rows.start :], n, np.float64, n_jobs)
    pairs = Pairs(n, condensed(lambda rows: D[rows, rows.start :], n, np.float64, n_jobs), weights)
    problem = Problem(pairs, Ratio(pairs), n_jobs, None if kept.all() or n > INVERTED else laplacian_inverse(kept))
    start = problem.scaled(classical_of_table(lambda chosen: D[chosen], n, r, rng))
    place, run = descend(problem, start, solver, warn=False, owner="TCIE", **loop)
    if not run.converged:
        warn(
            f"TCIE: not converged after max_iter={loop['max_iter']} steps (stress {np.sqrt(place.loss):.6g}, "
            f"tol={loop['tol']:g}). Raise max_iter or tol.",
            ConvergenceWarning,
        )
    Z = principal_axes(place.place.reshape(n, -1))
    return Z * unit, pairs.stress(Z, n_jobs=n_jobs)[0] * unit**2, run


def laplacian_inverse(kept: Array) -> Callable[[Array], Array]:
    """F -> V^+ F for forces, which add up to 0, V being the Laplacian of the pairs that count; they join all rows.

    Two or three products a step: next to them, solving with factors takes four times as long, and conjugate gradients
    a pass over all pairs for each of their steps.
    """
    V = -kept.astype(np.float64)
    np.fill_diagonal(V, 0.0)
    np.fill_diagonal(V, -V.sum(axis=1))
    V += np.trace(V) / len(V) ** 2  # along the constant vector, where V is 0 and forces are too
    V, failed = lapack.dpotri(lapack.dpotrf(V, overwrite_a=True)[0], overwrite_c=True)
    if failed:
        raise np.linalg.LinAlgError("TCIE: the pairs that count do not join all rows.")
    upper = np.triu(V, 1)
    V = np.triu(V) + upper.T

    def solve(F: Array) -> Array:
        with threads.single_blas():  # reading V takes all the time
            return V @ F

    return solve

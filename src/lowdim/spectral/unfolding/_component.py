"""The steps of maximum variance unfolding: rods, a start, the unfolding of one part, and new rows from distances."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from lowdim._core.distances import pairwise
from lowdim._core.extend import Nystrom, Rebuilt
from lowdim._core.graph import geodesics
from lowdim._core.manifold.components import Part
from lowdim._core.manifold.neighborhood import nearest_of_each
from lowdim._core.scaling.centring import inner_products
from lowdim._core.spectrum import eigenpairs, fix_signs
from lowdim._core.spectrum.eigenvalues import positive_part
from lowdim.spectral.unfolding._conic import unfold_exactly
from lowdim.spectral.unfolding._low_rank import Rods, unfold

SOURCES = 300  # of paths for the start
APART = 0.01  # of a usual rod: what axes that the start leaves at zero begin with


def rods_of(graph: sparse.csr_array, rows: Any, metric: Any, *, angles: bool, slack: float) -> Rods:
    """One rod for each edge of the graph and, with `angles`, for each two rows that share a neighbour."""
    edges = sparse.triu(graph, 1, format="coo")
    i, j, lengths = edges.row, edges.col, edges.data
    if angles:
        i, j, lengths = _with_shared(graph, rows, metric)
    return Rods.of(i, j, lengths, slack)


def _with_shared(graph: sparse.csr_array, rows: Any, metric: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    known = isinstance(metric, str) and metric == "precomputed"
    if known and sparse.issparse(rows):
        raise ValueError("MVU: angles must be False for a sparse graph, which has no distances but those of its edges.")
    joined = sparse.csr_array((np.ones(graph.nnz), graph.indices, graph.indptr), shape=graph.shape)
    pairs = sparse.triu(joined @ joined + joined, 1, format="csr")
    n = graph.shape[0]
    i, j = np.repeat(np.arange(n), np.diff(pairs.indptr)), pairs.indices
    if known:
        return i, j, rows[i, j]
    ends = [pairs.indices[pairs.indptr[row] : pairs.indptr[row + 1]] for row in range(n)]
    lengths = [pairwise(rows[[row]], rows[near], metric)[0] for row, near in enumerate(ends) if len(near)]
    return i, j, np.concatenate(lengths)


@dataclass(frozen=True, eq=False)
class Sheet:
    """One part unfolded: places along the axes of its Gram matrix, the eigenvalues, and how it went."""

    places: np.ndarray
    eigenvalues: np.ndarray
    error: float
    n_iter: int
    converged: bool

    @classmethod
    def of(cls, R: np.ndarray, mass: np.ndarray, rods: Rods, n_iter: int, converged: bool) -> Sheet:
        """Turn centred places so that their variances along the axes decrease."""
        _, sizes, axes = np.linalg.svd(np.sqrt(mass)[:, None] * R, full_matrices=False)
        return cls(fix_signs(R @ axes.T), sizes**2, rods.stretch(R), n_iter, converged)

    def axes(self, r: int) -> np.ndarray:
        """The first r of them, zeros where there are fewer."""
        found = self.places[:, :r]
        return np.hstack([found, np.zeros((len(found), r - found.shape[1]))])


@dataclass(frozen=True)
class Unfolding:
    """Settings of the solver."""

    n_components: int
    rank: int | None
    solver: str
    tol: float
    max_iter: int
    n_jobs: int | None
    verbose: int | bool


def unfold_part(settings: Unfolding, graph: Any, rods: Rods, rows: np.ndarray, counts: np.ndarray, rng: Any) -> Sheet:
    """Unfold one connected part."""
    n, mass = len(rows), counts.astype(np.float64)
    inside, graph = _inside(rods, rows, graph.shape[0]), graph[rows][:, rows]
    if n == 1:
        return Sheet(np.zeros((1, 0)), np.zeros(1), 0.0, 0, True)
    if settings.solver == "exact":
        K, solved = unfold_exactly(inside, mass, owner="MVU")
        pairs = eigenpairs(K, n, owner="MVU", rng=rng)
        R = pairs.vectors * np.sqrt(np.maximum(pairs.values, 0.0))
        return Sheet.of(R, mass, inside, 0, solved)
    p = min(n - 1, max(settings.n_components, settings.rank or settings.n_components + 6))
    start = _start(graph, p, rng, settings.n_jobs)
    loop: dict[str, Any] = {"tol": settings.tol, "max_iter": settings.max_iter, "verbose": settings.verbose}
    found = unfold(inside, start, mass, owner="MVU", **loop)
    return Sheet.of(found.places, mass, inside, found.n_iter, found.converged)


def _inside(rods: Rods, rows: np.ndarray, n: int) -> Rods:
    """The rods of a part, its rows numbered from 0."""
    if len(rows) == n:
        return rods
    place = np.full(n, -1)
    place[rows] = np.arange(len(rows))
    mine = place[rods.first] >= 0
    return Rods(place[rods.first[mine]], place[rods.second[mine]], rods.low[mine], rods.high[mine])


def _start(graph: sparse.csr_array, p: int, rng: np.random.Generator, n_jobs: int | None) -> np.ndarray:
    """Classical scaling of path lengths from some rows; axes that it leaves at zero begin as a little noise."""
    n = graph.shape[0]
    some = np.arange(n) if n <= SOURCES else np.sort(rng.permutation(n)[:SOURCES])
    D = geodesics(graph, some, n_jobs=n_jobs)
    B, means = inner_products(np.ascontiguousarray(D[:, some]))
    pairs = eigenpairs(B, min(p, len(some)), rng=rng, owner="MVU")
    pairs = positive_part(pairs, p, owner="MVU", quiet=True)
    formula = Nystrom.of(pairs.values, pairs.vectors, -0.5 * means)
    R = Part(np.arange(n), some, D, pairs.values, formula, np.zeros(p)).places()
    usual = float(np.median(graph.data)) if graph.nnz else 1.0
    noise = APART * usual * rng.standard_normal((n, p)) / np.sqrt(p)
    return np.where(pairs.values > 0, R, noise)


def mean_of_reached(reach: sparse.csr_array, known: Rebuilt) -> np.ndarray:
    """The mean of the places of reached rows weighted by (1/d - 1/R)², R being the farthest; exact at distance 0.

    Only rows in the part of the nearest count, and a row whose nearest has no place has none.
    """
    closest, least = nearest_of_each(reach)
    row = np.repeat(np.arange(reach.shape[0]), np.diff(reach.indptr))
    farthest = np.maximum.reduceat(reach.data, reach.indptr[:-1])[row].astype(np.float64)
    d = reach.data.astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        weights = (least[row] / d - least[row] / farthest) ** 2
    weights = np.where(least[row] == 0, d == 0, np.where(farthest > least[row], weights, 1.0))
    home = known.part_of[closest]
    weights = weights * (known.part_of[reach.indices] == home[row])
    W = sparse.csr_array((weights, reach.indices, reach.indptr), shape=reach.shape)
    Z = W @ np.nan_to_num(known.places) / np.asarray(W.sum(axis=1)).reshape(-1, 1)
    Z[home < 0] = np.nan
    return Z

"""The stages of maximum variance unfolding: distance constraints, initialisation, one component, new rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from lowdim._core.callbacks import Relay
from lowdim._core.distances import pairwise
from lowdim._core.extend import NeighborWeights, Nystrom
from lowdim._core.graph import geodesics
from lowdim._core.manifold.geodesic_component import GeodesicComponent
from lowdim._core.manifold.neighborhood import nearest_of_each
from lowdim._core.scaling.centring import inner_products
from lowdim._core.spectrum import eigenpairs, fix_signs
from lowdim._core.spectrum.eigenvalues import positive_part
from lowdim.spectral.unfolding._conic import unfold_exactly
from lowdim.spectral.unfolding._low_rank import FAR, DistanceConstraints, Unfolded, unfold, warn_unmet

SOURCES = 300  # rows from which paths start in the initialisation
MORE = 6  # columns than axes
GAIN = 0.5  # of the excess that more columns must remove to be kept
NOISE = 0.01  # of a usual edge: the size of axes that the initialisation leaves at zero


def constraints_of(
    graph: sparse.csr_array, rows: Any, metric: Any, *, angles: bool, slack: float
) -> DistanceConstraints:
    """One constraint for each edge of the graph and, with `angles`, for each two rows that share a neighbour."""
    edges = sparse.triu(graph, 1, format="coo")
    i, j, lengths = edges.row, edges.col, edges.data
    if angles:
        i, j, lengths = _with_shared_neighbors(graph, rows, metric)
    return DistanceConstraints.of(i, j, lengths, slack)


def _with_shared_neighbors(graph: sparse.csr_array, rows: Any, metric: Any) -> tuple[Any, Any, Any]:
    precomputed = isinstance(metric, str) and metric == "precomputed"
    if precomputed and sparse.issparse(rows):
        raise ValueError("MVU: angles must be False for a sparse graph, which has no distances but those of its edges.")
    joined = sparse.csr_array((np.ones(graph.nnz), graph.indices, graph.indptr), shape=graph.shape)
    pairs = sparse.triu(joined @ joined + joined, 1, format="csr")
    n = graph.shape[0]
    i, j = np.repeat(np.arange(n), np.diff(pairs.indptr)), pairs.indices
    if precomputed:
        return i, j, rows[i, j]
    ends = [pairs.indices[pairs.indptr[row] : pairs.indptr[row + 1]] for row in range(n)]
    lengths = [pairwise(rows[[row]], rows[near], metric)[0] for row, near in enumerate(ends) if len(near)]
    return i, j, np.concatenate(lengths)


@dataclass(frozen=True, eq=False)
class UnfoldedComponent:
    """One component unfolded: coordinates along the axes of its Gram matrix, the eigenvalues, and how it ended."""

    coordinates: np.ndarray
    eigenvalues: np.ndarray
    error: float
    n_iter: int
    converged: bool

    @classmethod
    def of(
        cls, R: np.ndarray, mass: np.ndarray, constraints: DistanceConstraints, n_iter: int, converged: bool
    ) -> UnfoldedComponent:
        """From centred coordinates R, rotated so that their variances along the axes decrease."""
        turned, eigenvalues = principal(R, mass)
        return cls(turned, eigenvalues, constraints.largest_error(R), n_iter, converged)

    def axes(self, r: int) -> np.ndarray:
        """The first r of them, zeros where there are fewer."""
        return first_axes(self.coordinates, r)


def principal(R: np.ndarray, mass: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Centred coordinates rotated to their principal axes, and the eigenvalues of the Gram matrix."""
    _, sizes, axes = np.linalg.svd(np.sqrt(mass)[:, None] * R, full_matrices=False)
    return fix_signs(R @ axes.T), sizes**2


def first_axes(coordinates: np.ndarray, r: int) -> np.ndarray:
    """The first r columns, zeros where there are fewer."""
    found = coordinates[:, :r]
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


def unfold_component(
    settings: Unfolding,
    graph: Any,
    constraints: DistanceConstraints,
    rows: np.ndarray,
    counts: np.ndarray,
    rng: Any,
    relay: Relay,
) -> UnfoldedComponent:
    """Unfold one connected component; `counts` are the rows that each of its rows stands for."""
    n, mass = len(rows), counts.astype(np.float64)
    inside, graph = _inside(constraints, rows, graph.shape[0]), graph[rows][:, rows]
    if n == 1:
        return UnfoldedComponent(np.zeros((1, 0)), np.zeros(1), 0.0, 0, True)
    if settings.solver == "exact":
        K, solved = unfold_exactly(inside, mass, owner="MVU")
        pairs = eigenpairs(K, n, owner="MVU", rng=rng)
        R = pairs.vectors * np.sqrt(np.maximum(pairs.values, 0.0))
        return UnfoldedComponent.of(R, mass, inside, 0, solved)
    p = min(n - 1, max(settings.n_components, settings.rank or settings.n_components + MORE))
    callback = relay.showing(lambda R: first_axes(principal(R, mass)[0], settings.n_components))
    found = _grown(settings, inside, _initial(graph, p, rng, settings.n_jobs), mass, rng, callback)
    return UnfoldedComponent.of(found.coordinates, mass, inside, found.n_iter, found.converged)


def _grown(
    settings: Unfolding,
    inside: DistanceConstraints,
    start: np.ndarray,
    mass: np.ndarray,
    rng: np.random.Generator,
    callback: Any,
) -> Unfolded:
    """Unfold; with rank=None, in twice as many dimensions where so few cannot have the distances."""
    found, steps = None, 0
    while True:
        left: dict[str, Any] = {"max_iter": settings.max_iter - steps, "tol": settings.tol, "verbose": settings.verbose}
        again = unfold(inside, start, mass, owner="MVU", callback=callback, **left)
        steps += again.n_iter
        found = again if found is None or again.converged or again.gap < GAIN * found.gap else found
        p, most = start.shape[1], len(mass) - 1
        near = found.converged or found.gap < FAR  # more dimensions do not help
        ended = near or found.stopped or found is not again or steps >= settings.max_iter
        if ended or settings.rank is not None or p >= most:
            break
        usual = NOISE * float(np.sqrt(np.median(inside.high)))
        more = usual * rng.standard_normal((len(mass), min(p, most - p))) / np.sqrt(p)
        start = np.hstack([again.coordinates, more])
    found = replace(found, n_iter=steps)
    if not (found.converged or found.stopped):
        hard = bool(np.array_equal(inside.low, inside.high))
        warn_unmet(found, "MVU", settings.tol, settings.max_iter, hard=hard)
    return found


def _inside(constraints: DistanceConstraints, rows: np.ndarray, n: int) -> DistanceConstraints:
    """The constraints of a component, its rows numbered from 0."""
    if len(rows) == n:
        return constraints
    number = np.full(n, -1)
    number[rows] = np.arange(len(rows))
    mine = number[constraints.first] >= 0
    first, second = number[constraints.first[mine]], number[constraints.second[mine]]
    return DistanceConstraints(first, second, constraints.low[mine], constraints.high[mine])


def _initial(graph: sparse.csr_array, p: int, rng: np.random.Generator, n_jobs: int | None) -> np.ndarray:
    """Classical scaling of geodesic distances from some rows; axes that it leaves at zero begin as a little noise."""
    n = graph.shape[0]
    some = np.arange(n) if n <= SOURCES else np.sort(rng.permutation(n)[:SOURCES])
    D = geodesics(graph, some, n_jobs=n_jobs)
    B, means = inner_products(np.ascontiguousarray(D[:, some]))
    pairs = eigenpairs(B, min(p, len(some)), rng=rng, owner="MVU")
    pairs = positive_part(pairs, p, owner="MVU", quiet=True)
    formula = Nystrom.of(pairs.values, pairs.vectors, -0.5 * means)
    R = GeodesicComponent(np.arange(n), some, D, pairs.values, formula, np.zeros(p)).embedding()
    usual = float(np.median(graph.data)) if graph.nnz else 1.0
    noise = NOISE * usual * rng.standard_normal((n, p)) / np.sqrt(p)
    return np.where(pairs.values > 0, R, noise)


def mean_of_neighbors(reach: sparse.csr_array, known: NeighborWeights) -> np.ndarray:
    """Coordinates of new rows from distances alone: a mean of those of their neighbours; exact at distance 0.

    The weights are (1/d - 1/R)², R being the distance of the farthest neighbour. Only neighbours in the component of
    the nearest one count; a row whose nearest neighbour is not embedded is NaN.
    """
    closest, least = nearest_of_each(reach)
    row = np.repeat(np.arange(reach.shape[0]), np.diff(reach.indptr))
    farthest = np.maximum.reduceat(reach.data, reach.indptr[:-1])[row].astype(np.float64)
    d = reach.data.astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        weights = (least[row] / d - least[row] / farthest) ** 2
    weights = np.where(least[row] == 0, d == 0, np.where(farthest > least[row], weights, 1.0))
    home = known.component_of[closest]
    weights = weights * (known.component_of[reach.indices] == home[row])
    W = sparse.csr_array((weights, reach.indices, reach.indptr), shape=reach.shape)
    Z = W @ np.nan_to_num(known.embedding) / np.asarray(W.sum(axis=1)).reshape(-1, 1)
    Z[home < 0] = np.nan
    return Z

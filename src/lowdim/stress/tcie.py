"""Topologically constrained isometric embedding: Isomap without the paths that bend around holes and bays."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from lowdim._core import params
from lowdim._core.base import Reducer
from lowdim._core.callbacks import Relay
from lowdim._core.extend import Interpolation, NeighborWeights
from lowdim._core.graph.repair import REPAIR_METHODS, Repair
from lowdim._core.iterate import Progress
from lowdim._core.landmarks import policy
from lowdim._core.landmarks.choose import sources_among
from lowdim._core.manifold.components import gathered, side_by_side
from lowdim._core.manifold.crowding import JudgedMap
from lowdim._core.manifold.neighborhood import Distinct, Neighborhood, are_searched, enough_neighbors
from lowdim._core.neighbors import Neighbors
from lowdim._core.runtime.notices import warn
from lowdim._core.runtime.rng import generator
from lowdim._core.tables.arrays import extent
from lowdim.stress._boundary import boundary_rows, one_sidedness, trusted_pairs
from lowdim.stress._solvers import STRESS_SOLVERS
from lowdim.stress._tcie_component import (
    INVERTED,
    ComponentGeodesics,
    EmbeddedComponent,
    least_stress,
    neighbors_kept,
)

MOSTLY, HARDLY = 0.6, 0.25  # of the rows at the boundary, of the pairs kept: on digits 0.78, 0.10, a roll 0.35, 0.30
NEARLY_ALL, ENOUGH = 0.75, 150  # of the rows: sheets of 180 rows reach 0.68; wine, whatever is kept, 0.79
LOST = 0.1  # of the nearest rows that Isomap's map shows: surfaces lose up to 0.07, digits 0.11 to 0.28
FEW = 100  # rows below which most of a surface may be near its boundary


class TCIE(JudgedMap, Reducer):
    """TCIE: flattens surfaces with holes and bays, which Isomap stretches.

    Geodesic distances D in a neighbour graph are distances on a flat surface only where the straight line lies inside
    it; around a hole or a bay they are too long. Rows at the boundary are those with neighbours on one side only. A
    pair counts (w_ij = 1) when its shortest path does not touch the boundary between its ends, or is no longer than
    the sum of the distances of both ends to the boundary. The map minimises sum w_ij (D_ij - |z_i - z_j|)² by
    majorisation, from Isomap's embedding.

    Parameters
    ----------
    n_components : int
        Dimension of the embedding, and of the surface.
    n_neighbors : int
        Neighbours each row is joined to.
    radius : float or None
        Join rows within this distance instead of a fixed number of neighbours.
    boundary : float
        A row is at the boundary when its nearest rows lie to one side of it by more than this share of what they do at
        a straight boundary, or, next to such a row, by two thirds of it (corners of holes). From 1.6 on no row is, and
        all pairs count.
    repair : {None, "detour", "flow", "linearity", "stability"}
        Remove short circuits, edges between two folds of the data; see `Isomap`. Where short circuits are left, a
        warning says so.
    n_landmarks : int, "auto" or None
        Number of landmarks (farthest-point choice) whose stress is minimised; paths lead through all rows, and the
        coordinates of the others follow from the nearest landmarks. "auto": all rows, but 1,000 landmarks with a
        warning where tables of all pairs would not fit into memory or take very long (beyond 8,000 rows); None: all
        rows.
    solver : {"accelerated", "majorize", "gradient", "conjugate_gradient", "pseudo_newton"}
        How the stress is minimised; see `MDS`.
    metric : str or callable
        Distance between rows: a name ("gower" for tables of numbers and categories), a function of two rows, or
        "precomputed" where X holds distances. These are a square table, a condensed vector, or a sparse graph whose
        stored entries are the edges (`n_neighbors` is not used then).
    metric_params : dict or None
        Parameters of `metric` by name, such as ``{"p": 3}`` of "minkowski", or further arguments of a function.
    search : {"auto", "exact", "approximate"}
        Neighbour search. "auto" is exact up to 20,000 rows and wherever a tree is fast, else approximate (with a
        recall of 98 % and more on data with structure).
    missing : {"error", "pairwise", "expected"}
        Missing cells (NaN), at fit and in new rows: an error; distances over the columns that both rows have, scaled
        up; or the expected distance under a Gaussian model of the rows, so that a row with few known cells is not close
        to everything. Euclidean distances only; "pairwise" also Gower's.
    disconnected : {"bridge", "separate", "largest", "error"}
        If the neighbour graph is not connected: join its components by their shortest edges; embed each and tile
        them; embed the largest (other rows are NaN); or raise an error. All but the last warn.
    max_iter : int
        Maximum number of iterations.
    tol : float
        Convergence tolerance: stop when a step lowers the squared stress by less than this share of it.
    callback : callable or None
        Called as ``callback(step, loss, state)``; returning True stops the fit. The loss is
        the squared stress over its value with all points at the origin, the state the embedding so far, of the rows
        that paths start from (landmarks) and of one connected component after the other.
    random_state : int, generator or None
        Seed; the same int gives the same result. For the landmarks, the eigensolver and the model of missing cells.
    n_jobs : int or None
        Number of threads; None means all cores. Results do not depend on it.
    verbose : int or bool
        1 or True shows the progress of long fits on stderr.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Coordinates of the fitted rows. Equal rows count as one and have the same coordinates.
    landmarks_ : ndarray of int or None
        Row numbers of the landmarks; None where all rows are used.
    boundary_ : ndarray of shape (n_samples,)
        Whether each row (with landmarks: the landmark nearest to it) is at the boundary of the surface.
    one_sidedness_ : ndarray of shape (n_samples,)
        How far its nearest rows lie to one side of it; 1 at a straight boundary.
    kept_share_ : float
        Share of the pairs (of the largest component) that count.
    objective_ : float
        sum w (D - d)² over these pairs.
    n_iter_ : int
        Steps made (in the largest component).
    converged_ : bool
        Whether the loss converged (in the largest component) and no callback stopped the fit.
    n_components_graph_ : int
        Number of connected components of the neighbour graph, before joining.
    component_labels_ : ndarray of shape (n_samples,)
        The component of each row, 0 being the largest.
    suspicious_edges_, suspicious_scores_, suspicious_removed_ : ndarray
        With `repair` (else None): the edges found as pairs of rows, the most suspicious first, their scores, and
        whether each was removed (False where the graph would be disconnected without it).

    Notes
    -----
    The coordinates of a new row are a weighted mean of those of its nearest fitted rows, with the weights that
    reconstruct it from these, as in `LLE`; where only distances are known, or cells are missing, with weights by
    distance. `transform` of a fitted row gives its own coordinates.

    References
    ----------
    Rosman, Bronstein, Bronstein and Kimmel, Nonlinear dimensionality reduction by topologically constrained isometric
    embedding, 2010.

    Examples
    --------
    >>> import lowdim
    >>> roll = lowdim.datasets.swiss_roll_hole(600, noise=0, random_state=1)
    >>> model = lowdim.TCIE(n_components=2, n_neighbors=8, repair="linearity").fit(roll.X)
    >>> model.transform(roll.X[:5]).shape
    (5, 2)
    """

    _rules: ClassVar = {
        "n_components": params.whole(1),
        "n_neighbors": params.whole(1),
        "boundary": params.real(0, open_low=True),
        "repair": params.none() | params.one_of(*REPAIR_METHODS),
        "n_landmarks": policy.rule(2),
        "solver": params.one_of(*STRESS_SOLVERS),
    }
    _sparse_rows = True
    _sparse_graphs = True
    _extension: Any
    _crowding_advice = "Drop these, raise n_neighbors, or look at the others alone."
    _most_rows: ClassVar[int] = 8000  # that are embedded within a few minutes
    _ways_out = "Set n_landmarks=1000 or so: the other rows then follow from the landmarks."

    def __init__(
        self,
        n_components=2,
        *,
        n_neighbors=10,
        radius=None,
        boundary=0.7,
        repair=None,
        n_landmarks="auto",
        solver="accelerated",
        metric="euclidean",
        metric_params=None,
        search="auto",
        missing="error",
        disconnected="bridge",
        max_iter=1000,
        tol=1e-6,
        callback=None,
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.boundary = boundary
        self.repair = repair
        self.n_landmarks = n_landmarks
        self.solver = solver
        self.metric = metric
        self.metric_params = metric_params
        self.search = search
        self.missing = missing
        self.disconnected = disconnected
        self.max_iter = max_iter
        self.tol = tol
        self.callback = callback
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _embed(self, X: Any) -> np.ndarray:
        rng, m = generator(self.random_state), self._landmark_choice(*extent(X)).announced("TCIE")
        same = Distinct.of(X, given=self._precomputed() and sparse.issparse(X))
        rows = same.pick(X, square=self._precomputed())
        self._rows = self._own_rows(rows)
        searched = are_searched(rows, self.radius, self._precomputed())
        wanted = enough_neighbors(type(self), self.n_neighbors, len(same.kind), searched)
        around = self._neighborhood(same.n_neighbors(wanted, "TCIE"))
        repair = Repair(self.repair, self.n_components, self._holes)
        joined, suspicious = around.connected(rows, self.disconnected, repair, first=same.first)
        self.suspicious_edges_, self.suspicious_scores_, self.suspicious_removed_ = suspicious
        self.n_components_graph_, self.component_labels_ = joined.n_components, joined.labels[same.kind]

        components, relay = joined.parts(self.disconnected), Relay(self.callback)
        found = [self._embed_component(joined.graph, inside, rows, m, rng, relay) for inside in components]
        n, largest = len(same.first), found[0]
        self.one_sidedness_ = gathered(components, [f.one_sidedness for f in found], n)[same.kind]
        self.boundary_ = gathered(components, [f.boundary for f in found], n)[same.kind]
        self.kept_share_, self.objective_ = largest.kept_share, largest.stress
        _warn_of_no_surface(self.boundary_, largest, self.n_components)
        self.n_iter_, self.converged_ = largest.run.n_iter, largest.run.converged and not relay.stopped
        self.landmarks_ = None if m is None else same.first[np.concatenate([f.sources for f in found])]

        Z, component_of = side_by_side(components, [f.embedding for f in found], n)
        if self._precomputed():
            self._extension = Interpolation(Z[same.kind])
        elif self._coordinates(rows) is None:
            self._extension = Interpolation(Z)
        else:
            self._extension = NeighborWeights(Z, component_of, None, "auto", self.n_components)
        return Z[same.kind]

    def _coordinates(self, X: Any) -> Any:
        """The rows, where reconstruction weights can be computed; None: only distances are known."""
        return None if self._precomputed() or sparse.issparse(X) or self._holes is not None else X

    def _embed_component(
        self, graph: Any, inside: np.ndarray, X: Any, m: int | None, rng: np.random.Generator, relay: Relay
    ) -> EmbeddedComponent:
        """Geodesic distances, the boundary, the pairs that count, and the configuration of least stress over them."""
        graph = graph[inside][:, inside] if len(inside) < graph.shape[0] else graph
        some = sources_among(X, inside, m, metric=self._distance(), rng=rng)
        r, near = self.n_components, max(self.n_neighbors, self.n_components + 1)
        with Progress("TCIE: shortest paths", None, self.verbose) as progress:
            found = ComponentGeodesics.of(graph, some, near, r, n_jobs=self.n_jobs, progress=progress)
        D = found.D
        sides = one_sidedness(D, r)
        boundary = boundary_rows(found.graph, sides, self.boundary)
        kept = trusted_pairs(found.graph, D, boundary, near, self.n_jobs)

        loop = {"max_iter": self.max_iter, "tol": self.tol, "verbose": self.verbose}
        best = least_stress(D, kept, r, self.solver, rng, relay=relay, n_jobs=self.n_jobs, **loop)
        judged = [neighbors_kept(found.graph, Z, near, self.n_jobs) for Z in (best.Z, best.start)]
        rows, nearest = self._coordinates(X), found.nearest_source(len(inside))
        Z = found.extended(best.Z, None if rows is None else rows[inside], self.n_jobs)
        share = float((kept.sum() - len(D)) / max(len(D) * (len(D) - 1), 1))
        sources = inside if some is None else inside[some]
        return EmbeddedComponent(
            Z, sides[nearest], boundary[nearest], sources, share, best.stress, best.run, (judged[0], judged[1])
        )

    def _extend(self, X: Any) -> np.ndarray:
        k = min(self.n_neighbors, len(self._extension.embedding))
        if self._precomputed() and sparse.issparse(X):
            reach = self._neighborhood(k).reach(None, X, X.shape[1])
            listed = [(reach.indices[a:b], reach.data[a:b]) for a, b in pairwise(reach.indptr)]
            return np.concatenate([self._interpolated(j[np.argsort(d)][None], np.sort(d)[None]) for j, d in listed])
        if self._precomputed():
            order = np.argsort(X, axis=1, kind="stable")[:, :k]
            return self._interpolated(order, np.take_along_axis(X, order, axis=1))
        near = self._neighborhood(k).nearest(self._rows, k, X)
        if isinstance(self._extension, NeighborWeights):
            return self._extension(X, self._rows, near, self.n_jobs)
        return self._extension(near)

    def _interpolated(self, indices: np.ndarray, distances: np.ndarray) -> np.ndarray:
        return self._extension(Neighbors(indices.astype(np.int32), distances))

    def _fitted_places(self) -> np.ndarray:
        return self._extension.embedding

    def _neighborhood(self, k: int) -> Neighborhood:
        return Neighborhood(k, self.radius, self._distance(), self.search, self.n_jobs, "TCIE")

    def _landmark_choice(self, n: int, d: int, itemsize: int, stored: int | None) -> policy.LandmarkChoice:
        tables = partial(self._tables, n=n, d=d, itemsize=itemsize, stored=stored)
        return policy.by_size(self.n_landmarks, n, tables, self._most_rows)

    def _memory(self, n: int, d: int, itemsize: int, stored: int | None) -> dict[str, int]:
        m = self._landmark_choice(n, d, itemsize, stored).n_landmarks
        return self._tables(min(n, m or n), n, d, itemsize, stored)

    def _tables(self, m: int, n: int, d: int, itemsize: int, stored: int | None) -> dict[str, int]:
        """Bytes that m landmarks among n rows need."""
        edges = 2 * n * self.n_neighbors if self.radius is None else 0
        return {
            "geodesic distances": (n + m) * m * 8,
            "pairs that count": 2 * m * m,
            "pairs": 3 * m * m * 4,
            "Laplacian of the weights": 3 * 8 * min(m, INVERTED) ** 2,
            "inner products": 2 * min(m, 4000) ** 2 * 8,
            "search": 2 * n * 64 * 8,
            "neighbour graph": 60 * edges,
            "rows": 2 * n * d * itemsize if stored is None else 24 * stored,
        }


def _warn_of_no_surface(boundary: np.ndarray, found: EmbeddedComponent, r: int) -> None:
    """Where most rows look as if they were at a boundary, or Isomap's map, from which the fit began, shows more of the
    neighbours, the rows do not lie on a surface of that dimension."""
    share, kept = float(np.nanmean(boundary.astype(np.float64))), found.kept_share
    ours, isomap = found.neighbors_kept
    lost = isomap - ours
    beyond = max(LOST * float(isomap.mean()), 2.0 * float(lost.std()) / np.sqrt(len(lost)))
    hardly = share > MOSTLY and kept < HARDLY and len(boundary) >= FEW
    if hardly or (share > NEARLY_ALL and len(boundary) >= ENOUGH):
        seen = f"{100 * share:.0f} % of the rows have their nearest rows on one side, as rows at a boundary do, and "
    elif lost.mean() > beyond and len(lost) >= FEW:
        seen = ""
    else:
        return
    warn(
        f"TCIE: {seen}{100 * kept:.0f} % of the pairs count: the rows do not lie on a surface of dimension {r}, but in "
        f"groups or in more dimensions. Of the rows nearest in the map {100 * ours.mean():.0f} % are neighbours, in "
        f"Isomap's map {100 * isomap.mean():.0f} %. Look at Isomap's, or set boundary=1.6, with which all pairs count."
    )

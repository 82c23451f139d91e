"""Topologically constrained isometric embedding: Isomap that does not trust paths around holes and bays."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from lowdim._core import params
from lowdim._core.base import Reducer
from lowdim._core.distances import check_metric
from lowdim._core.extend import Interpolation, Rebuilt
from lowdim._core.graph import POLICIES as DISCONNECTED
from lowdim._core.graph import connect, geodesics
from lowdim._core.incomplete import METRICS, POLICIES
from lowdim._core.iterate import Progress, Run
from lowdim._core.majorize import Pairs, condensed
from lowdim._core.neighbor_methods import Distinct, Neighborhood
from lowdim._core.neighbors import SEARCH, Neighbors
from lowdim._core.notices import warn
from lowdim._core.parts import beside
from lowdim._core.repair import METHODS, NOT_ASKED
from lowdim._core.rng import generator
from lowdim.stress._boundary import boundary_rows, one_sidedness, trusted_pairs
from lowdim.stress._levels import Ratio
from lowdim.stress._solvers import SOLVERS, Problem, descend
from lowdim.stress._start import classical_of_table, principal_axes


class TCIE(Reducer):
    """TCIE: unrolls sheets with holes and bays, which Isomap stretches.

    Path lengths along a neighbour graph are distances on the sheet only where the straight way lies inside it; around
    a hole or a bay they are too long. Rows at the boundary are found by having neighbours on one side only. A pair
    counts when its shortest path does not touch the boundary between its ends, or is no longer than both ends are
    from the boundary together. The map minimises sum w_ij (D_ij - |z_i - z_j|)² over the pairs that count, by
    majorisation from Isomap's places.

    Parameters
    ----------
    n_components : int
        Dimension of the embedding, which is also taken for that of the sheet.
    n_neighbors : int
        Neighbours each row is joined to.
    radius : float or None
        Join rows within this distance instead of a fixed number.
    boundary : float
        A row is at the boundary when its neighbours lie to one side of it by more than this part of what they do at a
        straight edge, or next to such a row by two thirds of it (corners of holes); from 1.6 on none is, and all pairs
        count.
    repair : {None, "flow", "linearity", "stability"}
        Take out edges that short-circuit the sheet; see `Isomap`.
    solver : {"accelerated", "majorize", "gradient", "conjugate_gradient", "pseudo_newton"}
        How the stress is lowered; see `MDS`.
    max_iter : int
        Most steps.
    tol : float
        Stop when a step lowers the stress by less than this part.
    metric : str or callable
        Distance between rows; "precomputed": X holds distances, dense, condensed, or a sparse graph whose stored
        entries are the edges (`n_neighbors` is not used then).
    search : {"auto", "exact", "approximate"}
        How neighbours are found.
    missing : {"error", "pairwise", "expected"}
        What a missing cell (NaN) means: refused; distances over the columns both rows have, scaled up; or the expected
        distance under a Gaussian model of the rows.
    disconnected : {"bridge", "separate", "largest", "error"}
        When the graph falls apart: join its parts by their shortest edges, embed each and tile them, embed the largest
        (other rows are NaN), or refuse.
    random_state : int, generator or None
        For the start of the eigensolver and the model of missing cells.
    n_jobs : int or None
        Threads; None means all cores. Results do not depend on it.
    verbose : int
        1 shows progress of long runs.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Places of the fitted rows. Equal rows count as one and share a place.
    boundary_ : ndarray of shape (n_samples,)
        Whether each row is at the boundary of the sheet.
    one_sidedness_ : ndarray of shape (n_samples,)
        How far the neighbours of each row lie to one side of it; 1 at a straight edge.
    kept_share_ : float
        Share of the pairs (of the largest part) that count.
    objective_ : float
        sum w (D - d)² over these pairs.
    n_iter_ : int
        Steps made (in the largest part).
    converged_ : bool
        Whether they were enough.
    n_components_graph_ : int
        Parts the neighbour graph fell into before joining.
    component_labels_ : ndarray of shape (n_samples,)
        The part of each row, 0 being the largest.
    suspicious_edges_, suspicious_scores_, suspicious_removed_ : ndarray
        With `repair` (else None): the edges found as pairs of rows, the most suspicious first, their scores, and
        whether each was taken out (False where it holds the graph together).

    Notes
    -----
    A new row is placed by the weights that rebuild it from its nearest fitted rows, as in `LLE`; where only distances
    are known, or cells are missing, by a mean of their places. A fitted row comes out at its own place.

    References
    ----------
    Rosman, Bronstein, Bronstein and Kimmel, Nonlinear dimensionality reduction by topologically constrained isometric
    embedding, 2010.

    Examples
    --------
    >>> import lowdim
    >>> roll = lowdim.datasets.swiss_roll_hole(300, noise=0, random_state=0)
    >>> model = lowdim.TCIE(n_components=2, n_neighbors=8).fit(roll.X)
    >>> model.transform(roll.X[:5]).shape
    (5, 2)
    """

    _rules: ClassVar = {
        "n_components": params.whole(1),
        "n_neighbors": params.whole(1),
        "radius": params.none() | params.real(0, open_low=True),
        "boundary": params.real(0, open_low=True),
        "repair": params.none() | params.one_of(*METHODS),
        "solver": params.one_of(*SOLVERS),
        "max_iter": params.whole(1),
        "tol": params.real(0),
        "metric": params.text() | params.function(),
        "search": params.one_of(*SEARCH),
        "missing": params.one_of(*POLICIES),
        "disconnected": params.one_of(*DISCONNECTED),
        "random_state": params.seed(),
        "n_jobs": params.jobs(),
        "verbose": params.whole(0) | params.flag(),
    }
    _sparse_rows = True
    _sparse_graphs = True
    _hole_policies = tuple(METRICS)
    _extension: Any
    _ways_out = "Fit on a sample of the rows and place the others with transform."

    def __init__(
        self,
        n_components=2,
        *,
        n_neighbors=10,
        radius=None,
        boundary=0.7,
        repair=None,
        solver="accelerated",
        max_iter=1000,
        tol=1e-6,
        metric="euclidean",
        search="auto",
        missing="error",
        disconnected="bridge",
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.boundary = boundary
        self.repair = repair
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.metric = metric
        self.search = search
        self.missing = missing
        self.disconnected = disconnected
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @property
    def _takes_nan(self) -> bool:
        return self.missing != "error"

    def _embed(self, X: Any) -> np.ndarray:
        self.suspicious_edges_, self.suspicious_scores_, self.suspicious_removed_ = NOT_ASKED
        check_metric(self.metric, "TCIE")
        rng = generator(self.random_state)
        same = Distinct.of(X, given=self._precomputed() and sparse.issparse(X))
        different = same.pick(X, square=self._precomputed())
        self._rows = self._own_rows(different)
        settings = {"policy": self.disconnected, "metric": self._distance(), "owner": "TCIE", "n_jobs": self.n_jobs}
        joined = connect(self._graph(different, same), different, **settings)
        self.n_components_graph_, self.component_labels_ = joined.n_components, joined.labels[same.kind]

        n, parts = len(same.first), joined.parts(self.disconnected)
        sides, edge, home = np.zeros(n), np.zeros(n, dtype=bool), np.full(n, -1)
        places = np.full((n, self.n_components), np.nan)
        for number, rows in enumerate(parts):
            sides[rows], edge[rows], places[rows] = self._embed_part(joined.graph, rows, number == 0, rng)
            home[rows] = number
        moves = beside([places[rows, 0] for rows in parts]) if len(parts) > 1 else [0.0]
        for rows, move in zip(parts, moves, strict=True):
            places[rows, 0] += move
        self.one_sidedness_, self.boundary_ = sides[same.kind], edge[same.kind]
        if self._precomputed():
            self._extension = Interpolation(places[same.kind])
        elif sparse.issparse(X) or self._holes is not None:
            self._extension = Interpolation(places)
        else:
            self._extension = Rebuilt(places, home, None, "auto", self.n_components)
        return places[same.kind]

    def _graph(self, X: Any, same: Distinct) -> Any:
        around = self._neighborhood(same.n_neighbors(self.n_neighbors, "TCIE"))
        G = around.graph(X)
        if self.repair is None:
            return G
        found = around.repaired(G, X, self.repair, self.n_components, self._holes)
        self.suspicious_edges_, self.suspicious_scores_, self.suspicious_removed_ = found.named(same.first)
        return found.graph

    def _neighborhood(self, k: int) -> Neighborhood:
        return Neighborhood(k, self.radius, self._distance(), SEARCH[self.search], self.n_jobs, "TCIE")

    def _embed_part(
        self, graph: Any, rows: np.ndarray, largest: bool, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Path lengths, the boundary, the pairs that count, and the places of least stress over them."""
        inside = graph[rows][:, rows] if len(rows) < graph.shape[0] else graph
        with Progress("TCIE: shortest paths", None, self.verbose) as progress:
            D = geodesics(inside, n_jobs=self.n_jobs, progress=progress)
        sides = one_sidedness(D, self.n_components)
        near = max(self.n_neighbors, self.n_components + 1)
        edge = boundary_rows(inside, sides, self.boundary)
        kept = trusted_pairs(inside, D, edge, near, self.n_jobs)

        unit = 2.0 ** int(np.frexp(D.max(initial=0.0))[1])
        if len(rows) == 1 or D.max() == 0:
            Z, stress, run = np.zeros((len(rows), self.n_components)), 0.0, Run(None, np.zeros(1), 1, True)
        else:
            Z, stress, run = self._descended(D / unit, kept, rng)
        if largest:
            self.kept_share_ = float((kept.sum() - len(D)) / max(len(D) * (len(D) - 1), 1))
            self.objective_, self.n_iter_, self.converged_ = stress * unit**2, run.n_iter, run.converged
        return sides, edge, Z * unit

    def _descended(
        self, D: np.ndarray, kept: np.ndarray, rng: np.random.Generator
    ) -> tuple[np.ndarray, float, Run[None]]:
        """The configuration of least stress that is reached from classical scaling of all path lengths."""
        n = len(D)
        weights = None if kept.all() else condensed(lambda rows: kept[rows, rows.start :], n, np.float64, self.n_jobs)
        pairs = Pairs(n, condensed(lambda rows: D[rows, rows.start :], n, np.float64, self.n_jobs), weights)
        problem = Problem(pairs, Ratio(pairs), self.n_jobs)
        start = problem.scaled(classical_of_table(lambda chosen: D[chosen], n, self.n_components, rng))
        loop = {"max_iter": self.max_iter, "tol": self.tol, "verbose": self.verbose}
        place, run = descend(problem, start, self.solver, warn=False, owner="TCIE", **loop)
        if not run.converged:
            warn(
                f"TCIE: not converged after max_iter={self.max_iter} steps (stress {np.sqrt(place.loss):.6g}, "
                f"tol={self.tol:g}). Raise max_iter or tol.",
                ConvergenceWarning,
            )
        Z = principal_axes(place.place.reshape(n, -1))
        return Z, pairs.stress(Z, n_jobs=self.n_jobs)[0], run

    def _extend(self, X: Any) -> np.ndarray:
        k = min(self.n_neighbors, len(self._extension.places))
        if self._precomputed() and sparse.issparse(X):
            reach = self._neighborhood(k).reach(None, X, X.shape[1])
            listed = [(reach.indices[a:b], reach.data[a:b]) for a, b in pairwise(reach.indptr)]
            return np.concatenate([self._among(j[np.argsort(d)][None], np.sort(d)[None]) for j, d in listed])
        if self._precomputed():
            order = np.argsort(X, axis=1, kind="stable")[:, :k]
            return self._among(order, np.take_along_axis(X, order, axis=1))
        near = self._neighborhood(k).nearest(self._rows, k, X)
        if isinstance(self._extension, Rebuilt):
            return self._extension(X, self._rows, near, self.n_jobs)
        return self._extension(near)

    def _among(self, indices: np.ndarray, distances: np.ndarray) -> np.ndarray:
        return self._extension(Neighbors(indices.astype(np.int32), distances))

    def _fitted_places(self) -> np.ndarray:
        return self._extension.places

    def _memory(self, n: int, d: int, itemsize: int, stored: int | None) -> dict[str, int]:
        edges = 2 * n * self.n_neighbors if self.radius is None else 0
        return {
            "path lengths": 2 * n * n * 8,
            "pairs that count": 2 * n * n,
            "pairs": 3 * n * n * 4,
            "inner products": 2 * min(n, 4000) ** 2 * 8,
            "search": 2 * n * 64 * 8,
            "neighbour graph": 60 * edges,
            "rows": 2 * n * d * itemsize if stored is None else 24 * stored,
        }

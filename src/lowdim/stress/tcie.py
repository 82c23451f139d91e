"""Topologically constrained isometric embedding: Isomap that does not trust paths around holes and bays."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from lowdim._core import params
from lowdim._core.base import Reducer
from lowdim._core.distances import check_metric
from lowdim._core.extend import Interpolation, Rebuilt
from lowdim._core.graph import POLICIES as DISCONNECTED
from lowdim._core.graph.repair import METHODS, Repair
from lowdim._core.iterate import Progress
from lowdim._core.landmarks import policy
from lowdim._core.landmarks.choose import sources_among
from lowdim._core.manifold.components import over_parts, side_by_side
from lowdim._core.manifold.neighborhood import Distinct, Neighborhood
from lowdim._core.neighbors import Neighbors
from lowdim._core.runtime.rng import generator
from lowdim._core.tables.arrays import extent
from lowdim.stress._boundary import boundary_rows, one_sidedness, trusted_pairs
from lowdim.stress._solvers import SOLVERS
from lowdim.stress._tcie_part import INVERTED, LaidOut, Sheet, least_stress

_MOST_ROWS = 8000  # that are unrolled within a few minutes


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
    n_landmarks : int, "auto" or None
        Unroll this many rows only (farthest-point choice; paths still lead over all rows) and place the others among
        those nearest along the paths. "auto": only where tables of all pairs of rows would not fit into memory or take
        very long (beyond 8,000 rows), 1,000 of them, with a warning; None: never.
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
    landmarks_ : ndarray of int or None
        The rows that are landmarks; None where all rows were unrolled.
    boundary_ : ndarray of shape (n_samples,)
        Whether each row (with landmarks: the one nearest to it) is at the boundary of the sheet.
    one_sidedness_ : ndarray of shape (n_samples,)
        How far its neighbours lie to one side of it; 1 at a straight edge.
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
        "boundary": params.real(0, open_low=True),
        "repair": params.none() | params.one_of(*METHODS),
        "n_landmarks": policy.rule(2),
        "solver": params.one_of(*SOLVERS),
        "disconnected": params.one_of(*DISCONNECTED),
    }
    _sparse_rows = True
    _sparse_graphs = True
    _extension: Any
    _ways_out = "Set n_landmarks=1000 or so: the other rows are then placed like new ones."

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
        self.n_landmarks = n_landmarks
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

    def _embed(self, X: Any) -> np.ndarray:
        check_metric(self.metric, "TCIE")
        rng, m = generator(self.random_state), self._route(*extent(X)).taken("TCIE")
        same = Distinct.of(X, given=self._precomputed() and sparse.issparse(X))
        rows = same.pick(X, square=self._precomputed())
        self._rows = self._own_rows(rows)
        around = self._neighborhood(same.n_neighbors(self.n_neighbors, "TCIE"))
        repair = Repair(self.repair, self.n_components, self._holes)
        joined, suspicious = around.joined(rows, self.disconnected, repair, first=same.first)
        self.suspicious_edges_, self.suspicious_scores_, self.suspicious_removed_ = suspicious
        self.n_components_graph_, self.component_labels_ = joined.n_components, joined.labels[same.kind]

        parts = joined.parts(self.disconnected)
        found = [self._embed_part(joined.graph, part, rows, m, rng) for part in parts]
        n, largest = len(same.first), found[0]
        self.one_sidedness_, self.boundary_ = (
            over_parts(parts, [getattr(f, name) for f in found], n)[same.kind] for name in ("sides", "edge")
        )
        self.kept_share_, self.objective_ = largest.kept_share, largest.stress
        self.n_iter_, self.converged_ = largest.run.n_iter, largest.run.converged
        self.landmarks_ = None if m is None else same.first[np.concatenate([f.sources for f in found])]
        places, home = side_by_side(parts, [f.places for f in found], n)
        if self._precomputed():
            self._extension = Interpolation(places[same.kind])
        elif self._coordinates(rows) is None:
            self._extension = Interpolation(places)
        else:
            self._extension = Rebuilt(places, home, None, "auto", self.n_components)
        return places[same.kind]

    def _coordinates(self, X: Any) -> Any:
        """The rows, where neighbours can rebuild them; None: only distances to these count."""
        return None if self._precomputed() or sparse.issparse(X) or self._holes is not None else X

    def _embed_part(self, graph: Any, part: np.ndarray, X: Any, m: int | None, rng: np.random.Generator) -> LaidOut:
        """Path lengths, the boundary, the pairs that count, and the places of least stress over them."""
        inside = graph[part][:, part] if len(part) < graph.shape[0] else graph
        some = sources_among(X, part, m, metric=self._distance(), rng=rng)
        near = max(self.n_neighbors, self.n_components + 1)
        with Progress("TCIE: shortest paths", None, self.verbose) as progress:
            sheet = Sheet.of(inside, some, near, self.n_components, n_jobs=self.n_jobs, progress=progress)
        D = sheet.D
        sides = one_sidedness(D, self.n_components)
        edge = boundary_rows(sheet.graph, sides, self.boundary)
        kept = trusted_pairs(sheet.graph, D, edge, near, self.n_jobs)

        loop = {"max_iter": self.max_iter, "tol": self.tol, "verbose": self.verbose}
        Z, stress, run = least_stress(D, kept, self.n_components, self.solver, rng, n_jobs=self.n_jobs, **loop)
        rows = self._coordinates(X)
        Z = sheet.spread(Z, None if rows is None else rows[part], self.n_jobs)
        share, home = float((kept.sum() - len(D)) / max(len(D) * (len(D) - 1), 1)), sheet.home(len(part))
        return LaidOut(Z, sides[home], edge[home], part if some is None else part[some], share, stress, run)

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

    def _neighborhood(self, k: int) -> Neighborhood:
        return Neighborhood(k, self.radius, self._distance(), self.search, self.n_jobs, "TCIE")

    def _route(self, n: int, d: int, itemsize: int, stored: int | None) -> policy.Route:
        tables = partial(self._tables, n=n, d=d, itemsize=itemsize, stored=stored)
        return policy.by_size(self.n_landmarks, n, tables, _MOST_ROWS)

    def _memory(self, n: int, d: int, itemsize: int, stored: int | None) -> dict[str, int]:
        m = self._route(n, d, itemsize, stored).n_landmarks
        return self._tables(min(n, m or n), n, d, itemsize, stored)

    def _tables(self, m: int, n: int, d: int, itemsize: int, stored: int | None) -> dict[str, int]:
        """What m landmarks among n rows need."""
        edges = 2 * n * self.n_neighbors if self.radius is None else 0
        return {
            "path lengths": (n + m) * m * 8,
            "pairs that count": 2 * m * m,
            "pairs": 3 * m * m * 4,
            "Laplacian of the weights": 3 * 8 * min(m, INVERTED) ** 2,
            "inner products": 2 * min(m, 4000) ** 2 * 8,
            "search": 2 * n * 64 * 8,
            "neighbour graph": 60 * edges,
            "rows": 2 * n * d * itemsize if stored is None else 24 * stored,
        }

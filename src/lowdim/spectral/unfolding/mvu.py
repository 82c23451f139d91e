"""Maximum variance unfolding: the embedding of largest variance that keeps the distances between neighbours."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from lowdim._core import params
from lowdim._core.base import Reducer
from lowdim._core.callbacks import Relay
from lowdim._core.extend import NeighborWeights
from lowdim._core.graph.repair import REPAIR_METHODS, Repair
from lowdim._core.landmarks import policy
from lowdim._core.manifold.components import side_by_side
from lowdim._core.manifold.crowding import JudgedMap
from lowdim._core.manifold.neighborhood import Distinct, Neighborhood, are_searched, enough_neighbors
from lowdim._core.runtime.notices import warn
from lowdim._core.runtime.rng import generator
from lowdim._core.runtime.threads import blocks
from lowdim._core.tables.arrays import extent
from lowdim.spectral.unfolding._component import (
    UnfoldedComponent,
    Unfolding,
    constraints_of,
    first_axes,
    mean_of_neighbors,
    unfold_component,
)


class MVU(JudgedMap, Reducer):
    """Maximum variance unfolding: keeps the distances between neighbours and maximises the variance.

    Neighbours keep their distances d_ij, and under these constraints the variance of the embedding is as large as
    possible: maximise trace(K) with K = ZZ' positive semi-definite and centred, K_ii + K_jj - 2 K_ij = d_ij² on every
    edge of the neighbour graph. The axes are the leading eigenvectors of K. A surface that can be flattened without
    stretching is flattened, also with holes, and the eigenvalues show its dimension.

    Parameters
    ----------
    n_components : int
        Dimension of the embedding.
    n_neighbors : int
        Neighbours each row is joined to. Too few leave the graph disconnected or the map underdetermined, too many
        join different folds.
    radius : float or None
        Join rows within this distance instead of a fixed number of neighbours.
    repair : {None, "detour", "flow", "linearity", "stability"}
        Remove short circuits, edges between two folds of the data: edges without which the path between their ends is a
        long detour (the one to try first); edges of rows through which many paths run and around which paths are long;
        edges that leave the tangent plane (of dimension `n_components`) of their neighbourhood; or edges whose ends are
        far apart in sparser graphs. See `Isomap`. Where short circuits are left, a warning says so.
    slack : float
        By what share the distance between neighbours may change. A little makes the problem well-posed; noise and
        distances that are not Euclidean need more, about 0.1. With 0 the last digits come slowly, or not at all.
    angles : bool
        Also keep the distance of two rows that share a neighbour, as in the first paper: more constraints.
    solver : {"low_rank", "exact"}
        "low_rank" optimises K = RR' with few columns; "exact" solves the semidefinite program for up to about 100 rows
        by Clarabel (``pip install 'lowdim[mvu]'``).
    rank : int or None
        Columns of R; None takes 6 more than `n_components`, and twice as many where the distances cannot be kept in
        so few.
    n_landmarks : int, "auto" or None
        Number of landmarks (farthest-point choice) that are unfolded, each counting for the rows nearest to it; the
        others are transformed like new rows. "auto": all rows, but 1,000 landmarks with a warning where all rows would
        not fit into memory or take very long (beyond 5,000 rows); None: all rows.
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
        up; or the expected distance under a Gaussian model of the rows. Such distances are not Euclidean: raise
        `slack`.
    disconnected : {"bridge", "separate", "largest", "error"}
        If the neighbour graph is not connected: join its components by their shortest edges; embed each and tile
        them; embed the largest (other rows are NaN); or raise an error. All but the last warn.
        Between components that are not joined the variance has no bound.
    max_iter : int
        Maximum number of iterations: updates of the multipliers, each followed by up to 200 quasi-Newton steps.
        About 20 are taken with the default slack, 50 to 100 with none.
    tol : float
        Convergence tolerance: by what share of itself a squared distance may leave its slack.
    callback : callable or None
        Called as ``callback(step, loss, state)``; returning True stops the fit. The loss is
        minus the variance, the state the embedding so far, of the rows that are unfolded (landmarks) and of one
        connected component after the other. ``solver="exact"`` makes no steps and does not call it.
    random_state : int, generator or None
        Seed; the same int gives the same result. For the landmarks and the initialisation.
    n_jobs : int or None
        Number of threads; None means all cores. Results do not depend on it.
    verbose : int or bool
        1 or True shows the progress of long fits on stderr.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Coordinates of the fitted rows. Equal rows have the same coordinates.
    objective_ : float
        trace(K), the sum of squared distances from the mean in all dimensions of K (over all components; with
        landmarks, each times the rows it counts for).
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of K of the axes, decreasing (of the largest component).
    gram_eigenvalues_ : ndarray
        All eigenvalues of K, as many as R has columns (of the largest component). Beyond the dimension of the data they
        are small.
    edge_error_ : float
        The largest relative change of the distance between neighbours, in all dimensions of K.
    landmarks_ : ndarray of int or None
        Row numbers of the landmarks; None where all rows were unfolded.
    n_iter_ : int
        Updates of the multipliers (of the component with most).
    converged_ : bool
        Whether all distances are within the slack and the variance no longer changes.
    n_components_graph_ : int
        Number of connected components of the neighbour graph, before joining.
    component_labels_ : ndarray of shape (n_samples,)
        The component of each row, 0 being the largest.
    suspicious_edges_, suspicious_scores_, suspicious_removed_ : ndarray
        With `repair` (else None): the edges found as pairs of rows, the most suspicious first, their scores, and
        whether each was removed (False where the graph would be disconnected without it).

    Notes
    -----
    The coordinates of a new row are the weighted mean of those of its nearest fitted rows, with the weights that
    reconstruct it from these, as in LLE: a map that keeps distances is affine in a small neighbourhood. A fitted row
    reconstructs itself. From distances alone, the weights depend on the distances.

    References
    ----------
    Weinberger and Saul, Unsupervised learning of image manifolds by semidefinite programming, 2006. Burer and Monteiro,
    A nonlinear programming algorithm for solving semidefinite programs via low-rank factorization, 2003. Kulis,
    Surendran and Platt, Fast low-rank semidefinite programming for embedding and clustering, 2007.

    Examples
    --------
    >>> import lowdim
    >>> X = lowdim.datasets.swiss_roll(300, random_state=0).X
    >>> model = lowdim.MVU(n_components=2).fit(X)
    >>> model.edge_error_ < 1e-3
    True
    """

    _rules: ClassVar = {
        "n_components": params.whole(1),
        "n_neighbors": params.whole(1),
        "repair": params.none() | params.one_of(*REPAIR_METHODS),
        "slack": params.real(0, 1),
        "angles": params.flag(),
        "solver": params.one_of("low_rank", "exact"),
        "rank": params.none() | params.whole(1),
        "n_landmarks": policy.rule(2),
    }
    _sparse_rows = True
    _sparse_graphs = True
    _extension: Any
    _most_rows: ClassVar[int] = 5000  # that are unfolded within a few minutes
    _crowding_advice = "Drop these, raise n_neighbors, or look at the others alone."
    _ways_out = "Set n_landmarks=1000 or so: the other rows are then transformed like new ones."

    def __init__(
        self,
        n_components=2,
        *,
        n_neighbors=6,
        radius=None,
        repair=None,
        slack=5e-4,
        angles=False,
        solver="low_rank",
        rank=None,
        n_landmarks="auto",
        metric="euclidean",
        metric_params=None,
        search="auto",
        missing="error",
        disconnected="bridge",
        max_iter=200,
        tol=1e-4,
        callback=None,
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.repair = repair
        self.slack = slack
        self.angles = angles
        self.solver = solver
        self.rank = rank
        self.n_landmarks = n_landmarks
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
        rng = generator(self.random_state)
        same = Distinct.of(X, given=self._precomputed() and sparse.issparse(X))
        choice = {"metric": self._distance(), "rng": rng, "n_jobs": self.n_jobs, "owner": "MVU"}
        m = self._landmark_choice(*extent(X)).announced("MVU")
        some = same.landmarks(X, m, method="farthest", **choice)
        rows = some.pick(X, square=self._precomputed())
        self.landmarks_ = None if m is None else some.first

        searched = are_searched(X, self.radius, self._precomputed())
        wanted = enough_neighbors(type(self), self.n_neighbors, len(same.kind), searched)
        k = min(wanted, same.n_neighbors(wanted, "MVU"), len(some.first) - 1)
        hood = self._neighborhood(k)
        repair = Repair(self.repair, self.n_components, self._holes)
        joined, suspicious = hood.connected(rows, self.disconnected, repair, first=some.first)
        self.suspicious_edges_, self.suspicious_scores_, self.suspicious_removed_ = suspicious
        self.n_components_graph_, self.component_labels_ = joined.n_components, joined.labels[some.kind]

        components = joined.parts(self.disconnected)
        found = self._unfold(joined.graph, rows, components, some, rng)
        self.objective_ = float(sum(component.eigenvalues.sum() for component in found))
        self.gram_eigenvalues_ = found[0].eigenvalues
        self.edge_error_ = max(component.error for component in found)
        self.n_iter_, self.converged_ = max(c.n_iter for c in found), all(c.converged for c in found)

        if any(component.coordinates.shape[1] < self.n_components for component in found):
            self._warn_of_zero_axes(rows.shape[0])
        Z, component_of = side_by_side(components, [c.axes(self.n_components) for c in found], rows.shape[0])
        completed = None if self._holes is None else self._holes.rows_among(rows, hood.nearest(rows, hood.n_neighbors))
        self._extension = NeighborWeights(Z, component_of, completed, "auto", self.n_components)
        self._rows, self._fitted_columns = self._own_rows(rows), some.first if self._precomputed() else None
        if self.landmarks_ is None:
            return Z[some.kind]
        return np.concatenate([self._extend(X[block]) for block in blocks(X.shape[0], self._block_rows)])

    def _unfold(
        self, graph: Any, rows: Any, components: list[np.ndarray], some: Distinct, rng: np.random.Generator
    ) -> list[UnfoldedComponent]:
        """The semidefinite program of each connected component."""
        constraints = constraints_of(graph, rows, self._distance(), angles=self.angles, slack=self.slack)
        settings = Unfolding(
            self.n_components, self.rank, self.solver, self.tol, self.max_iter, self.n_jobs, self.verbose
        )
        relay = Relay(self.callback)
        return [
            unfold_component(settings, graph, constraints, inside, some.counts[inside], rng, relay)
            for inside in components
        ]

    def _warn_of_zero_axes(self, n: int) -> None:
        if self.disconnected != "separate":
            r = self.n_components
            warn(f"MVU: {n} different rows have {n - 1} axes; the other axes of n_components={r} are zero.")

    @property
    def eigenvalues_(self) -> np.ndarray:
        return first_axes(self.gram_eigenvalues_[None], self.n_components)[0]

    def _extend(self, X: Any) -> np.ndarray:
        known: NeighborWeights = self._extension
        n, k = len(known.embedding), self.n_neighbors
        if self._precomputed() or sparse.issparse(X):
            X = X if self._fitted_columns is None else X[:, self._fitted_columns]
            return mean_of_neighbors(self._neighborhood(k + 1).reach(self._rows, X, n), known)
        return known(*self._neighborhood(k).for_weights(self._rows, X, self._holes, known.completed), self.n_jobs)

    def _fitted_places(self) -> np.ndarray:
        return self._extension.embedding

    def _neighborhood(self, k: int) -> Neighborhood:
        return Neighborhood(k, self.radius, self._distance(), self.search, self.n_jobs, "MVU")

    def _landmark_choice(self, n: int, d: int, itemsize: int, stored: int | None) -> policy.LandmarkChoice:
        possible = stored is None or not self._precomputed()  # landmarks need distances between any two rows
        tables = partial(self._tables, n=n, d=d, itemsize=itemsize, stored=stored)
        return policy.by_size(self.n_landmarks, n, tables, self._most_rows, possible)

    def _memory(self, n: int, d: int, itemsize: int, stored: int | None) -> dict[str, int]:
        m = self._landmark_choice(n, d, itemsize, stored).n_landmarks
        return self._tables(min(n, m or n), n, d, itemsize, stored)

    def _tables(self, m: int, n: int, d: int, itemsize: int, stored: int | None) -> dict[str, int]:
        """Bytes that m landmarks among n rows need."""
        constraints = m * self.n_neighbors * (self.n_neighbors if self.angles else 1)
        if self.solver == "exact":
            return {"conic solver": 3 * min(m, 1000) ** 4, "rows": 2 * n * d * itemsize}
        p = max(self.n_components, self.rank or self.n_components + 6)
        return {
            "distance constraints": constraints * (160 + 24 * p),
            "steps": 8 * 40 * m * p,
            "sparse factors": int(36 * m * min(m / 2, 8 * self.n_neighbors * np.log2(max(m, 2)))),
            "geodesic distances": 8 * 300 * m,
            "rows": 2 * n * d * itemsize if stored is None else 24 * stored,
        }

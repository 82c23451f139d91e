"""Maximum variance unfolding: pull the rows apart as far as the distances between neighbours allow."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from lowdim._core import params
from lowdim._core.base import Reducer
from lowdim._core.distances import check_metric
from lowdim._core.extend import Rebuilt
from lowdim._core.graph import POLICIES as DISCONNECTED
from lowdim._core.graph.repair import METHODS, Repair
from lowdim._core.landmarks import policy
from lowdim._core.manifold.components import side_by_side
from lowdim._core.manifold.neighborhood import Distinct, Neighborhood
from lowdim._core.runtime.notices import warn
from lowdim._core.runtime.rng import generator
from lowdim._core.runtime.threads import blocks
from lowdim._core.tables.arrays import extent
from lowdim.spectral.unfolding._component import Sheet, Unfolding, mean_of_reached, rods_of, unfold_part

_MOST_ROWS = 5000  # that are unfolded within a few minutes


class MVU(Reducer):
    """Maximum variance unfolding: keeps the distances between neighbours and pulls everything else apart.

    Neighbours are joined by rods of the length of their distance, and the places with the largest variance are looked
    for: maximise trace(K) with K = ZZ' positive semi-definite and centred, K_ii + K_jj - 2 K_ij = d_ij² on every rod.
    The axes are the leading eigenvectors of K. A sheet that can be laid flat without stretching is laid flat, holes and
    all, and the eigenvalues tell how many dimensions it has.

    Parameters
    ----------
    n_components : int
        Dimension of the embedding.
    n_neighbors : int
        Neighbours each row is joined to. Too few break the sheet apart or leave it floppy, too many cut across folds.
    radius : float or None
        Join rows within this distance instead of a fixed number.
    repair : {None, "flow", "linearity", "stability"}
        Take out edges that short-circuit the sheet: of rows through which many paths run and around which the way is
        long; that leave the tangent plane (of dimension `n_components`) of their neighbourhood; or whose ends are far
        apart in sparser graphs. See `Isomap`.
    slack : float
        By what share the length of a rod may change. A little makes the problem well-posed; noise or distances that no
        points can have need more, 0.1 or so.
    angles : bool
        Also keep the distance of two rows that share a neighbour, as in the first paper: more rods, stiffer.
    solver : {"low_rank", "exact"}
        "low_rank" looks for K = RR' with few columns; "exact" solves the semidefinite program for up to about 100 rows
        by Clarabel (``pip install 'lowdim[mvu]'``).
    rank : int or None
        Columns of R; None takes 6 more than `n_components`.
    n_landmarks : int, "auto" or None
        Unfold this many rows only (farthest-point choice), each counting for those nearest to it, and place the others
        like new rows. "auto": only where all rows would not fit into memory or take very long (beyond 5,000 rows),
        1,000 of them, with a warning; None: never.
    metric : str or callable
        Distance between rows; "precomputed": X holds distances, dense, condensed, or a sparse graph whose stored
        entries are the rods (`n_neighbors` is not used then).
    search : {"auto", "exact", "approximate"}
        How neighbours are found. "auto" is exact up to 20,000 rows and wherever a tree is fast.
    missing : {"error", "pairwise", "expected"}
        What a missing cell (NaN) means: refused; distances over the columns both rows have, scaled up; or the expected
        distance under a Gaussian model of the rows. Such distances are not those of any points: raise `slack`.
    disconnected : {"bridge", "separate", "largest", "error"}
        When the graph falls apart (the variance then has no bound): join its parts by their shortest edges, embed each
        and tile them, embed the largest (other rows are NaN), or refuse.
    tol : float
        By what share of its squared length a rod may leave its slack at the end.
    max_iter : int
        Updates of the pulls of the rods, each followed by up to 200 quasi-Newton steps.
    random_state : int, generator or None
        For the landmarks and the start.
    n_jobs : int or None
        Threads; None means all cores. Results do not depend on it.
    verbose : int
        1 shows progress of long runs.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Places of the fitted rows. Equal rows have one place.
    objective_ : float
        trace(K), the sum of squared distances from the mean in all dimensions of K (of all parts; with landmarks, each
        times the rows it counts for).
    eigenvalues_ : ndarray
        Eigenvalues of K, decreasing, as many as R has columns (of the largest part). Beyond the dimension of the sheet
        they are small.
    edge_error_ : float
        The largest relative change of the length of a rod, in all dimensions of K.
    landmarks_ : ndarray of int or None
        The rows that are landmarks; None where all rows were unfolded.
    n_iter_ : int
        Updates of the pulls (of the part that took most).
    converged_ : bool
        Whether all rods keep their length within the slack and the variance has settled.
    n_components_graph_ : int
        Parts the neighbour graph fell into before joining.
    component_labels_ : ndarray of shape (n_samples,)
        The part of each row, 0 being the largest.
    suspicious_edges_, suspicious_scores_, suspicious_removed_ : ndarray
        With `repair` (else None): the edges found as pairs of rows, the most suspicious first, their scores, and
        whether each was taken out (False where it holds the graph together).

    Notes
    -----
    A new row is placed by the weights that rebuild it from its nearest fitted rows, as in LLE: what keeps distances is
    affine in a small neighbourhood. A fitted row rebuilds itself. From distances alone, it is a mean of its neighbours'
    places, weighted by nearness.

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
        "repair": params.none() | params.one_of(*METHODS),
        "slack": params.real(0, 1),
        "angles": params.flag(),
        "solver": params.one_of("low_rank", "exact"),
        "rank": params.none() | params.whole(1),
        "n_landmarks": policy.rule(2),
        "disconnected": params.one_of(*DISCONNECTED),
        "tol": params.real(0, open_low=True),
    }
    _sparse_rows = True
    _sparse_graphs = True
    _extension: Any
    _ways_out = "Set n_landmarks=1000 or so: the other rows are then placed like new ones."

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
        search="auto",
        missing="error",
        disconnected="bridge",
        tol=1e-4,
        max_iter=60,
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
        self.search = search
        self.missing = missing
        self.disconnected = disconnected
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _embed(self, X: Any) -> np.ndarray:
        check_metric(self.metric, "MVU")
        rng = generator(self.random_state)
        same = Distinct.of(X, given=self._precomputed() and sparse.issparse(X))
        choice = {"metric": self._distance(), "rng": rng, "n_jobs": self.n_jobs, "owner": "MVU"}
        m = self._route(*extent(X)).taken("MVU")
        some = same.landmarks(X, m, method="farthest", **choice)
        rows = some.pick(X, square=self._precomputed())
        self.landmarks_ = None if m is None else some.first

        k = min(self.n_neighbors, same.n_neighbors(self.n_neighbors, "MVU"), len(some.first) - 1)
        hood = self._neighborhood(k)
        repair = Repair(self.repair, self.n_components, self._holes)
        joined, suspicious = hood.joined(rows, self.disconnected, repair, first=some.first)
        self.suspicious_edges_, self.suspicious_scores_, self.suspicious_removed_ = suspicious
        self.n_components_graph_, self.component_labels_ = joined.n_components, joined.labels[some.kind]

        rods = rods_of(joined.graph, rows, self._distance(), angles=self.angles, slack=self.slack)
        parts = joined.parts(self.disconnected)
        settings = Unfolding(
            self.n_components, self.rank, self.solver, self.tol, self.max_iter, self.n_jobs, self.verbose
        )
        sheets = [unfold_part(settings, joined.graph, rods, part, some.counts[part], rng) for part in parts]
        self.objective_ = float(sum(sheet.eigenvalues.sum() for sheet in sheets))
        self.eigenvalues_ = sheets[0].eigenvalues
        self.edge_error_ = max(sheet.error for sheet in sheets)
        self.n_iter_, self.converged_ = max(s.n_iter for s in sheets), all(s.converged for s in sheets)
        return self._placed(X, rows, hood, parts, sheets, some)

    def _placed(self, X: Any, rows: Any, hood: Any, parts: list[Any], sheets: list[Sheet], some: Distinct) -> Any:
        """Places of all rows, the parts side by side, and what new rows need."""
        n, r = rows.shape[0], self.n_components
        if any(sheet.places.shape[1] < r for sheet in sheets) and self.disconnected != "separate":
            warn(f"MVU: {n} different rows have {n - 1} axes; the others of n_components={r} are zero.")
        Z, home = side_by_side(parts, [sheet.axes(r) for sheet in sheets], n)
        self._rows = self._own_rows(rows)
        completed = None if self._holes is None else self._holes.rows_among(rows, hood.nearest(rows, hood.n_neighbors))
        self._extension = Rebuilt(Z, home, completed, "auto", r)
        self._parts = some.first if self._precomputed() else None
        if self.landmarks_ is None:
            return Z[some.kind]
        return np.concatenate([self._extend(X[block]) for block in blocks(X.shape[0], self._block_rows)])

    def _extend(self, X: Any) -> np.ndarray:
        known: Rebuilt = self._extension
        n, k = len(known.places), self.n_neighbors
        if self._precomputed() or sparse.issparse(X):
            X = X if self._parts is None else X[:, self._parts]
            return mean_of_reached(self._neighborhood(k + 1).reach(self._rows, X, n), known)
        return known(*self._neighborhood(k).meeting(self._rows, X, self._holes, known.completed), self.n_jobs)

    def _fitted_places(self) -> np.ndarray:
        return self._extension.places

    def _neighborhood(self, k: int) -> Neighborhood:
        return Neighborhood(k, self.radius, self._distance(), self.search, self.n_jobs, "MVU")

    def _route(self, n: int, d: int, itemsize: int, stored: int | None) -> policy.Route:
        possible = stored is None or not self._precomputed()  # landmarks need distances between any two rows
        tables = partial(self._tables, n=n, d=d, itemsize=itemsize, stored=stored)
        return policy.by_size(self.n_landmarks, n, tables, _MOST_ROWS, possible)

    def _memory(self, n: int, d: int, itemsize: int, stored: int | None) -> dict[str, int]:
        m = self._route(n, d, itemsize, stored).n_landmarks
        return self._tables(min(n, m or n), n, d, itemsize, stored)

    def _tables(self, m: int, n: int, d: int, itemsize: int, stored: int | None) -> dict[str, int]:
        """What m landmarks among n rows need."""
        rods = m * self.n_neighbors * (self.n_neighbors if self.angles else 1)
        if self.solver == "exact":
            return {"conic solver": 3 * min(m, 1000) ** 4, "rows": 2 * n * d * itemsize}
        p = max(self.n_components, self.rank or self.n_components + 6)
        return {
            "rods": rods * (160 + 24 * p),
            "steps": 8 * 40 * m * p,
            "sparse factors": int(36 * m * min(m / 2, 8 * self.n_neighbors * np.log2(max(m, 2)))),
            "path lengths": 8 * 300 * m,
            "rows": 2 * n * d * itemsize if stored is None else 24 * stored,
        }

"""Diffusion maps: rows are close where random walks from them spread alike."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from lowdim._core import params
from lowdim._core.base import Reducer
from lowdim._core.distances import pairwise
from lowdim._core.graph.repair import NO_REPAIR, REPAIR_METHODS, Repair
from lowdim._core.landmarks import policy
from lowdim._core.landmarks.policy import solved
from lowdim._core.manifold.crowding import JudgedMap
from lowdim._core.manifold.neighborhood import Distinct, Neighborhood
from lowdim._core.manifold.random_walk import (
    Transitions,
    Walk,
    WalkComponent,
    slow_axes,
    weighted_graph,
    with_values,
)
from lowdim._core.marks_blocks import MarksBlocks
from lowdim._core.neighbors import shared
from lowdim._core.runtime.notices import warn
from lowdim._core.runtime.rng import generator
from lowdim._core.runtime.threads import blocks
from lowdim._core.spectrum.choice import DENSE
from lowdim._core.tables.arrays import extent
from lowdim.spectral._diffusion_kernel import all_distances, full_kernel
from lowdim.spectral._falloff import NEIGHBOR, ROW_SCALES, WIDTH_RULES, Falloff, falloff
from lowdim.spectral._walk_weights import WIDTH_CONVENTIONS, shortest_edges

_NAME = "DiffusionMaps"


class DiffusionMaps(MarksBlocks, JudgedMap, Reducer):
    """Diffusion maps: two rows are close when random walks from them reach the same rows.

    The kernel is K_ij = exp(-d_ij²/eps). Dividing by the densities q_i = sum_j K_ij, K_ij / (q_i q_j)^alpha, makes the
    walk independent (alpha = 1) of how densely each region was sampled. Normalised rows are the transition matrix P of
    a walk; its right eigenvectors psi_k with eigenvalues 1 = lambda_0 > lambda_1 >= ... give the coordinates lambda_k^t
    psi_k(i). With all axes kept, distances in the map are diffusion distances at time t: D² = sum_m (p_t(i, m) -
    p_t(j, m))² / pi(m), p_t being t steps of the walk and pi its stationary distribution.

    Parameters
    ----------
    n_components : int
        Dimension of the embedding.
    n_neighbors : int or None
        None: every pair of rows is joined, n² numbers. A number: two rows are joined when either is among so many
        nearest neighbours of the other, for tables of many rows. A row is joined to itself in both cases.
    radius : float or None
        Join rows within this distance instead of a fixed number of neighbours.
    repair : {None, "detour", "flow", "linearity", "stability"}
        Remove short circuits, edges between two folds of the data: edges without which the path between their ends is a
        long detour (the one to try first); edges of rows through which many paths run and around which paths are long;
        edges that leave the tangent plane (of dimension `n_components`) of their neighbourhood; or edges whose ends are
        far apart in sparser graphs. See `Isomap`. Where short circuits are left, a warning says so. Only with
        `n_neighbors` or `radius`.
    alpha : float
        Exponent of the density: 0 keeps it (the walk of Laplacian eigenmaps), 1/2 follows a Fokker-Planck diffusion, 1
        depends on the shape alone.
    time : float or "multiscale"
        Steps t of the walk, the power of lambda: the longer, the coarser. 0 leaves psi as it is; "multiscale" is the
        sum over all times, lambda / (1 - lambda).
    width : {"adaptive", "self-tuning", "median", "kernel-sum"} or float
        The width of the kernel. "median": one eps, the median squared distance to the 10th neighbour. "adaptive":
        the same, but rows whose 10th neighbour is more than 1.5 times as far have a wider kernel of their own,
        ½ exp(-d²/s_i²) + ½ exp(-d²/s_j²), so that outlying rows stay joined to the others and do not take an axis each.
        "self-tuning": exp(-d²/(s_i s_j)), s_i being the distance to the 7th neighbour of each row. "kernel-sum": the
        eps at which the sum of the kernel grows fastest. A number is the s of the formula that `convention` names.
    convention : {"exp(-d2/s)", "exp(-d2/s2)", "exp(-d2/(2*s2))"}
        The formula in which a number as `width` is s: eps itself by default, as in the papers on diffusion maps; in the
        last one it is the standard deviation of a Gaussian, as in the other estimators.
    n_landmarks : int, "auto" or None
        Number of landmarks between which the walk goes, each counting for the rows nearest to it; the others are
        transformed like new rows (Nystrom). Memory then grows with n_samples x n_landmarks at most, also without a
        graph. "auto": all rows, but 1,000 landmarks with a warning where the kernel of all rows would not fit into
        memory or take very long (beyond 30,000 rows without a graph), or no eigensolver succeeds; None: all rows.
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
        If the neighbour graph is not connected: join its components by their shortest edges, each with the weight of
        the weakest link of a row to its nearest neighbour; embed each and tile them; embed the largest (other rows are
        NaN); or raise an error. All but the last warn. lambda = 1 is repeated, once for each component; weights below
        1e-12 join nothing, also without a graph.
    random_state : int, generator or None
        Seed; the same int gives the same result. For the landmarks and the start of the eigensolver.
    n_jobs : int or None
        Number of threads; None means all cores. Results do not depend on it.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Coordinates of the fitted rows: lambda^t psi, psi scaled to sum_i pi_i psi_k(i)² = 1.
    eigenvalues_ : ndarray of shape (n_components,)
        lambda_1, lambda_2, ..., descending, lambda_0 = 1 left out (of the largest component).
    stationary_ : ndarray of shape (n_samples,)
        pi, the share of its time that a long walk spends on each row (of its component).
    landmarks_ : ndarray of int or None
        Row numbers of the landmarks; None where the walk is between all rows.
    gamma_ : float or None
        1 / eps; None where each row has a scale.
    scales_ : ndarray or None
        The scales of the rows, under "adaptive" and "self-tuning" (equal rows counting once where there is a graph).
    n_components_graph_ : int
        Number of connected components of the walk, before joining: how often 1 is an eigenvalue.
    component_labels_ : ndarray of shape (n_samples,)
        The component of each row, 0 being the largest.
    suspicious_edges_, suspicious_scores_, suspicious_removed_ : ndarray
        With `repair` (else None): the edges found as pairs of rows, the most suspicious first, their scores, and
        whether each was removed (False where the graph would be disconnected without it).

    Notes
    -----
    New rows: psi_k(x) = sum_i p(x, i) psi_k(i) / lambda_k, p(x, i) being the transition probabilities from x to the
    fitted rows, whose densities stay as they were. `transform` of the fitted rows is `embedding_` to rounding (1e-8 of
    the spread). On a graph, a new row closer to a fitted one than half-way to that one's nearest neighbour gets the
    edges of the fitted row in proportion, which makes this hold there too. On axes with lambda below 1e-4 new rows get
    the mean of their neighbours.

    References
    ----------
    Coifman and Lafon, Diffusion maps, 2006. Zelnik-Manor and Perona, Self-tuning spectral clustering, 2004. Berry and
    Harlim, Variable bandwidth diffusion kernels, 2016 (the kernel-sum rule, after Coifman, Shkolnisky, Sigworth and
    Singer, 2008).

    Examples
    --------
    >>> import lowdim
    >>> X = lowdim.datasets.swiss_roll(300, random_state=0).X
    >>> model = lowdim.DiffusionMaps(n_components=2, time=2).fit(X)
    >>> model.transform(X[:5]).shape
    (5, 2)
    """

    _rules: ClassVar = {
        "n_components": params.whole(1),
        "n_neighbors": params.none() | params.whole(1),
        "repair": params.none() | params.one_of(*REPAIR_METHODS),
        "alpha": params.real(0),
        "time": params.one_of("multiscale") | params.real(0),
        "width": params.one_of(*WIDTH_RULES) | params.real(0, open_low=True),
        "convention": params.one_of(*WIDTH_CONVENTIONS),
        "n_landmarks": policy.rule(2),
    }
    _sparse_rows = True
    _sparse_graphs = True
    _block_rows = 256
    _sums_stream = True  # each landmark counts for the rows that are nearest to it
    _unit_axes = True
    _crowding_advice = "Drop these, take a larger width or width='adaptive', or use another method."
    _ways_out = "Set n_neighbors=64 or so (memory then grows with n_samples x n_neighbors), or n_landmarks=1000."

    def __init__(
        self,
        n_components=2,
        *,
        n_neighbors=None,
        radius=None,
        repair=None,
        alpha=1.0,
        time=1,
        width="adaptive",
        convention="exp(-d2/s)",
        n_landmarks="auto",
        metric="euclidean",
        metric_params=None,
        search="auto",
        missing="error",
        disconnected="bridge",
        random_state=None,
        n_jobs=None,
    ):
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.repair = repair
        self.alpha = alpha
        self.time = time
        self.width = width
        self.convention = convention
        self.n_landmarks = n_landmarks
        self.metric = metric
        self.metric_params = metric_params
        self.search = search
        self.missing = missing
        self.disconnected = disconnected
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _on_graph(self, X: Any) -> bool:
        stored = self._precomputed() and sparse.issparse(X)
        return stored or self.n_neighbors is not None or self.radius is not None

    def _embed(self, X: Any) -> np.ndarray:
        self.suspicious_edges_, self.suspicious_scores_, self.suspicious_removed_ = NO_REPAIR
        if self.repair is not None and not self._on_graph(X):
            raise ValueError(f"{_NAME}: repair must be None where all rows are joined. Set n_neighbors or radius.")
        with_all, with_landmarks = partial(self._embed_rows, X, None), partial(self._embed_rows, X, give_up=False)
        return solved(self._landmark_choice(*extent(X)), with_all, with_landmarks, _NAME)

    def _embed_rows(self, X: Any, m: int | None, give_up: bool) -> np.ndarray:
        """The walk between all rows, or between m landmarks."""
        rng = generator(self.random_state)
        given = not self._on_graph(X) or (self._precomputed() and sparse.issparse(X))
        choice = {"method": "kmeans++", "metric": self._distance(), "rng": rng, "n_jobs": self.n_jobs, "owner": _NAME}
        same = Distinct.of(X, given=given)
        same = same.landmarks(X, m, **choice) if self._marked is None else same.marked(X, self._marked, **choice)
        self.landmarks_ = None if m is None else same.first
        rows = same.pick(X, square=self._precomputed())
        self._rows = self._own_rows(rows)

        K, joined, gaps = (self._graph_kernel if self._on_graph(X) else self._full_kernel)(rows, same)
        self.n_components_graph_, self.component_labels_ = joined.n_components, joined.labels[same.kind]
        columns, stationary, walks = np.zeros(len(same.first)), np.full(len(same.first), np.nan), []
        for inside in joined.parts(self.disconnected):
            found = self._embed_component(K, inside, same.counts[inside], rng, give_up)
            columns[inside], stationary[inside] = found.columns, found.stationary
            walks.append(found.walk)
        self.stationary_ = stationary[same.kind]
        self.eigenvalues_ = walks[0].eigenvalues
        own_edges = self._on_graph(X) or (joined.n_components > 1 and self.disconnected == "bridge")
        self._extension = Walk.of(walks, same, gaps, own_edges, columns)
        if m is None:
            return self._extension.embedding()[same.kind]
        return np.concatenate([self._extend(X[block]) for block in blocks(X.shape[0], self._block_rows)])

    def _graph_kernel(self, rows: Any, same: Distinct) -> tuple[Any, Any, np.ndarray]:
        """K along the edges and on the diagonal, the connected graph, and distances to nearest neighbours."""
        wanted = same.n_neighbors(self.n_neighbors or NEIGHBOR, _NAME)
        around = self._neighborhood(wanted)
        with shared(rows):
            found = None
            if not (self._precomputed() and sparse.issparse(rows)) and self.width in (*ROW_SCALES, "median"):
                found = around.nearest(rows, min(rows.shape[0] - 1, max(NEIGHBOR, wanted)))
            repair = Repair(self.repair, self.n_components, self._holes)
            G, suspicious = around.repaired(rows, repair, first=same.first)
        self.suspicious_edges_, self.suspicious_scores_, self.suspicious_removed_ = suspicious
        fall = self._set_falloff(rows, around, G if found is None else found)
        W, joined = weighted_graph(G, fall.weigh, rows, **self._connecting())
        K = sparse.csr_array(W + sparse.eye_array(W.shape[0], format="csr"))
        return K, joined, shortest_edges(joined.graph)

    def _full_kernel(self, rows: Any, same: Distinct) -> tuple[Any, Any, np.ndarray]:
        """The same for K between all rows."""
        around = self._neighborhood(same.n_neighbors(NEIGHBOR, _NAME))
        found = around.nearest(rows, min(NEIGHBOR, rows.shape[0] - 1))
        fall = self._set_falloff(rows, around, found)
        D = all_distances(rows, self._distance(), self.n_jobs)
        return *full_kernel(D, fall, found, rows, **self._connecting()), found.distances[:, 0].astype(np.float64)

    def _set_falloff(self, rows: Any, around: Neighborhood, found: Any) -> Falloff:
        fall = falloff(rows, self.width, self.convention, around, found)
        self.gamma_, self.scales_ = fall.gamma, fall.scales
        return fall

    def _falloff(self) -> Falloff:
        rule = self.width if isinstance(self.width, str) else "median"
        return Falloff(self.gamma_, self.scales_, ROW_SCALES.get(rule, 0), mean=rule == "adaptive")

    def _connecting(self) -> dict[str, Any]:
        return {"policy": self.disconnected, "metric": self._distance(), "owner": _NAME, "n_jobs": self.n_jobs}

    def _neighborhood(self, k: int) -> Neighborhood:
        return Neighborhood(k, self.radius, self._distance(), self.search, self.n_jobs, _NAME)

    def _embed_component(
        self, K: Any, rows: np.ndarray, counts: np.ndarray, rng: np.random.Generator, give_up: bool
    ) -> _Diffusion:
        """The walk on one connected component: density normalisation, transition matrix, eigenvectors."""
        r = self.n_components
        K = K if len(rows) == K.shape[0] else K[rows][:, rows]
        m = counts.astype(np.float64)
        c = m / np.asarray(K @ m).ravel() ** self.alpha
        W = _scaled(K, c)
        degrees = np.asarray(W.sum(axis=1)).ravel()

        quiet = self.disconnected == "separate"
        values, Y = slow_axes(W, r, rng=rng, owner=_NAME, quiet=quiet, give_up=give_up)
        values = _without_dead(1.0 - values, Y, quiet)
        values[len(rows) - 1 :] = 0.0  # axes that so few rows do not have
        powers = values / (1.0 - values) if self.time == "multiscale" else np.abs(values) ** self.time
        walk = WalkComponent(rows, values, Y, np.sqrt(degrees.sum()) * powers, None, np.zeros(r))
        return _Diffusion(walk, c, degrees / degrees.sum() / m)

    def _extend(self, X: Any) -> np.ndarray:
        walk, fall = self._extension, self._falloff()
        X = walk.columns_of(X) if self._precomputed() else X
        if self._on_graph(X):
            reach = self._neighborhood(self.n_neighbors or NEIGHBOR).reach(self._rows, X, len(walk.labels))
            return walk.transform(Transitions.along(reach, fall.along_new(reach, walk.gaps), walk.gaps))
        D = X if self._precomputed() else pairwise(X, self._rows, self._distance(), owner=_NAME)
        return walk.transform(Transitions.to_all(D, fall.to_all(D, walk.gaps), walk.gaps))

    def diffusion_distances(self, X: Any = None) -> np.ndarray:
        """Distances in the map: diffusion distances at the fitted time, in the axes that were kept.

        Exact with ``n_components = n_samples - 1``; with fewer axes D² is too small by at most lambda^2t (1/pi_i +
        1/pi_j), lambda being the largest eigenvalue left out.

        Parameters
        ----------
        X : array-like of shape (m, n_features) or None
            Rows to measure from; None: the fitted ones.

        Returns
        -------
        D : ndarray of shape (m, n_samples)
            Distances to the fitted rows.
        """
        check_is_fitted(self)
        return pairwise(self.embedding_) if X is None else pairwise(self.transform(X), self.embedding_)

    def _fitted_places(self) -> np.ndarray:
        return self._extension.embedding().astype(self.embedding_.dtype)

    @property
    def _most_rows(self) -> int:
        """Rows whose kernel is solved within a few minutes; on a graph there is no such limit."""
        return 30_000 if self.n_neighbors is None and self.radius is None else 2**62

    def _landmark_choice(self, n: int, d: int, itemsize: int, stored: int | None) -> policy.LandmarkChoice:
        if self._marked is not None:
            return policy.LandmarkChoice(len(self._marked))
        possible = stored is None or not self._precomputed()  # landmarks need distances between any two rows
        tables = partial(self._tables, n=n, d=d, itemsize=itemsize, stored=stored)
        return policy.by_size(self.n_landmarks, n, tables, self._most_rows, possible)

    def _marks(self) -> tuple[int, str] | None:
        return policy.wanted(self.n_landmarks, "kmeans++")

    def _memory(self, n: int, d: int, itemsize: int, stored: int | None) -> dict[str, int]:
        m = self._landmark_choice(n, d, itemsize, stored).n_landmarks
        return self._tables(min(n, m or n), n, d, itemsize, stored)

    def _tables(self, m: int, n: int, d: int, itemsize: int, stored: int | None) -> dict[str, int]:
        """Bytes that m landmarks among n rows need."""
        rows = 2 * n * d * itemsize if stored is None else 24 * stored
        common = {"search": m * 64 * 8, "axes": 32 * m * (self.n_components + 20), "rows": rows}
        if self._precomputed() and stored is not None:
            return {**common, "neighbour graph": 120 * stored}
        if self.n_neighbors is None and self.radius is None:
            # Where eigenvalues are too close together for an iterative solver, the dense one asks for its memory then.
            solver = 26 * m * m if m <= DENSE else 800 * m
            return {
                **common,
                "kernel matrix": 8 * m * m,
                "solver": solver,
                "blocks of distances": min(8 * m * m, 2**25),
            }
        # How many edges a radius makes depends on the rows.
        return {**common, "neighbour graph": 100 * m * self.n_neighbors if self.radius is None else 0}


@dataclass(frozen=True, eq=False)
class _Diffusion:
    """The walk on one component, the factor of each of its rows in every weight, and its stationary distribution."""

    walk: WalkComponent
    columns: np.ndarray
    stationary: np.ndarray


def _without_dead(values: np.ndarray, Y: np.ndarray, quiet: bool) -> np.ndarray:
    """Axes whose eigenvalue is 0 to rounding are arbitrary: they become zeros, with a warning."""
    dead = np.abs(values) <= len(Y) * np.finfo(np.float64).eps
    Y[:, dead] = 0.0
    if dead.any() and not quiet:
        left = len(values) - int(dead.sum())
        warn(f"{_NAME}: {left} of {len(values)} axes have an eigenvalue other than 0; the others are zero.")
    return np.where(dead, 0.0, values)


def _scaled(K: Any, c: np.ndarray) -> Any:
    """diag(c) K diag(c); a dense K is changed in place."""
    if sparse.issparse(K):
        rows = np.repeat(c, np.diff(K.indptr))
        return with_values(K, rows * K.data * c[K.indices])
    K *= c
    K *= c[:, None]
    return K

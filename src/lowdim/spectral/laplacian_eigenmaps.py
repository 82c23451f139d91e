"""Laplacian eigenmaps: the smoothest functions on a neighbour graph."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from lowdim._core import params
from lowdim._core.base import Reducer
from lowdim._core.graph import laplacian
from lowdim._core.graph.repair import NO_REPAIR, REPAIR_METHODS, Repair
from lowdim._core.landmarks import policy
from lowdim._core.landmarks.choose import choose
from lowdim._core.landmarks.policy import LandmarkChoice, solved
from lowdim._core.manifold.crowding import JudgedMap
from lowdim._core.manifold.neighborhood import Distinct, Neighborhood, are_searched, enough_neighbors
from lowdim._core.manifold.random_walk import Transitions, Walk, WalkComponent, plain_axes, slow_axes, weighted_graph
from lowdim._core.manifold.reduced import SPARE, landmark_choice, landmark_weights, reduced_bytes, reduced_pairs
from lowdim._core.marks_blocks import MarksBlocks
from lowdim._core.runtime.rng import generator
from lowdim._core.runtime.threads import blocks
from lowdim._core.validate import Accepts
from lowdim.spectral._falloff import NEIGHBOR, Falloff
from lowdim.spectral._walk_weights import (
    EDGE_WIDTH_RULES,
    WIDTH_CONVENTIONS,
    at_first_rows,
    check_weights,
    edge_gamma,
    kth_lengths,
    one_sided_edges,
    shortest_edges,
)

_NAME = "LaplacianEigenmaps"


class LaplacianEigenmaps(MarksBlocks, JudgedMap, Reducer):
    """Laplacian eigenmaps: neighbours stay close; distances between far rows are not kept.

    Rows are joined to their neighbours with weights W, and each axis is a function y on the rows that changes least
    along the edges: it minimises sum_ij W_ij (y_i - y_j)² = 2 y'Ly, L = D - W, subject to y'Dy = 1 and orthogonal to
    the earlier axes. These are the eigenvectors of L y = l D y with the smallest l, the constant (l = 0) left out. The
    axes have no common scale with the data: the map shows groups of similar rows, not distances.

    Parameters
    ----------
    n_components : int
        Dimension of the embedding.
    n_neighbors : int
        Neighbours each row is joined to. Two rows are joined when either is a neighbour of the other.
    radius : float or None
        Join rows within this distance instead of a fixed number of neighbours.
    repair : {None, "detour", "flow", "linearity", "stability"}
        Remove short circuits, edges between two folds of the data: edges without which the path between their ends is a
        long detour (the one to try first); edges of rows through which many paths run and around which paths are long;
        edges that leave the tangent plane (of dimension `n_components`) of their neighbourhood; or edges whose ends are
        far apart in sparser graphs. See `Isomap`. Where short circuits are left, a warning says so.
    weights : {"heat", "binary", "given"} or callable
        "heat": exp(-gamma d²) of the length d of an edge; "binary": 1; "given": the entries of X themselves, for
        ``metric="precomputed"``. X is then a graph of weights (dense or sparse, its diagonal counts), and new rows hold
        their weights to the fitted rows. A function of two tables of rows gives the weights between them,
        such as ``sklearn.metrics.pairwise.rbf_kernel``: then all rows are joined that it gives a weight > 0.
    one_sided : float
        Share of its weight that an edge has if only one of the two rows is among the nearest neighbours of the other:
        1 is the graph of Belkin and Niyogi; 1/2, as in scikit-learn, keeps rows that many others have among their
        neighbours from drawing everything together; 0 joins only rows that are neighbours of each other. Not used with
        `radius` or given graphs.
    width : {"adaptive", "median", "mean", "largest"} or float
        The width of the heat weights. "adaptive": exp(-d²/(s_i s_j)) with a scale s_i for each row, the length of
        its edge number `n_neighbors` but at least the median of these, so that outlying rows stay joined to the others.
        "median" ("mean", "largest"): one s, the root of the median (mean, largest) squared length of the
        edges. A number: s itself. For these, in the formula that `convention` names; by default s is the standard
        deviation of a Gaussian.
    convention : {"exp(-d2/(2*s2))", "exp(-d2/s2)", "exp(-d2/s)"}
        The formula of the heat weights in terms of the width s. Texts call both of the first two the heat kernel; in
        the last one s is a squared length.
    gamma : float or None
        The gamma of exp(-gamma d²), instead of `width` and `convention`.
    normalization : {"random_walk", "symmetric", "none"}
        Coordinates y with Y'DY = I, the problem above; or D^1/2 y, orthonormal, in which rows with many neighbours lie
        further out; or, "none", orthonormal y of L y = l y, the unnormalised Laplacian, in which rows with few
        neighbours lie further out.
    n_landmarks : int, "auto" or None
        Number of landmarks of which the coordinates of every row are a weighted mean, so that the eigenproblem is that
        of the landmarks. Needs the coordinates of the rows and ``normalization="random_walk"``. "auto": all rows, but
        1,000 landmarks with a warning where no eigensolver succeeds with all rows; None: all rows.
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
        The eigenvalue 0 is repeated, once for each component. Edges that join components have the weight of the weakest
        link of a row to its nearest neighbour; edges with a weight below 1e-12 join nothing.
    random_state : int, generator or None
        Seed; the same int gives the same result. For the start of the eigensolver.
    n_jobs : int or None
        Number of threads; None means all cores. Results do not depend on it.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Coordinates of the fitted rows. Equal rows count as one and have the same coordinates.
    eigenvalues_ : ndarray of shape (n_components,)
        l of each axis, from 0 to 2 (with ``normalization="none"``, to twice the largest degree), ascending, that of the
        constant left out (of the largest component).
    affinity_matrix_ : sparse array of shape (n_samples, n_samples)
        The weights W of the edges, those that join components too. Equal rows count as one: their weights are at the
        first of them. None in models of earlier releases.
    gamma_ : float or None
        The gamma of the heat weights; None where each row has a scale.
    scales_ : ndarray or None
        The scales of the rows under "adaptive" (equal rows counting once).
    landmarks_ : ndarray of int or None
        Row numbers of the landmarks; None where all rows are used.
    n_components_graph_ : int
        Number of connected components of the neighbour graph, before joining: how often 0 is an eigenvalue.
    component_labels_ : ndarray of shape (n_samples,)
        The component of each row, 0 being the largest.
    suspicious_edges_, suspicious_scores_, suspicious_removed_ : ndarray
        With `repair` (else None): the edges found as pairs of rows, the most suspicious first, their scores, and
        whether each was removed (False where the graph would be disconnected without it).

    Notes
    -----
    The coordinates of a new row x are given by the Nystrom formula y(x) = sum_j w(x, j) y_j / ((1 - l) d(x)), w(x, j)
    being its weights to its neighbours among the fitted rows and d(x) their sum. Fitted rows satisfy it with their own
    edges, which include those to rows whose neighbour they are, but none to themselves. Therefore a new row closer to a
    fitted one than half-way to that one's nearest neighbour gets the edges of the fitted row in proportion;
    `transform` of the fitted rows is then `embedding_` to rounding (1e-8 of its spread), and continuous. Exceptions:
    under ``missing="expected"`` an incomplete fitted row is treated as another row with the same cells, and comes out
    near its coordinates; an axis with l within 1e-4 of 1 has no such formula, and new rows get the mean of their
    neighbours there.

    References
    ----------
    Belkin and Niyogi, Laplacian eigenmaps for dimensionality reduction and data representation, 2003. Bengio, Paiement,
    Vincent, Delalleau, Le Roux and Ouimet, Out-of-sample extensions for LLE, Isomap, MDS, eigenmaps, and spectral
    clustering, 2004.

    Examples
    --------
    >>> import lowdim
    >>> X = lowdim.datasets.swiss_roll(300, random_state=0).X
    >>> model = lowdim.LaplacianEigenmaps(n_components=2, n_neighbors=8).fit(X)
    >>> model.transform(X[:5]).shape
    (5, 2)
    """

    _rules: ClassVar = {
        "n_components": params.whole(1),
        "n_neighbors": params.whole(1),
        "repair": params.none() | params.one_of(*REPAIR_METHODS),
        "weights": params.one_of("heat", "binary", "given") | params.function(),
        "one_sided": params.real(0, 1),
        "width": params.one_of("adaptive", *EDGE_WIDTH_RULES) | params.real(0, open_low=True),
        "convention": params.one_of(*WIDTH_CONVENTIONS),
        "gamma": params.none() | params.real(0, open_low=True),
        "normalization": params.one_of("random_walk", "symmetric", "none"),
        "n_landmarks": policy.rule(3),
    }
    _sparse_rows = True
    _sparse_graphs = True
    _extension: Any
    scales_: Any = None  # models of earlier releases have one width
    affinity_matrix_: Any = None  # and do not keep their weights
    _unit_axes = True
    _crowding_advice = "Drop these, raise n_neighbors, or use another method."
    _ways_out = "Use fewer neighbours, or n_landmarks=1000."

    def __init__(
        self,
        n_components=2,
        *,
        n_neighbors=10,
        radius=None,
        repair=None,
        weights="heat",
        one_sided=0.5,
        width="adaptive",
        convention="exp(-d2/(2*s2))",
        gamma=None,
        normalization="random_walk",
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
        self.weights = weights
        self.one_sided = one_sided
        self.width = width
        self.convention = convention
        self.gamma = gamma
        self.normalization = normalization
        self.n_landmarks = n_landmarks
        self.metric = metric
        self.metric_params = metric_params
        self.search = search
        self.missing = missing
        self.disconnected = disconnected
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _embed(self, X: Any) -> np.ndarray:
        self._check_choices(X)
        is_graph = self._precomputed() and (sparse.issparse(X) or self.weights == "given")
        same = Distinct.of(X, given=is_graph)
        rows = same.pick(X, square=self._precomputed())
        self._rows = self._own_rows(rows)

        W, joined, gaps = self._weighted(rows, same)
        self.affinity_matrix_ = at_first_rows(W, same.first, X.shape[0])
        self.n_components_graph_, self.component_labels_ = joined.n_components, joined.labels[same.kind]
        components = joined.parts(self.disconnected)
        with_all = partial(self._embed_all, W, components, same, gaps)
        with_landmarks = partial(self._embed_landmarks, W, rows, same)
        return solved(self._landmark_choice(rows, components), with_all, with_landmarks, _NAME)[same.kind]

    def _landmark_choice(self, rows: Any, components: list[np.ndarray]) -> LandmarkChoice:
        if self._marked is not None:
            return LandmarkChoice(len(self._marked))
        wanted = self.n_landmarks if self._takes_landmarks(rows) else None
        return landmark_choice(wanted, rows.shape[0], len(components[0]), policy=self.disconnected, owner=_NAME)

    def _marks(self) -> tuple[int, str] | None:
        rows = self.normalization == "random_walk" and not callable(self.weights) and self.disconnected != "separate"
        return policy.wanted(self.n_landmarks, "kmeans++") if rows else None

    def _takes_landmarks(self, X: Any) -> bool:
        """Weights of landmarks need the coordinates of rows, and "symmetric" the degree of every row."""
        rows = not self._precomputed() and not sparse.issparse(X) and not callable(self.weights)
        return rows and self.normalization == "random_walk"

    def _embed_all(
        self, W: Any, components: list[np.ndarray], same: Distinct, gaps: np.ndarray, give_up: bool
    ) -> np.ndarray:
        """The eigenproblem of all rows, component by component."""
        self.landmarks_, rng = None, generator(self.random_state)
        found = [self._embed_component(W, rows, rng, give_up) for rows in components]
        self.eigenvalues_ = 1.0 - found[0].eigenvalues
        self._extension = Walk.of(found, same, gaps, not self._given())
        return self._extension.embedding()

    def _embed_landmarks(self, W: Any, rows: Any, same: Distinct, m: int) -> np.ndarray:
        """The eigenproblem of m landmarks; the coordinates of the other rows are weighted means of theirs."""
        rng, r = generator(self.random_state), self.n_components
        if self._marked is None:
            chosen = np.sort(choose(rows, m, method="kmeans++", metric=self._distance(), rng=rng, owner=_NAME))
        else:
            chosen = np.unique(same.kind[self._marked.positions])
        self.landmarks_ = same.first[chosen]
        known = None if self._holes is None else self._holes.rows(rows[chosen])
        around = self._neighborhood(r + SPARE)
        reduced = landmark_weights(rows, chosen, around, r, holes=self._holes, completed=known, ridge="auto")
        self._rows = reduced.rows
        L, degrees = laplacian(W)
        self.eigenvalues_, Y = reduced_pairs(L, reduced.weights, degrees, r, rng=rng, owner=_NAME)
        self._extension = replace(reduced.extension, embedding=Y)
        return np.concatenate([self._extend(rows[block]) for block in blocks(len(rows), self._block_rows)])

    def _check_choices(self, X: Any) -> None:
        if self.n_landmarks not in (None, "auto") and not self._takes_landmarks(X):
            raise ValueError(
                f"{_NAME}: n_landmarks must be None for metric='precomputed', for sparse rows, for given weights and "
                f"for normalization='symmetric' or 'none'; got {self.n_landmarks}. Weights of landmarks need the "
                "coordinates of rows, and these normalizations the degree of every row."
            )
        if self.weights == "given" and not self._precomputed():
            raise ValueError(f"{_NAME}: weights='given' must go with metric='precomputed'; got metric={self.metric!r}.")
        if callable(self.weights) and (self._precomputed() or self._holes is not None):
            raise ValueError(f"{_NAME}: weights must not be a function unless X holds complete rows of numbers.")
        if self._given() and self.repair is not None:
            raise ValueError(f"{_NAME}: repair must be None for weights that are given, which have no lengths.")

    def _given(self) -> bool:
        """Whether weights do not come from the lengths of edges."""
        return callable(self.weights) or self.weights == "given"

    def _between(self, A: Any, B: Any) -> sparse.csr_array:
        """The weights between rows that the user's function gives."""
        W = sparse.csr_array(self.weights(A, B), dtype=np.float64)
        if W.shape != (A.shape[0], B.shape[0]):
            raise ValueError(
                f"{_NAME}: weights(A, B) must have {A.shape[0]} rows and {B.shape[0]} columns, one for each row of A "
                f"and of B; got shape {W.shape}."
            )
        return W

    def _weighted(self, rows: Any, same: Distinct) -> tuple[Any, Any, np.ndarray]:
        """Weights W, the connected graph, and each row's distance to its nearest neighbour."""
        settings = {"policy": self.disconnected, "owner": _NAME, "n_jobs": self.n_jobs}
        self.gamma_: float | None = None
        self.scales_ = None
        self.suspicious_edges_, self.suspicious_scores_, self.suspicious_removed_ = NO_REPAIR
        if self._given():
            given = check_weights(self._between(rows, rows), _NAME) if callable(self.weights) else rows
            G = sparse.csr_array(given, dtype=np.float64)
            W, joined = weighted_graph(G, None, None, metric="precomputed", **settings)
            return W, joined, np.zeros(len(joined.labels))
        searched = are_searched(rows, self.radius, self._precomputed())
        wanted = enough_neighbors(type(self), self.n_neighbors, len(same.kind), searched)
        around = self._neighborhood(same.n_neighbors(wanted, _NAME))
        repair = Repair(self.repair, self.n_components, self._holes)
        G, suspicious = around.repaired(rows, repair, first=same.first)
        self.suspicious_edges_, self.suspicious_scores_, self.suspicious_removed_ = suspicious
        k = around.n_neighbors if self._by_number(rows) else NEIGHBOR
        if self.weights == "heat":
            self._set_falloff(G, k)
        W, joined = weighted_graph(G, partial(self._weigh, k, rows), rows, metric=self._distance(), **settings)
        return W, joined, shortest_edges(joined.graph)

    def _by_number(self, rows: Any) -> bool:
        """Whether rows are joined to so many nearest neighbours, not within a radius or by a given graph."""
        return self.radius is None and not (self._precomputed() and sparse.issparse(rows))

    def _set_falloff(self, G: sparse.csr_array, k: int) -> None:
        adaptive = self.gamma is None and isinstance(self.width, str) and self.width == "adaptive"
        if adaptive and (G.data > 0).any():
            reach = kth_lengths(G, k)
            self.scales_ = np.maximum(reach, np.sqrt(np.median(reach[reach > 0] ** 2)))
        else:
            width = "median" if adaptive else self.width  # which says that no edge has a length
            self.gamma_ = edge_gamma(G.data, width, self.convention, self.gamma, _NAME)

    def _falloff(self, k: int = 0) -> Falloff:
        return Falloff(self.gamma_, self.scales_, k)

    def _weigh(self, k: int, rows: Any, G: sparse.csr_array) -> np.ndarray:
        """The weights of the edges of a graph of lengths."""
        weights = self._falloff().weigh(G) if self.weights == "heat" else np.ones(G.nnz)
        if self._by_number(rows):
            weights = np.where(one_sided_edges(G, k), self.one_sided, 1.0) * weights
        return weights

    def _neighborhood(self, k: int) -> Neighborhood:
        return Neighborhood(k, self.radius, self._distance(), self.search, self.n_jobs, _NAME)

    def _embed_component(self, W: Any, rows: np.ndarray, rng: np.random.Generator, give_up: bool) -> WalkComponent:
        inside = W if len(rows) == W.shape[0] else W[rows][:, rows]
        quiet, r = self.disconnected == "separate", self.n_components
        axes = plain_axes if self.normalization == "none" else slow_axes
        values, Y = axes(inside, r, rng=rng, owner=_NAME, quiet=quiet, give_up=give_up)
        if self.normalization == "none":
            return WalkComponent(rows, 1.0 - values, Y, np.ones(r), None, np.zeros(r), values)
        degrees = np.asarray(inside.sum(axis=1)).ravel() if self.normalization == "symmetric" else None
        return WalkComponent(rows, 1.0 - values, Y, np.ones(r), degrees, np.zeros(r))

    def _extend(self, X: Any) -> np.ndarray:
        if self.landmarks_ is not None:
            around, known = self._neighborhood(self.n_components + SPARE), self._extension
            return known(*around.for_weights(self._rows, X, self._holes, known.completed), self.n_jobs)
        walk: Walk = self._extension
        X = walk.columns_of(X) if self._precomputed() else X
        if self._given():
            given = self._between(X, self._rows) if callable(self.weights) else X
            return walk.transform(Transitions.given(given, _NAME))
        reach = self._neighborhood(self.n_neighbors).reach(self._rows, X, len(walk.labels))
        fall = self._falloff(self.n_neighbors if self._by_number(X) else NEIGHBOR)
        exponents = None if self.weights == "binary" else fall.along_new(reach, walk.gaps)
        return walk.transform(Transitions.along(reach, exponents, walk.gaps))

    def _check_distances(self, D: Any, accepts: Accepts) -> Any:
        return check_weights(D, _NAME) if self.weights == "given" else super()._check_distances(D, accepts)

    def _fitted_places(self) -> np.ndarray:
        found = self._extension.embedding  # a method of `Walk`, an array of `NeighborWeights`
        return (found() if self.landmarks_ is None else found).astype(self.embedding_.dtype)

    def _memory(self, n: int, d: int, itemsize: int, stored: int | None) -> dict[str, int]:
        edges = 2 * n * self.n_neighbors if self.radius is None else 0  # those of a radius depend on the rows
        if self._precomputed() or callable(self.weights):
            edges = n * n if stored is None and self._given() else max(edges, stored or 0)
        reduced = 0 if self.n_landmarks in (None, "auto") else reduced_bytes(n, self.n_landmarks)
        return {
            "search": n * 64 * 8,
            "reduced problem": reduced,
            "neighbour graph": 36 * edges,
            "axes": 32 * n * (self.n_components + 20),
            "rows": 2 * n * d * itemsize if stored is None else 24 * stored,
        }

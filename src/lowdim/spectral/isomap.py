"""Isomap: classical scaling of geodesic distances."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from lowdim._core import params
from lowdim._core.base import Reducer
from lowdim._core.distances import pairwise
from lowdim._core.extend import Nystrom
from lowdim._core.gpu import devices, paths
from lowdim._core.gpu.places.by_paths import by_squares, through_neighbors
from lowdim._core.graph import geodesics, geodesics_on
from lowdim._core.graph.repair import REPAIR_METHODS, Repair
from lowdim._core.iterate import Progress
from lowdim._core.landmarks import policy
from lowdim._core.landmarks.choose import sources_among
from lowdim._core.manifold.components import tile
from lowdim._core.manifold.crowding import JudgedMap
from lowdim._core.manifold.geodesic_component import GeodesicComponent, geodesics_of_new_rows, lists_of_new_rows
from lowdim._core.manifold.neighborhood import Neighborhood, are_searched, enough_neighbors
from lowdim._core.marks_blocks import MarksBlocks
from lowdim._core.neighbors.on_device import needs as neighbor_needs
from lowdim._core.runtime.rng import generator
from lowdim._core.scaling.additive import additive_constant, shift_distances
from lowdim._core.scaling.centring import inner_products
from lowdim._core.spectrum import eigenpairs
from lowdim._core.spectrum.eigenvalues import positive_part
from lowdim._core.tables.arrays import extent
from lowdim.spectral._all_rows import JoinsAllRows
from lowdim.spectral._tearing import SHORT, torn


class Isomap(JoinsAllRows, MarksBlocks, JudgedMap, Reducer):
    """Isomap: flattens a curved surface by measuring distances along it.

    Rows are joined to their neighbours. The geodesic distance D_G of two rows is the length of the shortest path in
    that graph, and classical scaling finds points with these distances: the largest eigenpairs of -1/2 H D_G² H, H =
    I - 11'/n. With `n_landmarks`, paths start from landmarks only and the coordinates of other rows follow from their
    distances to these, so that no n x n matrix is formed. A short circuit, an edge between two folds of the data,
    spoils most geodesic distances: `repair` removes such edges. `tear` cuts loops that a flat map cannot show.

    Parameters
    ----------
    n_components : int
        Dimension of the embedding.
    n_neighbors : int
        Neighbours each row is joined to. Too few leave the graph disconnected, too many join different folds.
    radius : float or None
        Join rows within this distance instead of a fixed number of neighbours.
    n_landmarks : int, "auto" or None
        Number of landmarks (farthest-point choice) from which paths start. "auto": all rows, but 1,000 landmarks with
        a warning where tables of all pairs would not fit into memory or take very long (beyond 40,000 rows); None:
        all rows.
    repair : {None, "detour", "flow", "linearity", "stability"}
        Remove short circuits, edges between two folds of the data, as long as the graph stays connected. "detour":
        edges without which the path between their ends is longer than six radii of the neighbourhoods; finds single
        edges, bundles (`n_neighbors` or `radius` too large) and chains of rows between two folds, and is the one to try
        first. "flow": edges of rows through which many paths run and around which paths are long (Choi and Choi);
        finds single rows between two folds. "linearity": edges that leave the tangent plane (of dimension
        `n_components`) of their neighbourhood by more than half their length. "stability": edges whose ends are far
        apart in sparser graphs. Whatever is chosen, the graph is looked over on every fit, and a warning names short
        circuits that are left; on a roll of which 300 rows are known it may not see them.
    tear : bool or int
        Cut loops around a ring, a tube or a hole, on the side far from the middle of the data (Lee and Verleysen). A
        number: loops of at most so many edges are gaps between rows and stay; True is 11.
    kernelize : bool
        Kernel Isomap: add to all geodesic distances between different rows the least constant that makes them
        Euclidean (Cailliez'), so that the inner products have no negative eigenvalue and form a kernel.
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
        to everything. Euclidean distances only; "pairwise" also Gower's. Under "expected", `transform` of an incomplete
        fitted row is that of another row with the same cells: near its coordinates (on average within a tenth of the
        spread), not equal to them.
    disconnected : {"bridge", "separate", "largest", "error"}
        If the neighbour graph is not connected: join its components by their shortest edges; embed each and tile
        them; embed the largest (other rows are NaN); or raise an error. All but the last warn.
    device : str
        Where to compute: "cpu", "cuda" (an NVIDIA GPU, through PyTorch), or "auto", the GPU where there is one. A GPU
        is used for neighbours (Euclidean and cosine distances of dense rows), landmarks, shortest paths, and the
        placing of rows by their distances to landmarks; the eigenvectors are found on the CPU.
    random_state : int, generator or None
        Seed; the same int gives the same result. For the landmarks and the start of the eigensolver.
    n_jobs : int or None
        Number of threads; None means all cores. Results do not depend on it.
    verbose : int or bool
        1 or True shows the progress of long fits on stderr.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Coordinates of the fitted rows.
    geodesics_ : ndarray of shape (n_samples, n_samples)
        Geodesic distances (without landmarks); inf between components that were not joined.
    landmarks_ : ndarray of int or None
        Row numbers of the landmarks; None where paths start from every row.
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of the axes (of the largest component).
    n_components_graph_ : int
        Number of connected components of the neighbour graph, before joining.
    component_labels_ : ndarray of shape (n_samples,)
        The component of each row, 0 being the largest.
    suspicious_edges_ : ndarray of shape (m, 2)
        With `repair` (else None): the edges found, as pairs of rows, the most suspicious first.
    suspicious_scores_ : ndarray of shape (m,)
        Their scores: the length of the path around the edge over the radius of the neighbourhoods (up to 20); paths
        through the row at fault over the usual number; the component normal to the tangent plane over the length; or
        the length of the path around the edge over that of the edge.
    suspicious_removed_ : ndarray of shape (m,)
        Whether each was removed; False where the graph would be disconnected without it.
    torn_edges_ : ndarray of shape (m, 2)
        With `tear` (else None): the edges that were cut.
    constant_ : float
        With `kernelize` (else None): what was added to geodesic distances; 0 where they are Euclidean (of the largest
        component).
    device_ : str
        Where neighbours and paths were searched.
    recall_ : float or None
        Of rows of Dask that were joined where they are: the share of the true neighbours that were found, on 300 rows.
    residual_variance_ : ndarray of shape (n_components,)
        1 - r² between geodesic distances and distances in the first 1, 2, ... axes, computed on access. The dimension
        of the data is where the curve stops falling.

    References
    ----------
    Tenenbaum, de Silva and Langford, A global geometric framework for nonlinear dimensionality reduction, 2000. de
    Silva and Tenenbaum, Sparse multidimensional scaling using landmark points, 2004. Choi and Choi, Robust kernel
    Isomap, 2007. Lee and Verleysen, Nonlinear dimensionality reduction of data manifolds with essential loops, 2005.

    Examples
    --------
    >>> import lowdim
    >>> roll = lowdim.datasets.swiss_roll(500, random_state=0)  # so few rows that ten neighbours reach the next turn
    >>> model = lowdim.Isomap(n_components=2, n_neighbors=10, repair="detour").fit(roll.X)
    >>> lowdim.quality.procrustes(roll.isometric_coordinates, model.embedding_).disparity < 0.01
    True
    >>> model.transform(roll.X[:5]).shape
    (5, 2)
    """

    _rules: ClassVar = {
        "n_components": params.whole(1),
        "n_neighbors": params.whole(1),
        "n_landmarks": policy.rule(2),
        "repair": params.none() | params.one_of(*REPAIR_METHODS),
        "tear": params.flag() | params.whole(3),
        "kernelize": params.flag(),
    }
    _sparse_rows = True
    _sparse_graphs = True
    _stays = ("fit", "fit_transform", "transform")
    recall_: float | None = None
    _most_rows: ClassVar[int] = 40_000  # whose geodesic distances take a few minutes on two cores
    _crowding_advice = "Drop these, raise n_neighbors, or look at the others alone."
    _ways_out = "Set n_landmarks=1000 or so: memory then grows with n_samples x n_landmarks."

    def __init__(
        self,
        n_components=2,
        *,
        n_neighbors=10,
        radius=None,
        n_landmarks="auto",
        repair=None,
        tear=False,
        kernelize=False,
        metric="euclidean",
        metric_params=None,
        search="auto",
        missing="error",
        disconnected="bridge",
        device="cpu",
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.n_landmarks = n_landmarks
        self.repair = repair
        self.tear = tear
        self.kernelize = kernelize
        self.metric = metric
        self.metric_params = metric_params
        self.search = search
        self.missing = missing
        self.disconnected = disconnected
        self.device = device
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @property
    def _block_rows(self) -> int:  # type: ignore[override]
        return 256 if self.device == "cpu" else 2**30  # a GPU has blocks of its own, and the distances once

    def _embed(self, X: Any) -> np.ndarray:
        """Neighbour graph -> geodesic distances -> classical scaling, in each connected component."""
        m, rng = self._landmark_choice(*extent(X)).announced("Isomap"), generator(self.random_state)
        self._rows = self._own_rows(X)

        repair = Repair(self.repair, self.n_components, self._holes)
        hood = self._neighborhood()
        self.device_ = "cpu" if hood.device is None else hood.device.title
        searched = are_searched(X, self.radius, self._precomputed())
        hood = replace(hood, n_neighbors=enough_neighbors(type(self), self.n_neighbors, X.shape[0], searched))
        joined, suspicious = hood.connected(X, self.disconnected, repair)
        self.suspicious_edges_, self.suspicious_scores_, self.suspicious_removed_ = suspicious
        self.n_components_graph_, self.component_labels_ = joined.n_components, joined.labels
        graph, self.torn_edges_ = self._torn(joined.graph)

        parts = (self._embed_component(graph, rows, X, m, rng) for rows in joined.parts(self.disconnected))
        found, placed = (list(made) for made in zip(*parts, strict=True))
        self.landmarks_ = None if m is None else np.concatenate([component.sources for component in found])
        if m is None:
            self.geodesics_ = _assembled(found, X.shape[0])
        self.eigenvalues_ = found[0].eigenvalues
        self.constant_ = found[0].constant if self.kernelize else None

        self._components = tile(found)
        Z = np.full((X.shape[0], self.n_components), np.nan)
        for component, there in zip(self._components, placed, strict=True):
            Z[component.rows] = component.embedding() if there is None else there + component.shift
        return Z

    def _neighborhood(self) -> Neighborhood:
        settings = self.n_neighbors, self.radius, self._distance(), self.search, self.n_jobs, "Isomap"
        return Neighborhood(*settings, devices.find(self.device, "Isomap"))

    def _torn(self, graph: Any) -> tuple[Any, np.ndarray | None]:
        """The graph without the edges that `tear` cuts, and these edges."""
        if not self.tear:
            return graph, None
        return torn(graph, SHORT if self.tear == 1 else self.tear, n_jobs=self.n_jobs)

    def _embed_component(
        self, graph: Any, rows: np.ndarray, X: Any, m: int | None, rng: np.random.Generator
    ) -> tuple[GeodesicComponent, np.ndarray | None]:
        """Classical scaling of the geodesic distances between the sources of one connected component.

        Beside it, where rows were placed on a GPU, their coordinates.
        """
        place = devices.find(self.device, "Isomap")
        inside = graph[rows][:, rows] if len(rows) < graph.shape[0] else graph
        chosen = None if self._marked is None else self._marked.positions
        landmarks = sources_among(X, rows, m, metric=self._distance(), rng=rng, device=place, chosen=chosen)
        D, there = self._paths(inside, landmarks, X.dtype, place)

        among = D if landmarks is None else np.ascontiguousarray(D[:, landmarks])
        if place is not None and landmarks is not None:
            among = (among + among.T) / 2  # sums of edges in single precision depend on their order
        constant = additive_constant(among, "cailliez", owner="Isomap") if self.kernelize else 0.0
        B, means = inner_products(shift_distances(among, constant, "cailliez") if constant else among)
        pairs = eigenpairs(B, min(self.n_components, len(B)), rng=rng, owner="Isomap")
        pairs = positive_part(pairs, self.n_components, owner="Isomap", quiet=self.disconnected == "separate")

        sources = rows if landmarks is None else rows[landmarks]
        formula = Nystrom.of(pairs.values, pairs.vectors, -0.5 * means)
        found = GeodesicComponent(rows, sources, D, pairs.values, formula, np.zeros(self.n_components), constant)
        if place is None or landmarks is None or constant:
            return found, None
        return found, devices.run(place, lambda on: by_squares(on, there, formula.offset, formula.projection), "Isomap")

    def _paths(self, graph: Any, sources: Any, dtype: Any, place: Any) -> tuple[np.ndarray, Any]:
        """Geodesic distances from the sources to all rows, and the same as a tensor on a GPU (None: on the CPU)."""
        if place is None:
            with Progress("Isomap: shortest paths", None, self.verbose) as progress:
                return geodesics(graph, sources, n_jobs=self.n_jobs, dtype=dtype, progress=progress), None
        wanted = np.arange(graph.shape[0]) if sources is None else sources
        there = geodesics_on(place, graph, wanted, dtype=dtype, owner="Isomap")
        return np.asarray(there.cpu().numpy()), there

    def _extend(self, X: Any) -> np.ndarray:
        """Geodesic distances of new rows, min over neighbours j of d(x, j) + D_G(j, .), and Gower's formula."""
        n = len(self.component_labels_ if self._sampled is None else self._sampled)
        reach = self._neighborhood().reach(self._rows, X, n)
        # New rows must not close what was opened, nor reach another fold where only some of the fitted rows are kept.
        one_fold = self.repair is not None or bool(self.tear) or self._sampled is not None
        Z = np.full((X.shape[0], self.n_components), np.nan)
        place = devices.find(self.device, "Isomap")
        if place is not None and self.radius is None and not (one_fold or self.kernelize or sparse.issparse(X)):
            near, lengths = (part.reshape(X.shape[0], -1) for part in (reach.indices, reach.data))
            for component, rows, *lists in lists_of_new_rows(self._components, near, lengths, reach.shape[1]):
                formula = component.extension
                placed = partial(through_neighbors, D=component.geodesics, near=lists[0], lengths=lists[1])
                placed = partial(placed, offset=formula.offset, projection=formula.projection)
                Z[rows] = devices.run(place, placed, "Isomap") + component.shift
            return Z
        for component, rows, D in geodesics_of_new_rows(self._components, reach, one_fold=one_fold):
            Z[rows] = component.transform(D)
        return Z

    def reconstruction_error(self) -> float:
        """How much of the inner products of the geodesic distances the embedding does not have.

        Returns
        -------
        error : float
            The Frobenius norm of B - ZZ', B being the doubly centred matrix of -1/2 squared geodesic distances, over
            the number of rows; over all connected components. With landmarks, of these alone.
        """
        check_is_fitted(self)
        squares, n = 0.0, 0
        for component in self._components:
            among = component.geodesics[:, np.searchsorted(component.rows, component.sources)]
            if component.constant:
                among = shift_distances(among, component.constant, "cailliez")
            B, _ = inner_products(np.ascontiguousarray(among))
            squares += float(np.square(B).sum() - np.square(component.eigenvalues).sum())
            n += len(component.sources)
        return float(np.sqrt(max(squares, 0.0))) / n

    @property
    def residual_variance_(self) -> np.ndarray:
        scores, Z = [], self.embedding_ if self._sampled is None else self.embedding_[self._sampled]
        for r in range(1, self.n_components + 1):
            pairs = (_distance_pairs(component, Z[:, :r]) for component in self._components)
            along, embedded = (np.concatenate(values) for values in zip(*pairs, strict=True))
            scores.append(1.0 - np.corrcoef(along, embedded)[0, 1] ** 2)
        return np.array(scores)

    def _landmark_choice(self, n: int, d: int, itemsize: int, stored: int | None) -> policy.LandmarkChoice:
        if self._marked is not None:
            return policy.LandmarkChoice(len(self._marked))
        tables = partial(self._tables, n=n, d=d, itemsize=itemsize, stored=stored)
        return policy.by_size(self.n_landmarks, n, tables, self._most_rows)

    def _marks(self) -> tuple[int, str] | None:
        return policy.wanted(self.n_landmarks, "farthest")

    def _memory(self, n: int, d: int, itemsize: int, stored: int | None) -> dict[str, int]:
        m = self._landmark_choice(n, d, itemsize, stored).n_landmarks
        return self._tables(min(n, m or n), n, d, itemsize, stored)

    def _device_memory(self, n: int, d: int, itemsize: int, stored: int | None) -> dict[str, int]:
        """Bytes on a GPU: the most of the search for neighbours, the graph, and the paths, which follow each other."""
        m, k = min(n, self._landmark_choice(n, d, itemsize, stored).n_landmarks or n), self.n_neighbors
        found = paths.needs(n, 2 * n * k, m, itemsize)
        search = neighbor_needs(n, d, itemsize, k)
        return max(found, search, {"graph": 48 * 2 * n * k}, key=lambda parts: sum(parts.values()))

    def _tables(self, m: int, n: int, d: int, itemsize: int, stored: int | None) -> dict[str, int]:
        """Bytes that m landmarks among n rows need; edges within a radius are counted once the rows are there."""
        edges = 2 * n * self.n_neighbors if self.radius is None else 0
        return {
            "geodesic distances": n * m * itemsize,
            "inner products": m * m * 8,
            "search": 2 * n * 64 * 8,
            "neighbour graph": 60 * edges,
            "rows": 2 * n * d * itemsize if stored is None else 24 * stored,
        }


def _assembled(components: list[GeodesicComponent], n: int) -> np.ndarray:
    """Geodesic distances of all components in one matrix; inf between components."""
    if len(components) == 1 and len(components[0].rows) == n:
        return components[0].geodesics
    D = np.full((n, n), np.inf, dtype=components[0].geodesics.dtype)
    for component in components:
        D[np.ix_(component.rows, component.rows)] = component.geodesics
    return D


def _distance_pairs(component: GeodesicComponent, Z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Geodesic distances and distances in the embedding between the sources and the other rows of a component."""
    other = component.sources[:, None] != component.rows
    return component.geodesics[other], pairwise(Z[component.sources], Z[component.rows])[other]

"""Isomap: classical scaling of distances along the data."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import numpy as np

from lowdim._core import params
from lowdim._core.base import Reducer
from lowdim._core.distances import check_metric, pairwise
from lowdim._core.extend import Nystrom
from lowdim._core.graph import geodesics
from lowdim._core.graph.repair import METHODS, Repair
from lowdim._core.iterate import Progress
from lowdim._core.landmarks import policy
from lowdim._core.landmarks.choose import sources_among
from lowdim._core.manifold.components import Part, tile
from lowdim._core.manifold.neighborhood import Neighborhood, nearest_of_each
from lowdim._core.runtime.rng import generator
from lowdim._core.scaling.additive import additive_constant, shift_distances
from lowdim._core.scaling.centring import inner_products
from lowdim._core.spectrum import eigenpairs
from lowdim._core.spectrum.eigenvalues import positive_part
from lowdim._core.tables.arrays import extent
from lowdim.spectral._tearing import SHORT, torn

_MOST_ROWS = 40_000  # whose paths take a few minutes on two cores


class Isomap(Reducer):
    """Isomap: unrolls a curved sheet by measuring distances along it.

    Rows are joined to their neighbours, distances between any two rows are lengths of shortest paths D_G in that
    graph, and classical scaling finds points with those distances: the largest eigenpairs of -1/2 H D_G² H. With
    `n_landmarks`, paths start from few rows only and the others are placed from their distances to these, so nothing
    n x n is formed. Edges that leap from one fold to another spoil most path lengths; `repair` takes them out, `tear`
    cuts loops open that no flat map can show.

    Parameters
    ----------
    n_components : int
        Dimension of the embedding.
    n_neighbors : int
        Neighbours each row is joined to. Too few break the sheet apart, too many cut across its folds.
    radius : float or None
        Join rows within this distance instead of a fixed number.
    n_landmarks : int, "auto" or None
        Place all rows from their distances to this many landmarks (farthest-point choice). "auto": only where tables of
        all pairs of rows would not fit into memory or take very long (beyond 40,000 rows), 1,000 of them, with a
        warning; None: never.
    repair : {None, "flow", "linearity", "stability"}
        Take out edges that short-circuit the sheet, as long as the graph holds together without them. "flow": edges
        of rows through which many paths run and around which the way is long (Choi and Choi); finds single short
        cuts, such as rows between two folds. "linearity": edges that leave the tangent plane, of dimension
        `n_components`, of their neighbourhood by more than half their length; the surest where rows are given.
        "stability": edges whose ends are far apart in sparser graphs; for `n_neighbors` or `radius` chosen too large.
    tear : bool or int
        Cut loops around a ring, a tube or a hole open, on the side far from the middle of the data (Lee and
        Verleysen). A number: loops of at most so many edges are no loops but gaps between rows; True stands for 11.
    kernelize : bool
        Kernel Isomap: add to all path lengths between different rows the least constant that makes them Euclidean
        (Cailliez'), so that the inner products have no negative eigenvalue and form a kernel.
    metric : str or callable
        Distance between rows; "precomputed": X holds distances, dense, condensed, or a sparse graph whose stored
        entries are the edges (`n_neighbors` is not used then).
    search : {"auto", "exact", "approximate"}
        How neighbours are found. "auto" is exact up to 20,000 rows and wherever a tree is fast; beyond, it takes the
        approximate search, which finds 98 % and more of them in data with structure.
    missing : {"error", "pairwise", "expected"}
        What a missing cell (NaN) means: refused; distances over the columns both rows have, scaled up; or the expected
        distance under a Gaussian model of the rows, which keeps a row of which little is known from being drawn close
        to everything. For Euclidean distances, at fit and for new rows.
        Under "expected" an incomplete fitted row that is given to `transform` counts as another row with the same cells
        and comes out near its place (on average within a tenth of the map's spread), not at it.
    disconnected : {"bridge", "separate", "largest", "error"}
        When the graph falls apart: join its parts by their shortest edges, embed each and tile them, embed the largest
        (other rows are NaN), or refuse.
    random_state : int, generator or None
        For the landmarks and the start of the eigensolver.
    n_jobs : int or None
        Threads; None means all cores. Results do not depend on it.
    verbose : int
        1 shows progress of long runs.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Places of the fitted rows.
    geodesics_ : ndarray of shape (n_samples, n_samples)
        Lengths of the shortest paths (without landmarks); inf between parts that were not joined.
    landmarks_ : ndarray of int or None
        The rows that are landmarks; None where paths start from every row.
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of the axes (of the largest part).
    n_components_graph_ : int
        Parts the neighbour graph fell into before joining.
    component_labels_ : ndarray of shape (n_samples,)
        The part of each row, 0 being the largest.
    suspicious_edges_ : ndarray of shape (m, 2)
        With `repair` (else None): the edges found, as pairs of rows, the most suspicious first.
    suspicious_scores_ : ndarray of shape (m,)
        Their scores: paths through the row at fault over the usual number; the part outside the tangent plane over the
        length; or the length of the way around over that of the edge.
    suspicious_removed_ : ndarray of shape (m,)
        Whether each was taken out; False where it holds the graph together.
    torn_edges_ : ndarray of shape (m, 2)
        With `tear` (else None): the edges that were cut.
    constant_ : float
        With `kernelize` (else None): what was added to path lengths; 0 where they are Euclidean (of the largest part).
    residual_variance_ : ndarray of shape (n_components,)
        1 - r² between path lengths and distances in the first 1, 2, ... axes, computed when asked for. Where the curve
        stops falling is the dimension of the data.

    References
    ----------
    Tenenbaum, de Silva and Langford, A global geometric framework for nonlinear dimensionality reduction, 2000. de
    Silva and Tenenbaum, Sparse multidimensional scaling using landmark points, 2004. Choi and Choi, Robust kernel
    Isomap, 2007. Lee and Verleysen, Nonlinear dimensionality reduction of data manifolds with essential loops, 2005.

    Examples
    --------
    >>> import lowdim
    >>> X = lowdim.datasets.swiss_roll(300, random_state=0).X
    >>> model = lowdim.Isomap(n_components=2, n_neighbors=8).fit(X)
    >>> model.transform(X[:5]).shape
    (5, 2)
    """

    _rules: ClassVar = {
        "n_components": params.whole(1),
        "n_neighbors": params.whole(1),
        "n_landmarks": policy.rule(2),
        "repair": params.none() | params.one_of(*METHODS),
        "tear": params.flag() | params.whole(3),
        "kernelize": params.flag(),
    }
    _sparse_rows = True
    _sparse_graphs = True
    _block_rows = 256
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
        self.n_landmarks = n_landmarks
        self.repair = repair
        self.tear = tear
        self.kernelize = kernelize
        self.metric = metric
        self.search = search
        self.missing = missing
        self.disconnected = disconnected
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _embed(self, X: Any) -> np.ndarray:
        self.torn_edges_: np.ndarray | None = None
        self.constant_: float | None = None
        check_metric(self.metric, "Isomap")
        m, rng = self._route(*extent(X)).taken("Isomap"), generator(self.random_state)
        repair = Repair(self.repair, self.n_components, self._holes)
        joined, suspicious = self._neighborhood().joined(X, self.disconnected, repair)
        self.suspicious_edges_, self.suspicious_scores_, self.suspicious_removed_ = suspicious
        self.n_components_graph_, self.component_labels_ = joined.n_components, joined.labels
        self._rows = self._own_rows(X)
        graph = self._torn(joined.graph)

        parts = [self._embed_part(graph, rows, X, m, rng) for rows in joined.parts(self.disconnected)]
        self._parts = tile(parts)
        self.eigenvalues_ = parts[0].eigenvalues
        if self.kernelize:
            self.constant_ = parts[0].constant
        self.landmarks_ = None if m is None else np.concatenate([p.sources for p in parts])
        if m is None:
            self.geodesics_ = _assemble(parts, X.shape[0])

        Z = np.full((X.shape[0], self.n_components), np.nan)
        for part in self._parts:
            Z[part.rows] = part.places()
        return Z

    def _torn(self, G: Any) -> Any:
        if not self.tear:
            return G
        graph, self.torn_edges_ = torn(G, SHORT if self.tear == 1 else self.tear, n_jobs=self.n_jobs)
        return graph

    def _neighborhood(self) -> Neighborhood:
        return Neighborhood(self.n_neighbors, self.radius, self._distance(), self.search, self.n_jobs, "Isomap")

    def _embed_part(self, graph: Any, rows: np.ndarray, X: Any, m: int | None, rng: np.random.Generator) -> Part:
        """Classical scaling of the path lengths among the sources of one connected part."""
        inside = graph[rows][:, rows] if len(rows) < graph.shape[0] else graph
        sources = sources_among(X, rows, m, metric=self._distance(), rng=rng)
        with Progress("Isomap: shortest paths", None, self.verbose) as progress:
            D = geodesics(inside, sources, n_jobs=self.n_jobs, dtype=X.dtype, progress=progress)

        among = D if sources is None else np.ascontiguousarray(D[:, sources])
        constant = additive_constant(among, "cailliez", owner="Isomap") if self.kernelize else 0.0
        B, means = inner_products(shift_distances(among, constant, "cailliez") if constant else among)
        pairs = eigenpairs(B, min(self.n_components, len(B)), rng=rng, owner="Isomap")
        pairs = positive_part(pairs, self.n_components, owner="Isomap", quiet=self.disconnected == "separate")
        own = rows if sources is None else rows[sources]
        extension = Nystrom.of(pairs.values, pairs.vectors, -0.5 * means)
        return Part(rows, own, D, pairs.values, extension, np.zeros(self.n_components), constant)

    def _extend(self, X: Any) -> np.ndarray:
        """Path lengths from a new row lead through its neighbours: min over j of d(x, j) + D_G(j, .)."""
        reach = self._neighborhood().reach(self._rows, X, self._n_fitted())
        part_of, position = np.full(self._n_fitted(), -1), np.zeros(self._n_fitted(), dtype=np.intp)
        for p, part in enumerate(self._parts):
            part_of[part.rows], position[part.rows] = p, np.arange(len(part.rows))
        home = part_of[nearest_of_each(reach)[0]]  # a row belongs to the part of its nearest neighbour
        near = [slice(start, stop) for start, stop in zip(reach.indptr[:-1], reach.indptr[1:], strict=True)]
        Z = np.full((X.shape[0], self.n_components), np.nan)
        for p, part in enumerate(self._parts):
            mine = np.flatnonzero(home == p)
            ends = [(reach.indices[near[i]], reach.data[near[i]]) for i in mine]
            inside = [(position[j[part_of[j] == p]], d[part_of[j] == p]) for j, d in ends]
            if self.repair is not None or self.tear:
                sides = [part.same_side(j, d) for j, d in inside]
                inside = [(j[side], d[side]) for (j, d), side in zip(inside, sides, strict=True)]
            if inside:
                Z[mine] = part.place(np.stack([part.lengths(j, d) for j, d in inside]))
        return Z

    def _n_fitted(self) -> int:
        return len(self.component_labels_)

    @property
    def residual_variance_(self) -> np.ndarray:
        scores = []
        for r in range(1, self.n_components + 1):
            lengths, found = zip(*(_pairs(part, self.embedding_[:, :r]) for part in self._parts), strict=True)
            scores.append(1.0 - np.corrcoef(np.concatenate(lengths), np.concatenate(found))[0, 1] ** 2)
        return np.array(scores)

    def _route(self, n: int, d: int, itemsize: int, stored: int | None) -> policy.Route:
        tables = partial(self._tables, n=n, d=d, itemsize=itemsize, stored=stored)
        return policy.by_size(self.n_landmarks, n, tables, _MOST_ROWS)

    def _memory(self, n: int, d: int, itemsize: int, stored: int | None) -> dict[str, int]:
        m = self._route(n, d, itemsize, stored).n_landmarks
        return self._tables(min(n, m or n), n, d, itemsize, stored)

    def _tables(self, m: int, n: int, d: int, itemsize: int, stored: int | None) -> dict[str, int]:
        """What m landmarks among n rows need."""
        edges = (
            2 * n * self.n_neighbors if self.radius is None else 0
        )  # a radius is asked about when the rows are there
        return {
            "path lengths": n * m * itemsize,
            "inner products": 2 * m * m * 8,
            "search": 2 * n * 64 * 8,
            "neighbour graph": 60 * edges,
            "rows": 2 * n * d * itemsize if stored is None else 24 * stored,
        }


def _assemble(parts: list[Part], n: int) -> np.ndarray:
    """Path lengths of all parts in one matrix; inf between parts."""
    if len(parts) == 1 and len(parts[0].rows) == n:
        return parts[0].geodesics
    D = np.full((n, n), np.inf, dtype=parts[0].geodesics.dtype)
    for part in parts:
        D[np.ix_(part.rows, part.rows)] = part.geodesics
    return D


def _pairs(part: Part, Z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Path lengths and distances between sources and the other rows of a part."""
    other = part.sources[:, None] != part.rows
    return part.geodesics[other], pairwise(Z[part.sources], Z[part.rows])[other]

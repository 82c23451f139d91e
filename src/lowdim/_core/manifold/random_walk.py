"""Random walks between rows: weights of the edges, the slow eigenvectors of the walk, and its extension to new rows.

For symmetric weights W >= 0 with row sums d the walk steps from i to j with probability W_ij / d_i. Its slow
eigenvectors solve W y = lambda D y, that is (D - W) y = l D y with l = 1 - lambda: functions on the rows that change
least along heavy edges. Row i of that equation says

    lambda y_i = sum_j W_ij y_j / d_i,

and for a new row x with weights w(x, j) to the fitted rows it is the Nystrom formula for y(x).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from lowdim._core.graph import Connected, connect, laplacian, some_edges
from lowdim._core.manifold.components import tile
from lowdim._core.manifold.neighborhood import Distinct, nearest_of_each
from lowdim._core.runtime.notices import warn
from lowdim._core.spectrum import eigenpairs

# An edge with a weight below this (equal rows have weight 1) is no edge: its eigenvalue is lost in rounding.
VANISHED = 1e-12
# Where |lambda| is smaller, dividing by it would magnify rounding more than a thousandfold. Such an axis alternates
# between neighbours; new rows get the mean of their neighbours there.
ROUGH = 1e-4
_MANY = 10_000  # rows from which residuals of 1e-8 are enough: a plot shows three digits of an axis


def heat(lengths: np.ndarray, gamma: float) -> np.ndarray:
    """exp(-gamma d²) in float64."""
    return np.exp(-gamma * np.square(lengths, dtype=np.float64))


def with_values(graph: sparse.csr_array, values: np.ndarray) -> sparse.csr_array:
    """The same edges with other values."""
    return sparse.csr_array((values, graph.indices, graph.indptr), shape=graph.shape)


def weighted_graph(
    G: sparse.csr_array, weigh: Callable[[sparse.csr_array], np.ndarray] | None, X: Any, **settings: Any
) -> tuple[sparse.csr_array, Connected]:
    """Weights of the edges of a graph of lengths G, and the result of `connect` once edges of no weight are removed.

    `weigh` gives the weights of a graph of lengths; None: G holds weights. An edge that joins two components has at
    least the weight of the weakest link of a row to its nearest neighbour: that of its length would be next to 0, and
    the components would stay disconnected.
    """
    weights = G.data if weigh is None else weigh(G)
    strong = weights > VANISHED * (weights.max(initial=0.0) if weigh is None else 1.0)
    if not strong.all():
        G, weights = some_edges(G, strong), weights[strong]
    joined = connect(G, G if weigh is None else X, **settings)
    if weigh is None or joined.graph is G:
        return with_values(G, weights), joined
    return with_values(joined.graph, _with_bridges(joined, weigh(joined.graph), weakest_link(G, weights))), joined


def _with_bridges(joined: Connected, weights: np.ndarray, link: float) -> np.ndarray:
    graph = joined.graph
    ends = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
    across = joined.labels[ends] != joined.labels[graph.indices]
    return np.where(across, np.maximum(weights, link), weights)


def weakest_link(G: sparse.csr_array, weights: np.ndarray) -> float:
    """The least, over rows that have edges, of the weight of their heaviest edge; 1 where there is no edge."""
    starts = G.indptr[:-1][np.diff(G.indptr) > 0]
    return float(np.maximum.reduceat(weights, starts).min()) if len(starts) else 1.0


def slow_axes(
    W: Any, r: int, *, rng: Any, owner: str, quiet: bool = False, give_up: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """l = 1 - lambda, ascending, and the vectors Y with Y'DY = I, without the constant one; zeros beyond n - 1 axes.

    One step of the walk, y = W y / (lambda d), refines the vectors: the solver works on sqrt(d) y, whose entries for
    rows of small degree are less precise than those of their neighbours.
    """
    n = W.shape[0]
    values, Y = np.zeros(r), np.zeros((n, r))
    count = min(r, n - 1)
    if count < r and not quiet:
        warn(f"{owner}: {n} different rows have {count} axes; the other axes of n_components={r} are zero.")
    if count == 0:
        return values, Y
    settings = {"skip": np.ones((n, 1)), "tol": 1e-10 if n < _MANY else 1e-8, "rng": rng, "owner": owner}
    settings["give_up"] = give_up
    if sparse.issparse(W):
        L, degrees = laplacian(W)
        pairs = eigenpairs(L, count, which="smallest", mass=degrees, semidefinite=True, **settings)
        found = np.maximum(pairs.values, 0.0)
    else:
        degrees = W.sum(axis=1)
        pairs = eigenpairs(W, count, which="largest", mass=degrees, **settings)
        found = np.maximum(1.0 - pairs.values, 0.0)
    smooth = np.abs(1.0 - found) > 0.1
    Y[:, :count] = pairs.vectors
    refined = W @ np.ascontiguousarray(pairs.vectors[:, smooth]) / degrees[:, None]
    Y[:, np.flatnonzero(smooth)] = refined / (1.0 - found[smooth])
    values[:count] = found
    return values, Y


def plain_axes(
    W: Any, r: int, *, rng: Any, owner: str, quiet: bool = False, give_up: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """l, ascending, and the vectors of L y = l y with Y'Y = I, L = D - W, without the constant one."""
    n = W.shape[0]
    values, Y = np.zeros(r), np.zeros((n, r))
    count = min(r, n - 1)
    if count < r and not quiet:
        warn(f"{owner}: {n} different rows have {count} axes; the other axes of n_components={r} are zero.")
    if count:
        settings: Any = {"skip": np.ones((n, 1)), "tol": 1e-10 if n < _MANY else 1e-8, "give_up": give_up}
        settings |= {"which": "smallest", "semidefinite": True, "rng": rng, "owner": owner}
        pairs = eigenpairs(laplacian(W)[0], count, **settings)
        values[:count], Y[:, :count] = np.maximum(pairs.values, 0.0), pairs.vectors
    return values, Y


@dataclass(frozen=True, eq=False)
class WalkComponent:
    """The walk on one connected component: its rows, lambda, vectors y, and how they become coordinates."""

    rows: np.ndarray
    eigenvalues: np.ndarray  # lambda of each axis, 0 for axes of zeros
    axes: np.ndarray  # y
    factors: np.ndarray  # of each axis
    degrees: np.ndarray | None  # y is multiplied by their roots where given
    shift: np.ndarray  # added to coordinates, so that components lie side by side
    rates: np.ndarray | None = None  # l of each axis, where y are vectors of L y = l y and no walk

    def embedding(self) -> np.ndarray:
        """Coordinates of its rows."""
        return self.scaled(self.axes, self.degrees)

    def scaled(self, Y: np.ndarray, degrees: np.ndarray | None) -> np.ndarray:
        """Coordinates from values of y and degrees."""
        Z = Y * self.factors
        return (Z if self.degrees is None or degrees is None else Z * np.sqrt(degrees)[:, None]) + self.shift


@dataclass(frozen=True, eq=False)
class Transitions:
    """Weights from new rows to the fitted ones, and how near the nearest fitted row is.

    `nearness` is 1 on a fitted row and falls to 0 half-way to that row's nearest neighbour, so that a new row is near
    one fitted row at most.
    """

    weights: Any  # (m, n), sparse or dense; each row up to a factor
    scales: np.ndarray  # that factor of each row
    nearest: np.ndarray
    nearness: np.ndarray

    @classmethod
    def along(cls, reach: sparse.csr_array, exponents: np.ndarray | None, gaps: np.ndarray) -> Transitions:
        """From the distances to neighbours and the e of the weights exp(-e); None: weights of 1.

        The weights of a far row are scaled so that the heaviest is 1, else all of them could underflow.
        """
        nearest, least = nearest_of_each(reach)
        close = nearness(least, gaps[nearest])
        if exponents is None:
            return cls(with_values(reach, np.ones(reach.nnz)), np.ones(len(least)), nearest, close)
        shift = np.where(close > 0, 0.0, np.minimum.reduceat(exponents, reach.indptr[:-1]))
        weights = np.exp(np.repeat(shift, np.diff(reach.indptr)) - exponents)
        return cls(with_values(reach, weights), np.exp(-shift), nearest, close)

    @classmethod
    def to_all(cls, D: np.ndarray, exponents: np.ndarray, gaps: np.ndarray) -> Transitions:
        """The same from the distances to all fitted rows."""
        nearest = np.argmin(D, axis=1)
        close = nearness(D[np.arange(len(D)), nearest], gaps[nearest])
        shift = np.where(close > 0, 0.0, exponents.min(axis=1))
        return cls(np.exp(shift[:, None] - exponents), np.exp(-shift), nearest, close)

    @classmethod
    def given(cls, weights: Any, owner: str) -> Transitions:
        """From given weights to the fitted rows; the nearest row is the one with the largest weight."""
        weights = sparse.csr_array(weights, dtype=np.float64)
        weights.eliminate_zeros()
        empty = np.flatnonzero(np.diff(weights.indptr) == 0)
        if len(empty):
            raise ValueError(
                f"{owner}: every row of X must have a positive weight to a fitted row; row {empty[0]} has none."
            )
        nearest, _ = nearest_of_each(with_values(weights, -weights.data))
        ones = np.ones(len(nearest))
        return cls(weights, ones, nearest, 0 * ones)


def nearness(distances: np.ndarray, gaps: np.ndarray) -> np.ndarray:
    """1 at distance 0, 0 from half the gap on."""
    distances, gaps = distances.astype(np.float64), gaps.astype(np.float64)
    ratio = np.divide(2.0 * distances, gaps, out=np.where(distances > 0, 1.0, 0.0), where=gaps > 0)
    return np.maximum(0.0, 1.0 - ratio)


@dataclass(frozen=True, eq=False)
class Walk:
    """The walk on all components, with what its extension to new rows needs."""

    components: list[WalkComponent]
    labels: np.ndarray  # the component of each fitted row, -1 for rows that are not embedded
    first: np.ndarray | None  # the rows of the user's table that were fitted, one of each kind; None: all
    gaps: np.ndarray  # distance of each fitted row to its nearest neighbour
    own_edges: bool  # whether fitted rows have edges that an equal new row would not have
    columns: np.ndarray | None  # factors of the fitted rows in every weight

    @classmethod
    def of(
        cls, components: list[WalkComponent], same: Distinct, gaps: np.ndarray, own_edges: bool, columns: Any = None
    ) -> Walk:
        """From its components, which are tiled here."""
        labels = np.full(len(same.first), -1)
        for number, component in enumerate(components):
            labels[component.rows] = number
        return cls(tile(components), labels, None if same.all else same.first, gaps, own_edges, columns)

    def columns_of(self, D: Any) -> Any:
        """Of distances to all rows of the user's table, those to the fitted rows."""
        return D if self.first is None else D[:, self.first]

    def embedding(self) -> np.ndarray:
        """Coordinates of the fitted rows; NaN for those that are not embedded."""
        Z = np.full((len(self.labels), len(self.components[0].shift)), np.nan)
        for component in self.components:
            Z[component.rows] = component.embedding()
        return Z

    def transform(self, new: Transitions) -> np.ndarray:
        """Coordinates of new rows, each in the component of the fitted row nearest to it.

        A new row that equals a fitted one has itself among its neighbours, and lacks edges to rows of which it is a
        neighbour but not the reverse. So a new row near a fitted row i gets the transitions of i in proportion to
        the nearness. As those of i give lambda y_i, the result is a mean of y_i and the new row's own value:
        continuous, and exact on fitted rows whatever made their edges.
        """
        V = new.weights
        if self.columns is not None:
            V = with_values(V, V.data * self.columns[V.indices]) if sparse.issparse(V) else V * self.columns
        home = self.labels[new.nearest]
        Z = np.full((V.shape[0], len(self.components[0].shift)), np.nan)
        position = np.zeros(len(self.labels), dtype=np.intp)
        for number, component in enumerate(self.components):
            position[component.rows] = np.arange(len(component.rows))
            mine = np.flatnonzero(home == number)
            if len(mine):
                inside = V[mine] if len(component.rows) == V.shape[1] else V[mine][:, component.rows]
                extended, rough = _nystrom(component, inside, new.scales[mine])
                near = np.where(rough | self.own_edges, new.nearness[mine][:, None], 0.0)
                Z[mine] = near * component.embedding()[position[new.nearest[mine]]] + (1.0 - near) * extended
        return Z


def _nystrom(component: WalkComponent, V: Any, scales: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates by y(x) = sum_j w(x, j) y_j / (lambda d(x)), on rough axes by the mean; and which axes are rough."""
    degrees = np.asarray(V.sum(axis=1)).ravel()
    mean = np.asarray(V @ component.axes) / np.where(degrees > 0, degrees, 1.0)[:, None]
    if component.rates is not None:
        return _unnormalized(component, mean, degrees * scales), np.zeros(mean.shape[1], dtype=bool)
    rough = np.abs(component.eigenvalues) < ROUGH
    return component.scaled(mean / np.where(rough, 1.0, component.eigenvalues), degrees * scales), rough


def _unnormalized(component: WalkComponent, mean: np.ndarray, degrees: np.ndarray) -> np.ndarray:
    """Coordinates by y(x) = sum_j w(x, j) y_j / (d(x) - l), in terms of the mean of the neighbours.

    A row of so little weight that l is more than half of d(x) gets that mean: the formula would divide by about 0.
    """
    part = np.divide(np.asarray(component.rates), degrees[:, None], out=np.ones_like(mean), where=degrees[:, None] > 0)
    return component.scaled(mean / np.where(part > 0.5, 1.0, 1.0 - part), None)

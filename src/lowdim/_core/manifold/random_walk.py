"""Random walks between rows: weights of the steps, the slowest ways the walk mixes, and how a new row joins it.

For symmetric weights W >= 0 with row sums d the walk steps from i to j with probability W_ij / d_i. Its slow
directions solve W y = lambda D y, that is (D - W) y = l D y with l = 1 - lambda: functions on the rows that change
least along heavy edges. Row i of that equation says

    lambda y_i = sum_j W_ij y_j / d_i,

and read for a new row x with weights w(x, j) to the fitted ones it is the Nystrom formula that places x.
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

# A weight below this (equal rows having 1) joins nothing: the eigenvalue of such a link is lost in rounding.
VANISHED = 1e-12
# Where |lambda| is smaller, dividing by it would magnify rounding more than a thousandfold; such an axis alternates
# between neighbours, and new rows are placed by the mean of theirs.
ROUGH = 1e-4
_MANY = 10_000  # rows from which residuals of 1e-8 will do: what is seen of an axis has three digits


def heat(lengths: np.ndarray, gamma: float) -> np.ndarray:
    """exp(-gamma d²) in float64."""
    return np.exp(-gamma * np.square(lengths, dtype=np.float64))


def with_values(graph: sparse.csr_array, values: np.ndarray) -> sparse.csr_array:
    """The same edges with other numbers on them."""
    return sparse.csr_array((values, graph.indices, graph.indptr), shape=graph.shape)


def join_parts(
    G: sparse.csr_array, weigh: Callable[[sparse.csr_array], np.ndarray] | None, X: Any, **settings: Any
) -> tuple[sparse.csr_array, Connected]:
    """Weights of the edges of G, and `connect`'s answer once edges of no weight are gone; None: G holds weights.

    An edge that joins two parts weighs as much as the weakest link of a row to its nearest neighbour: by its length
    it would weigh next to nothing, and the parts would stay apart.
    """
    weights = G.data if weigh is None else weigh(G)
    strong = weights > VANISHED * (weights.max(initial=0.0) if weigh is None else 1.0)
    if not strong.all():
        G, weights = some_edges(G, strong), weights[strong]
    joined = connect(G, G if weigh is None else X, **settings)
    if weigh is None or joined.graph is G:
        return with_values(G, weights), joined
    return with_values(joined.graph, _bridged(joined, weigh(joined.graph), weakest_link(G, weights))), joined


def _bridged(joined: Connected, weights: np.ndarray, link: float) -> np.ndarray:
    graph = joined.graph
    ends = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
    across = joined.labels[ends] != joined.labels[graph.indices]
    return np.where(across, np.maximum(weights, link), weights)


def weakest_link(G: sparse.csr_array, weights: np.ndarray) -> float:
    """The least, over rows that have edges, of the weight of their heaviest; 1 where there is no edge at all."""
    starts = G.indptr[:-1][np.diff(G.indptr) > 0]
    return float(np.maximum.reduceat(weights, starts).min()) if len(starts) else 1.0


def slow_axes(
    W: Any, r: int, *, rng: Any, owner: str, quiet: bool = False, give_up: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """l = 1 - lambda, ascending, and the vectors Y with Y'DY = I, without the constant one; zeros beyond n - 1 axes.

    The vectors are sent through the walk once more, y = W y / (lambda d): the solver works on sqrt(d) y, and what it
    knows of a row of small degree is less precise than what the row's neighbours know.
    """
    n = W.shape[0]
    values, Y = np.zeros(r), np.zeros((n, r))
    count = min(r, n - 1)
    if count < r and not quiet:
        warn(f"{owner}: {n} different rows have {count} axes; the others of n_components={r} are zero.")
    if count == 0:
        return values, Y
    settings = {"skip": np.ones((n, 1)), "tol": 1e-10 if n < _MANY else 1e-8, "rng": rng, "owner": owner}
    settings["give_up"] = give_up
    if sparse.issparse(W):
        L, degrees = laplacian(W)
        pairs = eigenpairs(L, count, which="smallest", mass=degrees, **settings)
        found = np.maximum(pairs.values, 0.0)
    else:
        degrees = W.sum(axis=1)
        pairs = eigenpairs(W, count, which="largest", mass=degrees, **settings)
        found = np.maximum(1.0 - pairs.values, 0.0)
    smooth = np.abs(1.0 - found) > 0.1
    Y[:, :count] = pairs.vectors
    again = W @ np.ascontiguousarray(pairs.vectors[:, smooth]) / degrees[:, None]
    Y[:, np.flatnonzero(smooth)] = again / (1.0 - found[smooth])
    values[:count] = found
    return values, Y


@dataclass(frozen=True, eq=False)
class Piece:
    """The walk on one connected part: its rows, lambda, vectors y, and how they become places."""

    rows: np.ndarray
    eigenvalues: np.ndarray  # lambda of each axis, 0 for axes of zeros
    axes: np.ndarray  # y
    factors: np.ndarray  # a number for each axis
    degrees: np.ndarray | None  # multiply y by their roots where given
    shift: np.ndarray

    def places(self) -> np.ndarray:
        """Where its rows are."""
        return self.scaled(self.axes, self.degrees)

    def scaled(self, Y: np.ndarray, degrees: np.ndarray | None) -> np.ndarray:
        """Places from values of y and degrees."""
        Z = Y * self.factors
        return (Z if self.degrees is None or degrees is None else Z * np.sqrt(degrees)[:, None]) + self.shift


@dataclass(frozen=True, eq=False)
class Steps:
    """Weights of steps from new rows to the fitted ones, and how near the nearest of them is.

    `nearness` is 1 on a fitted row and falls to 0 half-way to that row's nearest neighbour, so that a new row is near
    one fitted row at most.
    """

    weights: Any  # (m, n), sparse or dense; rows may be scaled at will
    scales: np.ndarray  # what was taken out of each row
    nearest: np.ndarray
    nearness: np.ndarray

    @classmethod
    def along(cls, reach: sparse.csr_array, exponents: np.ndarray | None, gaps: np.ndarray) -> Steps:
        """From the lengths to neighbours and the e of the weights exp(-e), None being weights of 1.

        The heaviest weight of a far row is made 1, lest all of them vanish: a row may be scaled at will.
        """
        nearest, least = nearest_of_each(reach)
        close = nearness(least, gaps[nearest])
        if exponents is None:
            return cls(with_values(reach, np.ones(reach.nnz)), np.ones(len(least)), nearest, close)
        shift = np.where(close > 0, 0.0, np.minimum.reduceat(exponents, reach.indptr[:-1]))
        weights = np.exp(np.repeat(shift, np.diff(reach.indptr)) - exponents)
        return cls(with_values(reach, weights), np.exp(-shift), nearest, close)

    @classmethod
    def to_all(cls, D: np.ndarray, exponents: np.ndarray, gaps: np.ndarray) -> Steps:
        """The same from the distances to all fitted rows."""
        nearest = np.argmin(D, axis=1)
        close = nearness(D[np.arange(len(D)), nearest], gaps[nearest])
        shift = np.where(close > 0, 0.0, exponents.min(axis=1))
        return cls(np.exp(shift[:, None] - exponents), np.exp(-shift), nearest, close)

    @classmethod
    def given(cls, weights: Any, owner: str) -> Steps:
        """From known weights to the fitted rows; the heaviest leads to the nearest row."""
        weights = sparse.csr_array(weights, dtype=np.float64)
        weights.eliminate_zeros()
        empty = np.flatnonzero(np.diff(weights.indptr) == 0)
        if len(empty):
            raise ValueError(
                f"{owner}: row {empty[0]} of X has no positive weight to a fitted row, so it has no place."
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
    """What placing a new row on a walk needs: its pieces, and the gaps around fitted rows."""

    pieces: list[Piece]
    labels: np.ndarray  # the piece of each fitted row, -1 for rows left out
    first: np.ndarray | None  # which of the rows given were fitted, equal ones counting once; None: all
    gaps: np.ndarray  # distance of each fitted row to its nearest neighbour
    own_edges: bool  # fitted rows have edges that a new row in their place would not have
    columns: np.ndarray | None  # factors of the fitted rows in every step

    @classmethod
    def of(cls, pieces: list[Piece], same: Distinct, gaps: np.ndarray, own_edges: bool, columns: Any = None) -> Walk:
        """From its pieces, which are put beside each other here."""
        labels = np.full(len(same.first), -1)
        for p, piece in enumerate(pieces):
            labels[piece.rows] = p
        return cls(tile(pieces), labels, None if same.all else same.first, gaps, own_edges, columns)

    def columns_of(self, D: Any) -> Any:
        """Of distances to all rows given, those to the fitted ones."""
        return D if self.first is None else D[:, self.first]

    def places(self) -> np.ndarray:
        """Where the fitted rows are; NaN for those left out."""
        Z = np.full((len(self.labels), len(self.pieces[0].shift)), np.nan)
        for piece in self.pieces:
            Z[piece.rows] = piece.places()
        return Z

    def place(self, steps: Steps) -> np.ndarray:
        """Where new rows are: each in the piece of the fitted row nearest to it.

        A fitted row meets itself among its neighbours, and misses those that count it as theirs. So a row near one
        takes over that one's steps in proportion to the nearness, and as these lead to lambda y_i, this is a mean of
        the place y_i and the new row's own: continuous, and exact on fitted rows whatever made their edges.
        """
        V = steps.weights
        if self.columns is not None:
            V = with_values(V, V.data * self.columns[V.indices]) if sparse.issparse(V) else V * self.columns
        home = self.labels[steps.nearest]
        Z = np.full((V.shape[0], len(self.pieces[0].shift)), np.nan)
        position = np.zeros(len(self.labels), dtype=np.intp)
        for p, piece in enumerate(self.pieces):
            position[piece.rows] = np.arange(len(piece.rows))
            mine = np.flatnonzero(home == p)
            if len(mine):
                inside = V[mine] if len(piece.rows) == V.shape[1] else V[mine][:, piece.rows]
                fresh, rough = _by_formula(piece, inside, steps.scales[mine])
                near = np.where(rough | self.own_edges, steps.nearness[mine][:, None], 0.0)
                Z[mine] = near * piece.places()[position[steps.nearest[mine]]] + (1.0 - near) * fresh
        return Z


def _by_formula(piece: Piece, V: Any, scales: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Places by y(x) = sum_j w(x, j) y_j / (lambda d(x)), along rough axes by the mean; and which axes are rough."""
    degrees = np.asarray(V.sum(axis=1)).ravel()
    mean = np.asarray(V @ piece.axes) / np.where(degrees > 0, degrees, 1.0)[:, None]
    rough = np.abs(piece.eigenvalues) < ROUGH
    return piece.scaled(mean / np.where(rough, 1.0, piece.eigenvalues), degrees * scales), rough

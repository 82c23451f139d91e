"""How weights between rows fall with distance: one width for all, or a scale for each row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from lowdim._core.distances import pairwise
from lowdim._core.kernels.catalogue import RBF
from lowdim._core.manifold.neighborhood import Neighborhood, nearest_of_each
from lowdim._core.manifold.random_walk import nearness
from lowdim._core.runtime.rng import generator
from lowdim.spectral._walk_weights import EDGE_WIDTH_RULES, kernel_sum_gamma, kth_lengths

APART = 1.5  # times the usual distance: rows whose neighbours are further away have a wider kernel
NEIGHBOR = 10  # whose distance the rules "adaptive" and "median" take
# Rules with a scale for each row, and the neighbour whose distance it is (7: Zelnik-Manor and Perona).
ROW_SCALES = {"adaptive": NEIGHBOR, "self-tuning": 7}
WIDTH_RULES = (*ROW_SCALES, "median", "kernel-sum")
_SAMPLED = 400_000  # distances that the rule "kernel-sum" uses


@dataclass(frozen=True, eq=False)
class Falloff:
    """exp(-gamma d²), or with a scale for each row: exp(-d²/(s_i s_j)), or the mean of exp(-d²/s_i²) and exp(-d²/s_j²).

    The mean is as large as the larger scale makes it: a row that lies apart is joined by its own scale alone.
    """

    gamma: float | None
    scales: np.ndarray | None
    nth: int = 0  # the neighbour whose distance is the scale of a row
    mean: bool = False

    @classmethod
    def adaptive(cls, reach: np.ndarray, nth: int) -> Falloff:
        """From the distances to the n-th neighbours: their median, and more for rows that lie apart.

        Where rows are about equally dense the width is one for all.
        """
        usual = float(EDGE_WIDTH_RULES["median"](reach[reach > 0] ** 2)) ** 0.5
        return cls(None, np.maximum(reach / APART, usual), nth, mean=True)

    def exponents(self, squares: np.ndarray, own: Any, other: Any) -> np.ndarray:
        """The exponents for rows with the scales `own` and `other` (not used with a gamma)."""
        if self.gamma is not None:
            return self.gamma * squares
        if not self.mean:
            return squares / (own * other)
        return np.log(2.0) - np.logaddexp(-squares / own**2, -squares / other**2)

    def weights(self, squares: np.ndarray, own: Any, other: Any) -> np.ndarray:
        """exp(-exponents), where it is no matter that small ones become 0."""
        if self.gamma is not None or not self.mean:
            return np.exp(-self.exponents(squares, own, other))
        return 0.5 * (np.exp(-squares / own**2) + np.exp(-squares / other**2))

    def along(self, G: sparse.csr_array, own: np.ndarray | None = None) -> np.ndarray:
        """The exponents of the edges of a graph of lengths; `own`: scales of its rows where they are new ones."""
        squares = np.square(G.data, dtype=np.float64)
        if self.scales is None:
            return self.exponents(squares, None, None)
        rows = np.repeat(np.arange(G.shape[0]), np.diff(G.indptr))
        return self.exponents(squares, (self.scales if own is None else own)[rows], self.scales[G.indices])

    def weigh(self, G: sparse.csr_array) -> np.ndarray:
        return np.exp(-self.along(G))

    def along_new(self, reach: sparse.csr_array, gaps: np.ndarray) -> np.ndarray:
        """The exponents from new rows to their neighbours, given the lengths."""
        if self.scales is None:
            return self.along(reach)
        nearest, least = nearest_of_each(reach)
        return self.along(reach, self._own(_reach(reach, self.nth), nearness(least, gaps[nearest]), nearest))

    def to_all(self, D: np.ndarray, gaps: np.ndarray) -> np.ndarray:
        """The exponents from new rows to all fitted ones, given the distances."""
        squares = np.square(D, dtype=np.float64)
        if self.scales is None:
            return self.exponents(squares, None, None)
        nearest, k = np.argmin(D, axis=1), min(self.nth, D.shape[1]) - 1
        close = nearness(D.min(axis=1), gaps[nearest])
        own = self._own(np.partition(D, k, axis=1)[:, k].astype(np.float64), close, nearest)
        return self.exponents(squares, own[:, None], self.scales)

    def _own(self, reach: np.ndarray, close: np.ndarray, nearest: np.ndarray) -> np.ndarray:
        """Scales of new rows: the distance to their n-th neighbour; next to a fitted row, the scale of that one."""
        scales: Any = self.scales
        return close * scales[nearest] + (1.0 - close) * np.maximum(reach / (APART if self.mean else 1.0), scales.min())


def falloff(X: Any, width: Any, convention: str, around: Neighborhood, found: Any) -> Falloff:
    """From a number or a rule; `found` are neighbours of all rows, or a sparse graph of distances."""
    if not isinstance(width, str):
        return Falloff(RBF.from_width(width, convention).gamma, None)
    if width == "kernel-sum":
        return Falloff(kernel_sum_gamma(_sample_of_squares(X, around), around.owner), None)
    nth = ROW_SCALES.get(width, NEIGHBOR)
    reach = _reach(found, nth)
    positive = reach[reach > 0]
    if not positive.size:
        raise ValueError(
            f"{around.owner}: X must have different rows for a width to be found; got none at a positive distance "
            f"among the nearest {NEIGHBOR} of each. Pass a number as width."
        )
    if width == "median":
        return Falloff(1.0 / float(EDGE_WIDTH_RULES["median"](positive**2)), None)
    return (
        Falloff.adaptive(reach, nth) if width == "adaptive" else Falloff(None, np.maximum(reach, positive.min()), nth)
    )


def _reach(found: Any, k: int) -> np.ndarray:
    """The distance of each row to its k-th neighbour, or to the last one there is."""
    if sparse.issparse(found):
        return kth_lengths(found, k)
    return found.distances[:, min(k, found.distances.shape[1]) - 1].astype(np.float64)


def _sample_of_squares(X: Any, around: Neighborhood) -> np.ndarray:
    """Squared distances from some rows, drawn with a fixed seed, to all."""
    n = X.shape[0]
    some = np.sort(generator(0).permutation(n)[: max(20, min(n, 1000, _SAMPLED // n))])
    if around.metric == "precomputed":
        block = np.append(X.data, np.zeros(n)) if sparse.issparse(X) else X[some]  # a row is 0 from itself
    else:
        block = pairwise(X[some], X, around.metric, owner="DiffusionMaps")
    return np.square(block, dtype=np.float64)

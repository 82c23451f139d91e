"""How a fitted model places new rows.

Each record holds exactly what is needed and nothing else; calling it does the placing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

if TYPE_CHECKING:
    from lowdim._core.neighbors import Neighbors


@dataclass(frozen=True, eq=False)
class Linear:
    """z = ((x - mean) / scale) A, A being (d, k)."""

    mean: np.ndarray
    scale: np.ndarray | None
    matrix: np.ndarray

    def __call__(self, X: Any) -> np.ndarray:
        A = self.matrix if self.scale is None else self.matrix / self.scale[:, None]
        if sparse.issparse(X):  # centring a sparse matrix would fill it
            return np.asarray(X @ A) - self.mean @ A
        # Centre first: with a mean far from zero the difference of two products loses the digits that matter.
        return centred(X, self.mean) @ A.astype(X.dtype)


def centred(X: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """X - mean in the precision of X, the mean being a float64 one: what rounding takes from it follows after."""
    rounded = mean.astype(X.dtype)
    out = X - rounded
    if X.dtype != np.float64:
        out -= (mean - rounded).astype(X.dtype)
    return out


@dataclass(frozen=True, eq=False)
class Nystrom:
    """z = (s(x) - offset) P with s(x) the similarities of x to the fitted rows.

    For an eigenvector v with eigenvalue l of a centred similarity matrix, the column of P is v / sqrt(l). The other
    centring terms of a new row are constant over the fitted rows and vanish, as v sums to zero.
    """

    offset: np.ndarray
    projection: np.ndarray

    @classmethod
    def of(cls, values: np.ndarray, vectors: np.ndarray, offset: np.ndarray) -> Nystrom:
        """From eigenpairs; axes with eigenvalue 0 place every row at 0."""
        positive = values > 0
        root = np.where(positive, np.sqrt(np.where(positive, values, 1.0)), np.inf)
        return cls(np.asarray(offset, dtype=np.float64), vectors / root)

    def __call__(self, S: np.ndarray, *, overwrite: bool = False) -> np.ndarray:
        return np.subtract(S, self.offset, out=S if overwrite else None) @ self.projection


@dataclass(frozen=True, eq=False)
class KernelMap:
    """z = (k(x, rows) - offset) P, the Nystrom formula with the kernel and its rows at hand.

    Where the kernel is precomputed, a new row holds its values to all `width` fitted rows, and `columns` says which of
    them count (None: all). `shift` has been taken off the rows, and is off new ones.
    """

    kernel: Any
    rows: Any
    columns: np.ndarray | None
    width: int
    formula: Nystrom
    shift: np.ndarray | None = None

    def __call__(self, X: Any) -> np.ndarray:
        if not self.kernel.pairwise:
            X = X if self.shift is None else (X - self.shift).astype(X.dtype, copy=False)
            return self.formula(self.kernel(X, self.rows))
        return self.formula(self.kernel(X if self.columns is None else X[:, self.columns]))


@dataclass(frozen=True, eq=False)
class Interpolation:
    """z = weighted mean of the places of the nearest fitted rows; exact at a fitted row, continuous between.

    Weights are Franke and Little's (1/d - 1/R)^2 with R the distance of the first neighbour left out, so that a row
    that enters or leaves the neighbourhood does so with weight 0.
    """

    places: np.ndarray

    def __call__(self, neighbors: Neighbors) -> np.ndarray:
        d = neighbors.distances.astype(np.float64)
        if d.shape[1] < 2:
            return self.places[neighbors.indices[:, 0]]
        d, reach = d[:, :-1], d[:, -1:]
        with np.errstate(divide="ignore", invalid="ignore"):
            weights = ((reach - d) / (reach * d)) ** 2
        same = d == 0
        weights = np.where(same.any(axis=1, keepdims=True), same, weights)
        weights[~np.isfinite(weights)] = 0.0
        weights[weights.sum(axis=1) == 0] = 1.0  # all neighbours equally far
        weights /= weights.sum(axis=1, keepdims=True)
        return np.einsum("ij,ijk->ik", weights, self.places[neighbors.indices[:, :-1]])


@dataclass(frozen=True, eq=False)
class Rebuilt:
    """z = sum_j w_j z_j with the weights that rebuild x from its nearest fitted rows (Saul and Roweis 2003).

    Only neighbours in the part of the nearest one count, and a row whose nearest has no place has none. A fitted row is
    its own nearest and gets all the weight.
    """

    places: np.ndarray
    part_of: np.ndarray
    completed: np.ndarray | None  # the fitted rows, where they had holes
    reg: float | str
    rank: int

    def __call__(self, X: np.ndarray, rows: np.ndarray, neighbors: Neighbors, n_jobs: int | None = None) -> np.ndarray:
        """Places of rows X among the fitted `rows`."""
        w, patches = self._weights(X, rows, neighbors, n_jobs)
        return np.add.reduceat(w[:, None] * self.places[patches.members], patches.starts[:-1])

    def mixture(self, X: np.ndarray, rows: np.ndarray, neighbors: Neighbors, n_jobs: int | None = None) -> Any:
        """The weights themselves, one row for each row of X and one column for each of `rows`."""
        w, patches = self._weights(X, rows, neighbors, n_jobs)
        return sparse.csr_array((w, patches.members, patches.starts), shape=(len(X), len(rows)))

    def _weights(self, X: np.ndarray, rows: np.ndarray, neighbors: Neighbors, n_jobs: int | None) -> tuple[Any, Any]:
        from lowdim._core.graph.local_fits import Patches, weights

        home = self.part_of[neighbors.indices[:, :1]]
        patches = Patches.chosen(neighbors.indices, self.part_of[neighbors.indices] == home)
        w = weights(rows, X.astype(rows.dtype), patches, reg=self.reg, rank=self.rank, n_jobs=n_jobs)
        return w, patches

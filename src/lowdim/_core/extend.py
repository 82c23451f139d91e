"""Out-of-sample extensions: how a fitted model computes the coordinates of new rows.

Each record holds what `transform` needs and nothing else; calling it gives the coordinates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from lowdim._core.gpu import devices
from lowdim._core.gpu.devices import Device
from lowdim._core.gpu.places.local_weights import combined, local_weights

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
    """X - mean in the precision of X; for float32 rows, the rounding error of the float64 mean is subtracted too."""
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
        """From eigenpairs; on axes with eigenvalue 0 every row has coordinate 0."""
        positive = values > 0
        root = np.where(positive, np.sqrt(np.where(positive, values, 1.0)), np.inf)
        return cls(np.asarray(offset, dtype=np.float64), vectors / root)

    def __call__(self, S: np.ndarray, *, overwrite: bool = False) -> np.ndarray:
        return np.subtract(S, self.offset, out=S if overwrite else None) @ self.projection


@dataclass(frozen=True, eq=False)
class KernelMap:
    """z = (k(x, rows) - offset) P: the Nystrom formula together with the kernel and the rows it is evaluated on.

    Where the kernel is precomputed, a new row holds its kernel values to all `width` fitted rows, and `columns` are
    those that are used (None: all). `shift` has been subtracted from the rows, and is subtracted from new ones.
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
    """z = weighted mean of the coordinates of the nearest fitted rows; exact at a fitted row, continuous between.

    Weights are Franke and Little's (1/d - 1/R)^2 with R the distance of the first neighbour left out, so that a row
    that enters or leaves the neighbourhood does so with weight 0.
    """

    embedding: np.ndarray

    def __call__(self, neighbors: Neighbors) -> np.ndarray:
        d = neighbors.distances.astype(np.float64)
        if d.shape[1] < 2:
            return self.embedding[neighbors.indices[:, 0]]
        d, reach = d[:, :-1], d[:, -1:]
        with np.errstate(divide="ignore", invalid="ignore"):
            weights = ((reach - d) / (reach * d)) ** 2
        same = d == 0
        weights = np.where(same.any(axis=1, keepdims=True), same, weights)
        weights[~np.isfinite(weights)] = 0.0
        weights[weights.sum(axis=1) == 0] = 1.0  # all neighbours equally far
        weights /= weights.sum(axis=1, keepdims=True)
        return np.einsum("ij,ijk->ik", weights, self.embedding[neighbors.indices[:, :-1]])


@dataclass(frozen=True, eq=False)
class NeighborWeights:
    """z = sum_j w_j z_j with the weights that reconstruct x from its nearest fitted rows (Saul and Roweis 2003).

    Only neighbours in the connected component of the nearest one count; a row whose nearest neighbour is not embedded
    (NaN) is not embedded either. A fitted row is its own nearest neighbour and gets all the weight.
    """

    embedding: np.ndarray
    component_of: np.ndarray  # the component of each fitted row, -1 for rows that are not embedded
    completed: np.ndarray | None  # the fitted rows with missing cells filled, where there are any
    ridge: float | str
    rank: int

    def __call__(self, X: np.ndarray, rows: np.ndarray, neighbors: Neighbors, n_jobs: int | None = None) -> np.ndarray:
        """Coordinates of rows X, given the fitted `rows` and the neighbours among them."""
        w, patches = self._weights(X, rows, neighbors, n_jobs)
        return np.add.reduceat(w[:, None] * self.embedding[patches.members], patches.starts[:-1])

    def there(self, device: Device, X: Any, rows: Any, neighbors: Neighbors) -> np.ndarray:
        """As a call, on a device: rows X and the fitted `rows` are arrays, or on the device already."""
        component = self.component_of[neighbors.indices[:, :1]]
        use, near = self.component_of[neighbors.indices] == component, neighbors.indices
        ridge = None if isinstance(self.ridge, str) else float(self.ridge)

        def place(on: Device) -> np.ndarray:
            w = local_weights(on, X, rows, near, use, ridge=ridge, rank=self.rank)
            return combined(on, w, near, self.embedding)

        Z = devices.run(device, place, "LLE")
        Z[component[:, 0] < 0] = np.nan
        return Z

    def matrix(self, X: np.ndarray, rows: np.ndarray, neighbors: Neighbors, n_jobs: int | None = None) -> Any:
        """The weights themselves, one row for each row of X and one column for each of `rows`."""
        w, patches = self._weights(X, rows, neighbors, n_jobs)
        return sparse.csr_array((w, patches.members, patches.starts), shape=(len(X), len(rows)))

    def _weights(self, X: np.ndarray, rows: np.ndarray, neighbors: Neighbors, n_jobs: int | None) -> tuple[Any, Any]:
        from lowdim._core.graph.local_fits import Patches, weights

        component = self.component_of[neighbors.indices[:, :1]]
        patches = Patches.chosen(neighbors.indices, self.component_of[neighbors.indices] == component)
        w = weights(rows, X.astype(rows.dtype), patches, ridge=self.ridge, rank=self.rank, n_jobs=n_jobs)
        return w, patches

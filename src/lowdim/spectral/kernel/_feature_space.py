"""The rows of a table in the feature space of a kernel, in coordinates that keep all inner products."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lowdim._core.kernels import Kernel
from lowdim._core.runtime.notices import warn
from lowdim._core.scaling.centring import center_kernel
from lowdim._core.spectrum import Eigenpairs, eigenpairs
from lowdim._core.views import View, Views
from lowdim.spectral.kernel._checks import check_square, check_symmetric
from lowdim.spectral.kernel._kernel_tiles import Tiles, each_block, matrix, tiles_of

_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class FeatureSpace:
    """F = (K - 1 offset') projection: F F' is the centred kernel matrix.

    K holds the kernel values of all rows (n) to the landmarks (m; or to all rows); then F F' is the best approximation
    in the span of the landmarks (Williams and Seeger, 2001).
    """

    F: np.ndarray  # (n, r), the mean of each column 0
    offset: np.ndarray  # (m,)
    projection: np.ndarray  # (m, r)
    values: np.ndarray | None  # eigenvalues of F F' where the columns of F are its axes

    @classmethod
    def of(cls, kernel: Kernel, X: Any, landmarks: np.ndarray | None, n_jobs: int | None, owner: str) -> FeatureSpace:
        check_square(kernel, X, owner)
        if landmarks is not None:
            return cls._from_landmarks(kernel, X, landmarks, n_jobs, owner)
        pairs, means = _axes(tiles_of(kernel, X), n_jobs, owner)
        root = np.sqrt(pairs.values)
        return cls(pairs.vectors * root, means, pairs.vectors / root, pairs.values)

    @classmethod
    def _from_landmarks(cls, kernel: Kernel, X: Any, chosen: np.ndarray, n_jobs: Any, owner: str) -> FeatureSpace:
        """The axes of the landmarks about their own mean, so that a shift of all rows changes nothing."""
        X = X[:, chosen] if kernel.pairwise else X
        among = tiles_of(kernel, X[chosen])
        pairs, _ = _axes(among, n_jobs, owner)
        S = np.concatenate(each_block(among, X, lambda values, _: values, n_jobs))
        projection = pairs.vectors / np.sqrt(pairs.values)
        offset = S.mean(axis=0, dtype=np.float64)
        S = np.subtract(S, offset, out=S if S.dtype == np.float64 else None)
        return cls(S @ projection, offset, projection, None)

    @property
    def variance(self) -> float:
        """Total variance of the rows in feature space."""
        return float(np.einsum("ij,ij->", self.F, self.F)) / (len(self.F) - 1)

    def view(self, ridge: float) -> View:
        """The coordinates in their principal axes."""
        r = self.F.shape[1]
        if self.values is not None:
            V, s = np.eye(r), np.sqrt(self.values)
        else:
            found = eigenpairs(self.F.T @ self.F, r, owner="FeatureSpace")
            keep = found.values > 64 * r * _EPS * max(found.values[0], 0.0)
            V, s = found.vectors[:, keep], np.sqrt(found.values[keep])
        return View(np.zeros(r), np.ones(r), V, s, len(self.F) - 1, ridge)


def views_of(x: FeatureSpace, y: FeatureSpace, ridge: tuple[float, float], owner: str) -> Views:
    """Two tables in the principal axes of their feature spaces."""
    vx, vy = x.view(ridge[0]), y.view(ridge[1])
    K = (vx.V / vx.s).T @ (x.F.T @ y.F) @ (vy.V / vy.s)
    return Views(vx, vy, K, "kernel", owner)


def _axes(tiles: Tiles, n_jobs: int | None, owner: str) -> tuple[Eigenpairs, np.ndarray]:
    """Eigenpairs of the centred kernel matrix that are above rounding, and the column means of K."""
    check_symmetric(tiles, owner)
    K = matrix(tiles, tiles.X.dtype, n_jobs)
    largest = float(np.abs(K).max())
    rounding = 8 * np.sqrt(len(K)) * float(np.finfo(K.dtype).eps) * largest  # of a matrix of rounded entries
    Kc, means = center_kernel(K, overwrite=True)
    pairs = eigenpairs(Kc, len(Kc), owner=owner)
    floor = max(rounding, len(K) * _EPS * max(float(pairs.values[0]), 0.0))
    if not tiles.kernel.is_psd and pairs.values[-1] < -max(floor, 1e-6 * max(float(pairs.values[0]), 0.0)):
        warn(
            f"{owner}: the kernel is not positive semidefinite on these rows (smallest eigenvalue "
            f"{pairs.values[-1]:.3g}, largest {pairs.values[0]:.3g}); negative eigenvalues are left out."
        )
    keep = pairs.values > floor
    vectors = pairs.vectors[:, keep]
    # They sum to zero up to rounding over l: with l near the floor, the remainder would be multiplied by 1 / sqrt(l) in
    # the scores of a new row.
    vectors -= vectors.mean(axis=0)
    return Eigenpairs(pairs.values[keep], vectors, pairs.residuals[keep], pairs.solver), means.columns

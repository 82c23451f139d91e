"""Principal axes in feature space from all rows: the dense and the matrix-free solver of `KernelPCA`.

An axis is u = sum over some rows b of P_b phi(x_b), the centre is m = sum of c_b phi(x_b), and the score of a row is
z = u'(phi(x) - m) = (k(x) - offset) P. Here b are all rows; in `_landmarks` they are few.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse.linalg import LinearOperator

from lowdim._core.extend import Nystrom
from lowdim._core.gpu.device_rows import on_host
from lowdim._core.runtime import threads
from lowdim._core.scaling.centring import center_kernel
from lowdim._core.spectrum import Eigenpairs, eigenpairs
from lowdim._core.spectrum.eigenvalues import all_eigenvalues, positive_part
from lowdim._core.spectrum.problem import dense_product
from lowdim.spectral.kernel._kernel_tiles import Tiles, each_block, matrix, product, tiles_of
from lowdim.spectral.kernel._on_device import DeviceTiles

OWNER = "KernelPCA"
CENTRED = 4000  # rows up to which the matrix is centred in place, so that all solvers can be used, LAPACK too
SINGLE = 12_000  # float64 rows from which the kernel matrix (1.2 GB here) is stored in float32
_SAMPLE = 300  # rows whose kernel matrix gives an estimate of the largest eigenvalue

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Axes:
    """Axes in feature space, and the scores of the fitted rows on them.

    `values` are sums of squared scores, `spread` holds |phi(x) - m|² of the fitted rows, `own` and `total` are the
    sums of k(x, x) and of |phi(x) - m|²; `basis` are the rows b (None: all), `lost` the share of `total` outside their
    span.
    """

    values: Array
    scores: Array
    spread: Array
    extension: Nystrom
    center: Array
    center_norm: float
    own: float
    total: float
    basis: Array | None = None
    lost: float | None = None


class CentredKernel(LinearOperator):
    """H K H as an operator: K computed again for each product, or stored, possibly in lower precision than the rows.

    `precise` has the precision of the rows in each case; its last product is kept, as the scores follow from it.
    """

    def __init__(self, tiles: Tiles, n_jobs: int | None, stored: Array | None = None) -> None:
        super().__init__(tiles.X.dtype if stored is None else stored.dtype, (tiles.n, tiles.n))
        self.tiles, self.n_jobs, self.stored = tiles, n_jobs, stored
        self._last: tuple[Array, Array] | None = None

    def _matmat(self, Y: Array) -> Array:
        Y = _centred(np.asarray(Y))
        return _centred(self._raw(Y) if self.stored is None else dense_product(self.stored, Y))

    def _matvec(self, y: Array) -> Array:
        return self._matmat(np.reshape(y, (-1, 1)))

    def _adjoint(self) -> CentredKernel:
        return self

    def precise(self, Y: Array) -> Array:
        """H K H Y from values in the precision of the rows."""
        Y = _centred(Y)
        self._last = Y, self._raw(np.column_stack([Y, np.full(len(Y), 1 / len(Y))]))
        return _centred(self._last[1][:, :-1])

    def applied(self, Y: Array) -> tuple[Array, Array]:
        """K Y and the column means of K; from the last product where Y is in the span of what was multiplied."""
        if self._last is not None:
            basis, found = self._last
            inside = basis.T @ Y
            if np.abs(basis @ inside - Y).max() <= 1e-13 * np.abs(Y).max():
                return found[:, :-1] @ inside, found[:, -1]
        self.precise(Y)
        return self._last[1][:, :-1], self._last[1][:, -1]  # type: ignore[index]

    def _raw(self, Y: Array) -> Array:
        if isinstance(self.tiles, DeviceTiles):
            return self.tiles.product(Y)
        K = self.stored
        if K is None or K.dtype != self.tiles.X.dtype:
            return product(self.tiles, Y, self.n_jobs)
        if K.dtype == np.float64:
            return dense_product(K, Y)
        return np.concatenate(threads.map_rows(lambda rows: K[rows].astype(np.float64) @ Y, len(K), 128, self.n_jobs))


def _centred(Y: Array) -> Array:
    return Y - Y.mean(axis=0)


def rounding_of(tiles: Tiles) -> float:
    """The size of eigenvalues that are rounding errors of the kernel's values."""
    eps = 4 * np.finfo(tiles.X.dtype).eps * np.sqrt(tiles.n) + np.finfo(np.float64).eps * tiles.n
    return float(eps * np.abs(tiles.diag()).max(initial=0.0))


def dense(tiles: Tiles, k: int | None, rng: np.random.Generator, n_jobs: int | None) -> Axes:
    """All of K in memory."""
    if tiles.n <= CENTRED or k is None:
        return _by_matrix(tiles, k, rng, n_jobs)
    rounded = tiles.X.dtype == np.float64 and tiles.n > SINGLE
    dtype, shift = (np.dtype(np.float32), _rough_means(tiles, rng)) if rounded else (tiles.X.dtype, None)
    return _by_products(CentredKernel(tiles, n_jobs, matrix(tiles, dtype, n_jobs, shift=shift)), k, rng)


def operator(tiles: Tiles, k: int | None, rng: np.random.Generator, n_jobs: int | None) -> Axes:
    """K is computed again for every product and never stored."""
    return _by_products(CentredKernel(tiles, n_jobs), k, rng)


def _by_matrix(tiles: Tiles, k: int | None, rng: np.random.Generator, n_jobs: int | None) -> Axes:
    """Eigenpairs of the centred matrix itself."""
    K = matrix(tiles, tiles.X.dtype, n_jobs)
    own = float(np.trace(K, dtype=np.float64))
    Kc, means = center_kernel(K, overwrite=True)
    spread = np.diagonal(Kc).astype(np.float64)
    total = max(float(spread.sum()), 0.0)
    pairs = eigenpairs(Kc, tiles.n if k is None else min(k, tiles.n), rng=rng, owner=OWNER)
    pairs = positive_part(pairs, k, rounding=rounding_of(tiles), owner=OWNER)
    vectors = _centred(pairs.vectors)  # exactly, else the mean of K enters the small axes
    scores = vectors * np.sqrt(pairs.values)
    extension = Nystrom.of(pairs.values, vectors, means.columns)
    return Axes(pairs.values, scores, spread, extension, np.full(tiles.n, 1 / tiles.n), means.total, own, total)


def _by_products(A: CentredKernel, k: int | None, rng: np.random.Generator) -> Axes:
    """Eigenpairs from products; scores are K times the axes, what `transform` gives."""
    tiles, n = A.tiles, A.tiles.n
    norm, floor, wanted = _size(tiles, rng), rounding_of(tiles), n if k is None else min(k, n)
    if norm > floor:
        few = 8 * wanted < n and n > CENTRED
        pairs = eigenpairs(A, wanted, solver="block" if few else "auto", rng=rng, norm=norm, owner=OWNER)
    else:  # all rows have the same image
        pairs = Eigenpairs(np.zeros(wanted), np.zeros((n, wanted)), np.zeros(wanted), "none")
    pairs = positive_part(pairs, k, rounding=floor, owner=OWNER)

    axes = Nystrom.of(pairs.values, _centred(pairs.vectors), np.zeros(n)).projection
    scores, offset = A.applied(axes)
    mean, own = float(offset.mean()), tiles.diag()
    center, total = np.full(n, 1 / n), max(float(own.sum()) - n * mean, 0.0)
    spread = own - 2 * offset + mean
    return Axes(pairs.values, _centred(scores), spread, Nystrom(offset, axes), center, mean, float(own.sum()), total)


def _sampled(tiles: Tiles, rng: np.random.Generator) -> Array:
    return np.sort(rng.choice(tiles.n, min(tiles.n, _SAMPLE), replace=False))


def _size(tiles: Tiles, rng: np.random.Generator) -> float:
    """An estimate of the largest eigenvalue of the centred kernel, from some rows."""
    some = _sampled(tiles, rng)
    given = tiles.X[np.ix_(some, some)] if tiles.kernel.pairwise else tiles.kernel(on_host(tiles.X[some]))
    Kc, _ = center_kernel(np.asarray(given, dtype=np.float64))
    return float(np.abs(all_eigenvalues(Kc, owner=OWNER)).max()) * tiles.n / len(some)


def _rough_means(tiles: Tiles, rng: np.random.Generator) -> Array:
    """k(x, .) averaged over some rows, less half the average of all."""
    some = _sampled(tiles, rng)
    if tiles.kernel.pairwise:
        means = tiles.X[:, some].mean(axis=1)
    else:
        few = tiles_of(tiles.kernel, tiles.X[some])
        means = np.concatenate(each_block(few, tiles.X, lambda values, _: values.mean(axis=1)))
    return means - means.mean() / 2

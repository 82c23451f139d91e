"""Principal axes in feature space in the span of few rows: Nystrom's, and those of sparse kernel PCA."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from lowdim._core.distances import as_rows
from lowdim._core.extend import Nystrom
from lowdim._core.gpu.device_rows import on_host
from lowdim._core.kernels.preimage import shifted
from lowdim._core.landmarks.choose import choose
from lowdim._core.landmarks.in_stream import Marked
from lowdim._core.runtime import threads
from lowdim._core.scaling.centring import center_kernel
from lowdim._core.spectrum import eigenpairs
from lowdim._core.spectrum.eigenvalues import all_eigenvalues, positive_part
from lowdim.spectral.kernel._axes import OWNER, Axes, rounding_of
from lowdim.spectral.kernel._kernel_tiles import Tiles, each_block, matrix, tiles_of
from lowdim.spectral.kernel._on_device import DeviceTiles
from lowdim.spectral.kernel._sparse_kernel import Weights, fit_weights, weights_of_few

Array = np.ndarray
_LANES = 8  # partial sums; a fixed number, so that bits do not depend on the number of threads
_BLOCK = 512  # rows of a block


def chosen(X: Any, m: int, method: str, holes: Any, rng: np.random.Generator, marked: Marked | None = None) -> Array:
    """The m landmarks: by the method, or those that were chosen from a stream."""
    if marked is not None:
        return marked.positions
    if m >= X.shape[0]:
        return np.arange(X.shape[0])
    return np.sort(choose(X if holes is None else holes.rows(X), m, method=method, rng=rng, owner=OWNER))


def nystrom(
    tiles: Tiles,
    basis: Array,
    k: int | None,
    rng: np.random.Generator,
    n_jobs: int | None,
    marked: Marked | None = None,
    shift: Any = None,
) -> Axes:
    """Axes within the span of some rows, the landmarks: PCA of F = K_nm K_mm^-1/2.

    Directions of K_mm with zero eigenvalues are left out. Exact where all rows are landmarks. With `marked`, of all
    rows of a stream that can be read again, less `shift`.
    """
    X = tiles.X
    few = tiles_of(tiles.kernel, on_host(X[basis]))
    root = _inverse_root(matrix(few, np.float64, n_jobs), X.dtype, rng)
    start = root.T @ np.asarray(few.kernel(few.X), dtype=np.float64).mean(axis=0)  # close to the mean, for precision
    if marked is not None and marked.blocks is not None:
        sums = marked.blocks.gather(partial(FewSums.of, few=few, root=root, start=start, shift=shift))
    else:
        sums = FewSums.of_tiles(few, tiles, root, start, n_jobs)
    n, own = sums.n, sums.own
    scatter, mean, offset, inside = sums.moments(start)

    pairs = eigenpairs(scatter, len(scatter) if k is None else min(k, len(scatter)), rng=rng, owner=OWNER)
    pairs = positive_part(pairs, k, rounding=rounding_of(few) * np.sqrt(n / few.n), owner=OWNER)
    extension, center, norm = Nystrom(offset, root @ pairs.vectors), root @ mean, float(mean @ mean)
    scores, spread = _scored(tiles, few, extension, center, norm, n_jobs)

    total = max(own - n * norm, 0.0)
    lost = max(own - inside, 0.0) / total if total > 0 else 0.0
    return Axes(pairs.values, scores, spread, extension, center, norm, own, total, basis, lost)


def _scored(
    tiles: Tiles, few: Tiles, extension: Nystrom, center: Array, norm: float, n_jobs: int | None
) -> tuple[Array, Array]:
    """Scores of all rows, and their squared distances in feature space from the centre."""
    own = tiles.diag()
    if isinstance(tiles, DeviceTiles):
        scores, products = tiles.scored(few, extension, center)
        return scores, own - 2 * products + norm

    def score(values: Array, part: slice) -> tuple[Array, Array]:
        return extension(values), own[part] - 2 * (values.astype(np.float64, copy=False) @ center) + norm

    found, spread = zip(*each_block(few, tiles.X, score, n_jobs), strict=True)
    return np.concatenate(found), np.concatenate(spread)


def _inverse_root(K: Array, dtype: Any, rng: np.random.Generator) -> Array:
    """B with B'KB = I on the span of the rows: eigenvectors over the roots of their eigenvalues, without tiny ones.

    Where K has negative eigenvalues, positive ones of their size are left out too.
    """
    pairs = eigenpairs(K, len(K), rng=rng, owner=OWNER)
    rounding = len(K) * float(np.finfo(dtype).eps) * max(float(pairs.values[0]), 0.0)
    good = pairs.values > max(rounding, -float(pairs.values[-1]))
    good[0] = True
    return pairs.vectors[:, good] / np.sqrt(np.maximum(pairs.values[good], np.finfo(np.float64).tiny))


@dataclass(frozen=True, eq=False)
class FewSums:
    """Sums over rows, which can be added: of F = K_nm root about `start`, of K_nm, and of k(x, x)."""

    n: int
    scatter: Array
    shift: Array
    column: Array
    inside: float
    own: float

    @classmethod
    def of_tiles(cls, few: Tiles, tiles: Tiles, root: Array, start: Array, n_jobs: int | None) -> FewSums:
        """Of rows in memory."""
        if isinstance(tiles, DeviceTiles):
            sums = tiles.moments(few, root, start)
        else:
            sums = _sums(few, tiles.X, root, start, n_jobs)
        scatter, total, column, inside = sums
        return cls(tiles.n, scatter, total, column, inside, float(tiles.diag().sum()))

    @classmethod
    def of(cls, block: Any, few: Tiles, root: Array, start: Array, shift: Any) -> FewSums:
        """Of one block of a stream."""
        rows = shifted(as_rows(block, OWNER).astype(few.X.dtype, copy=False), shift)
        with threads.single_blas():
            scatter, total, column, inside = _sums(few, rows, root, start, 1)
        own = float(np.asarray(few.kernel.diag(rows), dtype=np.float64).sum())
        return cls(rows.shape[0], scatter, total, column, inside, own)

    def __add__(self, other: FewSums) -> FewSums:
        """Of the rows of both."""
        mine, theirs = (tuple(getattr(one, name) for name in self.__dataclass_fields__) for one in (self, other))
        return FewSums(*(a + b for a, b in zip(mine, theirs, strict=True)))

    def moments(self, start: Array) -> tuple[Array, Array, Array, float]:
        """Scatter about the mean and mean of F, column means of K_nm, and the sum of squares of F."""
        shift, n = self.shift, self.n
        return (
            self.scatter - np.outer(shift, shift) / n, start + shift / n, self.column / n, float(self.inside)
        )  # fmt: skip


def _sums(few: Tiles, X: Any, root: Array, start: Array, n_jobs: int | None) -> tuple[Any, ...]:
    """About `start`: scatter and sum of F, column sums of K_nm, and the sum of squares of F."""
    borders = [X.shape[0] * i // _LANES for i in range(_LANES + 1)]

    def lane(which: slice) -> tuple[Any, ...]:
        scatter, shift, column, inside = np.zeros((len(start), len(start))), 0.0, 0.0, 0.0

        def add(values: Array, part: slice) -> None:
            nonlocal scatter, shift, column, inside
            F = values.astype(np.float64, copy=False) @ root
            inside += np.vdot(F, F)
            F -= start
            scatter += F.T @ F
            shift, column = shift + F.sum(axis=0), column + values.sum(axis=0, dtype=np.float64)

        each_block(few, X[borders[which.start] : borders[which.stop]], add, 1, _BLOCK)
        return scatter, shift, column, inside

    found = threads.map_rows(lane, _LANES, 1, n_jobs)
    return tuple(sum(parts) for parts in zip(*found, strict=True))


def sparse(
    tiles: Tiles, some: Array, k: int | None, noise: float | None, n_basis: int | None, n_jobs: int | None
) -> tuple[Axes, Weights]:
    """Axes of the covariance s²I + sum of w_i phi_i phi_i' with few w_i that are not zero, fitted to `some` rows.

    The axes are those of W^1/2 K W^1/2 about the centre, the mean of all rows projected onto the span of the rows kept;
    so a new row is compared with these alone.
    """
    sample = tiles_of(tiles.kernel, tiles.X[some])
    Kc, _ = center_kernel(matrix(sample, np.float64, n_jobs), overwrite=True)
    Kc, largest = _positive(Kc)
    variance = max(largest / len(some), float(np.finfo(np.float64).tiny))
    if noise is None:
        fitted = weights_of_few(Kc, variance, n_basis or len(some), owner=OWNER)
    else:
        fitted = fit_weights(Kc, noise * variance, n_basis, owner=OWNER)
    kept = np.flatnonzero(fitted.weights)
    basis = some[kept]

    few = tiles_of(tiles.kernel, tiles.X[basis])
    K = matrix(few, np.float64, n_jobs)
    offset = sum(each_block(few, tiles.X, lambda values, _: values.sum(axis=0, dtype=np.float64), n_jobs)) / tiles.n
    root = _inverse_root(K, tiles.X.dtype, np.random.default_rng(0))
    center = root @ (root.T @ offset)
    return _weighted(tiles, few, K, offset, center, fitted.weights[kept], k, basis, n_jobs), fitted


def _positive(Kc: Array) -> tuple[Array, float]:
    """The nearest positive semi-definite matrix, as the weights need, and its largest eigenvalue."""
    values = all_eigenvalues(Kc, owner=OWNER)
    if values[-1] >= -1e-9 * max(values[0], 0.0):
        return Kc, float(values[0])
    pairs = eigenpairs(Kc, len(Kc), owner=OWNER)
    F = pairs.vectors * np.sqrt(np.maximum(pairs.values, 0.0))
    return F @ F.T, float(values[0])


def _weighted(
    tiles: Tiles, few: Tiles, K: Array, offset: Array, center: Array, w: Array, k: int | None, basis: Array, n_jobs: Any
) -> Axes:
    """The leading eigenvectors of W^1/2 K~ W^1/2, K~ the kernel about the centre, as axes with their scores."""
    at_center, norm = K @ center, float(center @ K @ center)
    about = K - at_center - at_center[:, None] + norm
    size = np.sqrt(w)
    pairs = eigenpairs(size[:, None] * about * size, len(w) if k is None else min(k, len(w)), owner=OWNER)
    pairs = positive_part(pairs, k, rounding=rounding_of(few) / tiles.n, owner=OWNER)
    P = Nystrom.of(pairs.values, size[:, None] * pairs.vectors, offset).projection
    P = P - np.outer(center, P.sum(axis=0))  # an axis is a sum of phi_i - m
    extension = Nystrom(at_center, P)
    scores, spread = _scored(tiles, few, extension, center, norm, n_jobs)
    own, total = float(tiles.diag().sum()), max(float(spread.sum()), 0.0)
    values = np.square(scores, dtype=np.float64).sum(axis=0)
    order = np.argsort(-values, kind="stable")
    extension = Nystrom(at_center, P[:, order])
    return Axes(values[order], scores[:, order], spread, extension, center, norm, own, total, basis)

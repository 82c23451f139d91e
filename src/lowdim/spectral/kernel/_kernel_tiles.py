"""Kernel values among many rows, tile by tile: as a matrix, or as products with one that is never stored.

A kernel that computes one block prepares its rows each time. `tiles_of` prepares them once; a tile is then a matrix
product and, for the Gaussian, one pass over the tile while it is in the cache. Among the rows themselves only the
tiles on and above the diagonal are computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from lowdim import _native
from lowdim._core.distances import LOSS, excess, origin, row_pairs, scaled, squared_norms
from lowdim._core.gpu.device_rows import on_host
from lowdim._core.kernels import RBF, Kernel, Precomputed
from lowdim._core.runtime import threads

Array = np.ndarray
TILE = 512  # rows and columns of a tile: 2 MB in float64, the size of a second-level cache
LANES = 16  # partial sums; a fixed number, so that bits do not depend on the number of threads


@dataclass(frozen=True, eq=False)
class Tiles:
    """Any kernel: `values(rows)(columns)` is the tile of these rows against those fitted rows."""

    kernel: Kernel
    X: Any

    @property
    def n(self) -> int:
        return self.X.shape[0]

    def values(self, rows: Any) -> Callable[[slice], Array]:
        """Tiles of new rows."""
        return lambda columns: self.kernel(rows, self.X[columns])

    def own(self, rows: slice) -> Callable[[slice], Array]:
        """Tiles of fitted rows."""
        left = self.X[rows]
        return lambda columns: self.kernel(left) if columns == rows else self.kernel(left, self.X[columns])

    def diag(self) -> Array:
        """k(x, x) of the fitted rows, in float64."""
        return np.asarray(self.kernel.diag(self.X), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class GivenTiles(Tiles):
    """Precomputed values, or multiples and powers of them."""

    def values(self, rows: Any) -> Callable[[slice], Array]:
        given = self.kernel(rows)
        return lambda columns: given[:, columns]

    def own(self, rows: slice) -> Callable[[slice], Array]:
        given = self.X[rows]
        return lambda columns: given[:, columns]

    def diag(self) -> Array:
        return np.asarray(self.X.diagonal(), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class GaussianTiles(Tiles):
    """The Gaussian on dense rows, whose centred form and norms are computed once."""

    center: Array
    centred: Array
    norms: Array

    def values(self, rows: Array) -> Callable[[slice], Array]:
        rows = np.ascontiguousarray(rows, dtype=self.X.dtype)
        left = scaled(rows, np.ones(len(rows)), self.center)
        return self._against(rows, left, squared_norms(left).astype(left.dtype))

    def own(self, rows: slice) -> Callable[[slice], Array]:
        return self._against(self.X[rows], self.centred[rows], self.norms[rows])

    def _against(self, rows: Array, left: Array, norms: Array) -> Callable[[slice], Array]:
        gamma, tol, ones = self.kernel.gamma, LOSS[left.dtype], np.ones(max(len(rows), self.n))  # type: ignore[attr-defined]

        def tile(columns: slice) -> Array:
            block = left @ self.centred[columns].T
            pairs = row_pairs(rows, self.X[columns], ones[: len(rows)], ones[: block.shape[1]])
            pairs.from_products(norms, self.norms[columns], tol, False, block)
            _native.decay(block.reshape(-1), gamma)
            return block

        return tile


def tiles_of(kernel: Kernel, X: Any) -> Tiles:
    """The kernel on the rows of X, prepared."""
    X = on_host(X)
    if kernel.pairwise:
        ready = X.size == 0 or (type(kernel) is Precomputed and not sparse.issparse(X))
        return GivenTiles(kernel, X if ready else kernel(X))
    single = X.dtype == np.float32
    plain = type(kernel) is not RBF or sparse.issparse(X) or X.size == 0
    if plain or excess(X, 50 if single else 300) or not 1e-30 < kernel.gamma < 1e30:  # type: ignore[attr-defined]
        return Tiles(kernel, X)
    X = np.ascontiguousarray(X)
    center = origin(X)
    centred = scaled(X, np.ones(len(X)), center)
    return GaussianTiles(kernel, X, center, centred, squared_norms(centred).astype(X.dtype))


def matrix(tiles: Tiles, dtype: Any, n_jobs: int | None = None, *, shift: Array | None = None) -> Array:
    """All values among the rows, symmetric to the last bit; less shift_i + shift_j where given, which centring removes.

    With about the means as shift, values rounded to float32 keep the digits that matter after centring.
    """
    K = np.empty((tiles.n, tiles.n), dtype=dtype)
    parts = threads.blocks(tiles.n, TILE)
    pairs = [(i, j) for i in range(len(parts)) for j in range(i, len(parts))]

    def fill(which: slice) -> None:
        i, j = pairs[which.start]
        tile = tiles.own(parts[i])(parts[j])
        if shift is not None:
            tile = tile - shift[parts[i], None] - shift[parts[j]]
        if i == j:
            tile = np.triu(tile) + np.triu(tile, 1).T
        K[parts[i], parts[j]] = tile
        K[parts[j], parts[i]] = tile.T

    threads.map_rows(fill, len(pairs), 1, n_jobs)
    return K


def product(tiles: Tiles, Y: Array, n_jobs: int | None = None) -> Array:
    """K Y in float64 sums, without storing K."""
    parts = threads.blocks(tiles.n, TILE)
    lanes = list(_lanes(len(parts)))
    Y = np.ascontiguousarray(Y, dtype=tiles.X.dtype)

    def add(which: slice) -> Array:
        out = np.zeros(Y.shape)
        for i in lanes[which.start]:
            tile_of = tiles.own(parts[i])
            for j in range(i, len(parts)):
                tile = tile_of(parts[j])
                out[parts[i]] += tile @ Y[parts[j]]
                if j > i:
                    out[parts[j]] += tile.T @ Y[parts[i]]
        return out

    total, *others = threads.map_rows(add, len(lanes), 1, n_jobs)
    for other in others:
        total += other
    return total


def n_lanes(n: int) -> int:
    """How many partial sums there are for n rows."""
    return len(list(_lanes(len(threads.blocks(n, TILE)))))


def _lanes(n_parts: int) -> Iterator[list[int]]:
    """Rows of tiles distributed so that each lane has long and short ones."""
    lanes = min(LANES, -(-n_parts // 2))
    for lane in range(lanes):
        yield [i for i in range(n_parts) if lane in (i % (2 * lanes), 2 * lanes - 1 - i % (2 * lanes))]


def each_block(
    tiles: Tiles, rows: Any, work: Callable[[Array, slice], Any], n_jobs: int | None = None, size: int | None = None
) -> list[Any]:
    """`work(values, part)` on the values of consecutive blocks of new rows against all fitted rows."""
    everything = slice(0, tiles.n)
    size = size or max(64, min(TILE, 2**22 // tiles.n))  # 32 MB in float64

    def one(part: slice) -> Any:
        return work(tiles.values(rows[part])(everything), part)

    return threads.map_rows(one, rows.shape[0], size, n_jobs)

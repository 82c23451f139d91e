"""White samples that stay in their blocks: every step of ICA is a sum over them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from lowdim._core.runtime import threads
from lowdim.linear._contrast import Contrast
from lowdim.linear._decompose import decompose_moments
from lowdim.linear._whitened import Averages, White, WhitenedRows
from lowdim.linear.in_blocks.sums import moments_of_stream, rows_of

Array = np.ndarray

CHUNK = 4096  # samples that a worker has as sources at a time


@dataclass(frozen=True, eq=False)
class WhiteBlocks:
    """Samples z = matrix (x - mean) of rows in blocks, with the methods of `White`."""

    stream: Any
    matrix: Array
    mean: Array
    n: int
    n_jobs: int | None

    @property
    def k(self) -> int:
        """Number of directions."""
        return len(self.matrix)

    @property
    def dtype(self) -> np.dtype:
        """Precision of the samples."""
        return np.dtype(np.float64)

    def averages(self, W: Array, contrast: Contrast) -> Averages:
        """One pass over the blocks."""
        found = self.stream.gather(partial(_sums, W=W, contrast=contrast, matrix=self.matrix, mean=self.mean))
        k = self.k
        cross, slope, value = found[:, :k], found[:, k], found[:, k + 1]
        if not np.isfinite(cross).all() or not np.isfinite(slope).all():
            raise ValueError("ICA: fun must return finite numbers; got NaN or infinity.")
        return Averages(cross / self.n, slope / self.n, value / self.n)

    def sample(self, m: int, rng: np.random.Generator) -> White:
        """So many of the samples in this memory, drawn without replacement, in single precision."""
        drawn = np.sort(rng.choice(self.n, m, replace=False))
        Z = _samples(self.stream.at(drawn)[0], self.matrix, self.mean).astype(np.float32)
        width = max(64, CHUNK // 64 * 64)
        return White(tuple(np.ascontiguousarray(Z[:, rows]) for rows in threads.blocks(m, width)), m, self.n_jobs)


def _samples(block: Any, matrix: Array, mean: Array) -> Array:
    return matrix @ (rows_of(block, "ICA", len(mean)) - mean).T


def _sums(block: Any, W: Array, contrast: Contrast, matrix: Array, mean: Array) -> Array:
    """Sums of g(y) z', g'(y) and G(y) over a block, side by side."""
    total = np.zeros((len(W), len(matrix) + 2))
    with threads.single_blas():
        Z = _samples(block, matrix, mean)
        for part in threads.blocks(Z.shape[1], CHUNK):
            here = np.ascontiguousarray(Z[:, part])
            Y = W @ here
            slope, value = contrast.sums(Y)
            total[:, :-2] += Y @ here.T
            total[:, -2] += slope
            total[:, -1] += value
    return total


def whiten_blocks(stream: Any, wanted: Any, n_jobs: int | None) -> WhitenedRows:
    """The leading principal scores of all rows scaled to variance 1; `wanted(n, d)` says how many."""
    moments, _ = moments_of_stream(stream, "ICA", 2, n_jobs)
    d, n = len(moments.mean), int(moments.weight)
    k = wanted(n, d)
    found = decompose_moments(moments, k, scale=False, ddof=0, dtype=np.float64)
    if not found.variances[0] > (np.finfo(np.float64).eps * np.abs(found.mean).max()) ** 2:
        raise ValueError("ICA: X must vary from row to row; all rows are equal.")
    rank = int((found.variances[:k] > found.rank_tolerance * found.variances[0]).sum())
    matrix = found.loadings[:rank] / np.sqrt(found.variances[:rank])[:, None]
    white: Any = WhiteBlocks(stream, matrix, found.mean, n, n_jobs)
    return WhitenedRows(white, matrix, found.mean)

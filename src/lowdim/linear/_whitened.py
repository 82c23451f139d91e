"""Rows rotated and scaled to unit covariance, kept in blocks that fit the cache."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

import numpy as np

from lowdim._core.extend import centred
from lowdim._core.incomplete.moments import JointGaussian, expected_moments
from lowdim._core.runtime import threads
from lowdim._core.runtime.notices import warn
from lowdim._core.spectrum import Moments, eigenpairs
from lowdim.linear._contrast import Contrast
from lowdim.linear._decompose import Rows, Spectrum, decompose, decompose_moments, pick_solver

Array = np.ndarray

BLOCK_CELLS = 2**15  # of the samples multiplied at once: with their sources they fit the second-level cache
KNOWN = 0.9  # share of the variance of its scores that must be known of a row for it to enter the rotation
LEAST_ROWS = 50  # rows per direction that enter it all the same, the best known first
LANES = 16  # independent sums, so that the bits do not depend on the number of threads


@dataclass(frozen=True, eq=False)
class Averages:
    """E[g(y) z'], E[g'(y)] and E[G(y)] for sources y = W z."""

    cross: Array
    slope: Array
    value: Array


@dataclass(frozen=True, eq=False)
class White:
    """Samples z with E[z z'] = I (divisor n), in blocks of (directions, samples)."""

    blocks: tuple[Array, ...]
    n: int
    n_jobs: int | None

    @property
    def k(self) -> int:
        """Number of directions."""
        return self.blocks[0].shape[0]

    @property
    def dtype(self) -> np.dtype:
        """Precision of the samples; sums over blocks are float64."""
        return self.blocks[0].dtype

    def averages(self, W: Array, contrast: Contrast) -> Averages:
        """One pass over the samples."""
        wide = W.astype(self.dtype)

        def lane(part: slice) -> tuple[Array, Array, Array]:
            cross, slope, value = np.zeros(W.shape), np.zeros(len(W)), np.zeros(len(W))
            room = np.empty(
                (len(W), self.blocks[0].shape[1]), dtype=self.dtype
            )  # used for all blocks, so that it stays cached
            for Z in self.blocks[part]:
                Y = np.matmul(wide, Z, out=room if Z.shape[1] == room.shape[1] else None)
                slopes, values = contrast.sums(Y)
                cross += Y @ Z.T
                slope += slopes
                value += values
            return cross, slope, value

        parts = threads.map_rows(lane, len(self.blocks), -(-len(self.blocks) // LANES), self.n_jobs)
        found = Averages(*(np.sum(sums, axis=0) / self.n for sums in zip(*parts, strict=True)))
        if not np.isfinite(found.cross).all() or not np.isfinite(found.slope).all():
            raise ValueError("ICA: fun must return finite numbers; got NaN or infinity.")
        return found

    def sample(self, m: int, rng: np.random.Generator) -> White:
        """So many of the samples, drawn without replacement, in single precision."""
        drawn, width = np.sort(rng.choice(self.n, m, replace=False)), self.blocks[0].shape[1]
        borders = np.searchsorted(drawn, np.arange(len(self.blocks) + 1) * width)
        parts = [
            Z[:, drawn[a:b] - i * width]
            for i, (Z, a, b) in enumerate(zip(self.blocks, borders, borders[1:], strict=False))
        ]
        Z = np.concatenate(parts, axis=1).astype(np.float32)
        return White(tuple(np.ascontiguousarray(Z[:, rows]) for rows in threads.blocks(m, width)), m, self.n_jobs)


@dataclass(frozen=True, eq=False)
class WhitenedRows:
    """The samples, and z = matrix (x - mean)."""

    white: White
    matrix: Array  # (k, d)
    mean: Array
    model: JointGaussian | None = None  # of incomplete rows


def whiten(X: Array, k: int, n_jobs: int | None, rng: np.random.Generator) -> WhitenedRows:
    """The k leading principal scores of X scaled to variance 1 (divisor n); fewer where X varies in fewer."""
    found = _spectrum(X, k, n_jobs, rng)
    values, rounding = found.variances, float(np.finfo(X.dtype).eps) * np.abs(found.mean).max()
    if not values[0] > rounding**2:  # the variance of equal rows is rounding
        raise ValueError("ICA: X must vary from row to row; all rows are equal.")
    least = max(found.rank_tolerance, (16 * float(np.finfo(X.dtype).eps)) ** 2) * values[0]
    rank = int((values > max(least, rounding**2)).sum())
    matrix = found.loadings[:rank] / np.sqrt(values[:rank])[:, None]
    blocks = _project(X, found.mean, matrix, n_jobs)
    # Small eigenvalues of a covariance are less accurate than large ones; the covariance of the scores corrects them.
    C = sum(threads.map_rows(lambda part: _scatter(blocks[part]), len(blocks), 64, n_jobs)) / len(X)
    pairs = eigenpairs(C, rank, owner="ICA")
    matrix = (pairs.vectors / np.sqrt(pairs.values)) @ pairs.vectors.T @ matrix
    if np.abs(C - np.eye(rank)).max() > max(1e-6, 1000 * np.finfo(X.dtype).eps):
        blocks = _project(X, found.mean, matrix, n_jobs)
    return WhitenedRows(White(blocks, len(X), n_jobs), matrix, found.mean)


def given(X: Array, n_jobs: int | None) -> WhitenedRows:
    """Rows that are white already, as they are; a warning where they are not."""
    d = X.shape[1]
    blocks = _project(X, np.zeros(d), np.eye(d), n_jobs)
    off = float(np.abs(np.cov(X.T, bias=True).reshape(d, d) - np.eye(d)).max())
    off = max(off, float(np.abs(X.mean(axis=0)).max()))
    if off > 0.1:
        warn(
            f"ICA: whiten=False takes the columns to have mean 0, variance 1 and no correlations; a mean or covariance "
            f"is off by {off:.2g}, and the sources are wrong then. Use whiten=True, or lowdim.Whitening first."
        )
    return WhitenedRows(White(blocks, len(X), n_jobs), np.eye(d), np.zeros(d))


def whiten_incomplete(X: Array, k: int, n_jobs: int | None) -> WhitenedRows:
    """Of incomplete rows: the whitening map from the moments of EM, the samples from the rows that are known well.

    A conditional mean is nearer to 0 than the score it stands for, and a mixture of both looks peaked. Rows of which
    less than a share `KNOWN` of the variance of the scores is known are left out of the samples.
    """
    found = expected_moments(X, owner="ICA", n_jobs=n_jobs)
    spectrum = decompose_moments(found.parts[0], k, scale=False, ddof=0, dtype=np.float64)
    rank = int((spectrum.variances > spectrum.rank_tolerance * spectrum.variances[0]).sum())
    matrix = spectrum.loadings[:rank] / np.sqrt(spectrum.variances[:rank])[:, None]
    known = found.model.known_share(np.isnan(X), matrix)
    enough = min(KNOWN, float(np.sort(known)[::-1][: LEAST_ROWS * rank][-1]))
    rows = found.model.conditional(X[known >= enough].astype(np.float64))
    blocks = _project(rows, spectrum.mean, matrix, n_jobs)
    samples = np.hstack(blocks)
    samples -= samples.mean(axis=1, keepdims=True)
    pairs = eigenpairs(samples @ samples.T / len(rows), rank, owner="ICA")
    samples = (pairs.vectors / np.sqrt(pairs.values)) @ pairs.vectors.T @ samples
    blocks = tuple(np.ascontiguousarray(samples[:, part]) for part in threads.blocks(len(rows), _width(rank)))
    return WhitenedRows(White(blocks, len(rows), n_jobs), matrix, spectrum.mean, found.model)


def _spectrum(X: Array, k: int, n_jobs: int | None, rng: np.random.Generator) -> Spectrum:
    n, d = X.shape
    few = k <= 0.5 * min(n, d)
    solver = pick_solver(n, d, k, False) if few else ("covariance" if n >= d else "gram")
    if solver == "covariance":
        return decompose_moments(_moments(X, n_jobs), k, scale=False, ddof=0, dtype=np.float64)
    return decompose(Rows.of(X, None, scale=False, ddof=0), k, solver, 1e-8, 1000, rng)


def _moments(X: Array, n_jobs: int | None) -> Moments:
    """In float64 also for float32 rows: their own products lose the directions below a thousandth of the first."""
    if X.dtype == np.float64:
        return Moments.of(X, n_jobs=n_jobs)
    parts = (Moments.of(X[rows].astype(np.float64), n_jobs=n_jobs) for rows in threads.blocks(len(X), 2**16))
    return reduce(Moments.__add__, parts)


def _project(X: Array, mean: Array, matrix: Array, n_jobs: int | None) -> tuple[Array, ...]:
    matrix = matrix.astype(X.dtype)
    return tuple(threads.map_rows(lambda rows: matrix @ centred(X[rows], mean).T, len(X), _width(len(matrix)), n_jobs))


def _width(k: int) -> int:
    """Samples of a block: whole tiles of the compiled loop."""
    return max(4, min(128, BLOCK_CELLS // (64 * k))) * 64


def _scatter(blocks: tuple[Array, ...]) -> Array:
    k = blocks[0].shape[0]
    return sum(((Z @ Z.T).astype(np.float64) for Z in blocks), np.zeros((k, k)))

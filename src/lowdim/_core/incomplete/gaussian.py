"""Linear-Gaussian latent models of rows with missing cells: x = mean + W z + noise, z ~ N(0, I).

Whatever is missing, the rest of a row still has a normal distribution, so nothing is filled in on the way: the
posterior of z needs one r x r matrix a row, I + sum of w_j w_j' / noise_j over its observed cells j. Those of a
block of rows come from one product, of the mask (rows x d) with the d outer products, and the moments that a column
needs come back by the transposed product. No loop runs over rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from lowdim._core.incomplete.batched_linalg import SWEEP, inverses, outer, patterns, times, unpacked
from lowdim._core.runtime import threads

Array = np.ndarray

FLOOR = 1e-8  # least noise variance, as a share of the mean variance of a column; below, digits run out
BLOCK_BYTES = 2**21  # the working arrays of a block stay in the second-level cache
FEW_ROWS, WIDE_BYTES = 64, 2**24  # but products with fewer rows than this are slow, if they take no more than that
LANES = 16  # independent sums, so that the bits do not depend on the number of threads
REFINE = 1e5  # signal over noise from which the posterior means are worked over once more


@dataclass(frozen=True, eq=False)
class Gaussian:
    """N(mean, W W' + diag(noise)), and what it says about rows of which some cells are missing (NaN).

    Attributes
    ----------
    mean : ndarray of shape (d,)
        Of x.
    loadings : ndarray of shape (d, r)
        W.
    noise : float or ndarray of shape (d,)
        Variance of the noise, positive.
    n_jobs : int or None
        Threads; results do not depend on it.

    Examples
    --------
    >>> import numpy as np
    >>> model = Gaussian(np.zeros(2), np.array([[1.0], [1.0]]), 0.5)
    >>> rows, variance = model.conditional(np.array([[3.0, np.nan]]))
    >>> rows.round(6), variance.round(6)
    (array([[3., 2.]]), array([[0.      , 0.833333]]))
    """

    mean: Array
    loadings: Array
    noise: float | Array
    n_jobs: int | None = None

    @property
    def rank(self) -> int:
        """Number of latent coordinates."""
        return self.loadings.shape[1]

    @property
    def covariance(self) -> Array:
        """W W' + diag(noise)."""
        return self.loadings @ self.loadings.T + np.diag(self._noise())

    def scores(self, X: Array) -> Array:
        """Posterior mean of z for each row, from its observed cells."""
        return self._by_rows(X, lambda post: post.z.T, (self.rank,))

    def score_covariance(self, X: Array) -> Array:
        """Posterior covariance of z for each row: (n, r, r)."""
        return self._by_rows(X, lambda post: np.moveaxis(post.full_covariance(), -1, 0), (self.rank, self.rank))

    def conditional(self, X: Array) -> tuple[Array, Array]:
        """Rows with the expectation of each missing cell filled in, and the variance of what was filled in.

        Observed cells come back as they are, with variance 0.
        """
        filled, variance = np.array(X, dtype=np.float64), np.zeros(X.shape)
        products, (i, j) = outer(self.loadings), np.triu_indices(self.rank)
        products[:, i != j] *= 2.0

        def fill(rows: slice) -> None:
            post = self._posterior(X[rows])
            if post.mask is None:
                return
            hole = post.mask == 0.0
            filled[rows][hole] = (self.mean + post.z.T @ self.loadings.T)[hole]
            variance[rows][hole] = (self._noise() + post.full_covariance()[i, j].T @ products.T)[hole]

        threads.map_rows(fill, len(X), self._block(), self.n_jobs)
        return filled, variance

    def log_likelihood(self, X: Array) -> Array:
        """ln p(observed cells) of each row."""
        return self._by_rows(X, lambda post: post.log_likelihood, ())

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        """n rows drawn from the model."""
        z = rng.standard_normal((n, self.rank))
        noise = rng.standard_normal((n, len(self.mean))) * np.sqrt(self._noise())
        return self.mean + z @ self.loadings.T + noise

    def rows(self, Z: Array) -> Array:
        """The rows on the plane mean + W z whose scores are Z: the posterior mean shrinks, this undoes it.

        With G = W'W / noise the scores of a row of the plane are (I + G)^-1 G z, and W G^-1 (I + G) leads back.
        """
        G = self.loadings.T @ (self.loadings / self._noise()[:, None])
        values, turn = np.linalg.eigh(G)
        alive = values > self.rank * np.finfo(np.float64).eps * max(values[-1], np.finfo(np.float64).tiny)
        back = np.where(alive, 1.0 + 1.0 / np.where(alive, values, 1.0), 0.0)
        return self.mean + Z @ ((turn * back) @ turn.T) @ self.loadings.T

    def principal(self) -> tuple[Gaussian, Array]:
        """The same distribution with orthogonal loadings, longest first, and their unit directions (d, r).

        The largest entry of each is positive.
        """
        U, s, _ = np.linalg.svd(self.loadings, full_matrices=False)
        top = np.take_along_axis(U, np.abs(U).argmax(axis=0)[None], axis=0)
        U = np.where(top < 0, -U, U)
        return replace(self, loadings=U * s), U

    def _noise(self) -> Array:
        return np.broadcast_to(np.asarray(self.noise, dtype=np.float64), self.mean.shape)

    def _block(self) -> int:
        d, r = self.loadings.shape
        row = 8 * (3 * d + 2 * r * r)
        return int(np.clip(BLOCK_BYTES // row, np.clip(WIDE_BYTES // row, 16, FEW_ROWS), 8192))

    @cached_property
    def _products(self) -> Array:
        """Packed outer products of the loadings of each column, in units of the noise."""
        return outer(self.loadings / np.sqrt(self._noise())[:, None])

    def _by_rows(self, X: Array, of: object, shape: tuple[int, ...]) -> Array:
        out = np.empty((len(X), *shape))

        def fill(rows: slice) -> None:
            out[rows] = of(self._posterior(X[rows]))  # type: ignore[operator]

        threads.map_rows(fill, len(X), self._block(), self.n_jobs)
        return out

    def _posterior(self, X: Array, share: bool = False) -> Posterior:
        """Of z, for a block of rows; in units of the noise, B = W / sd and y = (x - mean) / sd.

        With `share`, rows that miss the same cells share one large matrix.
        """
        sd = np.sqrt(self._noise())
        B, hole = self.loadings / sd[:, None], np.isnan(X)
        complete, which = not hole.any(), None
        y = X - self.mean
        y /= sd
        if complete:
            M = (B.T @ B)[:, :, None]
            size = np.full(len(X), float(len(sd)))
            logs = np.full(len(X), np.log(sd).sum())
        else:
            np.putmask(y, hole, 0.0)
            mask = (~hole).astype(np.float64)
            first, which = patterns(hole) if share and self.rank > SWEEP else (slice(None), None)
            M = unpacked(self._products.T @ mask[first].T, self.rank)
            size, logs = mask.sum(axis=1), mask @ np.log(sd)
        M += np.eye(self.rank)[:, :, None]
        C, logdet = inverses(M)
        z = times(C, (y @ B).T, which)
        gap = z.T @ B.T
        np.subtract(y, gap, out=gap)  # y'y - z'B'y without its cancellation
        if not complete:
            gap *= mask
        if M.max(initial=0.0) > REFINE:  # what the explicit inverse lost
            change = times(C, (gap @ B).T - z, which)
            z, more = z + change, change.T @ B.T
            gap -= more if complete else more * mask
        square = np.einsum("ij,ij->i", gap, gap)
        traces = np.einsum("kkm->m", C)
        if which is not None:
            logdet, traces = logdet[which], traces[which]
        log_likelihood = -0.5 * (size * np.log(2 * np.pi) + logdet + square + np.einsum("km,km->m", z, z)) - logs
        return Posterior(y, None if complete else mask, z, C, which, log_likelihood, square + self.rank - traces)


@dataclass(frozen=True, eq=False)
class Posterior:
    """What is known about z after a block of m rows was seen; the last axis of z and C runs over rows."""

    y: Array  # (m, d) rows less their mean in units of the noise, 0 where missing
    mask: Array | None  # (m, d) 1 where observed, None where every cell is
    z: Array  # (r, m)
    C: Array  # (r, r, m), (r, r, 1) where all are the same, or one for each pattern of missing cells
    which: Array | None  # (m,) the pattern of each row, None where each row has a matrix of its own or all have one
    log_likelihood: Array  # (m,)
    misfit: Array  # (m,) expected square of (x - mean - W z) / sd over the observed cells

    def full_covariance(self) -> Array:
        """(r, r, m)."""
        if self.which is not None:
            return self.C[:, :, self.which]
        return np.broadcast_to(self.C, (*self.C.shape[:2], self.z.shape[1]))

"""Means, covariances and Gram matrices, centred before they are multiplied.

Subtracting n mu mu' after the product loses every eigenvalue that is small beside the mean: in float32 an
offset of 100 with noise 0.1 leaves no correct digit. Here each chunk of rows is centred at its own mean while
it is in the cache, multiplied, and merged into float64 sums (Chan, Golub and LeVeque, 1983).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from . import threads

Array = np.ndarray

CHUNK_BYTES = 2**21  # rows centred and multiplied at once: they stay in the second-level cache
CHUNK_ROWS = 512  # at least, and six times d: adding a d x d product to the sum costs as much as some hundred rows
WIDE = 400  # columns from which few rows are centred and multiplied at once
LANES = 16  # independent sums, so that the bits do not depend on the number of threads
SERIAL = 1e8  # multiplications below which threads take longer to start than they save
LANE_BYTES = 2**28  # the most memory all lanes together take


@dataclass(frozen=True, eq=False)
class Moments:
    """Total weight, mean and scatter (sum of w (x - mean)(x - mean)') of rows; `a + b` are those of both.

    Adding batch after batch gives what one pass over all rows gives, up to rounding.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.arange(12.0).reshape(6, 2)
    >>> both = Moments.of(X[:2]) + Moments.of(X[2:])
    >>> both.mean
    array([5., 6.])
    >>> bool(np.allclose(both.scatter / 5, np.cov(X.T)))
    True
    """

    weight: float
    mean: Array
    scatter: Array

    @classmethod
    def of(
        cls, X: Array, weights: Array | None = None, *, n_jobs: int | None = None, block: int | None = None
    ) -> Moments:
        """Moments of the rows of X (any array that can be sliced, memory-mapped files included)."""
        if getattr(X, "ndim", 0) != 2 or X.shape[0] == 0:
            raise ValueError(f"Moments: X must have rows and columns; got shape {np.shape(X)}.")
        weights = None if weights is None else _weights(weights, X.shape[0])
        if block is None and X.shape[1] >= WIDE and X.shape[0] < 4 * X.shape[1]:
            return _finite(_of_wide(X, weights, n_jobs))
        chunk = _chunk(*X.shape) if block is None else max(1, block)
        lane = _lane(X.shape[0], X.shape[1], chunk)
        n_jobs = 1 if X.size * X.shape[1] < SERIAL else n_jobs
        parts = threads.map_rows(lambda rows: _of_lane(X, weights, rows, chunk), X.shape[0], lane, n_jobs)
        return _finite(_merged(parts))

    def __add__(self, other: Moments) -> Moments:
        weight = self.weight + other.weight
        if weight == 0:
            return self
        step = other.mean - self.mean
        scatter = self.scatter + other.scatter
        scatter += np.multiply.outer(step * (self.weight * other.weight / weight), step)
        return Moments(weight, self.mean + step * (other.weight / weight), scatter)

    def about(self, center: Array) -> Array:
        """The scatter about another point than the mean."""
        step = self.mean - np.broadcast_to(np.asarray(center, dtype=np.float64), self.mean.shape)
        return self.scatter + np.multiply.outer(self.weight * step, step)


def _finite(moments: Moments) -> Moments:
    if not np.isfinite(moments.mean).all():
        raise ValueError("Moments: X must be finite; it holds NaN or infinity.")
    return moments


def _merged(parts: list[Moments]) -> Moments:
    """The sum of the parts, written over the first: at d = 1,000 a fresh scatter takes longer than an addition."""
    parts = [part for part in parts if part.weight > 0] or parts[:1]
    first = parts[0]
    if len(parts) == 1:
        return first
    weights = np.array([part.weight for part in parts])
    means = np.array([part.mean for part in parts])
    total = weights.sum()
    mean = weights @ means / total
    for part in parts[1:]:
        np.add(first.scatter, part.scatter, out=first.scatter)
    steps = means - mean
    np.add(first.scatter, (steps * weights[:, None]).T @ steps, out=first.scatter)
    return Moments(float(total), mean, first.scatter)


def _of_wide(X: Array, weights: Array | None, n_jobs: int | None) -> Moments:
    """Moments of rows that are few beside their columns: centred once, half of the product, the other half copied."""
    ones = np.ones(len(X)) if weights is None else weights
    total = float(ones.sum())
    light = (ones / total).astype(_precision(X))
    with np.errstate(invalid="ignore", over="ignore"):
        X = np.asarray(X, dtype=light.dtype)
        shift = light @ X
        Z = X - shift
        left = (light @ Z).astype(np.float64)
        if weights is not None:
            Z *= np.sqrt(weights)[:, None].astype(Z.dtype)
        scatter = gram(Z.T, mean=np.zeros(len(X)), n_jobs=n_jobs)
        if (total * left**2 > 1e-3 * np.finfo(Z.dtype).eps * scatter.diagonal()).any():
            scatter -= np.multiply.outer(total * left, left)
    return Moments(total, shift + left, scatter)


def covariance(
    X: Array,
    mean: Array | None = None,
    weights: Array | None = None,
    n_jobs: int | None = None,
    *,
    block: int | None = None,
    ddof: int = 1,
) -> tuple[Array, Array]:
    """Covariance matrix (float64) and column means of the rows of X, in one pass.

    Parameters
    ----------
    X : array of shape (n, d)
        Dense; a memory-mapped array is read chunk by chunk. float32 chunks are multiplied in float32 after
        centring.
    mean : ndarray of shape (d,), optional
        Centre to use instead of the mean of the rows; also what is returned.
    weights : ndarray of shape (n,), optional
        Non-negative row weights.
    n_jobs : int, optional
        Threads; the bits do not depend on it.
    block : int, optional
        Rows centred and multiplied at once; None suits the cache.
    ddof : int
        The scatter is divided by the sum of the weights less `ddof`.

    Returns
    -------
    tuple of ndarray
        The (d, d) covariance and the (d,) centre.
    """
    moments = Moments.of(X, weights, n_jobs=n_jobs, block=block)
    divisor = moments.weight - ddof
    if divisor <= 0:
        raise ValueError(f"covariance: the weights must add up to more than ddof={ddof}; got {moments.weight:g}.")
    if mean is None:
        return moments.scatter / divisor, moments.mean
    return moments.about(mean) / divisor, np.array(np.broadcast_to(mean, moments.mean.shape), dtype=np.float64)


def gram(X: Any, mean: Array | None = None, *, n_jobs: int | None = None) -> Array:
    """G = (X - mean)(X - mean)', float64, for dense or sparse rows; `mean` None stands for the column means.

    A sparse X is not densified: its mean is taken off the products, in float64.
    """
    if sp.issparse(X):
        return _sparse_gram(sp.csr_array(X).astype(np.float64), mean)
    center = column_means(X) if mean is None else np.asarray(mean, dtype=np.float64)
    Z = X - center.astype(X.dtype if X.dtype.kind == "f" else np.float64) if center.any() else X
    columns = threads.blocks(Z.shape[1], 2048)
    if Z.shape[0] <= 512:  # one block of rows: the threads share the columns
        n_jobs = 1 if Z.size * Z.shape[0] < SERIAL else n_jobs
        return sum(
            threads.map_rows(lambda part: (Z[:, part] @ Z[:, part].T).astype(np.float64), Z.shape[1], 2048, n_jobs)
        )
    short = len(columns) == 1  # of a bounded length: float32 products need no float64 sums
    G = np.empty((Z.shape[0], Z.shape[0]), Z.dtype if short and Z.dtype.kind == "f" else np.float64)

    def fill(rows: slice) -> None:
        if short:
            np.matmul(Z[rows], Z[: rows.stop].T, out=G[rows, : rows.stop])
            return
        G[rows, : rows.stop] = 0.0
        for part in columns:
            G[rows, : rows.stop] += Z[rows, part] @ Z[: rows.stop, part].T

    threads.map_rows(fill, Z.shape[0], 256, n_jobs)
    return _mirror(G)


def _mirror(G: Array) -> Array:
    """The symmetric float64 matrix whose lower triangle G holds, block by block."""
    full = G if G.dtype == np.float64 else np.empty(G.shape)
    for rows in threads.blocks(G.shape[0], 256):
        if full is not G:
            full[rows, : rows.start] = G[rows, : rows.start]
        full[: rows.start, rows] = full[rows, : rows.start].T
        corner = G[rows, rows]
        full[rows, rows] = np.tril(corner) + np.tril(corner, -1).T
    return full


def _sparse_gram(X: sp.csr_array, mean: Array | None) -> Array:
    center = X.mean(axis=0) if mean is None else np.broadcast_to(np.asarray(mean, dtype=np.float64), X.shape[1])
    along = X @ center
    G = (X @ X.T).toarray()
    G -= along[:, None]
    G -= along[None, :]
    G += float(center @ center)
    return G


def mean_and_variance(X: Any, weights: Array | None = None) -> tuple[Array, Array]:
    """Weighted column means and variances (divisor: the sum of weights) in float64, dense or sparse.

    Two passes, the second about the mean, so that nothing cancels, and what rounding left in it taken off; a
    sparse X is not filled: its empty cells are mean² each.
    """
    w = np.ones(X.shape[0]) if weights is None else np.asarray(weights, dtype=np.float64)
    total = float(w.sum())
    if sp.issparse(X):
        X = sp.csr_array(X)
        mean = np.asarray(X.T.astype(np.float64) @ w).ravel() / total
        at = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
        gaps, d = X.data - mean[X.indices], X.shape[1]
        empty = total - np.bincount(X.indices, weights=w[at], minlength=d)
        left = (np.bincount(X.indices, weights=gaps * w[at], minlength=d) - empty * mean) / total
        spread = np.bincount(X.indices, weights=gaps**2 * w[at], minlength=d) + empty * mean**2
        return mean + left, np.maximum(spread / total - left**2, 0.0)
    size = max(1, 2**17 // max(1, X.shape[1]))  # cells that stay in the cache
    mean = _lane_sums(lambda rows, room: [w[rows] @ room], X, 0.0, size)[0] / total
    left, spread = (
        _lane_sums(lambda rows, room: [w[rows] @ room, w[rows] @ np.square(room, room)], X, mean, size) / total
    )
    return mean + left, np.maximum(spread - left**2, 0.0)


def _lane_sums(part: Callable[[slice, Array], list[Array]], X: Array, center: Any, size: int) -> Array:
    """The sum of `part(rows, X[rows] - center)` over blocks of `size` rows, in lanes that depend on the shape alone."""

    def lane(rows: slice) -> Array:
        room = np.empty((min(size, rows.stop - rows.start), X.shape[1]))  # used again: fresh pages are dear
        sums: Any = 0.0
        for inner in threads.blocks(rows.stop - rows.start, size):
            here = slice(rows.start + inner.start, rows.start + inner.stop)
            rest = np.subtract(X[here], center, out=room[: here.stop - here.start])
            sums = sums + np.array(part(here, rest))
        return sums

    wide = size * -(-X.shape[0] // (LANES * size))
    return np.sum(threads.map_rows(lane, X.shape[0], wide, None if X.size > 2**20 else 1), axis=0)


def column_means(X: Array) -> Array:
    """Column means in float64, chunk by chunk."""
    sums = [np.sum(X[rows], axis=0, dtype=np.float64) for rows in threads.blocks(X.shape[0], _chunk(*X.shape))]
    return np.sum(sums, axis=0) / X.shape[0]


def _weights(weights: Array, n: int) -> Array:
    weights = np.asarray(weights, dtype=np.float64)
    if weights.shape != (n,) or not np.isfinite(weights).all() or (weights < 0).any() or not weights.any():
        raise ValueError(f"Moments: weights must be {n} non-negative numbers, not all zero; got shape {weights.shape}.")
    return weights


def _chunk(n: int, d: int) -> int:
    """Rows centred at once: a cache full, and enough to pay for adding a d x d product."""
    return max(CHUNK_ROWS, min(6 * d, n // 4), CHUNK_BYTES // (4 * max(1, d)))


def _lane(n: int, d: int, chunk: int) -> int:
    """Rows of one lane: a function of the shape alone."""
    return max(chunk, -(-n // _lanes(n, d, chunk)))


def _lanes(n: int, d: int, chunk: int) -> int:
    return max(2, min(LANES, LANE_BYTES // (8 * d * d + 1), n // (4 * chunk)))


def n_sums(n: int, d: int) -> int:
    """How many sums of products of n rows of d columns are held at a time."""
    return _lanes(n, d, _chunk(n, d))


def _of_lane(X: Array, weights: Array | None, rows: slice, chunk: int) -> Moments:
    """Moments of consecutive rows, chunk by chunk, about a shift that is kept while the rows stay near it.

    The mean of some rows will do as shift: one product of the shifted rows, with a column of ones beside them, gives
    the sums as well, and all corrections wait until the end. A chunk whose mean is more than half its spread away,
    where they would take digits, begins anew.
    """
    if weights is None and _is_near_zero(X[rows]) and (found := _as_they_are(X[rows])):
        return found
    count, d = rows.stop - rows.start, X.shape[1]
    wide = -(-(d + 1) // 16) * 16  # rows that begin on a cache line
    room = np.empty((min(count, chunk), wide), dtype=_precision(X))[:, : d + 1]  # for all chunks: fresh pages are dear
    shift, sums = _rough_mean(X[rows], room.dtype), np.zeros((d + 1, d + 1))
    parts: list[Moments] = []
    for part in threads.blocks(count, len(room)):
        here = slice(rows.start + part.start, rows.start + part.stop)
        with np.errstate(invalid="ignore", over="ignore"):  # infinities end as NaN, and `of` says so
            products = _products(X[here], shift, None if weights is None else weights[here], room)
            if _is_far(products):
                parts.append(_unshifted(sums, shift))
                shift, sums = _rough_mean(X[here], room.dtype), np.zeros((d + 1, d + 1))
                products = _products(X[here], shift, None if weights is None else weights[here], room)
        sums += products
    return _merged([*parts, _unshifted(sums, shift)])


def _is_near_zero(X: Array) -> bool:
    """Whether some rows say that no column's mean is more than a few deviations from 0; in double precision alone."""
    if X.dtype != np.float64 or not isinstance(X, np.ndarray) or isinstance(X, np.memmap):
        return False
    some = X[:: max(1, len(X) // 64)]
    with np.errstate(invalid="ignore", over="ignore"):
        return bool((np.square(some.mean(axis=0)) <= 20.0 * some.var(axis=0)).all())


def _as_they_are(X: Array) -> Moments | None:
    """Moments without a shift; None where that takes more than two digits."""
    with np.errstate(invalid="ignore", over="ignore"):
        total, products, n = X.sum(axis=0), X.T @ X, float(len(X))
        if not (np.square(total) <= 0.99 * n * products.diagonal()).all():
            return None
        mean = total / n
        products -= np.multiply.outer(total, mean)
    return Moments(n, mean, products)


def _rough_mean(X: Array, dtype: Any) -> Array:
    """The mean of some rows, exact for constant columns."""
    some = np.asarray(X[:: max(1, len(X) // 64)], dtype=dtype)
    return some[0] + (some - some[0]).mean(axis=0)


def _is_far(products: Array) -> bool:
    total = float(products[-1, -1])
    return bool((products[-1, :-1] ** 2 > 0.25 * total * products.diagonal()[:-1]).any())


def _unshifted(sums: Array, shift: Array) -> Moments:
    """Moments from the sums of products about a shift (the last row and column: of the rows alone)."""
    weight, step = float(sums[-1, -1]), sums[-1, :-1] / max(float(sums[-1, -1]), 1e-300)
    scatter = sums[:-1, :-1].copy()
    with np.errstate(invalid="ignore", over="ignore"):
        scatter -= np.multiply.outer(weight * step, step)
    return Moments(weight, shift.astype(np.float64) + step, scatter)


def _products(X: Array, shift: Array, weights: Array | None, room: Array) -> Array:
    """Z'Z for the rows less the shift with a column of ones, both times the root of the weights."""
    Z = room[: len(X)]
    np.subtract(X, shift, out=Z[:, :-1], casting="same_kind")
    Z[:, -1] = 1.0
    if weights is not None:
        Z *= np.sqrt(weights)[:, None].astype(room.dtype)
    return Z.T @ Z


def _precision(X: Array) -> np.dtype:
    return X.dtype if X.dtype in (np.float32, np.float64) else np.dtype(np.float64)

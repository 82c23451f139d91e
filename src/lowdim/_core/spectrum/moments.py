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

from lowdim._core.runtime import threads

Array = np.ndarray

CHUNK_BYTES = 2**21  # rows centred and multiplied at once: they stay in the second-level cache
CHUNK_ROWS = 512  # at least, and six times d: adding a d x d product to the sum costs as much as some hundred rows
TOGETHER = 512  # numbers that one inner loop of numpy should run over: narrow rows are taken several at a time
LANES = 16  # independent sums, so that the bits do not depend on the number of threads
SERIAL = 1e8  # multiplications below which threads take longer to start than they save
LANE_BYTES = 2**28  # the most memory all lanes together take
FAR = {4: 0.1, 8: 0.99}  # by bytes of a number: n mean² over the sum of squares beyond which rows need a shift (a
# tenth takes no digit of float32; 0.99 takes two of the sixteen of float64)


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
        chunk = _chunk(*X.shape) if block is None else max(1, block)
        lane = X.shape[0] if _is_serial(*X.shape) else _lane(X.shape[0], X.shape[1], chunk)
        lanes = threads.map_rows(lambda rows: _of_lane(X, weights, rows, chunk), X.shape[0], lane, n_jobs)
        with np.errstate(invalid="ignore", over="ignore"):  # infinities end as NaN
            return _finite(_merged([sums for found in lanes for sums in found]))

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


def _merged(parts: list[_Sums]) -> Moments:
    """All parts about their common mean, some rows of the scatter at a time: at d = 1,000 a pass takes milliseconds."""
    parts = [part for part in parts if part.weight > 0] or parts[:1]
    weights = np.array([part.weight for part in parts])
    steps = np.array([part.along for part in parts]) / np.maximum(weights, 1e-300)[:, None]
    means = steps + np.array([part.shift for part in parts])
    total = weights.sum()
    mean = weights @ means / max(total, 1e-300)
    roots = np.sqrt(weights)[:, None]
    right = np.vstack([(means - mean) * roots, steps * roots])
    left = np.vstack([right[: len(parts)], -right[len(parts) :]]).T
    first = parts[0].products
    scatter = first if first.dtype == np.float64 else np.empty(first.shape)
    for rows in threads.blocks(len(mean), max(1, 2**15 // len(mean))):
        here = left[rows] @ right
        for part in parts:
            here += part.products[rows]
        scatter[rows] = here
    return Moments(float(total), mean, scatter)


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


def _is_serial(n: int, d: int) -> bool:
    return n * d * d < SERIAL


def _chunk(n: int, d: int) -> int:
    """Rows centred at once: a cache full, and enough to pay for adding a d x d product."""
    return min(n, max(CHUNK_ROWS, 6 * d, CHUNK_BYTES // (4 * max(1, d))))


def _lane(n: int, d: int, chunk: int) -> int:
    """Rows of one lane: a function of the shape alone."""
    return -(-n // _lanes(n, d, chunk))


def _lanes(n: int, d: int, chunk: int) -> int:
    return max(2, min(LANES, LANE_BYTES // (8 * d * d + 1), n // (4 * chunk)))


def n_sums(n: int, d: int) -> int:
    """How many sums of products of n rows of d columns are held at a time."""
    return 1 if _is_serial(n, d) else _lanes(n, d, _chunk(n, d))


@dataclass(eq=False)
class _Sums:
    """Sums over rows x less a shift: of the weights w, of w x and of w x x'."""

    weight: float
    along: Array
    products: Array
    shift: Array

    def add(self, other: _Sums) -> None:
        self.weight += other.weight
        self.along += other.along
        if self.products.dtype != np.float64:  # the sums of more than one chunk are
            self.products = self.products.astype(np.float64)
        self.products += other.products

    def is_far(self, part: float) -> bool:
        """Whether the squared mean of a column is more than `part` of its mean square, both about the shift."""
        return not (np.square(self.along) <= part * self.weight * self.products.diagonal()).all()


def _of_lane(X: Array, weights: Array | None, rows: slice, chunk: int) -> list[_Sums]:
    """Sums of consecutive rows, chunk by chunk, about a shift that is kept while the rows stay near it.

    The mean of some rows will do as shift, and none at all where that is near 0: all corrections wait until the end.
    A chunk whose mean is so far from the shift that they would take digits begins anew.
    """
    count, room = rows.stop - rows.start, _Room(X, min(chunk, rows.stop - rows.start))
    shift = None if weights is None and _is_near_zero(X[rows]) else _rough_mean(X[rows], room.dtype)
    done: list[_Sums] = []
    for part in threads.blocks(count, chunk):
        here = slice(rows.start + part.start, rows.start + part.stop)
        w = None if weights is None else weights[here]
        with np.errstate(invalid="ignore", over="ignore"):  # infinities end as NaN, and `of` says so
            found = room.sums(X[here], shift, w)
            again = found.is_far(0.25 if shift is not None else FAR[room.dtype.itemsize])
            if again:
                shift = _rough_mean(X[here], room.dtype)
                found = room.sums(X[here], shift, w)
            if again or not done:
                done.append(room.keep(found))
            else:
                done[-1].add(found)
    return done


class _Room:
    """Memory for the shifted rows and the product of a chunk, reused: allocation is expensive."""

    def __init__(self, X: Array, rows: int) -> None:
        self.dtype = _precision(X)
        self._shape = (rows, X.shape[1])
        self._rows: Array | None = None
        self._product: Array | None = None

    def sums(self, X: Array, shift: Array | None, weights: Array | None) -> _Sums:
        """Those of a chunk; they last until the next one, unless kept."""
        Z = X if shift is None else self._shifted(X, shift)
        shift = np.zeros(X.shape[1]) if shift is None else shift.astype(np.float64)
        root, total = np.ones(len(X), self.dtype), float(len(X))
        if weights is not None:
            root, total = np.sqrt(weights).astype(self.dtype), float(weights.sum())
            Z *= root[:, None]
        if self._product is None:
            self._product = np.empty((X.shape[1], X.shape[1]), self.dtype)
        np.matmul(Z.T, Z, out=self._product)
        return _Sums(total, (root @ Z).astype(np.float64), self._product, shift)

    def keep(self, found: _Sums) -> _Sums:
        self._product = None
        return found

    def _shifted(self, X: Array, shift: Array) -> Array:
        if self._rows is None:
            self._rows = np.empty(self._shape, self.dtype)
        Z, d = self._rows[: len(X)], X.shape[1]
        several = max(1, TOGETHER // d) if X.flags.c_contiguous else 1
        even = len(X) - len(X) % several
        for rows, times in ((slice(0, even), several), (slice(even, len(X)), 1)):
            part = X[rows].reshape(-1, times * d)
            np.subtract(part, np.tile(shift, times), out=Z[rows].reshape(-1, times * d), casting="same_kind")
        return Z


def _is_near_zero(X: Array) -> bool:
    """Whether some rows say that products need no shift: no column's mean is many deviations from 0."""
    if X.dtype.kind != "f" or X.dtype.itemsize not in FAR or not isinstance(X, np.ndarray) or isinstance(X, np.memmap):
        return False
    some = X[:: max(1, len(X) // (64 if X.dtype == np.float64 else 192))]
    with np.errstate(invalid="ignore", over="ignore"):
        shares = np.square(some.sum(axis=0)) <= 0.9 * FAR[X.dtype.itemsize] * len(some) * np.square(some).sum(axis=0)
    return bool(shares.all())


def _rough_mean(X: Array, dtype: Any) -> Array:
    """The mean of some rows, exact for constant columns."""
    some = np.asarray(X[:: max(1, len(X) // 64)], dtype=dtype)
    return some[0] + (some - some[0]).mean(axis=0)


def _precision(X: Array) -> np.dtype:
    return X.dtype if X.dtype in (np.float32, np.float64) else np.dtype(np.float64)

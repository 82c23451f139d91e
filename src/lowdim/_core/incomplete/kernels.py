"""Kernels between rows with holes, so that kernel methods need no word about them.

"expected": a row stands for all it may be. Under a Gaussian model fitted to the table its missing cells have a
conditional mean and covariance, and its features are the mean of phi over that distribution, so that

    k(row, row') = E k(x, y), x and y independent draws of the two rows.

This is an inner product of mean features: the matrix stays positive semi-definite, and a row of which little is known
lies nearer to the middle of the map instead of where a guess would put it. k(row, row) is the squared length of those
mean features, x and y being independent there too; what is not known about a row is no error of the map. Rows without
holes have their usual values. In closed form for Linear, Constant, RBF, Polynomial up to degree 3, their sums and
multiples; for other kernels the mean over `POINTS` fixed points of the normal distribution, moved to each row.

"pairwise": kernels of the Euclidean distance take it over the columns both rows have, scaled up to all of them; those
of the inner product likewise. Not positive semi-definite in general.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from math import comb
from typing import Any

import numpy as np

from lowdim import _native
from lowdim._core.distances.with_holes import pairwise_block
from lowdim._core.incomplete.gaussian import Gaussian
from lowdim._core.incomplete.holes import Holes
from lowdim._core.kernels import (
    RBF,
    Chi2,
    Constant,
    DistanceKernel,
    DotKernel,
    Kernel,
    Laplace,
    Linear,
    Polynomial,
    Power,
    Product,
    Scaled,
    Sum,
    bandwidth,
)
from lowdim._core.kernels.algebra import parts_of
from lowdim._core.runtime import threads
from lowdim._core.runtime.rng import generator

Array = np.ndarray

# Of the normal distribution, in opposite pairs, for kernels whose expectation has no closed form: a pair of rows costs
# POINTS² values, and maps of scikit-learn's wine and breast cancer tables hardly change between 4 and 32.
POINTS = 8
_CELLS = 2**22  # kernel values between such points computed at a time
_SIDE_BY_SIDE = 512  # blocks of no more rows come from callers that run several of them at once


@dataclass(frozen=True, eq=False)
class KernelHoles(Holes):
    """How rows with holes become tables for kernels: the completed row, then 1 where a cell was observed."""

    partly_seen = False  # kernels have no distances that are 0

    def table(self, X: Array) -> Array:
        """Rows with holes as a finite table."""
        seen = ~np.isnan(X)
        filled = np.where(seen, X, self.center) if self.model is None else self.model.conditional(X)[0]
        return np.hstack([filled, seen]).astype(X.dtype)

    def rows(self, table: Array) -> Array:
        """The completed rows of such a table."""
        return table[:, : len(self.center)]

    def seen(self, table: Array) -> Array:
        """Which cells were observed."""
        return table[:, len(self.center) :] > 0.5

    def kernel(self, kernel: Kernel, owner: str) -> IncompleteKernel:
        """The kernel, read on such tables."""
        if refused := next((part for part in parts_of(kernel) if not self._reads(part)), None):
            raise ValueError(
                f"{owner}: missing={self.policy!r} cannot read the kernel {refused!r}. {self._way_out(refused)}"
            )
        return IncompleteKernel(kernel, self)

    def _reads(self, part: Kernel) -> bool:
        if self.policy == "expected":
            return not part.pairwise and not isinstance(part, Chi2)  # whose rows must not be negative; draws are
        of_manhattan = isinstance(part, Laplace) and part.norm == "l1"
        return isinstance(part, (DistanceKernel, DotKernel, Constant)) and not of_manhattan

    def _way_out(self, part: Kernel) -> str:
        if self.policy == "pairwise" and not part.pairwise and not isinstance(part, Chi2):
            return "missing='expected' can."
        return "Complete the rows first, with lowdim.PCA().fit(X).completed_ or lowdim.impute(X)."

    def bandwidth(self, X: Array, rule: str, *, metric: str, power: int, owner: str) -> float:
        """`bandwidth` of a table: from pairwise or expected distances, or from rows drawn once for other ones."""
        if rule in ("scale", "features"):
            return bandwidth(self.rows(X), rule, power=power, owner=owner)
        if metric != "euclidean":
            return bandwidth(Beliefs.of(X, self).drawn()[:, 0], rule, metric=metric, power=power, owner=owner)
        measured = Holes.table(self, self._with_nan(X))
        return bandwidth(measured, rule, metric=self.metric, power=power, owner=owner)

    def _with_nan(self, table: Array) -> Array:
        return np.where(self.seen(table), self.rows(table), np.nan)


@dataclass(frozen=True, eq=False)
class IncompleteKernel(Kernel):
    """A kernel on the tables of `KernelHoles`, in place of the kernel on complete rows."""

    kernel: Kernel
    holes: KernelHoles

    def __post_init__(self) -> None:
        object.__setattr__(self, "is_psd", self.kernel.is_psd if self.holes.policy == "expected" else None)

    def _block(self, X: Array, Y: Array | None) -> Array:
        A = Beliefs.of(X, self.holes)
        B = A if Y is None or Y is X else Beliefs.of(Y, self.holes)
        K = self._read(A, B).astype(X.dtype, copy=False)
        left, right = ((self.holes.rows(T)[~side.blurred]) for T, side in ((X, A), (X if Y is None else Y, B)))
        K[np.ix_(~A.blurred, ~B.blurred)] = self.kernel._block(left, None if A is B else right)
        return K

    def _own(self, X: Array) -> Array:
        """In small squares of which the diagonals are kept."""
        A = Beliefs.of(X, self.holes)
        parts = [A.part(rows) for rows in threads.blocks(len(X), 16)]
        own = np.concatenate([np.diagonal(self._read(part, part)) for part in parts]).astype(X.dtype)
        own[~A.blurred] = self.kernel._own(self.holes.rows(X)[~A.blurred])
        return own

    def _read(self, A: Beliefs, B: Beliefs) -> Array:
        if self.holes.policy == "pairwise":
            return _pairwise(self.kernel, A, B, self.holes)
        K = np.empty((len(A.rows), len(B.rows)))
        if A.blurred.any():
            K[A.blurred] = _expected(self.kernel, A.part(A.blurred), B)
        if B.blurred.any() and not A.blurred.all():
            K[np.ix_(~A.blurred, B.blurred)] = _expected(self.kernel, A.part(~A.blurred), B.part(B.blurred))
        return K

    def __repr__(self) -> str:
        return f"{self.kernel!r} on rows with holes ({self.holes.policy})"


@dataclass(frozen=True, eq=False)
class Beliefs:
    """What is known about rows: their cells with holes filled, and the spread of what was filled in.

    A row is N(row, F F' + diag(noise)) over its holes, F = W L with L L' the posterior covariance of the latent z.
    """

    rows: Array  # (n, d)
    hole: Array  # (n, d)
    roots: Array  # (n, r, r) L
    model: Gaussian | None

    @classmethod
    def of(cls, table: Array, holes: KernelHoles) -> Beliefs:
        rows, hole, model = holes.rows(table).astype(np.float64), ~holes.seen(table), holes.model
        if model is None:
            return cls(rows, hole, np.empty((len(rows), 0, 0)), None)
        spread = model.score_covariance(np.where(hole, np.nan, rows))  # of the pattern of holes alone
        return cls(rows, hole, np.linalg.cholesky(spread), model)

    @property
    def blurred(self) -> Array:
        """Which rows have holes."""
        return np.asarray(self.hole.any(axis=1))

    def part(self, which: Any) -> Beliefs:
        return Beliefs(self.rows[which], self.hole[which], self.roots[which], self.model)

    @property
    def noise(self) -> Array:
        assert self.model is not None
        return np.broadcast_to(np.asarray(self.model.noise, dtype=np.float64), self.model.mean.shape)

    def factors(self) -> Array:
        """F of every row, zero where a cell was observed: (n, d, r)."""
        assert self.model is not None
        return (self.model.loadings @ self.roots) * self.hole[:, :, None]

    def drawn(self) -> Array:
        """The fixed points of the normal distribution, moved to each row: (n, POINTS, d)."""
        if self.model is None:
            return self.rows[:, None]
        rank, d = self.model.rank, self.rows.shape[1]
        half = generator(0).standard_normal((POINTS // 2, rank + d))
        points = np.concatenate([half, -half])
        moved = points[:, :rank] @ (self.model.loadings @ self.roots).transpose(0, 2, 1)
        moved += points[:, rank:] * np.sqrt(self.noise)
        return self.rows[:, None] + moved * self.hole[:, None]


# Expectations -----------------------------------------------------------------------------------------------


def _expected(kernel: Kernel, A: Beliefs, B: Beliefs) -> Array:
    """E k(x, y) for the rows of A and B, x and y independent."""
    if isinstance(kernel, Sum):
        return reduce(np.add, (_expected(term, A, B) for term in kernel.terms))
    if isinstance(kernel, Scaled):
        return kernel.scale * _expected(kernel.kernel, A, B)
    if isinstance(kernel, (Linear, Constant)):
        return kernel._block(A.rows, B.rows)
    if isinstance(kernel, RBF):
        return _expected_gaussian(kernel.gamma, A, B)
    if isinstance(kernel, Polynomial) and kernel.degree <= 3:
        return _expected_polynomial(kernel, A, B)
    return _over_points(kernel, A, B)


def _expected_gaussian(gamma: float, A: Beliefs, B: Beliefs) -> Array:
    """|I + 2 gamma S|^-1/2 exp(-gamma m'(I + 2 gamma S)^-1 m): the difference of two rows is N(m, S)."""
    assert A.model is not None
    out = np.empty((len(A.rows), len(B.rows)))
    n_threads = threads.n_threads(A.model.n_jobs) if len(out) > _SIDE_BY_SIDE else 1
    _native.expected_gaussian(*_cells(A, gamma), *_cells(B, gamma), A.noise.copy(), float(gamma), out, n_threads)
    return out


def _cells(side: Beliefs, gamma: float) -> tuple[Array, Array, Array, Array]:
    """Rows, and one after the other their missing cells with the row of sqrt(2 gamma) F of each."""
    assert side.model is not None
    row, column = np.nonzero(side.hole)
    start = np.concatenate([[0], np.cumsum(side.hole.sum(axis=1))]).astype(np.int64)
    F = np.einsum("ck,ckl->cl", side.model.loadings[column], side.roots[row])
    return np.ascontiguousarray(side.rows), start, column.astype(np.int32), np.sqrt(2 * gamma) * F


def _expected_polynomial(kernel: Polynomial, A: Beliefs, B: Beliefs) -> Array:
    """From the first moments of x'y, by the binomial theorem."""
    moments = [np.ones((len(A.rows), len(B.rows))), *_moments_of_dots(A, B, kernel.degree)]
    weights = [
        comb(kernel.degree, k) * kernel.gamma**k * kernel.coef0 ** (kernel.degree - k) for k in range(len(moments))
    ]
    return reduce(np.add, (w * moment for w, moment in zip(weights, moments, strict=True)))


def _moments_of_dots(A: Beliefs, B: Beliefs, degree: int) -> list[Array]:
    """E (x'y)^k for k up to `degree`, at most 3.

    With s = m_x'm_y, v = m_y'S_x m_y + m_x'S_y m_x + tr S_x S_y and w = m_y'S_x S_y m_x they are s, s² + v and
    s³ + 3 s v + 6 w.
    """
    s = A.rows @ B.rows.T
    if degree == 1:
        return [s]
    v, w, right = np.empty_like(s), np.zeros_like(s), Spread.of(B)
    size = max(1, _CELLS // (len(B.rows) * right.F.shape[2] ** 2))
    for rows in threads.blocks(len(s), size):
        v[rows], w[rows] = _spread_of_dots(Spread.of(A.part(rows)), right, degree == 3)
    return [s, s**2 + v, s**3 + 3 * s * v + 6 * w][:degree]


@dataclass(frozen=True, eq=False)
class Spread:
    """Means m and covariances S = F F' + diag(N) of rows, as the moments of their inner products need them."""

    m: Array  # (n, d)
    N: Array  # (n, d), zero where a cell was observed
    F: Array  # (n, d, r), likewise
    L: Array  # (n, d) squared lengths of the rows of F

    @classmethod
    def of(cls, side: Beliefs) -> Spread:
        F = side.factors()
        return cls(side.rows, side.noise * side.hole, F, (F**2).sum(axis=2))

    def side_by_side(self, weights: Array | None = None) -> Array:
        """F of all rows: (d, n r), the rows of each multiplied by `weights`."""
        F = self.F if weights is None else self.F * weights[:, :, None]
        return F.transpose(1, 0, 2).reshape(F.shape[1], -1)


def _spread_of_dots(X: Spread, Y: Spread, third: bool) -> tuple[Array, Array | float]:
    """v and w of `_moments_of_dots`; P = F_x'm_y, Q = F_y'm_x and R = F_x'F_y of every pair of rows."""
    (n, m), r = (len(X.m), len(Y.m)), X.F.shape[2]
    P = (Y.m @ X.side_by_side()).reshape(m, n, r).transpose(1, 2, 0)
    Q = (X.m @ Y.side_by_side()).reshape(n, m, r)
    R = (X.side_by_side().T @ Y.side_by_side()).reshape(n, r, m, r)
    v = (P**2).sum(axis=1) + (Q**2).sum(axis=2) + (R**2).sum(axis=(1, 3))
    v += X.N @ (Y.m**2 + Y.L + Y.N).T + (X.m**2 + X.L) @ Y.N.T
    if not third:
        return v, 0.0
    w = (np.einsum("ikjl,ijl->ikj", R, Q) * P).sum(axis=1) + (X.N * X.m) @ (Y.N * Y.m).T
    w += ((X.side_by_side(X.m).T @ Y.N.T).reshape(n, r, m) * P).sum(axis=1)
    w += ((X.N @ Y.side_by_side(Y.m)).reshape(n, m, r) * Q).sum(axis=2)
    return v, w


def _over_points(kernel: Kernel, A: Beliefs, B: Beliefs) -> Array:
    """The mean of k over the points of both rows, which is an inner product of mean features again."""
    right, right_start = _pooled(B)
    K = np.empty((len(A.rows), len(B.rows)))
    for rows in threads.blocks(len(K), max(1, _CELLS // (POINTS * len(right)))):
        left, left_start = _pooled(A.part(rows))
        K[rows] = _means(_means(kernel._block(left, right), left_start, 0), right_start, 1)
    return K


def _pooled(side: Beliefs) -> tuple[Array, Array]:
    """All points of all rows, one for a row without holes, and where those of each row begin."""
    counts = np.where(side.blurred, POINTS, 1)
    rows = np.repeat(side.rows, counts, axis=0)
    rows[np.repeat(side.blurred, counts)] = side.part(side.blurred).drawn().reshape(-1, side.rows.shape[1])
    return rows, np.concatenate([[0], np.cumsum(counts)[:-1]])


def _means(values: Array, start: Array, axis: int) -> Array:
    counts = np.diff(np.append(start, values.shape[axis]))
    return np.add.reduceat(values, start, axis=axis) / (counts[:, None] if axis == 0 else counts)


# Over shared columns ----------------------------------------------------------------------------------------


def _pairwise(kernel: Kernel, A: Beliefs, B: Beliefs, holes: KernelHoles) -> Array:
    """k of the distances and inner products over the columns both rows have, scaled up."""
    if isinstance(kernel, Sum):
        return reduce(np.add, (_pairwise(term, A, B, holes) for term in kernel.terms))
    if isinstance(kernel, Product):
        return reduce(np.multiply, (_pairwise(factor, A, B, holes) for factor in kernel.factors))
    if isinstance(kernel, Scaled):
        return kernel.scale * _pairwise(kernel.kernel, A, B, holes)
    if isinstance(kernel, Power):
        return _pairwise(kernel.kernel, A, B, holes) ** kernel.exponent
    if isinstance(kernel, DistanceKernel):
        left, right = (Holes.table(holes, np.where(side.hole, np.nan, side.rows)) for side in (A, B))
        return kernel._of_squares(pairwise_block(left, right) ** 2)
    if isinstance(kernel, DotKernel):
        return kernel._of_dots(_shared_dots(A, B, holes.center))
    return kernel._block(A.rows, B.rows)


def _shared_dots(A: Beliefs, B: Beliefs, center: Array) -> Array:
    """x'y over shared columns, scaled up; rows that share none are taken to be as two rows are on average."""
    shared = (~A.hole).astype(np.float64) @ (~B.hole).T
    dots = (A.rows * ~A.hole) @ (B.rows * ~B.hole).T
    return np.where(shared > 0, dots * (A.rows.shape[1] / np.maximum(shared, 1.0)), center @ center)

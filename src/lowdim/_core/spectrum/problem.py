"""An eigenproblem as the solvers see it, and what they share: products, residuals, projection on a subspace, signs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg as sla
import scipy.sparse as sp

from lowdim._core.runtime import threads

Array = np.ndarray
EPS = float(np.finfo(np.float64).eps)
SEED = 20_240_229  # start vectors when the caller gives no generator: the same call gives the same bits


@dataclass(frozen=True, eq=False)
class Problem:
    """The symmetric matrix B = D A D with D = diag(scale), seen from the complement of span(null)."""

    matrix: Any
    scale: Array | None
    null: Array
    k: int
    sign: float  # +1: the algebraically largest pairs are wanted, -1: the smallest
    norm: float
    tol: float
    max_iter: int | None
    rng: np.random.Generator
    owner: str
    near: Array | None = None  # vectors close to the wanted ones, where the caller has some
    most_factors: float = float("inf")  # bytes of sparse factors beyond which other solvers come first
    semidefinite: bool = False  # B has no eigenvalue below zero, by its construction

    @property
    def n(self) -> int:
        return self.matrix.shape[0]

    @property
    def free(self) -> int:
        """Dimension of the space the wanted vectors live in."""
        return self.n - self.null.shape[1]

    @property
    def is_sparse(self) -> bool:
        return sp.issparse(self.matrix)

    @property
    def is_dense(self) -> bool:
        return isinstance(self.matrix, np.ndarray)

    def times(self, Y: Array) -> Array:
        """B Y; float32 matrices multiply in float32."""
        return scaled_product(self.matrix, self.scale, Y)

    def precise(self, Y: Array) -> Array:
        """B Y with every product in float64; an operator may bring a method of this name for it."""
        if self.scale is None and hasattr(self.matrix, "precise"):
            return self.matrix.precise(Y)
        if not self.is_dense or self.matrix.dtype == np.float64:
            return self.times(Y)
        Y = Y if self.scale is None else self.scale[:, None] * Y
        rows = max(1, 2**22 // self.n)
        parts = [self.matrix[part].astype(np.float64) @ Y for part in threads.blocks(self.n, rows)]
        product = np.vstack(parts)
        return product if self.scale is None else self.scale[:, None] * product

    def project(self, Y: Array) -> Array:
        """Y without its part in span(null)."""
        return Y - self.null @ (self.null.T @ Y) if self.null.shape[1] else Y

    def wanted(self, Y: Array) -> Array:
        """sign * P B P Y, with the known subspace moved behind the unwanted end."""
        if not self.null.shape[1]:
            return self.sign * self.times(Y)
        inside = self.null @ (self.null.T @ Y)
        return self.sign * self.project(self.times(Y - inside)) - 2 * self.norm * inside

    def start(self, columns: int) -> Array:
        """Start vectors, orthonormal, in the free space: those that were given, filled up with random ones."""
        block = self.rng.standard_normal((self.n, columns))
        if self.near is not None:
            given = self.near[:, :columns]
            block[:, : given.shape[1]] = given
        return sla.qr(self.project(block), mode="economic")[0]

    @cached_property
    def sparse(self) -> sp.csc_array:
        """B as a sparse float64 matrix."""
        A = sp.csc_array(self.matrix).astype(np.float64)
        if self.scale is None:
            return A
        D = sp.dia_array((self.scale[None, :], [0]), shape=A.shape)
        return sp.csc_array(D @ A @ D)


def unit_of(size: float, dtype: Any = np.float64) -> float:
    """1, or where squares of numbers of this size could leave the range of float64, a power of two near it."""
    most = 1e12 if dtype == np.float32 else 1e60
    if size == 0 or not np.isfinite(size) or 1 / most < size < most:
        return 1.0
    return float(2.0 ** np.clip(np.round(np.log2(size)), -1000, 1000))


def length(x: Array) -> float:
    """Euclidean norm of all entries, whatever their size."""
    largest = float(np.abs(x).max(initial=0.0))
    return largest * float(np.linalg.norm(x / largest)) if largest > 0 else largest


def scaled_product(A: Any, scale: Array | None, Y: Array) -> Array:
    """D A D Y; float64 out, the product itself in the precision of a dense A."""
    Y = Y if scale is None else scale[:, None] * Y
    product = dense_product(A, Y) if isinstance(A, np.ndarray) else np.asarray(A @ Y, dtype=np.float64)
    return product if scale is None else scale[:, None] * product


def dense_product(A: Array, Y: Array) -> Array:
    """A Y as (Y'A)', A being symmetric: a wide right factor is a quarter faster than a narrow one."""
    rows = np.ascontiguousarray(Y.T, dtype=A.dtype)
    A = A if A.flags.c_contiguous else A.T
    if rows.size * A.shape[0] < 3e7:  # done before threads have started
        with threads.single_blas():
            return (rows @ A).astype(np.float64, copy=False).T
    out = np.empty(rows.shape)

    def fill(columns: slice) -> None:
        out[:, columns] = rows @ A[:, columns]

    threads.map_rows(fill, A.shape[0], 512)
    return out.T


def block_width(k: int) -> int:
    """Some guard vectors, and a multiple of eight: products of 16 columns take less time than those of 15."""
    return -(-(k + 3) // 8) * 8


def orthonormal(Q: Array) -> Array:
    """An orthonormal basis of span(Q): of nearly orthonormal columns from their inner products, faster than by QR."""
    if not Q.shape[1]:
        return Q
    inner = Q.T @ Q
    if np.abs(inner - np.eye(len(inner))).max() * len(inner) < 0.5:  # so that no eigenvalue is below 1/2
        return Q @ np.linalg.inv(np.linalg.cholesky(inner)).T
    return sla.qr(Q, mode="economic", check_finite=False)[0]


def sampled_residuals(problem: Problem, values: Array, vectors: Array) -> Array:
    """Residual norms of many pairs, each from eight random directions: w'(B V - V diag(values)) without B V."""
    W = problem.rng.standard_normal((problem.n, 8))
    gaps = problem.precise(W).T @ vectors - (W.T @ vectors) * values
    return np.sqrt(np.mean(gaps**2, axis=0))


def rayleigh_ritz(problem: Problem, Y: Array) -> tuple[Array, Array, Array]:
    """Values, vectors and residual norms (float64) of B projected onto span(Y), wanted end first."""
    Y = orthonormal(problem.project(orthonormal(Y)))
    BY = problem.project(problem.precise(Y))
    H = Y.T @ BY
    values, S = sla.eigh(problem.sign * (H + H.T) / 2)
    values, S = problem.sign * values[::-1], S[:, ::-1]
    vectors = Y @ S
    return values, vectors, np.linalg.norm(BY @ S - vectors * values, axis=0)


def sign_factors(vectors: Array) -> Array:
    """+-1 per column: makes its entry of largest magnitude positive, of equal ones (to 1e-9) the first."""
    size = np.abs(vectors)
    first = np.argmax(size >= (1 - 1e-9) * size.max(axis=0), axis=0)
    return np.where(vectors[first, np.arange(vectors.shape[1])] < 0, -1.0, 1.0)


def fix_signs(vectors: Array) -> Array:
    """Columns with their entry of largest magnitude positive."""
    return vectors * sign_factors(vectors)

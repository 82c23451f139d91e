"""Singular value decompositions; the front door is `spectrum.svd`.

Whatever finds the subspace, the triplets are made the same way: multiply the table with an orthonormal basis
of its shorter side in float64, decompose that product, and measure X'u - s v.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.linalg as sla
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator
from sklearn.exceptions import ConvergenceWarning

from lowdim._core.runtime import memory, threads
from lowdim._core.runtime.notices import warn
from lowdim._core.runtime.rng import generator
from lowdim._core.spectrum.block_lanczos import block_lanczos
from lowdim._core.spectrum.moments import Moments, gram
from lowdim._core.spectrum.problem import SEED, Array, Problem, block_width, sign_factors, unit_of
from lowdim._core.spectrum.solvers import FAILURES, complete_arpack, lapack

SMALL = 400  # shorter side up to which an iterative method does not pay
FLOAT32_TOL = 2e-6  # what float32 entries can carry


@dataclass(frozen=True, eq=False)
class SVD:
    """X - 1 center' = U diag(values) Vt, the k largest singular values, descending.

    Attributes
    ----------
    U : ndarray of shape (n, k)
    values : ndarray of shape (k,)
    Vt : ndarray of shape (k, d)
        The largest entry of each row is positive.
    residuals : ndarray of shape (k,)
        The larger of ||X v - s u|| and ||X'u - s v||, relative to the largest singular value.
    solver : str
    """

    U: Array
    values: Array
    Vt: Array
    residuals: Array
    solver: str


@dataclass(frozen=True, eq=False)
class Table:
    """Rows and a centre taken off when they are used: dense or memory-mapped, sparse, or an operator."""

    rows: Any
    center: Array | None

    @property
    def shape(self) -> tuple[int, int]:
        return self.rows.shape

    @property
    def is_dense(self) -> bool:
        return isinstance(self.rows, np.ndarray)

    @property
    def is_single(self) -> bool:
        return self.is_dense and self.rows.dtype == np.float32

    def part(self, rows: slice, dtype: Any) -> Array:
        """Some rows of a dense table, centred before anything is multiplied."""
        block = np.asarray(self.rows[rows])
        block = block if self.center is None else block - self.center.astype(block.dtype)
        return block.astype(dtype, copy=False)

    def times(self, V: Array, precise: bool = True) -> Array:
        """(X - 1 c') V, float64; products of float32 rows in float32 unless precise."""
        if not self.is_dense:
            product = np.asarray(self.rows @ V, dtype=np.float64)
            return product if self.center is None else product - self.center @ V
        out = np.empty((self.shape[0], V.shape[1]))
        dtype = np.float64 if precise else self.rows.dtype
        V = V.astype(dtype, copy=False)

        def fill(rows: slice) -> None:
            out[rows] = self.part(rows, dtype) @ V

        threads.map_rows(fill, self.shape[0], self._block())
        return out

    def transposed_times(self, U: Array, precise: bool = True) -> Array:
        """(X - 1 c')' U, float64."""
        if not self.is_dense:
            T = self.rows.T if sp.issparse(self.rows) else self.rows.H
            product = np.asarray(T @ U, dtype=np.float64)
            return product if self.center is None else product - np.multiply.outer(self.center, U.sum(axis=0))
        dtype = np.float64 if precise else self.rows.dtype
        block, total = self._block(), np.zeros((self.shape[1], U.shape[1]))
        lane = block * max(1, -(-self.shape[0] // (16 * block)))  # fixed lanes: the same bits for any thread count

        def add(rows: slice) -> Array:
            inner = [
                slice(rows.start + p.start, rows.start + p.stop) for p in threads.blocks(rows.stop - rows.start, block)
            ]
            return sum(self.part(p, dtype).T @ U[p].astype(dtype, copy=False) for p in inner)

        for found in threads.map_rows(add, self.shape[0], lane):
            total += found
        return total

    def _block(self) -> int:
        return max(256, 2**22 // max(1, 8 * self.shape[1]))

    # The shorter side carries the basis; these two hide which one it is.

    @property
    def tall(self) -> bool:
        return self.shape[0] >= self.shape[1]

    def away(self, Y: Array, precise: bool = True) -> Array:
        """From the shorter side to the longer."""
        return self.times(Y, precise) if self.tall else self.transposed_times(Y, precise)

    def back(self, Z: Array, precise: bool = True) -> Array:
        """From the longer side to the shorter."""
        return self.transposed_times(Z, precise) if self.tall else self.times(Z, precise)


def svd(
    X: Any,
    k: int | None = None,
    *,
    center: Array | None = None,
    solver: str = "auto",
    tol: float = 1e-8,
    rng: Any = None,
    owner: str = "svd",
) -> SVD:
    """The k largest singular triplets of X, or of X - 1 center'.

    Parameters
    ----------
    X : ndarray, sparse matrix or LinearOperator of shape (n, d)
        Neither sparse rows nor operators are ever made dense; memory-mapped rows are read chunk by chunk.
    k : int, optional
        All min(n, d) when left out.
    center : ndarray of shape (d,), optional
        Taken off every row, implicitly for sparse rows and operators.
    solver : {"auto", "lapack", "gram", "arpack", "randomized"}
        "lapack" decomposes a dense copy. "gram" goes through the matrix of inner products of the shorter
        side: fast, and blind to the direction of triplets below about 1e-8 of the largest singular value
        (3e-4 in float32), unless all are asked for. "arpack" and "randomized" (block Krylov from random
        vectors) only multiply. "auto" chooses, checks the residuals and goes on where they fail.
    tol : float
        Largest residual accepted, relative to the largest singular value; float32 rows are held to 2e-6.
    rng : None, int or Generator
        For the start vectors; None is a fixed seed.
    owner : str
        Name of the caller, for messages.

    Returns
    -------
    SVD

    Examples
    --------
    >>> import numpy as np
    >>> svd(np.array([[0.0, 3.0], [-4.0, 0.0], [0.0, 0.0]])).Vt
    array([[1., 0.],
           [0., 1.]])
    """
    table, unit = _in_range(_table(X, center, owner))
    most = min(table.shape)
    k = most if k is None else k
    if not (isinstance(k, (int, np.integer)) and 1 <= k <= most):
        raise ValueError(f"{owner}: k must be an integer between 1 and min(n, d) = {most}; got {k!r}.")
    if solver not in ("auto", *_SOLVERS):
        raise ValueError(f"{owner}: solver must be one of auto, {', '.join(_SOLVERS)}; got {solver!r}.")
    tol = max(tol, FLOAT32_TOL) if table.is_single else tol
    problem = _gram_problem(table, int(k), tol, generator(SEED if rng is None else rng), owner)
    chain = _chain(table, int(k)) if solver == "auto" else [solver]
    best = _first_good(table, problem, chain)
    if best.residuals.max() > tol:
        warn(
            f"{owner}: {int((best.residuals > tol).sum())} of {k} singular triplets miss the tolerance "
            f"{tol:.1e}: the largest relative residual is {best.residuals.max():.1e} "
            f"(solver {best.solver!r}, tried {', '.join(chain)}). Raise tol or ask for fewer.",
            ConvergenceWarning,
        )
    return best if unit == 1 else replace(best, values=best.values * unit)


def _first_good(table: Table, problem: Problem, chain: list[str]) -> SVD:
    """The result of the first solver that meets the tolerance, else the best of all."""
    best: SVD | None = None
    for position, name in enumerate(chain):
        try:
            found = _triplets(table, _SOLVERS[name](table, problem), problem.k, name)
        except (MemoryError, *FAILURES):
            if best is None and position == len(chain) - 1:
                raise
            continue
        best = found if best is None or found.residuals.max() < best.residuals.max() else best
        if best.residuals.max() <= problem.tol:
            break
    assert best is not None  # the last solver returned or raised
    return best


def _triplets(table: Table, basis: Array, k: int, solver: str) -> SVD:
    """Singular triplets within the span of a basis of the shorter side, and their residuals, in float64."""
    Y = threads.lapack(sla.qr, basis, mode="economic")[0]
    P, values, R = _orthogonal_svd(table.away(Y))
    short, long, values = Y @ R[:, :k], P[:, :k], values[:k]
    gap = np.linalg.norm(table.back(long) - short * values, axis=0)
    residuals = gap / values[0] if values[0] > 0 else gap
    U, V = (long, short) if table.tall else (short, long)
    signs = sign_factors(V)
    return SVD(U * signs, values, (V * signs).T, residuals, solver)


def _orthogonal_svd(Z: Array) -> tuple[Array, Array, Array]:
    """P, s, R with Z R = P diag(s); columns that are already orthogonal only need sorting."""
    values = np.linalg.norm(Z, axis=0)
    if values.min() > 0:
        P = Z / values
        if np.abs(P.T @ P - np.eye(len(values))).max() < 1e-12:
            order = np.argsort(-values, kind="stable")
            return P[:, order], values[order], np.eye(len(values))[:, order]
    Q, T = threads.lapack(sla.qr, Z, mode="economic")
    P, values, Rt = threads.lapack(sla.svd, T)
    return Q @ P, values, Rt.T


# ---------------------------------------------------------------------------------------------------- solvers


def _gram_problem(table: Table, k: int, tol: float, rng: np.random.Generator, owner: str) -> Problem:
    """The eigenproblem of the inner products of the shorter side, as an operator; NaN shows here."""
    m = min(table.shape)

    def times(Y: Array) -> Array:
        Y = Y.reshape(m, -1)
        return table.back(table.away(Y, precise=False), precise=False)

    x = generator(SEED).uniform(0.5, 1.0, (m, 1))
    for _ in range(3):
        x, size = times(x), np.linalg.norm(x)
        if not np.isfinite(x).all():
            raise ValueError(f"{owner}: X must be finite; it holds NaN or infinity (or overflows).")
        norm = float(np.linalg.norm(x) / size) or 1.0
        x = x / norm
        if not x.any():
            break
    operator = LinearOperator((m, m), matvec=times, matmat=times, dtype=np.float64)
    return Problem(operator, None, np.empty((m, 0)), k, 1.0, norm, tol, None, rng, owner)


def _by_lapack(table: Table, problem: Problem) -> Array:
    """Vectors of the shorter side from a dense decomposition."""
    if not table.is_dense:
        raise ValueError(f'{problem.owner}: solver "lapack" needs a dense array. Use "auto", "arpack" or "randomized".')
    n, d = table.shape
    memory.check(problem.owner, {"centred copy": 8 * n * d, "factors": 16 * n * d}, "Ask for fewer components.")
    X = table.part(slice(0, n), np.float64)
    X = X if table.tall else X.T
    T = X
    if X.shape[0] > 2 * X.shape[1]:
        T = threads.lapack(sla.qr, X, mode="r", check_finite=False)[0][: X.shape[1]]
    try:
        Vt = threads.lapack(np.linalg.svd, T, full_matrices=False)[2]
    except np.linalg.LinAlgError:  # divide and conquer failed; QR iteration is slower and does not
        Vt = threads.lapack(sla.svd, T, full_matrices=False, check_finite=False, lapack_driver="gesvd")[2]
    return Vt[: problem.k].T


def _by_gram(table: Table, problem: Problem) -> Array:
    """Eigenvectors of the explicit matrix of inner products."""
    m = min(table.shape)
    memory.check(problem.owner, {"inner products": 24 * m * m}, "Ask for fewer components.")
    dense = replace(problem, matrix=_inner_products(table), tol=1e-13)
    if m <= SMALL or problem.k > m // 8:
        return lapack(dense)
    with threads.single_blas():
        return block_lanczos(dense, dense.wanted)


def _inner_products(table: Table) -> Array:
    """X'X or XX' of the centred table, whichever is smaller."""
    X = table.rows
    center = np.zeros(table.shape[1]) if table.center is None else table.center
    if isinstance(X, LinearOperator) or (table.tall and sp.issparse(X)):
        m = min(table.shape)
        parts = [table.back(table.away(np.eye(m, min(256, m - s), -s))) for s in range(0, m, 256)]
        return np.hstack(parts)
    return Moments.of(X).about(center) if table.tall else gram(X, center)


def _by_arpack(table: Table, problem: Problem) -> Array:
    if problem.k >= problem.n - 1:
        return _by_gram(table, problem)
    return complete_arpack(problem, problem.times, 2 * problem.norm)


def _by_krylov(table: Table, problem: Problem) -> Array:
    """Block Krylov (Musco and Musco, 2015), restarted until every triplet is accurate."""
    with threads.single_blas():
        return block_lanczos(problem, problem.times, power=0.5)


_SOLVERS = {"lapack": _by_lapack, "gram": _by_gram, "arpack": _by_arpack, "randomized": _by_krylov}


def _chain(table: Table, k: int) -> list[str]:
    """Solvers in the order they are tried."""
    short, long = sorted(table.shape)
    last = ["lapack"] if table.is_dense else []
    if short <= SMALL or k > short // 8:
        return ["gram", *last] if long >= 8 * short or not last else last
    # Inner products cost `short` columns of a product, block Krylov about twenty blocks of them.
    return ["gram", "randomized", *last] if short <= 40 * block_width(k) and last else ["randomized", "arpack", *last]


# ----------------------------------------------------------------------------------------------------- checks


def _in_range(table: Table) -> tuple[Table, float]:
    """The table in a unit (a power of two) in which its squares neither overflow nor vanish, and that unit."""
    x = generator(SEED).uniform(0.5, 1.0, (min(table.shape), 1))
    unit = unit_of(float(np.abs(table.away(x, precise=False)).max()), np.float32 if table.is_single else np.float64)
    if unit == 1:
        return table, 1.0
    return Table(table.rows * (1 / unit), None if table.center is None else table.center / unit), unit


def _table(X: Any, center: Any, owner: str) -> Table:
    if sp.issparse(X):
        X = sp.csr_array(X).astype(np.float64)
    elif not isinstance(X, LinearOperator):
        X = X if isinstance(X, np.ndarray) else np.asarray(X)
        X = X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)
    if X.ndim != 2 or min(X.shape) == 0:
        raise ValueError(f"{owner}: X must have rows and columns; got shape {X.shape}.")
    if center is None:
        return Table(X, None)
    center = np.asarray(center, dtype=np.float64)
    if center.shape != (X.shape[1],) or not np.isfinite(center).all():
        raise ValueError(f"{owner}: center must hold {X.shape[1]} finite numbers; got shape {center.shape}.")
    if isinstance(X, np.ndarray) and not isinstance(X, np.memmap) and 2 * X.nbytes < memory.limit():
        return Table(X - center.astype(X.dtype), None)  # centred once instead of in every product
    return Table(X, center)

"""The eigensolvers behind `spectrum.eigenpairs`: each finds a basis that holds the wanted pairs.

A solver returns approximate eigenvectors only; `spectrum` projects the matrix onto them in float64, measures
the residuals and decides.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.linalg as sla
import scipy.sparse as sp
from scipy.sparse.csgraph import reverse_cuthill_mckee
from scipy.sparse.linalg import ArpackError, ArpackNoConvergence, LinearOperator, eigsh, lobpcg, splu

from lowdim._core.runtime import memory, threads
from lowdim._core.spectrum.block_lanczos import block_lanczos
from lowdim._core.spectrum.multigrid import multigrid
from lowdim._core.spectrum.problem import EPS, Array, Problem, rayleigh_ritz

# Bytes per entry of the profile after reverse Cuthill-McKee that a symmetric LU was seen to take, at most.
# Laplacians and LLE matrices of kNN graphs in 2 to 50 dimensions, 3,000 to 50,000 rows: L + U hold 0.3 to 1.8
# entries of 8 + 4 bytes per entry of the profile.
BYTES_PER_PROFILE_ENTRY = 22
# The signs of the pivots are read from a copy of both factors, which SciPy makes and keeps.
COPIES = 2
# Bytes of factors that are made within minutes; larger ones are made only where nothing else works.
LARGEST_FACTORS = 4_700_000_000
# Distances of the shift below zero relative to the norm. The first is far above the 1e-15 by which rounding
# moves eigenvalues; the others are for matrices that are semi-definite up to rounding of their entries.
SHIFTS = (1e-10, 1e-7, 1e-4)


def lapack(problem: Problem) -> Array:
    """Vectors from all of the matrix at once: exact to rounding, n^3 operations and two n x n float64 arrays."""
    return lapack_pairs(problem)[1]


def lapack_pairs(problem: Problem) -> tuple[Array, Array]:
    """The same with their values, ascending."""
    n, k = problem.n, problem.k
    memory.check(problem.owner, {"dense matrix": 8 * n * n, "dense solver": 8 * n * n}, "Ask for fewer rows.")
    B = _dense(problem)
    if problem.null.shape[1]:
        # P B P plus a multiple of Q Q' that puts the known subspace behind the unwanted end; rank-s updates
        # in place.
        Q, BQ = problem.null, B @ problem.null
        inner = Q.T @ BQ - 2 * problem.sign * problem.norm * np.eye(Q.shape[1])
        B += Q @ inner @ Q.T - Q @ BQ.T - BQ @ Q.T
    ends = (n - k, n - 1) if problem.sign > 0 else (0, k - 1)
    return _ends(B, k, ends)


def _ends(B: Array, k: int, ends: tuple[int, int]) -> tuple[Array, Array]:
    """The pairs between two places of the ascending spectrum."""
    n = len(B)
    if 4 * k < n:  # else divide and conquer is faster, though it finds them all
        # Inside a tight cluster inverse iteration fails, or quietly gives fewer vectors; the full solver does not.
        with suppress(np.linalg.LinAlgError):
            values, vectors = threads.lapack(sla.eigh, B, subset_by_index=ends, driver="evr", check_finite=False)
            if vectors.shape[1] == k:
                return values, vectors
    values, vectors = threads.lapack(np.linalg.eigh, B)
    return values[ends[0] : ends[1] + 1], vectors[:, ends[0] : ends[1] + 1]


def _dense(problem: Problem) -> Array:
    """B as a float64 array, of its own where it is to be changed: allocation is expensive."""
    A = problem.matrix
    if not isinstance(A, np.ndarray):
        A = A.toarray() if sp.issparse(A) else np.asarray(A @ np.eye(problem.n))
    elif A.dtype == np.float64 and problem.scale is None and not problem.null.shape[1]:
        return A
    B = np.array(A, dtype=np.float64, order="C")
    if problem.scale is not None:
        B *= problem.scale
        B *= problem.scale[:, None]
    return B


def block(problem: Problem) -> Array:
    """Block Lanczos; sparse matrices at the small end go through the inverse of the shifted matrix."""
    if problem.is_sparse and problem.sign < 0:
        inverse = ShiftedInverse.below(problem)
        return inverse.polish(block_lanczos(problem, inverse.times, power=1.0))
    with threads.single_blas():  # the large products bring their own threads; the small ones only lose by them
        return block_lanczos(problem, problem.wanted)


# ---------------------------------------------------------------------------------------- the shifted inverse


@dataclass(frozen=True, eq=False)
class ShiftedInverse:
    """(C - shift I)^-1 on the free space, where C = -sign B and the shift lies below all of C's eigenvalues.

    The pairs wanted of B are then the largest of the inverse, and the closer the shift the better they
    separate.
    """

    problem: Problem
    shift: float
    lu: Any
    border: Array  # S Q (Q' S Q)^-1 turns the inverse into that of the projected matrix, Q invariant or not

    @classmethod
    def below(cls, problem: Problem) -> ShiftedInverse:
        """Factorise with the first of some shifts that lies below the spectrum.

        A matrix minus a shift has as many negative pivots as it has eigenvalues below the shift (Sylvester), so that
        an indefinite matrix cannot be taken for a semi-definite one and its pairs be missed. Of a matrix that is
        semi-definite by its construction the pivots need not be looked at.
        """
        size = factor_bytes(problem)
        memory.check(problem.owner, {"sparse factors": size}, 'Use solver="lobpcg".')
        if size > problem.most_factors:
            raise MemoryError(f"{problem.owner}: sparse factors of {memory.show(size)} take very long to make.")
        C = -problem.sign * problem.sparse
        for shift in cls._candidates(problem):
            lu = _symmetric_lu(C, shift)
            if lu and (problem.semidefinite or _is_definite(lu)):
                return cls._bordered(problem, shift, lu)
        raise np.linalg.LinAlgError("no shift makes the matrix definite")

    @staticmethod
    def _candidates(problem: Problem) -> Iterator[float]:
        """Shifts just below zero, then below an estimate of the least eigenvalue of C."""
        if problem.sign < 0:
            yield -SHIFTS[0] * problem.norm
        bottom = -_top(problem)
        if bottom > -SHIFTS[-1] * problem.norm:
            yield from (-distance * problem.norm for distance in SHIFTS[1:])
        yield from (bottom - distance * problem.norm for distance in (0.01, 0.1, 1.0, 10.0))

    @classmethod
    def _bordered(cls, problem: Problem, shift: float, lu: Any) -> ShiftedInverse:
        Q = problem.null
        SQ = lu.solve(np.ascontiguousarray(Q)) if Q.shape[1] else Q
        return cls(problem, shift, lu, np.linalg.solve((Q.T @ SQ).T, SQ.T).T)

    def times(self, Y: Array) -> Array:
        """The inverse times Y, inside the free space."""
        X = self.lu.solve(self.problem.project(Y))
        return self.problem.project(X - self.border @ (self.problem.null.T @ X)) if self.border.size else X

    def polish(self, Y: Array) -> Array:
        """Subspace iterations until small eigenvalues are right relative to themselves, or to rounding.

        A residual of 1e-10 relative to the norm says nothing about an eigenvalue of 1e-12; Lanczos on the
        inverse mixes such vectors, and another product with the inverse separates them.
        """
        problem, before = self.problem, np.inf
        for _ in range(6):
            values, Y, residuals = rayleigh_ritz(problem, Y)
            goal = np.maximum(1e-6 * np.abs(values), 50 * EPS * problem.norm)
            worst = (residuals / np.minimum(goal, problem.tol * problem.norm))[: problem.k].max()
            if worst <= 1 or worst > 0.5 * before:
                break
            before, Y = worst, self.times(Y)
        return Y


def factor_bytes(problem: Problem) -> int:
    """A bound for the memory of a sparse factorisation."""
    return profile_bytes(problem.matrix) * (1 if problem.semidefinite else COPIES)


def profile_bytes(matrix: Any) -> int:
    """The same for a symmetric sparse matrix, from its profile after reverse Cuthill-McKee."""
    A = sp.csr_matrix(matrix)
    n = A.shape[0]
    place = np.empty(n, dtype=np.int64)
    place[reverse_cuthill_mckee(A, symmetric_mode=True)] = np.arange(n)
    first = np.arange(n)
    rows = np.repeat(place, np.diff(A.indptr))
    np.minimum.at(first, rows, place[A.indices])
    return int(BYTES_PER_PROFILE_ENTRY * (np.arange(n) - first + 1).sum())


def graph_factor_bytes(n: int, p: int, r: int) -> int:
    """What the factors of a graph of r dimensions take, p rows meeting in each neighbourhood.

    Measured on 3,000 to 16,000 rows: in five to ten dimensions L and U fill more than half of the matrix, in more of
    them less, as a few rows are then neighbours of many. `profile_bytes` looks at the graph once it is there.
    """
    in_many = n * (1 - np.exp(-p / 15)) * min(1.0, (10 / r) ** 0.7)
    sheets = {1: 8.0 * p, 2: 1.7 * p * np.log2(max(n, 2)), 3: 0.16 * p * n**0.73, 4: 0.23 * p * n**0.775}
    return int(12 * n * min(n, sheets.get(r, in_many)))


def _symmetric_lu(C: sp.csc_array, shift: float) -> Any:
    """The factors of C - shift I, or None where it is singular."""
    shifted = sp.csc_matrix(C - shift * sp.eye_array(C.shape[0], format="csc"))
    try:
        # Minimum degree on A + A' with pivots on the diagonal: half the fill of the default ordering, and
        # symmetric.
        options = {"permc_spec": "MMD_AT_PLUS_A", "diag_pivot_thresh": 0.0, "options": {"SymmetricMode": True}}
        return threads.aside(lambda: splu(shifted, **options))
    except RuntimeError:  # exactly singular
        return None


def _is_definite(lu: Any) -> bool:
    """Whether all pivots are on the diagonal and positive; SciPy copies both factors for it."""
    return bool(np.array_equal(lu.perm_r, lu.perm_c) and np.all(lu.U.diagonal() > 0))


def _top(problem: Problem) -> float:
    """A close lower bound of the largest eigenvalue of sign B."""
    rough = replace(problem, k=1, tol=1e-4, max_iter=40)
    return float(problem.sign * rayleigh_ritz(rough, block_lanczos(rough, rough.wanted))[0][0])


# --------------------------------------------------------------------------------------------- ARPACK, LOBPCG


def arpack(problem: Problem) -> Array:
    """Implicitly restarted Lanczos; on the shifted inverse for sparse matrices at the small end."""
    if problem.is_sparse and problem.sign < 0:
        inverse = ShiftedInverse.below(problem)
        return inverse.polish(complete_arpack(problem, inverse.times, 0.0))
    return complete_arpack(problem, problem.wanted, 2 * problem.norm)


def complete_arpack(problem: Problem, times: Callable[[Array], Array], behind: float) -> Array:
    """ARPACK's vectors, and the copies of multiple eigenvalues it missed.

    `behind` is how far below zero the eigenvalues of found vectors are moved: 0 suffices where all are positive.
    One vector's Krylov space holds one vector of each eigenspace; rounding brings in the others, mostly. So
    the found vectors are moved behind the unwanted end and the largest of the rest is computed, until it is none
    of the wanted.
    """
    values, Y = _eigsh(problem, times, problem.k, 0.1 * problem.tol)
    if values.size < problem.k:
        raise np.linalg.LinAlgError(f"ARPACK found {values.size} of {problem.k} eigenpairs")
    for _ in range(problem.k):
        found = Y

        def rest(X: Array, found: Array = found) -> Array:
            inside = found @ (found.T @ X)
            product = times(X - inside)
            return product - found @ (found.T @ product) - behind * inside

        best, y = _eigsh(problem, rest, 1, 1e-4)
        worst = np.sort(values)[-problem.k :][0]
        if best.size == 0 or best[0] <= worst + 1e-7 * abs(worst):
            break
        best, y = _eigsh(problem, rest, 1, 0.1 * problem.tol)
        values, Y = np.append(values, best), sla.qr(np.hstack([Y, y]), mode="economic")[0]
    return Y


def _eigsh(problem: Problem, times: Callable[[Array], Array], k: int, tol: float) -> tuple[Array, Array]:
    operator = LinearOperator((problem.n, problem.n), matvec=lambda x: times(x.reshape(-1, 1))[:, 0], dtype=np.float64)
    if k >= problem.n - 1:  # more than ARPACK can hold
        values, vectors = threads.lapack(sla.eigh, times(np.eye(problem.n)))
        return values[-k:], vectors[:, -k:]
    start, most = problem.start(1)[:, 0], min(problem.n, max(2 * k + 1, 20) + k)
    try:
        return eigsh(operator, k=k, which="LA", v0=start, ncv=most, tol=tol, maxiter=problem.max_iter)
    except ArpackNoConvergence as unfinished:
        return unfinished.eigenvalues, unfinished.eigenvectors


def lobpcg_diagonal(problem: Problem) -> Array:
    """LOBPCG, preconditioned by the diagonal."""
    width = problem.k + max(2, problem.k // 4)
    if 5 * width >= problem.free:
        return lapack(problem)
    size = (problem.n, problem.n)
    operator = LinearOperator(size, matvec=problem.times, matmat=problem.times, dtype=np.float64)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the residuals are measured and reported by the caller
        return lobpcg(
            operator,
            problem.start(width),
            M=_diagonal_preconditioner(problem),
            Y=problem.null if problem.null.shape[1] else None,
            largest=problem.sign > 0,
            tol=0.3 * problem.tol * problem.norm,
            maxiter=problem.max_iter or 300,
        )[1]


def _diagonal_preconditioner(problem: Problem) -> LinearOperator | None:
    """Division by the diagonal, for the small end of the spectrum of a sparse matrix."""
    if not problem.is_sparse or problem.sign > 0:
        return None
    # Nearer to singular, the preconditioner blows the null vector up until it hides the others.
    shifted = problem.sparse.diagonal() + 1e-5 * problem.norm
    diagonal = np.maximum(shifted, 1e-8 * problem.norm)[:, None]

    def divide(Y: Array) -> Array:
        return (Y.reshape(len(diagonal), -1) / diagonal).reshape(Y.shape)

    return LinearOperator((problem.n, problem.n), matvec=divide, matmat=divide, dtype=np.float64)


SOLVERS: dict[str, Callable[[Problem], Array]] = {
    "lapack": lapack,
    "block": block,
    "arpack": arpack,
    "lobpcg": lobpcg_diagonal,
    "multigrid": multigrid,
}
FAILURES = (ArpackError, np.linalg.LinAlgError, RuntimeError, ValueError)

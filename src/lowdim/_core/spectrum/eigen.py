"""Eigenpairs of symmetric matrices: the front door.

`eigenpairs` picks a solver by size, sparsity and end of the spectrum, measures the residual of every pair in
float64, falls back to another solver when one misses the tolerance, and warns when all of them do. Vectors
come sorted and with a fixed sign, and the same call gives the same bits.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.linalg as sla
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

from lowdim._core.runtime import threads
from lowdim._core.runtime.rng import generator
from lowdim._core.spectrum.choice import FLOAT32_TOL, chain_of, finished, first_good, judged, solve
from lowdim._core.spectrum.problem import (
    SEED,
    Array,
    Problem,
    fix_signs,
    length,
    scaled_product,
    unit_of,
)
from lowdim._core.spectrum.record import Eigenpairs
from lowdim._core.spectrum.solvers import LARGEST_FACTORS, SOLVERS

TINY = 128  # rows up to which looking at every entry takes less time than the choice of a solver


def eigenpairs(
    A: Any,
    k: int,
    *,
    which: str = "largest",
    mass: Array | None = None,
    skip: int | Array = 0,
    solver: str = "auto",
    tol: float = 1e-10,
    max_iter: int | None = None,
    rng: Any = None,
    start: Array | None = None,
    norm: float | None = None,
    give_up: bool = False,
    rough: bool = False,
    semidefinite: bool = False,
    owner: str = "eigenpairs",
) -> Eigenpairs:
    """The k largest or smallest eigenpairs of a symmetric matrix, A v = lambda v or A v = lambda M v.

    Parameters
    ----------
    A : ndarray, sparse matrix or LinearOperator of shape (n, n)
        Symmetric. A float32 array is multiplied in float32 by the block solver; its residuals are held to
        2e-6.
    k : int
        Number of pairs, at most n less the skipped ones.
    which : {"largest", "smallest"}
        Algebraic end of the spectrum.
    mass : ndarray of shape (n,), optional
        Diagonal of M, positive.
    skip : int or ndarray of shape (n, s)
        Leave out this many pairs at the wanted end; or vectors spanning an invariant subspace that is known
        (the constant on each component of a graph, say): it is projected out, and the pairs found are
        orthogonal to it.
    solver : {"auto", "lapack", "block", "arpack", "lobpcg", "multigrid"}
        "lapack" works on the full dense matrix; "block" is block Lanczos, "arpack" its one-vector relative,
        both on a factorised shifted inverse for sparse matrices at the small end; "lobpcg" needs no factors;
        "multigrid" is for the small end of Laplacians whose constant is given as `skip`.
        "auto" chooses, checks, and goes on to the next where the check fails; the others are used alone.
    tol : float
        Largest residual accepted, relative to the norm of the matrix.
    max_iter : int, optional
        Steps of the iterative solver: 300 for "block" and "lobpcg", ten per row for "arpack".
    rng : None, int or Generator
        For the start vectors; None is a fixed seed.
    start : ndarray of shape (n, s), optional
        Vectors near the wanted ones, best first, where the block solver begins.
    norm : float, optional
        About the norm of the matrix, where it is known: spares the products that would find it, and the check of
        symmetry that comes with them.
    give_up : bool
        Raise `TooHard` where pairs miss ten times the tolerance, instead of returning them with a warning, and rather
        than make sparse factors that take very long: for callers that have another way.
    rough : bool
        Take what the first solver finds, within `tol` or not, without a warning: for an initialisation.
    semidefinite : bool
        A has no negative eigenvalue by its construction (a Laplacian, a product B'B): sparse factors need not prove it,
        which halves their memory.
    owner : str
        Name of the caller, for messages.

    Returns
    -------
    Eigenpairs

    Examples
    --------
    >>> import numpy as np
    >>> eigenpairs(np.diag([3.0, 1.0, 2.0]), 2).values
    array([3., 2.])
    >>> eigenpairs(np.diag([3.0, 1.0, 2.0]), 1, which="smallest", skip=1).vectors[:, 0]
    array([0., 0., 1.])
    """
    A = _matrix(A, owner)
    _check_choices(which, solver, owner)
    if _is_tiny(A, mass, skip, solver):
        return _tiny(A, k, which, int(skip), owner)
    scale = None if mass is None else 1 / np.sqrt(_mass(mass, A.shape[0], owner))
    rounding = float(np.finfo(np.float32).eps) if np.dtype(A.dtype or np.float64) == np.float32 else 0.0
    if norm is None:
        with threads.single_blas():  # set once for the small products
            norm = _norm(A, scale, rounding, owner)
    if (unit := unit_of(norm, A.dtype)) != 1:  # norms of very large or small products would overflow or vanish
        A, norm = A * (1 / unit), norm / unit
    null, drop = _known(skip, A, scale, norm, rounding, owner)
    most = A.shape[0] - null.shape[1] - drop
    _check_count(k, most, owner)
    random = generator(SEED if rng is None else rng)
    sign = 1.0 if which == "largest" else -1.0
    tol = max(tol, FLOAT32_TOL) if rounding > 1e-8 else tol
    problem = Problem(
        A, scale, null, int(k) + drop, sign, norm, tol, max_iter, random, owner, start, semidefinite=semidefinite
    )
    chain = chain_of(problem, rough) if solver == "auto" else [solver]
    if rough:
        best = first_good(replace(problem, most_factors=LARGEST_FACTORS), chain, rough=True)
    elif solver == "auto":
        best = solve(problem, give_up)
    else:
        best = judged(problem, first_good(problem, chain), chain)
    return finished(best, scale, drop, unit)


def _is_tiny(A: Any, mass: Any, skip: Any, solver: str) -> bool:
    small = isinstance(A, np.ndarray) and A.shape[0] <= TINY and solver in ("auto", "lapack")
    return small and mass is None and isinstance(skip, (int, np.integer)) and bool(skip >= 0)


def _tiny(A: Array, k: int, which: str, drop: int, owner: str) -> Eigenpairs:
    """All pairs by LAPACK, those wanted measured."""
    most = A.shape[0] - drop
    _check_count(k, most, owner)
    single, B = A.dtype == np.float32, A.astype(np.float64)
    largest = float(np.abs(B).max())
    if not np.isfinite(largest):
        raise ValueError(f"{owner}: the matrix must be finite; it holds NaN or infinity (or overflows).")
    if np.abs(B - B.T).max() > (1e-3 if single else 1e-6) * largest:
        raise ValueError(f"{owner}: the matrix must be symmetric. Pass (A + A.T) / 2 if that is meant.")
    if (unit := unit_of(largest)) != 1:
        B /= unit
    order = slice(None, None, -1) if which == "largest" else slice(None)
    wanted = slice(drop, drop + k)
    with threads.single_blas():  # at this size others only wait, and go on waiting for milliseconds, on a busy core
        values, vectors = np.linalg.eigh(B)
        norm = max(abs(values[0]), abs(values[-1])) or 1.0
        values, vectors = values[order][wanted], vectors[:, order][:, wanted]
        residuals = np.linalg.norm(B @ vectors - vectors * values, axis=0) / norm
    return Eigenpairs(values * unit, fix_signs(vectors), residuals, "lapack")


def _check_count(k: Any, most: int, owner: str) -> None:
    if not (isinstance(k, (int, np.integer)) and 1 <= k <= most):
        raise ValueError(f"{owner}: k must be an integer between 1 and {most} (rows less skipped pairs); got {k!r}.")


def _matrix(A: Any, owner: str) -> Any:
    """A as a float32/64 array, a float64 CSR matrix or an operator; square."""
    if not (sp.issparse(A) or isinstance(A, LinearOperator)):
        A = np.asarray(A)
    if A.ndim != 2 or A.shape[0] != A.shape[1] or A.shape[0] == 0:
        raise ValueError(f"{owner}: the matrix must be square and not empty; got shape {A.shape}.")
    if A.dtype is not None and np.dtype(A.dtype).kind not in "buif":
        raise ValueError(f"{owner}: the matrix must be real; got dtype {A.dtype}.")
    if isinstance(A, LinearOperator):
        return A
    if sp.issparse(A):
        return sp.csr_array(A).astype(np.float64)
    return A if A.dtype in (np.float32, np.float64) else A.astype(np.float64)


def _check_choices(which: str, solver: str, owner: str) -> None:
    for name, value, choices in (
        ("which", which, ("largest", "smallest")),
        ("solver", solver, ("auto", *SOLVERS)),
    ):
        if value not in choices:
            raise ValueError(f"{owner}: {name} must be one of {', '.join(choices)}; got {value!r}.")


def _mass(mass: Any, n: int, owner: str) -> Array:
    mass = np.asarray(mass, dtype=np.float64)
    if mass.shape != (n,) or not (np.isfinite(mass).all() and (mass > 0).all()):
        raise ValueError(f"{owner}: mass must hold {n} positive numbers; got shape {mass.shape}, least {np.min(mass)}.")
    return mass


def _norm(A: Any, scale: Array | None, rounding: float, owner: str) -> float:
    """A lower bound of ||B||, mostly within a factor of two; 1 for a matrix of zeros.

    A few power steps: the first meets every entry, so that NaN and infinity show, and two tell x'B(Bx) from
    |Bx|^2, which differ unless B is symmetric.
    """
    x = generator(SEED).uniform(0.5, 1.0, (A.shape[0], 1))
    norm, steps = 0.0, []
    for _ in range(4 if isinstance(A, np.ndarray) else 8):
        y = scaled_product(A, scale, x)
        if not np.isfinite(y).all():
            raise ValueError(f"{owner}: the matrix must be finite; it holds NaN or infinity (or overflows).")
        norm = max(norm, length(y) / length(x))
        steps.append((x, y))
        if norm == 0:
            return 1.0
        x = y / norm
    (x, y), (z, w) = steps[0], steps[1]
    if abs(float(np.vdot(x, w) - np.vdot(y, z))) > (1e-3 if rounding else 1e-6) * length(x) * length(w):
        raise ValueError(f"{owner}: the matrix must be symmetric. Pass (A + A.T) / 2 if that is meant.")
    return norm


def _known(skip: Any, A: Any, scale: Array | None, norm: float, rounding: float, owner: str) -> tuple[Array, int]:
    """An orthonormal basis of the known subspace (of B), and the number of pairs to drop."""
    n = A.shape[0]
    if isinstance(skip, (int, np.integer)) and skip >= 0:
        return np.empty((n, 0)), int(skip)
    N = np.asarray(skip, dtype=np.float64)
    N = N[:, None] if N.ndim == 1 else N
    if N.ndim != 2 or N.shape[0] != n or N.shape[1] > n or not np.isfinite(N).all():
        raise ValueError(f"{owner}: skip must be a count or finite vectors of {n} rows; got {skip!r}.")
    N = N if scale is None else N / scale[:, None]
    U, sizes, _ = sla.svd(N / np.maximum(np.linalg.norm(N, axis=0), 1e-300), full_matrices=False)
    Q = U[:, sizes > 1e-10 * max(1.0, sizes.max(initial=0.0))]
    BQ = scaled_product(A, scale, Q)
    leak = float(np.linalg.norm(BQ - Q @ (Q.T @ BQ))) / norm
    if leak > max(1e-6, 1e3 * rounding):
        raise ValueError(
            f"{owner}: skip must span an invariant subspace (A N in the span of M N); its relative residual "
            f"is {leak:.1e}. Pass a number of pairs to leave out instead."
        )
    return Q, 0

"""Which solver, in which order, and when its pairs are good enough."""

from __future__ import annotations

from contextlib import nullcontext, suppress
from dataclasses import replace

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from lowdim._core.runtime import threads
from lowdim._core.runtime.notices import warn
from lowdim._core.spectrum.problem import (
    Array,
    Problem,
    block_width,
    fix_signs,
    rayleigh_ritz,
    sampled_residuals,
)
from lowdim._core.spectrum.record import Eigenpairs, TooHard
from lowdim._core.spectrum.solvers import FAILURES, LARGEST_FACTORS, SOLVERS, factor_bytes, lapack_pairs

SMALL = 400  # rows up to which the dense solver wins even for one pair of a sparse matrix (0.02 s)
DENSE = 700  # the same for a dense one, whose spectrum may decay slowly (0.03 s); three times that for many pairs
THIN = 4000  # rows up to which the blocks of iterative solvers are multiplied by one thread (in 3/4 of the time)
RESTARTS = 50  # of ARPACK, which does not find the vectors of an eigenvalue that many share; the block solver does
MANY = 10_000  # rows of a Laplacian from which multigrid takes less time than factors (benchmark laplacian-eigenmaps)

# Bytes of factors that are made in half a second. Few digits of a graph without structure, 4,000 x 10 normal numbers:
# 3.2 s by factors of 107 MB, 0.1 s by multigrid; 8,000: 20 s, and 0.3 GB.
QUICK_FACTORS = 40_000_000
NEARLY = 10  # times the tolerance: what misses it by less is better than what another way would find
FLOAT32_TOL = 2e-6  # entries rounded to float32 move eigenvectors this far: a finer residual would say nothing


def solve(problem: Problem, give_up: bool) -> Eigenpairs:
    """Pairs by the solvers in their order; factors that take very long come last, and not at all under `give_up`.

    The limits are bytes and steps, never seconds: the same call takes the same route every time.
    """
    chain = chain_of(problem)
    try:
        best = first_good(replace(problem, most_factors=LARGEST_FACTORS), chain)
    except (MemoryError, *FAILURES) as failure:
        if give_up:
            raise TooHard(str(failure)) from failure
        raise
    if _is_good(problem, best):
        return best
    if give_up:
        if best.residuals.max() > NEARLY * problem.tol:
            raise TooHard(_shortfall(problem, best, chain))
        return judged(problem, best, chain)
    if problem.is_sparse and problem.sign < 0 and factor_bytes(problem) > LARGEST_FACTORS:
        chain = [*chain, "arpack"]
        with suppress(MemoryError, *FAILURES):
            best = first_good(problem, chain[-1:])
    return judged(problem, best, chain)


def first_good(problem: Problem, chain: list[str], rough: bool = False) -> Eigenpairs:
    """The result of the first solver that meets the tolerance (the first at all, if rough), else the best of all."""
    best: Eigenpairs | None = None
    for position, name in enumerate(chain):
        try:
            steps = _patience(problem, name, chain[position + 1 :])
            values, vectors, residuals = _pairs(replace(problem, max_iter=steps), name)
        except (MemoryError, *FAILURES):
            if best is None and position == len(chain) - 1:
                raise
            continue
        if values.size < problem.k:
            continue
        top = slice(0, problem.k)
        found = Eigenpairs(values[top], vectors[:, top], residuals[top] / problem.norm, name)
        if best is None or found.residuals.max() < best.residuals.max():
            best = found
        if rough or _is_good(problem, best):
            return best
    if best is None:
        raise np.linalg.LinAlgError(f"{problem.owner}: no solver of {chain} found {problem.k} eigenpairs.")
    return best


def _is_good(problem: Problem, found: Eigenpairs) -> bool:
    return bool(found.residuals.max() <= problem.tol)


def judged(problem: Problem, found: Eigenpairs, chain: list[str]) -> Eigenpairs:
    """What was found, with a warning where it misses the tolerance."""
    if not _is_good(problem, found):
        way_out = "" if len(chain) > 1 else ", or use the automatic choice of solver"
        warn(f"{_shortfall(problem, found, chain)} Raise max_iter or tol{way_out}.", ConvergenceWarning)
    return found


def _patience(problem: Problem, name: str, rest: list[str]) -> int | None:
    """Maximum number of steps of a solver that others follow; None: its own default."""
    if problem.max_iter is not None or not rest:
        return problem.max_iter
    if name == "block" and rest[-1] == "lapack":  # a quarter of the dense solver's time
        return max(12, problem.n // (2 * block_width(problem.k)))
    return RESTARTS if name == "arpack" else None


def _pairs(problem: Problem, name: str) -> tuple[Array, Array, Array]:
    """Values, vectors and residual norms; what LAPACK gives is only measured, not projected again."""
    if name != "lapack" or problem.null.shape[1]:
        # The blocks are thin: threads that share one wait longer than they work, and keep a core busy meanwhile.
        with threads.single_blas() if problem.is_dense and problem.n <= THIN else nullcontext():
            return rayleigh_ritz(problem, SOLVERS[name](problem))
    values, vectors = lapack_pairs(problem)
    order = slice(None, None, -1) if problem.sign > 0 else slice(None)
    values, vectors = values[order], vectors[:, order]
    if problem.k > 64:  # the product would cost a good part of the solution
        return values, vectors, sampled_residuals(problem, values, vectors)
    return values, vectors, np.linalg.norm(problem.precise(vectors) - vectors * values, axis=0)


def _shortfall(problem: Problem, best: Eigenpairs, chain: list[str]) -> str:
    bad = int((best.residuals > problem.tol).sum())
    return (
        f"{problem.owner}: {bad} of {problem.k} eigenpairs miss the tolerance {problem.tol:.1e}: the largest "
        f"relative residual is {best.residuals.max():.1e} (solver {best.solver!r}, tried {', '.join(chain)})."
    )


def finished(found: Eigenpairs, scale: Array | None, drop: int, unit: float) -> Eigenpairs:
    """Without the skipped pairs, back from M^1/2 v to v, signs fixed, values in the matrix's own unit."""
    vectors = found.vectors[:, drop:] if scale is None else scale[:, None] * found.vectors[:, drop:]
    return Eigenpairs(found.values[drop:] * unit, fix_signs(vectors), found.residuals[drop:], found.solver)


def chain_of(problem: Problem, rough: bool = False) -> list[str]:
    """Solvers in the order they are tried."""
    n, k, small_end = problem.n, problem.k, problem.sign < 0
    direct = small_end or n <= DENSE or (n <= 3 * DENSE and k > 24)
    if n <= SMALL or k > problem.free // 8 or (problem.is_dense and direct):
        return ["lapack"]
    last = ["lapack"] if problem.is_dense or n <= 4000 else []
    if small_end:
        # Laplacians of many rows; other matrices are refused there at once.
        fits = problem.is_sparse and problem.null.shape[1] == 1 and k <= 20
        many = n >= MANY or (rough and problem.is_sparse and factor_bytes(problem) > QUICK_FACTORS)
        factors = ["arpack"] if problem.is_sparse else []
        first = ["multigrid", *factors] if many else [*factors, "multigrid"]
        return [*(first if fits else factors), "block", "lobpcg", *last]
    return ["block", *([] if problem.is_dense else ["arpack"]), *last]

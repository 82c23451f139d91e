"""Block Lanczos: a Krylov subspace of several start vectors, fully orthogonalised."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.linalg as sla

from lowdim._core.spectrum.problem import EPS, Array, Problem, block_width, orthonormal


def block_lanczos(problem: Problem, times: Callable[[Array], Array], power: float = 0.0) -> Array:
    """Ritz vectors of the k algebraically largest eigenvalues of `times`, and some guard vectors, best first.

    Each step multiplies a whole block (matrix-matrix products), orthogonalises it against all earlier ones
    twice, and solves the projected problem T. A full basis is restarted from its best Ritz vectors. The block
    is wider than the number of wanted pairs, so that a multiple eigenvalue is found with all its copies.
    Residuals are measured against |theta_i|^power |theta_max|^(1 - power): 0 the norm, 1 each eigenvalue
    itself.
    """
    width, keep, room = _sizes(problem)
    V = np.empty((problem.n, room + width), order="F")
    T = np.zeros((room + width, room + width))
    Q, known, total = problem.start(width), 0, 0
    theta = S = np.empty((0, 0))
    for step in range(problem.max_iter or 300):
        if total and total + Q.shape[1] > room:  # thick restart: T is diagonal there, its coupling to Q comes next
            V[:, :keep] = V[:, :total] @ S[:, :keep]
            T[:keep, :keep], total = np.diag(theta[:keep]), keep
        known, total = total, total + Q.shape[1]
        V[:, known:total] = Q
        W = times(Q)
        H = V[:, :total].T @ W
        T[:total, known:total], T[known:total, :total] = H, H.T
        Q, R = _next_block(problem, V[:, :total], W - V[:, :total] @ H, problem.norm)
        cheap = not problem.is_sparse and 20 * total**3 < problem.n**2 * width  # next to a product
        if total > 64 and step % 3 and not cheap and Q.shape[1] and total + Q.shape[1] <= room:
            continue  # the projected problem costs as much as a step: only now and then
        theta, S = (part[..., ::-1] for part in sla.eigh(T[:total, :total], check_finite=False))
        residuals = np.linalg.norm(R @ S[known:total], axis=0)[: problem.k]
        size = np.abs(theta[: problem.k]) ** power * np.abs(theta).max() ** (1 - power)
        if not Q.shape[1] or np.all(residuals <= _lanczos_tolerance(problem) * size + 10 * EPS * abs(theta[0])):
            break
    return V[:, :total] @ S[:, : min(total, width)]


def _sizes(problem: Problem) -> tuple[int, int, int]:
    """Columns of a block, of a restarted basis, and of a full basis."""
    k, free = problem.k, problem.free
    width = min(free, block_width(k))
    keep = min(free, k + width // 2)
    return width, keep, min(free, max(8 * width, 40))


def _lanczos_tolerance(problem: Problem) -> float:
    """Below what is promised; but products of a float32 matrix carry errors of 1e-7 that no step removes."""
    single = problem.is_dense and problem.matrix.dtype == np.float32
    return 0.3 * max(problem.tol, 1e-6 if single else 0.0)


def _next_block(problem: Problem, V: Array, W: Array, size: float) -> tuple[Array, Array]:
    """Orthonormal Q beside V and null with W = Q R; directions that W lacks are filled at random."""
    Q, R = sla.qr(W, mode="economic", check_finite=False)
    left, sizes, right = sla.svd(R, check_finite=False)
    Q = Q @ left
    empty = sizes <= 10 * EPS * size
    Q[:, empty] = problem.rng.standard_normal((problem.n, int(empty.sum())))
    Q = Q[:, : max(0, problem.free - V.shape[1])]
    for _ in range(2):
        Q = orthonormal(problem.project(Q - V @ (V.T @ Q)))
    return Q, sizes[:, None] * right

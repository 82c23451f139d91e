"""The small end of large Laplacians: smoothed aggregation as the preconditioner of a block iteration.

A Laplacian-like matrix B with a smooth near-null vector s (all ones, or the roots of the degrees) is seen on ever
smaller graphs: an independent set of nodes gathers its neighbours into aggregates, s cut into aggregates is
smoothed once, and the matrix is projected onto these pieces. A V-cycle over the levels removes rough errors by
weighted Jacobi steps where they live and smooth ones on coarser levels.

Vanek, Mandel and Brezina, Algebraic multigrid by smoothed aggregation, 1996. Knyazev, Toward the optimal preconditioned
eigensolver, 2001.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg as sla
import scipy.sparse as sp

from lowdim._core.runtime import threads
from lowdim._core.spectrum.problem import Array, Problem

_COARSE = 600  # rows that a dense factorisation takes in a few milliseconds
_STUCK = 3000  # rows that it takes in half a second: graphs that branch everywhere get no smaller below some hundreds
_DAMPING = 4 / 3  # of Jacobi steps, over the largest eigenvalue of D^-1 B
_SHIFT = 1e-6  # relative to the norm: keeps the coarsest matrix definite
_WEAK = 1e-3  # relative to the diagonal: edges so light bind no nodes, and what hangs by them stays on every level
_DENSE_PIECES = 6  # entries a row of smoothed pieces; beyond, coarse graphs fill up and plain pieces are taken
_STEPS = 60
_PATIENCE = 8  # steps within which residuals must halve


def multigrid(problem: Problem) -> Array:
    """Vectors near the smallest eigenvalues of a Laplacian with one known null vector, best first.

    Against shift and invert at 70,000 rows of a Swiss roll (15 neighbours, 2 vectors, residual 1e-8, one thread): 0.9 s
    for 2.9 s, and the time grows with n instead of n^1.5. Other matrices, whose smooth vectors it does not know, are
    refused.
    """
    B = _scaled(sp.csr_array(problem.matrix), problem.scale, problem.scale)
    if problem.sign > 0 or problem.null.shape[1] != 1 or (B.data > 0).sum() > problem.n:
        raise np.linalg.LinAlgError("not a Laplacian of a connected graph")
    B.sort_indices()
    shifted = sp.csr_array(B + _SHIFT * problem.norm * sp.eye_array(problem.n, format="csr"))
    inverse = Multigrid.of(shifted, np.abs(problem.null[:, 0]) + 1e-300, problem.rng)
    with threads.single_blas():
        return _descend(problem, B, inverse)


def _descend(problem: Problem, B: sp.csr_array, inverse: Multigrid) -> Array:
    """Locally optimal steps: the best vectors in the span of the present ones, their corrections and the last step."""
    w = problem.k + 2
    X = sla.qr(problem.project(inverse.smoothest(w + 1)[:, 1:]), mode="economic")[0]
    S, BS = (np.empty((problem.n, 3 * w)) for _ in range(2))  # vectors, corrections, last steps
    S[:, :w], BS[:, :w] = X, B @ X
    used, best, since = w, np.inf, 0
    for _ in range(problem.max_iter or _STEPS):
        values, C, last = _smallest(S[:, :used], BS[:, :used], w)
        both = S[:, :used] @ C, BS[:, :used] @ C
        if used > w:  # what of the new vectors is not in the old ones
            S[:, 2 * w :], BS[:, 2 * w :] = S[:, w:used] @ last, BS[:, w:used] @ last
        S[:, :w], BS[:, :w] = both
        R = BS[:, :w] - S[:, :w] * values
        worst = float(np.linalg.norm(R[:, : problem.k], axis=0).max()) / problem.norm
        best, since = (worst, 0) if worst < 0.5 * best else (best, since + 1)
        if worst <= 0.3 * problem.tol or since > _PATIENCE:
            break
        W = problem.project(inverse(R))
        W /= np.maximum(np.linalg.norm(W, axis=0), 1e-300)
        S[:, w : 2 * w], BS[:, w : 2 * w] = W, B @ W
        used = 2 * w if used == w else 3 * w
    return S[:, :w]


def _smallest(S: Array, BS: Array, w: int) -> tuple[Array, Array, Array]:
    """Rayleigh-Ritz in span(S): values, coefficients, and those of the last columns alone for unit vectors.

    Directions that are rounding only are left out.
    """
    G = S.T @ S
    lengths, T = sla.eigh(G)
    real = lengths > 1e-12 * lengths[-1]
    T = T[:, real] / np.sqrt(lengths[real])
    H = T.T @ (S.T @ BS) @ T
    values, C = sla.eigh(0.5 * (H + H.T))
    C = T @ C[:, :w]
    sizes = np.sqrt(np.maximum(np.einsum("ij,ik,kj->j", C[w:], G[w:, w:], C[w:]), 1e-300))
    return values[:w], C, C[w:] / sizes


@dataclass(frozen=True, eq=False)
class Level:
    """One graph: its matrix, damped inverse diagonal, and the pieces that lead to the next coarser one."""

    matrix: sp.csr_array
    damped: Array
    down: sp.csr_array
    up: sp.csr_array


@dataclass(frozen=True, eq=False)
class Multigrid:
    """An approximate inverse of a symmetric positive definite sparse matrix, the same for every call."""

    levels: list[Level]
    coarsest: Array
    factor: tuple[Array, bool]

    @classmethod
    def of(cls, B: sp.csr_array, smooth: Array, rng: np.random.Generator) -> Multigrid:
        """The levels of B; LinAlgError where large graphs do not get smaller."""
        levels = []
        while B.shape[0] > _COARSE:
            pieces, smooth = _aggregates(B, smooth, rng)
            if pieces.shape[1] > 0.5 * B.shape[0]:
                if B.shape[0] <= _STUCK:
                    break
                raise np.linalg.LinAlgError("the graph does not get coarser")
            diagonal = np.maximum(B.diagonal(), 1e-300)
            damped = _DAMPING / _largest(B, diagonal, rng) / diagonal
            up = sp.csr_array(pieces - _scaled(B, damped, None) @ pieces)
            up = up if up.nnz <= _DENSE_PIECES * B.shape[0] else pieces
            down = sp.csr_array(up.T)
            levels.append(Level(B, damped, down, up))
            B = sp.csr_array(down @ sp.csr_array(B @ up))
        coarsest = B.toarray()
        return cls(levels, coarsest, sla.cho_factor(coarsest))

    def smoothest(self, k: int) -> Array:
        """About the k smallest eigenvectors: those of the coarsest level, interpolated to the finest level."""
        Y = sla.eigh(self.coarsest, subset_by_index=(0, min(k, len(self.coarsest)) - 1), driver="evr")[1]
        for level in reversed(self.levels):
            Y = level.up @ Y
        return Y

    def __call__(self, R: Array) -> Array:
        """About B^-1 R, by a V-cycle."""
        return self._cycle(R, 0)

    def _cycle(self, R: Array, depth: int) -> Array:
        if depth == len(self.levels):
            return sla.cho_solve(self.factor, R, check_finite=False)
        level = self.levels[depth]
        damped = level.damped[:, None]
        Y = damped * R
        Y += level.up @ self._cycle(level.down @ (R - level.matrix @ Y), depth + 1)
        Y += damped * (R - level.matrix @ Y)
        return Y


def _scaled(A: sp.csr_array, rows: Array | None, columns: Array | None) -> sp.csr_array:
    """A with its rows and columns multiplied by numbers."""
    data = A.data if rows is None else A.data * np.repeat(rows, np.diff(A.indptr))
    data = data if columns is None else data * columns[A.indices]
    return sp.csr_array((data, A.indices, A.indptr), shape=A.shape)


def _aggregates(B: sp.csr_array, smooth: Array, rng: np.random.Generator) -> tuple[sp.csr_array, Array]:
    """`smooth` cut into pieces of unit length, one an aggregate, and its values on the coarse nodes."""
    n, edges = B.shape[0], _strong(B)
    root = _independent(edges, rng.permutation(n).astype(np.int64) + 1)
    label = np.cumsum(root > 0) - 1
    # Each node joins the neighbouring root (or itself) of the highest rank; all have one, the set being maximal.
    best = _highest(edges, root)
    place = np.empty(n + 1, dtype=np.int64)
    place[root[root > 0]] = label[root > 0]
    group = place[best]
    size = np.sqrt(np.bincount(group, smooth**2))
    pieces = sp.csr_array((smooth / size[group], group, np.arange(n + 1)), shape=(n, len(size)))
    return pieces, size


def _strong(B: sp.csr_array) -> sp.csr_array:
    """B without its weak entries: a few rows that hang by them have a vector near 0 of their own, which no level whose
    aggregates mix them with others could show."""
    size = np.sqrt(np.maximum(B.diagonal(), 1e-300))
    i = np.repeat(np.arange(B.shape[0]), np.diff(B.indptr))
    kept = (np.abs(B.data) > _WEAK * size[i] * size[B.indices]) | (i == B.indices)
    if kept.all():
        return B
    starts = np.concatenate([[0], np.cumsum(kept)])[B.indptr]
    return sp.csr_array((B.data[kept], B.indices[kept], starts), shape=B.shape)


def _independent(B: sp.csr_array, rank: Array) -> Array:
    """Luby's rounds: the rank of nodes in a maximal set without neighbours, 0 elsewhere."""
    free, root = rank.copy(), np.zeros_like(rank)
    while free.any():
        chosen = (free > 0) & (_highest(B, free) == free)
        root[chosen] = rank[chosen]
        covered = _highest(B, np.where(chosen, rank, 0)) > 0
        free[covered] = 0
    return root


def _highest(B: sp.csr_array, values: Array) -> Array:
    """The largest value among a node and its neighbours; no row of B is empty, as its diagonal is stored."""
    return np.maximum(np.maximum.reduceat(values[B.indices], B.indptr[:-1]), values)


def _largest(B: sp.csr_array, diagonal: Array, rng: np.random.Generator) -> float:
    """The largest eigenvalue of D^-1 B, about, by power steps."""
    x = rng.standard_normal(B.shape[0])
    size = 1.0
    for _ in range(8):
        y = (B @ x) / diagonal
        size = float(np.linalg.norm(y) / np.linalg.norm(x))
        x = y / np.linalg.norm(y)
    return 1.1 * size

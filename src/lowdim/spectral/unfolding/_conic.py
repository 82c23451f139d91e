"""The only module that calls the conic solver (Clarabel, an optional dependency): the semidefinite program itself."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from lowdim._core.runtime import memory, notices
from lowdim._core.runtime.background import imported
from lowdim.spectral.unfolding._low_rank import DistanceConstraints

Array = np.ndarray

LARGEST = 150  # rows: the solver factorises a matrix of n²/2 rows, here 100 million entries


def load(owner: str) -> Any:
    """Clarabel, or an error that says how to install it and which solver works without."""
    try:
        return imported("clarabel")
    except ImportError as error:
        raise ImportError(
            f"{owner}: solver='exact' needs Clarabel; install it with: pip install 'lowdim[mvu]'. "
            "solver='low_rank' needs nothing."
        ) from error


def unfold_exactly(constraints: DistanceConstraints, mass: Array, *, owner: str) -> tuple[Array, bool]:
    """The centred Gram matrix K of largest variance under the distance constraints, and whether the solver converged.

    maximise  sum_i m_i K_ii - m'Km / sum m  with K positive semi-definite and low <= K_ii + K_jj - 2 K_ij <= high.
    While solving, the last row is at 0, which makes the matrices definite.

    Parameters
    ----------
    constraints : DistanceConstraints
        They connect all rows.
    mass : ndarray of shape (n,)
        How many rows each one stands for.
    owner : str
        The estimator, for messages.

    Returns
    -------
    K : ndarray of shape (n, n)
        Centred under the masses.
    solved : bool
        False, after a warning, where the solver did not reach its tolerance.
    """
    clarabel, n = load(owner), len(mass)
    if n > LARGEST:
        raise ValueError(
            f"{owner}: X must have at most {LARGEST} different rows in a connected component for solver='exact'; got "
            f"{n}. Use solver='low_rank'."
        )
    if n == 1:
        return np.zeros((1, 1)), True
    memory.check(owner, {"conic solver": 12 * n**4 // 4}, "Use solver='low_rank'.")
    unit = float(constraints.high.mean()) or 1.0
    A, b, cones = _conic_form(constraints, n, unit, clarabel)
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_threads = False, 1
    size = A.shape[1]
    cost = _packed(-np.diag(mass) + np.outer(mass, mass) / mass.sum())[: n * (n - 1) // 2] / mass.sum()
    answer = clarabel.DefaultSolver(sparse.csc_matrix((size, size)), cost, A, b, cones, settings).solve()
    solved = str(answer.status) in ("Solved", "AlmostSolved")
    if not solved:
        notices.warn(
            f"{owner}: the conic solver ended with status {answer.status}. Raise slack: the constraints may have no "
            "solution, or no interior.",
            ConvergenceWarning,
        )
    return _centred(_unpacked(np.array(answer.x), n) * unit, mass), solved


def _conic_form(constraints: DistanceConstraints, n: int, unit: float, clarabel: Any) -> tuple[Any, Array, list[Any]]:
    """A, b and cones of A k + s = b for the packed matrix k of the rows but the last."""
    N, m = n - 1, len(constraints.first)
    first, second = constraints.first, constraints.second
    upper, lower = np.minimum(first, second), np.maximum(first, second)
    inner = lower < N
    line = np.arange(m)
    entries = [(line, _packed_index(upper, upper), 1.0), (line[inner], _packed_index(lower, lower)[inner], 1.0)]
    entries.append((line[inner], _packed_index(upper, lower)[inner], -np.sqrt(2.0)))
    rows, columns, values = (
        np.concatenate([np.broadcast_to(e[part], len(e[0])) for e in entries]) for part in range(3)
    )
    size = N * (N + 1) // 2
    squares = sparse.csc_matrix((values, (rows, columns)), shape=(m, size))
    low, high = constraints.low / unit, constraints.high / unit
    if np.array_equal(low, high):
        blocks, b, cones = [squares], [high], [clarabel.ZeroConeT(m)]
    else:
        blocks, b, cones = [squares, -squares], [high, -low], [clarabel.NonnegativeConeT(2 * m)]
    A = sparse.vstack([*blocks, -sparse.eye(size)], format="csc")
    return A, np.concatenate([*b, np.zeros(size)]), [*cones, clarabel.PSDTriangleConeT(N)]


def _packed_index(row: Array, column: Array) -> Array:
    """Index of entry (row <= column) of a symmetric matrix in its packed upper triangle, column after column."""
    return column * (column + 1) // 2 + row


def _packed(K: Array) -> Array:
    """The upper triangle, column after column, off-diagonal entries times sqrt(2), which keeps inner products."""
    column, row = np.tril_indices(len(K))
    return K[row, column] * np.where(row == column, 1.0, np.sqrt(2.0))


def _unpacked(k: Array, n: int) -> Array:
    """The matrix of n rows whose last is 0."""
    K = np.zeros((n, n))
    column, row = np.tril_indices(n - 1)
    K[row, column] = k / np.where(row == column, 1.0, np.sqrt(2.0))
    K[column, row] = K[row, column]
    return K


def _centred(K: Array, mass: Array) -> Array:
    means = K @ mass / mass.sum()
    return K - means - means[:, None] + mass @ means / mass.sum()

"""Polynomial features of rows, and their expectation where some cells of a row are known as a distribution only.

The mean of a product of jointly normal numbers follows from shorter products (Isserlis, 1918): with mean m and
covariance C, E[x_a y] = m_a E[y] + sum over the factors x_b of y of C_ab E[y without that factor].
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations_with_replacement
from math import factorial

import numpy as np

from lowdim._core.incomplete.kernels import Beliefs
from lowdim._core.runtime import threads

Array = np.ndarray

_CELLS = 2**22  # of the covariances of rows held at a time


def polynomial_features(X: Array, degree: int, coef0: float) -> Array:
    """Features with phi(x)'phi(y) = (x'y + coef0)^degree: products of `degree` columns of (x, sqrt(coef0)).

    A product that occurs in m orders in the expanded power has the weight sqrt(m).

    Examples
    --------
    >>> polynomial_features(np.array([[1.0, 3.0]]), 2, 0.0).round(4)
    array([[1.    , 4.2426, 9.    ]])
    """
    X = _with_constant(X, coef0)
    which = _products(X.shape[1], degree)
    F = X[:, which[:, 0]]
    for column in which.T[1:]:
        F *= X[:, column]
    F *= _weights(which, degree).astype(X.dtype)
    return F


def expected_polynomials(rows: Beliefs, degree: int, coef0: float) -> Array:
    """E phi(x) of each row."""
    F = polynomial_features(rows.rows, degree, coef0)
    blurred = np.flatnonzero(rows.blurred)
    for some in threads.blocks(len(blurred), max(1, _CELLS // (rows.rows.shape[1] + 1) ** 2)):
        F[blurred[some]] = _expected_block(rows.part(blurred[some]), degree, coef0)
    return F


def _expected_block(rows: Beliefs, degree: int, coef0: float) -> Array:
    M, d = _with_constant(rows.rows, coef0), rows.rows.shape[1]
    factors = rows.factors()
    C = np.zeros((len(M), M.shape[1], M.shape[1]))
    C[:, :d, :d] = factors @ factors.transpose(0, 2, 1)
    C[:, range(d), range(d)] += rows.noise * rows.hole
    before, here = np.ones((len(M), 1)), M
    for k in range(2, degree + 1):
        before, here = here, _longer(M, C, before, here, k)
    return here * _weights(_products(M.shape[1], degree), degree)


def _longer(M: Array, C: Array, before: Array, here: Array, k: int) -> Array:
    """Means of products of k columns, from those of k - 2 (`before`) and k - 1 (`here`)."""
    which = _products(M.shape[1], k)
    first, rest = which[:, 0], which[:, 1:]
    shorter = _numbers(M.shape[1], k - 1)
    out = M[:, first] * here[:, [shorter[tuple(r)] for r in rest.tolist()]]
    shortest = _numbers(M.shape[1], k - 2)
    for j in range(k - 1):
        left = np.delete(rest, j, axis=1)
        out += C[:, first, rest[:, j]] * before[:, [shortest[tuple(r)] for r in left.tolist()]]
    return out


def mean_over_points(rows: Beliefs, features: Callable[[Array], Array]) -> Array:
    """E phi(x) of each row for any phi: the mean over fixed points of the normal distribution, moved to each row."""
    F = features(rows.rows)
    if rows.blurred.any():
        points = rows.part(rows.blurred).drawn()
        mapped = features(points.reshape(-1, points.shape[2]))
        F[rows.blurred] = mapped.reshape(*points.shape[:2], -1).mean(axis=1)
    return F


def _with_constant(X: Array, coef0: float) -> Array:
    return np.hstack([X, np.full((len(X), 1), np.sqrt(coef0), dtype=X.dtype)]) if coef0 > 0 else X


def _products(width: int, degree: int) -> Array:
    """Which columns are multiplied: (number of products, degree)."""
    found = list(combinations_with_replacement(range(width), degree))
    return np.array(found, dtype=np.int64).reshape(len(found), degree)


def _numbers(width: int, degree: int) -> dict[tuple[int, ...], int]:
    return {which: i for i, which in enumerate(combinations_with_replacement(range(width), degree))}


def _weights(which: Array, degree: int) -> Array:
    """Roots of degree! over the factorials of how often each column occurs, one run of equal indices at a time."""
    repeats, run = np.ones(len(which)), np.ones(len(which))
    for before, after in zip(which.T[:-1], which.T[1:], strict=True):
        run = np.where(before == after, run + 1.0, 1.0)
        repeats *= run
    return np.sqrt(factorial(degree) / repeats)

"""Kernels of the local methods against their definitions in numpy."""

import numpy as np
import pytest

from lowdim import _native
from lowdim._core.graph.local_fits import LLE_METHODS, Patches, alignment
from lowdim._core.neighbors import nearest

pytestmark = pytest.mark.kernel


def sheet(n=120, d=4, seed=0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    U = rng.random((n, 2))
    X = np.column_stack([U, 0.3 * np.sin(3 * U[:, 0]), U[:, 0] * U[:, 1]])
    more = rng.normal(size=(4, d)) if d > 4 else np.eye(4)[:, :d]
    return (X @ more + 0.01 * rng.normal(size=(n, d))).astype(dtype)


def patches_of(X, k):
    return Patches.of(nearest(X, k).indices)


def gram_about_row(X, rows):
    Y = X[rows[1:]] - X[rows[0]]
    return Y @ Y.T


def fit_weights(C, ridge):
    w = np.linalg.solve(C + ridge * np.trace(C) * np.eye(len(C)), np.ones(len(C)))
    return w / w.sum()


def standard_form(X, rows, r, ridge, eta):
    v = np.append(1.0, -fit_weights(gram_about_row(X, rows), ridge))
    return np.outer(v, v)


def modified_form(X, rows, r, ridge, eta):
    """With the mirror written out, as in the paper."""
    C = gram_about_row(X, rows)
    values, V = np.linalg.eigh(C)
    head = np.cumsum(values[::-1])
    major = next(m for m in range(r, len(C)) if head[-1] - head[m - 1] <= eta * head[m - 1])
    V, s = V[:, : len(C) - major], len(C) - major
    alpha = np.linalg.norm(V.sum(axis=0)) / np.sqrt(s)
    h = alpha - V.sum(axis=0)
    W = V - 2 * np.outer(V @ h, h) / (h @ h) + (1 - alpha) * fit_weights(C, ridge)[:, None]
    E = np.vstack([np.ones(s), -W])
    return E @ E.T


def tangent(X, rows, r):
    return np.linalg.svd(X[rows] - X[rows].mean(axis=0))[0][:, :r]


def ltsa_form(X, rows, r, ridge, eta):
    G = np.column_stack([np.full(len(rows), len(rows) ** -0.5), tangent(X, rows, r)])
    return np.eye(len(rows)) - G @ G.T


def hessian_form(X, rows, r, ridge, eta):
    U = tangent(X, rows, r)
    products = [U[:, a] * U[:, b] for a in range(r) for b in range(a, r)]
    H = np.linalg.qr(np.column_stack([np.ones(len(U)), U, *products]))[0][:, 1 + r :]
    return H @ H.T


TWINS = dict(zip(LLE_METHODS, (standard_form, modified_form, hessian_form, ltsa_form), strict=True))


def usual_ratio(X, patches, r):
    listed = np.split(patches.members, patches.starts[1:-1])
    values = [np.linalg.eigvalsh(gram_about_row(X, rows))[::-1] for rows in listed]
    return np.median([v[r:].sum() / v[:r].sum() for v in values])


@pytest.mark.parametrize("n", [7, 1])
def test_small_eigenproblems(n):
    rng = np.random.default_rng(n)
    for A in (rng.normal(size=(n, n)), np.diag(rng.integers(0, 3, n).astype(float)), np.ones((n, n)), np.zeros((n, n))):
        A = A + A.T
        values, vectors = np.empty(n), np.empty((n, n))
        _native.small_eigen(A, values, vectors)
        np.testing.assert_allclose(values, np.linalg.eigvalsh(A)[::-1], atol=1e-14 * n * max(np.abs(A).max(), 1e-300))
        np.testing.assert_allclose(vectors @ np.diag(values) @ vectors.T, A, atol=1e-13)
        np.testing.assert_allclose(vectors.T @ vectors, np.eye(n), atol=1e-14 * n)


@pytest.mark.parametrize("size", [2, 13, 40])
def test_eigenvectors_of_gram_matrices(size):
    Y = np.random.default_rng(0).normal(size=(size, 3))
    values, vectors = np.empty(size), np.empty((size, size))
    _native.small_eigen(Y @ Y.T, values, vectors)
    np.testing.assert_allclose(vectors * values @ vectors.T, Y @ Y.T, atol=1e-13 * size)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(Y @ Y.T)[::-1], atol=1e-13 * size)


@pytest.mark.parametrize("method", LLE_METHODS)
@pytest.mark.parametrize("d", [3, 4, 30])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_sum_of_forms(method, d, dtype):
    X = sheet(d=d, dtype=dtype)
    patches = patches_of(X, 10)
    exact, r = X.astype(np.float64), 2
    eta = usual_ratio(exact, patches, r)
    expected = np.zeros((len(X), len(X)))
    for rows in np.split(patches.members, patches.starts[1:-1]):
        expected[np.ix_(rows, rows)] += TWINS[method](exact, rows, r, 1e-3, eta)
    M = alignment(X, patches, method, r, ridge=1e-3)
    np.testing.assert_allclose(M.toarray(), expected, atol=1e-9 * np.abs(expected).max())
    assert M.has_sorted_indices
    np.testing.assert_array_equal(M.toarray(), M.T.toarray())


@pytest.mark.parametrize("method", LLE_METHODS)
def test_threads_do_not_change_the_bits(method):
    X = sheet(700)
    one, three = (alignment(X, patches_of(X, 9), method, 2, n_jobs=jobs) for jobs in (1, 3))
    for part in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(one, part), getattr(three, part))


@pytest.mark.parametrize("by_distance", [False, True])
def test_weights(by_distance):
    X, Q = sheet(80), sheet(9, seed=1)
    near = nearest(X, 7, queries=Q)
    lists = Patches.chosen(near.indices, np.ones_like(near.indices, dtype=bool))
    W = np.empty(lists.members.size)
    _native.local_weights(X, Q, lists.starts, lists.members, 1e-2, 2, by_distance, W, 2)
    for q, rows, w in zip(Q, near.indices, W.reshape(9, 7), strict=True):
        C = (X[rows] - q) @ (X[rows] - q).T
        ridge = 1e-2 * (7 * np.diag(np.diag(C)) if by_distance else np.trace(C) * np.eye(7))
        v = np.linalg.solve(C + ridge, np.ones(7))
        np.testing.assert_allclose(w, v / v.sum(), rtol=1e-8, atol=1e-10)


def test_the_ridge_that_the_neighbourhood_sets():
    X = sheet(80)
    patches = patches_of(X, 8)
    M = alignment(X, patches, "standard", 2, ridge="auto")
    expected = np.zeros((80, 80))
    for rows in np.split(patches.members, patches.starts[1:-1]):
        C = gram_about_row(X, rows)
        values = np.linalg.eigvalsh(C)[::-1]
        expected[np.ix_(rows, rows)] += standard_form(X, rows, 2, values[2:].sum() / (6 * values.sum()), 0)
    np.testing.assert_allclose(M.toarray(), expected, atol=1e-8)


def test_arrays_that_do_not_belong_together_are_refused():
    X, starts, members = sheet(10), np.array([0, 3]), np.array([0, 1, 2], np.int32)
    with pytest.raises(ValueError, match="local_weights"):
        _native.local_weights(X, X, starts, members, 0.1, 2, True, np.empty(3), 1)
    with pytest.raises(ValueError, match="row numbers"):
        _native.local_ratios(X, starts, members + 8, 2, np.empty(1), 1)
    with pytest.raises(ValueError, match="local_forms"):
        _native.local_forms(X, starts, members, np.array([0, 5]), 0, 2, 0.1, 0.0, np.empty(5), 1)
    with pytest.raises(ValueError, match="sum_forms"):
        _native.sum_forms(
            *(starts, members, np.array([0, 6]), np.empty(6), np.zeros(2, np.int32), np.arange(11), np.arange(3)),
            *(np.zeros(11, np.int64), np.empty(0, np.int32), np.empty(0), 1),
        )

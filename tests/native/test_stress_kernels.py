"""The compiled loops of `_native/stress` against twins in numpy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import isotonic_regression
from scipy.spatial.distance import cdist, pdist, squareform

from lowdim import _native

pytestmark = pytest.mark.kernel

EPS = {np.float32: 2.0**-23, np.float64: 2.0**-52}
both = pytest.mark.parametrize("dtype", [np.float32, np.float64])


def sample(n, r, dtype, weighted=False, seed=0):
    rng = np.random.default_rng(seed)
    delta = rng.random(n * (n - 1) // 2).astype(dtype) + dtype(0.5)
    w = rng.random(len(delta)).astype(dtype) if weighted else np.empty(0, dtype)
    return delta, w, np.ascontiguousarray(rng.standard_normal((n, r)).astype(dtype), dtype=np.float64)


def twin(delta, w, Z):
    d, w = pdist(Z), w if len(w) else np.ones(len(delta))
    C = squareform(w * np.divide(delta, d, out=np.ones_like(d), where=d > 0) - w)
    return (w * (delta - d) ** 2).sum(), C.sum(axis=1)[:, None] * Z - C @ Z


def passed(delta, w, Z, n_threads=1):
    force = np.empty(Z.shape)
    return _native.stress_pass(delta, w, Z, force, n_threads), force


@both
@pytest.mark.parametrize("n", [2, 3, 33, 64, 200, 1100])
@pytest.mark.parametrize("r", [1, 2, 3, 5])
def test_stress_pass_equals_its_twin(dtype, n, r):
    for weighted in (False, True):
        delta, w, Z = sample(n, r, dtype, weighted)
        (stress, force), expected = passed(delta, w, Z), twin(delta, w, Z)
        assert stress == pytest.approx(expected[0], rel=40 * EPS[dtype])
        np.testing.assert_allclose(force, expected[1], atol=100 * EPS[dtype] * np.abs(force).sum(axis=0).max() / n**0.5)


@both
def test_neither_threads_nor_vector_width_change_the_bits(dtype):
    delta, w, Z = sample(900, 2, dtype, weighted=True)
    stress, force = passed(delta, w, Z)
    results = [passed(delta, w, Z, n_threads) for n_threads in (2, 3, 7)]
    try:
        _native.force_baseline(True)
        results.append(passed(delta, w, Z))
    finally:
        _native.force_baseline(False)
    for other in results:
        assert other[0] == stress
        np.testing.assert_array_equal(other[1], force)


@both
def test_points_in_one_place_push_nothing(dtype):
    delta, w, Z = sample(40, 2, dtype)
    Z[5] = Z[6] = Z[30]
    stress, force = passed(delta, w, Z)
    expected = twin(delta, w, Z)
    assert np.isfinite(force).all()
    np.testing.assert_allclose(force, expected[1], atol=1e-4 if dtype == np.float32 else 1e-12)
    assert stress == pytest.approx(expected[0], rel=1e-5)
    stress, force = passed(delta, w, np.zeros_like(Z))
    assert stress == pytest.approx((delta.astype(float) ** 2).sum(), rel=1e-5)
    np.testing.assert_array_equal(force, 0)


@both
@pytest.mark.parametrize("r", [1, 2, 4])
def test_rows_of_dissimilarities_equal_all_pairs(dtype, r):
    n = 1500
    delta, w, Z = sample(n, r, dtype, weighted=True)
    D, W = squareform(delta), squareform(w)
    rows = np.array([3, 700, 1499], dtype=np.int64)
    force, own, stress = np.empty((n, r)), np.empty((3, r)), np.empty(3)
    for weights, used in ((np.ascontiguousarray(W[rows]), W), (np.empty((0, 0), dtype), np.ones((n, n)))):
        _native.stress_rows(np.ascontiguousarray(D[rows]), weights, rows, Z, force, own, stress, 1)
        d = cdist(Z[rows], Z)
        gap = Z[rows][:, None] - Z
        d[[0, 1, 2], rows] = 1.0  # a row's pair with itself
        C = used[rows] * (D[rows] / d - 1)
        C[[0, 1, 2], rows] = 0.0
        d[[0, 1, 2], rows] = 0.0
        tolerance = {"rtol": 200 * EPS[dtype], "atol": 2000 * EPS[dtype]}
        np.testing.assert_allclose(own, np.einsum("ij,ijk->ik", C, gap), **tolerance)
        np.testing.assert_allclose(force, -np.einsum("ij,ijk->jk", C, gap), **tolerance)
        np.testing.assert_allclose(stress, (used[rows] * (D[rows] - d) ** 2).sum(axis=1), **tolerance)


@both
def test_distances_of_pairs(dtype):
    for n, r in ((2, 1), (50, 3), (700, 2)):
        _, _, Z = sample(n, r, dtype)
        out = np.empty(n * (n - 1) // 2, dtype)
        _native.pair_distances(Z, out, 2)
        np.testing.assert_allclose(out, pdist(Z), rtol=1e-13 if dtype == np.float64 else 1e-3)


@both
def test_detail_of_each_point(dtype):
    delta, w, Z = sample(300, 2, dtype, weighted=True)
    stress, curvature = np.empty(300), np.empty((300, 2))
    _native.stress_detail(delta, w, Z, stress, curvature, 3)
    d, W, D = squareform(pdist(Z)) + np.eye(300), squareform(w), squareform(delta)
    np.testing.assert_allclose(stress, (W * (D - d) ** 2).sum(axis=1), rtol=1e-6)
    u2 = ((Z[:, None] - Z) / d[..., None]) ** 2
    np.testing.assert_allclose(
        curvature, ((W * (1 - D / d))[..., None] + (W * D / d)[..., None] * u2).sum(axis=1), rtol=1e-5
    )


def regress(y, w, order, ties, approach):
    fit = y.copy()
    levels = _native.monotone(y, w, order, ties, approach, fit)
    return fit, levels


@both
@pytest.mark.parametrize("n", [1, 2, 3, 50, 5000])
def test_monotone_regression_equals_scipy(dtype, n):
    rng = np.random.default_rng(n)
    y = (np.linspace(0, 3, n) + rng.standard_normal(n)).astype(dtype)
    order, w = rng.permutation(n).astype(np.uint32), rng.random(n).astype(dtype) + dtype(0.1)
    no_ties = np.empty((0, 2), np.int64)
    for weights in (w, np.empty(0, dtype)):
        fit, levels = regress(y, weights, order, no_ties, 0)
        expected = isotonic_regression(y[order].astype(float), weights=w[order] if len(weights) else None)
        np.testing.assert_allclose(fit[order], expected.x, atol=20 * EPS[dtype])
        assert levels == len(expected.blocks) - 1


@both
def test_three_ways_with_ties(dtype):
    rng = np.random.default_rng(1)
    x = rng.integers(0, 12, 300)
    y = (x / 6 + rng.standard_normal(300)).astype(dtype)
    w = np.empty(0, dtype)
    order = np.argsort(x, kind="stable")
    first = np.flatnonzero(np.append(True, np.diff(x[order]) > 0))
    ties = np.column_stack([first, np.append(first[1:], 300)]).astype(np.int64)
    primary = np.lexsort((y, x))
    fit, _ = regress(y, w, order.astype(np.uint32), ties, 0)
    np.testing.assert_allclose(fit[primary], isotonic_regression(y[primary].astype(float)).x, atol=20 * EPS[dtype])
    means, counts = np.array([y[x == v].mean(dtype=float) for v in range(12)]), np.bincount(x)
    blocks = isotonic_regression(means, weights=counts).x
    fit, _ = regress(y, w, order.astype(np.uint32), ties, 1)
    np.testing.assert_allclose(fit, blocks[x], atol=50 * EPS[dtype])
    shifted = np.maximum(y + (blocks - means)[x], 0)
    fit, _ = regress(y, w, order.astype(np.uint32), ties, 2)
    np.testing.assert_allclose(fit, shifted, atol=50 * EPS[dtype])


@both
def test_a_point_is_placed_where_its_forces_vanish(dtype):
    rng = np.random.default_rng(2)
    fixed, Z = rng.standard_normal((200, 2)), rng.standard_normal((9, 2))
    D = (cdist(Z, fixed) * (1 + 0.1 * rng.standard_normal((9, 200)))).astype(dtype)
    W = rng.random((9, 200)).astype(dtype) + dtype(0.1)
    places = []
    for n_threads in (1, 4):
        found = Z + 0.1
        _native.place_rows(D, W, fixed, found, 100, 1.0, n_threads)
        places.append(found)
    np.testing.assert_array_equal(*places)
    d = cdist(places[0], fixed)
    force = ((W * (D / d - 1))[..., None] * (places[0][:, None] - fixed)).sum(axis=1)
    np.testing.assert_allclose(force, 0, atol=1e-8)


@both
def test_exact_distances_are_met_from_afar(dtype):
    rng = np.random.default_rng(3)
    for r in (1, 2, 3, 6):
        fixed, Z = rng.standard_normal((60, r)), rng.standard_normal((5, r))
        found = Z + 0.3
        _native.place_rows(cdist(Z, fixed).astype(dtype), np.empty((0, 0), dtype), fixed, found, 200, 1.0, 1)
        np.testing.assert_allclose(found, Z, atol=1e-12 if dtype == np.float64 else 1e-5)


def test_shapes_are_checked():
    delta, w, Z = sample(10, 2, np.float64)
    none = np.empty((0, 0))
    with pytest.raises(ValueError, match="n \\(n - 1\\) / 2 entries"):
        _native.stress_pass(delta[1:], w, Z, np.empty((10, 2)), 1)
    with pytest.raises(ValueError, match="shape of Z"):
        _native.stress_pass(delta, w, Z, np.empty((10, 3)), 1)
    with pytest.raises(ValueError, match="entries"):
        _native.pair_distances(Z, delta[1:].copy(), 1)
    with pytest.raises(ValueError, match="fit Z"):
        _native.stress_detail(delta, w, Z, np.empty(9), np.empty((10, 2)), 1)
    with pytest.raises(ValueError, match="rows must be points"):
        _native.stress_rows(
            np.ones((1, 10)), none, np.array([10]), Z, np.empty((10, 2)), np.empty((1, 2)), np.empty(1), 1
        )
    with pytest.raises(ValueError, match="must fit Z and rows"):
        _native.stress_rows(
            np.ones((1, 10)), none, np.array([1]), Z, np.empty((10, 2)), np.empty((2, 2)), np.empty(1), 1
        )
    with pytest.raises(ValueError, match="one column for each of fixed"):
        _native.place_rows(np.ones((1, 9)), none, Z, np.zeros((1, 2)), 10, 1.0, 1)
    y, order, ties = np.arange(3.0), np.array([0, 1, 7], np.uint32), np.empty((0, 2), np.int64)
    with pytest.raises(ValueError, match="places of y"):
        _native.monotone(y, np.empty(0), order, ties, 0, y.copy())
    with pytest.raises(ValueError, match="increasing runs"):
        _native.monotone(y, np.empty(0), order[:2].copy(), np.array([[1, 5]]), 0, y.copy())

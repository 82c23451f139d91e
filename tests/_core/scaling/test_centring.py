"""Centring against its definition H A H, and the identities that make it useful."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lowdim._core.scaling.centring import center_kernel, center_kernel_rows, double_center


def centring(n):
    return np.eye(n) - 1 / n


def squared_distances(X):
    return ((X[:, None] - X[None]) ** 2).sum(-1)


@settings(max_examples=10, deadline=None, derandomize=True)
@given(n=st.integers(1, 600), seed=st.integers(0, 99))
def test_double_center_equals_its_definition(n, seed):
    A = np.random.default_rng(seed).random((n, n))
    A += A.T
    H = centring(n)
    expected = -0.5 * H @ A @ H
    np.testing.assert_allclose(double_center(A.copy()), expected, atol=1e-12)
    Kc, means = center_kernel(A)
    np.testing.assert_allclose(Kc, H @ A @ H, atol=1e-12)
    np.testing.assert_allclose(means.columns, A.mean(axis=0), rtol=1e-13)
    assert means.total == pytest.approx(A.mean())


def test_distances_give_back_the_inner_products():
    X = np.random.default_rng(0).standard_normal((300, 4)) + 7
    Z = X - X.mean(axis=0)
    np.testing.assert_allclose(double_center(squared_distances(X)), Z @ Z.T, atol=1e-11)


def test_works_in_place_without_a_second_matrix():
    D2 = squared_distances(np.random.default_rng(0).standard_normal((1500, 3)))
    keep = D2.copy()
    tracemalloc.start()
    out = double_center(D2)
    center_kernel(D2, overwrite=True)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert out is D2
    assert peak < D2.nbytes / 2
    target = np.empty_like(keep)
    before = keep.copy()
    assert double_center(keep, out=target) is target
    np.testing.assert_array_equal(keep, before)
    np.testing.assert_allclose(center_kernel(keep)[0], -2 * target, atol=1e-12)
    np.testing.assert_array_equal(keep, before)


def test_float32_stays_with_float64_means():
    X = np.random.default_rng(0).standard_normal((700, 3))
    D2 = squared_distances(X) + 1e4  # an offset that float32 sums of 700 rows would not survive
    found = double_center(D2.astype(np.float32))
    assert found.dtype == np.float32
    exact = double_center(D2.astype(np.float32).astype(np.float64))
    np.testing.assert_allclose(found, exact, atol=1e-6 * np.abs(exact).max())
    assert center_kernel(D2.astype(np.float32))[0].dtype == np.float32


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_new_rows_are_centred_like_the_fitted_ones(dtype):
    X = np.random.default_rng(0).standard_normal((400, 5)) + 3
    K = (X @ X.T).astype(dtype)
    Kc, means = center_kernel(K)
    np.testing.assert_allclose(center_kernel_rows(K, means), Kc, atol=1e-4 if dtype == np.float32 else 1e-11)
    Y = np.random.default_rng(1).standard_normal((300, 5))
    expected = (Y - X.mean(axis=0)) @ (X - X.mean(axis=0)).T
    Ky = (Y @ X.T).astype(dtype)
    found = center_kernel_rows(Ky, means)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, expected, atol=1e-4 if dtype == np.float32 else 1e-10)
    np.testing.assert_array_equal(center_kernel_rows(Ky[7:8], means)[0], found[7])


def test_integers_are_centred_in_float64():
    K = np.array([[2, 1], [1, 4]])
    for overwrite in (False, True):
        np.testing.assert_array_equal(center_kernel(K, overwrite=overwrite)[0], [[1, -1], [-1, 1]])
    np.testing.assert_array_equal(double_center(K, out=np.empty((2, 2))), [[-0.5, 0.5], [0.5, -0.5]])


def test_bad_input():
    for call, message in (
        (lambda: double_center(np.ones((2, 3))), "D2 must be square"),
        (lambda: double_center(np.ones((2, 2), dtype=int)), "Pass out"),
        (lambda: double_center(np.ones((2, 2)), out=np.ones((3, 3))), "out must be"),
        (lambda: center_kernel(np.ones((0, 0))), "K must be square and not empty"),
        (lambda: center_kernel_rows(np.ones((2, 3)), center_kernel(np.eye(2))[1]), "Kx must have 2 columns"),
    ):
        with pytest.raises(ValueError, match=message):
            call()

"""Landmarks: the covering guarantee, the sampling law, repeated rows."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.spatial.distance import cdist

from lowdim._core.landmarks.choose import LANDMARK_METHODS, _proportional, choose

X = np.random.default_rng(0).normal(size=(60, 3))


def radius(A, chosen):
    """How far the worst row is from its nearest landmark."""
    return cdist(A, A[list(chosen)]).min(axis=1).max()


@pytest.mark.parametrize("method", LANDMARK_METHODS)
@pytest.mark.parametrize("m", [1, 2, 17, 60])
def test_rows_are_different_and_seeded(method, m):
    chosen = choose(X, m, method=method, rng=3)
    assert chosen.shape == (m,)
    assert len(set(chosen.tolist())) == m
    assert chosen.min() >= 0
    assert chosen.max() < 60
    np.testing.assert_array_equal(chosen, choose(X, m, method=method, rng=3))
    assert any((choose(X, m, method=method, rng=s) != chosen).any() for s in range(10)) or m == 60


@settings(deadline=None, max_examples=20, derandomize=True)
@given(seed=st.integers(0, 1000), m=st.integers(1, 4))
def test_farthest_covers_within_twice_the_best_radius(seed, m):
    A = np.random.default_rng(seed).normal(size=(11, 2))
    best = min(radius(A, subset) for subset in combinations(range(11), m))
    assert radius(A, choose(A, m, method="farthest", rng=seed)) <= 2 * best + 1e-12


def test_farthest_takes_the_farthest_row_each_time():
    chosen = choose(X, 12, method="farthest", rng=1)
    D = cdist(X, X)
    for j in range(1, 12):
        closest = D[:, chosen[:j]].min(axis=1)
        assert closest[chosen[j]] == pytest.approx(closest.max())


@pytest.mark.parametrize("method", ["farthest", "kmeans++"])
def test_fewer_landmarks_are_a_prefix(method):
    np.testing.assert_array_equal(choose(X, 20, method=method, rng=5)[:8], choose(X, 8, method=method, rng=5))


@pytest.mark.parametrize("method", ["farthest", "kmeans++"])
@pytest.mark.parametrize("shift", [0.0, 1e4])
def test_repeated_rows_come_last(method, shift):
    distinct = X[:7] + shift
    A = np.vstack([distinct] * 5)
    chosen = choose(A, 12, method=method, rng=0)
    assert len(np.unique(A[chosen[:7]], axis=0)) == 7
    assert len(set(chosen.tolist())) == 12
    assert len(set(choose(np.ones((6, 2)), 6, method=method, rng=0).tolist())) == 6


def test_kmeans_plus_plus_follows_squared_distances():
    A = np.array([[0.0], [1.0], [3.0]])
    first = np.zeros((3, 3))
    for seed in range(3000):
        i, j = choose(A, 2, method="kmeans++", rng=seed)
        first[i, j] += 1
    expected = cdist(A, A) ** 2
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(first / first.sum(axis=1, keepdims=True), expected, atol=0.05)
    np.testing.assert_allclose(first.sum(axis=1) / 3000, 1 / 3, atol=0.05)


@pytest.mark.parametrize("u", [0.0, 0.5, np.nextafter(1, 0)])
@pytest.mark.parametrize("far", [2.0, 3e-162])  # the square of the latter is so small that u times it rounds up
def test_rows_of_probability_zero_are_never_drawn(u, far):
    class Fixed:
        def random(self):
            return u

    assert _proportional(np.array([-1.0, 0.0, far, 0.0, -1.0]), Fixed()) == 2


def test_random_is_uniform():
    counts = np.zeros(6)
    for seed in range(2000):
        counts[choose(X[:6], 2, rng=seed)] += 1
    np.testing.assert_allclose(counts / 2000, 1 / 3, atol=0.05)


@pytest.mark.parametrize("method", ["farthest", "kmeans++"])
def test_any_metric_and_input(method):
    expected = choose(X, 9, method=method, rng=2)
    np.testing.assert_array_equal(choose(cdist(X, X), 9, method=method, metric="precomputed", rng=2), expected)
    np.testing.assert_array_equal(choose(sparse.csr_array(X), 9, method=method, rng=2), expected)
    np.testing.assert_array_equal(choose(X.tolist(), 9, method=method, rng=2), expected)
    by_name = choose(X, 9, method=method, metric="manhattan", rng=2)
    D = cdist(X, X, "cityblock")
    np.testing.assert_array_equal(by_name, choose(D, 9, method=method, metric="precomputed", rng=2))


def test_bad_arguments():
    for m in (0, 61, -1, 2.0, True):
        with pytest.raises(ValueError, match="Isomap: the number of landmarks must be an integer from 1 to 60"):
            choose(X, m, owner="Isomap")
    with pytest.raises(ValueError, match="landmark method must be one of random, farthest, kmeans"):
        choose(X, 3, method="maxmin")


@pytest.mark.parametrize(("dtype", "scale"), [(np.float32, 2.0**100), (np.float64, 2.0**700), (np.float64, 2.0**-700)])
@pytest.mark.parametrize("method", ["farthest", "kmeans++"])
def test_the_choice_does_not_depend_on_the_scale(method, dtype, scale):
    X = np.random.default_rng(0).normal(size=(60, 3)).astype(dtype)
    plain, found = (choose(X * dtype(s), 8, method=method, rng=0) for s in (1.0, scale))
    np.testing.assert_array_equal(found, plain)
    D = cdist(X, X) * scale
    assert len(set(choose(D, 8, method=method, metric="precomputed", rng=0))) == 8

"""Approximate neighbours against all pairs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lowdim import _native
from lowdim._core.neighbors.nn_descent import FEW, nearest_by_descent
from lowdim._core.neighbors.recall import estimated_recall


def all_pairs(X, k, metric="euclidean"):
    """The exact lists in float64, ties by index."""
    X = X.astype(np.float64)
    if metric == "cosine":
        lengths = np.linalg.norm(X, axis=1, keepdims=True)
        X = X / np.where(lengths == 0, 1, lengths)
        D = 1 - X @ X.T
    else:
        D = np.sqrt(np.maximum(((X[:, None] - X[None]) ** 2).sum(axis=2), 0))
    np.fill_diagonal(D, np.inf)
    indices = np.argsort(D, axis=1, kind="stable")[:, :k]
    return indices, np.take_along_axis(D, indices, axis=1)


def blobs(rng, n, d):
    return rng.standard_normal((20, d))[rng.integers(0, 20, n)] * 4 + rng.standard_normal((n, d))


def swiss_roll(rng, n):
    t, y = 4.7 * (1 + 2 * rng.random(n)), 21 * rng.random(n)
    return np.stack([t * np.cos(t), y, t * np.sin(t)], axis=1)


CASES = {
    "blobs": lambda rng: blobs(rng, 2000, 30),
    "swiss roll": lambda rng: swiss_roll(rng, 2000),
    "uniform": lambda rng: rng.random((2000, 10)),
    "long rows": lambda rng: blobs(rng, 2000, 12) @ rng.standard_normal((12, 400)) + rng.standard_normal((2000, 400)),
}


def check_lists(indices, distances, n, k):
    assert indices.shape == distances.shape == (n, k)
    assert (indices.dtype, distances.dtype) == (np.int32, np.float32)
    assert indices.min() >= 0
    assert indices.max() < n
    assert not (indices == np.arange(n)[:, None]).any()
    ordered = np.sort(indices, axis=1)
    assert (ordered[:, 1:] > ordered[:, :-1]).all()
    rising, tied = np.diff(distances, axis=1), np.diff(indices, axis=1)
    assert ((rising > 0) | ((rising == 0) & (tied > 0))).all()


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("k", [10, 40])
def test_recall_has_a_floor(rng, case, k):
    X = CASES[case](rng).astype(np.float32)
    indices, distances = nearest_by_descent(X, k)
    check_lists(indices, distances, len(X), k)
    assert estimated_recall(X, indices, sample=400) > 0.98


def test_distances_belong_to_the_indices(rng):
    X = blobs(rng, 1500, 250).astype(np.float32)
    indices, distances = nearest_by_descent(X, 12)
    expected = np.linalg.norm(X[:, None].astype(np.float64) - X[indices], axis=2)
    np.testing.assert_allclose(distances, expected, rtol=1e-5)


@pytest.mark.parametrize("n", [2, 3, 17, 40, 41, 200])
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_few_rows_are_exact(rng, n, metric):
    X = rng.standard_normal((n, 5))
    for k in {1, n // 2, n - 1}:
        indices, distances = nearest_by_descent(X, k, metric=metric)
        expected, lengths = all_pairs(X, k, metric)
        assert np.array_equal(indices, expected)
        np.testing.assert_allclose(distances, lengths, rtol=1e-4, atol=1e-6)


def test_k_close_to_n_is_exact(rng):
    X = rng.standard_normal((1100, 3))
    indices, _ = nearest_by_descent(X, 1099)
    assert np.array_equal(indices, all_pairs(X, 1099)[0]) or estimated_recall(X, indices, sample=50) == 1
    assert np.array_equal(np.sort(indices, axis=1)[5], np.delete(np.arange(1100), 5))


@pytest.mark.parametrize("d", [6, 220])
def test_threads_do_not_change_a_bit(rng, d):
    X = blobs(rng, 1300, d).astype(np.float32)
    one = nearest_by_descent(X, 20, n_jobs=1)
    for n_jobs in (2, 5):
        for a, b in zip(one, nearest_by_descent(X, 20, n_jobs=n_jobs), strict=True):
            assert np.array_equal(a, b)


def test_a_seed_fixes_everything(rng):
    X = rng.random((1500, 8))
    first, again, other = (nearest_by_descent(X, 10, random_state=seed, max_iter=1) for seed in (3, 3, 4))
    assert np.array_equal(first[0], again[0])
    assert np.array_equal(first[1], again[1])
    assert not np.array_equal(first[0], other[0])


@pytest.mark.parametrize("d", [6, 220])
def test_baseline_gives_the_same_bits(rng, d):
    X = blobs(rng, 1300, d).astype(np.float32)
    wide = nearest_by_descent(X, 10)
    _native.force_baseline(True)
    try:
        narrow = nearest_by_descent(X, 10)
    finally:
        _native.force_baseline(False)
    assert np.array_equal(wide[0], narrow[0])
    assert np.array_equal(wide[1], narrow[1])


@pytest.mark.parametrize("d", [2, 200])
def test_duplicates_are_neighbours_of_each_other(rng, d):
    X = np.repeat(rng.standard_normal((600, d)), 3, axis=0)[rng.permutation(1800)]
    indices, distances = nearest_by_descent(X, 6)
    check_lists(indices, distances, 1800, 6)
    assert not distances[:, :2].any()
    assert (distances[:, 2] > 0).all()


@pytest.mark.parametrize("n", [30, 1500])
@pytest.mark.parametrize("d", [1, 300])
def test_equal_rows(n, d):
    indices, distances = nearest_by_descent(np.full((n, d), 7.5), 8)
    check_lists(indices, distances, n, 8)
    assert not distances.any()


def test_a_line(rng):
    X = rng.random((3000, 1))
    indices, _ = nearest_by_descent(X, 5)
    assert estimated_recall(X, indices) > 0.98


def test_cosine_is_euclidean_on_the_sphere(rng):
    X = blobs(rng, 1500, 12) * rng.uniform(1e-3, 1e3, (1500, 1))
    indices, distances = nearest_by_descent(X, 10, metric="cosine")
    check_lists(indices, distances, 1500, 10)
    expected, lengths = all_pairs(X, 10, "cosine")
    assert np.mean([np.isin(a, b).mean() for a, b in zip(indices, expected, strict=True)]) > 0.98
    same = indices == expected
    np.testing.assert_allclose(distances[same], lengths[same], atol=1e-6)
    assert estimated_recall(X, indices, metric="cosine") > 0.98


def test_rows_without_direction_are_at_cosine_distance_1(rng):
    X = rng.random((1200, 4)) + 0.1
    X[::100] = 0
    indices, distances = nearest_by_descent(X, 5, metric="cosine")
    check_lists(indices, distances, 1200, 5)
    np.testing.assert_allclose(distances[::100], 1, atol=1e-6)
    assert (np.delete(indices, np.s_[::100], axis=0) % 100 != 0).all()


@pytest.mark.parametrize("scale", [1e-30, 1e30])
def test_neither_scale_nor_offset_matters(rng, scale):
    X = blobs(rng, 1500, 5)
    indices, distances = nearest_by_descent(X, 5)
    moved, lengths = nearest_by_descent(X * scale, 5)
    assert (indices == moved).mean() > 0.99
    np.testing.assert_allclose(lengths[:, 0], distances[:, 0] * np.float32(scale), rtol=1e-3)
    assert estimated_recall(X, nearest_by_descent(X + 1e6, 5)[0]) > 0.98


def test_small_clusters_find_their_members_and_then_others(rng):
    """Clusters of fewer rows than neighbours asked for: links alone do not lead out of them."""
    X = (rng.standard_normal((150, 8))[:, None] * 50 + rng.standard_normal((150, 10, 8))).reshape(1500, 8)
    indices, distances = nearest_by_descent(X, 15)
    check_lists(indices, distances, 1500, 15)
    own = indices // 10 == np.arange(1500)[:, None] // 10
    assert own[:, :9].mean() > 0.98


def test_recall_counts_what_was_found(rng):
    X = rng.standard_normal((300, 4))
    exact = all_pairs(X, 10)[0]
    assert estimated_recall(X, exact) == 1
    half = exact.copy()
    half[:, 5:] = all_pairs(X, 100)[0][:, 90:95]
    assert estimated_recall(X, half) == 0.5


def test_the_input_is_left_alone(rng):
    X = rng.standard_normal((1200, 250)).astype(np.float32)
    kept = X.copy()
    X.flags.writeable = False
    nearest_by_descent(X, 5)
    nearest_by_descent(np.asfortranarray(X), 5, metric="cosine")
    assert np.array_equal(X, kept)


def test_what_is_refused():
    X = np.zeros((5, 2))
    with pytest.raises(ValueError, match="k must be from 1 to 4 for 5 rows; got 5"):
        nearest_by_descent(X, 5)
    with pytest.raises(ValueError, match="metric must be one that compiled loops measure; got 'correlation'"):
        nearest_by_descent(X, 2, metric="correlation")
    for metric in ("euclidean", "cosine", "manhattan"):
        for value in (np.nan, np.inf, -np.inf):
            X[3, 1] = value
            with pytest.raises(ValueError, match="X must be finite"):
                nearest_by_descent(X, 2, metric=metric)


@given(
    n=st.sampled_from([2, 5, 30, FEW, FEW + 1, 1500]),
    d=st.integers(1, 20),
    share=st.floats(0, 1),
    levels=st.integers(1, 5),
    seed=st.integers(0, 2**32),
)
def test_any_shape_gives_proper_lists(n, d, share, levels, seed):
    X = np.random.default_rng(seed).integers(0, levels, (n, d)).astype(np.float32)
    k = max(1, min(n - 1, int(share * 30)))
    indices, distances = nearest_by_descent(X, k, random_state=seed)
    check_lists(indices, distances, n, k)

"""Nearest separate segments and what a new one would gain, beside twins that look at everything."""

import numpy as np
import pytest

from lowdim import _native

pytestmark = pytest.mark.kernel


def distances(X, ends):
    """Squared distances of rows (n, d) to segments (k, 2, d)."""
    a, u = ends[:, 0], ends[:, 1] - ends[:, 0]
    length = np.square(u).sum(axis=1)
    gap = X[:, None] - a
    t = np.where(length > 0, np.clip((gap * u).sum(axis=2) / np.where(length > 0, length, 1.0), 0, 1), 0.0)
    return np.square(gap - t[..., None] * u).sum(axis=2)


@pytest.mark.parametrize(("k", "d"), [(1, 1), (5, 2), (30, 3), (7, 20)])
def test_rows_follow_the_segments_that_moved(k, d):
    rng = np.random.default_rng(k)
    X, ends = rng.standard_normal((400, d)), rng.standard_normal((k, 2, d))
    ends[0, 1] = ends[0, 0]  # a segment may be a point
    home, squared = np.full(400, -1), np.empty(400)
    moved = np.ones(k, dtype=np.uint8)
    for turn in range(5):
        _native.nearest_segments(X, ends.reshape(-1, d), moved, home, squared, 1 + turn % 2)
        D = distances(X, ends)
        np.testing.assert_allclose(squared, D.min(axis=1), rtol=1e-12)
        assert (home == D.argmin(axis=1)).mean() > 0.99  # rounding may decide between two
        moved = (rng.random(k) < 0.4).astype(np.uint8)
        ends[moved == 1] += 0.5 * rng.standard_normal((int(moved.sum()), 2, d))


def test_the_first_of_equal_segments_is_taken():
    ends, X = np.zeros((6, 2)), np.ones((3, 2))
    home, squared = np.array([-1, 2, 1]), np.full(3, 2.0)
    _native.nearest_segments(X, ends, np.array([0, 1, 0], dtype=np.uint8), home, squared, 1)
    np.testing.assert_array_equal(home, [0, 1, 0])  # of all; of its own and what moved; of all


@pytest.mark.parametrize("d", [1, 3, 19])
def test_gains_are_sums_over_the_rows(d):
    rng = np.random.default_rng(d)
    X, squared = rng.standard_normal((300, d)), 2.0 * d * rng.random(300)
    chosen = rng.permutation(300)[:40]
    gains, counts = np.empty(40), np.empty(40, dtype=np.int64)
    saved = np.maximum(squared[:, None] - np.square(X[:, None] - X[chosen]).sum(axis=2), 0.0)
    for n_threads in (1, 2):
        _native.segment_gains(X, squared, chosen, gains, counts, n_threads)
        np.testing.assert_allclose(gains, saved.sum(axis=0), rtol=1e-12)
        np.testing.assert_array_equal(counts, (saved > 0).sum(axis=0))


def test_sizes_that_do_not_fit_are_refused():
    X = np.zeros((4, 2))
    with pytest.raises(ValueError, match="two rows for each segment"):
        _native.nearest_segments(X, X[:3], np.ones(2, dtype=np.uint8), np.full(4, -1), np.empty(4), 1)
    with pytest.raises(ValueError, match="home must be one of the segments"):
        _native.nearest_segments(X, X, np.ones(2, dtype=np.uint8), np.full(4, 2), np.empty(4), 1)
    with pytest.raises(ValueError, match="candidates must be rows of X"):
        _native.segment_gains(X, np.zeros(4), np.array([4]), np.empty(1), np.empty(1, dtype=np.int64), 1)

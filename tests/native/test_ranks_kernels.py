"""The compiled loops of `_native/neighbors/ranks.cpp` against twins in numpy."""

from __future__ import annotations

import numpy as np
import pytest

from lowdim import _native

pytestmark = pytest.mark.kernel


def ranks_twin(D, rows):
    D = D.copy()
    D[np.arange(len(D)), rows] = -1  # the row itself first, whatever its copies' indices
    order = np.argsort(D, axis=1, kind="stable")
    return np.argsort(order, axis=1).astype(np.int32)


def tally_twin(high, low, weight, ks):
    n = high.shape[1]
    tally, worst = np.zeros((7, n), np.int64), np.maximum(high, low)
    one, gap = np.ones_like(high), abs(high - low)
    by_high = [(low < high, high, one), (low > high, high, gap), (high > 0, high, gap)]
    by_low = [(low > high, low, one), (low < high, low, gap), (low > 0, low, gap)]
    for row, (which, bins, value) in zip(tally, [(high == low, worst, one), *by_high, *by_low], strict=True):
        np.add.at(row, bins[which], value[which])
    near = [((high > 0) & (high <= K), (low > 0) & (low <= K), K) for K in ks]
    terms = [((h & l).sum(1), ((high - K) * (l & ~h)).sum(1), ((low - K) * (h & ~l)).sum(1)) for h, l, K in near]
    return tally, weight[worst].sum(1), np.stack([np.stack(t, 1) for t in terms], 1).reshape(len(high), -1)


def squares_twin(X, Y):
    total = np.zeros((len(X), len(Y)), X.dtype)
    for x, y in zip(X.T, Y.T, strict=True):
        total += (x[:, None] - y[None, :]) ** 2
    return total


def rank_rows(D, rows, n_threads=1):
    ranks, zeros = np.empty(D.shape, np.int32), np.empty(len(D), np.int64)
    _native.rank_rows(D, np.asarray(rows, np.int64), ranks, zeros, n_threads)
    return ranks, zeros


def tally(high, low, weight, ks, n_threads=1):
    total, sums = np.zeros((7, high.shape[1]), np.int64), np.empty(len(high))
    terms = np.empty((len(high), 3 * len(ks)), np.int64)
    _native.tally_ranks(high, low, weight, np.array(ks, np.int64), total, sums, terms, n_threads)
    return total, sums, terms


def square_rows(X, Y, n_threads=1):
    out = np.empty((len(X), len(Y)), X.dtype)
    _native.square_rows(X, Y, out, n_threads)
    return out


def distances(kind, shape, dtype, rng):
    tiny, huge = np.finfo(dtype).tiny, np.finfo(dtype).max
    made = {
        "plain": lambda: rng.random(shape),
        "ties": lambda: rng.integers(0, 5, shape),
        "equal": lambda: np.full(shape, 2.5),
        "zeros": lambda: np.zeros(shape),
        "close": lambda: 1 + rng.integers(0, 50, shape) * np.finfo(dtype).eps,
        "close and far": lambda: np.where(rng.random(shape) < 0.2, 1e30, 1 + rng.random(shape) * 1e-5),
        "wide": lambda: np.exp(rng.uniform(np.log(tiny), np.log(huge) - 1, shape)),
        "subnormal": lambda: rng.integers(0, 9, shape) * np.finfo(dtype).smallest_subnormal,
        "infinite": lambda: np.where(rng.random(shape) < 0.3, np.inf, rng.random(shape)),
        "all infinite": lambda: np.full(shape, np.inf),
    }
    return made[kind]().astype(dtype)


KINDS = [
    "plain",
    "ties",
    "equal",
    "zeros",
    "close",
    "close and far",
    "wide",
    "subnormal",
    "infinite",
    "all infinite",
]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [1, 2, 3, 60, 3000])
def test_ranks_equal_their_twin(kind, n, dtype):
    rng = np.random.default_rng(n)
    rows = rng.integers(0, n, 4)
    D = distances(kind, (4, n), dtype, rng)
    ranks, zeros = rank_rows(D, rows)
    np.testing.assert_array_equal(ranks, ranks_twin(D, rows))
    others = np.arange(n)[None, :] != rows[:, None]
    np.testing.assert_array_equal(zeros, np.sum((D == 0) & others, axis=1))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", ["plain", "ties", "close and far"])
def test_long_rows_take_a_third_pass(kind, dtype):
    D = distances(kind, (1, 70_000), dtype, np.random.default_rng(0))
    np.testing.assert_array_equal(rank_rows(D, [69_999])[0], ranks_twin(D, [69_999]))


def test_negative_zero_is_zero():
    D = np.array([[0.0, 0.0, -0.0, 0.0, 1.0]])
    ranks, zeros = rank_rows(D, [1])
    np.testing.assert_array_equal(ranks, [[1, 0, 2, 3, 4]])
    assert zeros[0] == 3


@pytest.mark.parametrize("bad", [np.nan, -1.0, -np.inf, -np.nan])
def test_what_has_no_order_is_refused(bad):
    D = np.random.default_rng(0).random((3, 8))
    D[1, 4] = bad
    with pytest.raises(ValueError, match="non-negative"):
        rank_rows(D, [0, 1, 2])
    D[1, 1], D[1, 4] = bad, 1.0  # the distance to itself is never looked at
    rank_rows(D, [0, 1, 2])


def test_shapes_are_checked():
    D = np.ones((2, 4))
    with pytest.raises(ValueError, match="shapes"):
        rank_rows(D, [0])
    with pytest.raises(ValueError, match="column of the block"):
        rank_rows(D, [0, 4])
    good = rank_rows(D, [0, 1])[0]
    with pytest.raises(ValueError, match="shapes"):
        tally(good, good[:1], np.ones(4), [1])
    with pytest.raises(ValueError, match=r"1\.\.n-1"):
        tally(good, good, np.ones(4), [4])
    with pytest.raises(ValueError, match=r"0\.\.n-1"):
        tally(good, good + 1, np.ones(4), [1])
    with pytest.raises(ValueError, match="shapes"):
        _native.square_rows(D, np.ones((3, 3)), np.ones((2, 3)), 1)


@pytest.mark.parametrize("n", [2, 3, 9, 61, 500])
def test_tally_equals_its_twin(n):
    rng = np.random.default_rng(n)
    rows = rng.integers(0, n, 40)
    high = ranks_twin(rng.random((40, n)), rows)
    low = ranks_twin(rng.random((40, n)), rows)
    weight, ks = rng.random(n), sorted({1, (n + 1) // 2, n - 1})
    weight[0] = 0
    got, expected = tally(high, low, weight, ks), tally_twin(high, low, weight, ks)
    np.testing.assert_array_equal(got[0][:, 1:], expected[0][:, 1:])
    np.testing.assert_allclose(got[1], expected[1], rtol=1e-13)
    np.testing.assert_array_equal(got[2], expected[2])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("m", "n", "d"), [(1, 1, 1), (4, 32, 2), (5, 33, 3), (7, 100, 40), (3, 31, 300)])
def test_squares_equal_their_twin(m, n, d, dtype):
    rng = np.random.default_rng(d)
    X, Y = rng.normal(size=(m, d)).astype(dtype), rng.normal(size=(n, d)).astype(dtype)
    np.testing.assert_array_equal(square_rows(X, Y), squares_twin(X, Y))


def test_copies_are_at_zero_and_far_data_keep_their_digits():
    X = np.random.default_rng(0).normal(size=(10, 7)) + 1e6
    np.testing.assert_array_equal(np.diag(square_rows(X, X.copy())), 0)
    np.testing.assert_allclose(square_rows(X, X), square_rows(X - 1e6, X - 1e6), rtol=1e-8)


def test_threads_and_widths_change_no_bit():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 6))
    rows = np.arange(150)

    def everything(n_threads):
        D = square_rows(X, X, n_threads)
        high, _ = rank_rows(D, rows, n_threads)
        low, _ = rank_rows(square_rows(X[:, :2].copy(), X[:, :2].copy(), n_threads), rows, n_threads)
        return D, high, low, *tally(high, low, rng_weight, [5, 12], n_threads)

    rng_weight = rng.random(150)
    first = everything(1)
    for n_threads in (2, 5):
        assert all(np.array_equal(a, b) for a, b in zip(first, everything(n_threads), strict=True))
    _native.force_baseline(True)
    try:
        assert all(np.array_equal(a, b) for a, b in zip(first, everything(2), strict=True))
    finally:
        _native.force_baseline(False)

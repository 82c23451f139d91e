"""The compiled loops of neighbour search against their numpy twins."""

import numpy as np
import pytest
from scipy import sparse

from lowdim import _native
from lowdim._core.distances import row_pairs

pytestmark = pytest.mark.kernel
NOBODY = np.iinfo(np.int32).max
DTYPES = [np.float32, np.float64]


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def empty_heaps(m, k, dtype):
    return np.full((m, k), np.inf, dtype), np.full((m, k), NOBODY, np.int32)


def twin_top(values, skip, k):
    """The k smallest of each row by (value, index), the skipped column left out."""
    values = values.astype(np.float64)
    rows = np.flatnonzero(skip >= 0)
    values[rows, skip[rows]] = np.inf
    order = np.lexsort((np.broadcast_to(np.arange(values.shape[1]), values.shape), values), axis=1)[:, :k]
    return np.take_along_axis(values, order, axis=1), order


def twin_distances(Q, X, p, q_scale, x_scale):
    difference = Q[:, None].astype(float) * q_scale[:, None, None] - X[None].astype(float) * x_scale[None, :, None]
    values = (np.abs(difference) ** p).sum(axis=2)
    values[q_scale == 0] = 2.0
    values[:, x_scale == 0] = 2.0
    return values


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("n", "cut"), [(7, 7), (64, 30), (2500, 1300), (2500, 2499)])
@pytest.mark.parametrize("levels", [3, 10**6])
def test_top_distances_keeps_the_k_smallest(rng, dtype, n, cut, levels):
    block = rng.integers(levels, size=(9, n)).astype(dtype)  # 3 levels: almost everything is a tie
    skip = rng.integers(-1, n, size=9).astype(np.int32)
    k = min(20, n - 1)
    values, indices = empty_heaps(9, k, dtype)
    for start, stop in ((0, cut), (cut, n)):
        _native.top_distances(np.ascontiguousarray(block[:, start:stop]), start, skip, values, indices)
    _native.sort_top(values, indices)
    expected_values, expected_indices = twin_top(block, skip, k)
    np.testing.assert_array_equal(indices, expected_indices)
    np.testing.assert_array_equal(values, expected_values)


def test_top_distances_does_not_care_in_which_order_blocks_come(rng):
    block = rng.integers(4, size=(5, 3000)).astype(float)
    skip = np.full(5, -1, np.int32)
    values, indices = empty_heaps(5, 11, float)
    for start in (2000, 0, 1000):
        _native.top_distances(np.ascontiguousarray(block[:, start : start + 1000]), start, skip, values, indices)
    _native.sort_top(values, indices)
    np.testing.assert_array_equal(indices, twin_top(block, skip, 11)[1])


@pytest.mark.parametrize("k", [1, 100, 128, 1500])  # the first limit is taken from 256 parts: k + 1 <= 128
def test_top_distances_with_many_neighbours_and_the_smallest_to_be_skipped(rng, k):
    block = rng.normal(size=(4, 1600))
    skip = np.argmin(block, axis=1).astype(np.int32)
    values, indices = empty_heaps(4, k, float)
    _native.top_distances(block, 0, skip, values, indices)
    _native.sort_top(values, indices)
    np.testing.assert_array_equal(indices, twin_top(block, skip, k)[1])


@pytest.mark.parametrize("dtype", DTYPES)
def test_top_products_takes_half_the_norm_minus_the_product(rng, dtype):
    block, half = rng.normal(size=(6, 1500)).astype(dtype), rng.normal(size=1500).astype(dtype)
    skip = np.full(6, -1, np.int32)
    values, indices = empty_heaps(6, 9, dtype)
    _native.top_products(block, half, 0, skip, values, indices)
    _native.sort_top(values, indices)
    expected_values, expected_indices = twin_top(half - block, skip, 9)
    np.testing.assert_array_equal(indices, expected_indices)
    np.testing.assert_array_equal(values, expected_values.astype(dtype))


def test_infinite_distances_are_kept_by_index():
    values, indices = empty_heaps(1, 3, float)
    _native.top_distances(np.array([[np.inf, 1.0, np.inf, np.inf]]), 0, np.array([-1], np.int32), values, indices)
    _native.sort_top(values, indices)
    assert indices.tolist() == [[1, 0, 2]]


def two_kinds(rng, dtype, d, m=8, n=40):
    Q, X = rng.normal(size=(m, d)).astype(dtype), rng.normal(size=(n, d)).astype(dtype)
    X[rng.random(X.shape) < 0.5] = 0
    Q[0], Q[1] = X[3], 0
    q_scale, x_scale = rng.uniform(0.5, 2, m), rng.uniform(0.5, 2, n)
    q_scale[2], x_scale[5] = 0, 0
    q_scale[0] = x_scale[3] = 1
    dense = row_pairs(Q, X, q_scale, x_scale)
    rows = row_pairs(sparse.csr_array(Q), sparse.csr_array(X), q_scale, x_scale)
    return (dense, rows), lambda p: twin_distances(Q, X, p, q_scale, x_scale)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("d", [1, 3, 7, 8, 9, 16, 31, 127, 128, 150, 300])
def test_pairs_and_blocks_equal_their_twin(rng, dtype, d):
    kinds, twin = two_kinds(rng, dtype, d)
    i, j = (part.astype(np.int32) for part in np.nonzero(np.ones((8, 40))))
    for p in (1, 2):
        expected = twin(p)
        for kind in kinds:
            values, block = np.empty(len(i)), np.empty((8, 40), dtype)
            kind.pairs(p, i, j, values)
            kind.block(p, block)
            np.testing.assert_allclose(values.reshape(8, 40), expected, rtol=1e-13)
            np.testing.assert_array_equal(block, values.reshape(8, 40).astype(dtype))
            assert block[0, 3] == 0


@pytest.mark.parametrize("p", [1, 2])
@pytest.mark.parametrize("d", [2, 20, 300])
def test_refine_measures_and_sorts_candidates(rng, p, d):
    kinds, twin = two_kinds(rng, np.float64, d)
    queries = np.array([5, 0, 2], np.int32)
    candidates = np.array([rng.choice(40, 10, replace=False) for _ in queries], np.int32)
    candidates[1, 4] = NOBODY
    for kind in kinds:
        values, indices = np.empty(candidates.shape), candidates.copy()
        kind.refine(p, queries, values, indices)
        padded = np.column_stack([twin(p)[queries], np.full(3, np.inf)])
        measured = np.take_along_axis(padded, np.minimum(candidates, 40), axis=1)
        order = np.lexsort((candidates, measured.round(12)), axis=1)
        np.testing.assert_array_equal(indices, np.take_along_axis(candidates, order, axis=1))
        np.testing.assert_allclose(values, np.take_along_axis(measured, order, axis=1), rtol=1e-13)


@pytest.mark.parametrize("p", [1, 2])
@pytest.mark.parametrize("d", [2, 20, 300])
@pytest.mark.parametrize("bounded", [False, True])
def test_scan_finds_the_k_nearest(rng, p, d, bounded):
    kinds, twin = two_kinds(rng, np.float64, d)
    queries, skip = np.array([0, 3, 7], np.int32), np.array([3, -1, 39], np.int32)
    expected_values, expected = twin_top(twin(p)[queries].round(12), skip, 6)
    for kind in kinds:
        values, indices = empty_heaps(3, 6, np.float64)
        if bounded:
            values[:] = expected_values[:, -1:] + 1e-9
        kind.scan(p, queries, skip, values, indices)
        np.testing.assert_array_equal(indices, expected)
        np.testing.assert_allclose(values, expected_values, atol=1e-11)


@pytest.mark.parametrize("bound", [0.0, np.inf])
def test_scan_of_equal_rows_takes_the_lowest_indices(bound):
    X = np.ones((5000, 3))
    pairs = row_pairs(X, X, np.ones(5000), np.ones(5000))
    values, indices = empty_heaps(2, 4, float)
    values[:] = bound
    pairs.scan(2, np.array([0, 4999], np.int32), np.array([0, 4999], np.int32), values, indices)
    assert indices.tolist() == [[1, 2, 3, 4], [0, 1, 2, 3]]
    assert (values == 0).all()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("d", [3, 40])
@pytest.mark.parametrize("root", [False, True])
def test_from_products_measures_near_pairs_again(rng, dtype, d, root):
    X = (rng.normal(size=(70, d)) + 100).astype(dtype)
    X[1], X[2] = X[0], X[0] + dtype(0.01)
    ones = np.ones(70)
    block = X @ X.T
    norms = (X.astype(float) ** 2).sum(axis=1).astype(dtype)
    row_pairs(X, X, ones, ones).from_products(norms, norms, 0.05, root, block)
    expected = twin_distances(X, X, 2, ones, ones)  # |x|^2 is 1e4 d, so that every pair is a near one
    np.testing.assert_allclose(block, np.sqrt(expected) if root else expected, rtol=4 * np.finfo(dtype).eps)
    assert (np.diagonal(block) == 0).all()
    assert block[0, 1] == 0


def test_from_products_keeps_what_has_its_digits(rng):
    products, q_norms, x_norms = rng.normal(size=(3, 200)), np.full(3, 9.0), np.full(200, 11.0)
    block = products.copy()
    X = np.full((200, 2), 7.0)
    row_pairs(X[:3], X, np.ones(3), np.ones(200)).from_products(q_norms, x_norms, 1e-3, False, block)
    np.testing.assert_array_equal(block, 20.0 - 2 * products)
    block = products.copy()
    row_pairs(X[:3], X, np.ones(3), np.ones(200)).from_products(q_norms, x_norms, 1e-3, True, block)
    np.testing.assert_array_equal(block, np.sqrt(20.0 - 2 * products))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("d", [3, 13, 200])
def test_every_vector_width_gives_the_same_bits(rng, dtype, d):
    X = rng.normal(size=(300, d)).astype(dtype)
    X[10:20] = X[0]
    rows, skip = np.arange(300, dtype=np.int32), np.arange(300, dtype=np.int32)
    found = []
    for forced in (False, True):
        _native.force_baseline(forced)
        try:
            pairs = row_pairs(X, X, rng.uniform(1, 1, 300), np.ones(300))
            results = []
            for p in (1, 2):
                values, indices = empty_heaps(300, 9, float)
                pairs.scan(p, rows, skip, values, indices)
                block = np.empty((300, 300), dtype)
                pairs.block(p, block)
                results += [values, indices, block]
            products = (X @ X.T).astype(dtype)
            pairs.from_products(products.diagonal().copy(), products.diagonal().copy(), 0.05, True, products)
            top = empty_heaps(300, 9, dtype)
            _native.top_distances(products, 0, skip, *top)
            found.append([*results, products, *top])
        finally:
            _native.force_baseline(False)
    for wide, narrow in zip(*found, strict=True):
        assert wide.tobytes() == narrow.tobytes()


def test_arrays_that_do_not_fit_are_refused():
    X, ones = np.ones((4, 2)), np.ones(4)
    with pytest.raises(ValueError, match="do not fit"):
        row_pairs(X, X, ones, np.ones(3))
    with pytest.raises(ValueError, match="do not fit"):
        row_pairs(X, X, ones, ones).block(2, np.empty((4, 3)))
    with pytest.raises(ValueError, match="do not fit"):
        _native.top_distances(X, 0, np.zeros(3, np.int32), *empty_heaps(4, 1, float))
    with pytest.raises(TypeError):  # another precision is refused instead of being written to a copy
        _native.sort_top(np.zeros((2, 2), np.float16), np.zeros((2, 2), np.int32))

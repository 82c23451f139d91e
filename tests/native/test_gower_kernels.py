"""The compiled loop of `_native/neighbors/cells/gower_distances.cpp` against a twin in numpy."""

from __future__ import annotations

import numpy as np
import pytest

from lowdim import _native

pytestmark = pytest.mark.kernel


def twin(X, Y):
    q = X.shape[1] // 2
    total = np.zeros((len(X), len(Y)), X.dtype)
    count = np.zeros_like(total)
    for k in range(q):
        gap = np.abs(X[:, k, None] - Y[None, :, k])
        gap = np.where(X[:, q + k, None] < 0, np.minimum(gap, X.dtype.type(1)), gap)
        both = X[:, q + k, None] * Y[None, :, q + k]
        total += both * gap
        count += both
    return np.where(count > 0, total / np.maximum(count, 1), X[:, -1:])


def rows(n, q, dtype, rng, holes=0.4):
    kinds = np.where(np.arange(q) % 2, -1.0, 1.0)
    cells = np.where(kinds < 0, rng.integers(-1, 4, (n, q)), rng.normal(size=(n, q)))
    marks = kinds * (rng.random((n, q)) >= holes)
    return np.hstack([np.where(marks != 0, cells, 0.0), marks, np.full((n, 1), 0.625)]).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(1, 1, 1), (2, 16, 3), (5, 37, 4), (33, 300, 21)])
@pytest.mark.parametrize("baseline", [True, False])
def test_the_loop_agrees_with_its_twin_to_the_last_bit(dtype, shape, baseline):
    b, n, q = shape
    rng = np.random.default_rng(b + n + q)
    X, Y = rows(b, q, dtype, rng), rows(n, q, dtype, rng)
    found = []
    _native.force_baseline(baseline)
    try:
        for n_threads in (1, 3):
            out = np.full((b, n), np.nan, dtype)
            _native.gower_rows(X, Y, out, n_threads)
            found.append(out)
    finally:
        _native.force_baseline(False)
    np.testing.assert_array_equal(found[0], twin(X, Y))
    np.testing.assert_array_equal(found[0], found[1])


def test_rows_that_share_nothing_are_as_far_apart_as_their_last_column_says():
    X = np.array([[0.5, 0.0, 1.0, 0.0, 0.25], [0.0, 2.0, 0.0, -1.0, 0.25]])
    out = np.empty((2, 2))
    _native.gower_rows(X, X, out, 1)
    np.testing.assert_array_equal(out, [[0.0, 0.25], [0.25, 0.0]])


def test_shapes_must_agree():
    X, out = np.zeros((2, 5)), np.zeros((2, 3))
    for Y in (np.zeros((3, 7)), np.zeros((4, 5))):
        with pytest.raises(ValueError, match="gower_rows: the arrays must agree"):
            _native.gower_rows(X, Y, out, 1)
    with pytest.raises(ValueError, match="gower_rows"):
        _native.gower_rows(np.zeros((2, 4)), np.zeros((3, 4)), out, 1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_listed_rows_have_the_bits_of_the_block(dtype):
    rng = np.random.default_rng(3)
    X, Y = rows(7, 5, dtype, rng), rows(40, 5, dtype, rng)
    indices = rng.integers(0, 40, (7, 19)).astype(np.int32)
    out = np.empty(indices.shape, dtype)
    _native.gower_lists(X, Y, indices, out)
    np.testing.assert_array_equal(out, np.take_along_axis(twin(X, Y), indices, axis=1))


def test_a_search_measures_the_same():
    table = rows(45, 6, np.float32, np.random.default_rng(4))
    space, found = _native.GowerDescent(table), np.empty(45, np.float32)
    for i, wanted in enumerate(twin(table, table)):
        _native.measure_pairs(space, i, np.arange(45, dtype=np.int32), found)
        np.testing.assert_array_equal(found, wanted)

"""The compiled log cosh of `_native/tables/log_cosh.cpp` against its twin in numpy."""

from __future__ import annotations

import numpy as np
import pytest

from lowdim import _native

pytestmark = pytest.mark.kernel

EPS = {np.float32: 2.0**-23, np.float64: 2.0**-52}
both = pytest.mark.parametrize("dtype", [np.float32, np.float64])


def twin(Y):
    Y = Y.astype(np.float64)
    T = np.tanh(Y)
    return T, (1 - T**2).sum(axis=1), (np.logaddexp(Y, -Y) - np.log(2)).sum(axis=1)


def log_cosh(Y):
    Y, slope, value = Y.copy(), np.empty(len(Y)), np.empty(len(Y))
    _native.log_cosh(Y, slope, value)
    return Y, slope, value


@both
@pytest.mark.parametrize("n", [1, 3, 63, 64, 65, 1000, 4096, 4097, 9001])
def test_equals_its_twin(dtype, n):
    Y = (3 * np.random.default_rng(n).standard_normal((3, n))).astype(dtype)
    T, slope, value = log_cosh(Y)
    expected = twin(Y)
    np.testing.assert_allclose(T, expected[0], rtol=4 * EPS[dtype], atol=0)
    np.testing.assert_allclose(slope, expected[1], atol=2 * n * EPS[dtype])
    np.testing.assert_allclose(value, expected[2], rtol=4 * EPS[dtype], atol=4 * n * EPS[dtype])


@both
def test_all_magnitudes(dtype):
    """Relative accuracy from the smallest to the largest number, signs of zero and infinity included."""
    tiny, huge = np.log10(np.finfo(dtype).tiny), np.log10(np.finfo(dtype).max)
    y = np.logspace(tiny + 0.5, huge - 0.5, 5000)
    Y = np.concatenate([y, -y, [0.0, -0.0, np.inf, -np.inf]]).astype(dtype)[None]
    T, _, _ = log_cosh(Y)
    np.testing.assert_allclose(T, np.tanh(Y.astype(np.float64)), rtol=4 * EPS[dtype], atol=0)
    np.testing.assert_array_equal(np.signbit(T), np.signbit(Y))
    assert np.abs(T).max() == 1


@both
def test_long_rows_of_zeros_and_of_large_numbers(dtype):
    """2 to the power of the number of samples would overflow; large numbers leave the linear part."""
    for y, each in ((0.0, 0.0), (50.0, 50.0 - np.log(2))):
        Y = np.full((1, 20_000), y, dtype=dtype)
        _, slope, value = log_cosh(Y)
        assert value[0] == pytest.approx(20_000 * each, rel=1e-6, abs=1e-3 if dtype == np.float32 else 1e-9)
        assert slope[0] == pytest.approx(20_000 * (y == 0), abs=1e-3)


@both
def test_the_vector_width_does_not_change_the_bits(dtype):
    Y = (2 * np.random.default_rng(0).standard_normal((4, 5003))).astype(dtype)
    wide = log_cosh(Y)
    try:
        _native.force_baseline(True)
        narrow = log_cosh(Y)
    finally:
        _native.force_baseline(False)
    for a, b in zip(wide, narrow, strict=True):
        np.testing.assert_array_equal(a, b)


def test_shapes_are_checked():
    with pytest.raises(ValueError, match="one entry for each row"):
        _native.log_cosh(np.zeros((3, 5)), np.empty(3), np.empty(2))

"""The compiled exponential of `_native/tables/exponential_decay.cpp` against its twin in numpy."""

import numpy as np
import pytest

from lowdim import _native

pytestmark = pytest.mark.kernel

both = pytest.mark.parametrize("dtype", [np.float32, np.float64])


def twin(x, factor):
    return np.exp(-(x * x.dtype.type(factor)).astype(np.longdouble))


def decay(x, factor=1.0):
    x = x.copy()
    _native.decay(x, factor)
    return x


@both
@pytest.mark.parametrize("n", [0, 1, 7, 64, 65, 20_001])
def test_equals_its_twin(dtype, n):
    """To two units in the last place (one, where numpy has longer numbers to tell)."""
    x = np.random.default_rng(n).uniform(0, 80, n).astype(dtype)
    for factor in (1.0, 0.25, 1e-9):
        expected = twin(x, factor)
        error = np.abs(decay(x, factor) - expected) / np.spacing(expected.astype(dtype))
        assert error.max(initial=0) <= 2


@both
def test_ends_of_the_range(dtype):
    edge = -np.log(np.finfo(dtype).tiny)
    x = np.array([0.0, -0.0, np.inf, np.nan, edge * (1 - 1e-6), edge * (1 + 1e-6), 1e30], dtype)
    found = decay(x)
    np.testing.assert_array_equal(found[[0, 1, 2, 5, 6]], [1, 1, 0, 0, 0])
    assert np.isnan(found[3])
    assert found[4] == pytest.approx(np.finfo(dtype).tiny, rel=1e-3)


@both
def test_a_number_has_the_same_bits_wherever_it_stands_and_at_every_width(dtype):
    x = np.random.default_rng(0).uniform(0, 30, 1003).astype(dtype)
    wide = decay(x, 0.7)
    np.testing.assert_array_equal(np.concatenate([decay(x[i : i + 1], 0.7) for i in range(len(x))]), wide)
    try:
        _native.force_baseline(True)
        narrow = decay(x, 0.7)
    finally:
        _native.force_baseline(False)
    np.testing.assert_array_equal(narrow, wide)

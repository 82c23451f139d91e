"""Columns that are constant but for rounding."""

import numpy as np
import pytest

from lowdim._core.tables.deviations import deviations, rounding_of


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [3, 1000])
def test_a_constant_column_is_divided_by_one(dtype, n):
    X = np.column_stack([np.full(n, 0.1), np.full(n, 1e6) + 1e-9, np.arange(n)]).astype(dtype)
    wide = X.astype(np.float64)
    mean = wide.mean(axis=0)
    mean = mean + (wide - mean).mean(axis=0)
    found = deviations(((wide - mean) ** 2).mean(axis=0), mean, n, dtype)
    np.testing.assert_array_equal(found[:2], 1)
    assert found[2] == pytest.approx(X[:, 2].std())


def test_rounding_grows_with_the_mean_and_the_number_of_rows():
    mean = np.array([0.0, 1.0, -10.0])
    np.testing.assert_allclose(rounding_of(mean, 100) / np.finfo(float).eps, [0, 26, 260])
    assert (rounding_of(mean, 100, np.float32)[1:] > rounding_of(mean, 100)[1:]).all()

"""The kernel that looks at every cell equals its numpy twin."""

import numpy as np
import pytest

from lowdim import _native


def twin(x):
    return float(np.max(np.abs(x), initial=0.0))


@pytest.mark.kernel
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [0, 1, 63, 64, 65, 1000, 600_001])
@pytest.mark.parametrize("special", [None, np.nan, -np.nan, np.inf, -np.inf, -0.0, 5e-324, -1e30])
def test_largest_magnitude(dtype, n, special):
    x = np.random.default_rng(n).standard_normal(n).astype(dtype)
    if special is not None and n:
        x[n * 2 // 3] = special
    for n_threads in (1, 3):
        np.testing.assert_equal(_native.largest(x, n_threads), twin(x))


@pytest.mark.kernel
def test_nan_wins_over_infinity_in_any_order():
    for cells in ([np.inf, np.nan, 1.0], [np.nan, np.inf, 1.0], [1.0, -np.inf, -np.nan]):
        assert np.isnan(_native.largest(np.array(cells), 1))

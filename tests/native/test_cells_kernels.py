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


@pytest.mark.kernel
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("n", "d", "weighted"), [(1, 1, False), (7, 5, True), (600, 33, False), (5000, 9, True)])
def test_column_sums_equal_their_twin(n, d, weighted, dtype):
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, d)).astype(dtype)
    X[rng.random(X.shape) < 0.3] = np.nan
    center, weights = rng.normal(size=d), rng.uniform(size=n) if weighted else np.empty(0)
    w = weights[:, None] if weighted else np.ones((n, 1))
    z = np.nan_to_num(X.astype(np.float64) - center)
    twin = np.array([(w * ~np.isnan(X)).sum(axis=0), (w * z).sum(axis=0), (w * z**2).sum(axis=0)])
    found, again = np.empty((3, d)), np.empty((3, d))
    _native.column_sums(X, center, weights, found, 1)
    _native.column_sums(X, center, weights, again, 3)
    np.testing.assert_allclose(found, twin, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(found, again)
    with pytest.raises(ValueError, match="agree in their shapes"):
        _native.column_sums(X, center[:-1], weights, found, 1)

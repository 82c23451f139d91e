"""QR decomposition of blocks of rows: what their scatter says, with all digits."""

import itertools
from functools import reduce
from operator import add

import numpy as np
import pytest

from lowdim._core.spectrum import Moments, Triangle

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("cuts", [(40,), (1,) * 40, (3, 30, 7), (39, 1)], ids=str)
@pytest.mark.parametrize("d", [1, 6, 60])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_triangle_of_all_rows(cuts, d, dtype):
    X = (RNG.normal(size=(40, d)) + 100).astype(dtype)
    borders = np.cumsum([0, *cuts])
    found = reduce(add, (Triangle.of(X[a:b]) for a, b in itertools.pairwise(borders)))
    wanted = Moments.of(X.astype(np.float64))
    assert found.weight == 40
    assert found.dtype == dtype.__name__
    assert found.R.shape[0] <= min(2 * len(cuts) + 39, d)
    np.testing.assert_allclose(found.mean, wanted.mean, rtol=1e-13)
    np.testing.assert_allclose(found.R.T @ found.R, wanted.scatter, rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.squares(), np.diag(wanted.scatter), rtol=0, atol=1e-9)
    origin = found.about_origin()
    np.testing.assert_allclose(origin.T @ origin, X.T.astype(np.float64) @ X, rtol=1e-9)


def test_small_singular_values_are_kept():
    """Squared they would be 1e-24 of the largest, far below rounding."""
    U, V = np.linalg.qr(RNG.normal(size=(500, 5)))[0], np.linalg.qr(RNG.normal(size=(5, 5)))[0]
    U = np.linalg.qr(U - U.mean(axis=0))[0]
    X = U * 10.0 ** -np.array([0, 3, 6, 9, 12]) @ V
    found = reduce(add, (Triangle.of(X[i : i + 60]) for i in range(0, 500, 60)))
    np.testing.assert_allclose(np.linalg.svd(found.R, compute_uv=False), 10.0 ** -np.array([0, 3, 6, 9, 12]), rtol=1e-3)


def test_summands_are_not_changed():
    a, b = Triangle.of(RNG.normal(size=(9, 3))), Triangle.of(RNG.normal(size=(4, 3)))
    before = a.R.copy(), b.R.copy()
    a + b
    np.testing.assert_array_equal(a.R, before[0])
    np.testing.assert_array_equal(b.R, before[1])


def test_sums_of_another_kind_are_refused():
    X = RNG.normal(size=(9, 3))
    with pytest.raises(ValueError, match="not of the same kind"):
        Triangle.of(X) + Moments.of(X)
    with pytest.raises(ValueError, match="3 columns; got 2"):
        Triangle.of(X) + Triangle.of(X[:, :2])

"""The compiled loop of `_native/tables/fill_missing.cpp` against a twin in numpy."""

from __future__ import annotations

import numpy as np
import pytest

from lowdim import _native

pytestmark = pytest.mark.kernel


def fill_twin(X, mean, scale, W, ridge, whole, completed):
    filled, leverage, loss = completed.astype(np.float64), np.zeros(X.shape), np.zeros(len(X))
    for i, row in enumerate(X.astype(np.float64)):
        seen = ~np.isnan(row)
        use, z = seen | whole, (np.where(seen, row, filled[i]) - mean) / scale
        A = W[use].T @ W[use] + ridge * np.eye(W.shape[1])
        fit = W @ np.linalg.solve(A, W[use].T @ z[use])
        loss[i] = ((z - fit)[seen] ** 2).sum()
        filled[i, ~seen] = (mean + scale * fit)[~seen]
        leverage[i, ~seen] = np.einsum("ja,ab,jb->j", W, np.linalg.inv(A), W)[~seen]
    return filled, leverage, loss


def table(n, d, r, share, dtype, seed=0):
    rng = np.random.default_rng(seed)
    X = (rng.normal(size=(n, d)) + 3).astype(dtype)
    X[rng.random(X.shape) < share] = np.nan
    mean, scale, W = rng.normal(size=d), rng.uniform(0.5, 2, d), rng.normal(size=(d, r))
    return X, mean, scale, W, np.where(np.isnan(X), rng.normal(size=X.shape), X).astype(dtype)


def fill(X, mean, scale, W, ridge, whole, completed, n_threads=1):
    completed, leverage, loss = completed.copy(), np.zeros_like(X), np.empty(len(X))
    _native.fill_missing(X, mean, scale, W, ridge, whole, completed, leverage, loss, n_threads)
    return completed, leverage, loss


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize(
    ("n", "d", "r", "share"), [(5, 3, 1, 0.3), (70, 17, 4, 0.2), (130, 40, 3, 0.9), (20, 80, 66, 0.1)]
)
def test_cells_equal_their_twin(n, d, r, share, whole, dtype):
    given = table(n, d, r, share, dtype)
    found = fill(*given[:4], 0.7, whole, given[4])
    expected = fill_twin(*given[:4], 0.7, whole, given[4])
    tolerance = 2e-6 if dtype == np.float32 else 1e-9
    for ours, twin in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, twin, rtol=tolerance, atol=tolerance)
    seen = ~np.isnan(given[0])
    np.testing.assert_array_equal(found[0][seen], given[0][seen])


def test_no_component_is_the_mean():
    X, mean, scale, _, completed = table(9, 4, 1, 0.4, np.float64)
    found = fill(X, mean, scale, np.empty((4, 0)), 1.0, False, completed)[0]
    np.testing.assert_array_equal(found, np.where(np.isnan(X), mean, X))


def test_threads_and_registers_give_the_same_bits():
    given = table(500, 33, 5, 0.3, np.float64)
    expected = fill(*given[:4], 0.1, False, given[4])
    for threads in (2, 3, 8):
        for ours, one in zip(fill(*given[:4], 0.1, False, given[4], threads), expected, strict=True):
            np.testing.assert_array_equal(ours, one)
    _native.force_baseline(True)
    try:
        for ours, one in zip(fill(*given[:4], 0.1, False, given[4]), expected, strict=True):
            np.testing.assert_array_equal(ours, one)
    finally:
        _native.force_baseline(False)


def test_a_row_without_enough_cells_is_finite():
    X, mean, scale, W, completed = table(6, 5, 4, 0.0, np.float64)
    X[:, 1:] = np.nan
    found = fill(X, mean, scale, W, 1e-14, False, completed)
    assert np.isfinite(found[0]).all()
    np.testing.assert_allclose(found[2], 0, atol=1e-9)


def test_shapes_must_agree():
    X, mean, scale, W, completed = table(6, 5, 2, 0.2, np.float64)
    with pytest.raises(ValueError, match="agree in their shapes"):
        fill(X, mean[:4], scale, W, 1.0, False, completed)

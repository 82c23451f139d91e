"""Means and scatter of rows, whatever their order, offset and shape."""

from __future__ import annotations

import numpy as np
import pytest

from lowdim._core.spectrum.moments import Moments, gram


def _twin(X: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    X = X.astype(np.float64)
    mean = weights @ X / weights.sum()
    return mean, (X - mean).T @ ((X - mean) * weights[:, None])


def _drifting(n: int, d: int, rng: np.random.Generator) -> np.ndarray:
    """Rows whose mean walks through a thousand times their spread."""
    return rng.standard_normal((n, d)) + np.linspace(0.0, 1000.0, n)[:, None] * rng.standard_normal(d)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(5000, 7), (900, 30), (300, 450), (1500, 420)])
@pytest.mark.parametrize("kind", ["still", "drifting", "offset", "constant column"])
def test_moments_are_those_of_the_definition(dtype, shape, kind):
    rng = np.random.default_rng(0)
    X = _drifting(*shape, rng) if kind == "drifting" else rng.standard_normal(shape)
    X += 1e3 * (kind == "offset")
    if kind == "constant column":
        X[:, 1] = 0.1
    X = X.astype(dtype)
    mean, scatter = _twin(X, np.ones(len(X)))
    found = Moments.of(X)
    spread = np.sqrt(np.outer(np.diag(scatter), np.diag(scatter)))
    tolerance = 1e-5 if dtype == np.float32 else 1e-12
    assert np.abs(found.mean - mean).max() <= tolerance * np.abs(X).max()
    assert (np.abs(found.scatter - scatter) <= tolerance * np.maximum(spread, np.median(spread))).all()


def test_a_jump_of_the_mean_takes_no_digits_from_the_other_directions():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((4000, 6)) + 2e3 * (np.arange(4000) >= 1000)[:, None]
    X = X.astype(np.float32)
    least = np.linalg.eigvalsh(_twin(X, np.ones(len(X)))[1])[0]
    assert np.linalg.eigvalsh(Moments.of(X, block=500).scatter)[0] == pytest.approx(least, rel=1e-3)


@pytest.mark.parametrize("shape", [(5000, 7), (300, 450)])
def test_rows_of_weight_zero_do_not_count(shape):
    rng = np.random.default_rng(1)
    X, weights = _drifting(*shape, rng), rng.uniform(0.5, 2.0, shape[0])
    weights[: shape[0] // 2] = 0.0
    mean, scatter = _twin(X, weights)
    found = Moments.of(X, weights)
    np.testing.assert_allclose(found.mean, mean, rtol=1e-10)
    np.testing.assert_allclose(found.scatter, scatter, rtol=1e-9, atol=1e-9 * np.abs(scatter).max())


@pytest.mark.parametrize("shape", [(40, 9), (700, 30), (700, 5000)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_gram_is_the_product_of_the_centred_rows(shape, dtype):
    X = (np.random.default_rng(2).standard_normal(shape) + 3).astype(dtype)
    Z = X.astype(np.float64) - X.astype(np.float64).mean(axis=0)
    found = gram(X)
    assert found.dtype == np.float64
    assert (found == found.T).all()
    np.testing.assert_allclose(found, Z @ Z.T, atol=(1e-3 if dtype == np.float32 else 1e-10) * np.sqrt(shape[1]))

"""Placing new rows, and the learned way back."""

import numpy as np
import pytest
from scipy import sparse

from lowdim import datasets
from lowdim._core.extend import Interpolation, Linear, Nystrom
from lowdim._core.inverse import LearnedInverse
from lowdim._core.neighbors import nearest


def test_linear_dense_sparse_and_far_from_the_origin(rng):
    X = rng.standard_normal((20, 5)) + 3
    mean, scale, A = X.mean(axis=0), X.std(axis=0), rng.standard_normal((5, 2))
    expected = ((X - mean) / scale) @ A
    np.testing.assert_allclose(Linear(mean, scale, A)(X), expected)
    np.testing.assert_allclose(Linear(mean, scale, A)(sparse.csr_array(X)), expected)
    far = (X + 1e4).astype(np.float32)
    placed = Linear(far.mean(axis=0, dtype=np.float64), None, A)(far)
    assert placed.dtype == np.float32
    exact = (far.astype(np.float64) - far.mean(axis=0, dtype=np.float64)) @ A
    np.testing.assert_allclose(placed, exact, atol=0.02)  # 1e4 in float32 is known to 1e-3


def test_nystrom_reproduces_the_eigenvectors(rng):
    X = rng.standard_normal((15, 4))
    K = X @ X.T
    H = np.eye(15) - 1 / 15
    values, vectors = np.linalg.eigh(H @ K @ H)
    values, vectors = values[::-1][:3], vectors[:, ::-1][:, :3]
    extension = Nystrom.of(values, vectors, K.mean(axis=0))
    np.testing.assert_allclose(extension(K), vectors * np.sqrt(values), atol=1e-10)
    # The centring terms of the new row itself cancel.
    np.testing.assert_allclose(extension(K + 7.0), extension(K), atol=1e-10)


def test_nystrom_puts_empty_axes_at_zero():
    extension = Nystrom.of(np.array([2.0, 0.0, -1.0]), np.eye(3), np.zeros(3))
    assert (extension(np.ones((4, 3)))[:, 1:] == 0).all()


def test_interpolation_is_exact_at_rows_and_continuous_between(rng):
    X, Z = rng.standard_normal((30, 2)), rng.standard_normal((30, 3))
    place = Interpolation(Z)
    np.testing.assert_allclose(place(nearest(X, 6, queries=X)), Z, atol=1e-12)
    step = np.linspace(0, 1, 2001)[:, None]
    path = X[0] + step * (X[1] - X[0])
    placed = place(nearest(X, 6, queries=path))
    assert np.abs(np.diff(placed, axis=0)).max() < 0.05  # neighbours come and go with weight 0
    low, high = Z.min(axis=0) - 1e-12, Z.max(axis=0) + 1e-12
    assert ((placed >= low) & (placed <= high)).all()


def test_interpolation_with_ties_and_one_neighbour():
    X = np.array([[0.0], [2.0], [4.0]])
    place = Interpolation(np.array([[0.0], [10.0], [20.0]]))
    assert place(nearest(X, 1, queries=[[1.9]])) == 10
    np.testing.assert_allclose(place(nearest(X, 2, queries=[[1.0]])), [[0.0]])  # the second only sets the reach
    np.testing.assert_allclose(place(nearest(np.ones((3, 1)), 3, queries=[[0.0]])), [[5.0]])


def test_learned_inverse_finds_the_surface():
    data = datasets.swiss_roll(600, noise=0.0, random_state=0)
    Z = data.isometric_coordinates
    inverse = LearnedInverse.fit(Z[:500], data.X[:500])
    X, outside = inverse(Z[500:])
    error = np.sqrt(((X - data.X[500:]) ** 2).sum(axis=1))
    assert np.median(error) < 0.2  # the roll is 30 long and high
    affine = np.linalg.lstsq(np.c_[Z[:500], np.ones(500)], data.X[:500], rcond=None)[0]
    plain = np.c_[Z[500:], np.ones(100)] @ affine
    assert np.median(error) < 0.05 * np.median(np.sqrt(((plain - data.X[500:]) ** 2).sum(axis=1)))
    assert (outside < 3).all()
    assert (inverse(Z[500:] + np.array([0, 300.0]))[1] > 10).all()


def test_learned_inverse_of_a_linear_map_is_the_linear_inverse(rng):
    Z = rng.standard_normal((60, 2))
    A = rng.standard_normal((2, 5))
    noise = 0.1 * rng.standard_normal((60, 5))
    X = Z @ A + 7 + noise
    inverse = LearnedInverse.fit(Z, X)
    assert inverse.coefficients.size == 0  # noise holds nothing to learn
    expected = np.c_[Z, np.ones(60)] @ np.linalg.lstsq(np.c_[Z, np.ones(60)], X, rcond=None)[0]
    np.testing.assert_allclose(inverse(Z)[0], expected, atol=1e-10)


@pytest.mark.parametrize("seed", range(8))
def test_learned_inverse_is_not_led_astray_by_chance(seed):
    """Of sixty widths and penalties some leave less of pure noise by luck."""
    X = np.random.default_rng(seed).standard_normal((100 if seed % 2 else 40, 3))
    _, _, Vt = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    assert LearnedInverse.fit((X - X.mean(axis=0)) @ Vt[:2].T, X).coefficients.size == 0


@pytest.mark.parametrize("unit", [1e-100, 1e-12, 1e8])
def test_learned_inverse_follows_the_unit(rng, unit):
    Z = rng.uniform(-1, 1, (60, 1))
    X = np.c_[np.sin(3 * Z), np.cos(3 * Z)]
    expected = LearnedInverse.fit(Z, X)(Z)[0]
    np.testing.assert_allclose(LearnedInverse.fit(Z, unit * X)(Z)[0], unit * expected, atol=1e-8 * unit)


def test_leave_one_out_formula(rng):
    """The closed form equals leaving each row out and solving again."""
    from lowdim._core.distances import pairwise

    Z, Y = rng.standard_normal((12, 2)), rng.standard_normal((12, 3))
    gamma, alpha = 0.3, 0.1
    K = np.exp(-gamma * pairwise(Z, squared=True))
    G = np.linalg.inv(K + alpha * np.eye(12))
    closed = (G @ Y) / np.diag(G)[:, None]
    for i in range(12):
        keep = np.arange(12) != i
        predicted = K[i, keep] @ np.linalg.solve(K[np.ix_(keep, keep)] + alpha * np.eye(11), Y[keep])
        np.testing.assert_allclose(closed[i], Y[i] - predicted, atol=1e-10)


def test_learned_inverse_on_many_rows_uses_few_centres(rng):
    Z = rng.uniform(-1, 1, (2500, 1))
    X = np.c_[np.sin(3 * Z), np.cos(3 * Z)]
    inverse = LearnedInverse.fit(Z, X)
    assert len(inverse.centres) == 1000
    np.testing.assert_allclose(inverse(Z[:50])[0], X[:50], atol=1e-3)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_learned_inverse_of_a_handful(n):
    inverse = LearnedInverse.fit(np.arange(n)[:, None], np.eye(n))
    X, outside = inverse(np.zeros((1, 1)))
    assert np.isfinite(X).all()
    assert np.isfinite(outside).all()

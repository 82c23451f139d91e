"""The compiled forces, steps and affinities of t-SNE against their twins in numpy."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest
from scipy import sparse

from lowdim import _native

pytestmark = pytest.mark.kernel

both = pytest.mark.parametrize("dtype", [np.float32, np.float64])
dims = pytest.mark.parametrize("k", [1, 2, 3, 5])
TOLERANCE = {np.float32: 3e-5, np.float64: 1e-11}


def points(n, k, dtype=np.float64, scale=5.0, seed=0):
    return (scale * np.random.default_rng(seed).standard_normal((n, k))).astype(dtype)


def edges(n, per_row=9, dtype=np.float64, seed=0):
    """A symmetric sparse matrix that sums to 1; some rows have few entries, one has none."""
    rng = np.random.default_rng(seed)
    W = sparse.csr_array(np.where(rng.random((n, n)) < min(0.9, per_row / n), rng.random((n, n)), 0.0))
    i, j = W.nonzero()
    W.data[(i == j) | (i == 2) | (j == 2)] = 0
    W = (W + W.T).tocsr()
    W.eliminate_zeros()
    W.sort_indices()
    W.data = (W.data / W.data.sum()).astype(dtype)
    return W, (W.indptr.astype(np.int64), W.indices.astype(np.int32), W.data)


def forces_twin(W, Y, dof):
    d = Y[:, None].astype(np.float64) - Y
    q = 1 / (1 + (d**2).sum(axis=-1) / dof)
    w = q ** ((dof + 1) / 2)
    pulled = np.einsum("ij,ijc->ic", W.toarray() * q, d)
    return pulled, np.einsum("ij,ijc->ic", w * q, d), w.sum() - len(Y)


def forces(parts, Y, theta, dof=1.0, n_threads=1):
    pulled, pushed = np.empty_like(Y), np.empty_like(Y)
    total = _native.map_forces(*parts, Y, theta, dof, n_threads, pulled, pushed)
    return pulled, pushed, total


def close(found, expected, rtol):
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, atol=rtol * np.abs(b).max())


@both
@dims
@pytest.mark.parametrize(("n", "dof"), [(3, 1.0), (17, 1.0), (150, 1.0), (150, 0.5), (33, 3.0)])
def test_forces_over_all_pairs_equal_their_twin(dtype, k, n, dof):
    W, parts = edges(n, dtype=dtype)
    Y = points(n, k, dtype)
    close(forces(parts, Y, 0.0, dof), forces_twin(W, Y, dof), TOLERANCE[dtype])


@both
@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("n", [5, 33, 400])
def test_a_tree_that_is_always_opened_equals_all_pairs(dtype, k, n):
    W, parts = edges(n, dtype=dtype)
    Y = points(n, k, dtype)
    Y[: n // 3] = Y[0]  # equal points
    close(forces(parts, Y, 1e-6), forces_twin(W, Y, 1.0), TOLERANCE[dtype])


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize(("dof", "scale"), [(1.0, 1e-4), (1.0, 1.0), (1.0, 30.0), (0.7, 10.0)])
def test_the_tree_is_near_all_pairs(k, dof, scale):
    _, parts = edges(1500)
    Y = points(1500, k, scale=scale)
    _, exact, total = forces(parts, Y, 0.0, dof)
    errors = []
    for theta in (0.8, 0.5, 0.25):
        _, pushed, estimate = forces(parts, Y, theta, dof)
        assert estimate == pytest.approx(total, rel=2e-2)
        errors.append(np.linalg.norm(pushed - exact) / np.linalg.norm(exact))
    assert errors[1] < 0.01
    assert errors[2] < 0.002


def test_second_moments_are_taken_with_the_right_sign():
    """Of one far group of points: the error of the expansion is of third order in its size over the distance."""
    near, group = points(16, 2, scale=0.01), points(64, 2, scale=1.0, seed=1) + np.array([12.0, 5.0])
    Y = np.vstack([near, group])
    _, parts = edges(len(Y))
    errors = []
    for size in (1.0, 0.5):
        Z = np.vstack([near, (group - group.mean(axis=0)) * size + group.mean(axis=0)])
        exact, coarse = forces(parts, Z, 0.0)[1][:16], forces(parts, Z, 1.0)[1][:16]
        errors.append(np.linalg.norm(coarse - exact) / np.linalg.norm(exact))
    assert errors[0] < 2e-3
    assert errors[1] < 0.3 * errors[0]


@both
@dims
@pytest.mark.parametrize("theta", [0.0, 0.5])
def test_same_bits_for_any_number_of_threads_and_width(dtype, k, theta):
    _, parts = edges(5000, 20, dtype)
    Y = points(5000, k, dtype, scale=20.0)
    if k > 3 or theta == 0:
        Y, parts = Y[:600].copy(), edges(600, 20, dtype)[1]
    results = [forces(parts, Y, theta, n_threads=threads) for threads in (1, 2, 5)]
    _native.force_baseline(True)
    try:
        results.append(forces(parts, Y, theta))
    finally:
        _native.force_baseline(False)
    for found in results[1:]:
        np.testing.assert_array_equal(found[0], results[0][0])
        np.testing.assert_array_equal(found[1], results[0][1])
        assert found[2] == results[0][2]


def descent_twin(W, Y, exaggeration, rate, momentum, most, n_iter):
    velocity, gains = np.zeros_like(Y), np.ones_like(Y)
    for _ in range(n_iter):
        pulled, pushed, total = forces_twin(W, Y, 1.0)
        gradient = exaggeration * pulled - pushed / total
        gains = np.clip(np.where(gradient * velocity > 0, 0.8 * gains, gains + 0.2), 0.01, most)
        velocity = momentum * velocity - rate * gains * gradient
        length = np.linalg.norm(velocity, axis=1, keepdims=True)
        velocity *= np.where(length > 5, 5 / np.maximum(length, 1e-300), 1.0)
        Y = Y + velocity
    return Y


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_steps_equal_their_twin(k):
    W, parts = edges(90)
    start = points(90, k)
    for settings in ((4.0, 90.0, 0.8, 3.0, 7), (1.0, 9000.0, 0.5, np.inf, 4)):
        Y, velocity, gains = start.copy(), np.zeros_like(start), np.ones_like(start)
        *rates, n_iter = settings
        total, gradient, pull = _native.descend_map(*parts, *rates, 0.0, 1.0, n_iter, 2, Y, velocity, gains)
        np.testing.assert_allclose(Y, descent_twin(W, start, *rates, n_iter), rtol=1e-9, atol=1e-9)
        assert total > 0
        assert gradient > 0
        assert pull > 0
        # The same from forces that come from elsewhere.
        Z, velocity, gains = start.copy(), np.zeros_like(start), np.ones_like(start)
        for _ in range(n_iter):
            pulled, pushed, total = forces(parts, Z, 0.0)
            _native.step_map(pulled, pushed, total, *rates, 1, Z, velocity, gains)
        np.testing.assert_array_equal(Z, Y)


@both
@dims
def test_attraction_and_costs_equal_their_twins(dtype, k):
    W, parts = edges(130, dtype=dtype)
    Y = points(130, k, dtype)
    pulled = np.empty_like(Y)
    _native.pull_map(*parts, Y, 2.0, 2, pulled)
    close([pulled], [forces_twin(W, Y, 2.0)[0]], TOLERANCE[dtype])
    i, j = W.nonzero()
    s = ((Y[i].astype(np.float64) - Y[j]) ** 2).sum(axis=1)
    cost = (W.data * (np.log(W.data.astype(np.float64)) + 1.5 * np.log(1 + s / 2.0))).sum()
    assert _native.edge_costs(*parts, Y, 2.0, 2) == pytest.approx(cost, rel=1e-5 if dtype == np.float32 else 1e-12)


@pytest.mark.parametrize("perplexity", [1.5, 5.0, 29.0])
@pytest.mark.parametrize("scale", [1e-100, 1.0, 1e100])
def test_rows_get_their_perplexity(perplexity, scale):
    rng = np.random.default_rng(0)
    counts = rng.integers(31, 60, size=200)
    starts = np.concatenate([[0], np.cumsum(counts)])
    squares = scale * rng.gamma(2.0, size=starts[-1])
    p, betas = np.empty_like(squares), np.empty(200)
    _native.calibrate_rows(starts, squares, perplexity, 2, p, betas)
    for i in range(200):
        row = slice(starts[i], starts[i + 1])
        entropy = -(p[row] * np.log2(np.maximum(p[row], 1e-300))).sum()
        assert 2**entropy == pytest.approx(perplexity, abs=1e-6)
        twin = np.exp(-betas[i] * (squares[row] - squares[row].min()))
        np.testing.assert_allclose(p[row], twin / twin.sum(), rtol=1e-12, atol=1e-290)


def test_rows_that_cannot_have_their_perplexity():
    """Fewer neighbours than the perplexity: all count the same; more of them equally near: those alone count."""
    starts = np.array([0, 3, 3, 9])
    squares = np.array([1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 0.0, 7.0, 8.0])
    p, betas = np.empty(9), np.empty(3)
    _native.calibrate_rows(starts, squares, 3.5, 1, p, betas)
    np.testing.assert_allclose(p[:3], 1 / 3, rtol=1e-6)
    np.testing.assert_allclose(p[3:], [0.25, 0.25, 0.25, 0.25, 0, 0], atol=1e-9)


def spline(x):
    x = np.abs(x)
    return sum((-1) ** j * comb(6, j) * np.maximum(3 - j - x, 0) ** 5 for j in range(3)) / 120  # powers cut off


@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("n", [7, 40_000])
def test_grids_equal_their_twins(k, n):
    Y, low, sizes = points(n, k, np.float32, scale=0.8), np.full(k, -6.0), (23, 29)[-k:]
    splines = [spline((Y[:, c, None] + 6.0) * 2 - np.arange(size)) for c, size in enumerate(sizes)]
    both_ways = splines[0][:, None] if k == 1 else splines[0][:, :, None] * splines[1][:, None] if n < 100 else None
    shape = (1, *sizes) if k == 1 else sizes
    grid = np.empty(shape, np.float32)
    _native.spread_grid(Y, low, 2.0, 2, grid)
    expected = both_ways.sum(axis=0) if both_ways is not None else splines[0].T @ splines[1]
    np.testing.assert_allclose(grid, expected, atol=1e-5 * max(1.0, expected.max()))
    fields, out = np.random.default_rng(1).standard_normal((2, *shape)).astype(np.float32), np.zeros((n, 2), np.float32)
    _native.gather_grid(Y, low, 2.0, fields.reshape(-1, shape[1]), 2, out)
    for field, found in zip(fields, out.T, strict=True):
        twin = splines[0] @ field[0] if k == 1 else ((splines[0] @ field) * splines[1]).sum(axis=1)
        np.testing.assert_allclose(found, twin, atol=2e-5)
    other = np.empty(shape, np.float32)
    _native.spread_grid(Y, low, 2.0, 1, other)
    np.testing.assert_array_equal(other, grid)


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("theta", [0.0, 0.3])
def test_new_points_stop_where_nothing_pulls_them(k, theta):
    rng = np.random.default_rng(3)
    fitted, near = points(300, k), rng.integers(0, 300, size=(20, 6)).astype(np.int32)
    near[:] = np.argsort(((fitted[:20, None] - fitted) ** 2).sum(axis=-1), axis=1)[:, :6]
    p = rng.dirichlet(np.ones(6), size=20)
    y = np.einsum("ij,ijc->ic", p, fitted[near])
    _native.place_rows(fitted, near, p, theta, 1.0, 1.5, 500, 2, y)
    d, others = y[:, None] - fitted[near], y[:, None] - fitted
    w = 1 / (1 + (others**2).sum(axis=-1))
    pulled = 1.5 * np.einsum("ij,ijc->ic", p / (1 + (d**2).sum(axis=-1)), d)
    pushed = np.einsum("ij,ijc->ic", w**2, others) / w.sum(axis=1, keepdims=True)
    assert np.abs(pulled - pushed).max() < (1e-4 if theta == 0 else 0.02) * np.abs(pulled).max()


def test_arrays_that_do_not_fit_are_refused():
    _, parts = edges(20)
    Y = points(20, 2)
    with pytest.raises(ValueError, match="do not fit"):
        forces(parts, Y[:19].copy(), 0.5)
    with pytest.raises(ValueError, match="do not fit"):
        _native.calibrate_rows(np.array([0, 9]), np.ones(4), 2.0, 1, np.ones(4), np.ones(1))
    with pytest.raises(ValueError, match="do not fit"):
        _native.spread_grid(Y.astype(np.float32), np.zeros(2), 1.0, 1, np.empty((9, 9), np.float32))

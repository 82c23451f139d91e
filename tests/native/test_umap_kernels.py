"""The compiled memberships, moves and places of UMAP against their twins in numpy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import brentq

from lowdim import _native

pytestmark = pytest.mark.kernel

A, B = 1.577, 0.895
dims = pytest.mark.parametrize("k", [1, 2, 3, 5])


def memberships(distances, connectivity=1.0, least=1e-3, n_threads=1):
    n, k = distances.shape
    found, reaches, widths = np.empty(n * k), np.empty(n), np.empty(n)
    starts = np.arange(0, n * k + 1, k, dtype=np.int64)
    _native.fuzzy_rows(starts, distances.ravel(), connectivity, least, n_threads, found, reaches, widths)
    return found.reshape(n, k), reaches, widths


def memberships_twin(d, connectivity):
    """Of a row without zeros: the reach between two neighbours, and the width by another root finder."""
    d = np.sort(d)
    reach = np.interp(connectivity, np.arange(1, len(d) + 1), d)
    gaps = np.maximum(d - reach, 0)
    width = brentq(lambda s: np.exp(-gaps / s).sum() - np.log2(len(d) + 1), 1e-6, 1e6, xtol=1e-14, rtol=1e-14)
    return np.exp(-gaps / width), reach, width


@pytest.mark.parametrize("connectivity", [1.0, 1.5, 2.0])
def test_memberships_equal_their_twin(connectivity):
    distances = np.sort(np.random.default_rng(0).random((40, 15)) + 0.1, axis=1)
    found = memberships(distances, connectivity)
    for i, row in enumerate(distances):
        for mine, twin in zip(found, memberships_twin(row, connectivity), strict=True):
            np.testing.assert_allclose(mine[i], twin, rtol=1e-7)


@pytest.mark.parametrize("connectivity", [15.0, 60.0, 1e300])
def test_all_neighbours_belong_fully(connectivity):
    np.testing.assert_array_equal(memberships(np.random.default_rng(0).random((9, 15)) + 0.1, connectivity)[0], 1.0)


def test_memberships_of_rows_without_a_choice():
    """All as near; nothing but copies; one neighbour; too many full ones for the sum: finite, and the nearest are 1."""
    cases = np.array([[1.0, 1.0, 1.0, 1.0], [0.0, 0.0, 0.0, 0.0], [0.0, 1.0, 2.0, 3.0], [1e-8, 1e-8, 1e-8, 5.0]])
    found, _, widths = memberships(cases)
    assert np.isfinite(found).all()
    assert np.isfinite(widths).all()
    np.testing.assert_array_equal(found[:2], 1.0)
    np.testing.assert_array_equal(found[2, :2], 1.0)
    np.testing.assert_array_equal(memberships(np.array([[3.0]]))[0], 1.0)


def graph(n=60, seed=0):
    rng = np.random.default_rng(seed)
    W = np.where(rng.random((n, n)) < 6 / n, rng.random((n, n)), 0.0)
    np.fill_diagonal(W, 0.0)
    W = sparse.csr_array(np.maximum(W, W.T))
    return W, (W.indptr.astype(np.int64), W.indices.astype(np.int32))


def factors(squares, strength=1.0):
    """Of pulls and pushes, as they come and held to the length 4."""
    safe = np.maximum(squares, 1e-300)
    over = 1 + A * safe**B
    return 2 * A * B * safe ** (B - 1) / over, 2 * strength * B / ((0.001 + safe) * over)


def held_factors(squares, strength=1.0):
    return [np.minimum(factor, 4 / np.sqrt(np.maximum(squares, 1e-300))) for factor in factors(squares, strength)]


def expected_twin(W, Z, per_pull, strength):
    gaps = Z[None] - Z[:, None]
    pull, push = held_factors((gaps**2).sum(axis=-1), strength)
    np.fill_diagonal(push, 0)
    pull, push = 2 * W * pull, 2 * per_pull * W.sum(axis=1, keepdims=True) / len(Z) * push
    return np.einsum("ij,ijc->ic", pull - push, gaps) / (pull + push).sum(axis=1, keepdims=True)


@dims
def test_a_step_by_the_mean_equals_its_twin(k):
    W, edges = graph()
    Z = np.random.default_rng(1).standard_normal((60, k)) * 2
    found = Z.copy()
    _native.settle_map(*edges, W.data, A, B, 0.7, 2.5, 0, 1, 4, 0.8, 2, found)
    np.testing.assert_allclose(found - Z, 0.8 * expected_twin(W.toarray(), Z, 2.5, 0.7), atol=2e-4)


@dims
def test_pulls_without_pushes_equal_their_twin(k):
    """Weights 0 never pull; full ones do in every step, all from where the rows were, to at most 8 times beyond."""
    W, edges = graph(30)
    steps = np.where(W.data > 0.5, 65535, 0).astype(np.uint16)
    clocks = np.full(len(steps), 30_000, np.uint16)
    Z = np.random.default_rng(1).standard_normal((30, k)).astype(np.float32)
    found = Z.copy()
    _native.sample_map(*edges, steps, clocks, A, B, 1.0, 0.0, True, 7, 0, 1, 2, 2.5, 1, found)
    gaps = Z[None].astype(np.float64) - Z[:, None]
    pull = 2.5 * factors((gaps**2).sum(axis=-1))[0] * (W.toarray() > 0.5)
    over = np.maximum(1, pull.sum(axis=1, keepdims=True) / 8)
    assert 1 < over.max() > over.min() == 1
    np.testing.assert_allclose(found, Z + np.einsum("ij,ijc->ic", pull, gaps) / over, atol=1e-3)
    np.testing.assert_array_equal(clocks, np.where(steps > 0, 29_999, 30_000))


@dims
def test_pulls_one_after_the_other_equal_their_twin(k):
    W, edges = graph(30)
    steps, clocks = np.full(W.nnz, 65535, np.uint16), np.full(W.nnz, 30_000, np.uint16)
    Z = np.random.default_rng(1).standard_normal((30, k)).astype(np.float32)
    found, twin = Z.copy(), Z.astype(np.float64)
    _native.sample_map(*edges, steps, clocks, A, B, 1.0, 0.0, False, 7, 0, 1, 2, 0.3, 1, found)
    for i in range(30):
        for j in W.indices[W.indptr[i] : W.indptr[i + 1]]:
            gap = Z[j] - twin[i]
            twin[i] += 0.3 * factors((gap**2).sum())[0] * gap
    np.testing.assert_allclose(found, twin, atol=1e-3)


@dims
def test_draws_have_the_mean_of_all_pairs(k):
    """Many small steps from one place: on average the move of the expected descent, times its stiffness."""
    W, edges = graph(40)
    Z = np.random.default_rng(1).standard_normal((40, k)).astype(np.float32)
    rng, tiny, runs = np.random.default_rng(2), 1e-3, 4000
    steps = np.rint(65535 * W.data / W.data.max()).astype(np.uint16)
    total = np.zeros(Z.shape)
    for seed in range(runs):
        together = seed % 2 == 0
        found = Z.copy()
        clocks = rng.integers(65536, size=len(steps)).astype(np.uint16)
        _native.sample_map(*edges, steps, clocks, A, B, 1.0, 2.5, together, seed, 0, 1, 2, tiny, 1, found)
        total += (found - Z) / (tiny * runs)
    w, gaps = W.toarray() / W.data.max(), (Z[None] - Z[:, None]).astype(np.float64)
    pull, push = factors((gaps**2).sum(axis=-1))
    np.fill_diagonal(push, 0)
    pulls, pushes = (np.clip(factor[..., None] * gaps, -4, 4) for factor in (pull, push))
    mean = np.einsum("ij,ijc->ic", w, pulls) - 2.5 * w.sum(axis=1, keepdims=True) / 40 * pushes.sum(axis=1)
    assert np.abs(total - mean).max() < 0.1 * np.abs(mean).max()
    assert np.corrcoef(total.ravel(), mean.ravel())[0, 1] > 0.998


@dims
def test_new_rows_end_where_forces_balance(k):
    rng = np.random.default_rng(3)
    fitted = rng.standard_normal((50, k)) * 3
    near = np.argsort(rng.random((6, 50)), axis=1)[:, :5].astype(np.int32)
    weights = rng.random((6, 5)) + 0.1
    Z = fitted[near].mean(axis=1)
    alone = Z[2:3].copy()
    _native.settle_rows(fitted, fitted, near, weights, A, B, 1.0, 2.5, 200, 2, Z)
    _native.settle_rows(fitted, fitted, near[2:3], weights[2:3], A, B, 1.0, 2.5, 200, 1, alone)
    np.testing.assert_array_equal(alone[0], Z[2])
    gaps = fitted[None] - Z[:, None]
    pull, push = held_factors((gaps**2).sum(axis=-1))
    W = np.zeros((6, 50))
    np.put_along_axis(W, near.astype(np.int64), weights, axis=1)
    pull, push = 2 * W * pull, 2 * 2.5 * W.sum(axis=1, keepdims=True) / 50 * push
    left = np.einsum("ij,ijc->ic", pull - push, gaps) / (pull + push).sum(axis=1, keepdims=True)
    assert np.abs(left).max() < 0.02


def radii_twin(W, Z):
    squares = ((Z[None] - Z[:, None]) ** 2).sum(axis=-1)
    q = np.where(W.toarray() > 0, 1 / (1 + A * squares**B), 0.0)
    return np.log(1e-8 + (q * squares).sum(axis=1) / q.sum(axis=1)), q.sum(axis=1)


@dims
def test_radii_in_the_map_and_their_gradient_equal_their_twins(k):
    W, edges = graph(40)
    rng = np.random.default_rng(4)
    Z, slopes = (2 * rng.standard_normal((40, k))).astype(np.float32), rng.standard_normal(40)
    radii, sums, moves = np.empty(40), np.empty(40), np.empty((40, k))
    _native.map_radii(*edges, A, B, 2, Z, radii, sums)
    for found, twin in zip((radii, sums), radii_twin(W, Z.astype(np.float64)), strict=True):
        np.testing.assert_allclose(found, twin, rtol=1e-4)
    _native.radii_gradient(*edges, A, B, radii, sums, slopes, 2, Z, moves)
    for i, c in np.ndindex(5, k):
        step = np.zeros((40, k))
        step[i, c] = 1e-5
        ahead, behind = (slopes @ radii_twin(W, Z + sign * step)[0] for sign in (1, -1))
        assert moves[i, c] == pytest.approx((ahead - behind) / 2e-5, rel=1e-3, abs=1e-4)


def test_the_same_bits_for_any_number_of_threads():
    W, edges = graph(3000)
    steps = np.rint(65535 * W.data / W.data.max()).astype(np.uint16)
    maps = []
    for n_threads in (1, 2, 5):
        Z = np.random.default_rng(1).standard_normal((3000, 2)).astype(np.float32)
        _native.sample_map(
            *edges,
            steps,
            np.arange(len(steps)).astype(np.uint16),
            A,
            B,
            1.0,
            2.5,
            True,
            3,
            0,
            20,
            40,
            1.0,
            n_threads,
            Z,
        )
        maps.append(Z)
    np.testing.assert_array_equal(maps[0], maps[1])
    np.testing.assert_array_equal(maps[0], maps[2])


def test_arrays_that_do_not_fit_are_refused():
    W, edges = graph(20)
    with pytest.raises(ValueError, match="do not fit"):
        _native.settle_map(*edges, W.data[:-1], A, B, 1.0, 2.5, 0, 1, 2, 1.0, 1, np.zeros((20, 2)))
    with pytest.raises(ValueError, match="do not fit"):
        _native.settle_map(*edges, W.data, A, B, 1.0, 2.5, 0, 1, 2, 1.0, 1, np.zeros((10, 2)))
    steps = np.zeros(W.nnz, np.uint16)
    with pytest.raises(ValueError, match="do not fit"):
        _native.sample_map(
            edges[0],
            edges[1] + 20,
            steps,
            steps,
            A,
            B,
            1.0,
            2.5,
            True,
            0,
            0,
            1,
            2,
            1.0,
            1,
            np.zeros((20, 2), np.float32),
        )

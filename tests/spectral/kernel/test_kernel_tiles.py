"""Kernel values tile by tile equal the block a kernel gives at once."""

import numpy as np
import pytest
from scipy import sparse

from lowdim._core.kernels import RBF, Custom, Laplace, Linear, Precomputed, Sigmoid
from lowdim.spectral.kernel import _kernel_tiles
from lowdim.spectral.kernel._kernel_tiles import GaussianTiles, each_block, matrix, product, tiles_of

KERNELS = [RBF(0.05), Linear(), Laplace(0.1), Sigmoid(0.01), 2 * RBF(0.1) * Linear(), RBF(1e-40)]


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch):
    monkeypatch.setattr(_kernel_tiles, "TILE", 32)


def rows(n=107, dtype=np.float64, seed=0):
    return (np.random.default_rng(seed).standard_normal((n, 5)) * 3 + 7).astype(dtype)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_matrix_and_products(kernel, dtype):
    X = rows(dtype=dtype)
    tiles, K = tiles_of(kernel, X), kernel(X.astype(np.float64))
    size, tolerance = np.abs(K).max(), 2e-5 if dtype == np.float32 else 1e-13
    found = matrix(tiles, dtype)
    np.testing.assert_allclose(found, K, atol=tolerance * size)
    np.testing.assert_array_equal(found, found.T)
    Y = np.random.default_rng(1).standard_normal((len(X), 3))
    np.testing.assert_allclose(product(tiles, Y), K @ Y, atol=10 * len(X) * tolerance * size)
    np.testing.assert_allclose(tiles.diag(), np.diagonal(K), rtol=1e-5)
    new = rows(50, dtype, seed=2)
    blocks = each_block(tiles, new, lambda values, part: (values, part), size=20)
    np.testing.assert_allclose(np.vstack([b for b, _ in blocks]), kernel(new, X), atol=tolerance * size)
    assert [part.stop for _, part in blocks] == [20, 40, 50]


def test_threads_do_not_change_bits():
    X, Y = rows(300), np.random.default_rng(0).standard_normal((300, 4))
    tiles = tiles_of(RBF(0.05), X)
    for function in (lambda j: matrix(tiles, np.float64, j), lambda j: product(tiles, Y, j)):
        for j in (2, 3, 7):
            np.testing.assert_array_equal(function(j), function(1))


def test_every_row_of_tiles_is_in_one_lane():
    for n in range(1, 80):
        dealt = list(_kernel_tiles._lanes(n))
        assert sorted(i for lane in dealt for i in lane) == list(range(n))
        assert len(dealt) <= _kernel_tiles.LANES


def test_equal_and_near_rows_keep_their_digits():
    """Far from the origin a product form would lose everything; the Gaussian of equal rows is exactly 1."""
    X = np.repeat(rows(20), 2, axis=0) + 1e6
    X[1::2, 0] += 1e-3
    X[3] = X[2]
    tiles = tiles_of(RBF(1e4), X)
    assert isinstance(tiles, GaussianTiles)
    K = matrix(tiles, np.float64)
    assert K[2, 3] == 1.0
    d = X[1, 0] - X[0, 0]
    assert K[0, 1] == pytest.approx(np.exp(-1e4 * d * d), rel=1e-12)
    assert (np.diagonal(K) == 1).all()


def test_a_shift_is_taken_off_before_rounding():
    X = rows(100)
    K, shift = RBF(1e-4)(X), RBF(1e-4)(X).mean(axis=0) / 2
    found = matrix(tiles_of(RBF(1e-4), X), np.float32, shift=shift)
    exact = K - shift[:, None] - shift
    assert np.abs(found - exact).max() < 1e-7 * np.abs(exact).max()


def test_kinds_of_rows_and_kernels():
    S = sparse.random_array((90, 6), density=0.5, random_state=np.random.default_rng(0), format="csr")
    np.testing.assert_allclose(matrix(tiles_of(RBF(0.5), S), np.float64), RBF(0.5)(S.toarray()), atol=1e-13)
    own = Custom(lambda x, y: float(x @ y))
    np.testing.assert_allclose(matrix(tiles_of(own, rows(40)), np.float64), rows(40) @ rows(40).T)
    K = RBF(0.5)(S)
    given = tiles_of(Precomputed(), K)
    np.testing.assert_array_equal(matrix(given, np.float64), K)
    np.testing.assert_allclose(product(given, K[:, :2]), K @ K[:, :2])
    np.testing.assert_array_equal(given.diag(), np.ones(90))

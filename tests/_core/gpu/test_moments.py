"""Moments in tensors against those of the CPU, and PCA by them."""

import numpy as np
import pytest
from scipy import sparse

import lowdim
from lowdim._core.gpu import moments as gpu_moments
from lowdim._core.gpu import wide
from lowdim._core.spectrum import Moments


@pytest.mark.parametrize("n", [10, 4096, 9001])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_moments(cpu, n, weighted, dtype):
    rng = np.random.default_rng(0)
    X = (100 + 0.1 * rng.normal(size=(n, 5))).astype(dtype)  # an offset that takes all digits of float32 products
    weights = rng.integers(0, 3, size=n).astype(float) if weighted else None
    wanted = Moments.of(X.astype(np.float64), weights)
    total, mean, scatter = gpu_moments.moments(cpu, X, weights)
    assert total == wanted.weight
    np.testing.assert_allclose(mean, wanted.mean, rtol=1e-12)
    np.testing.assert_allclose(scatter, wanted.scatter, atol=(1e-5 if dtype == np.float32 else 1e-12) * scatter.max())


def test_blocks_give_the_same_moments(cpu, monkeypatch):
    X = np.random.default_rng(0).normal(size=(20_000, 3))
    whole = gpu_moments.moments(cpu, X)
    monkeypatch.setattr(gpu_moments, "BLOCK_BYTES", 2**17)
    for one, other in zip(whole, gpu_moments.moments(cpu, X), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-9)


@pytest.mark.parametrize("options", [{}, {"scale": True}, {"whiten": True}, {"n_components": 0.9}], ids=str)
def test_pca_is_that_of_the_cpu(stand_in, options):
    X = np.random.default_rng(0).normal(size=(500, 8)) @ np.diag(np.arange(1.0, 9.0)) + 50
    options = {"n_components": 3, **options}
    mine, theirs = lowdim.PCA(device="cuda", **options).fit(X), lowdim.PCA(**options).fit(X)
    assert mine.solver_ == "covariance"
    np.testing.assert_allclose(mine.explained_variance_, theirs.explained_variance_, rtol=1e-10)
    np.testing.assert_allclose(mine.transform(X), theirs.transform(X), atol=1e-8)


def test_sparse_rows_stay_on_the_cpu(stand_in):
    X = sparse.csr_array(np.random.default_rng(0).normal(size=(20, 50)))
    mine, theirs = lowdim.PCA(3, device="cuda").fit(X), lowdim.PCA(3).fit(X)
    np.testing.assert_array_equal(mine.components_, theirs.components_)
    assert mine.device_ == "cpu"


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_of_wide_rows(cpu, dtype):
    X = np.random.default_rng(0).normal(size=(40, 5000)).astype(dtype)
    G = wide.gram(cpu, X)
    np.testing.assert_array_equal(G, G.T)
    exact = X.astype(np.float64)
    loose = 1e-12 if dtype == np.float64 else 1e-5
    np.testing.assert_allclose(G, exact @ exact.T, atol=loose * 5000)
    np.testing.assert_allclose(wide.transposed_product(cpu, X, G[:, :3]), exact.T @ G[:, :3], atol=loose * 1e5)
    A = wide.operator(cpu, X)
    np.testing.assert_allclose(A @ X[:4].T, exact @ exact[:4].T, atol=loose * 5000)
    np.testing.assert_allclose(A.T @ X[:, 0], exact.T @ exact[:, 0], atol=loose * 100)


@pytest.mark.parametrize("settings", [{}, {"solver": "randomized"}, {"scale": True}, {"n_components": 0.5}])
def test_wide_pca_is_that_of_the_cpu(stand_in, settings):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 6)) @ rng.normal(size=(6, 300)) * 3 + rng.normal(size=(60, 300)) + 5
    how = {"n_components": 5, "random_state": 0, **settings}
    ours, theirs = (lowdim.PCA(device=device, **how).fit(X) for device in ("cuda", "cpu"))
    np.testing.assert_allclose(ours.explained_variance_, theirs.explained_variance_, rtol=1e-8)
    np.testing.assert_allclose(ours.components_, theirs.components_, atol=1e-5)

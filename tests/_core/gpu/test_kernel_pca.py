"""The Gaussian kernel on a device against numpy, and kernel PCA on a device against the CPU's."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import lowdim
from lowdim._core.gpu import gaussian
from lowdim.spectral.kernel import _axes

torch = pytest.importorskip("torch")
X = np.random.default_rng(0).normal(size=(230, 5)) + 3
K = np.exp(-0.1 * cdist(X, X, "sqeuclidean"))


@pytest.mark.parametrize("block", [7, 10**6])
def test_products_moments_and_scores(cpu, block, monkeypatch):
    monkeypatch.setattr("lowdim._core.gpu.devices.Device.rows", lambda self, size, n, **_: min(block, n))
    rng = np.random.default_rng(1)
    rows, few, Y = torch.from_numpy(X), torch.from_numpy(X[:20]), rng.normal(size=(230, 3))
    np.testing.assert_allclose(gaussian.product(cpu, rows, 0.1, Y), K @ Y, atol=1e-12)
    np.testing.assert_allclose(gaussian.product(cpu, rows, 0.1, Y, gaussian.matrix(cpu, rows, 0.1)), K @ Y, atol=1e-12)
    root, start, center, offset = rng.normal(size=(20, 4)), rng.normal(size=4), rng.normal(size=20), rng.normal(size=20)
    F = K[:, :20] @ root
    wanted = (F - start).T @ (F - start), (F - start).sum(axis=0), K[:, :20].sum(axis=0), np.square(F).sum()
    for one, other in zip(gaussian.moments(cpu, rows, few, 0.1, root, start), wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10)
    found = gaussian.scored(cpu, X, few, 0.1, offset, root, center)
    np.testing.assert_allclose(found[0], (K[:, :20] - offset) @ root, atol=1e-11)
    np.testing.assert_allclose(found[1], K[:, :20] @ center, atol=1e-11)


@pytest.mark.parametrize("gamma", [0.001, 3.0])
def test_values_of_wide_rows(cpu, gamma):
    rows = 100 + np.random.default_rng(0).normal(size=(50, 70))
    found = gaussian.values(cpu, torch.from_numpy(rows[:9]), torch.from_numpy(rows), gamma).numpy()
    np.testing.assert_allclose(found, np.exp(-gamma * cdist(rows[:9], rows, "sqeuclidean")), rtol=1e-11)


@pytest.mark.parametrize(
    "settings", [{"n_landmarks": 60}, {"solver": "operator"}, {"solver": "auto"}, {"n_landmarks": 230}]
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_kernel_pca_is_that_of_the_cpu(stand_in, settings, dtype, monkeypatch):
    monkeypatch.setattr(_axes, "CENTRED", 100)
    how = {"n_components": 3, "random_state": 0, **settings}
    ours, theirs = (lowdim.KernelPCA(device=device, **how).fit(X.astype(dtype)) for device in ("cuda", "cpu"))
    close = {"rtol": 1e-8} if dtype == np.float64 else {"rtol": 2e-4}
    np.testing.assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, **close)
    signs = np.sign((ours.embedding_ * theirs.embedding_).sum(axis=0))
    loose = {"atol": 1e-5 if dtype == np.float64 else 5e-3}
    np.testing.assert_allclose(ours.embedding_ * signs, theirs.embedding_, **loose)
    np.testing.assert_allclose(ours.transform(X[:9] + 0.1) * signs, theirs.transform(X[:9] + 0.1), **loose)
    np.testing.assert_allclose(ours.explained_variance_ratio_, theirs.explained_variance_ratio_, rtol=1e-3)
    np.testing.assert_allclose(ours.row_error(X[:9]), theirs.row_error(X[:9]), **loose)


@pytest.mark.parametrize("settings", [{"kernel": "laplacian"}, {"noise": 0.3, "n_basis": 20}, {"n_components": None}])
def test_what_a_gpu_has_no_kernels_for_runs_on_the_cpu(stand_in, settings):
    ours, theirs = (lowdim.KernelPCA(device=device, random_state=0, **settings).fit(X) for device in ("cuda", "cpu"))
    np.testing.assert_array_equal(ours.embedding_, theirs.embedding_)


def test_memory_that_runs_out_is_tried_again_in_smaller_blocks(stand_in, monkeypatch):
    wanted, calls = lowdim.KernelPCA(2, n_landmarks=50, random_state=0).fit(X), []

    def values(device, *given, work=gaussian.values):
        calls.append(device.shrink)
        if len(calls) == 1:
            raise torch.OutOfMemoryError("full")
        return work(device, *given)

    monkeypatch.setattr(gaussian, "values", values)
    with pytest.warns(UserWarning, match="ran out; repeated with blocks an eighth as large"):
        ours = lowdim.KernelPCA(2, n_landmarks=50, random_state=0, device="cuda").fit(X)
    assert calls[:2] == [1, 8]
    np.testing.assert_allclose(ours.eigenvalues_, wanted.eigenvalues_, rtol=1e-9)

"""KernelPCA of rows with holes, held against the map of the complete table."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

import lowdim
from lowdim import PCA, KernelPCA
from lowdim._core.tables.align import procrustes
from lowdim.kernels import RBF, Laplace, Linear, Polynomial

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*pairs of rows have no observed column in common"),
    pytest.mark.filterwarnings("ignore:KernelPCA. the kernel is not positive semidefinite"),
]


def standard(load, n=200):
    X = load().data
    X = X[:: max(1, len(X) // n)]
    return (X - X.mean(axis=0)) / X.std(axis=0)


def hidden(X, share, seed=0):
    return lowdim.datasets.hide_cells(X, share, random_state=seed).X


def at_the_mean(H):
    return np.where(np.isnan(H), np.nanmean(H, axis=0), H)


TABLES = [("rbf", load_wine), ("rbf", load_breast_cancer), ("rbf", load_iris), ("rational-quadratic", load_wine)]


@pytest.mark.parametrize(("kernel", "load"), TABLES)
@pytest.mark.parametrize("share", [0.1, 0.2, 0.3])
def test_expected_features_keep_incomplete_rows_nearest_to_their_places(kernel, load, share):
    """Closer to the map of the complete table than holes at the mean, and than kernels over shared columns."""
    X = standard(load, 120)
    H, full = hidden(X, share), KernelPCA(2, kernel=kernel).fit_transform(X)
    maps = {"mean": KernelPCA(2, kernel=kernel).fit_transform(at_the_mean(H))}
    for policy in ("pairwise", "expected"):
        maps[policy] = KernelPCA(2, kernel=kernel, missing=policy, random_state=0).fit_transform(H)
    gaps = {name: procrustes(full, Z).disparity for name, Z in maps.items()}
    assert gaps["expected"] < 0.85 * min(gaps["pairwise"], gaps["mean"])


@pytest.mark.parametrize("kernel", [Polynomial(2, 1.0), Polynomial(3, 1.0, 0.1), Laplace(0.1)], ids=repr)
@pytest.mark.parametrize("load", [load_wine, load_iris])
def test_polynomial_and_sampled_kernels_too(load, kernel):
    X, gaps = standard(load, 150), []
    full = KernelPCA(2, kernel=kernel).fit_transform(X)
    for H in (hidden(X, 0.25, seed) for seed in range(2)):
        mean = KernelPCA(2, kernel=kernel).fit_transform(at_the_mean(H))
        found = KernelPCA(2, kernel=kernel, missing="expected", random_state=0).fit_transform(H)
        gaps.append([procrustes(full, Z).disparity for Z in (found, mean)])
    found, mean = np.mean(gaps, axis=0)
    assert found < 0.8 * mean


def test_the_linear_kernel_is_pca_of_the_expected_rows():
    X = hidden(standard(load_wine), 0.2)
    model = KernelPCA(3, kernel="linear", missing="expected", random_state=0).fit(X)
    completed = model._holes.model.conditional(X)[0]
    expected = PCA(3).fit_transform(completed)
    signs = np.sign((expected * model.embedding_).sum(axis=0))
    np.testing.assert_allclose(model.embedding_ * signs, expected, atol=1e-7)


@pytest.mark.parametrize("policy", ["pairwise", "expected"])
@pytest.mark.parametrize("kernel", ["rbf", "poly", Linear() + 0.5 * RBF(0.05)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_new_incomplete_rows_are_placed_one_by_one(policy, kernel, dtype, tmp_path):
    X = standard(load_wine).astype(dtype)
    H = hidden(X, 0.2).astype(dtype)
    model = KernelPCA(2, kernel=kernel, missing=policy, random_state=0)
    Z = model.fit_transform(H[:120])
    loose = (1e-9 if dtype == np.float64 else 2e-4) * np.abs(Z).max()
    assert Z.dtype == dtype
    np.testing.assert_allclose(model.transform(H[:120]), Z, atol=loose)
    new = model.transform(H[120:])
    assert new.dtype == dtype
    alone = np.vstack([model.transform(H[i : i + 1]) for i in range(120, 130)])
    np.testing.assert_allclose(alone, new[:10], atol=loose)
    complete = model.transform(X[120:])
    assert np.sqrt(((complete - new) ** 2).mean()) < 0.7 * Z.std()
    assert model.inverse_transform(Z).shape == (120, 13)
    lowdim.save(model, tmp_path / "model.lowdim")
    np.testing.assert_array_equal(lowdim.load(tmp_path / "model.lowdim").transform(H[120:]), new)


def test_row_errors_add_up():
    """k(x, x) of a row with holes is the squared length of its mean features."""
    H = hidden(standard(load_wine, 80), 0.2)
    for kernel in ("rbf", "poly", "laplacian"):
        model = KernelPCA(3, kernel=kernel, missing="expected", random_state=0).fit(H)
        error = model.row_error(H)
        assert error.sum() == pytest.approx(model.feature_space_error_, rel=1e-7)
        assert error.min() >= 0


def test_complete_rows_change_nothing():
    X = standard(load_iris)
    usual = KernelPCA(2, random_state=0).fit(X)
    for policy in ("pairwise", "expected"):
        model = KernelPCA(2, missing=policy, random_state=0).fit(X)
        np.testing.assert_allclose(model.kernel_.kernel.gamma, usual.kernel_.gamma, rtol=1e-9)
        np.testing.assert_allclose(model.embedding_, usual.embedding_, atol=1e-8)


def test_many_rows_are_computed_in_blocks_with_the_same_bits():
    X = hidden(np.vstack([standard(load_wine, 180)] * 4) + 0.01 * np.random.default_rng(0).normal(size=(712, 13)), 0.1)
    maps = [KernelPCA(2, gamma=0.02, missing="expected", random_state=0, n_jobs=n).fit(X).embedding_ for n in (1, 2)]
    np.testing.assert_array_equal(*maps)


def test_what_goes_wrong_is_said():
    H = hidden(standard(load_iris), 0.2)
    with pytest.raises(
        ValueError, match=r"KernelPCA needs complete rows\. Use missing='pairwise' or missing='expected'"
    ):
        KernelPCA().fit(H)
    with pytest.raises(ValueError, match=r"KernelPCA: missing='pairwise' cannot read the kernel Laplace.*'expected'"):
        KernelPCA(kernel="laplacian", missing="pairwise").fit(H)
    with pytest.raises(ValueError, match=r"KernelPCA: missing='expected' cannot read the kernel Precomputed"):
        KernelPCA(kernel="precomputed", missing="expected").fit(np.eye(9))
    with pytest.raises(ValueError, match=r"KernelPCA needs complete rows\. Keep the complete rows"):
        KernelPCA(kernel="precomputed").fit(np.where(np.eye(9), np.nan, 1.0))
    for way, missing in (("fixed_point", "expected"), ("distance", "pairwise")):
        with pytest.raises(ValueError, match=f"preimage must be 'ridge' with missing='{missing}'.* got '{way}'"):
            KernelPCA(preimage=way, missing=missing).fit(H)
    with pytest.raises(ValueError, match="missing must be one of 'error', 'pairwise', 'expected'; got 'drop'"):
        KernelPCA(missing="drop").fit(H)

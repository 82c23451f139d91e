"""FeatureMapPCA against KernelPCA, PCA of the features, and conics whose equation is known."""

import numpy as np
import pytest

import lowdim
from lowdim import PCA, FeatureMapPCA, KernelPCA
from lowdim.kernels import Polynomial
from lowdim.spectral.kernel._expected_features import polynomial_features
from tests.linear.pca.test_pca import cloud, up_to_sign


@pytest.mark.parametrize("degree", [1, 2, 3, 5])
@pytest.mark.parametrize("coef0", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("d", [1, 2, 4])
def test_inner_products_of_the_features_are_the_kernel(degree, coef0, d):
    X, Y = cloud(9, d), cloud(7, d, seed=4)
    F, G = (polynomial_features(rows, degree, coef0) for rows in (X, Y))
    assert F.shape[1] == FeatureMapPCA(degree=degree, coef0=coef0)._count(d)
    np.testing.assert_allclose(F @ G.T, Polynomial(degree, coef0)(X, Y), rtol=1e-10, atol=1e-8)


def test_the_plane_in_two_dimensions():
    found = polynomial_features(np.array([[2.0, 3.0]]), 2, 0.0)
    np.testing.assert_allclose(found, [[4.0, np.sqrt(2) * 6.0, 9.0]])


@pytest.mark.parametrize(("degree", "coef0"), [(2, 0.0), (2, 1.0), (3, 0.7)])
@pytest.mark.parametrize(("n", "d"), [(60, 3), (20, 6)])  # fewer features than rows, and more
def test_scores_are_those_of_kernel_pca(degree, coef0, n, d):
    X, new = cloud(n, d) / 10, cloud(7, d, seed=2) / 10
    model = FeatureMapPCA(3, degree=degree, coef0=coef0).fit(X)
    kernel = KernelPCA(3, kernel=Polynomial(degree, coef0)).fit(X)
    np.testing.assert_allclose(model.eigenvalues_, kernel.eigenvalues_, rtol=1e-9)
    assert model.feature_space_error_ == pytest.approx(kernel.feature_space_error_, rel=1e-7)
    for rows in (X, new):
        expected = kernel.transform(rows)
        size = np.abs(expected).max()
        np.testing.assert_allclose(up_to_sign(expected, model.transform(rows)), expected, atol=1e-8 * size)
        np.testing.assert_allclose(model.row_error(rows), kernel.row_error(rows), rtol=1e-6, atol=1e-7 * size**2)


def test_it_is_pca_of_the_features():
    X = cloud(50, 3)
    model, pca = FeatureMapPCA(4, degree=2).fit(X), PCA(4).fit(polynomial_features(X, 2, 1.0))
    np.testing.assert_allclose(model.mean_, pca.mean_)
    np.testing.assert_allclose(model.explained_variance_, pca.explained_variance_, rtol=1e-9)
    np.testing.assert_allclose(model.explained_variance_ratio_, pca.explained_variance_ratio_, rtol=1e-9)
    np.testing.assert_allclose(up_to_sign(pca.components_.T, model.components_.T), pca.components_.T, atol=1e-8)
    back = model.mean_ + model.embedding_ @ model.components_
    gaps = ((polynomial_features(X, 2, 1.0) - back) ** 2).sum(axis=1)
    np.testing.assert_allclose(model.row_error(X), gaps, rtol=1e-6)
    assert gaps.sum() == pytest.approx(model.feature_space_error_)


CONICS = {  # a x1² + b x1 x2 + c x2² + d = 0
    "ellipse": (2.0, 1.0, 3.0, -5.0),
    "hyperbola": (1.0, -3.0, 0.5, 2.0),
    "circle": (1.0, 0.0, 1.0, -9.0),
}


def on_conic(a, b, c, d, n=80):
    """Points r (cos t, sin t) with r² = -d / (a cos² t + b cos t sin t + c sin² t) where that is positive."""
    t = np.random.default_rng(0).uniform(0, 2 * np.pi, 40 * n)
    q = -d / (a * np.cos(t) ** 2 + b * np.cos(t) * np.sin(t) + c * np.sin(t) ** 2)
    t, q = t[(q > 0) & (q < 50)][:n], q[(q > 0) & (q < 50)][:n]
    return np.sqrt(q)[:, None] * np.column_stack([np.cos(t), np.sin(t)])


@pytest.mark.parametrize("name", CONICS)
def test_the_equation_of_a_conic_is_the_last_component(name):
    a, b, c, d = CONICS[name]
    X = on_conic(a, b, c, d)
    model = FeatureMapPCA(None, degree=2, coef0=0.0).fit(X)
    assert model.n_features_mapped_ == 3
    assert model.eigenvalues_[-1] < 1e-20 * model.eigenvalues_[0]
    w, offset = model.components_[-1], model.offsets_[-1]
    truth = np.array([a, b / np.sqrt(2), c, d])
    found = np.append(w, offset)
    np.testing.assert_allclose(found * (truth @ found) / (found @ found), truth, atol=1e-9)
    np.testing.assert_allclose(model.transform(X)[:, -1], 0, atol=1e-10)
    # Noise moves the equation little, and points off the conic have a large last score.
    noisy = FeatureMapPCA(None, degree=2, coef0=0.0).fit(X + 0.01 * np.random.default_rng(1).standard_normal(X.shape))
    assert abs(noisy.components_[-1] @ w) > 0.999
    assert np.abs(model.transform(1.3 * X)[:, -1]).min() > 0.1


def test_a_map_of_ones_own():
    def rings(A):
        return np.column_stack([np.hypot(*A.T), np.sin(A[:, 0])])

    X, new = cloud(40, 2), cloud(5, 2, seed=1)
    model, pca = FeatureMapPCA(2, feature_map=rings).fit(X), PCA(2).fit(rings(X))
    expected = pca.transform(rings(new))
    np.testing.assert_allclose(up_to_sign(expected, model.transform(new)), expected, atol=1e-10)
    many = np.tile(X, (60, 1))  # more than one block
    np.testing.assert_allclose(model.transform(many)[:40], model.embedding_, atol=1e-10)
    assert FeatureMapPCA(1, feature_map=rings).fit_transform(X.astype(np.float32)).dtype == np.float32


@pytest.mark.parametrize(
    ("feature_map", "message"),
    [
        (lambda A: A[:-1], r"must return 30 rows of at least one number here; got float64 values of shape \(29, 3\)"),
        (lambda A: A[:, 0], r"got float64 values of shape \(30,\)"),
        (lambda A: A.astype(str), "must return 30 rows"),
        (lambda A: A * np.nan, "the features must be finite"),
        (lambda A: A if len(A) == 30 else A[:, :2], "must return 4 rows of 3 numbers here"),
    ],
)
def test_maps_are_checked(feature_map, message):
    with pytest.raises(ValueError, match=f"FeatureMapPCA: .*{message}"):
        FeatureMapPCA(1, feature_map=feature_map).fit(cloud(30, 3)).transform(cloud(4, 3))


def test_a_map_cannot_change_the_rows():
    def careless(A):
        A *= 2
        return A

    X = cloud(20, 3)
    before = X.copy()
    FeatureMapPCA(1, feature_map=careless).fit(X)
    np.testing.assert_array_equal(X, before)


def test_too_many_features_are_refused_before_they_are_made():
    with pytest.raises(MemoryError, match=r"FeatureMapPCA: this needs about .*KernelPCA\(kernel='poly'\)"):
        FeatureMapPCA(2, degree=9).fit(np.ones((50, 200)) + np.arange(50)[:, None])
    wide = FeatureMapPCA(2, feature_map=lambda A: np.repeat(A, 200, axis=1))
    with (
        lowdim.config(memory_limit="20MB"),
        pytest.raises(MemoryError, match=r"FeatureMapPCA: this needs about .*features"),
    ):
        wide.fit(cloud(3000, 5))
    with pytest.raises(ValueError, match="coef0 must be a number >= 0; got -1"):
        FeatureMapPCA(2, coef0=-1).fit(cloud(20, 3))
    with pytest.raises(ValueError, match=r"the features must be finite; .*Rescale"):
        FeatureMapPCA(2, degree=4).fit(cloud(20, 3) * 1e100)


def test_more_components_than_there_are():
    X = cloud(30, 2)
    with pytest.warns(UserWarning, match="n_components=9 is more than min\\(rows, features\\) = 3; keeping 3"):
        assert FeatureMapPCA(9, degree=2, coef0=0).fit_transform(X).shape == (30, 3)
    with pytest.warns(UserWarning, match="2 of 3 axes have a positive eigenvalue; the others are constant"):
        FeatureMapPCA(3, degree=2, coef0=0).fit(on_conic(*CONICS["circle"]))

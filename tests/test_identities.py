"""Identities between methods: where two of them must give the same answer, they do.

Every family that joins adds its rows here.
"""

import numpy as np
import pytest
from scipy.linalg import subspace_angles
from scipy.spatial.distance import pdist, squareform

from lowdim import (
    CCA,
    LDA,
    PCA,
    ClassicalMDS,
    DiffusionMaps,
    Isomap,
    KernelPCA,
    LandmarkMDS,
    LaplacianEigenmaps,
    ProbabilisticPCA,
    TruncatedSVD,
    Whitening,
)
from lowdim.kernels import Linear, Polynomial

# One fixture; every one of these is principal component analysis in another dress.
SAME_AS_PCA = {
    "covariance": lambda X: PCA(2, solver="covariance").fit_transform(X),
    "svd": lambda X: PCA(2, solver="svd").fit_transform(X),
    "gram": lambda X: PCA(2, solver="gram").fit_transform(X),
    "randomized": lambda X: PCA(2, solver="randomized", random_state=0).fit_transform(X),
    "power": lambda X: PCA(2, solver="power", tol=1e-11, max_iter=10_000, random_state=0).fit_transform(X),
    "a stream": lambda X: PCA(2).fit(iter([X[:20], X[20:]])).transform(X),
    "singular vectors": lambda X: _singular_vectors(X),
    "truncated decomposition of centred rows": lambda X: TruncatedSVD(2).fit_transform(X - X.mean(axis=0)),
    "probabilistic, its shrinkage undone": lambda X: _on_axes(ProbabilisticPCA(2), X),
    "probabilistic by EM": lambda X: _on_axes(ProbabilisticPCA(2, solver="em", tol=0.0, random_state=0), X),
    "classical scaling of rows": lambda X: ClassicalMDS(2).fit_transform(X),
    "classical scaling of distances": lambda X: ClassicalMDS(2, metric="precomputed").fit_transform(
        squareform(pdist(X))
    ),
    "landmark scaling with all rows": lambda X: LandmarkMDS(2, n_landmarks=len(X)).fit_transform(X),
    "landmark scaling of distances": lambda X: LandmarkMDS(2, metric="precomputed").fit_transform(squareform(pdist(X))),
    "classical scaling, weights all 3": lambda X: ClassicalMDS(2).fit_transform(X, sample_weight=np.full(len(X), 3.0)),
    "linear kernel": lambda X: KernelPCA(2, kernel="linear").fit_transform(X),
    "linear kernel matrix": lambda X: KernelPCA(2, kernel="precomputed").fit_transform(X @ X.T),
    "kernel object": lambda X: KernelPCA(2, kernel=Linear()).fit_transform(X),
    "polynomial of degree one": lambda X: KernelPCA(2, kernel=Polynomial(1, coef0=0.0)).fit_transform(X),
    "Isomap with all neighbours": lambda X: Isomap(2, n_neighbors=len(X) - 1).fit_transform(X),
    "Isomap with a huge radius": lambda X: Isomap(2, radius=1e6).fit_transform(X),
    "landmarks all rows": lambda X: Isomap(2, n_neighbors=len(X) - 1, n_landmarks=len(X)).fit_transform(X),
}


def _on_axes(model, X):
    """The rows that the scores lead back to, along the model's axes."""
    rows = model.inverse_transform(model.fit_transform(X))
    return (rows - model.mean_) @ model.components_.T


def _singular_vectors(X):
    U, s, _ = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    return U[:, :2] * s[:2]


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(7)
    return rng.standard_normal((50, 5)) * [5.0, 3.0, 1.0, 0.5, 0.2] @ np.linalg.qr(rng.standard_normal((5, 5)))[0] + 4


@pytest.mark.parametrize("name", SAME_AS_PCA)
def test_all_of_these_are_pca(name, X):
    expected = PCA(2).fit_transform(X)
    Z = SAME_AS_PCA[name](X)
    Z = Z * np.sign((Z * expected).sum(axis=0))
    np.testing.assert_allclose(Z, expected, atol=1e-7)


def test_conic_becomes_a_plane():
    """Points on a x1² + b x1 x2 + c x2² + d = 0 lie on a plane after the quadratic map; PCA finds it."""
    a, b, c, d = 2.0, 1.0, 3.0, -4.0
    t = np.linspace(0, 2 * np.pi, 60, endpoint=False)
    direction = np.column_stack([np.cos(t), np.sin(t)])
    radius = np.sqrt(-d / (a * direction[:, 0] ** 2 + b * direction.prod(axis=1) + c * direction[:, 1] ** 2))
    X = radius[:, None] * direction
    mapped = np.column_stack([X[:, 0] ** 2, np.sqrt(2) * X.prod(axis=1), X[:, 1] ** 2])
    model = PCA(3, solver="svd").fit(mapped)
    normal = np.array([a, b / np.sqrt(2), c])
    assert model.explained_variance_[2] < 1e-25
    assert subspace_angles(model.components_[2:].T, normal[:, None])[0] < 1e-7
    scale = normal @ model.components_[2]
    assert -scale * (model.components_[2] @ model.mean_) == pytest.approx(d, rel=1e-7)
    Z = KernelPCA(2, kernel=Polynomial(2, coef0=0.0)).fit_transform(X)
    scores = model.transform(mapped)[:, :2]
    np.testing.assert_allclose(Z * np.sign((Z * scores).sum(axis=0)), scores, atol=1e-8)


def test_eigenvalues_agree_across_methods(X):
    n = len(X)
    variances = PCA(3).fit(X).explained_variance_
    np.testing.assert_allclose(ClassicalMDS(3).fit(X).eigenvalues_, (n - 1) * variances, rtol=1e-9)
    np.testing.assert_allclose(KernelPCA(3, kernel="linear").fit(X).eigenvalues_, (n - 1) * variances, rtol=1e-9)
    np.testing.assert_allclose(Isomap(3, n_neighbors=n - 1).fit(X).eigenvalues_, (n - 1) * variances, rtol=1e-9)


@pytest.mark.parametrize("classes", [2, 4])
def test_discriminant_axes_are_canonical_axes_of_the_class_indicators(X, classes):
    """Same directions, and l = rho² / (1 - rho²)."""
    y = np.random.default_rng(1).integers(classes, size=len(X))
    X = X + np.outer(y == 1, [2, 0, 1, 0, 0.1])
    for shared in ({"solver": "svd"}, {"solver": "covariance"}):
        lda, cca = LDA(**shared).fit(X, y), CCA(classes - 1, **shared).fit(X, np.eye(classes)[y])
        np.testing.assert_allclose(lda.eigenvalues_, cca.correlations_**2 / (1 - cca.correlations_**2), rtol=1e-8)
        W = cca.x_weights_ / np.linalg.norm(cca.x_weights_, axis=0)
        A = lda.scalings_ / np.linalg.norm(lda.scalings_, axis=0)
        np.testing.assert_allclose(W * np.sign((W * A).sum(axis=0)), A, atol=1e-8)


def test_discriminant_analysis_is_pca_of_the_class_means_in_white_coordinates(X):
    y = np.arange(len(X)) % 3
    means = np.array([X[y == c].mean(axis=0) for c in range(3)])
    white = Whitening(kind="zca").fit(X - means[y])
    weights = np.bincount(y)
    found = PCA(2).fit((means - means.mean(axis=0)) @ white.whitening_, sample_weight=weights)
    Z = LDA(2).fit(X, y).transform(means)
    same = found.transform((means - means.mean(axis=0)) @ white.whitening_) * np.sqrt((len(X) - 3) / (len(X) - 1))
    np.testing.assert_allclose(same * np.sign((same * Z).sum(axis=0)), Z, atol=1e-9)


def test_canonical_correlation_of_a_table_with_itself_is_whitening(X):
    """All correlations are 1, and the scores are white whatever the axes."""
    Zx, Zy = CCA().fit(X, X).transform(X, X)
    np.testing.assert_allclose(Zx, Zy, atol=1e-8)
    white = Whitening().fit_transform(X)
    np.testing.assert_allclose(subspace_angles(Zx, white), 0, atol=1e-7)
    np.testing.assert_allclose(Zx @ Zx.T, white @ white.T, atol=1e-8)


def test_volume_of_ball_and_cube():
    """The curse of dimensionality on the slides: pi^(d/2) / (d 2^(d-1) Gamma(d/2)) -> 0; 4-D has 16 corners."""
    from scipy.special import gamma

    def ratio(d):
        return np.pi ** (d / 2) / (d * 2 ** (d - 1) * gamma(d / 2))

    assert ratio(2) == pytest.approx(np.pi / 4)
    assert ratio(3) == pytest.approx(np.pi / 6)
    assert ratio(30) < 1e-12
    assert len(np.unique(np.indices((2,) * 4).reshape(4, -1), axis=1).T) == 16


@pytest.mark.filterwarnings("ignore:.*all distances between rows are equal")
@pytest.mark.parametrize("n", [5, 80, 300, 450])
@pytest.mark.filterwarnings("ignore:KernelPCA. the spectrum is flat")
@pytest.mark.filterwarnings("ignore:.*of the rows lie within 1 %")  # which basis is found depends on the processor
def test_equidistant_rows_are_placed_somewhere_in_the_tie(n):
    """All eigenvalues tie: any orthonormal basis is right, none is not."""
    D = 1 - np.eye(n)
    for model in (
        ClassicalMDS(2, metric="precomputed"),
        Isomap(2, metric="precomputed", n_neighbors=n - 1),
        KernelPCA(2, kernel="precomputed"),
    ):
        Z = model.fit_transform(np.eye(n) if isinstance(model, KernelPCA) else D)
        value = 1.0 if isinstance(model, KernelPCA) else 0.5
        np.testing.assert_allclose(Z.T @ Z, value * np.eye(2), atol=1e-9)
        np.testing.assert_allclose(Z.sum(axis=0), 0, atol=1e-9)
    assert np.isfinite(KernelPCA(2, gamma=1e9).fit_transform(np.random.default_rng(0).normal(size=(n, 4)))).all()


def test_diffusion_without_time_or_density_is_laplacian_eigenmaps(X):
    """On the same weights, the diagonal included; psi is scaled to have psi_0 = 1, hence the root of all weights."""
    K = np.exp(-(squareform(pdist(X)) ** 2) / 40.0)
    maps = DiffusionMaps(3, alpha=0, time=0, width=40.0).fit(X)
    eigen = LaplacianEigenmaps(3, metric="precomputed", weights="given").fit(K)
    np.testing.assert_allclose(maps.eigenvalues_, 1 - eigen.eigenvalues_, rtol=1e-10)
    np.testing.assert_allclose(maps.embedding_, eigen.embedding_ * np.sqrt(K.sum()), atol=1e-8)

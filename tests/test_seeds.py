"""What the lectures say wrongly about these methods, each as a test of what is right."""

import numpy as np
import pytest

from lowdim import PCA, ClassicalMDS, KernelPCA
from lowdim.kernels import RBF


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(3).standard_normal((50, 4)) * [4.0, 2.0, 1.0, 0.5] + 1


def test_total_error_needs_the_divisor_of_the_covariance(X):
    """The notes mix 1/n and 1/(n-1); the factor in front of the dropped eigenvalues must match."""
    for ddof, factor in ((1, 49), (0, 50)):
        model = PCA(2, ddof=ddof).fit(X)
        error = ((model.inverse_transform(model.transform(X)) - X) ** 2).sum()
        dropped = PCA(ddof=ddof).fit(X).explained_variance_[2:].sum()
        assert error == pytest.approx(factor * dropped)


def test_scores_are_scaled_by_component_not_by_row(X):
    """z_i = D_r [V_r]_i, where the notes print d_i [V_r]_i."""
    U, s, _ = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    Z = PCA(2, solver="svd").fit_transform(X)
    np.testing.assert_allclose(np.abs(Z), np.abs(U[:, :2] * s[:2]), atol=1e-10)


def test_expansion_coefficients_have_unit_feature_norm(X):
    """a'Ka = 1 for the centred K: the axes in feature space are unit vectors."""
    model = KernelPCA(3, kernel=RBF(0.05)).fit(X)
    K = RBF(0.05)(X)
    H = np.eye(50) - 1 / 50
    A = model.embedding_ / model.eigenvalues_
    np.testing.assert_allclose(A.T @ H @ K @ H @ A, np.eye(3), atol=1e-10)
    np.testing.assert_allclose(np.var(model.embedding_, axis=0), model.eigenvalues_ / 50, rtol=1e-10)


def test_feature_distance_is_the_root(X):
    """K_ii + K_jj - 2 K_ij is the squared distance, not the distance."""
    K = RBF(0.05)(X)
    Z = KernelPCA(None, kernel=RBF(0.05)).fit_transform(X)
    squared = K[3, 3] + K[7, 7] - 2 * K[3, 7]
    assert ((Z[3] - Z[7]) ** 2).sum() == pytest.approx(squared, rel=1e-8)


def test_significant_means_positive_beyond_rounding():
    """Not merely non-negative: a zero eigenvalue has no axis."""
    X = np.outer(np.arange(12.0), [1.0, 2.0, 3.0])
    with pytest.warns(UserWarning, match="1 of 2 axes have a positive eigenvalue"):
        Z = ClassicalMDS(2).fit_transform(X)
    assert (Z[:, 1] == 0).all()


def test_kernel_pca_is_not_immune_to_noise(X):
    """Claimed in the comparative study; noise in the rows is noise in the scores."""
    rng = np.random.default_rng(0)
    clean = KernelPCA(2, gamma=0.05).fit(X)
    moved = clean.transform(X + rng.standard_normal(X.shape))
    assert np.abs(moved - clean.embedding_).mean() > 0.05


def test_null_space_runs_to_the_number_of_columns():
    """The kernel of an m x n matrix of rank r is spanned by v_r+1 .. v_n, not .. v_min(m, n)."""
    A = np.random.default_rng(1).standard_normal((3, 7))
    Vt = np.linalg.svd(A)[2]
    assert Vt.shape == (7, 7)
    np.testing.assert_allclose(A @ Vt[3:].T, 0, atol=1e-12)
    assert PCA().fit(A).components_.shape == (3, 7)

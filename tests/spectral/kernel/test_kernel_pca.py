"""KernelPCA against kernlab, PCA, explicit maps, and the errata of the texts it is taught from."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.decomposition import KernelPCA as SklearnKernelPCA

from lowdim import PCA, KernelPCA
from lowdim.kernels import RBF, Linear, Polynomial, Sigmoid
from tests.linear.pca.test_pca import cloud, numeric, up_to_sign
from tests.oracles import load_expected

KERNLAB = {
    "rbf": (RBF(0.1), 6),
    "poly2": (None, None),  # parameters are read from the case
    "tanh": (Sigmoid(0.01, 0.5), 3),
    "vanilla": (Linear(), None),
}


@pytest.mark.parametrize("name", KERNLAB)
@pytest.mark.filterwarnings("ignore:KernelPCA. the kernel is not positive semidefinite")
def test_kernlab(name):
    """kernlab scales its scores by sqrt(n) and divides eigenvalues by n; its `standard` files undo that."""
    from tests.oracles import case

    case_id = f"kpca_kernlab_{name}"
    kernel, _ = KERNLAB[name]
    if name == "poly2":
        p = case(case_id)["params"]
        kernel = Polynomial(degree=int(p["degree"]), coef0=float(p["offset"]), gamma=float(p["scale"]))
    X = numeric("iris")
    train, test = X[::2], X[1::2]
    scores = load_expected(case_id, "scores_standard.csv")
    model = KernelPCA(scores.shape[1], kernel=kernel).fit(train)
    np.testing.assert_allclose(model.eigenvalues_ / len(train), load_expected(case_id, "eig.csv"), rtol=1e-7)
    np.testing.assert_allclose(up_to_sign(scores, model.embedding_), scores, atol=1e-6)
    expected = load_expected(case_id, "predict_test_standard.csv")
    np.testing.assert_allclose(up_to_sign(expected, model.transform(test)), expected, atol=1e-6)


def test_the_linear_kernel_is_pca():
    X, new = cloud(40, 5), cloud(7, 5, seed=2)
    pca, model = PCA(3).fit(X), KernelPCA(3, kernel="linear").fit(X)
    for rows in (X, new):
        np.testing.assert_allclose(
            up_to_sign(pca.transform(rows), model.transform(rows)), pca.transform(rows), atol=1e-8
        )
    assert model.feature_space_error_ == pytest.approx(
        np.square(X - pca.inverse_transform(pca.transform(X))).sum(), rel=1e-8
    )
    assert model.reconstruction_error_ == model.feature_space_error_
    # The inverse transform restores the mean too, which scikit-learn's does not.
    Z = pca.transform(new)
    back = model.inverse_transform(model.transform(new))
    np.testing.assert_allclose(back, pca.inverse_transform(Z), atol=1e-6)
    assert (
        np.abs(SklearnKernelPCA(3, kernel="linear", fit_inverse_transform=True).fit(X).inverse_transform(Z) - new).max()
        > 1
    )


@pytest.mark.parametrize("preimage", ["ridge", "fixed_point", "distance"])
@pytest.mark.parametrize("kernel", ["linear", 2 * Linear(), Polynomial(1, coef0=3.0, gamma=0.5)])
@pytest.mark.parametrize("settings", [{}, {"solver": "operator"}, {"n_landmarks": 20, "random_state": 0}])
def test_a_linear_kernel_is_led_back_as_by_pca(kernel, preimage, settings):
    """Also where a learned way back would find something in what the components leave, by chance."""
    rng = np.random.default_rng(0)
    X, new = rng.standard_normal((100, 3)) + 2, rng.standard_normal((20, 3))
    pca, model = PCA(2).fit(X), KernelPCA(2, kernel=kernel, preimage=preimage, **settings).fit(X)
    np.testing.assert_allclose(model.denoise(new), pca.inverse_transform(pca.transform(new)), atol=1e-8)
    np.testing.assert_allclose(model.inverse_transform(np.zeros((1, 2)))[0], X.mean(axis=0), atol=1e-8)


@pytest.mark.parametrize("settings", [{}, {"solver": "operator"}, {"n_landmarks": 20, "random_state": 0}])
def test_a_linear_kernel_far_from_the_origin(settings):
    """x'y of rows at 1e6 has no digits left for what differs, once it is centred."""
    X, new = cloud(40, 3), cloud(7, 3, seed=2)
    near, far = (KernelPCA(2, kernel=2 * Linear(), **settings).fit(rows) for rows in (X, X + 1e6))
    np.testing.assert_allclose(far.eigenvalues_, near.eigenvalues_, rtol=1e-8)
    np.testing.assert_allclose(far.transform(new + 1e6), near.transform(new), atol=1e-8)
    np.testing.assert_allclose(far.row_error(new + 1e6), near.row_error(new), atol=1e-8)
    np.testing.assert_allclose(far.denoise(new + 1e6) - 1e6, near.denoise(new), atol=1e-8)
    assert far.distance_error(X + 1e6) == pytest.approx(near.distance_error(X), abs=1e-8)


def test_a_very_wide_gaussian_is_pca_too():
    X = cloud(40, 4)
    gamma = 1e-7
    with pytest.warns(UserWarning, match="all rows are nearly the same"):
        Z = KernelPCA(2, gamma=gamma).fit_transform(X)
    scores = PCA(2).fit_transform(X)
    np.testing.assert_allclose(up_to_sign(scores, Z) / np.sqrt(2 * gamma), scores, atol=1e-3)


def test_scikit_learn_agrees():
    X, new = cloud(50, 4), cloud(6, 4, seed=3)
    for kernel, settings in (("rbf", {"gamma": 0.05}), ("poly", {"gamma": 0.1, "degree": 3, "coef0": 1.0})):
        ours = KernelPCA(3, kernel=kernel, **settings).fit(X)
        theirs = SklearnKernelPCA(3, kernel=kernel, eigen_solver="dense", **settings).fit(X)
        np.testing.assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-8)
        expected = theirs.transform(new)
        np.testing.assert_allclose(
            up_to_sign(expected, ours.transform(new)), expected, atol=1e-7 * np.abs(expected).max()
        )


def test_explicit_feature_map():
    """(x'y)² is the inner product of (x1², sqrt2 x1 x2, x2²)."""
    X = np.random.default_rng(0).standard_normal((40, 2))
    mapped = np.column_stack([X[:, 0] ** 2, np.sqrt(2) * X[:, 0] * X[:, 1], X[:, 1] ** 2])
    scores = PCA(3).fit_transform(mapped)
    Z = KernelPCA(3, kernel=Polynomial(2, 0.0)).fit_transform(X)
    np.testing.assert_allclose(up_to_sign(scores, Z), scores, atol=1e-9)


def test_kernel_centring_is_the_correct_one():
    """The slides print K - 2·1K + 1K1, which is neither symmetric nor centred."""
    X = cloud(20, 3)
    K = RBF(0.05)(X)
    one = np.full((20, 20), 1 / 20)
    right, printed = K - one @ K - K @ one + one @ K @ one, K - 2 * one @ K + one @ K @ one
    assert np.abs(printed - printed.T).max() > 1e-3
    model = KernelPCA(5, kernel=RBF(0.05)).fit(X)
    np.testing.assert_allclose(model.eigenvalues_, np.linalg.eigvalsh(right)[::-1][:5], rtol=1e-9)


def test_new_rows_use_the_centred_kernel():
    """Dropping the column means, as two of the texts do, moves every new row."""
    X = cloud(30, 3)
    model = KernelPCA(2, gamma=0.05).fit(X)
    K = RBF(0.05)(X)
    raw = K @ (model.embedding_ / model.eigenvalues_)
    assert np.abs(raw - model.embedding_).max() > 0.01
    np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-10)


def test_row_errors_add_up():
    X = cloud(40, 3)
    model = KernelPCA(3, gamma=0.02).fit(X)
    error = model.row_error(X)
    assert error.min() >= 0
    assert error.sum() == pytest.approx(model.feature_space_error_, rel=1e-8)
    assert KernelPCA(None, gamma=0.02).fit(X).row_error(X).max() < 1e-6
    assert model.row_error(X + 100).min() > error.max()  # nothing like the fitted rows


def test_all_components():
    X = cloud(25, 3)
    model = KernelPCA(None, gamma=0.5).fit(X)
    assert model.embedding_.shape[1] <= 24  # centring takes one
    assert (model.eigenvalues_ > 0).all()
    assert model.feature_space_error_ < 1e-8


def test_zero_eigenvalues_never_divide():
    X = np.repeat(cloud(3, 2), 5, axis=0)
    with pytest.warns(UserWarning, match="2 of 4 axes have a positive eigenvalue; the others are zero"):
        Z = KernelPCA(4, gamma=1.0).fit_transform(X)
    assert np.isfinite(Z).all()
    assert (Z[:, 2:] == 0).all()


def test_an_indefinite_kernel_is_said():
    X = cloud(30, 3) - 10
    with pytest.warns(UserWarning, match="not positive semidefinite"):
        model = KernelPCA(2, kernel="sigmoid", gamma=1.0, coef0=-1.0).fit(X)
    np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-8)


def test_precomputed_and_callable_kernels():
    X, new = cloud(30, 3), cloud(4, 3, seed=1)
    kernel = RBF(0.05)
    expected = KernelPCA(2, kernel=kernel).fit(X)
    given = KernelPCA(2, kernel="precomputed").fit(kernel(X))
    np.testing.assert_allclose(given.embedding_, expected.embedding_, atol=1e-9)
    np.testing.assert_allclose(given.transform(kernel(new, X)), expected.transform(new), atol=1e-9)
    called = KernelPCA(2, kernel=lambda x, y: np.exp(-0.05 * ((x - y) ** 2).sum())).fit(X)
    np.testing.assert_allclose(called.transform(new), expected.transform(new), atol=1e-9)
    with pytest.raises(ValueError, match="k\\(x, x\\)"):
        given.row_error(kernel(new, X))
    with pytest.raises(ValueError, match="symmetric"):
        KernelPCA(2, kernel="precomputed").fit(kernel(X) + np.triu(np.ones((30, 30))))
    with pytest.raises(ValueError, match="square"):
        KernelPCA(2, kernel="precomputed").fit(kernel(new, X))


def test_sparse_rows():
    S = sparse.random_array((40, 10), density=0.4, random_state=np.random.default_rng(0), format="csr")
    for kernel in ("rbf", "linear", "poly"):
        expected = KernelPCA(2, kernel=kernel, gamma=0.5).fit_transform(S.toarray())
        np.testing.assert_allclose(KernelPCA(2, kernel=kernel, gamma=0.5).fit_transform(S), expected, atol=1e-8)


def test_a_given_kernel_matrix_is_not_changed():
    K = RBF(0.05)(cloud(30, 3))
    before = K.copy()
    KernelPCA(2, kernel="precomputed").fit(K)
    np.testing.assert_array_equal(K, before)


def test_a_precomputed_kernel_object_is_treated_like_the_word():
    from lowdim.kernels import Precomputed

    X = cloud(30, 3)
    model = KernelPCA(2, kernel=Precomputed()).fit(RBF(0.05)(X))
    assert model.__sklearn_tags__().input_tags.pairwise
    with pytest.raises(ValueError, match="needs the rows of X"):
        model.inverse_transform(model.embedding_)


@pytest.mark.parametrize("solver", ["dense", "operator"])
@pytest.mark.parametrize("as_given", [np.asarray, sparse.csr_array])
def test_multiples_sums_and_powers_of_a_given_kernel(solver, as_given):
    from lowdim.kernels import Precomputed

    X, new = cloud(30, 3), cloud(4, 3, seed=1)
    rbf = RBF(0.05)
    for make in (lambda k: 3 * k, lambda k: k**2, lambda k: k + 2 * k**3):
        expected = KernelPCA(2, kernel=make(rbf), random_state=0).fit(X)
        model = KernelPCA(2, kernel=make(Precomputed()), solver=solver, random_state=0).fit(as_given(rbf(X)))
        np.testing.assert_allclose(model.eigenvalues_, expected.eigenvalues_, rtol=1e-9)
        np.testing.assert_allclose(model.embedding_, expected.embedding_, atol=1e-9)
        np.testing.assert_allclose(model.transform(as_given(rbf(new, X))), expected.transform(new), atol=1e-9)


def test_row_error_asks_for_a_fit():
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        KernelPCA().row_error(cloud(5, 3))

"""The routes of KernelPCA: one matrix, products, landmarks, few rows kept; all against the eigenvectors of HKH."""

import numpy as np
import pytest
import scipy.linalg as sla
from scipy import sparse
from sklearn.decomposition import KernelPCA as SklearnKernelPCA

import lowdim
from lowdim import KernelPCA
from lowdim.kernels import RBF, Constant, Linear, Polynomial
from lowdim.spectral.kernel import _axes
from tests.linear.pca.test_pca import cloud, up_to_sign


def truth(X, kernel, k):
    """Eigenvalues and scores of the centred kernel matrix."""
    K = kernel(X)
    H = np.eye(len(X)) - 1 / len(X)
    values, V = sla.eigh(H @ K @ H)
    return values[::-1][:k], V[:, ::-1][:, :k] * np.sqrt(values[::-1][:k])


def ring(n=150, noise=0.1, seed=0):
    rng = np.random.default_rng(seed)
    t = rng.uniform(0, 2 * np.pi, n)
    radius = np.array([3.0, 2.0])  # an ellipse: its two slowest waves do not tie
    return np.column_stack([np.cos(t), np.sin(t)]) * radius + noise * rng.standard_normal((n, 2))


ROUTES = {
    "dense": {},
    "operator": {"solver": "operator"},
    "all landmarks": {"n_landmarks": 10_000},
}


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("kernel", [RBF(0.05), Linear(), Polynomial(2, 1.0), RBF(0.02) + 0.1 * Linear()])
@pytest.mark.parametrize("n", [40, 700])
def test_every_exact_route_gives_the_eigenvectors(route, kernel, n):
    X = cloud(n, 4)
    values, scores = truth(X, kernel, 3)
    model = KernelPCA(3, kernel=kernel, random_state=0, **ROUTES[route]).fit(X)
    np.testing.assert_allclose(model.eigenvalues_, values, rtol=1e-8)
    size = np.abs(scores).max()
    np.testing.assert_allclose(up_to_sign(scores, model.embedding_), scores, atol=1e-8 * size)
    np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-8 * size)
    assert model.row_error(X).sum() == pytest.approx(model.feature_space_error_, rel=1e-6, abs=1e-8 * values[0])


@pytest.mark.parametrize("route", [*ROUTES, "landmarks", "few rows", "rounded"])
def test_bits_do_not_depend_on_threads_and_a_row_not_on_its_batch(route, monkeypatch):
    settings = {**ROUTES, "landmarks": {"n_landmarks": 100}, "few rows": {"noise": 0.1}, "rounded": {}}[route]
    if route == "rounded":
        monkeypatch.setattr(_axes, "SINGLE", 500)
        monkeypatch.setattr(_axes, "CENTRED", 500)
    X = cloud(1100, 4)
    models = [KernelPCA(2, gamma=0.05, random_state=0, n_jobs=j, **settings).fit(X) for j in (1, 2, 5)]
    for other in models[1:]:
        np.testing.assert_array_equal(other.embedding_, models[0].embedding_)
        np.testing.assert_array_equal(other.transform(X[:200]), models[0].transform(X[:200]))
    alone = np.vstack([models[0].transform(X[i : i + 1]) for i in range(5)])
    np.testing.assert_allclose(alone, models[0].transform(X)[:5], atol=1e-11)


def test_a_rounded_matrix_loses_no_digit_of_the_eigenvalues(monkeypatch):
    """Float64 rows beyond some number: K in float32, one product in float64. A wide kernel, nearly constant, too."""
    X = cloud(900, 5)
    monkeypatch.setattr(_axes, "SINGLE", 800)
    monkeypatch.setattr(_axes, "CENTRED", 800)
    for gamma in (0.05, 1e-3):
        values, scores = truth(X, RBF(gamma), 4)
        model = KernelPCA(4, gamma=gamma, random_state=0).fit(X)
        np.testing.assert_allclose(model.eigenvalues_, values, rtol=1e-9)
        np.testing.assert_allclose(up_to_sign(scores, model.embedding_), scores, atol=1e-5 * np.abs(scores).max())
        np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-12)  # the same product
        assert model.row_error(X).sum() == pytest.approx(model.feature_space_error_, rel=1e-9)


def test_the_operator_route_stores_no_matrix_it_is_given():
    K = RBF(0.05)(cloud(60, 3))
    K.setflags(write=False)
    expected = KernelPCA(2, kernel="precomputed").fit(K)
    model = KernelPCA(2, kernel="precomputed", solver="operator").fit(K)
    np.testing.assert_allclose(model.embedding_, expected.embedding_, atol=1e-9)
    np.testing.assert_allclose(model.transform(sparse.csr_array(K[:4])), expected.embedding_[:4], atol=1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("centred", [4000, 500])
def test_precision(dtype, centred, monkeypatch):
    monkeypatch.setattr(_axes, "CENTRED", centred)
    X = cloud(800, 4)
    values, _ = truth(X, RBF(0.05), 3)
    for settings in (*ROUTES.values(), {"n_landmarks": 400}):
        model = KernelPCA(3, gamma=0.05, random_state=0, **settings).fit(X.astype(dtype))
        assert model.embedding_.dtype == dtype
        tolerance = 1e-2 if settings.get("n_landmarks") == 400 else 1e-5 if dtype == np.float32 else 1e-9
        np.testing.assert_allclose(model.eigenvalues_, values, rtol=tolerance)
        spread = np.abs(model.embedding_).max()
        np.testing.assert_allclose(
            model.transform(X.astype(dtype)), model.embedding_, atol=(2e-5 if dtype == np.float32 else 1e-9) * spread
        )


# ---- landmarks -----------------------------------------------------------------------------------------------------


def explicit_nystrom(X, basis, kernel):
    """The scores by their formula: centre and rotate K_nm K_mm^-1/2."""
    C = kernel(X, X[basis])
    values, Q = np.linalg.eigh(C[basis])
    good = values > 1e-10 * values[-1]
    F = C @ (Q[:, good] / np.sqrt(values[good]))
    centred = F - F.mean(axis=0)
    U, s, _ = np.linalg.svd(centred, full_matrices=False)
    return F, s**2, U * s


@pytest.mark.parametrize("landmarks", ["random", "farthest", "kmeans++"])
def test_landmarks(landmarks):
    X, kernel = cloud(300, 3), RBF(0.05)
    model = KernelPCA(3, kernel=kernel, n_landmarks=25, landmarks=landmarks, random_state=0).fit(X)
    F, values, scores = explicit_nystrom(X, model.basis_, kernel)
    np.testing.assert_allclose(model.eigenvalues_, values[:3], rtol=1e-8)
    np.testing.assert_allclose(up_to_sign(scores[:, :3], model.embedding_), scores[:, :3], atol=1e-8)
    np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-12)
    assert len(model.basis_) == 25
    assert model.dual_coef_.shape == (25, 3)
    total = 300 - 300 * (F.mean(axis=0) ** 2).sum()
    assert model.nystrom_error_ == pytest.approx((300 - (F**2).sum()) / total, rel=1e-6)
    assert model.feature_space_error_ == pytest.approx(model.row_error(X).sum(), rel=1e-9)
    assert model.feature_space_error_ == pytest.approx(total - values[:3].sum(), rel=1e-9)
    # The landmarks can only lose: no eigenvalue above the true one.
    assert (model.eigenvalues_ <= truth(X, kernel, 3)[0] * (1 + 1e-9)).all()


def test_more_landmarks_lose_less():
    X = cloud(400, 5)
    lost = [KernelPCA(2, gamma=0.02, n_landmarks=m, random_state=0).fit(X).nystrom_error_ for m in (10, 50, 200, 400)]
    assert sorted(lost, reverse=True) == lost
    assert lost[0] > 0.01
    assert lost[-1] < 1e-9
    assert KernelPCA(2, gamma=0.02).fit(X).nystrom_error_ is None


def test_landmarks_that_say_the_same_are_not_divided_by():
    """Copies among the landmarks, and more of them than a linear kernel has directions."""
    X = np.repeat(cloud(40, 3), 4, axis=0)
    for kernel in (RBF(0.05), Linear()):
        values, scores = truth(X, kernel, 3)
        model = KernelPCA(3, kernel=kernel, n_landmarks=159, random_state=0).fit(X)
        np.testing.assert_allclose(model.eigenvalues_, values, rtol=1e-6)
        np.testing.assert_allclose(up_to_sign(scores, model.embedding_), scores, atol=1e-5 * np.abs(scores).max())


def test_landmarks_of_sparse_rows():
    S = sparse.random_array((200, 10), density=0.4, random_state=np.random.default_rng(0), format="csr")
    for settings in ({"n_landmarks": 30}, {"solver": "operator"}, {"noise": 0.1}):
        expected = KernelPCA(2, gamma=0.5, random_state=0, **settings).fit(S.toarray())
        model = KernelPCA(2, gamma=0.5, random_state=0, **settings).fit(S)
        np.testing.assert_allclose(model.embedding_, expected.embedding_, atol=1e-8)
        np.testing.assert_allclose(model.transform(S[:7]), expected.transform(S.toarray()[:7]), atol=1e-8)


# ---- few rows kept -------------------------------------------------------------------------------------------------


def test_without_noise_all_rows_are_kept_and_the_result_is_kernel_pca():
    X = cloud(60, 3)
    full = KernelPCA(3, gamma=2.0).fit(X)
    model = KernelPCA(3, gamma=2.0, noise=1e-6).fit(X)
    assert len(model.basis_) == 60
    np.testing.assert_allclose(model.eigenvalues_, full.eigenvalues_, rtol=1e-3)
    for z, expected in zip(model.embedding_.T, full.embedding_.T, strict=True):
        assert abs(np.corrcoef(z, expected)[0, 1]) > 0.99


def test_more_noise_keeps_fewer_rows():
    X = ring()
    models = [KernelPCA(2, gamma=0.3, noise=s).fit(X) for s in (1e-5, 1e-4, 1e-3, 1e-2, 0.1, 0.3, 0.6)]
    kept = [len(m.basis_) for m in models]
    assert sorted(kept, reverse=True) == kept
    assert kept[0] > 3 * kept[-2]
    variances = [m.noise_variance_ for m in models]
    np.testing.assert_allclose(variances, np.array([1e-5, 1e-4, 1e-3, 1e-2, 0.1, 0.3, 0.6]) * variances[-1] / 0.6)


@pytest.mark.parametrize("settings", [{"noise": 0.1}, {"n_basis": 25}, {"n_basis": 12, "noise": 0.2}])
def test_kept_rows_give_nearly_the_same_scores(settings):
    X = ring()
    full = KernelPCA(2, gamma=0.1).fit(X)
    model = KernelPCA(2, gamma=0.1, **settings).fit(X)
    assert len(model.basis_) <= settings.get("n_basis", 40)
    for rows in (X, ring(50, seed=1)):
        for z, expected in zip(model.transform(rows).T, full.transform(rows).T, strict=True):
            assert abs(np.corrcoef(z, expected)[0, 1]) > 0.95
    np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-12)
    assert model.row_error(X).sum() == pytest.approx(model.feature_space_error_, rel=1e-8)
    assert model.converged_
    # Unit axes at right angles.
    K = RBF(0.1)(X[model.basis_])
    np.testing.assert_allclose(model.dual_coef_.T @ K @ model.dual_coef_, np.eye(2), atol=1e-8)


def test_few_rows_are_looked_for_among_a_sample_of_many():
    X = cloud(3000, 3)
    model = KernelPCA(2, gamma=0.02, noise=0.05, random_state=0).fit(X)
    full = KernelPCA(2, gamma=0.02).fit(X)
    assert len(model.basis_) < 60
    np.testing.assert_allclose(model.eigenvalues_, full.eigenvalues_, rtol=0.02)


# ---- choosing a route ----------------------------------------------------------------------------------------------


def test_auto_goes_without_the_matrix_where_it_does_not_fit():
    X = cloud(3000, 4)
    model = KernelPCA(2, gamma=0.05, random_state=0)
    expected = model.fit(X).embedding_.copy()
    with lowdim.config(memory_limit="80MB"):
        assert model._variant(3000, 8) == "operator"
        np.testing.assert_allclose(model.fit(X).embedding_, expected, atol=1e-7)
        with pytest.raises(MemoryError, match=r"n_landmarks=2000.*solver='operator'"):
            KernelPCA(2, gamma=0.05, solver="dense").fit(X)


def test_routes_that_make_no_sense_are_refused():
    K = RBF(0.05)(cloud(30, 3))
    for settings in ({"n_landmarks": 5}, {"n_basis": 5}, {"noise": 0.1}):
        with pytest.raises(ValueError, match="must be None with kernel='precomputed'"):
            KernelPCA(2, kernel="precomputed", **settings).fit(K)
    with pytest.raises(ValueError, match="noise must be"):
        KernelPCA(noise=1.5).fit(cloud(30, 3))


# ---- what is said about a kernel ------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:KernelPCA. .* of the rows lie within 1 %")
@pytest.mark.parametrize("settings", [{}, {"solver": "operator"}, {"n_landmarks": 50}])
def test_a_width_too_small_is_said(settings):
    with pytest.warns(UserWarning, match=r"spectrum is flat.*RBF\(gamma=10000.0\).*width is too small.*width='median'"):
        KernelPCA(2, gamma=1e4, random_state=0, **settings).fit(cloud(80, 3))


@pytest.mark.parametrize("settings", [{}, {"solver": "operator"}, {"n_landmarks": 50}])
def test_a_width_too_large_is_said(settings):
    with pytest.warns(UserWarning, match=r"RBF\(gamma=1e-06\).*nearly the same.*width is too large.*larger gamma"):
        KernelPCA(2, gamma=1e-6, random_state=0, **settings).fit(cloud(80, 3))


@pytest.mark.parametrize("kernel", ["cosine", lambda x, y: float(x @ y / np.sqrt((x @ x) * (y @ y)))])
def test_a_kernel_without_a_width_is_not_told_to_change_it(kernel):
    rows = 1 + 1e-3 * cloud(80, 3)
    with pytest.warns(UserWarning, match="nearly the same.*Centre the rows first") as caught:
        KernelPCA(1, kernel=kernel).fit(rows)
    assert not any("width" in str(said.message) for said in caught)


def test_a_ring_is_no_flat_spectrum():
    """Its eigenvalues come in pairs: the first two tie, and nothing is wrong with the width."""
    t = np.arange(100) * 2 * np.pi / 100
    model = KernelPCA(2, gamma=1.0).fit(np.column_stack([np.cos(t), np.sin(t)]))
    assert model.eigenvalues_[0] == pytest.approx(model.eigenvalues_[1], rel=1e-9)


@pytest.mark.parametrize("settings", [{}, {"solver": "operator"}, {"n_landmarks": 7}])
def test_a_constant_kernel_places_all_rows_at_zero(settings):
    X = cloud(30, 3)
    with pytest.warns(UserWarning, match="0 of 2 axes have a positive eigenvalue"):
        model = KernelPCA(2, kernel=Constant(0.7), random_state=0, **settings).fit(X)
    assert (model.embedding_ == 0).all()
    assert (model.transform(X[:3]) == 0).all()
    assert (model.explained_variance_ratio_ == 0).all()


def test_a_constant_in_a_sum_changes_nothing():
    X = cloud(50, 3)
    for settings in ({}, {"solver": "operator"}):
        plain, shifted = (KernelPCA(2, kernel=k, **settings).fit_transform(X) for k in (RBF(0.1), RBF(0.1) + 3.0))
        np.testing.assert_allclose(up_to_sign(plain, shifted), plain, atol=1e-9)


def test_the_gaussian_does_not_see_a_shift():
    X = cloud(60, 3)
    Z = KernelPCA(2, gamma=0.05).fit_transform(X)
    np.testing.assert_allclose(up_to_sign(Z, KernelPCA(2, gamma=0.05).fit_transform(X + 1000.0)), Z, atol=1e-8)


@pytest.mark.parametrize(
    ("kernel", "settings"),
    [
        ("linear", {}),
        ("rbf", {"gamma": 0.05}),
        ("poly", {"gamma": 0.1, "degree": 3, "coef0": 1.0}),
        ("sigmoid", {"gamma": 0.001, "coef0": 0.1}),
        ("cosine", {}),
    ],
)
@pytest.mark.parametrize("solver", ["dense", "operator"])
@pytest.mark.filterwarnings("ignore:KernelPCA. the kernel is not positive")
def test_scikit_learn_agrees_on_all_shared_kernels(kernel, settings, solver):
    X, new = cloud(50, 4), cloud(6, 4, seed=3)
    theirs = SklearnKernelPCA(3, kernel=kernel, eigen_solver="dense", **settings).fit(X)
    ours = KernelPCA(3, kernel=kernel, solver=solver, **settings).fit(X)
    np.testing.assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-8)
    expected = theirs.transform(new)
    np.testing.assert_allclose(up_to_sign(expected, ours.transform(new)), expected, atol=1e-7 * np.abs(expected).max())


def test_negative_eigenvalues_are_left_out_and_their_share_is_told():
    X = cloud(60, 3)
    K = -(((X[:, None] - X) ** 2).sum(axis=2) ** 1.5) / 2
    H = np.eye(60) - 1 / 60
    spectrum = np.linalg.eigvalsh(H @ K @ H)
    share = -spectrum[spectrum < 0].sum() / np.abs(spectrum).sum()
    assert share > 0.01
    for solver in ("dense", "operator"):
        with pytest.warns(UserWarning, match="negative eigenvalues, 0.*of the spectrum, are left out"):
            model = KernelPCA(None, kernel="precomputed", solver=solver).fit(K)
        assert model.negative_share_ == pytest.approx(share, rel=1e-9)
        assert (model.eigenvalues_ > 0).all()
        np.testing.assert_allclose(model.eigenvalues_.sum(), spectrum[spectrum > 1e-9].sum(), rtol=1e-8)
    assert KernelPCA(2).fit(X).negative_share_ == 0.0


def test_shares_of_the_trace():
    X = cloud(40, 3)
    model = KernelPCA(None, gamma=0.2).fit(X)
    assert model.explained_variance_ratio_.sum() == pytest.approx(1.0, rel=1e-9)
    assert model.feature_space_error_ < 1e-8
    K = RBF(0.2)(X)
    few = KernelPCA(2, gamma=0.2).fit(X)
    np.testing.assert_allclose(few.explained_variance_ratio_, few.eigenvalues_ / (40 - K.sum() / 40), rtol=1e-10)
    np.testing.assert_allclose(few.feature_space_error_, model.eigenvalues_[2:].sum(), rtol=1e-8)
    A = few.dual_coef_
    np.testing.assert_allclose(A.T @ K @ A, np.eye(2), atol=1e-10)


@pytest.mark.parametrize("settings", [{}, {"n_landmarks": 20}, {"noise": 0.2}])
def test_distances_between_scores_are_shorter_than_in_feature_space(settings):
    X = cloud(700, 3)
    model = KernelPCA(2, gamma=0.05, random_state=0, **settings).fit(X)
    Z, K = model.transform(X), RBF(0.05)(X)
    pair = np.triu_indices(700, 1)
    d, dhat = np.sqrt(2 - 2 * K)[pair], np.sqrt(((Z[:, None] - Z) ** 2).sum(axis=2))[pair]
    assert (d - dhat).min() > -1e-9
    assert model.distance_error(X) == pytest.approx((d - dhat).mean(), rel=1e-9)
    assert KernelPCA(None, gamma=5.0).fit(X[:50]).distance_error(X[:50]) < 1e-6


def test_distances_of_many_rows_are_sampled():
    X = cloud(3500, 3)
    model = KernelPCA(2, gamma=0.05, n_landmarks=50, random_state=0).fit(X)
    exact = np.mean([model.distance_error(X[i::2]) for i in (0, 1)])
    assert model.distance_error(X) == pytest.approx(exact, rel=0.05)
    with pytest.raises(ValueError, match="at least 2 rows"):
        model.distance_error(X[:1])


@pytest.mark.parametrize("settings", [{}, {"solver": "operator"}, {"n_landmarks": 2}, {"noise": 0.5}, {"n_basis": 1}])
@pytest.mark.filterwarnings("ignore:KernelPCA. . of . axes")
@pytest.mark.filterwarnings("ignore:KernelPCA. to RBF.* nearly the same")
def test_few_rows_equal_rows_constant_columns(settings):
    for X in (cloud(2, 3), cloud(3, 1), np.repeat(cloud(2, 3), 5, axis=0), np.c_[cloud(20, 2), np.ones(20)]):
        model = KernelPCA(2, gamma=0.1, random_state=0, **settings).fit(X)
        assert np.isfinite(model.embedding_).all()
        np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-9)
        assert model.row_error(X).min() >= 0
    with pytest.warns(UserWarning, match="0 of 2 axes"):
        model = KernelPCA(2, gamma=0.1, random_state=0, **settings).fit(np.ones((10, 3)))
    assert (model.embedding_ == 0).all()


@pytest.mark.parametrize("kernel", ["rbf", "linear", "sigmoid"])
@pytest.mark.parametrize("settings", [{"n_landmarks": 40}, {"n_basis": 20}, {"noise": 0.05}])
@pytest.mark.filterwarnings(
    "ignore:KernelPCA. the kernel is not positive", "ignore:KernelPCA. .* pairs of rows have no"
)
def test_few_rows_with_a_kernel_that_is_not_positive(kernel, settings):
    """Eigenvalues as small as the negative ones are noise: dividing by them, or weighing rows by them, ruins axes."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(150, 5)) @ rng.normal(size=(5, 5))
    missing = "error" if kernel == "sigmoid" else "pairwise"
    if missing == "pairwise":
        X[rng.random(X.shape) < 0.1] = np.nan
    full = KernelPCA(1, kernel=kernel, missing=missing, random_state=0).fit(X)
    model = KernelPCA(1, kernel=kernel, missing=missing, random_state=0, **settings).fit(X)
    assert full.negative_share_ > 0.01
    assert abs(np.corrcoef(model.embedding_[:, 0], full.embedding_[:, 0])[0, 1]) > 0.95
    np.testing.assert_allclose(model.eigenvalues_, full.eigenvalues_, rtol=0.1)
    np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-9 * np.abs(model.embedding_).max())

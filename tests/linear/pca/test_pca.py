"""PCA against R, closed forms and its identities."""

import tracemalloc
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.linalg import subspace_angles
from sklearn.decomposition import PCA as SklearnPCA

import lowdim
from lowdim import PCA
from lowdim.linear import _decompose
from tests.oracles import case, load_expected, load_input

SOLVERS = ["covariance", "svd", "gram", "randomized", "power"]
exact = pytest.mark.parametrize("solver", SOLVERS)


def numeric(name):
    table, _ = load_input(name)
    keep = [j for j in range(table.shape[1]) if _is_number(table[0, j])]
    return table[:, keep].astype(float)


def _is_number(cell):
    try:
        float(cell)
    except ValueError:
        return False
    return True


def up_to_sign(A, B):
    return B * np.where((A * B).sum(axis=0) < 0, -1.0, 1.0)


def cloud(n=80, d=6, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)) @ (rng.standard_normal((d, d)) * 2.0 ** -np.arange(d)[:, None]) + 10


def make(solver, k=None, **settings):
    if solver in ("randomized", "power"):
        settings |= {"tol": 1e-10, "max_iter": 50_000, "random_state": 0}
    return PCA(k, solver=solver, **settings)


# ---- R ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("case_id", "data", "scale"),
    [
        ("pca_prcomp_iris_cov", "iris", False),
        ("pca_prcomp_iris_cor", "iris", True),
        ("pca_prcomp_usarrests_cor", "usarrests", True),
    ],
)
@exact
def test_prcomp(case_id, data, scale, solver):
    X, spec = numeric(data), case(case_id)
    model = make(solver, X.shape[1], scale=scale).fit(X)
    close = {
        "rtol": max(spec["rtol"], 1e-7 if solver == "power" else 0),
        "atol": 1e-7 if solver in ("power", "randomized") else 1e-9,
    }
    np.testing.assert_allclose(np.sqrt(model.explained_variance_), load_expected(case_id, "sdev.csv"), **close)
    rotation = load_expected(case_id, "rotation.csv")
    np.testing.assert_allclose(
        up_to_sign(rotation, model.components_.T), rotation, atol=1e-6 if solver == "power" else 1e-8
    )
    scores = load_expected(case_id, "scores.csv")
    np.testing.assert_allclose(up_to_sign(scores, model.transform(X)), scores, atol=1e-5 if solver == "power" else 1e-7)
    np.testing.assert_allclose(model.explained_variance_ratio_, load_expected(case_id, "explained_ratio.csv"), **close)


@exact
def test_princomp_divides_by_n(solver):
    X = numeric("iris")
    model = make(solver, 4, ddof=0).fit(X)
    expected = load_expected("pca_princomp_iris_cov", "sdev.csv")
    np.testing.assert_allclose(np.sqrt(model.explained_variance_), expected, rtol=1e-7)
    n = len(X)
    np.testing.assert_allclose(
        np.sqrt(model.explained_variance_),
        np.sqrt((n - 1) / n * make(solver, 4).fit(X).explained_variance_),
        rtol=1e-9,
    )


def test_prcomp_predict_uses_the_training_mean_and_scale():
    X = numeric("iris")
    train, test = X[::2], X[1::2]
    model = PCA(scale=True).fit(train)
    expected = load_expected("pca_prcomp_predict_iris", "scores_test.csv")
    np.testing.assert_allclose(up_to_sign(expected, model.transform(test)), expected, atol=1e-10)
    two = PCA(2, scale=True).fit(train)
    expected = load_expected("pca_prcomp_predict_iris", "reconstruction_2pc_test.csv")
    np.testing.assert_allclose(two.inverse_transform(two.transform(test)), expected, atol=1e-10)


def test_prcomp_on_rank_deficient_rows():
    X = numeric("rankdef_40x6")
    model = PCA().fit(X)
    expected = load_expected("pca_prcomp_rankdef", "sdev.csv")
    np.testing.assert_allclose(np.sqrt(model.explained_variance_), expected, atol=1e-7)
    rotation = load_expected("pca_prcomp_rankdef", "rotation.csv")[:, :3]
    np.testing.assert_allclose(up_to_sign(rotation, model.components_[:3].T), rotation, atol=1e-9)


def test_pcamethods_and_dimred_agree():
    X = numeric("iris")
    scores = load_expected("pcamethods_svd_iris", "scores.csv")
    np.testing.assert_allclose(up_to_sign(scores, PCA(4).fit_transform(X)), scores, atol=1e-9)
    two = PCA(2).fit(X)
    rmse = np.sqrt(np.mean((two.inverse_transform(two.transform(X)) - X) ** 2))
    assert rmse == pytest.approx(case("dimred_reconstruction_iris_pca")["scalars"]["rmse"], rel=1e-9)


# ---- closed forms and identities ------------------------------------------------------------------------------


def rows_with_covariance(C, n=50, seed=0):
    """Rows whose sample covariance (divisor n - 1) is exactly C."""
    Z = np.random.default_rng(seed).standard_normal((n, len(C)))
    Z -= Z.mean(axis=0)
    Z = np.linalg.qr(Z)[0] * np.sqrt(n - 1)
    return Z @ np.linalg.cholesky(C).T


@exact
def test_three_cars(solver):
    """The worked example of the lecture slides, in closed form; they print 0.39 for 0.3846."""
    a = 2 / np.sqrt(10)
    X = rows_with_covariance(np.array([[1, a, -a], [a, 1, -0.8], [-a, -0.8, 1]])) + np.array([100, 20, 3])
    model = make(solver, 3).fit(X)
    root = 2 * np.sqrt(6)
    np.testing.assert_allclose(model.explained_variance_, [(7 + root) / 5, (7 - root) / 5, 1 / 5], rtol=1e-8)
    expected = np.array([[0.5439, 0.5933, -0.5933], [0.8391, -0.3846, 0.3846], [0.0, 0.7071, 0.7071]])
    np.testing.assert_allclose(np.abs(model.components_), np.abs(expected), atol=5e-5)
    # One component carries 79.3 %, so both of the slides' thresholds need two.
    for share in (0.85, 0.9):
        assert PCA(share).fit(X).n_components_ == 2


@exact
def test_error_is_the_sum_of_dropped_eigenvalues(solver):
    X = cloud()
    full = PCA().fit(X)
    for ddof in (0, 1):
        model = make(solver, 3, ddof=ddof).fit(X)
        error = ((model.inverse_transform(model.transform(X)) - X) ** 2).sum()
        dropped = full.explained_variance_[3:].sum() * (len(X) - 1)
        assert error == pytest.approx(dropped, rel=1e-7)
        assert model.reconstruction_error_ == pytest.approx(error / X.size, rel=1e-6)


@exact
def test_error_is_the_mean_over_cells_in_the_units_of_the_rows(solver):
    X = cloud() * np.geomspace(0.1, 10, cloud().shape[1])
    weights = np.arange(len(X)) % 4.0
    for settings in ({"scale": True}, {"scale": False}, {"scale": True, "ddof": 0}):
        model = make(solver, 3, **settings).fit(X, sample_weight=weights)
        squares = (model.inverse_transform(model.transform(X)) - X) ** 2
        expected = weights @ squares.mean(axis=1) / weights.sum()
        assert model.reconstruction_error_ == pytest.approx(expected, rel=1e-6)
        repeated = make(solver, 3, **settings).fit(np.repeat(X, weights.astype(int), axis=0))
        assert model.reconstruction_error_ == pytest.approx(repeated.reconstruction_error_, rel=1e-6)


@exact
def test_scores_are_uncorrelated_with_the_eigenvalues_as_variances(solver):
    X = cloud()
    model = make(solver, 4)
    Z = model.fit_transform(X)
    np.testing.assert_allclose(np.cov(Z.T), np.diag(model.explained_variance_), atol=1e-7)
    np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(4), atol=1e-10)
    assert model.singular_values_ == pytest.approx(np.sqrt(79 * model.explained_variance_))


def test_project_and_singular_vector_versions_are_one():
    """Scores by projection and as A diag(s) are the same matrix."""
    X = cloud()
    A, s, _ = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    Z = PCA(solver="svd").fit_transform(X)
    np.testing.assert_allclose(up_to_sign(A * s, Z), A * s, atol=1e-10)
    whitened = PCA(solver="svd", whiten=True).fit_transform(X)
    np.testing.assert_allclose(up_to_sign(A, whitened), A * np.sqrt(len(X) - 1), atol=1e-9)


@exact
def test_whitened_scores_have_unit_covariance(solver):
    """Not 1/(n-1) of it, as the lecture notes' formula gives."""
    X = cloud(50, 3)
    model = make(solver, 3, whiten=True)
    Z = model.fit_transform(X)
    np.testing.assert_allclose(np.cov(Z.T), np.eye(3), atol=1e-6)
    np.testing.assert_allclose(model.inverse_transform(Z), X, atol=1e-6)


def test_whitening_drops_what_has_no_variance():
    X = np.hstack([cloud(40, 2), np.ones((40, 1)), cloud(40, 2)])
    with pytest.warns(UserWarning, match="keeps 2 of 5 components"):
        model = PCA(whiten=True).fit(X)
    np.testing.assert_allclose(np.cov(model.transform(X).T), np.eye(2), atol=1e-9)


@exact
def test_all_solvers_give_the_same_model(solver):
    for shape in ((60, 6), (12, 30), (30, 30)):
        X = cloud(*shape, seed=1)
        k = 4
        reference = SklearnPCA(k, svd_solver="full").fit(X)
        model = make(solver, k).fit(X)
        np.testing.assert_allclose(model.explained_variance_, reference.explained_variance_, rtol=1e-7)
        np.testing.assert_allclose(model.explained_variance_ratio_, reference.explained_variance_ratio_, rtol=1e-7)
        angle = subspace_angles(model.components_.T, reference.components_.T)
        assert angle.max() < 1e-5


@exact
def test_tied_eigenvalues_give_the_right_plane(solver):
    X = rows_with_covariance(np.diag([4.0, 4.0, 1.0, 0.5]))
    model = make(solver, 2).fit(X)
    np.testing.assert_allclose(model.explained_variance_, [4, 4], rtol=1e-8)
    assert subspace_angles(model.components_.T, np.eye(4)[:, :2]).max() < 1e-5


def test_scaling_is_pca_of_the_correlation_matrix():
    X = cloud() * [1, 10, 100, 1e3, 1e4, 1e5]
    model = PCA(scale=True).fit(X)
    np.testing.assert_allclose(model.explained_variance_, np.linalg.eigvalsh(np.corrcoef(X.T))[::-1], rtol=1e-9)
    assert model.explained_variance_.sum() == pytest.approx(6)
    np.testing.assert_allclose(model.inverse_transform(model.transform(X)), X, rtol=1e-9)
    assert PCA(1).fit(X).explained_variance_ratio_[0] > 0.9  # unscaled, the column in the largest unit wins


def test_constant_columns_are_left_alone_when_scaling():
    X = np.hstack([cloud(), np.full((80, 1), 7.0)])
    with pytest.warns(UserWarning, match="1 of 7 columns are constant"):
        model = PCA(scale=True).fit(X)
    assert model.scale_[-1] == 1
    np.testing.assert_allclose(model.inverse_transform(model.transform(X)), X, atol=1e-9)


@exact
def test_far_from_the_origin_in_single_precision(solver):
    """Centred before the product: scikit-learn's default is off by a factor of a hundred and more here."""
    rng = np.random.default_rng(0)
    X = (100 + 0.1 * rng.standard_normal((2000, 10)) * np.linspace(2, 1, 10)).astype(np.float32)
    reference = np.linalg.eigvalsh(np.cov(X.astype(np.float64).T))[::-1]
    model = PCA(10, solver=solver, random_state=0, tol=1e-6, max_iter=5000).fit(X)
    np.testing.assert_allclose(model.explained_variance_, reference, rtol=1e-3)
    peer = SklearnPCA(10, svd_solver="covariance_eigh").fit(X)
    assert np.abs(peer.explained_variance_ / reference - 1).max() > 0.5


# ---- how many components ----------------------------------------------------------------------------------------


def test_share_of_variance_is_strict_and_equals_the_tolerance_rule():
    X = rows_with_covariance(np.diag([5.0, 3.0, 1.0, 1.0]))
    for share, expected in ((0.49, 1), (0.51, 2), (0.79, 2), (0.81, 3), (0.95, 4)):
        assert PCA(share).fit(X).n_components_ == expected
        assert PCA(max_error=1 - share).fit(X).n_components_ == expected
        assert SklearnPCA(share, svd_solver="full").fit(X).n_components_ == expected
    with pytest.raises(ValueError, match="n_components or max_error, not both"):
        PCA(2, max_error=0.1).fit(X)


def test_the_largest_drop_of_the_spectrum():
    assert PCA("drop").fit(rows_with_covariance(np.diag([9.0, 8, 7, 0.5, 0.4]))).n_components_ == 3
    assert PCA("drop").fit(numeric("rankdef_40x6")).n_components_ == 3
    with pytest.raises(ValueError, match="no eigenvalue is twice the next"):
        PCA("drop").fit(rows_with_covariance(np.diag([1.5, 1.3, 1.1, 1.0])))


def test_rules_need_the_whole_spectrum():
    for solver in ("randomized", "power"):
        with pytest.raises(ValueError, match="needs n_components as a whole number"):
            PCA(0.9, solver=solver).fit(cloud())


def test_more_components_than_there_are_is_said():
    X = cloud(5, 10)
    with (
        pytest.warns(UserWarning, match=r"n_components=8 is more than min\(n_samples, n_features\) = 5; keeping 5"),
        pytest.warns(UserWarning, match="the rows vary in at most 4 directions"),
    ):
        model = PCA(8).fit(X)
    assert model.components_.shape == (5, 10)
    np.testing.assert_allclose(model.explained_variance_[-1], 0, atol=1e-12)  # n - 1 of them vary
    np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(5), atol=1e-10)


# ---- weights, sparse rows, streams -------------------------------------------------------------------------------


@exact
def test_a_weight_counts_as_copies_of_the_row(solver):
    X = cloud(30, 4)
    weights = np.random.default_rng(3).integers(0, 4, 30)
    weighted = make(solver, 3, scale=True).fit(X, sample_weight=weights)
    repeated = make(solver, 3, scale=True).fit(np.repeat(X, weights, axis=0))
    np.testing.assert_allclose(weighted.explained_variance_, repeated.explained_variance_, rtol=1e-8)
    np.testing.assert_allclose(weighted.mean_, repeated.mean_)
    np.testing.assert_allclose(
        up_to_sign(repeated.components_.T, weighted.components_.T), repeated.components_.T, atol=1e-6
    )


def test_bad_weights():
    X = cloud(30, 4)
    with pytest.raises(ValueError, match=r"[Nn]egative"):
        PCA().fit(X, sample_weight=-np.ones(30))
    with pytest.raises(ValueError, match="must sum to more than ddof"):
        PCA().fit(X, sample_weight=np.full(30, 0.03))


def test_weights_are_not_numbers_of_rows():
    """Weights that sum to 1 leave as many directions as there are rows with weight."""
    X = cloud(30, 5)
    for solver in ("auto", "svd"):
        model = PCA(2, ddof=0, solver=solver).fit(X, sample_weight=np.full(30, 1 / 30))
        np.testing.assert_allclose(model.explained_variance_, PCA(2, ddof=0).fit(X).explained_variance_)
        with pytest.warns(UserWarning, match="the rows vary in at most 2 directions"):
            PCA(3, solver=solver).fit(X, sample_weight=3.0 * (np.arange(30) < 3))


def test_rows_of_weight_zero_are_as_if_absent():
    X, weights = cloud(8, 10), np.array([1.0, 0.0, 2.0, 0.0, 1.0, 3.0, 0.0, 1.0])
    whole, part = PCA().fit(X, sample_weight=weights), PCA().fit(X[weights > 0], sample_weight=weights[weights > 0])
    assert whole.n_components_ == part.n_components_ == 5
    np.testing.assert_allclose(whole.explained_variance_, part.explained_variance_, atol=1e-12)


@exact
@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_sparse_rows_give_the_same_numbers(solver, scale, weighted):
    S = sparse.random_array((60, 12), density=0.3, random_state=np.random.default_rng(0), format="csr")
    weights = np.random.default_rng(1).random(60) + 0.5 if weighted else None
    k = 3
    dense = make("svd", k, scale=scale).fit(S.toarray(), sample_weight=weights)
    for matrix in (S, sparse.csr_matrix(S), sparse.csc_array(S)):
        model = make(solver, k, scale=scale).fit(matrix, sample_weight=weights)
        np.testing.assert_allclose(model.explained_variance_, dense.explained_variance_, rtol=1e-7)
        Z = model.transform(matrix)
        np.testing.assert_allclose(up_to_sign(dense.transform(S.toarray()), Z), dense.transform(S.toarray()), atol=1e-4)


def test_a_large_sparse_table_is_never_filled():
    S = sparse.random_array((20_000, 50_000), density=1e-5, random_state=np.random.default_rng(0), format="csr")
    model = PCA(3, random_state=0).fit(S)  # 8 GB if it were dense
    assert model.solver_ == "randomized"
    assert model.transform(S[:10]).shape == (10, 3)


@pytest.mark.parametrize("batch", [1, 7, 200])
def test_a_stream_gives_the_numbers_of_the_whole(batch):
    X = cloud(200, 5) + 1e4
    model = PCA(3, scale=True).fit(X[i : i + batch] for i in range(0, 200, batch))
    whole = PCA(3, scale=True, solver="covariance").fit(X)
    np.testing.assert_allclose(model.explained_variance_, whole.explained_variance_, rtol=1e-9)
    np.testing.assert_allclose(model.components_, whole.components_, atol=1e-8)
    assert model.n_features_in_ == 5
    np.testing.assert_allclose(model.transform(X), whole.transform(X), atol=1e-6)


def test_bad_streams():
    X = cloud(20, 5)
    with pytest.raises(ValueError, match="every batch of X must have 5 columns; got 4"):
        PCA(2).fit(iter([X, X[:, :4]]))
    with pytest.raises(ValueError, match="at least 2 rows together"):
        PCA(2).fit(iter([]))
    hole = np.where(np.arange(5) == 2, np.nan, X[:2])
    with pytest.raises(ValueError, match=r"missing values.*missing='regularized' or missing='em'"):
        PCA(2, missing="error").fit(iter([X, hole]))
    with pytest.raises(ValueError, match="2 rows of X have no observed cell"):
        PCA(2).fit(iter([X, np.full((2, 5), np.nan)]))
    with pytest.raises(ValueError, match="solver must be 'covariance', 'svd' or 'auto' for a stream"):
        PCA(2, solver="gram").fit(iter([X]))
    with pytest.raises(ValueError, match="PCA: every batch of X must have 5 columns; got 4"):
        PCA(2, solver="svd").fit(iter([X, X[:, :4]]))
    frames = PCA(2).fit(iter([pd.DataFrame(X), pd.DataFrame(X)]))
    assert frames.n_components_ == 2


def test_memory_mapped_rows(tmp_path):
    X = cloud(300, 5)
    np.save(tmp_path / "x.npy", X)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    np.testing.assert_array_equal(PCA(2).fit_transform(mapped), PCA(2).fit_transform(X))


@pytest.mark.deep
def test_a_memory_mapped_table_is_read_in_blocks(tmp_path):
    """One gigabyte on disk, a fraction of it in memory."""
    import subprocess
    import sys

    script = f"""
import numpy as np, resource
X = np.lib.format.open_memmap({str(tmp_path / "x.npy")!r}, mode="w+", dtype=np.float32, shape=(2_500_000, 100))
rng = np.random.default_rng(0)
for i in range(0, len(X), 50_000):
    X[i:i + 50_000] = rng.standard_normal((50_000, 100), dtype=np.float32)
X.flush(); del X
import lowdim
from lowdim import PCA
X = np.load({str(tmp_path / "x.npy")!r}, mmap_mode="r")
def anonymous():
    return int(next(l for l in open("/proc/self/status") if l.startswith("RssAnon")).split()[1]) * 1024
before = anonymous()
import threading, time
peak = [0]
def watch():
    while True:
        peak[0] = max(peak[0], anonymous()); time.sleep(0.01)
threading.Thread(target=watch, daemon=True).start()
PCA(5, n_jobs=2).fit(X)
print(peak[0] - before)
"""
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert int(out.stdout) < 300e6


def test_power_iteration_says_when_it_did_not_arrive():
    X = rows_with_covariance(np.diag([1.0, 0.999, 0.998, 0.5]))
    from sklearn.exceptions import ConvergenceWarning

    with pytest.warns(ConvergenceWarning, match="stopped at max_iter=3"):
        model = PCA(2, solver="power", max_iter=3, random_state=0).fit(X)
    assert not model.converged_
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert PCA(1, solver="power", max_iter=5000, random_state=0).fit(cloud()).converged_


# ---- what a reviewer found ------------------------------------------------------------------------------------------


@exact
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [3, 50, 1000])
def test_a_constant_column_that_rounds_is_constant_still(solver, dtype, n):
    """0.1 has no exact mean: its rounding must not be scaled up to a component."""
    X = np.random.default_rng(0).standard_normal((n, 3)).astype(dtype)
    X[:, 1] = 0.1
    for table in (X, sparse.csr_array(X)):
        with pytest.warns(UserWarning, match="constant"):
            model = make(solver, 2, scale=True).fit(table)
        assert model.scale_[1] == 1
        assert np.abs(model.components_[:, 1]).max() < 1e-3
        assert model.reconstruction_error_ < 1e-6


def test_the_drop_rule_on_wide_tables():
    """Centring always makes the last eigenvalue of a wide table zero; that is no drop."""
    rng = np.random.default_rng(0)
    U = rng.normal(size=(20, 2)) @ rng.normal(size=(2, 50)) * 10 + 0.01 * rng.normal(size=(20, 50))
    assert PCA("drop").fit(U).n_components_ == 2
    with pytest.raises(ValueError, match="no drop"):
        PCA("drop").fit(rng.normal(size=(20, 50)))


def test_weights_do_not_go_with_streams():
    X = cloud(20, 4)
    with pytest.raises(ValueError, match="sample_weight must be None for an iterator of batches"):
        PCA(2).fit(iter([X]), sample_weight=np.ones(20))


def test_a_stream_is_not_read_by_fit_transform():
    batches = iter([cloud(20, 4)])
    model = PCA(2)
    with pytest.raises(TypeError, match="read only once"):
        model.fit_transform(batches)
    assert len(list(batches)) == 1
    assert not hasattr(model, "components_")


def test_sparse_tables_are_charged_for_what_they_store():
    rng = np.random.default_rng(0)
    at = rng.integers(0, 200_000, 100_000), rng.integers(0, 50_000, 100_000)
    S = sparse.csr_array((rng.normal(size=100_000), at), shape=(200_000, 50_000))
    assert PCA(3).estimate_memory(S) < 2e9  # 80 GB if it were dense


def test_sparse_rows_far_from_the_origin():
    rng = np.random.default_rng(0)
    for offset, tolerance in ((1e3, 1e-9), (1e8, 1e-6)):
        X = rng.normal(size=(500, 5)) + offset
        for solver in ("covariance", "randomized"):
            found = PCA(3, solver=solver, tol=1e-7, random_state=0).fit(sparse.csr_array(X)).explained_variance_
            np.testing.assert_allclose(found, PCA(3, solver="svd").fit(X).explained_variance_, rtol=tolerance)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("solver", ["covariance", "svd", "gram", "randomized"])
def test_whitening_does_not_keep_rounding(solver, dtype):
    rng = np.random.default_rng(1)
    X = (rng.normal(size=(500, 2)) @ rng.normal(size=(2, 6))).astype(dtype)
    with pytest.warns(UserWarning, match="keeps 2 of 4 components"):
        assert make(solver, 4, whiten=True).fit(X).n_components_ == 2


@pytest.mark.parametrize("scale", [1e-25, 1e25])
@exact
def test_single_precision_beyond_its_squares(solver, scale):
    X = np.random.default_rng(0).normal(size=(200, 4))
    expected = PCA(2).fit(X).explained_variance_ratio_
    model = make(solver, 2).fit((X * scale).astype(np.float32))
    np.testing.assert_allclose(model.explained_variance_ratio_, expected, rtol=1e-4)
    assert model.transform((X * scale).astype(np.float32)).dtype == np.float32


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_double_precision_beyond_its_squares(scale):
    with pytest.raises(ValueError, match=r"PCA: the largest value of X is .* Multiply X by a constant"):
        PCA(2).fit(cloud() * scale)


@pytest.mark.filterwarnings("error")
@exact
@pytest.mark.parametrize("scale", [1e-130, 1e-90, 1e90, 1e130])
def test_rows_whose_fourth_powers_are_out_of_range(solver, scale):
    X = np.random.default_rng(0).standard_normal((1200, 800)) * 2.0 ** -np.minimum(np.arange(800), 8)
    want, found = PCA(3, solver="svd").fit(X), PCA(3, solver=solver, random_state=0).fit(X * scale)
    np.testing.assert_allclose(found.explained_variance_ratio_, want.explained_variance_ratio_, rtol=1e-9)
    np.testing.assert_allclose(found.components_, want.components_, atol=1e-6)


@pytest.mark.parametrize("total", [0.04, 5.0, 1e13])
def test_weights_may_sum_to_anything(total):
    X = cloud(40) * [1, 1, 1, 1, 1, 1e-9] + [0, 0, 0, 0, 0, 1]
    weights = np.full(40, total / 40)
    for scale in (False, True):
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # not "the rows vary in at most -1 directions", nor "constant"
            found = PCA(6, ddof=0, scale=scale).fit(X, sample_weight=weights)
        want = PCA(6, ddof=0, scale=scale).fit(X)
        np.testing.assert_allclose(found.explained_variance_, want.explained_variance_, rtol=1e-6)
    planted = cloud(40, 3) @ np.eye(3, 6) + 1e-3 * cloud(40)
    want = PCA("drop", ddof=0).fit(planted).n_components_
    assert PCA("drop", ddof=0).fit(planted, sample_weight=weights).n_components_ == want


def test_each_thing_is_said_once():
    X = cloud(5, 8)
    X[:, 2] = 3.0
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        PCA(5, scale=True).fit(X)
    assert sorted(str(w.message).split(";")[0] for w in said) == [
        "PCA: 1 of 8 columns are constant",
        "PCA: the rows vary in at most 4 directions",
    ]


def test_small_components_of_tall_tables_take_no_copy_of_the_rows():
    X = cloud(60_000, 8)
    X[:, 7] = X[:, 0] + 1e-7 * np.random.default_rng(1).standard_normal(60_000)
    model = PCA()
    with lowdim.config(memory_limit="12MB"):
        tracemalloc.start()
        model.fit(X)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert model.solver_ == "svd"
    assert peak < 2 * model.estimate_memory(X) + 2e6
    want = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)
    np.testing.assert_allclose(model.singular_values_, want, rtol=1e-4)


def test_wide_tables_keep_what_they_have_where_memory_is_short():
    X = np.random.default_rng(0).standard_normal((30, 3)) @ np.random.default_rng(1).standard_normal((3, 40_000))
    with lowdim.config(memory_limit="20MB"):
        model = PCA(5).fit(X)
    assert model.solver_ == "gram"
    assert PCA(5).fit(X).solver_ == "svd"


@pytest.mark.parametrize("solver", ["gram", "randomized", "svd"])
def test_single_precision_means_are_not_rounded(solver):
    rng = np.random.default_rng(0)
    X = (rng.standard_normal((400, 20)) * np.logspace(0, -2, 20) + 1e5).astype(np.float32)
    want = PCA(8, solver="svd").fit(X.astype(np.float64))
    found = PCA(8, solver=solver).fit(X)
    np.testing.assert_allclose(found.explained_variance_, want.explained_variance_, rtol=1e-5)
    np.testing.assert_allclose(found.transform(X).mean(axis=0), 0, atol=1e-5)


def test_a_constant_column_does_not_move_the_drop():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2)) @ rng.normal(size=(2, 6)) + 0.1 * rng.normal(size=(200, 6))
    with_constant = np.column_stack([X, np.full(200, 3.0)])
    assert PCA("drop").fit(X).n_components_ == PCA("drop").fit(with_constant).n_components_ == 2
    choose = lowdim.select.n_components
    assert choose(X, rules=["drop"]).choices == choose(with_constant, rules=["drop"]).choices == {"drop": 2}
    plane = rng.normal(size=(200, 3)) @ rng.normal(size=(3, 6))
    assert PCA("drop").fit(np.column_stack([plane, np.ones(200)])).n_components_ == 3


def test_resolution_says_which_singular_values_are_rounding(monkeypatch):
    """Tables too large to be decomposed twice keep half of the digits, and say so; solver="svd" keeps them all."""
    rng = np.random.default_rng(0)
    sizes = np.logspace(0, -12, 13)
    Q = np.linalg.qr(rng.normal(size=(400, 14)) - 0.0)[0]
    U = np.linalg.qr(Q - Q.mean(axis=0))[0][:, :13]
    X = U * sizes @ np.linalg.qr(rng.normal(size=(13, 13)))[0]
    fine = PCA(solver="svd").fit(X)
    assert fine.resolution_ < 1e-12
    np.testing.assert_allclose(fine.singular_values_, sizes, rtol=1e-3)
    assert PCA().fit(X).solver_ == "svd"  # small: decomposed again
    monkeypatch.setattr(_decompose, "LARGE", 0)
    coarse = PCA().fit(X)
    assert coarse.solver_ == "covariance"
    seen = sizes > 10 * coarse.resolution_
    assert 1e-9 < coarse.resolution_ < 1e-6
    np.testing.assert_allclose(coarse.singular_values_[seen], sizes[seen], rtol=0.05)
    assert np.abs(coarse.singular_values_[~seen] / sizes[~seen] - 1).max() > 1


# ---- as a density, and Minka's rule -------------------------------------------------------------------------


@pytest.mark.parametrize("k", [1, 3, 6, None])
def test_the_density_is_that_of_scikit_learn(k):
    X, new = cloud(60), cloud(20, seed=1)
    ours, theirs = PCA(k).fit(X), SklearnPCA(k, svd_solver="full").fit(X)
    np.testing.assert_allclose(ours.get_covariance(), theirs.get_covariance(), atol=1e-10)
    np.testing.assert_allclose(ours.get_precision(), theirs.get_precision(), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(ours.score_samples(new), theirs.score_samples(new), rtol=1e-8)
    assert ours.score(new) == pytest.approx(theirs.score(new))


def test_the_density_of_scaled_and_incomplete_rows():
    X = cloud(60)
    scaled = PCA(scale=True).fit(X)
    np.testing.assert_allclose(scaled.get_covariance(), np.cov(X.T), atol=1e-10)
    few = PCA(3, scale=True).fit(X)
    np.testing.assert_allclose(few.get_precision() @ few.get_covariance(), np.eye(6), atol=1e-8)
    hole = X[:1].copy()
    hole[0, 4:] = np.nan
    C, gap = few.get_covariance()[:4, :4], hole[0, :4] - few.mean_[:4]
    closed = -0.5 * (gap @ np.linalg.solve(C, gap) + np.linalg.slogdet(C)[1] + 4 * np.log(2 * np.pi))
    assert few.score_samples(hole)[0] == pytest.approx(closed)
    with pytest.raises(ValueError, match="get_precision must have a covariance of full rank"):
        PCA().fit(np.hstack([X, X[:, :1]])).get_precision()


@pytest.mark.parametrize("seed", range(4))
def test_minkas_rule_is_that_of_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((60, 3)) @ rng.standard_normal((3, 8)) + 0.3 * rng.standard_normal((60, 8))
    assert PCA("mle").fit(X).n_components_ == SklearnPCA("mle", svd_solver="full").fit(X).n_components_ == 3
    with pytest.raises(ValueError, match="'mle' must have at least as many rows as columns"):
        PCA("mle").fit(X[:6])


# ---- sparse batches, dependent columns ------------------------------------------------------------------------


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_matrix, sparse.lil_array])
def test_sparse_batches_are_dense_ones(form, monkeypatch):
    X = cloud(60) * (np.random.default_rng(1).random((60, 6)) > 0.5)
    dense = PCA(2).fit(iter([X[:40], X[40:]]))
    monkeypatch.setattr("lowdim.linear.in_blocks.sums.DENSE_CELLS", 100)  # several parts of each batch
    found = PCA(2).fit(iter([form(X[:40]), form(X[40:])]))
    np.testing.assert_allclose(found.components_, dense.components_, atol=1e-9)
    np.testing.assert_allclose(found.explained_variance_, dense.explained_variance_, rtol=1e-10)
    np.testing.assert_allclose(found.transform(form(X[:5])), dense.transform(X[:5]), atol=1e-9)


def test_minkas_rule_of_dependent_columns_is_the_rank():
    """The limit of the rule as the noise beside them goes to 0."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 3)) @ rng.standard_normal((3, 8))
    assert PCA("mle").fit(X).n_components_ == 3
    assert PCA("mle").fit(X + 1e-5 * rng.standard_normal(X.shape)).n_components_ == 3
    with pytest.raises(ValueError, match="at least as many rows as columns"):
        PCA("mle").fit(X[:5])

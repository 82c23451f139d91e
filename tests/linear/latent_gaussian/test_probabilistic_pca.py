"""Probabilistic PCA: closed form, EM, missing cells, and what R's version of it does wrong."""

import numpy as np
import pytest
from scipy.linalg import subspace_angles
from scipy.optimize import minimize_scalar
from sklearn.base import clone
from sklearn.decomposition import PCA as SklearnPCA

import lowdim
from lowdim import PCA, ProbabilisticPCA
from lowdim._core.incomplete.gaussian import Gaussian
from tests.oracles import load_expected, load_input


def cloud(n=120, d=6, r=2, noise=0.5, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, r)) @ (2 * rng.standard_normal((r, d))) + noise * rng.standard_normal((n, d)) + 7


def holed(X, share=0.2, seed=1):
    rng = np.random.default_rng(seed)
    holes = rng.random(X.shape) < share
    holes[np.arange(len(X)), rng.integers(0, X.shape[1], len(X))] = False
    return np.where(holes, np.nan, X)


def iris(name):
    return load_input(name)[0][:, :4].astype(float)


# ---- complete rows ------------------------------------------------------------------------------------------


def test_closed_form():
    X, r = cloud(), 2
    n, d = X.shape
    values, V = np.linalg.eigh(np.cov(X.T, ddof=0))
    values, V = values[::-1], V[:, ::-1]
    model = ProbabilisticPCA(r).fit(X)
    s2 = values[r:].mean()
    assert model.noise_variance_ == pytest.approx(s2, rel=1e-12)
    np.testing.assert_allclose(model.explained_variance_, values[:r], rtol=1e-10)
    np.testing.assert_allclose(np.abs(model.components_), np.abs(V[:, :r].T), atol=1e-10)
    np.testing.assert_allclose(np.linalg.eigvalsh(model.get_covariance())[::-1], [*values[:r], *[s2] * (d - r)])
    # d ln 2 pi: the notes print r ln 2 pi.
    formula = -n / 2 * (d * np.log(2 * np.pi) + np.log(values[:r]).sum() + (d - r) * np.log(s2) + d)
    assert model.log_likelihood_ == pytest.approx(formula, rel=1e-12)
    assert model.score_samples(X).sum() == pytest.approx(formula, rel=1e-12)
    assert model.score(X) == pytest.approx(formula / n, rel=1e-12)
    M = model.loadings_.T @ model.loadings_ + s2 * np.eye(r)
    Z, C = model.posterior(X)
    np.testing.assert_allclose(Z, (X - X.mean(axis=0)) @ model.loadings_ @ np.linalg.inv(M), atol=1e-10)
    np.testing.assert_allclose(C, np.broadcast_to(s2 * np.linalg.inv(M), C.shape), atol=1e-12)
    np.testing.assert_array_equal(Z, model.transform(X))
    assert model.completed_ is None


def test_likelihood_is_at_least_that_of_scikit_learn():
    X = cloud()
    ours, theirs = ProbabilisticPCA(2).fit(X).score(X), SklearnPCA(2).fit(X).score(X)
    assert theirs <= ours < theirs + 1e-3  # theirs divides by n - 1


def test_em_is_the_closed_form():
    for X in (cloud(), cloud(20, 30)):
        closed = ProbabilisticPCA(2).fit(X)
        em = ProbabilisticPCA(2, solver="em", tol=0.0, random_state=0).fit(X)
        np.testing.assert_allclose(em.loadings_, closed.loadings_, atol=2e-7)
        assert em.noise_variance_ == pytest.approx(closed.noise_variance_, rel=1e-8)
        assert em.log_likelihood_ == pytest.approx(closed.log_likelihood_, rel=1e-12)
        np.testing.assert_allclose(em.mean_, X.mean(axis=0), rtol=1e-10)
        assert (closed.solver_, em.solver_) == ("closed", "em")


def test_without_noise_the_scores_are_those_of_pca():
    """As s² goes to 0 the posterior mean becomes the projection, in units of each axis' standard deviation."""
    for noise, tolerance in ((1e-2, 1e-3), (1e-3, 1e-5)):
        X = cloud(noise=noise)
        pca = PCA(2, ddof=0).fit(X)
        whitened = pca.transform(X) / np.sqrt(pca.explained_variance_)
        np.testing.assert_allclose(ProbabilisticPCA(2).fit_transform(X), whitened, atol=tolerance)


def test_the_way_back_is_the_projection():
    """W (W'W)^-1 M undoes the shrinkage."""
    X = cloud(noise=2.0)
    model, pca = ProbabilisticPCA(2).fit(X), PCA(2).fit(X)
    back = model.inverse_transform(model.transform(X))
    np.testing.assert_allclose(back, pca.inverse_transform(pca.transform(X)), atol=1e-10)
    np.testing.assert_allclose(model.transform(back), model.transform(X), atol=1e-10)


def test_a_stream_is_the_table():
    X = cloud()
    whole, stream = ProbabilisticPCA(2).fit(X), ProbabilisticPCA(2).fit(iter([X[:50], X[50:51], X[51:]]))
    np.testing.assert_allclose(stream.loadings_, whole.loadings_, atol=1e-10)
    assert stream.log_likelihood_ == pytest.approx(whole.log_likelihood_, rel=1e-10)
    with pytest.raises(ValueError, match="every batch of X must have 6 columns; got 5"):
        ProbabilisticPCA(2).fit(iter([X, X[:, :5]]))
    with pytest.raises(ValueError, match=r"X has .* missing values .*complete rows where they come in batches"):
        ProbabilisticPCA(2).fit(iter([X, holed(X)]))
    with pytest.raises(ValueError, match="solver must be 'closed' or 'auto' for a stream"):
        ProbabilisticPCA(2, solver="em").fit(iter([X]))
    with pytest.raises(ValueError, match="at least 2 rows together"):
        ProbabilisticPCA(2).fit(iter([]))


def test_large_tables_take_the_cheaper_routes():
    """Covariance for many rows, Gram for many columns: the same model, and the noise without the whole spectrum."""
    rng = np.random.default_rng(0)
    for n, d in ((3000, 300), (300, 3000)):
        X = rng.standard_normal((n, 3)) @ rng.standard_normal((3, d)) + 0.5 * rng.standard_normal((n, d))
        model = ProbabilisticPCA(3).fit(X)
        values = np.linalg.svd(X - X.mean(axis=0), compute_uv=False) ** 2 / n
        assert model.noise_variance_ == pytest.approx(values[3:].sum() / (d - 3), rel=1e-9)
        assert model.log_likelihood_ == pytest.approx(model.score_samples(X).sum(), rel=1e-10)


def test_components_are_capped_where_no_noise_would_be_left():
    X = cloud(30, 4)
    assert ProbabilisticPCA().fit(X).n_components_ == 3
    assert ProbabilisticPCA().fit(X[:4]).n_components_ == 2
    with pytest.warns(UserWarning, match="n_components=4 leaves no noise in 30 rows of 4 columns.*keeping 3. PCA"):
        assert ProbabilisticPCA(4).fit(X).n_components_ == 3
    with pytest.raises(ValueError, match=r"at least 3 rows and 2 columns.*n_features=1"):
        ProbabilisticPCA(1).fit(X[:, :1])


def test_rows_on_a_plane():
    X = cloud(noise=0.0)
    with pytest.warns(UserWarning, match="the rows lie on a plane of 2 components"):
        model = ProbabilisticPCA(2).fit(X)
    np.testing.assert_allclose(model.inverse_transform(model.transform(X)), X, atol=1e-6)
    assert np.isfinite(model.log_likelihood_)
    with pytest.raises(ValueError, match="the rows of X must vary; all are equal"):
        ProbabilisticPCA(1).fit(np.full((5, 3), 0.1))


def test_sample():
    model = ProbabilisticPCA(2).fit(cloud())
    X = model.sample(50_000, random_state=0)
    np.testing.assert_allclose(np.cov(X.T), model.get_covariance(), atol=0.5)
    np.testing.assert_array_equal(model.sample(3, random_state=1), model.sample(3, random_state=1))
    with pytest.raises(ValueError, match="n_samples must be a whole number >= 1; got 0"):
        model.sample(0)


# ---- missing cells ------------------------------------------------------------------------------------------


def test_missing_cells_of_planted_data_come_back():
    X = cloud(300, 8, noise=0.05)
    Y = holed(X)
    holes = np.isnan(Y)
    model = ProbabilisticPCA(2, random_state=0).fit(Y)
    np.testing.assert_array_equal(model.completed_[~holes], X[~holes])  # bit for bit
    np.testing.assert_array_equal(model.completed_variance_[~holes], 0.0)
    gap = (model.completed_ - X)[holes] / np.sqrt(model.completed_variance_[holes])
    assert 0.9 < gap.std() < 1.1  # as uncertain as it says
    assert model.noise_variance_ == pytest.approx(0.05**2, rel=0.1)
    again, variance = model.complete(Y)
    np.testing.assert_array_equal(again, model.completed_)
    np.testing.assert_array_equal(variance, model.completed_variance_)
    assert model.log_likelihood_ == pytest.approx(model.score_samples(Y).sum(), rel=1e-10)


def test_noise_free_rows_are_recovered():
    X = cloud(60, 10, r=3, noise=0.0)
    with pytest.warns(UserWarning, match="lie on a plane"):
        model = ProbabilisticPCA(3, random_state=0).fit(holed(X, 0.1))
    np.testing.assert_allclose(model.completed_, X, atol=1e-4)


def test_the_maximum_does_not_depend_on_the_start():
    Y = holed(cloud(noise=1.0))
    models = [ProbabilisticPCA(2, random_state=seed, tol=0.0).fit(Y) for seed in range(3)]
    for other in models[1:]:
        np.testing.assert_allclose(other.loadings_, models[0].loadings_, atol=1e-6)
        np.testing.assert_allclose(other.completed_, models[0].completed_, atol=1e-6)


def test_a_stationary_point_of_the_likelihood():
    """Central differences of the observed likelihood, computed densely, vanish in every parameter."""
    Y = holed(cloud(60, 4, noise=1.0))
    model = ProbabilisticPCA(2, random_state=0, tol=0.0).fit(Y)

    def likelihood(mean, W, noise):
        S, total = W @ W.T + noise * np.eye(4), 0.0
        for y in Y:
            o = ~np.isnan(y)
            gap, part = y[o] - mean[o], S[np.ix_(o, o)]
            total -= 0.5 * (np.linalg.slogdet(2 * np.pi * part)[1] + gap @ np.linalg.solve(part, gap))
        return total

    at = [model.mean_, model.loadings_, np.array(model.noise_variance_)]
    assert likelihood(*at) == pytest.approx(model.log_likelihood_, rel=1e-12)
    for which, value in enumerate(at):
        for place in np.ndindex(value.shape):
            ends = []
            for step in (1e-4, -1e-4):
                moved = [np.array(v) for v in at]
                moved[which][place] += step
                ends.append(likelihood(*moved))
            assert abs(ends[0] - ends[1]) / 2e-4 < 1e-3


def test_incomplete_new_rows_are_not_pulled_in():
    """Posterior means over masks are unbiased for the complete one; filling with the mean first shrinks them."""
    X = cloud(400, 12, noise=0.3)
    model = ProbabilisticPCA(2).fit(X)
    full = model.transform(X)
    part = model.transform(holed(X, 0.4))
    slope = (part * full).sum() / (full**2).sum()
    filled = np.where(np.isnan(holed(X, 0.4)), model.mean_, X)
    shrunk = (model.transform(filled) * full).sum() / (full**2).sum()
    assert slope > 0.97
    assert shrunk < 0.75
    assert np.abs(part - full).mean() < 0.15


def test_float32_and_order():
    Y = holed(cloud()).astype(np.float32)
    model = ProbabilisticPCA(2, random_state=0).fit(Y)
    assert model.completed_.dtype == model.transform(Y).dtype == model.complete(Y)[1].dtype == np.float32
    seen = ~np.isnan(Y)
    np.testing.assert_array_equal(model.completed_[seen], Y[seen])
    wide = clone(model).fit(Y.astype(np.float64))
    np.testing.assert_allclose(model.loadings_, wide.loadings_, atol=1e-5)


def test_messages():
    Y = holed(cloud())
    with pytest.raises(ValueError, match="solver must be 'em' or 'auto' where X has missing cells; got 'closed'"):
        ProbabilisticPCA(2, solver="closed").fit(Y)
    with (
        pytest.warns(UserWarning, match="observed cells are fewer than the"),
        pytest.warns(UserWarning, match="the noise variance would be 0"),
    ):
        ProbabilisticPCA(6, random_state=0).fit(holed(cloud(10, 12), 0.5))


# ---- R ------------------------------------------------------------------------------------------------------


def test_complete_rows_of_r():
    case_id = "pcamethods_ppca_iris_complete"
    X = iris("iris")
    model = ProbabilisticPCA(2).fit(X)
    loadings = load_expected(case_id, "loadings")
    assert np.rad2deg(subspace_angles(model.components_.T, loadings)).max() < 1e-3
    Z = (X - X.mean(axis=0)) @ model.components_.T
    scores = load_expected(case_id, "scores")
    np.testing.assert_allclose(Z * np.sign((Z * scores).sum(axis=0)), scores, rtol=1e-4, atol=1e-4)


def best_likelihood(X, completed, loadings):
    """The most the reference's subspace and completed table can reach, the noise chosen in its favour."""
    C = np.linalg.qr(loadings)[0]
    values, turn = np.linalg.eigh(C.T @ np.cov(completed.T, ddof=0) @ C)

    def minus(log_noise):
        W = C @ turn * np.sqrt(np.maximum(values - np.exp(log_noise), 0.0))
        return -Gaussian(completed.mean(axis=0), W, np.exp(log_noise)).log_likelihood(X).sum()

    return -minimize_scalar(minus, bounds=(-8, 4), method="bounded").fun


@pytest.mark.parametrize("kind", ["ppca", "ppca_fixed"])
@pytest.mark.parametrize(("name", "r"), [("iris_na", 2), ("lowrank_60x10_na", 3)])
def test_the_exact_maximum_is_above_what_r_finds(kind, name, r):
    """pcaMethods sums all entries of a product where it needs the trace, and fills cells by points: not the maximum.

    Repaired ("fixed") it is still a variational scheme. Neither is imitated; both are near.
    """
    case_id = f"pcamethods_{kind}_{name}"
    X = load_input(name)[0].astype(float)
    completed = load_expected(case_id, "completed")
    model = ProbabilisticPCA(r, random_state=0).fit(X)
    assert model.log_likelihood_ > best_likelihood(X, completed, load_expected(case_id, "loadings")) + 1e-3
    gap = (model.completed_ - completed)[np.isnan(X)]
    assert np.sqrt((gap**2).mean()) < 0.1 * np.nanstd(X)


def test_scaled_columns_of_r():
    X = load_input("iris_na")[0].astype(float)
    size = np.nanstd(X, axis=0, ddof=1)
    model = ProbabilisticPCA(2, random_state=0).fit(X / size)
    expected = load_expected("pcamethods_ppca_uv_iris_na", "completed")
    np.testing.assert_allclose(model.completed_ * size, expected, rtol=0.1, atol=0.2)


def test_imputed_cells_are_nearer_to_the_truth_than_means():
    X, truth = load_input("lowrank_60x10_na")[0].astype(float), load_input("lowrank_60x10_full")[0].astype(float)
    holes = np.isnan(X)
    model = ProbabilisticPCA(3, random_state=0).fit(X)
    error = ((model.completed_ - truth)[holes] ** 2).mean()
    means = ((np.broadcast_to(np.nanmean(X, axis=0), X.shape) - truth)[holes] ** 2).mean()
    assert error < 0.25 * means


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("share", [0.0, 0.1])
@pytest.mark.parametrize("name", ["ProbabilisticPCA", "FactorAnalysis", "BayesianPCA"])
def test_draws_have_the_precision_of_the_fitted_rows(name, share, dtype, tmp_path):
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(60, 2)) @ rng.normal(size=(2, 6)) + 0.3 * rng.normal(size=(60, 6))).astype(dtype)
    X[rng.random(X.shape) < share] = np.nan
    model = getattr(lowdim, name)(2, tol=1e-5).fit(X)
    assert "_incomplete" not in vars(model)
    lowdim.save(model, tmp_path / "model.lowdim")
    for one in (model, lowdim.load(tmp_path / "model.lowdim")):
        assert one.sample(3, random_state=0).dtype == dtype

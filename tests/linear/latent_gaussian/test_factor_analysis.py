"""Factor analysis against R and scikit-learn, its identities, rotations and missing cells."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_wine
from sklearn.decomposition import FactorAnalysis as SklearnFactorAnalysis

from lowdim import FactorAnalysis, ProbabilisticPCA
from lowdim.linear.latent_gaussian._factors import _Fit
from tests.oracles import case, load_expected, load_input

heywood = pytest.mark.filterwarnings("ignore:FactorAnalysis. .*Heywood")


def planted(n=400, seed=0, d=8, r=2):
    rng = np.random.default_rng(seed)
    L = rng.standard_normal((d, r)) + np.kron(np.eye(r), np.full((d // r, 1), 1.5))
    psi = rng.uniform(0.2, 2.0, d)
    return rng.standard_normal((n, r)) @ L.T + np.sqrt(psi) * rng.standard_normal((n, d)) + 3, L, psi


def holed(X, share=0.15):
    rng = np.random.default_rng(1)
    holes = rng.random(X.shape) < share
    holes[np.arange(len(X)), rng.integers(0, X.shape[1], len(X))] = False
    return np.where(holes, np.nan, X)


def exact_rows(S, n=50, seed=0):
    """n rows whose covariance (divisor n) is S to rounding."""
    E = np.random.default_rng(seed).standard_normal((n, len(S)))
    U = np.linalg.svd(E - E.mean(axis=0), full_matrices=False)[0]
    return np.sqrt(n) * U @ np.linalg.cholesky(S).T


@heywood
def test_factanal():
    case_id = "factanal_decathlon_ml"
    tolerance = {key: case(case_id)[key] for key in ("rtol", "atol")}
    X = load_input("decathlon")[0][:, 1:11].astype(float)
    model = FactorAnalysis(3).fit(X)
    np.testing.assert_allclose(model.uniquenesses_, load_expected(case_id, "uniquenesses"), **tolerance)
    L = model.loadings_ / X.std(axis=0)[:, None]
    expected = load_expected(case_id, "loadings")
    np.testing.assert_allclose(L * np.sign((L * expected).sum(axis=0)), expected, **tolerance)
    # factanal's criterion: ln|Sigma| + tr(R / Sigma) - ln|R| - d
    size = X.std(axis=0)
    R, Sigma = np.corrcoef(X.T), model.get_covariance() / np.outer(size, size)
    found = np.linalg.slogdet(Sigma)[1] + np.trace(np.linalg.solve(Sigma, R)) - np.linalg.slogdet(R)[1] - 10
    assert found == pytest.approx(case(case_id)["scalars"]["criterion"], abs=1e-7)


def test_heywood_cases_are_held_and_said():
    X = load_input("decathlon")[0][:, 1:11].astype(float)
    with pytest.warns(UserWarning, match="1 of 10 columns have no noise left.*Heywood.*noise_floor=0.005"):
        model = FactorAnalysis(3).fit(X)
    assert model.uniquenesses_.min() == pytest.approx(0.005, rel=1e-3)


@heywood
@pytest.mark.filterwarnings("ignore:FactorAnalysis did not converge")
@pytest.mark.parametrize("solver", ["newton", "em"])
@pytest.mark.parametrize(("data", "r"), [(load_wine, 3), (load_diabetes, 3)])
def test_likelihood_is_at_least_that_of_scikit_learn(solver, data, r):
    X = data().data
    X = X / X.std(axis=0)
    model = FactorAnalysis(r, solver=solver, noise_floor=1e-6).fit(X)
    theirs = SklearnFactorAnalysis(r, svd_method="lapack", tol=1e-6, max_iter=3000).fit(X)
    assert model.score(X) >= theirs.score(X) - 1e-6
    assert model.log_likelihood_ == pytest.approx(model.score_samples(X).sum(), rel=1e-8)


def test_newton_and_em_agree():
    X, _, _ = planted()
    newton, em = FactorAnalysis(2).fit(X), FactorAnalysis(2, solver="em", tol=0.0, random_state=0).fit(X)
    assert newton.n_iter_ < 15
    np.testing.assert_allclose(em.noise_variance_, newton.noise_variance_, rtol=1e-6)
    np.testing.assert_allclose(em.loadings_, newton.loadings_, atol=1e-6)
    assert em.log_likelihood_ == pytest.approx(newton.log_likelihood_, rel=1e-12)
    np.testing.assert_allclose(em.transform(X[:5]), newton.transform(X[:5]), atol=1e-6)


def test_planted_parameters_are_found():
    X, L, psi = planted(20_000)
    model = FactorAnalysis(2).fit(X)
    np.testing.assert_allclose(model.noise_variance_, psi, rtol=0.1)
    np.testing.assert_allclose(model.loadings_ @ model.loadings_.T, L @ L.T, atol=0.3)


def test_equal_noise_is_probabilistic_pca():
    """Rows whose covariance is exactly W W' + s² I: both models are true, and equal."""
    W = np.random.default_rng(3).standard_normal((7, 2))
    X = exact_rows(W @ W.T + 0.3 * np.eye(7))
    factors, ppca = FactorAnalysis(2).fit(X), ProbabilisticPCA(2).fit(X)
    np.testing.assert_allclose(factors.noise_variance_, ppca.noise_variance_, rtol=1e-6)
    np.testing.assert_allclose(factors.get_covariance(), ppca.get_covariance(), atol=1e-6)
    assert factors.log_likelihood_ == pytest.approx(ppca.log_likelihood_, rel=1e-10)
    # Scores of the two differ by a rotation at most.
    np.testing.assert_allclose(
        np.linalg.norm(factors.transform(X), axis=1), np.linalg.norm(ppca.transform(X), axis=1), atol=1e-5
    )


def test_units_do_not_matter():
    X, _, _ = planted()
    units = 10.0 ** np.arange(-3, 5)
    for rotation in (None, "varimax", "promax"):
        plain, scaled = (FactorAnalysis(2, rotation=rotation).fit(Y) for Y in (X, X * units))
        np.testing.assert_allclose(scaled.uniquenesses_, plain.uniquenesses_, rtol=1e-6)
        np.testing.assert_allclose(scaled.transform(X * units), plain.transform(X), atol=1e-6)
    Y = holed(X)
    plain, scaled = (FactorAnalysis(2, tol=1e-12, random_state=0).fit(Y) for Y in (Y, Y * units))
    np.testing.assert_allclose(scaled.uniquenesses_, plain.uniquenesses_, rtol=1e-4)


def test_derivatives():
    R = np.corrcoef(planted()[0].T)

    def at(x):
        scale = np.exp(-0.5 * x)
        values, vectors = np.linalg.eigh(scale[:, None] * R * scale)
        return _Fit(x, values[::-1], vectors[:, ::-1], 2)

    x = np.log(np.random.default_rng(0).uniform(0.2, 0.9, 8))
    steps = 1e-5 * np.eye(8)
    gradient = [(at(x + h).loss - at(x - h).loss) * 16 / 2e-5 for h in steps]
    hessian = [(at(x + h).gradient - at(x - h).gradient) / 2e-5 for h in steps]
    np.testing.assert_allclose(at(x).gradient, gradient, atol=1e-7)
    np.testing.assert_allclose(at(x).hessian, hessian, atol=1e-7)


@pytest.mark.parametrize("rotation", [None, "varimax", "promax"])
def test_a_rotation_changes_the_factors_and_not_the_model(rotation):
    X, _, _ = planted()
    plain, model = FactorAnalysis(2).fit(X), FactorAnalysis(2, rotation=rotation).fit(X)
    np.testing.assert_allclose(model.get_covariance(), plain.get_covariance(), atol=1e-10)
    np.testing.assert_allclose(
        model.loadings_ @ model.factor_correlation_ @ model.loadings_.T, plain.loadings_ @ plain.loadings_.T, atol=1e-10
    )
    np.testing.assert_allclose(np.diag(model.factor_correlation_), 1.0)
    # Regression scores: Phi L' Sigma^-1 (x - mean); their posterior covariance: Phi - Phi L' Sigma^-1 L Phi.
    Phi, L = model.factor_correlation_, model.loadings_
    to_scores = Phi @ L.T @ np.linalg.inv(model.get_covariance())
    Z, C = model.posterior(X)
    np.testing.assert_allclose(Z, (X - X.mean(axis=0)) @ to_scores.T, atol=1e-10)
    np.testing.assert_allclose(C[0], Phi - to_scores @ L @ Phi, atol=1e-10)
    np.testing.assert_allclose(model.transform(X), Z, atol=1e-12)
    back = model.inverse_transform(Z)
    np.testing.assert_allclose(back, plain.inverse_transform(plain.transform(X)), atol=1e-9)
    np.testing.assert_allclose(model.transform(back), Z, atol=1e-9)
    if rotation == "promax":
        assert abs(Phi[0, 1]) > 1e-3
    else:
        np.testing.assert_allclose(Phi, np.eye(2), atol=1e-10)


def test_missing_cells():
    X, _, psi = planted(2000)
    Y = holed(X)
    holes = np.isnan(Y)
    model = FactorAnalysis(2, random_state=0).fit(Y)
    np.testing.assert_array_equal(model.completed_[~holes], X[~holes])
    gap = (model.completed_ - X)[holes] / np.sqrt(model.completed_variance_[holes])
    assert 0.95 < gap.std() < 1.05
    np.testing.assert_allclose(model.noise_variance_, psi, rtol=0.25)
    full = FactorAnalysis(2).fit(X)
    assert full.score(X) - 0.05 < model.score(X) < full.score(X)
    with pytest.raises(ValueError, match="solver must be 'em' or 'auto' where X has missing cells; got 'newton'"):
        FactorAnalysis(2, solver="newton").fit(Y)


def test_a_stream_is_the_table():
    X, _, _ = planted()
    stream, whole = FactorAnalysis(2).fit(iter([X[:100], X[100:]])), FactorAnalysis(2).fit(X)
    np.testing.assert_allclose(stream.loadings_, whole.loadings_, atol=1e-8)
    with pytest.raises(ValueError, match="solver must be 'newton' or 'auto' for a stream"):
        FactorAnalysis(2, solver="em").fit(iter([X]))


def test_a_constant_column_gets_no_loading():
    X, _, _ = planted()
    X[:, 3] = 4.0
    for solver in ("newton", "em"):
        model = FactorAnalysis(2, solver=solver, random_state=0).fit(X)
        assert np.abs(model.loadings_[3]).max() < 1e-3
        assert model.noise_variance_[3] < 1e-5
        assert np.isfinite(model.transform(X)).all()


@heywood
def test_more_columns_than_rows():
    X, _, _ = planted(12, d=30)
    model = FactorAnalysis(2).fit(X)
    assert np.isfinite(model.log_likelihood_)
    assert (model.uniquenesses_ >= 0.005 - 1e-9).all()


def test_quartimax_and_precision_are_those_of_scikit_learn():
    X = load_wine().data
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    ours = FactorAnalysis(3, rotation="quartimax", tol=1e-12).fit(X)
    theirs = SklearnFactorAnalysis(3, rotation="quartimax", svd_method="lapack", tol=1e-8, max_iter=5000).fit(X)
    alike = np.abs(ours.loadings_.T @ theirs.components_.T).argmax(axis=1)
    assert sorted(alike) == [0, 1, 2]
    matched = theirs.components_[alike].T
    np.testing.assert_allclose(np.abs(ours.loadings_), np.abs(matched), atol=2e-3)
    np.testing.assert_allclose(ours.get_precision(), theirs.get_precision(), atol=1e-3)
    np.testing.assert_allclose(ours.get_precision() @ ours.get_covariance(), np.eye(13), atol=1e-9)

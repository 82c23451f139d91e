"""Bayesian PCA: how many components it keeps, Oba's version against R, missing cells."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from lowdim import BayesianPCA, ProbabilisticPCA, config
from lowdim._core.incomplete.em import fit_gaussian
from lowdim.linear.latent_gaussian import _bayesian
from lowdim.linear.latent_gaussian._priors import ard_closed, ard_em
from tests.oracles import case, load_expected, load_input


def planted(n, d, r, noise=0.4, seed=0):
    rng = np.random.default_rng(seed)
    return 1.5 * rng.standard_normal((n, r)) @ rng.standard_normal((r, d)) + noise * rng.standard_normal((n, d)) - 2


def holed(X, share=0.15):
    rng = np.random.default_rng(1)
    holes = rng.random(X.shape) < share
    holes[np.arange(len(X)), rng.integers(0, X.shape[1], len(X))] = False
    return np.where(holes, np.nan, X)


shapes = pytest.mark.parametrize(("n", "d", "r"), [(200, 10, 3), (60, 20, 4), (500, 30, 2), (40, 60, 3), (100, 5, 1)])


@shapes
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_planted_number_of_components_is_found(n, d, r, seed):
    X = planted(n, d, r, seed=seed)
    model = BayesianPCA().fit(X)
    assert model.n_components_ == r
    assert model.components_.shape == (r, d)
    assert len(model.relevance_) == min(n - 1, d) - 1
    assert (model.relevance_[:r] > 1).all()
    np.testing.assert_array_equal(model.relevance_[r:], 0.0)


@shapes
def test_a_planted_number_of_components_is_found_with_holes(n, d, r):
    X = planted(n, d, r)
    Y = holed(X)
    model = BayesianPCA(min(n - 2, d - 1, 12), random_state=0).fit(Y)
    assert model.n_components_ == r
    assert model.converged_
    holes = np.isnan(Y)
    np.testing.assert_array_equal(model.completed_[~holes], X[~holes])
    gap = (model.completed_ - X)[holes] / np.sqrt(model.completed_variance_[holes])
    assert 0.8 < gap.std() < 1.3
    assert model.log_likelihood_ == pytest.approx(model.score_samples(Y).sum())


@pytest.mark.parametrize("r", [2, 14])
def test_few_columns_are_tried_first_and_more_where_they_are_kept(r, monkeypatch):
    """A step with all of 39 columns costs a hundred times one with three."""
    tried = []
    fit = lambda X, q, **rest: tried.append(q) or fit_gaussian(X, q, **rest)  # noqa: E731
    monkeypatch.setattr(_bayesian, "fit_gaussian", fit)
    model = BayesianPCA(random_state=0).fit(holed(planted(300, 40, r), 0.05))
    assert model.n_components_ == r
    assert tried == ([16] if r == 2 else [16, 32])


def test_steps_that_do_not_suffice_are_said_as_they_were_asked_for():
    Y = holed(planted(60, 12, 2))
    with pytest.warns(ConvergenceWarning, match=r"BayesianPCA: not converged after max_iter=4 steps"):
        model = BayesianPCA(8, prior="oba", max_iter=4, tol=1e-12, random_state=0).fit(Y)
    assert model.n_iter_ == 4
    assert not model.converged_


def test_the_closed_form_is_the_fixed_point_of_em():
    X = planted(60, 20, 4)
    values = np.linalg.eigvalsh(np.cov(X.T, ddof=0))[::-1]
    choice = ard_closed(values, float(values.sum()), 60, 20, 12)
    start, _ = fit_gaussian(X, 12, rng=np.random.default_rng(0), tol=1e-4)
    model, run = ard_em(X, start, float(X.std()), tol=0.0, max_iter=2000, owner="test")
    assert model.rank == len(choice.variances) == 4
    assert model.noise == pytest.approx(choice.noise, rel=1e-7)
    squares = np.sort((model.loadings**2).sum(axis=0))[::-1]
    np.testing.assert_allclose(squares, choice.variances - choice.noise, rtol=1e-5)
    assert (np.diff(run.losses) <= 1e-12).all()
    # alpha = d / ||w||² makes each column stationary: n (lambda - c)(c - s²) = d c²
    c = choice.variances
    np.testing.assert_allclose(60 * (values[:4] - c) * (c - choice.noise), 20 * c**2, rtol=1e-9)


def test_many_rows_make_the_prior_vanish():
    """alpha stays while the data grows: the model becomes that of ProbabilisticPCA."""
    gaps = []
    for n in (100, 1000, 10_000):
        X = planted(n, 6, 2)
        bayes, ppca = BayesianPCA().fit(X), ProbabilisticPCA(2).fit(X)
        gaps.append(np.abs(bayes.get_covariance() - ppca.get_covariance()).max())
        np.testing.assert_allclose(bayes.components_, ppca.components_, atol=1e-8)
    assert gaps[0] > 5 * gaps[1] > 25 * gaps[2]


def test_pure_noise_says_so():
    X = np.random.default_rng(0).standard_normal((300, 6))
    with pytest.warns(UserWarning, match="no component has a variance above the noise"):
        model = BayesianPCA().fit(X)
    assert model.n_components_ == 1
    np.testing.assert_array_equal(model.transform(X), 0.0)
    assert np.isfinite(model.score(X))
    with pytest.warns(UserWarning, match="no component has a variance above the noise"):
        assert BayesianPCA(random_state=0).fit(holed(X)).n_components_ == 1


@pytest.mark.parametrize(("n", "d", "r"), [(50, 2000, 5), (30, 900, 14), (60, 61, 4)])
def test_few_rows_of_many_columns_are_pruned(n, d, r):
    """Almost n columns of W leave next to no noise, above which everything is; their degrees of freedom count."""
    assert BayesianPCA().fit(planted(n, d, r)).n_components_ == r
    with pytest.warns(UserWarning, match="no component has a variance above the noise"):
        assert BayesianPCA().fit(planted(n, d, 0)).n_components_ == 1


def test_memory_is_that_of_the_way_taken():
    """Complete rows have a closed form; with holes few columns are tried first, and the memory of more is asked for."""
    for model in (BayesianPCA(), ProbabilisticPCA()):
        assert model.estimate_memory((249, 6982)) < 3e8
        assert model.estimate_memory((3000, 2000)) < 1e9
    X = planted(120, 60, 20)
    Y = holed(X, 0.05)
    few = BayesianPCA(random_state=0).estimate_memory(Y)
    assert few > BayesianPCA().estimate_memory(X[:, :8])
    with config(memory_limit=int(1.1 * few)), pytest.raises(MemoryError, match=r"BayesianPCA: .*Set n_components=1\d"):
        BayesianPCA(random_state=0).fit(Y)


@pytest.mark.parametrize("scale", [2.0**-400, 2.0**-300, 2.0**270, 2.0**400])
def test_the_unit_does_not_matter(scale):
    """Variances of 1e160 have squares beyond the range of numbers."""
    X = planted(80, 8, 3)
    for rows in (X, holed(X)):
        one, other = (BayesianPCA(random_state=0).fit(factor * rows) for factor in (1.0, scale))
        assert other.n_components_ == one.n_components_ == 3
        assert other.noise_variance_ / scale / scale == pytest.approx(one.noise_variance_, rel=1e-9)
        np.testing.assert_allclose(other.transform(scale * rows), one.transform(rows), atol=1e-6)


# ---- Oba ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "r"), [("iris_na", 2), ("lowrank_60x10_na", 3)])
def test_bpca_of_r(name, r):
    """`completed` is what compares: R's loadings are not normalised."""
    X = load_input(name)[0].astype(float)
    model = BayesianPCA(r, prior="oba", random_state=0).fit(X)
    expected = load_expected(f"pcamethods_bpca_{name}", "completed")
    np.testing.assert_allclose(model.completed_, expected, atol=1e-5)  # R stopped after 20,000 steps
    assert model.n_iter_ < 200
    early = case(f"pcamethods_bpca_default_{name}")
    expected = load_expected(early["id"], "completed")
    np.testing.assert_allclose(model.completed_, expected, rtol=early["rtol"], atol=early["atol"])
    np.testing.assert_allclose(model.mean_, np.nanmean(X, axis=0), rtol=1e-12)


def test_oba_beats_means_and_nears_ppca():
    X = planted(400, 10, 2)
    Y = holed(X, 0.1)
    holes = np.isnan(Y)
    oba, ppca = BayesianPCA(2, prior="oba", random_state=0).fit(Y), ProbabilisticPCA(2, random_state=0).fit(Y)
    error = ((oba.completed_ - X)[holes] ** 2).mean()
    assert error < 0.2 * ((np.broadcast_to(np.nanmean(Y, axis=0), Y.shape) - X)[holes] ** 2).mean()
    np.testing.assert_allclose(oba.completed_, ppca.completed_, atol=0.1)
    assert oba.noise_variance_ == pytest.approx(ppca.noise_variance_, rel=0.02)


def test_oba_leaves_out_columns_it_does_not_need():
    X = planted(200, 10, 3)
    model = BayesianPCA(9, prior="oba", random_state=0).fit(X)
    assert model.n_components_ == 3
    assert model.converged_


@pytest.mark.parametrize(("n", "d", "r"), [(300, 12, 4), (200, 40, 5), (300, 40, 12)])
def test_oba_settles_in_few_steps(n, d, r):
    """The updates alone need hundreds, and with many columns most of them cost more than the answer."""
    X = planted(n, d, r, noise=1.0)
    model = BayesianPCA(prior="oba", random_state=0).fit(holed(X, 0.2))
    assert model.converged_
    assert model.n_iter_ < 60
    assert model.n_components_ == r
    assert len(model.relevance_) == d - 1


@pytest.mark.parametrize("prior", ["ard", "oba"])
def test_units_do_not_matter(prior):
    Y = holed(planted(100, 6, 2))
    plain = BayesianPCA(3, prior=prior, random_state=0).fit(Y)
    for unit in (1e-30, 1e30):
        scaled = BayesianPCA(3, prior=prior, random_state=0).fit(unit * Y)
        np.testing.assert_allclose(scaled.completed_ / unit, plain.completed_, rtol=1e-4, atol=1e-4)
        assert scaled.n_components_ == plain.n_components_


@pytest.mark.parametrize("prior", ["ard", "oba"])
def test_sample_and_score(prior):
    X = planted(300, 6, 2)
    model = BayesianPCA(prior=prior, random_state=0).fit(X)
    drawn = model.sample(50_000, random_state=0)
    np.testing.assert_allclose(np.cov(drawn.T), model.get_covariance(), atol=0.3)
    assert model.score(X) > model.score(X + 3)
    np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(model.n_components_), atol=1e-10)


def few_cells(seed):
    """Five components and noise in 40 rows of 9 columns, of which 40 % of the cells are missing."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=(40, 5)) * [4, 2, 1.5, 1, 1] @ rng.normal(size=(5, 9)) + 0.7 * rng.normal(size=(40, 9))
    return holed(truth, 0.4), truth


def test_noise_that_collapses_is_put_to_the_test():
    """The likeliest model of few cells fits them exactly; one whose loadings are not known for sure predicts better."""
    X, truth = few_cells(5)
    with pytest.warns(UserWarning, match="too few observed cells to tell noise from structure"):
        model = BayesianPCA(random_state=0, tol=1e-7).fit(X)
    assert model.noise_variance_ > 0.1
    means = np.where(np.isnan(X), np.nanmean(X, axis=0), X)
    assert np.square(model.completed_ - truth).sum() < 0.5 * np.square(means - truth).sum()


def test_noise_that_predicts_well_is_kept():
    X, _ = few_cells(6)
    assert BayesianPCA(random_state=0, tol=1e-7).fit(X).noise_variance_ < 1.0


@pytest.mark.parametrize("prior", ["ard", "oba"])
def test_a_row_known_by_an_extreme_cell_is_not_extrapolated_without_measure(prior):
    X = np.random.default_rng(0).standard_normal((60, 1)) @ np.ones((1, 6))
    X += 0.3 * np.random.default_rng(1).standard_normal(X.shape)
    X[0] = [12.0, *[np.nan] * 5]
    low, high = np.nanmin(X, axis=0), np.nanmax(X, axis=0)
    free = BayesianPCA(prior=prior, reach=None, random_state=0).fit(X)
    assert (free.completed_[0, 1:] > (high + (high - low))[1:]).all()
    with pytest.warns(UserWarning, match=r"BayesianPCA: the model would fill 5 of 5 missing cells .*reach=None"):
        bound = BayesianPCA(prior=prior, random_state=0).fit(X)
    np.testing.assert_allclose(bound.completed_[0, 1:], (high + 0.5 * (high - low))[1:])
    np.testing.assert_array_equal(bound.loadings_, free.loadings_)


@pytest.mark.parametrize("prior", ["ard", "oba"])
def test_callbacks_see_the_loadings_and_stop(prior):
    Y, seen = holed(planted(60, 12, 2)), []

    def watch(step, loss, loadings):
        seen.append((step, loadings))
        return step == 3

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = BayesianPCA(4, prior=prior, tol=1e-13, random_state=0, callback=watch).fit(Y)
    assert [step for step, _ in seen] == [1, 2, 3]
    assert all(len(loadings) == 12 for _, loadings in seen)
    assert not model.converged_
    r = model.n_components_
    np.testing.assert_allclose(model.loadings_, seen[-1][1][:, :r], rtol=1e-9)


def test_long_fits_are_announced_before_they_begin(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((90, 16)) @ rng.standard_normal((16, 40)) + 1e-2 * rng.standard_normal((90, 40))
    X[rng.random(X.shape) < 0.05] = np.nan
    monkeypatch.setattr(_bayesian, "LONG", 1e-3)
    monkeypatch.setattr(_bayesian, "_few_cells", lambda X, rank: True)  # the cautious model is asked too
    with pytest.warns(UserWarning, match="BayesianPCA: ") as heard:
        BayesianPCA(tol=1e-3, random_state=0).fit(X)
    said = [str(one.message) for one in heard]
    assert sum("s of processor time. Set n_components to bound them" in text for text in said) == len(set(said)) == 1
    settings = _bayesian.Settings(1e-9, 10, 0, 1)
    monkeypatch.setattr(_bayesian, "LONG", 30.0)
    _bayesian._announce((606, 98), 40, settings)  # 8 s: nothing is said
    with pytest.warns(UserWarning, match="97 columns of loadings on 606 incomplete rows"):
        _bayesian._announce((606, 98), 97, settings)

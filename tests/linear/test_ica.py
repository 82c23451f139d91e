"""ICA against R's fastICA, the sources that were mixed, its identities, and its own doubts."""

import warnings

import numpy as np
import pytest
from benchmarks.cases.ica import amari
from scipy import stats
from sklearn.decomposition import FastICA
from sklearn.exceptions import ConvergenceWarning

import lowdim
from lowdim import ICA
from lowdim.linear._contrast import CONTRASTS, gaussian
from lowdim.linear._fastica_infomax import Limits, infomax, likelihood, parallel, rotation
from lowdim.linear._whitened import White, whiten
from tests.oracles import case, load_expected, load_input

WAYS = {
    "fastica": {},
    "deflation": {"mode": "deflation"},
    "exp": {"fun": "exp"},
    "cube": {"fun": "cube"},
    "infomax": {"algorithm": "infomax"},
    "uncorrelated": {"algorithm": "infomax", "uncorrelated": True},
}
ways = pytest.mark.parametrize("way", WAYS)


def sources(n=5000, kinds=("laplace", "uniform"), seed=0):
    rng = np.random.default_rng(seed)
    draw = {
        "laplace": rng.laplace,
        "uniform": lambda size: rng.uniform(-1, 1, size),
        "gaussian": rng.standard_normal,
        "exponential": rng.exponential,
        "bits": lambda size: rng.choice([-1.0, 1.0], size),
        "cubed": lambda size: rng.standard_normal(size) ** 3,
    }
    return np.column_stack([draw[kind](size=n) for kind in kinds])


def mixed(n=5000, kinds=("laplace", "uniform"), seed=0, d=None):
    """Sources, their mixing matrix (d x k), and the rows with a mean."""
    S = sources(n, kinds, seed)
    A = np.random.default_rng(seed + 100).standard_normal((d or len(kinds), len(kinds)))
    return S, A, S @ A.T + 7.0


def matched(expected, S):
    """Columns of S in the order and with the signs of `expected`, by correlation."""
    C = np.corrcoef(expected.T, S.T)[: expected.shape[1], expected.shape[1] :]
    order = np.abs(C).argmax(axis=1)
    assert len(set(order)) == len(order)
    return S[:, order] * np.sign(C[np.arange(len(order)), order])


# ---- R ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["parallel", "deflation"])
def test_r_fastica(mode):
    """The package whitens with divisor n, as we do; its tol of 1e-10 on |1 - cos| is an angle of 1.4e-5."""
    name = f"ica_fastica_{mode}_logcosh"
    spec, X = case(name), load_input("ica_mixed")[0]
    model = ICA(3, mode=mode, tol=1e-7, max_iter=1000, init=load_input("ica_winit")[0]).fit(X)
    S, A = load_expected(name, "S"), load_expected(name, "A")
    close = {"rtol": spec["rtol"], "atol": spec["atol"]}
    np.testing.assert_allclose(matched(S, model.sources_), S, **close)
    C = np.corrcoef(S.T, model.sources_.T)[:3, 3:]
    order = np.abs(C).argmax(axis=1)
    np.testing.assert_allclose(model.mixing_.T[order] * np.sign(C[range(3), order])[:, None], A, **close)
    assert model.converged_


def test_sklearn_at_the_same_tolerance():
    _, _, X = mixed(2000, ("laplace", "uniform", "exponential"))
    theirs = FastICA(3, tol=1e-12, max_iter=1000, random_state=0, whiten="unit-variance").fit_transform(X)
    ours = ICA(tol=1e-7, random_state=0).fit_transform(X)
    np.testing.assert_allclose(matched(theirs, ours), theirs, atol=1e-5)


# ---- the sources that were mixed ----------------------------------------------------------------------------


@ways
def test_laplace_and_uniform_are_recovered(way):
    _, A, X = mixed()
    model = ICA(random_state=0, **WAYS[way]).fit(X)
    assert amari(model.components_ @ A) < 0.05
    assert model.converged_
    assert not model.gaussian_.any()


def test_it_takes_few_steps():
    """FastICA by its own steps, infomax by a curvature that fits, both mostly on some of the rows if there are many."""
    _, _, X = mixed(60_000, ("laplace", "uniform", "exponential", "bits"), seed=2)
    few = X[:4000]
    assert ICA(random_state=0).fit(few).n_iter_ < 15
    assert ICA(algorithm="infomax", random_state=0).fit(few).n_iter_ < 25
    assert ICA(random_state=0).fit(X).n_iter_ <= 4
    assert ICA(algorithm="infomax", random_state=0).fit(X).n_iter_ <= 7


@ways
def test_peaked_flat_and_skewed_sources_together(way):
    _, A, X = mixed(8000, ("laplace", "uniform", "bits", "cubed", "exponential"), seed=3)
    model = ICA(random_state=0, **WAYS[way]).fit(X)
    assert amari(model.components_ @ A) < (0.05 if way != "cube" else 0.15)  # kurtosis is moved by single rows


def test_sources_of_both_kinds_are_told_apart():
    """Extended infomax: with one density for all, flat sources would not be found."""
    _, A, X = mixed(5000, ("laplace", "laplace", "uniform", "uniform"), seed=1)
    white = whiten(X, 4, 1, np.random.default_rng(0))
    W = infomax(white.white, np.eye(4), Limits(1e-6, 200), uncorrelated=False).W
    point = likelihood(W, white.white.averages(W, CONTRASTS["logcosh"]))
    kinds = point.wanted[np.abs(W @ white.matrix @ A).argmax(axis=0)]
    np.testing.assert_array_equal(kinds, [1, 1, -1, -1])
    np.testing.assert_allclose(point.gradient, 0, atol=1e-5)


def test_fewer_sources_than_columns():
    _, A, X = mixed(4000, ("laplace", "uniform"), d=6)
    X = X + 1e-3 * np.random.default_rng(1).standard_normal(X.shape)
    model = ICA(2, random_state=0).fit(X)
    assert amari(model.components_ @ A) < 0.05
    np.testing.assert_allclose(np.abs(np.corrcoef(model.mixing_.T, A.T)[:2, 2:]).max(axis=1), 1, atol=1e-3)


def test_skewness_finds_what_kurtosis_cannot():
    """Two sources with the fourth moment of a Gaussian: only their third one gives them away."""
    rng = np.random.default_rng(0)
    share = 0.5 * (1 - 1 / np.sqrt(3))  # a two-valued variable with this share has excess kurtosis 0 and is skewed
    S = stats.zscore((rng.random((6000, 2)) < share).astype(float)) + 0.3 * rng.standard_normal((6000, 2))
    A = np.array([[1.0, 0.6], [0.3, 1.0]])
    assert abs(stats.kurtosis(S)).max() < 0.1
    assert amari(ICA(fun="skew", random_state=0).fit(S @ A.T).components_ @ A) < 0.03
    with pytest.warns(UserWarning, match="2 of 2 sources cannot be distinguished"):
        ICA(fun="cube", random_state=0).fit(S @ A.T)


def test_one_direction_of_interest_first():
    """Projection pursuit: deflation with the central-mass index finds the two clusters among Gaussian noise."""
    rng = np.random.default_rng(2)
    X = rng.standard_normal((1500, 6))
    X[:, 2] = 0.3 * X[:, 2] + rng.choice([-2.0, 2.0], 1500)
    with pytest.warns(UserWarning, match="5 of 6 sources cannot be distinguished"):
        model = ICA(mode="deflation", fun="exp", random_state=0).fit(X @ rng.standard_normal((6, 6)))
    assert abs(np.corrcoef(model.sources_[:, 0], X[:, 2])[0, 1]) > 0.99
    np.testing.assert_array_equal(model.gaussian_, [False, True, True, True, True, True])


def test_a_function_of_ones_own():
    _, _, X = mixed()

    def tanh(y):
        return np.tanh(y), 1 - np.tanh(y) ** 2

    own, named = ICA(fun=tanh, tol=1e-9, random_state=0).fit(X), ICA(tol=1e-9, random_state=0).fit(X)
    np.testing.assert_allclose(own.components_, named.components_, atol=1e-8)
    for mode in ("parallel", "deflation"):

        def averaged(y):  # what scikit-learn asks for
            return np.tanh(y), (1 - np.tanh(y) ** 2).mean(axis=-1)

        one, other = (ICA(fun=fun, mode=mode, tol=1e-9, random_state=0).fit(X) for fun in (tanh, averaged))
        np.testing.assert_allclose(one.components_, other.components_, atol=1e-10)
    for bad, match in (
        (lambda y: np.tanh(y), "two arrays"),
        (lambda y: (np.tanh(y), 1.0), "in the same shape or its mean"),
        (lambda y: (y * np.nan, y), "finite numbers"),
    ):
        with pytest.raises(ValueError, match=match):
            ICA(fun=bad, random_state=0).fit(X)


# ---- identities ---------------------------------------------------------------------------------------------


@ways
def test_sources_have_mean_zero_and_variance_one(way):
    _, _, X = mixed(3000, ("laplace", "uniform", "exponential"))
    model = ICA(random_state=0, **WAYS[way]).fit(X)
    C = model.sources_.T @ model.sources_ / len(X)
    np.testing.assert_allclose(model.sources_.mean(axis=0), 0, atol=1e-10)
    np.testing.assert_allclose(np.diag(C), 1, atol=1e-10)
    if way != "infomax":
        np.testing.assert_allclose(C, np.eye(3), atol=1e-9)
    np.testing.assert_allclose(model.transform(X), model.sources_, atol=1e-10)


@ways
def test_the_way_back_is_exact_with_all_components(way):
    _, _, X = mixed(1000, ("laplace", "uniform", "exponential"))
    model = ICA(random_state=0, **WAYS[way]).fit(X)
    np.testing.assert_allclose(model.inverse_transform(model.sources_), X, atol=1e-10)
    np.testing.assert_allclose(model.components_ @ model.mixing_, np.eye(3), atol=1e-12)


def test_with_fewer_components_the_way_back_is_that_of_pca():
    _, _, X = mixed(1000, ("laplace", "uniform", "exponential", "bits"))
    pca, model = lowdim.PCA(2).fit(X), ICA(2, random_state=0).fit(X)
    expected = pca.inverse_transform(pca.transform(X))
    np.testing.assert_allclose(model.inverse_transform(model.transform(X)), expected, atol=1e-9)


@pytest.mark.parametrize("way", ["fastica", "deflation", "uncorrelated"])
def test_w_is_orthogonal_in_whitened_space(way):
    _, _, X = mixed(2000, ("laplace", "uniform", "exponential"))
    model = ICA(random_state=0, **WAYS[way]).fit(X)
    C = np.cov(X.T, ddof=0)
    np.testing.assert_allclose(model.components_ @ C @ model.components_.T, np.eye(3), atol=1e-9)


def test_infomax_with_uncorrelated_sources_is_fastica():
    """Both stop where E[g(y) y'] is symmetric."""
    _, _, X = mixed(3000, ("laplace", "uniform", "exponential", "bits"))
    one = ICA(tol=1e-9, random_state=0).fit(X)
    two = ICA(algorithm="infomax", uncorrelated=True, tol=1e-9, random_state=1).fit(X)
    np.testing.assert_allclose(two.components_, one.components_, atol=1e-7)
    np.testing.assert_allclose(two.non_gaussianity_, one.non_gaussianity_, rtol=1e-6)


def test_infomax_agrees_with_fastica_on_well_posed_data():
    _, A, X = mixed(20_000, ("laplace", "uniform", "exponential"))
    one = ICA(random_state=0).fit(X)
    two = ICA(algorithm="infomax", random_state=0).fit(X)
    assert amari(one.components_ @ two.mixing_) < 0.01
    assert amari(two.components_ @ A) < 0.02


def test_fixed_points_are_stationary():
    """The returned W solves the equations of both methods, whatever steps led there."""
    _, _, X = mixed(2000, ("laplace", "uniform", "exponential"))
    white = whiten(X, 3, 1, np.random.default_rng(0)).white
    for name, contrast in CONTRASTS.items():
        W = parallel(white, np.eye(3), contrast, Limits(1e-8, 500)).W
        Z = np.concatenate(white.blocks, axis=1)
        Y = W @ Z
        cross = derivative(contrast.value)(Y) @ Y.T / white.n
        np.testing.assert_allclose(np.abs(cross), np.abs(cross.T), atol=1e-6, err_msg=name)


def derivative(G):
    return lambda y: (G(y + 1e-5) - G(y - 1e-5)) / 2e-5


@pytest.mark.parametrize("name", CONTRASTS)
def test_contrasts_are_what_they_say(name):
    """g and the mean of g' are the derivatives of G, by differences."""
    G, Y = CONTRASTS[name].value, np.random.default_rng(0).standard_normal((2, 300))
    g = Y.copy()
    slope, value = CONTRASTS[name].sums(g)
    np.testing.assert_allclose(g, derivative(G)(Y), atol=1e-8)
    np.testing.assert_allclose(slope, ((G(Y + 1e-4) - 2 * G(Y) + G(Y - 1e-4)) / 1e-8).sum(axis=1), atol=1e-4)
    np.testing.assert_allclose(value, G(Y).sum(axis=1))


@pytest.mark.parametrize("model", [likelihood, rotation])
def test_the_gradient_of_the_likelihood(model):
    """By differences, along a random direction."""
    _, _, X = mixed(500, ("laplace", "uniform", "exponential"))
    white = whiten(X, 3, 1, np.random.default_rng(0)).white
    rng = np.random.default_rng(5)
    W = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    E = rng.standard_normal((3, 3))
    E = E - E.T if model is rotation else E
    kinds = np.array([1.0, -1.0, 1.0])

    def at(W):
        return model(W, white.averages(W, CONTRASTS["logcosh"]), kinds)

    here, h = at(W), 1e-5
    slope = (at(here.moved(h * E)).loss - at(here.moved(-h * E)).loss) / (2 * h)
    assert np.vdot(here.gradient, E) == pytest.approx(slope, abs=1e-8)


# ---- honesty ------------------------------------------------------------------------------------------------


@ways
@pytest.mark.parametrize("k", [2, 6])
def test_gaussian_rows_are_called_gaussian(way, k):
    X = np.random.default_rng(k).standard_normal((1500, k))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = ICA(random_state=0, **WAYS[way]).fit(X)
    assert model.gaussian_.all()
    assert any(f"{k} of {k} sources cannot be distinguished from Gaussian" in str(w.message) for w in caught)


def test_one_gaussian_source_is_allowed():
    _, A, X = mixed(5000, ("laplace", "gaussian", "uniform"))
    model = ICA(random_state=0).fit(X)  # a warning would be an error
    np.testing.assert_array_equal(model.gaussian_, [False, False, True])
    assert amari(model.components_ @ A) < 0.05


def test_two_gaussian_sources_among_others():
    _, _, X = mixed(5000, ("laplace", "gaussian", "uniform", "gaussian"))
    with pytest.warns(UserWarning, match="2 of 4 sources cannot be distinguished from Gaussian"):
        model = ICA(random_state=0).fit(X)
    np.testing.assert_array_equal(model.gaussian_, [False, False, True, True])


def test_surprise_is_a_standard_score():
    """Over samples of Gaussian rows, standardised as white rows are, it has mean 0 and variance 1."""
    Y = stats.zscore(np.random.default_rng(0).standard_normal((1000, 800)), axis=1)
    for name, contrast in CONTRASTS.items():
        z = contrast.surprise(contrast.value(Y).mean(axis=1), Y.shape[1])
        assert abs(z.mean()) < 0.2, name
        assert z.std() == pytest.approx(1, abs=0.1), name


def test_doubts_are_counted_from_above():
    """Ten in doubt allow 2 + sqrt(30) = 7.5 standard errors; where the others stand out, one in doubt only 3.7."""
    assert gaussian(np.full(10, 7.0)).all()
    np.testing.assert_array_equal(gaussian(np.array([50.0] * 9 + [5.0])), [False] * 10)
    np.testing.assert_array_equal(gaussian(np.array([50.0] * 9 + [3.0])), [False] * 9 + [True])


def test_not_converged_is_said_and_the_result_returned():
    _, _, X = mixed(500, ("laplace", "uniform", "exponential"))
    for settings in WAYS.values():
        with pytest.warns(ConvergenceWarning, match="max_iter=1 steps"):
            model = ICA(max_iter=1, random_state=0, **settings).fit(X)
        assert not model.converged_
        assert np.isfinite(model.sources_).all()


def test_where_fastica_goes_round_in_circles_it_is_led_to_the_end():
    """Among Gaussian directions the fixed-point steps alone hardly ever converge."""
    X = np.random.default_rng(0).standard_normal((1000, 6))
    white = whiten(X, 6, 1, np.random.default_rng(0)).white
    found = parallel(white, np.eye(6), CONTRASTS["logcosh"], Limits(1e-6, 500))
    assert found.converged
    assert found.n_iter > 50
    point = rotation(found.W, white.averages(found.W, CONTRASTS["logcosh"]))
    np.testing.assert_allclose(point.gradient, 0, atol=1e-6)


def test_stability_over_restarts():
    _, _, X = mixed(3000, ("laplace", "uniform", "gaussian", "gaussian"))
    with pytest.warns(UserWarning, match="Gaussian"):
        model = ICA(n_init=6, random_state=0).fit(X)
    assert model.stability_[:2].min() > 0.999
    assert model.stability_[2:].max() <= 1
    assert ICA(random_state=0).fit(mixed()[2]).stability_ is None
    again = ICA(n_init=3, random_state=0).fit(mixed()[2])
    np.testing.assert_allclose(again.stability_, 1, atol=1e-6)


def test_unstable_sources_are_seen_to_be():
    X = np.random.default_rng(1).standard_normal((400, 8))
    with pytest.warns(UserWarning, match="8 of 8"):
        model = ICA(n_init=5, random_state=0).fit(X)
    assert model.stability_.mean() < 0.95
    with pytest.warns(UserWarning, match="8 of 8"):
        first = ICA(random_state=0).fit(X)
    assert np.abs(model.non_gaussianity_).sum() >= np.abs(first.non_gaussianity_).sum()


# ---- order, signs, seeds ------------------------------------------------------------------------------------


def test_order_and_signs_do_not_depend_on_the_start():
    _, _, X = mixed(3000, ("laplace", "uniform", "exponential"))
    models = [ICA(tol=1e-9, random_state=seed).fit(X) for seed in range(4)]
    for model in models:
        np.testing.assert_allclose(model.components_, models[0].components_, atol=1e-7)
        assert (np.diff(np.abs(model.non_gaussianity_)) <= 0).all()
        top = np.abs(model.mixing_).argmax(axis=0)
        assert (model.mixing_[top, range(3)] > 0).all()


@pytest.mark.parametrize("way", ["fastica", "deflation", "infomax"])
def test_bits_do_not_depend_on_threads(way):
    """With many rows, so that there are several blocks and the search starts on some of them."""
    _, _, X = mixed(25_000, ("laplace", "uniform", "exponential"))
    models = [ICA(random_state=3, n_jobs=jobs, **WAYS[way]).fit(X) for jobs in (1, 2, 5)]
    for model in models[1:]:
        np.testing.assert_array_equal(model.sources_, models[0].sources_)
        np.testing.assert_array_equal(model.mixing_, models[0].mixing_)


def test_a_first_search_on_some_rows_changes_nothing_but_the_time():
    _, _, X = mixed(25_000, ("laplace", "uniform", "exponential"))
    white = whiten(X, 3, 1, np.random.default_rng(0)).white
    whole = parallel(white, np.eye(3), CONTRASTS["logcosh"], Limits(1e-9, 200)).W
    model = ICA(tol=1e-9, random_state=0).fit(X)
    Z = np.concatenate(white.blocks, axis=1)
    np.testing.assert_allclose(matched((whole @ Z).T, model.sources_), (whole @ Z).T, atol=1e-6)
    some = white.sample(100, np.random.default_rng(0))
    assert isinstance(some, White)
    drawn = np.concatenate(some.blocks, axis=1)
    assert drawn.shape == (3, 100)
    assert len(np.unique(drawn[0])) == 100
    assert np.isin(drawn[0], Z[0].astype(np.float32)).all()


# ---- awkward rows -------------------------------------------------------------------------------------------


def test_one_source():
    X = sources(500, ("laplace",))
    model = ICA(random_state=0).fit(3 * X + 2)
    np.testing.assert_allclose(np.abs(model.sources_), np.abs(stats.zscore(X)), atol=1e-12)
    assert model.mixing_[0, 0] == pytest.approx(3 * X.std())


def test_constant_and_repeated_columns_leave_fewer_components():
    S, _, X = mixed(2000)
    X = np.column_stack([X, np.full(2000, 0.1), X[:, 0], X[:, 0] - 2 * X[:, 1]])
    with pytest.warns(UserWarning, match="vary in 2 directions only; keeping 2 components"):
        model = ICA(random_state=0).fit(X)
    assert model.components_.shape == (2, 5)
    np.testing.assert_allclose(model.inverse_transform(model.sources_), X, atol=1e-9)
    assert amari(np.corrcoef(model.sources_.T, S.T)[:2, 2:]) < 0.05


def test_fewer_rows_than_columns():
    X = np.random.default_rng(0).standard_normal((12, 40))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = ICA(random_state=0).fit(X)
    assert model.n_components_ == 11
    assert any("12 rows are few for 11 sources" in str(w.message) for w in caught)
    np.testing.assert_allclose(model.inverse_transform(model.sources_), X, atol=1e-9)


def test_equal_rows_are_refused():
    for value in (0.0, 0.1, 1e6):
        with pytest.raises(ValueError, match="ICA: X must vary"):
            ICA().fit(np.full((20, 3), value))


def test_very_different_scales_are_whitened_exactly():
    """A covariance loses the small directions; looking at the scores once more brings them back."""
    _, _, X = mixed(4000, ("laplace", "uniform", "exponential"))
    X = (X - X.mean(axis=0)) * [1e5, 1.0, 1.0] @ np.linalg.qr(np.random.default_rng(0).standard_normal((3, 3)))[0]
    model = ICA(random_state=0).fit(X)
    np.testing.assert_allclose(model.sources_.T @ model.sources_ / len(X), np.eye(3), atol=1e-6)


def test_float32_finds_the_same_sources():
    _, _, X = mixed(6000, ("laplace", "uniform", "exponential"))
    X = (X - 7) * [1.0, 1.0, 1e5] @ np.linalg.qr(np.random.default_rng(0).standard_normal((3, 3)))[0]
    X = X.astype(np.float32)  # a spread that a covariance in float32 would lose
    one, two = ICA(random_state=0).fit(X), ICA(random_state=0).fit(X.astype(np.float64))
    assert one.sources_.dtype == np.float32
    np.testing.assert_allclose(one.sources_, two.sources_, atol=0.05)


def test_settings_that_do_not_go_together():
    _, _, X = mixed(200)
    for settings, match in (
        ({"mode": "deflation"}, "mode must be 'parallel' for algorithm='infomax'"),
        ({"fun": "cube"}, "fun must be 'logcosh' for algorithm='infomax'"),
    ):
        with pytest.raises(ValueError, match=match):
            ICA(algorithm="infomax", **settings).fit(X)
    with pytest.raises(ValueError, match=r"init must be 2 x 2 finite numbers; got shape \(3, 3\)"):
        ICA(init=np.eye(3)).fit(X)
    with pytest.warns(UserWarning, match="at most 2 directions; keeping 2 components"):
        assert ICA(5, random_state=0).fit(X).n_components_ == 2


def test_balanced_bits_at_the_worst_angle():
    """Principal axes of these rows lie halfway between the sources, where every contrast is stationary."""
    S = np.array([[a, b] for a in (-1.0, 1.0) for b in (-1.0, 1.0)]).repeat(100, axis=0)
    model = ICA(random_state=0).fit(S @ [[1.0, 1.0], [1.0, -1.0]])
    np.testing.assert_allclose(np.abs(model.sources_), 1, atol=1e-6)


@pytest.mark.parametrize("settings", [{}, {"mode": "deflation"}, {"algorithm": "infomax"}, {"n_init": 3}])
def test_callbacks_see_the_unmixing_matrix_and_stop(settings):
    X, seen = mixed()[2], []

    def watch(step, loss, unmixing):
        seen.append((step, unmixing))
        return step == 2

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = ICA(random_state=0, tol=1e-12, callback=watch, **settings).fit(X)
    assert [step for step, _ in seen] == [1, 2]
    assert all(unmixing.shape == model.components_.shape for _, unmixing in seen)
    assert not model.converged_
    assert np.linalg.matrix_rank(model.components_) == len(model.components_)
    first = (X - model.mean_) @ seen[-1][1][0]  # with mode="deflation" the others are still 0
    assert max(abs(np.corrcoef(first, source)[0, 1]) for source in model.sources_.T) > 1 - 1e-9


def test_steps_are_counted_over_all_starts():
    X, steps = mixed()[2], []
    ICA(n_init=3, random_state=0, callback=lambda step, *_: steps.append(step)).fit(X)
    assert steps == list(range(1, len(steps) + 1))


def test_white_rows_are_rotated_as_by_scikit_learn():
    rng = np.random.default_rng(1)
    X = rng.uniform(-1.7, 1.7, (600, 3)) @ rng.standard_normal((3, 3))
    Z = lowdim.Whitening(ddof=0).fit_transform(X)
    start = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    ours = ICA(whiten=False, init=start, tol=1e-9).fit(Z)
    theirs = FastICA(whiten=False, w_init=start, tol=1e-10, max_iter=1000).fit(Z)
    alike = np.abs(ours.components_ @ theirs.components_.T)
    np.testing.assert_allclose(np.sort(alike, axis=1), [[0.0, 0.0, 1.0]] * 3, atol=1e-4)
    with pytest.warns(UserWarning, match="whiten=False takes the columns to have mean 0"):
        ICA(whiten=False, random_state=0).fit(X)
    with pytest.raises(ValueError, match="whiten must be True"):
        ICA(2, whiten=False).fit(Z)

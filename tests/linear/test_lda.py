"""LDA against MASS, scikit-learn, closed forms and its identities."""

import pickle
import warnings

import numpy as np
import pytest
import sklearn
from scipy import linalg, sparse
from sklearn.base import clone
from sklearn.covariance import OAS, EmpiricalCovariance, LedoitWolf, MinCovDet, ledoit_wolf_shrinkage
from sklearn.datasets import load_digits, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import NotFittedError
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

import lowdim
from lowdim import LDA, PCA
from lowdim.linear import _discriminant as discriminant
from tests.oracles import case, load_expected, load_input

both = pytest.mark.parametrize("solver", ["svd", "covariance"])


def labelled(name):
    table, _ = load_input(name)
    return table[:, :-1].astype(float), table[:, -1].astype(str)


def up_to_sign(A, B):
    return B * np.where((A * B).sum(axis=0) < 0, -1.0, 1.0)


def clouds(counts=(40, 25, 60, 15), d=6, seed=0):
    """Normal classes with one covariance that is far from round."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(len(counts)), counts)
    shape = rng.standard_normal((d, d)) * 3.0 ** -np.arange(d)[:, None]
    return 4 + (2 * rng.standard_normal((len(counts), d))[y] + rng.standard_normal((len(y), d))) @ shape, y


def within(X, y, divisor="pooled"):
    parts = [np.cov(X[y == c].T, ddof=0) for c in np.unique(y)]
    counts = np.array([np.sum(y == c) for c in np.unique(y)])
    if divisor == "equal":
        return np.mean(parts, axis=0)
    return np.tensordot(counts, parts, 1) / (len(X) - len(counts))


# ---- MASS and scikit-learn --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("case_id", "data"), [("lda_mass_iris", "iris"), ("lda_mass_unbalanced", "lda_unbalanced")])
@both
def test_mass(case_id, data, solver):
    (X, y), spec = labelled(data), case(case_id)
    model = LDA(solver=solver).fit(X, y)
    close = {"rtol": spec["rtol"], "atol": spec["atol"]}
    scaling = load_expected(case_id, "scaling")
    np.testing.assert_allclose(up_to_sign(scaling, model.scalings_), scaling, **close)
    scores = load_expected(case_id, "scores")
    np.testing.assert_allclose(up_to_sign(scores, model.transform(X)), scores, **close)
    np.testing.assert_allclose(model.means_, load_expected(case_id, "means"), **close)
    np.testing.assert_allclose(model.priors_, load_expected(case_id, "prior"), **close)
    np.testing.assert_allclose(model.predict_proba(X), load_expected(case_id, "posterior"), **close)
    np.testing.assert_array_equal(model.predict(X), load_expected(case_id, "class").astype(str))
    assert (model.predict(X) != y).sum() == spec["scalars"]["n_errors"]
    np.testing.assert_allclose(model.explained_variance_ratio_, load_expected(case_id, "proportion_of_trace"), **close)
    n, g = len(X), len(model.classes_)
    np.testing.assert_allclose(np.sqrt(model.eigenvalues_ * (n - g) / (g - 1)), load_expected(case_id, "svd"), **close)


@pytest.mark.parametrize("counts", [(40, 25, 60, 15), (30, 50)])
def test_scikit_learn_decides_the_same(counts):
    """Its covariance has the divisor n (n - classes before 1.9), MASS's n - classes; the rest grows by the ratio."""
    X, y = clouds(counts)
    ours, theirs = LDA().fit(X, y), LinearDiscriminantAnalysis().fit(X, y)
    recent = tuple(map(int, sklearn.__version__.split(".")[:2])) >= (1, 9)
    ratio = len(X) / (len(X) - len(counts)) if recent else 1.0
    np.testing.assert_allclose(theirs.coef_, ratio * ours.coef_, rtol=1e-8)
    assert ours.intercept_.shape == theirs.intercept_.shape
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    np.testing.assert_allclose(
        up_to_sign(ours.transform(X), theirs.transform(X)), np.sqrt(ratio) * ours.transform(X), atol=1e-8
    )


def test_a_number_as_shrinkage_is_scikit_learns_in_units_of_the_within_deviation():
    """It shrinks to a multiple of the identity: the same where all columns have the same within-class variance."""
    X, y = clouds()
    X = X / np.sqrt(np.diag(within(X, y)))
    theirs = LinearDiscriminantAnalysis(solver="eigen", shrinkage=0.3).fit(X, y)
    W, B = theirs.covariance_, LDA().fit(X, y)
    B = (np.sqrt(B.priors_)[:, None] * (B.means_ - B.mean_)).T @ (np.sqrt(B.priors_)[:, None] * (B.means_ - B.mean_))
    values, vectors = linalg.eigh(B, W)
    for solver in ("svd", "covariance"):
        ours = LDA(shrinkage=0.3, solver=solver).fit(X, y)
        np.testing.assert_allclose(ours.eigenvalues_, values[::-1][:3], rtol=1e-9)
        for j in range(3):
            assert abs(np.corrcoef(ours.scalings_[:, j], vectors[:, -1 - j])[0, 1]) == pytest.approx(1)


@pytest.mark.parametrize("n", [30, 400])
def test_automatic_shrinkage_is_ledoit_and_wolfs(n):
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((n, 50)) @ rng.standard_normal((50, 50)), np.arange(n) % 3
    means = np.array([X[y == c].mean(axis=0) for c in range(3)])
    R = X - means[y]
    expected = ledoit_wolf_shrinkage(R / np.sqrt((R**2).mean(axis=0)), assume_centered=True)
    for solver in ("svd", "covariance"):
        assert LDA(shrinkage="auto", solver=solver).fit(X, y).shrinkage_ == pytest.approx(expected, rel=1e-9)


# ---- closed forms and identities ----------------------------------------------------------------------------------


@both
@pytest.mark.parametrize("weighting", ["pooled", "equal"])
def test_scores_are_white_within_the_classes(solver, weighting):
    X, y = clouds()
    model = LDA(solver=solver, weighting=weighting).fit(X, y)
    W = within(X, y, weighting)
    np.testing.assert_allclose(model.scalings_.T @ W @ model.scalings_, np.eye(3), atol=1e-9)
    between = np.sqrt(model.priors_)[:, None] * (model.means_ - model.mean_) @ model.scalings_
    np.testing.assert_allclose(between.T @ between, np.diag(np.diag(between.T @ between)), atol=1e-8)
    # B a = l W a, with divisors n and n
    ratio = (len(X) - 4) / len(X) if weighting == "pooled" else 1.0
    np.testing.assert_allclose(np.diag(between.T @ between) / ratio, model.eigenvalues_, rtol=1e-9)
    assert (np.diff(model.eigenvalues_) < 0).all()


@both
def test_two_balanced_classes_are_fishers_closed_form(solver):
    X, y = clouds((50, 50))
    expected = np.linalg.solve(np.cov(X[y == 0].T) + np.cov(X[y == 1].T), X[y == 1].mean(0) - X[y == 0].mean(0))
    for weighting in ("pooled", "equal"):
        w = LDA(solver=solver, weighting=weighting).fit(X, y).scalings_[:, 0]
        assert abs(w @ expected) / np.linalg.norm(w) / np.linalg.norm(expected) == pytest.approx(1, abs=1e-12)


@both
def test_unbalanced_classes_weigh_the_same_when_asked_to(solver):
    """(S1 + S0)^-1 (m1 - m0), each covariance divided by its own count; the threshold is the midpoint of the means."""
    X, y = clouds((80, 12))
    X[y == 1] *= [3, 1, 1, 0.5, 1, 1]  # otherwise pooled and equal covariances would nearly agree
    step = X[y == 1].mean(0) - X[y == 0].mean(0)
    expected = np.linalg.solve(np.cov(X[y == 0].T, ddof=0) + np.cov(X[y == 1].T, ddof=0), step)
    equal, pooled = (LDA(solver=solver, weighting=kind).fit(X, y) for kind in ("equal", "pooled"))

    def cosine(model):
        w = model.scalings_[:, 0]
        return abs(w @ expected) / np.linalg.norm(w) / np.linalg.norm(expected)

    assert cosine(equal) == pytest.approx(1, abs=1e-12)
    assert cosine(pooled) < 0.999
    np.testing.assert_allclose(equal.priors_, 0.5)
    np.testing.assert_allclose(pooled.priors_, [80 / 92, 12 / 92])
    middle = equal.means_.mean(axis=0, keepdims=True)
    assert equal.decision_function(middle)[0] == pytest.approx(0, abs=1e-10)
    assert equal.decision_function(equal.means_)[0] < 0 < equal.decision_function(equal.means_)[1]


@pytest.mark.parametrize("weighting", ["pooled", "equal"])
def test_an_invertible_affine_map_of_the_columns_changes_nothing(weighting):
    X, y = clouds()
    A = np.random.default_rng(1).standard_normal((6, 6))
    before, after = (LDA(weighting=weighting).fit(rows, y) for rows in (X, X @ A - 7))
    np.testing.assert_allclose(after.eigenvalues_, before.eigenvalues_, rtol=1e-8)
    Z = before.transform(X)
    np.testing.assert_allclose(up_to_sign(Z, after.transform(X @ A - 7)), Z, atol=1e-7)
    np.testing.assert_allclose(after.predict_proba(X @ A - 7), before.predict_proba(X), atol=1e-8)


def test_what_principal_components_miss():
    """The widest direction carries no class: PCA's picture is chance, LDA's is clean."""
    rng = np.random.default_rng(0)
    y = np.arange(400) % 2
    X = rng.standard_normal((400, 5)) * [30, 1, 1, 1, 1]
    X[:, 3] += 6 * y
    train, test = slice(0, 200), slice(200, 400)

    def error(model):
        return 1 - make_pipeline(model, KNeighborsClassifier(1)).fit(X[train], y[train]).score(X[test], y[test])

    assert 0.4 < error(PCA(1)) < 0.6
    assert error(LDA(1)) < 0.02


def test_the_rule_is_linear_in_the_columns():
    for counts in ((40, 25, 60, 15), (30, 50)):
        X, y = clouds(counts)
        model = LDA(1).fit(X, y)
        values = X @ model.coef_.T + model.intercept_
        np.testing.assert_allclose(model.decision_function(X), values[:, 0] if len(counts) == 2 else values, atol=1e-8)
        odds, values = np.log(model.predict_proba(X)), np.column_stack([0 * values, values])[:, -len(counts) :]
        np.testing.assert_allclose(odds - odds[:, :1], values - values[:, :1], atol=1e-7)


def test_few_axes_for_the_picture_all_of_them_for_the_decision():
    X, y = clouds()
    np.testing.assert_array_equal(LDA(1).fit(X, y).predict_proba(X), LDA().fit(X, y).predict_proba(X))


def test_priors_move_the_decision():
    X, y = clouds((60, 60))
    shy, bold = (LDA(priors=[1 - p, p]).fit(X, y) for p in (0.01, 0.99))
    assert (bold.predict(X) >= shy.predict(X)).all()
    np.testing.assert_allclose(bold.decision_function(X) - shy.decision_function(X), 2 * np.log(99), rtol=1e-8)
    np.testing.assert_allclose(shy.mean_, shy.priors_ @ shy.means_)


def test_the_way_back_is_least_squares():
    X, y = clouds()
    for model in (LDA(2).fit(X, y), LDA(2, shrinkage=0.5).fit(X, y)):
        Z = model.transform(X)
        slope = np.linalg.lstsq(Z - Z.mean(axis=0), X - X.mean(axis=0), rcond=None)[0]
        np.testing.assert_allclose(model.loadings_, slope.T, atol=1e-8)
        np.testing.assert_allclose(model.transform(model.inverse_transform(Z)), Z, atol=1e-9)
    left = X - LDA(3).fit(X, y).inverse_transform(LDA(3).fit_transform(X, y))
    np.testing.assert_allclose([left[y == c].mean(axis=0) for c in range(4)], 0, atol=1e-9)  # the means are kept


# ---- weights and streams ------------------------------------------------------------------------------------------


@both
@pytest.mark.parametrize("settings", [{}, {"weighting": "equal"}, {"shrinkage": "auto"}])
def test_a_weight_is_so_many_copies(solver, settings):
    X, y = clouds()
    weights = np.random.default_rng(0).integers(0, 4, len(X))
    weighted = LDA(solver=solver, **settings).fit(X, y, sample_weight=weights)
    copied = LDA(solver=solver, **settings).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(weighted.transform(X), copied.transform(X), atol=1e-9)
    np.testing.assert_allclose(weighted.predict_proba(X), copied.predict_proba(X), atol=1e-9)
    assert weighted.shrinkage_ == pytest.approx(copied.shrinkage_)


@pytest.mark.parametrize("settings", [{}, {"weighting": "equal"}, {"shrinkage": 0.2, "priors": [0.1, 0.2, 0.3, 0.4]}])
def test_a_stream_gives_what_one_table_gives(settings):
    X, y = clouds()
    order = np.random.default_rng(0).permutation(len(X))
    X, names = X[order], np.array(["ant", "bee", "cat", "dog"])[y[order]]
    cuts = [slice(0, 3), slice(3, 50), slice(50, 51), slice(51, None)]
    streamed = LDA(**settings).fit((X[s], names[s]) for s in cuts)
    whole = LDA(**settings).fit(X, names)
    np.testing.assert_allclose(streamed.transform(X), whole.transform(X), atol=1e-9)
    np.testing.assert_allclose(streamed.predict_proba(X), whole.predict_proba(X), atol=1e-9)
    np.testing.assert_array_equal(streamed.classes_, whole.classes_)
    assert streamed.n_features_in_ == 6


def test_streams_that_cannot_be():
    X, y = clouds()
    with pytest.raises(ValueError, match="pairs"):
        LDA().fit(iter([X]))
    with pytest.raises(ValueError, match="6 columns; got 5"):
        LDA().fit(iter([(X, y), (X[:, :5], y)]))
    with pytest.raises(ValueError, match="at least two classes"):
        LDA().fit(iter([]))
    with pytest.raises(ValueError, match=r"shrinkage must be a number such as .* for a stream"):
        LDA(shrinkage="auto").fit(iter([(X, y)]))
    wide = np.random.default_rng(0).standard_normal((8, 20))
    with pytest.raises(ValueError, match=r"shrinkage must be a number such as .* for a stream"):
        LDA().fit(iter([(wide, np.arange(8) % 2)]))
    with pytest.raises(ValueError, match="sample_weight must be None"):
        LDA().fit(iter([(X, y)]), sample_weight=np.ones(len(X)))


# ---- hard data ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("d", [40, 300])
def test_more_columns_than_rows_are_shrunken_and_said_so(d):
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = rng.standard_normal((60, d))
    X[:, :3] += 4 * np.eye(3)[y]
    new = rng.standard_normal((300, d))
    new[:, :3] += 4 * np.eye(3)[np.arange(300) % 3]
    if d < 57:
        LDA().fit(X, y)  # no warning: W is not singular
        return
    with pytest.warns(UserWarning, match=r"singular \(60 rows, 3 classes, 300 columns.*shrinkage=0\.\d+"):
        model = LDA().fit(X, y)
    np.testing.assert_allclose(model.transform(X), LDA(shrinkage="auto").fit(X, y).transform(X))
    assert model.score(new, np.arange(300) % 3) > 0.9
    # Against the definition, in all columns
    means = np.array([X[y == c].mean(axis=0) for c in range(3)])
    W = (X - means[y]).T @ (X - means[y]) / 60
    W = (1 - model.shrinkage_) * W + model.shrinkage_ * np.diag(np.diag(W))
    M = (means - means.mean(axis=0)) / np.sqrt(3)
    np.testing.assert_allclose(linalg.eigh(M.T @ M, W, eigvals_only=True)[:-3:-1], model.eigenvalues_, rtol=1e-8)
    np.testing.assert_allclose(model.scalings_.T @ W @ model.scalings_ * 60 / 57, np.eye(2), atol=1e-8)


@both
def test_constant_and_dependent_columns_add_nothing(solver):
    X, y = clouds()
    extended = np.column_stack([X, np.full(len(X), 3.0), X[:, 0] + X[:, 1], np.zeros(len(X))])
    Z = LDA(solver=solver).fit(X, y).transform(X)
    model = LDA(solver=solver).fit(extended, y)
    np.testing.assert_allclose(up_to_sign(Z, model.transform(extended)), Z, atol=1e-7)
    assert (model.scalings_[[6, 8]] == 0).all()
    np.testing.assert_allclose(model.inverse_transform(Z)[:, [6, 8]], [[3.0, 0.0]] * len(X))


@pytest.mark.parametrize("size", [1e-6, 1e6])
def test_units_do_not_matter(size):
    """A column in other units, or far from zero, gets another weight and nothing else changes."""
    X, y = clouds()
    Z = LDA().fit(X, y).transform(X)
    other = X * [size, 1, 1, 1, 1, 1 / size] + [0, 0, 1e4, 0, 0, 0]
    np.testing.assert_allclose(up_to_sign(Z, LDA().fit(other, y).transform(other)), Z, atol=1e-6)


def test_nearly_dependent_columns_take_the_accurate_route():
    X, y = clouds()
    rng = np.random.default_rng(0)
    noise = rng.standard_normal(len(X))
    near = np.column_stack([X, X[:, 0] + 1e-6 * noise])
    model = LDA().fit(near, y)
    assert model.solver_ == "svd"
    assert LDA().fit(X, y).solver_ == "covariance"
    expected = LDA().fit(np.column_stack([X, noise]), y).eigenvalues_  # an affine map away
    np.testing.assert_allclose(model.eigenvalues_, expected, rtol=1e-6)


@pytest.mark.parametrize("rows", ["one column", "both columns", "the difference of two columns"])
def test_columns_that_separate_alone(rows):
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    X = rng.standard_normal((40, 2))
    X[:, 0] = y if rows != "the difference of two columns" else X[:, 1] + y
    if rows == "both columns":
        X[:, 1] = 3 - y
    with pytest.warns(UserWarning, match="singular"):
        model = LDA().fit(X, y)
    assert model.score(X, y) == 1
    assert np.isfinite(model.transform(X)).all()
    assert np.isfinite(model.predict_proba(X)).all()


def test_classes_of_one_row():
    X, y = clouds((20, 20, 1))
    model = LDA().fit(X, y)
    np.testing.assert_allclose(model.means_[2], X[-1])
    np.testing.assert_allclose(model.scalings_.T @ within_of_first_two(X) @ model.scalings_, np.eye(2), atol=1e-9)


def within_of_first_two(X):
    parts = [np.cov(X[s].T, ddof=0) * 20 for s in (slice(0, 20), slice(20, 40))]
    return (parts[0] + parts[1]) / (41 - 3)


def test_asking_for_too_much():
    X, y = clouds()
    with pytest.warns(UserWarning, match=r"n_components=5 is more than the 3 axes that 4 classes in 6 columns have"):
        assert LDA(5).fit(X, y).n_components_ == 3
    with pytest.warns(UserWarning, match="more than the 2 axes"):
        assert LDA(3).fit(X[:, :2], y).n_components_ == 2
    line = np.random.default_rng(0).standard_normal((90, 4)) + np.outer(np.arange(90) % 3, [1.0, 2, 0, 1])
    line -= np.array([line[c::3].mean(axis=0) for c in range(3)])[np.arange(90) % 3]
    line += np.outer(np.arange(90) % 3, [1.0, 2, 0, 1])
    assert LDA().fit(line, np.arange(90) % 3).n_components_ == 1  # three means on a line


def test_refusals():
    X, y = clouds()
    with pytest.raises(ValueError, match="LDA: y must hold a label for each row; got None"):
        LDA().fit(X)
    with pytest.raises(ValueError, match=r"at least two classes; got 1 class\(es\): \['a'\]"):
        LDA().fit(X, ["a"] * len(X))
    with pytest.raises(ValueError, match="one label per row; got 5 labels for 140 rows"):
        LDA().fit(X, y[:5])
    with pytest.raises(ValueError, match=r"more rows .* than classes.*got 6 in 6 classes"):
        LDA().fit(X[:6], np.arange(6))
    with pytest.raises(ValueError, match="Unknown label type"):
        LDA().fit(X, X[:, 0])
    with pytest.raises(ValueError, match="are NaN or infinite"):
        LDA().fit(X, np.where(y == 0, np.nan, y))
    with pytest.raises(ValueError, match="all rows are equal"):
        LDA().fit(np.ones((10, 3)), np.arange(10) % 2)
    same = np.vstack([X[y == 0], X[y == 0]])
    with pytest.raises(ValueError, match="class means are equal"):
        LDA().fit(same, np.repeat([0, 1], 40))
    for bad in ([0.5, 0.5], [0.5, 0.2, 0.2, 0.2], [1.0, 0.0, 0.0, 0.0], 0.25, "equal"):
        with pytest.raises(ValueError, match="LDA: priors must be one"):
            LDA(priors=bad).fit(X, y)
    for name, bad in (("shrinkage", 1.5), ("shrinkage", "ledoit"), ("weighting", "none"), ("solver", "eigen")):
        with pytest.raises(ValueError, match=f"LDA: {name} must be"):
            LDA(**{name: bad}).fit(X, y)
    for method in ("transform", "predict", "predict_proba", "decision_function"):
        with pytest.raises(NotFittedError):
            getattr(LDA(), method)(X)


# ---- containers ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "labels", [["x", "why", "z", "ü"], [True, False, True, False], [-3, 10, 2, 7], [0.0, 2.0, 1.0, 5.0]]
)
def test_labels_of_any_kind_survive_a_model_file(labels, tmp_path):
    X, y = clouds()
    for named in (np.array(labels)[y], [labels[c] for c in y], np.array(labels, dtype=object)[y]):
        if isinstance(named, np.ndarray) and named.dtype == object and not isinstance(labels[0], str):
            continue
        model = LDA().fit(X, named)
        np.testing.assert_array_equal(model.classes_, np.unique(labels))
        lowdim.save(model, tmp_path / "model")
        for copy in (lowdim.load(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
            np.testing.assert_array_equal(copy.predict(X), model.predict(X))
            np.testing.assert_array_equal(copy.predict_proba(X), model.predict_proba(X))
        assert model.score(X, named) > 0.5


def test_single_precision():
    X, y = clouds()
    single = LDA().fit(X.astype(np.float32), y)
    assert single.transform(X.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(single.predict_proba(X), LDA().fit(X, y).predict_proba(X), atol=1e-3)
    far = (X + 1e4).astype(np.float32)
    exact = LDA().fit(far.astype(np.float64), y)
    np.testing.assert_allclose(
        up_to_sign(exact.transform(far), LDA().fit(far, y).transform(far)), exact.transform(far), atol=0.02
    )


def test_class_means_do_not_depend_on_the_order_or_the_blocks(monkeypatch):
    X, y = clouds()
    weights = np.random.default_rng(0).uniform(size=len(X))
    expected = np.array([np.average(X[y == c], axis=0, weights=weights[y == c]) for c in range(4)])
    order = np.random.default_rng(0).permutation(len(X))
    monkeypatch.setattr(discriminant, "blocks", lambda n, size: [slice(0, 17), slice(17, n)])
    found = discriminant.class_means(X[order], y[order], weights[order], np.bincount(y, weights))
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_real_data():
    """Wine: two axes separate the three cultivars, where the widest two directions are those of the largest unit."""
    X, y = load_digits(return_X_y=True)
    odd = np.arange(len(X)) % 2 == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # constant pixels are no reason to warn
        assert LDA().fit(X[~odd], y[~odd]).score(X[odd], y[odd]) > 0.93

    X, y = load_wine(return_X_y=True)
    odd = np.arange(len(X)) % 2 == 1

    def error(reducer):
        return 1 - make_pipeline(reducer, KNeighborsClassifier(1)).fit(X[~odd], y[~odd]).score(X[odd], y[odd])

    assert error(LDA(2)) < 0.05
    assert error(PCA(2)) > 0.2


def test_a_stream_with_labels_of_two_kinds_is_refused():
    X = np.random.default_rng(0).normal(size=(20, 3))
    batches = [(X[:10], np.repeat([0, 1], 5)), (X[10:], np.repeat(["a", "b"], 5))]
    with pytest.raises(ValueError, match=r"of one kind, text or numbers; got 'a' and 0"):
        LDA().fit(iter(batches))


def sparse_rows(d=8):
    X = sparse.random(120, d, density=0.4, random_state=0).toarray()
    X[:40, 0] += 2.0
    X[40:80, 1] += 1.0
    return sparse.csr_array(X), np.repeat(["a", "b", "c"], 40)


@pytest.mark.parametrize("weighting", ["pooled", "equal"])
@pytest.mark.parametrize("weighted", [False, True])
def test_sparse_rows_are_not_filled_and_give_the_same(weighting, weighted):
    X, y = sparse_rows()
    weights = np.arange(120) % 4 * 1.0 if weighted else None
    settings = {"weighting": weighting, "shrinkage": 0.1}
    ours, dense = LDA(**settings).fit(X, y, weights), LDA(**settings).fit(X.toarray(), y, weights)
    np.testing.assert_allclose(ours.transform(X), dense.transform(X.toarray()), atol=1e-9)
    np.testing.assert_array_equal(ours.predict(X), dense.predict(X.toarray()))
    with pytest.raises(ValueError, match="solver must be 'covariance' or 'auto' for sparse rows"):
        LDA(solver="svd").fit(X, y)
    ours, dense = (LDA(shrinkage="auto", weighting=weighting).fit(rows, y, weights) for rows in (X, X.toarray()))
    assert ours.shrinkage_ == pytest.approx(dense.shrinkage_, rel=1e-9)


@pytest.mark.parametrize("solver", ["svd", "covariance"])
def test_covariance_and_log_probabilities_are_those_of_scikit_learn(solver):
    X, y = load_wine(return_X_y=True)
    ours, theirs = LDA(solver=solver).fit(X, y), LinearDiscriminantAnalysis(store_covariance=True).fit(X, y)
    np.testing.assert_allclose(ours.covariance_ * (len(X) - 3) / len(X), theirs.covariance_, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(ours.predict_log_proba(X), np.log(ours.predict_proba(X)), rtol=1e-8)


@pytest.mark.parametrize("estimator", [OAS(), LedoitWolf(), MinCovDet(random_state=0)], ids=lambda e: type(e).__name__)
def test_a_covariance_estimator_is_scikit_learns(estimator):
    X, y = load_wine(return_X_y=True)
    X = X[:, :6]
    ours = LDA(covariance_estimator=estimator).fit(X, y)
    assert not hasattr(estimator, "covariance_")  # copies of it were fitted
    theirs = LinearDiscriminantAnalysis(solver="eigen", covariance_estimator=clone(estimator), store_covariance=True)
    theirs.fit(X, y)
    np.testing.assert_allclose(ours.covariance_, theirs.covariance_, rtol=1e-8)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-8)
    white = ours.scalings_.T @ theirs.covariance_ @ ours.scalings_
    np.testing.assert_allclose(white, np.eye(2), atol=1e-10)


def test_the_empirical_covariance_gives_the_axes_of_the_moments():
    X, y = load_wine(return_X_y=True)
    n, g = len(X), 3
    own, plain = LDA(covariance_estimator=EmpiricalCovariance()).fit(X, y), LDA().fit(X, y)
    np.testing.assert_allclose(own.covariance_ * n / (n - g), plain.covariance_, rtol=1e-8)
    np.testing.assert_allclose(own.scalings_ * np.sqrt((n - g) / n), plain.scalings_, rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(own.eigenvalues_, plain.eigenvalues_, rtol=1e-8)


def test_where_a_covariance_estimator_cannot_be_used():
    X, y = load_wine(return_X_y=True)
    model = LDA(covariance_estimator=OAS())
    with pytest.raises(ValueError, match="shrinkage must be None with a covariance_estimator"):
        LDA(covariance_estimator=OAS(), shrinkage=0.1).fit(X, y)
    with pytest.raises(ValueError, match="solver must be 'covariance' or 'auto' for a covariance estimator"):
        LDA(covariance_estimator=OAS(), solver="svd").fit(X, y)
    with pytest.raises(ValueError, match="must be None for sparse rows"):
        model.fit(sparse.csr_array(X), y)
    with pytest.raises(ValueError, match="must be None for sample_weight"):
        model.fit(X, y, sample_weight=np.ones(len(X)))
    with pytest.raises(ValueError, match="must be None for a stream of batches"):
        model.fit(iter([(X, y)]))
    holes = X.copy()
    holes[0, 0] = np.nan
    with pytest.raises(ValueError, match="must be None for NaN"):
        LDA(covariance_estimator=OAS(), missing="em").fit(holes, y)
    with pytest.raises(ValueError, match=r"must have a finite covariance_ of shape .13, 13. after fit; PCA has none"):
        LDA(covariance_estimator=PCA(2)).fit(X, y)
    with pytest.raises(ValueError, match="covariance_estimator must be None or an estimator with fit"):
        LDA(covariance_estimator=OAS).fit(X, y)


def test_a_model_file_holds_no_estimator_of_others(tmp_path):
    X, y = load_wine(return_X_y=True)
    model = LDA(covariance_estimator=OAS()).fit(X, y)
    with pytest.raises(TypeError, match=r"LDA\.covariance_estimator must be data to go into a file"):
        lowdim.save(model, tmp_path / "model.lowdim")
    lowdim.save(model.set_params(covariance_estimator=None), tmp_path / "model.lowdim")
    np.testing.assert_array_equal(lowdim.load(tmp_path / "model.lowdim").transform(X), model.transform(X))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).transform(X), model.transform(X))

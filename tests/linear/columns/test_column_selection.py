"""Column selection: known answers, scikit-learn's parts as oracles, refusals."""

import json
import warnings
import zipfile

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import RFE, VarianceThreshold, mutual_info_classif
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import lowdim
from lowdim import ColumnSelection

SUPERVISED = ("mutual-information", "rfe", "forest-importance")
supervised = pytest.mark.parametrize("criterion", SUPERVISED)
every = pytest.mark.parametrize("criterion", ["variance", *SUPERVISED])


def table(n=200, seed=0):
    """Columns 4 and 1 say everything about both targets, 4 more; units differ by many orders of magnitude."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 6))
    quantity = 2 * X[:, 4] - X[:, 1]
    classes = np.digitize(quantity, [-1.0, 1.0])
    return X * [1.0, 1e-4, 1e3, 30.0, 1e-6, 5.0] + 7.0, classes, quantity


def select(criterion, k=2, **settings):
    return ColumnSelection(k, **{"criterion": criterion, "n_trees": 20, "random_state": 0} | settings)


# ---- what is chosen ---------------------------------------------------------------------------------------------


@supervised
@pytest.mark.parametrize("kind", ["classes", "quantity"])
def test_columns_that_make_the_labels_are_found_whatever_their_units(criterion, kind):
    X, classes, quantity = table()
    model = select(criterion).fit(X, classes if kind == "classes" else quantity)
    assert model.target_ == kind
    np.testing.assert_array_equal(model.selected_, [4, 1])
    np.testing.assert_array_equal(model.transform(X), X[:, [4, 1]])


def test_the_largest_variances_are_kept():
    X, _, _ = table()
    model = ColumnSelection(3).fit(X)
    np.testing.assert_allclose(model.scores_, X.var(axis=0, ddof=1))
    np.testing.assert_array_equal(model.selected_, [2, 3, 5])
    threshold = np.sort(X.var(axis=0))[-4]
    np.testing.assert_array_equal(
        np.sort(model.selected_), VarianceThreshold(threshold).fit(X).get_support(indices=True)
    )
    assert model.target_ is None


@every
def test_the_best_come_first_and_scores_decide(criterion):
    X, classes, _ = table(60)
    everything = select(criterion, 6).fit(X, classes)
    assert (np.diff(everything.scores_[everything.selected_]) <= 0).all()
    assert sorted(everything.selected_) == list(range(6))
    for k in (1, 3, 5):
        np.testing.assert_array_equal(select(criterion, k).fit(X, classes).selected_, everything.selected_[:k])


def test_mutual_information_is_that_of_the_columns():
    """Of jointly normal variables it is -log(1 - r^2) / 2."""
    rng = np.random.default_rng(0)
    y = rng.standard_normal(1500)
    r = np.array([0.0, 0.5, 0.9])
    X = y[:, None] * r + np.sqrt(1 - r**2) * rng.standard_normal((1500, 3))
    scores = select("mutual-information").fit(X, y).scores_
    np.testing.assert_allclose(scores, -0.5 * np.log(1 - r**2), atol=0.05)


def test_mutual_information_is_that_of_scikit_learn():
    X, classes, _ = table()
    scores = select("mutual-information").fit(X, classes).scores_
    np.testing.assert_allclose(scores, mutual_info_classif(StandardScaler().fit_transform(X), classes), atol=1e-6)


@pytest.mark.parametrize("step", [1, 2])
def test_elimination_is_that_of_scikit_learn_on_standardised_columns(step):
    X, classes, _ = table(80, seed=3)
    X = np.hstack([X, table(80, seed=4)[0]])
    Y = StandardScaler().fit_transform(X) * np.sqrt(79 / 80)
    model = select("rfe", 3, step=step).fit(X, classes)
    oracle = RFE(LogisticRegression(max_iter=1000), n_features_to_select=3, step=step).fit(Y, classes)
    np.testing.assert_array_equal(np.sort(model.selected_), oracle.get_support(indices=True))
    left_out = ~oracle.support_
    outlived = [(oracle.ranking_ > rank).sum() for rank in oracle.ranking_[left_out]]
    np.testing.assert_array_equal(model.scores_[left_out], outlived)
    assert sorted(model.scores_[model.selected_]) == [9, 10, 11]


def test_forest_importance_is_that_of_scikit_learn():
    X, classes, _ = table()
    model = select("forest-importance", n_trees=30).fit(X, classes)
    seed = int(np.random.default_rng(0).integers(2**31 - 1))
    oracle = RandomForestClassifier(30, random_state=seed).fit(StandardScaler().fit_transform(X), classes)
    np.testing.assert_allclose(model.scores_, oracle.feature_importances_, atol=1e-3)
    assert model.scores_.sum() == pytest.approx(1.0)


@every
def test_of_equal_columns_the_first_is_better(criterion):
    """More than sixteen columns: sorting of fewer is stable by chance."""
    X, classes, quantity = table(80)
    X = np.tile(X[:, [0, 4, 2]], 6)
    for y in (classes, quantity):
        model = select(criterion, 4).fit(X, y)
        if criterion != "forest-importance":  # a tree divides the importance between equal columns at random
            best = 2 if criterion == "variance" else 1
            np.testing.assert_array_equal(model.selected_, best + 3 * np.arange(4))
        again = select(criterion, 4).fit(X, y)
        np.testing.assert_array_equal(model.selected_, again.selected_)
        np.testing.assert_array_equal(model.scores_, again.scores_)


@supervised
def test_a_constant_column_is_never_chosen(criterion):
    X, classes, quantity = table(60)
    X[:, 0] = 1e5 + 0.1
    for y in (classes, quantity):
        model = select(criterion, 5).fit(X, y)
        assert 0 not in model.selected_
        assert model.scores_[0] == 0


def test_classes_can_be_text_and_a_quantity_as_large_as_it_likes():
    X, classes, quantity = table()
    names = np.array(["low", "middle", "high"])[classes]
    for criterion in SUPERVISED:
        np.testing.assert_array_equal(select(criterion).fit(X, names).selected_, [4, 1])
        np.testing.assert_array_equal(select(criterion).fit(X, 1e200 * quantity).selected_, [4, 1])


def test_the_kind_of_target_can_be_given():
    X, _, quantity = table()
    grades = np.round(2 * quantity)
    assert select("rfe").fit(X, grades).target_ == "classes"
    model = select("rfe", target="quantity").fit(X, grades)
    assert model.target_ == "quantity"
    np.testing.assert_array_equal(model.selected_, [4, 1])


# ---- a variance filter after standardising ----------------------------------------------------------------------

NOTHING = "variance filter after standardising has nothing to choose from: filter first, then scale"


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("divisor", [0, 1])
@pytest.mark.parametrize("holes", [False, True])
def test_standardised_columns_have_nothing_to_choose_from(dtype, divisor, holes):
    X, _, _ = table()
    X[:, :3] = np.where(np.random.default_rng(1).random((200, 3)) < [0.3, 0.1, 0.0], np.nan, X[:, :3]) if holes else 1
    X = np.hstack([X, table(200, 5)[0]])
    spread = np.nanstd(X, axis=0, ddof=divisor)
    Y = (X - np.nanmean(X, axis=0)) / np.where(spread > 1e-12, spread, 1)
    Y = Y.astype(dtype)
    with pytest.raises(ValueError, match=f"ColumnSelection: criterion='variance' must .*{NOTHING}"):
        ColumnSelection(2).fit(Y)
    assert ColumnSelection(12).fit(Y).transform(Y).shape == Y.shape  # nothing is left out
    ColumnSelection(2).fit(X)


def test_constant_columns_are_left_out_of_standardised_ones():
    X = StandardScaler().fit_transform(table()[0])
    X[:, [1, 3]] = 4.0
    np.testing.assert_array_equal(np.sort(ColumnSelection(4).fit(X).selected_), [0, 2, 4, 5])
    with pytest.raises(ValueError, match="nothing to choose from"):
        ColumnSelection(3).fit(X)
    with pytest.raises(ValueError, match="X must vary; all columns are constant"):
        ColumnSelection(1).fit(np.ones((5, 2)))


# ---- inverse ----------------------------------------------------------------------------------------------------


@every
def test_chosen_columns_come_back_and_the_others_by_least_squares(criterion):
    X, classes, _ = table()
    X[:, 0] += 3 * X[:, 5]
    model = select(criterion, 3).fit(X, classes)
    back = model.inverse_transform(model.transform(X))
    np.testing.assert_array_equal(back[:, model.selected_], X[:, model.selected_])
    others = np.setdiff1d(np.arange(6), model.selected_)
    oracle = LinearRegression().fit(StandardScaler().fit_transform(X[:, model.selected_]), X[:, others])
    expected = oracle.predict(StandardScaler().fit_transform(X[:, model.selected_]))
    np.testing.assert_allclose(back[:, others], expected, atol=1e-9 * np.abs(X).max())


def test_dependent_columns_come_back_exactly():
    X, _, _ = table()
    X[:, 0] = X[:, 2] - 4 * X[:, 3] + 2
    np.testing.assert_allclose(
        ColumnSelection(2).fit(X).inverse_transform(X[:, [0, 2]])[:, 3], X[:, 3], rtol=1e-6, atol=1e-6
    )


def test_regression_uses_the_rows_that_have_all_it_needs():
    X, _, _ = table(100)
    X[:, 0] = X[:, 2] - 4 * X[:, 3]
    Y = X.copy()
    Y[::5, 2] = Y[1::7, 3] = Y[2::9, 0] = np.nan
    model = ColumnSelection(2).fit(Y)
    assert set(model.selected_) <= {0, 2, 3}
    Z = model.transform(Y)
    back = model.inverse_transform(Z)
    np.testing.assert_array_equal(back[:, model.selected_], Z)
    complete = np.isfinite(Z).all(axis=1)
    third = ({0, 2, 3} - set(model.selected_)).pop()
    np.testing.assert_allclose(back[complete, third], X[complete, third], rtol=1e-6, atol=1e-6)
    assert np.isnan(back[~complete, third]).all()


# ---- missing cells and labels -----------------------------------------------------------------------------------


def test_missing_cells_are_left_out_column_by_column():
    X, classes, _ = table()
    holes = np.random.default_rng(2).random(X.shape) < 0.2
    holes[np.arange(200), np.arange(200) % 6] = False
    Y = np.where(holes, np.nan, X)
    np.testing.assert_allclose(ColumnSelection(2).fit(Y).scores_, np.nanvar(Y, axis=0, ddof=1))
    model = select("mutual-information").fit(Y, classes)
    np.testing.assert_array_equal(model.selected_, [4, 1])
    seen = ~holes[:, 4]
    alone = select("mutual-information", 1).fit(X[seen][:, [4]], classes[seen])
    assert model.scores_[4] == pytest.approx(alone.scores_[0], abs=1e-9)


@pytest.mark.parametrize("criterion", ["rfe", "forest-importance"])
def test_models_need_complete_rows(criterion):
    X, classes, _ = table()
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match=r"ColumnSelection: X has 1 missing values .* needs complete rows"):
        select(criterion).fit(X, classes)
    model = select(criterion).fit(X[5:], classes[5:])
    with pytest.raises(ValueError, match="missing values"):
        model.transform(X[:5])
    with pytest.raises(ValueError, match="NaN"):
        model.inverse_transform([[np.nan, 1.0]])


def test_a_column_with_too_few_cells_is_an_error():
    X, classes, _ = table()
    X[3:, 1] = np.nan
    with pytest.raises(ValueError, match=r"ColumnSelection: criterion='mutual-information' needs .* at least 4 cells"):
        select("mutual-information").fit(X, classes)


@supervised
def test_rows_without_a_label_do_not_choose(criterion):
    X, classes, _ = table()
    y = classes.astype(float)
    y[::4] = np.nan
    with pytest.warns(UserWarning, match="ColumnSelection: 50 of 200 rows have no label; .* by the other 150 rows"):
        model = select(criterion).fit(X, y)
    seen = np.isfinite(y)
    np.testing.assert_array_equal(model.scores_, select(criterion).fit(X[seen], y[seen]).scores_)
    assert model.transform(X).shape == (200, 2)


@supervised
def test_labels_are_needed_and_must_say_something(criterion):
    X, classes, _ = table(20)
    with pytest.raises(ValueError, match=f"ColumnSelection: y must hold a label .*criterion='{criterion}'; got None"):
        select(criterion).fit(X)
    for y, message in ((np.ones(20), "different labels"), (classes[:5], "one label for each")):
        with pytest.raises(ValueError, match=f"ColumnSelection: y must have {message}"):
            select(criterion).fit(X, y)
    with pytest.raises(ValueError, match="each of 20 rows has its own"):
        select(criterion).fit(X, [f"name {i}" for i in range(20)])


def test_variance_ignores_labels():
    X, _, _ = table(20)
    np.testing.assert_array_equal(ColumnSelection(2).fit(X, ["one"] * 3).selected_, ColumnSelection(2).fit(X).selected_)


# ---- names, files, settings -------------------------------------------------------------------------------------


def test_names_are_those_of_the_columns_kept():
    X, classes, _ = table()
    frame = pd.DataFrame(X, columns=list("abcdef"))
    model = select("rfe").set_output(transform="pandas").fit(frame, classes)
    assert list(model.get_feature_names_out()) == ["e", "b"]
    pd.testing.assert_frame_equal(model.transform(frame), frame[["e", "b"]])
    assert list(select("rfe").fit(X, classes).get_feature_names_out()) == ["x4", "x1"]
    assert list(select("rfe").fit(X, classes).get_feature_names_out(list("uvwxyz"))) == ["y", "v"]


@supervised
def test_files_hold_no_labels(criterion, tmp_path):
    X, classes, _ = table()
    names = np.array(["a secret", "another secret", "the last secret"])[classes]
    model = select(criterion).fit(X, names)
    lowdim.save(model, tmp_path / "model.lowdim")
    with zipfile.ZipFile(tmp_path / "model.lowdim") as file:
        assert b"secret" not in b"".join(file.read(name) for name in file.namelist())
        nodes = json.loads(file.read("model.json"))
        sizes = [np.load(file.open(name)).shape for name in file.namelist() if name.endswith(".npy")]
    assert "y" not in nodes["model"]["state"]
    assert not [shape for shape in sizes if 200 in shape]
    np.testing.assert_array_equal(lowdim.load(tmp_path / "model.lowdim").transform(X), model.transform(X))


def test_more_columns_than_there_are():
    X, _, _ = table()
    with pytest.warns(UserWarning, match="ColumnSelection: n_components=9 is more than the 6 columns of X; keeping 6"):
        assert ColumnSelection(9).fit(X).n_components_ == 6


@pytest.mark.parametrize(
    "bad", [{"criterion": "lasso"}, {"target": "number"}, {"step": 0}, {"n_trees": 0}, {"n_components": 0}]
)
def test_bad_settings(bad):
    X, classes, _ = table(20)
    with pytest.raises(ValueError, match=f"ColumnSelection: {next(iter(bad))} must be"):
        ColumnSelection(**bad).fit(X, classes)


@supervised
def test_numbers_far_from_one_do_not_leave_the_range_of_a_model(criterion):
    X, classes, _ = table()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(select(criterion).fit(1e100 * X, classes).selected_, [4, 1])


@parametrize_with_checks([select("mutual-information"), select("rfe")])
@pytest.mark.filterwarnings("ignore:ColumnSelection. n_components=2 is more than")
def test_scikit_learn_check(estimator, check):
    check(estimator)

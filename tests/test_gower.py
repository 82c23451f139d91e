"""Estimators and measures on tables of numbers and categories: metric="gower"; and text where numbers are needed."""

import inspect
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import check_estimator

import lowdim
from lowdim._core.distances import Gower
from tests.estimators import CASES
from tests.mixed_tables import gower, mixed_rows

NAMES = ["size", "price", "colour", "kind", "new"]
METRIC = {case.name: case for case in CASES if "metric" in case.estimator.get_params()}
each = pytest.mark.parametrize("name", METRIC)


def frame(n=45, holes=0.0, seed=0):
    return pd.DataFrame(mixed_rows(n, np.random.default_rng(seed), holes), columns=NAMES)


def lists(X):
    return X.astype(object).where(X.notna(), None).to_numpy().tolist()


# Gower's distances are not Euclidean: classical scaling corrects them, unfolding keeps them loosely.
LOOSE = {
    "ClassicalMDS": {"correction": "lingoes"},
    "LandmarkMDS": {"correction": "lingoes"},
    "MVU": {"slack": 1.0, "tol": 1e-2, "n_neighbors": 8},
}


def model(name, **settings):
    return clone(METRIC[name].estimator).set_params(metric="gower", **LOOSE.get(name, {}) | settings)


def spread(Z):
    return np.abs(Z - Z.mean(axis=0)).max()


def up_to_sign(Z, wanted, tolerance):
    signs = np.sign((Z * wanted).sum(axis=0))
    np.testing.assert_allclose(Z * signs, wanted, atol=tolerance * spread(wanted))


def test_every_estimator_with_a_metric_is_here():
    named = {name for name in lowdim._ESTIMATORS if "metric" in inspect.signature(getattr(lowdim, name)).parameters}
    assert named == set(METRIC)
    assert len(named) == 11


@each
@pytest.mark.parametrize("holes", [0.0, 0.1])
def test_maps_are_those_of_the_distances_alone(name, holes):
    X = frame(holes=holes)
    settings = {"missing": "pairwise"} if holes else {}
    if name == "TSNE":
        settings["init"] = "random"  # by default it starts from the coordinates of the rows
    Z = model(name, **settings).fit_transform(X)
    assert Z.shape == (45, 2)
    assert np.isfinite(Z).all()
    if name == "LLE":
        return  # needs coordinates; see below
    # Not the oracle's own table: many distances are equal, and its rounding would order them in another way.
    D = lowdim.dissimilarities(X, metric="gower")
    np.testing.assert_allclose(
        D, gower(lists(X)), atol=1e-13
    )  # of categories many are equal, and rounding would order them
    given = model(name, **settings).set_params(metric="precomputed", missing="error")
    up_to_sign(Z, given.fit_transform(D), 1e-9)


def test_lle_fits_in_the_coded_columns():
    X = frame()
    U = np.column_stack(
        [
            *((X[c] - X[c].min()) / np.ptp(X[c]) for c in ("size", "price")),
            *(0.5 * (X[c] == level) for c in ("colour", "kind", "new") for level in sorted(X[c].unique())),
        ]
    ).astype(float)
    for settings in ({}, {"method": "ltsa", "n_neighbors": 12}):
        Z = model("LLE", **settings).fit_transform(X)
        wanted = clone(METRIC["LLE"].estimator).set_params(metric="manhattan", **settings).fit_transform(U)
        up_to_sign(Z, wanted, 1e-4)


@each
@pytest.mark.parametrize("holes", [0.0, 0.1])
def test_fitted_rows_are_placed_where_they_are(name, holes):
    """Also where cells are missing: then a row is at distance 0 from itself and often from others too."""
    X = frame(holes=holes)
    D = lowdim.dissimilarities(X, metric="gower")
    assert ((D == 0).sum() > len(X)) == bool(holes)
    fitted = model(name, **({"missing": "pairwise"} if holes else {})).fit(X)
    Z = fitted.transform(X)
    np.testing.assert_allclose(Z, fitted.embedding_, atol=max(1e-6, METRIC[name].transform_tolerance) * spread(Z))
    alone = np.vstack([fitted.transform(X.iloc[[i]]) for i in (0, 7, 44)])
    np.testing.assert_allclose(alone, Z[[0, 7, 44]], atol=1e-9 * spread(Z))


@each
def test_values_that_were_not_there_at_fit_are_named_once(name):
    """They differ from every fitted value: the row is placed as one whose cell is any other new value."""
    X, new = frame(), frame(4, seed=5)
    fitted = model(name).fit(X)
    new["colour"] = ["violet", "pink", "violet", X["colour"][0]]
    message = rf"{name}: column 'colour' has 'pink' and 'violet' \(3 cells\): not there at fit\. .* differs from all"
    with pytest.warns(UserWarning, match=message) as said:
        Z = fitted.transform(new)
    assert len(said) == 1
    with pytest.warns(UserWarning, match=r"column 'colour' has 'beige' \(3 cells\)"):
        again = fitted.transform(new.assign(colour=["beige"] * 3 + [X["colour"][0]]))
    np.testing.assert_array_equal(Z, again)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted.transform(X.iloc[:3])


@each
def test_new_rows_in_any_container_one_by_one(name):
    X, new = frame(holes=0.05), frame(7, holes=0.2, seed=5)
    new.loc[0, "colour"], new.loc[1, "price"] = "violet", 400.0  # not seen at fit; far outside of the range
    fitted = model(name, missing="pairwise").fit(X)
    with pytest.warns(UserWarning, match="'violet'"):
        Z = fitted.transform(new)
    assert np.isfinite(Z).all()
    np.testing.assert_allclose(fitted.transform(new.iloc[2:3]), Z[2:3], rtol=1e-6, atol=1e-6 * spread(Z))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        warnings.filterwarnings("ignore", message=".*'violet'")
        for table in (lists(new), np.array(lists(new), dtype=object)):
            np.testing.assert_allclose(fitted.transform(table), Z, rtol=1e-6, atol=1e-6 * spread(Z))
        polars = pl.DataFrame(lists(new), schema=NAMES, orient="row")
        np.testing.assert_allclose(fitted.transform(polars), Z, rtol=1e-6, atol=1e-6 * spread(Z))


@each
def test_new_rows_may_be_incomplete_where_the_fitted_ones_are_not(name):
    X, new = frame(), frame(5, holes=0.3, seed=7)
    assert np.isfinite(model(name, missing="pairwise").fit(X).transform(new)).all()
    with pytest.raises(
        ValueError, match=rf"{name}: X has \d+ missing values \(NaN\) in \d of 5 rows .*missing='pairwise'"
    ):
        model(name).fit(X).transform(new)


@each
def test_model_files(name, tmp_path):
    X = frame(holes=0.05)
    fitted = model(name, missing="pairwise").fit(X)
    lowdim.save(fitted, tmp_path / "model")
    again = lowdim.load(tmp_path / "model")
    np.testing.assert_array_equal(again.transform(X[:9]), fitted.transform(X[:9]))
    assert again.feature_names_in_.tolist() == NAMES
    with pytest.raises(ValueError, match="column 'size' held numbers at fit; got 'tall'"):
        again.transform(X[:2].assign(size=["tall", "small"]))


@each
def test_inverse_transform_gives_numbers_and_categories(name):
    X = frame()
    fitted = model(name).fit(X)
    back = fitted.inverse_transform(fitted.embedding_)
    assert back.shape == X.shape
    assert set(back[:, 2]) <= set(X["colour"])
    assert all(isinstance(value, bool) for value in back[:, 4])
    sizes = back[:, 0].astype(float)
    assert np.corrcoef(sizes, X["size"])[0, 1] > 0.5
    assert (back[:, 2] == X["colour"]).mean() > 0.5


@each
def test_what_cannot_be_measured_is_refused(name):
    X = frame()
    for table, message in (
        (frame(holes=0.1), rf"{name}: X has \d+ missing values"),
        (X.assign(born=pd.Timestamp("2020-01-01")), rf"{name}: X holds dates or durations \(column 'born'\)"),
        (X.assign(key=[f"k{i}" for i in range(45)]), rf"{name}: column 'key' has a different text in each"),
    ):
        with pytest.raises(ValueError, match=message):
            model(name).fit(table)
    with pytest.raises(ValueError, match=rf"{name}: missing='expected' must go with metric='euclidean'; got .*gower"):
        model(name, missing="expected").fit(X)
    with pytest.raises(TypeError, match=f"{name}: X must be dense"):
        model(name).fit(sparse.eye_array(30).tocsr())
    with pytest.raises(TypeError, match="iterator"):
        model(name).fit(X).transform(iter([X]))
    with pytest.raises(ValueError, match="feature names"):
        model(name).fit(X).transform(X[NAMES[::-1]])


@each
def test_tags_say_what_is_taken(name):
    tags = model(name).__sklearn_tags__().input_tags
    assert tags.string
    assert tags.categorical
    assert not tags.allow_nan
    assert model(name, missing="pairwise").__sklearn_tags__().input_tags.allow_nan
    tags = METRIC[name].estimator.__sklearn_tags__().input_tags
    assert not tags.string
    assert not tags.categorical


WEIGHTS = dict.fromkeys(
    ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"),
    "ranges are those of all rows, of those with weight 0 too",
)


# Up to 1.7 the check subtracts a mean, in place, from the integers that it makes for estimators that take categories.
IN_PLACE = "X -= X.mean()" in inspect.getsource(estimator_checks.check_positive_only_tag_during_fit)
BROKEN = {"check_positive_only_tag_during_fit": "scikit-learn's check fails itself"} if IN_PLACE else {}


@pytest.mark.parametrize("name", ["ClassicalMDS", "Isomap", "LaplacianEigenmaps", "MDS"])
def test_the_checks_of_scikit_learn(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = (WEIGHTS if name == "ClassicalMDS" else {}) | BROKEN
        check_estimator(model(name), expected_failed_checks=expected, on_skip=None)


def test_memory_is_that_of_the_fit():
    X = frame()
    estimator = model("Isomap")
    _, table = Gower.of(X, "test")
    size = estimator.estimate_memory(X)
    assert size == sum(estimator._memory(*table.shape, 8, None).values())
    assert size == estimator.estimate_memory(X.shape) == estimator.estimate_memory(lists(X))


def test_single_precision_stays():
    X = np.random.default_rng(0).normal(size=(40, 3)).astype(np.float32)
    assert model("Isomap").fit_transform(X).dtype == np.float32


@pytest.mark.parametrize("name", ["Isomap", "LLE", "LaplacianEigenmaps", "DiffusionMaps", "MVU", "TCIE", "LandmarkMDS"])
def test_landmarks_and_repair(name):
    X = frame(holes=0.05)
    settings = {"n_landmarks": 30, "missing": "pairwise"}
    fitted = model(name, **settings).fit(X)
    np.testing.assert_allclose(fitted.transform(X), fitted.embedding_, atol=1e-6 * spread(fitted.embedding_))
    if "repair" in fitted.get_params():
        options = {"n_neighbors": 9, "repair": "linearity", "missing": "pairwise"}
        assert np.isfinite(model(name, **options).fit_transform(X)).all()


# ---- measures --------------------------------------------------------------------------------------------------


MEASURES = [name for name in lowdim.quality.__all__ if inspect.isfunction(getattr(lowdim.quality, name))]
OF_EMBEDDINGS = ("procrustes", "degeneracy")  # they see no data


def numbers(found):
    """All numbers of a result: of scores, curves, tables, records and dicts."""
    if isinstance(found, dict):
        return [x for value in found.values() if value is not None for x in numbers(value)]
    if isinstance(found, str):
        return []
    if hasattr(found, "__dataclass_fields__"):
        return numbers({name: getattr(found, name) for name in found.__dataclass_fields__})
    if isinstance(found, (tuple, list)):
        return [x for value in found for x in numbers(value)]
    return np.asarray(found, dtype=float).ravel().tolist()


@pytest.mark.parametrize("measure", [name for name in MEASURES if name not in OF_EMBEDDINGS])
@pytest.mark.parametrize("holes", [0.0, 0.1])
def test_measures_are_those_of_the_distances(measure, holes):
    X, y = frame(holes=holes), np.arange(45) % 3
    D = lowdim.dissimilarities(X, metric="gower")
    Z = np.random.default_rng(0).normal(size=(45, 2))
    function = getattr(lowdim.quality, measure)
    arguments = {"scores": (Z, y), "scores_each": ({"map": Z}, y), "knn_error": (y,), "truncated_auc": (Z, 20)}
    given = arguments.get(measure, (Z,))
    ours, theirs = function(X, *given, metric="gower"), function(D, *given, metric="precomputed")
    assert len(numbers(ours)) > 0
    np.testing.assert_allclose(numbers(ours), numbers(theirs), rtol=1e-9, atol=1e-12)


def test_geodesic_references_and_names():
    X = frame(holes=0.1)
    D = lowdim.dissimilarities(X, metric="gower")
    Z = np.random.default_rng(0).normal(size=(45, 2))
    ours, theirs = (
        lowdim.quality.trustworthiness(rows, Z, reference="geodesic", metric=metric)
        for rows, metric in ((X, "gower"), (D, "precomputed"))
    )
    np.testing.assert_allclose(float(ours), float(theirs), rtol=1e-9)
    assert lowdim.quality.scores(X, Z, metric="gower")["metric"] == "gower"
    Z[3] = np.nan  # a row that the method left out
    assert lowdim.quality.scores(X, Z, metric="gower")["n_scored"] == 44


def test_the_number_of_dimensions():
    X = frame(holes=0.1)
    D = lowdim.dissimilarities(X, metric="gower")
    ours, theirs = lowdim.select.n_dimensions(X, metric="gower"), lowdim.select.n_dimensions(D)
    np.testing.assert_allclose(ours.eigenvalues, theirs.eigenvalues, atol=1e-12)


def test_a_comparison_can_use_it_as_its_reference():
    X = np.random.default_rng(0).normal(size=(40, 4))
    X[::7, 1] = np.nan
    for reference in ("ambient", "geodesic"):
        found = lowdim.compare(X, methods=["pca"], reference=reference, metric="gower")
        assert "gower" in found.reference.text


# ---- text and dates where numbers are needed ---------------------------------------------------------------------


def tables():
    rows = mixed_rows(30, np.random.default_rng(0))
    frame = pd.DataFrame(rows, columns=NAMES)
    yield "pandas", frame, "columns 'colour' and 'kind' hold text such as '(red|green|grey)'"
    yield "polars", pl.DataFrame(rows, schema=NAMES, orient="row"), "columns 'colour' and 'kind' hold text"
    yield "lists", rows, "columns 2 and 3 hold text"
    yield "objects", np.array(rows, dtype=object), "columns 2 and 3 hold text"
    yield "one column", frame[["size", "price", "colour"]], "column 'colour' holds text"
    yield "text alone", np.array([["a", "b"], ["c", "d"]] * 9), "columns 0 and 1 hold text such as 'a'"
    many = frame.assign(**{f"t{i}": frame["colour"] for i in range(4)})
    yield "many", many, "columns 'colour', 'kind', 't0' and 3 more hold text"


@pytest.mark.parametrize("case", [case for case in CASES if not case.takes_text], ids=lambda case: case.name)
def test_text_is_named_where_numbers_are_needed(case):
    for kind, X, message in tables():
        y = case.targets(np.arange(2.0 * len(X)).reshape(-1, 2))
        with pytest.raises(ValueError, match=f"{case.name}: X must hold numbers; {message}") as found:
            clone(case.estimator).fit(X, *y)
        assert "lowdim.FAMD" in str(found.value), kind
        assert ("metric='gower'" in str(found.value)) == (case.name in METRIC)


def test_text_in_new_rows_and_second_tables_is_named():
    X = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.raises(ValueError, match="PCA: X must hold numbers; column 1 holds text such as 'a'"):
        lowdim.PCA().fit(X).transform([[1.0, "a"]])
    with pytest.raises(ValueError, match="CCA: Y must hold numbers; column 0 holds text"):
        lowdim.CCA(n_components=1).fit(X, np.array([["a"]] * 20, dtype=object))
    with pytest.raises(ValueError, match="CA: X must hold numbers; column 0 holds text"):
        lowdim.CA().fit([["a", 1], ["b", 2]])
    with pytest.raises(ValueError, match=r"impute: .*regularized: needs numbers, and the table has categories"):
        lowdim.impute([[1.0, "a"], [np.nan, "b"], [3.0, "c"]], method="regularized")


def test_numbers_written_as_text_are_still_numbers():
    X = np.random.default_rng(0).normal(size=(20, 3))
    wanted = lowdim.PCA().fit(X).transform(X)
    np.testing.assert_allclose(lowdim.PCA().fit(X.astype(str)).transform(X), wanted)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_dates_are_named_where_numbers_are_needed(case):
    days = pd.date_range("2020-01-01", periods=30)
    X = pd.DataFrame({"size": np.random.default_rng(0).normal(size=30), "born": days})
    y = case.targets(np.arange(60.0).reshape(-1, 2))
    for table, column in (
        (X, "'born'"),
        (pl.DataFrame({"size": X["size"].to_list(), "born": days.date.tolist()}), "'born'"),
        (X.assign(born=days.date), "'born'"),
        ([[size, day] for size, day in zip(X["size"], days.date, strict=True)], "1"),
        ([[size, day] for size, day in zip(X["size"], days.to_numpy(), strict=True)], "1"),
        (np.array([[1.0, day - days.to_numpy()[0]] for day in days.to_numpy()], dtype=object), "1"),
    ):
        with pytest.raises(ValueError, match=rf"{case.name}: X holds dates or durations \(column {column}\)"):
            clone(case.estimator).fit(table, *y)

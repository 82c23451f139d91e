"""Categories: FactoMineR's numbers, adjusted inertias, scikit-learn's checks where categories are rounded numbers."""

import numpy as np
import pandas as pd
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import lowdim
from lowdim import CA, MCA
from tests.oracles import HERE, case, load_expected, load_input

TEA = "factominer_mca_tea"


def tea():
    table, names = load_input("tea18")
    return pd.DataFrame(table, columns=names)


def turned(A, B):
    return A * np.where((A * B).sum(axis=0) < 0, -1.0, 1.0)


@pytest.fixture(scope="module")
def fitted():
    return MCA(5).fit(tea())


def test_it_is_the_one_of_factominer(fitted):
    tolerance = {"rtol": case(TEA)["rtol"], "atol": case(TEA)["atol"]}
    np.testing.assert_allclose(fitted.eigenvalues_, load_expected(TEA, "eig")[:5, 0], **tolerance)
    every = MCA(27).fit(tea())
    np.testing.assert_allclose(every.eigenvalues_, load_expected(TEA, "eig")[:, 0], **tolerance)
    rows = load_expected(TEA, "ind_coord")
    np.testing.assert_allclose(turned(fitted.row_coordinates_, rows), rows, **tolerance)
    signs = turned(np.ones((1, 5)), (rows * fitted.row_coordinates_).sum(axis=0, keepdims=True))
    order = _order(fitted.column_names_)
    for attribute, file, sign in (
        ("column_coordinates_", "var_coord", signs),
        ("cos2_", "var_cos2", 1),
        ("contributions_", "var_contrib", 1),
    ):
        found = getattr(fitted, attribute)[order] * sign
        np.testing.assert_allclose(found, load_expected(TEA, file), err_msg=file, **tolerance)
    np.testing.assert_allclose(fitted.relations_, load_expected(TEA, "eta2"), **tolerance)


def _order(names):
    """Our columns in the order of the reference, which names a category alone unless two questions share its name."""
    lines = (HERE / TEA / "var_coord.csv").read_text(encoding="utf-8").splitlines()[1:]
    wanted = [line.split(",")[0].strip('"') for line in lines]
    short = [name.split("=", 1)[1] for name in names]
    return [short.index(name) if name in short else names.index(name.replace("_", "=", 1)) for name in wanted]


def test_geometry(fitted):
    everything = MCA(27).fit(tea())
    np.testing.assert_allclose(everything.eigenvalues_.sum(), 45 / 18 - 1)
    np.testing.assert_allclose(everything.contributions_.sum(axis=0), 100)
    np.testing.assert_allclose(everything.cos2_.sum(axis=1), 1)
    np.testing.assert_allclose(everything.relations_.mean(axis=0), everything.eigenvalues_, atol=1e-12)
    kind = tea()["Tea"].to_numpy()
    for name, place in zip(fitted.column_names_, fitted.column_coordinates_, strict=True):
        if name.startswith("Tea="):
            mean = fitted.row_coordinates_[kind == name[4:]].mean(axis=0)
            np.testing.assert_allclose(place, mean / np.sqrt(fitted.eigenvalues_[:5]), atol=1e-12)


def test_adjusted_inertias():
    """With two questions they are those of the simple correspondence analysis of their cross table."""
    frame = tea()[["where", "price"]]
    model, cross = MCA(2).fit(frame), pd.crosstab(frame["where"], frame["price"])
    inertias = CA(2).fit(cross).eigenvalues_
    np.testing.assert_allclose(model.adjusted_eigenvalues_, inertias, atol=1e-12)
    np.testing.assert_allclose(model.greenacre_ratio_, inertias / inertias.sum(), atol=1e-12)
    np.testing.assert_allclose(model.benzecri_ratio_, inertias / inertias.sum(), atol=1e-12)
    many = MCA(2).fit(tea())
    values = MCA(27).fit(tea()).eigenvalues_
    above = values[values > 1 / 18]
    np.testing.assert_allclose(many.adjusted_eigenvalues_, (18 / 17 * (above - 1 / 18)) ** 2)
    # Greenacre's total: the mean inertia of the cross tables of all pairs of different questions.
    answers = [(column[:, None] == np.unique(column)).astype(float) for column in tea().to_numpy(dtype=str).T]
    total = 0.0
    for i, one in enumerate(answers):
        for two in answers[:i]:
            P = one.T @ two / 300
            expected = np.outer(P.sum(axis=1), P.sum(axis=0))
            total += ((P - expected) ** 2 / expected).sum() / (18 * 17 / 2)
    np.testing.assert_allclose(many.greenacre_ratio_, many.adjusted_eigenvalues_ / total, rtol=1e-9)
    assert many.benzecri_ratio_.sum() == pytest.approx(1)
    assert many.explained_variance_ratio_[0] < many.greenacre_ratio_[0] < many.benzecri_ratio_[0]


def test_new_rows_and_the_way_back(fitted):
    np.testing.assert_allclose(fitted.transform(tea()), fitted.row_coordinates_, atol=1e-12)
    alone = np.vstack([fitted.transform(tea().iloc[i : i + 1]) for i in range(20)])
    np.testing.assert_allclose(alone, fitted.row_coordinates_[:20], atol=1e-12)
    full = MCA(27).fit(tea())
    np.testing.assert_array_equal(full.inverse_transform(full.row_coordinates_), tea())
    assert (fitted.inverse_transform(fitted.row_coordinates_) == tea().to_numpy()).mean() > 0.75
    new = tea().iloc[:2].copy()
    new.loc[0, "where"] = "garden"
    with pytest.warns(UserWarning, match=r"MCA: column 'where' has 'garden' \(1 cell\): not there at fit"):
        fitted.transform(new)
    assert np.isfinite(MCA(2, unknown="ignore").fit(tea()).transform(new)).all()


@pytest.mark.parametrize("missing", ["regularized", "em"])
def test_holes_are_filled_better_than_with_the_commonest_answer(missing):
    """Votes follow parties, so that some tell of the others."""
    rng = np.random.default_rng(0)
    party = rng.integers(0, 2, 200)
    votes = np.where(rng.random((200, 10)) < 0.9, party[:, None], 1 - party[:, None])
    frame = pd.DataFrame(np.where(votes, "yes", "no"), columns=[f"v{j}" for j in range(10)])
    holes = lowdim.datasets.hide_cells(frame, 0.2, random_state=0)
    model = MCA(1, missing=missing).fit(holes.X)
    right = (model.completed_ == frame.to_numpy())[holes.mask].mean()
    assert right > 0.85
    np.testing.assert_allclose(model.transform(holes.X), model.row_coordinates_, atol=2e-3)
    np.testing.assert_array_equal(model.completed_[~holes.mask], frame.to_numpy()[~holes.mask])
    assert abs(np.corrcoef(model.row_coordinates_[:, 0], party)[0, 1]) > 0.95


def test_numbers_and_truth_values_are_categories():
    frame = pd.DataFrame({"n": [1, 2, 3, 1, 2, 3], "b": [True, False] * 3, "t": list("xxyyxy")})
    model = MCA(2).fit(frame)
    assert model.categories_ == [(1, 2, 3), (False, True), ("x", "y")]
    assert model.column_names_ == ["n=1", "n=2", "n=3", "b=False", "b=True", "t=x", "t=y"]
    np.testing.assert_allclose(MCA(2).fit_transform(frame.astype(str)), model.row_coordinates_, atol=1e-12)


def test_files(tmp_path, fitted):
    lowdim.save(fitted, tmp_path / "m")
    copy = lowdim.load(tmp_path / "m")
    np.testing.assert_array_equal(copy.transform(tea()), fitted.transform(tea()))
    assert list(fitted.set_output(transform="pandas").transform(tea().iloc[:2]).columns) == [
        f"mca{i}" for i in range(5)
    ]
    fitted.set_output(transform="default")


@pytest.mark.parametrize("n_jobs", [1, 2, None])
def test_same_bits_for_any_number_of_threads(n_jobs, fitted):
    np.testing.assert_array_equal(MCA(5, n_jobs=n_jobs).fit(tea()).row_coordinates_, fitted.row_coordinates_)


# The checks round their rows, so that numbers repeat; some new ones are still categories MCA has not met.
@pytest.mark.filterwarnings("ignore:MCA. n_components=2 is more than", "ignore:CA. n_components=2 is more than")
@parametrize_with_checks(
    [MCA(n_components=2, unknown="ignore", tol=1e-3), CA(n_components=2)],
    expected_failed_checks=lambda estimator: (
        {"check_estimators_dtypes": "its rows without any count have no profile"} if isinstance(estimator, CA) else {}
    ),
)
def test_scikit_learn_check(estimator, check):
    check(estimator)


@pytest.mark.parametrize("dtype", [int, float, object])
def test_whole_numbers_are_named_as_such(dtype):
    X = np.array([[0, 1], [1, 2], [0, 2], [2, 1], [1, 1]]).astype(dtype)
    model = MCA(2).fit(X)
    assert model.column_names_[:3] == ["x0=0", "x0=1", "x0=2"]
    assert MCA(2).fit(X.astype(float) / 2).column_names_[:3] == ["x0=0.0", "x0=0.5", "x0=1.0"]


def test_columns_of_the_same_name_are_refused():
    table = pd.DataFrame([["a", 1.0, "u"], ["b", 2.0, "v"], ["a", 3.0, "v"]], columns=["x", "y", "x"])
    for method in (MCA, lowdim.FAMD):
        with pytest.raises(ValueError, match="must have different names; 2 are called 'x'"):
            method(1).fit(table)


def test_callbacks_see_the_completed_answers_and_stop():
    frame, seen = tea().astype(object), []
    frame.iloc[::7, 2] = None

    def watch(step, loss, table):
        seen.append(table)
        return step == 2

    model = MCA(2, tol=1e-12, callback=watch).fit(frame)
    assert len(seen) == model.n_iter_ == 2
    assert not model.converged_
    assert all(table.shape == frame.shape and (table != None).all() for table in seen)  # noqa: E711 (cell by cell)
    np.testing.assert_array_equal(seen[-1], model.completed_)

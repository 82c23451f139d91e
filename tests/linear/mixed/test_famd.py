"""Mixed tables: FactoMineR's and missMDA's numbers, identities with PCA and MCA, holes, new rows."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import ConvergenceWarning

import lowdim
from lowdim import FAMD, MCA, PCA
from tests.oracles import case, load_expected, load_input

WINE = "factominer_famd_wine"
KINDS = ["Label", "Soil"]


def wine():
    table, names = load_input("wine_famd")
    frame = pd.DataFrame(table, columns=names).drop(columns="name")
    return frame.astype({name: float for name in frame if name not in KINDS})


def turned(A, B):
    """A with the sign of each column as in B."""
    return A * np.where((A * B).sum(axis=0) < 0, -1.0, 1.0)


def mixed(n=120, seed=0):
    """Two hidden causes behind three numbers and three questions."""
    rng = np.random.default_rng(seed)
    z = rng.standard_normal((n, 2))
    frame = pd.DataFrame(z @ rng.standard_normal((2, 3)) + 0.2 * rng.standard_normal((n, 3)), columns=list("abc"))
    for name, weights, cuts in (("d", (1, 0), [0]), ("e", (0, 1), [-0.5, 0.5]), ("f", (1, 1), [-1, 0, 1])):
        frame[name] = [f"{name}{i}" for i in np.digitize(z @ weights + 0.2 * rng.standard_normal(n), cuts)]
    return frame


@pytest.fixture(scope="module")
def fitted():
    return FAMD(5).fit(wine())


def test_it_is_the_one_of_factominer(fitted):
    tolerance = {"rtol": case(WINE)["rtol"], "atol": case(WINE)["atol"]}
    rows = load_expected(WINE, "ind_coord").astype(float)
    np.testing.assert_allclose(turned(fitted.row_coordinates_, rows), rows, **tolerance)
    eig = load_expected(WINE, "eig")
    np.testing.assert_allclose(fitted.eigenvalues_[:5], eig[:, 0], **tolerance)
    np.testing.assert_allclose(100 * fitted.explained_variance_ratio_, eig[:, 1], **tolerance)
    signs = turned(np.ones((1, 5)), rows[:1] * fitted.row_coordinates_[:1])
    numbers = [not name.startswith(tuple(f"{kind}=" for kind in KINDS)) for name in fitted.column_names_]
    found = fitted.column_coordinates_[numbers] * signs
    np.testing.assert_allclose(found, load_expected(WINE, "quanti_coord"), **tolerance)
    expected = dict(zip(_names("quali_coord"), load_expected(WINE, "quali_coord"), strict=True))
    for name, place in zip(fitted.column_names_, fitted.column_coordinates_ * signs, strict=True):
        if "=" in name:
            np.testing.assert_allclose(place, expected[name.split("=")[1]], **tolerance)
    order = [fitted.feature_names_in_.tolist().index(name) for name in _names("var_coord")]
    np.testing.assert_allclose(fitted.relations_[order], load_expected(WINE, "var_coord"), **tolerance)


def _names(file):
    from tests.oracles import HERE

    lines = (HERE / WINE / f"{file}.csv").read_text(encoding="utf-8").splitlines()[1:]
    return [line.split(",")[0].strip('"') for line in lines]


def test_numbers_alone_are_scaled_pca():
    X = np.random.default_rng(0).standard_normal((50, 6)) @ np.diag([5, 4, 3, 2, 1, 1]) + 3
    ours, pca = FAMD(3).fit(X), PCA(3, scale=True, ddof=0).fit(X)
    np.testing.assert_allclose(ours.transform(X), pca.transform(X), atol=1e-10)
    np.testing.assert_allclose(ours.eigenvalues_[:3], pca.explained_variance_, rtol=1e-10)
    np.testing.assert_allclose(ours.inverse_transform(ours.transform(X)), pca.inverse_transform(pca.transform(X)))
    correlations = np.corrcoef(X.T, ours.row_coordinates_.T)[:6, 6:]
    np.testing.assert_allclose(ours.column_coordinates_, correlations, atol=1e-10)


def test_categories_alone_are_mca_on_another_scale():
    frame = mixed()[list("def")]
    famd, mca = FAMD(3).fit(frame), MCA(3).fit(frame)
    np.testing.assert_allclose(famd.eigenvalues_, 3 * mca.eigenvalues_, rtol=1e-10)
    np.testing.assert_allclose(famd.row_coordinates_, np.sqrt(3) * mca.row_coordinates_, atol=1e-10)
    np.testing.assert_allclose(famd.contributions_, mca.contributions_, atol=1e-8)
    np.testing.assert_allclose(famd.relations_, mca.relations_, atol=1e-10)


def test_geometry(fitted):
    everything = FAMD(10).fit(wine())
    np.testing.assert_allclose(everything.contributions_.sum(axis=0), 100)
    np.testing.assert_allclose(everything.relations_.sum(axis=0), everything.eigenvalues_[:10], atol=1e-10)
    full = FAMD(11).fit(wine())
    np.testing.assert_allclose(full.cos2_.sum(axis=1), 1)
    assert len(full.eigenvalues_) == full.n_components_ == 11  # 6 numbers + 3 + 4 categories - 2 questions
    np.testing.assert_allclose(full.eigenvalues_.sum(), 6 + 2 + 3)
    soil = wine()["Soil"].to_numpy()
    for name, place in zip(fitted.column_names_, fitted.column_coordinates_, strict=True):
        if name.startswith("Soil="):
            np.testing.assert_allclose(place, fitted.row_coordinates_[soil == name[5:]].mean(axis=0), atol=1e-12)


def test_a_new_row_does_not_depend_on_its_companions(fitted):
    """Proportions and means are those of the fit, also for one row alone."""
    frame = wine()
    alone = np.vstack([fitted.transform(frame.iloc[i : i + 1]) for i in range(len(frame))])
    np.testing.assert_allclose(alone, fitted.row_coordinates_, atol=1e-12)


def test_the_way_back_is_exact_with_all_axes():
    full = FAMD(11).fit(wine())
    back = full.inverse_transform(full.row_coordinates_)
    assert back.dtype == object
    np.testing.assert_array_equal(back[:, :2], wine()[KINDS])
    np.testing.assert_allclose(back[:, 2:].astype(float), wine().drop(columns=KINDS), atol=1e-10)


@pytest.mark.parametrize("name", ["reg_orange_ncp2", "em_orange_ncp2", "reg_orange_ncp2_ridge2"])
def test_holes_in_numbers_are_filled_as_missmda_does(name):
    name = f"missmda_impute_{name}"
    X, _ = load_input("orange_na")
    missing = "em" if "_em_" in name else "regularized"
    model = FAMD(2, missing=missing, ridge=2.0 if "ridge2" in name else 1.0, tol=1e-13, max_iter=5000).fit(X[:, 1:])
    np.testing.assert_allclose(model.completed_, load_expected(name, "completed"), atol=1e-8)
    # What was there comes back bit for bit, and rows with holes are placed where they were.
    there = ~np.isnan(X[:, 1:])
    np.testing.assert_array_equal(model.completed_[there], X[:, 1:][there])
    np.testing.assert_allclose(model.transform(X[:, 1:]), model.row_coordinates_, atol=1e-9)


@pytest.mark.parametrize("missing", ["regularized", "em"])
def test_holes_in_mixed_tables_are_filled_well(missing):
    frame = mixed(300)
    holes = lowdim.datasets.hide_cells(frame, 0.15, random_state=1)
    model = FAMD(2, missing=missing).fit(holes.X)
    assert model.converged_
    filled = pd.DataFrame(model.completed_, columns=frame.columns)
    np.testing.assert_array_equal(filled.to_numpy()[~holes.mask], frame.to_numpy()[~holes.mask])
    for j, name in enumerate(frame):
        gone, truth = holes.mask[:, j], frame[name].to_numpy()
        if name in "abc":
            error = np.mean((filled[name].to_numpy()[gone].astype(float) - truth[gone]) ** 2)
            assert error < 0.35 * truth.var()
        else:
            _, counts = np.unique(truth, return_counts=True)
            right = np.mean(filled[name].to_numpy()[gone] == truth[gone])
            assert right > counts.max() / len(truth) + 0.15  # the commonest category
    exact = FAMD(2, missing=missing, tol=1e-9, max_iter=5000).fit(holes.X)
    np.testing.assert_allclose(exact.transform(holes.X), exact.row_coordinates_, atol=1e-3)


def twin(D, numeric, n_questions, k, ridge):
    """Iterative filling as published, one line a step; categories take a dimension less each."""
    holes, (n, J) = np.isnan(D), D.shape
    filled, p = np.where(holes, np.nanmean(D, axis=0), D), J - n_questions
    for _ in range(3000):
        mean = filled.mean(axis=0)
        scale = np.where(numeric, filled.std(axis=0), np.sqrt(np.abs(mean)))
        T = (filled - mean) / scale
        _, s, Vt = np.linalg.svd(T / np.sqrt(n), full_matrices=False)
        sigma2 = n * p / min(p, n - 1) * (s[k:] ** 2).sum() / ((n - 1 - k) * (p - k))
        shrink = 1 - min(ridge * sigma2, s[k] ** 2) / s[:k] ** 2
        filled = np.where(holes, mean + (T @ Vt[:k].T * shrink) @ Vt[:k] * scale, D)
    return filled


def test_filling_is_its_twin():
    """Wide tables and categories too, which the stored results do not have."""
    settings = {"ridge": 0.5, "tol": 1e-14, "max_iter": 5000}
    wide = np.random.default_rng(0).standard_normal((9, 3)) @ np.random.default_rng(1).standard_normal((3, 15))
    wide += 0.3 * np.random.default_rng(2).standard_normal(wide.shape)
    wide = lowdim.datasets.hide_cells(wide, 0.1, random_state=0).X
    expected = twin(wide, np.ones(15, dtype=bool), 0, 2, 0.5)
    np.testing.assert_allclose(FAMD(2, **settings).fit(wide).completed_, expected, atol=1e-6)

    frame = lowdim.datasets.hide_cells(mixed(60), 0.1, random_state=0).X
    kinds = [[f"{name}{i}" for i in range(count)] for name, count in (("d", 2), ("e", 3), ("f", 4))]
    parts = [frame[list("abc")].to_numpy()]
    for name, found in zip("def", kinds, strict=True):
        gone = frame[name].isna().to_numpy()[:, None]
        parts.append(np.where(gone, np.nan, frame[name].to_numpy()[:, None] == found))
    D = np.hstack(parts).astype(float)
    expected, model = twin(D, np.arange(12) < 3, 3, 2, 0.5), FAMD(2, **settings).fit(frame)
    np.testing.assert_allclose(model.completed_[:, :3].astype(float), expected[:, :3], atol=1e-6)
    np.testing.assert_allclose(model.mean_, expected.mean(axis=0), atol=1e-7)


def test_a_complete_table_is_not_touched():
    model = FAMD(2).fit(mixed())
    assert model.completed_ is None
    assert model.n_iter_ == 1
    np.testing.assert_array_equal(model.transform(mixed()), FAMD(2, missing="error").fit_transform(mixed()))


def test_new_rows_with_holes_are_not_drawn_to_the_middle():
    """Least squares on what is there: on average as far out as the complete rows."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 2)) @ rng.standard_normal((2, 12)) + 0.05 * rng.standard_normal((400, 12))
    model = FAMD(2).fit(X)
    holes = lowdim.datasets.hide_cells(X, 0.3, random_state=0).X
    Z, complete = model.transform(holes), model.row_coordinates_
    assert (Z * complete).sum() / (complete**2).sum() == pytest.approx(1, abs=0.02)
    assert np.abs(Z - complete).max() < 0.1 * np.abs(complete).max()


def test_categories_never_seen():
    frame = mixed()
    model = FAMD(2, unknown="error").fit(frame)
    new = frame.iloc[:3].copy()
    new.loc[1, "e"] = "e9"
    with pytest.raises(ValueError, match=r"FAMD: column 'e' has 'e9' \(1 cell\): not there at fit. Set unknown='warn'"):
        model.transform(new)
    lenient = FAMD(2, unknown="ignore").fit(frame)
    hole = new.copy()
    hole.loc[1, "e"] = None
    np.testing.assert_array_equal(lenient.transform(new), lenient.transform(hole))
    with pytest.warns(UserWarning, match=r"FAMD: column 'e' has 'e9' \(1 cell\).* other columns place the row") as said:
        Z = FAMD(2).fit(frame).transform(new)
    np.testing.assert_array_equal(Z, lenient.transform(hole))
    assert len(said) == 1
    np.testing.assert_allclose(lenient.transform(new)[[0, 2]], model.transform(frame.iloc[[0, 2]]), atol=1e-14)
    strict = FAMD(2, unknown="ignore", missing="error").fit(frame)
    np.testing.assert_array_equal(strict.transform(new), lenient.transform(new))
    with pytest.raises(ValueError, match="missing values"):
        strict.transform(hole)
    text = frame.copy()
    text["a"] = "many"
    with pytest.raises(ValueError, match="column 'a' held numbers at fit; got 'many'"):
        model.transform(text)


def test_any_container_gives_the_same_result():
    frame = mixed()
    Z = FAMD(2).fit_transform(frame)
    categorical = frame.astype(dict.fromkeys("def", "category"))
    objects = frame.to_numpy(dtype=object)
    for table in (pl.DataFrame(frame.to_dict("list")), categorical, objects, objects.tolist(), frame.convert_dtypes()):
        np.testing.assert_allclose(FAMD(2).fit_transform(table), Z, atol=1e-12)
    holes = lowdim.datasets.hide_cells(frame, 0.1, random_state=0).X
    Z = FAMD(2).fit_transform(holes)
    polars = pl.DataFrame({name: [None if v != v else v for v in holes[name]] for name in holes})
    for table in (polars, holes.convert_dtypes(), holes.to_numpy(dtype=object)):
        np.testing.assert_allclose(FAMD(2).fit_transform(table), Z, atol=1e-12)
    logical = pd.DataFrame({"a": frame["a"], "yes": frame["d"] == "d0", "size": pd.Series(range(120), dtype="Int64")})
    model = FAMD(2).fit(logical)
    assert model.categories_ == [None, (False, True), None]
    assert model.inverse_transform(model.row_coordinates_)[:, 1].tolist().count(True) > 10


def test_files_and_pickles(tmp_path):
    holes = lowdim.datasets.hide_cells(mixed(), 0.1, random_state=0).X
    model = FAMD(2).fit(holes)
    lowdim.save(model, tmp_path / "m")
    for copy in (lowdim.load(tmp_path / "m"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(copy.transform(holes), model.transform(holes))
        np.testing.assert_array_equal(copy.completed_, model.completed_)
        assert copy.categories_ == model.categories_


def test_memory_counts_categories():
    n = 2000
    frame = pd.DataFrame({"a": np.arange(float(n)), "b": [f"c{i % 300}" for i in range(n)]})
    assert FAMD(2).estimate_memory(frame) > 100 * FAMD(2).estimate_memory(frame[["a"]])
    with lowdim.config(memory_limit="5MB"), pytest.raises(MemoryError, match="Join rare categories"):
        FAMD(2).fit(frame)


def test_words_for_what_is_wrong():
    frame = mixed(40)
    with pytest.warns(UserWarning, match="FAMD: 2 of 8 columns are constant"):
        FAMD(2).fit(frame.assign(same="x", one=1.0))
    with pytest.warns(UserWarning, match="n_components=99 is more than the rank of the table; keeping 9"):
        FAMD(99).fit(frame)
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        assert not FAMD(2, max_iter=2).fit(lowdim.datasets.hide_cells(frame, 0.2, random_state=0).X).converged_
    with pytest.raises(ValueError, match="rows that differ"):
        FAMD(2).fit(pd.DataFrame({"a": [1.0, 1.0], "b": ["x", "x"]}))
    with pytest.raises(ValueError, match="X has 1 missing values"):
        FAMD(2, missing="error").fit(frame.mask(np.eye(40, 6) * np.arange(6) == 5))
    with pytest.raises(ValueError, match="1 column of X has no observed cell"):
        FAMD(2).fit(frame.assign(none=[None] * 40))
    for dates in (pd.DataFrame({"t": pd.date_range("2026", periods=9), "k": list("ab") * 4 + ["a"]}),):
        for table in (dates, pl.DataFrame(dates.to_dict("list"))):
            with pytest.raises(ValueError, match="dates"):
                FAMD(1).fit(table)
    with pytest.raises(ValueError, match="at least 2 rows"):
        FAMD(1).fit(frame.iloc[:1])
    for size in (1e200, 1e-200):
        with pytest.raises(
            ValueError, match=r"FAMD: the largest value of column 'a' is .*, and its square is out of range"
        ):
            FAMD(1).fit(frame.assign(a=frame["a"] * size))
    for text in (np.array(["a", "b"]), np.array([[["a"], ["b"]]])):
        with pytest.raises(ValueError, match=r"array|dim|convert"):
            FAMD(1).fit(text)
    with pytest.raises(ValueError, match="expecting 6 features"):
        FAMD(1).fit(frame.to_numpy(dtype=object)).transform(np.full((3, 2), "a"))

"""Factor maps: FactoMineR's numbers, and what must hold of supplementary rows and columns."""

import csv

import matplotlib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse, stats

import lowdim
from lowdim import FAMD, MCA, PCA, FactorMap
from tests.oracles import HERE, case, load_expected, load_input

PCA_NAME = "factominer_pca_decathlon"


def decathlon():
    table, names = load_input("decathlon")
    frame = pd.DataFrame(table, columns=names).set_index("name")
    return frame.astype({name: float for name in frame if name != "Competition"})


def tea():
    table, names = load_input("tea18")
    return pd.DataFrame(table, columns=names)


def wine():
    table, names = load_input("wine_famd")
    frame = pd.DataFrame(table, columns=names).set_index("name")
    return frame.astype({name: float for name in frame if name not in ("Label", "Soil")})


def expected(name, file):
    found = load_expected(name, file)
    return np.asarray(found, dtype=float)


def stored_names(name, file):
    with (HERE / name / f"{file}.csv").open(encoding="utf-8", newline="") as lines:
        return [line[0] for line in csv.reader(lines)][1:]


@pytest.fixture(scope="module")
def maps():
    frame = decathlon()
    active = frame.iloc[:, :10]
    return FactorMap(PCA(10, scale=True, ddof=0).fit(active), active, columns=frame.iloc[:, 10:])


@pytest.mark.parametrize("name", [PCA_NAME, f"{PCA_NAME}_unscaled"])
def test_it_is_the_one_of_factominer(name):
    frame = decathlon()
    scaled = name == PCA_NAME
    n, k = (41, 10) if scaled else (35, 5)
    active, new = frame.iloc[:n, :10], None if scaled else frame.iloc[n:, :10]
    found = FactorMap(PCA(k, scale=scaled, ddof=0).fit(active), active, rows=new, columns=frame.iloc[:n, 10:])
    people, columns, kinds = found.individuals, found.variables, found.categories
    signs = np.sign((people.coordinates[:n] * expected(name, "ind_coord")).sum(axis=0))
    # The reference turns each axis so that its loadings sum to something positive.
    np.testing.assert_array_equal(signs, np.sign(found.model.components_.sum(axis=1)))
    numbers = {
        "eig": found.eigenvalues,
        "ind_coord": people.coordinates[:n] * signs,
        "ind_cos2": people.cos2[:n],
        "ind_contrib": people.contributions[:n],
        "ind_dist": people.distances[:n],
        "var_coord": columns.coordinates[:10] * signs,
        "var_cor": columns.correlations[:10] * signs,
        "var_cos2": columns.cos2[:10],
        "var_contrib": columns.contributions[:10],
        "quantisup_coord": columns.coordinates[10:] * signs,
        "quantisup_cor": columns.correlations[10:] * signs,
        "quantisup_cos2": columns.cos2[10:],
        "qualisup_coord": kinds.coordinates * signs,
        "qualisup_cos2": kinds.cos2,
        "qualisup_dist": kinds.distances,
        "qualisup_vtest": kinds.v_test * signs,
        "qualisup_eta2": np.atleast_2d(found.eta2["Competition"]),
    }
    if not scaled:
        numbers |= {
            "indsup_coord": people.coordinates[n:] * signs,
            "indsup_cos2": people.cos2[n:],
            "indsup_dist": people.distances[n:],
        }
    for file, values in numbers.items():
        wanted = expected(name, file)
        wanted = wanted[:k, 0] if file == "eig" else wanted
        np.testing.assert_allclose(values, wanted, rtol=1e-8, atol=1e-9, err_msg=file)
    assert people.names[:2] == ["SEBRLE", "CLAY"]
    assert columns.names[9:] == ["1500m", "Rank", "Points"]
    assert kinds.names == ["Competition=Decastar", "Competition=OlympicG"]


def test_incomplete_tables_are_completed_by_the_model():
    """The reference fills column means with a warning, which is its own answer, not that of the data."""
    frame = decathlon().iloc[:, :10]
    holes = frame.copy()
    holes.iloc[2, 1] = holes.iloc[9, 4] = holes.iloc[19, 9] = np.nan
    with pytest.raises(ValueError, match="missing values"):
        FactorMap(PCA(5, scale=True, ddof=0, missing="error").fit(frame), holes)
    model = PCA(3, scale=True, ddof=0, tol=1e-12).fit(holes)
    found, whole = FactorMap(model, holes, rows=holes.iloc[:3]), FactorMap(model, frame * 0 + model.completed_)
    np.testing.assert_allclose(found.individuals.coordinates[: len(holes)], model.transform(holes), atol=1e-10)
    np.testing.assert_allclose(found.individuals.cos2[: len(holes)], whole.individuals.cos2, atol=1e-4)
    np.testing.assert_allclose(found.individuals.contributions[: len(holes)].sum(axis=0), 100)
    np.testing.assert_allclose(found.individuals.coordinates[-3:], found.individuals.coordinates[:3])


def test_supplementary_rows_with_holes_are_nearer_to_their_place_than_with_column_means():
    frame = decathlon().iloc[:, :10]
    fitted, new = frame.iloc[:28], frame.iloc[28:]
    holes = new.mask(np.random.default_rng(0).random(new.shape) < 0.2)
    model = PCA(2, scale=True).fit(fitted)
    places = [FactorMap(model, fitted, rows=rows).individuals for rows in (new, holes, holes.fillna(fitted.mean()))]
    where, taken, filled = (place.coordinates[28:] for place in places)
    assert np.square(taken - where).sum() < 0.9 * np.square(filled - where).sum()
    whole = ~holes.isna().any(axis=1).to_numpy()
    np.testing.assert_allclose(taken[whole], where[whole], atol=1e-9)


def test_incomplete_categories_are_not_counted_as_observed():
    rng = np.random.default_rng(0)
    first = rng.integers(0, 3, 60)
    answers = np.column_stack([np.where(rng.random(60) < 0.7, first, rng.integers(0, 3, 60)) for _ in range(3)])
    holes = np.array([["abc"[c] for c in row] for row in answers], dtype=object)
    holes[3, 0] = holes[11, 1] = None
    model = MCA(2, tol=1e-10).fit(holes)
    found = FactorMap(model, holes)
    np.testing.assert_allclose(found.individuals.coordinates, model.row_coordinates_, atol=1e-4)
    assert sum(rows.sum() for rows in found._questions["x0"].values()) == 59


def test_supplementary_columns_use_the_rows_in_which_they_are_observed():
    frame = decathlon().iloc[:, :10]
    model = PCA(2, scale=True, ddof=0).fit(frame)
    number, kind = np.arange(len(frame), dtype=float), ["a", "b"] * len(frame)
    number[:5] = np.nan
    columns = {"number": number, "kind": [None, None, *kind[2 : len(frame)]]}
    maps = FactorMap(model, frame, columns=columns)
    scores = model.transform(frame)
    wanted = [np.corrcoef(number[5:], scores[5:, a])[0, 1] for a in (0, 1)]
    np.testing.assert_allclose(maps.variables.correlations[-1], wanted, atol=0.05)
    assert maps.categories.names == ["kind=a", "kind=b"]
    with pytest.raises(ValueError, match="a value for each of the"):
        FactorMap(model, frame, columns={"short": [1.0, 2.0]})


def test_points_are_selected_by_quality():
    frame = decathlon().iloc[:, :10]
    people = FactorMap(PCA(3, scale=True, ddof=0).fit(frame), frame).individuals
    cos2, share = (values[:, :2].sum(axis=1) for values in (people.cos2, people.contributions))
    np.testing.assert_array_equal(people.select("cos2 5"), np.argsort(-cos2, kind="stable")[:5])
    np.testing.assert_array_equal(np.sort(people.select("cos2 0.6")), np.flatnonzero(cos2 >= 0.6))
    np.testing.assert_array_equal(people.select("contribution 4"), np.argsort(-share, kind="stable")[:4])
    assert len(people.select(3)) == 3
    for bad in ("cos2", "size 3", "cos2 -1", 0, True):
        with pytest.raises(ValueError, match="FactorMap: select must be"):
            people.select(bad)


def test_control_limits_let_their_share_of_new_rows_through():
    rng = np.random.default_rng(0)
    A = rng.standard_normal((3, 8))
    X, new = (rng.standard_normal((n, 3)) @ A + 0.5 * rng.standard_normal((n, 8)) for n in (200, 4000))
    maps = FactorMap(PCA(3, ddof=0).fit(X), X, rows=new)
    found = maps.monitor(0.05)
    assert 0.035 < (found.t2[200:] > found.t2_limit).mean() < 0.065
    assert 0.035 < (found.spe[200:] > found.spe_limit).mean() < 0.075
    C = np.cov(X.T)
    V = maps.model.components_
    gap = (new[0] - X.mean(axis=0)) @ V.T
    assert found.t2[200] == pytest.approx(gap @ np.linalg.solve(V @ C @ V.T, gap))
    left = new[0] - X.mean(axis=0) - gap @ V
    assert found.spe[200] == pytest.approx(left @ left)
    assert repr(found).startswith("<Monitoring: ")
    with pytest.raises(TypeError, match="monitor must have the axes of PCA"):
        FactorMap(FAMD(2).fit(X), X).monitor()


def test_pictures_with_ellipses_arrows_and_selected_names():
    frame = decathlon().iloc[:, :10]
    maps = FactorMap(PCA(2, scale=True, ddof=0).fit(frame), frame)
    labels = np.arange(len(frame)) % 2
    ax = lowdim.plot.factor_map(maps, labels=labels, ellipses=0.95, biplot=True, select="cos2 3")
    texts = {text.get_text() for text in ax.texts}
    assert set(frame.columns) <= texts
    assert len([line for line in ax.lines if len(line.get_xdata()) == 100]) == 2
    lowdim.plot.factor_map(maps, labels="cos2")
    circle = lowdim.plot.correlation_circle(maps, select="cos2 4")
    assert len({text.get_text() for text in circle.texts} & set(frame.columns)) == 4
    with pytest.raises(ValueError, match="ellipses must be a confidence"):
        lowdim.plot.factor_map(maps, ellipses=0.95)
    with pytest.raises(ValueError, match="labels must be one per active row"):
        lowdim.plot.factor_map(maps, labels="size")
    matplotlib.pyplot.close("all")


@pytest.mark.parametrize("axis", [0, 1])
def test_descriptions_are_those_of_factominer(maps, axis):
    name = "factominer_dimdesc_decathlon"
    tolerance = {"rtol": case(name)["rtol"], "atol": case(name)["atol"]}
    found = maps.describe(axis)
    sign = np.sign(maps.model.components_[axis].sum())
    for file, rows in (("quanti", found.variables), ("quali", found.questions), ("category", found.categories)):
        file = f"dim{axis + 1}_{file}"
        wanted = dict(zip(stored_names(name, file), np.atleast_2d(expected(name, file)), strict=True))
        assert len(wanted) == len(rows)
        for label, value, p in rows:
            turn = 1 if file.endswith("quali") else sign
            np.testing.assert_allclose([value * turn, p], wanted[label], err_msg=label, **tolerance)
    assert "correlation:" in repr(found)
    with pytest.raises(ValueError, match="axis must be a whole number from 0 to 9; got 10"):
        maps.describe(10)


def test_descriptions_of_several_groups():
    """Against scipy's analysis of variance, and t tests of contrasts by least squares."""
    found = FactorMap(FAMD(3).fit(wine()), wine())
    scores, soil = found.individuals.coordinates[:, 1], wine()["Soil"].to_numpy()
    kinds = np.unique(soil)
    wanted = stats.f_oneway(*[scores[soil == kind] for kind in kinds])
    named = {name: (ratio, p) for name, ratio, p in found.describe(1).questions}
    assert named["Soil"][1] == pytest.approx(wanted.pvalue)
    assert named["Soil"][0] == pytest.approx(found.eta2["Soil"][1])
    coding = np.column_stack([np.ones(21), *[(soil == k).astype(float) - (soil == kinds[-1]) for k in kinds[:-1]]])
    beta, rest, *_ = np.linalg.lstsq(coding, scores, rcond=None)
    errors = np.sqrt(np.diag(np.linalg.inv(coding.T @ coding)) * rest[0] / (21 - 4))
    each = {name: (value, p) for name, value, p in found.describe(1).categories}
    for kind, b, e in zip(kinds[:-1], beta[1:], errors[1:], strict=True):
        assert each[f"Soil={kind}"] == pytest.approx((b, 2 * stats.t.sf(abs(b / e), 17)))


def test_mca_and_famd_maps_are_those_of_factominer():
    found, name = FactorMap(MCA(5).fit(tea()), tea()), "factominer_mca_tea"
    signs = np.sign((found.individuals.coordinates * expected(name, "ind_coord")).sum(axis=0))
    short = [label.split("=", 1)[1] for label in found.categories.names]
    labels = stored_names(name, "var_vtest")
    order = [short.index(w) if w in short else found.categories.names.index(w.replace("_", "=", 1)) for w in labels]
    for values, file in (
        (found.categories.coordinates[order] * signs, "var_coord"),
        (found.categories.cos2[order], "var_cos2"),
        (found.categories.contributions[order], "var_contrib"),
        (found.categories.v_test[order] * signs, "var_vtest"),
        (found.individuals.cos2, "ind_cos2"),
        (found.individuals.contributions, "ind_contrib"),
        (np.array(list(found.eta2.values())), "eta2"),
    ):
        np.testing.assert_allclose(values, expected(name, file), rtol=1e-8, atol=1e-9, err_msg=file)
    assert not len(found.variables)

    found, name = FactorMap(FAMD(5).fit(wine()), wine()), "factominer_famd_wine"
    signs = np.sign((found.individuals.coordinates * expected(name, "ind_coord")).sum(axis=0))
    short = [label.split("=", 1)[1] for label in found.categories.names]
    order = [short.index(w) for w in stored_names(name, "quali_vtest")]
    for values, file in (
        (found.categories.v_test[order] * signs, "quali_vtest"),
        (found.categories.coordinates[order] * signs, "quali_coord"),
        (found.variables.coordinates * signs, "quanti_coord"),
        (found.individuals.cos2, "ind_cos2"),
        (found.individuals.contributions, "ind_contrib"),
    ):
        np.testing.assert_allclose(values, expected(name, file), rtol=1e-8, atol=1e-9, err_msg=file)
    np.testing.assert_allclose(found.categories.cos2, found.model.cos2_[:7], atol=1e-10)


MODELS = {
    "PCA": (lambda: PCA(4, scale=True, ddof=0), lambda: decathlon().iloc[:, :10]),
    "PCA ddof=1": (lambda: PCA(4, scale=True), lambda: decathlon().iloc[:, :10]),
    "PCA unscaled, whitened": (lambda: PCA(4, whiten=True), lambda: decathlon().iloc[:, :10]),
    "FAMD": (lambda: FAMD(4), wine),
    "MCA": (lambda: MCA(4), tea),
}


@pytest.mark.parametrize("which", MODELS)
def test_duplicates_of_active_rows_and_columns_land_on_them(which):
    make, data = MODELS[which][0](), MODELS[which][1]()
    model = make.fit(data)
    before = {name: np.copy(value) for name, value in vars(model).items() if isinstance(value, np.ndarray)}
    alone = FactorMap(model, data)
    both = FactorMap(model, data, rows=data.iloc[3:7], columns=data)
    for attribute in ("individuals", "variables", "categories"):
        one, two = getattr(alone, attribute), getattr(both, attribute)
        extra = ~two.active
        for field in ("coordinates", "cos2", "contributions", "distances"):
            # The active points are the same with and without supplementary ones (some old BLAS rounds by the shape).
            np.testing.assert_allclose(getattr(two, field)[two.active], getattr(one, field), atol=1e-14)
        rows = slice(3, 7) if attribute == "individuals" else slice(None)
        for field in ("coordinates", "cos2", "distances"):
            np.testing.assert_allclose(getattr(two, field)[extra], getattr(one, field)[rows], atol=1e-9)
        assert np.isnan(two.contributions[extra]).all()
    for name, value in before.items():
        np.testing.assert_array_equal(getattr(model, name), value)
    for name, value in alone.eta2.items():
        np.testing.assert_allclose(both.eta2[f"{name} (supplementary)"], value, atol=1e-12)


@pytest.mark.parametrize("which", MODELS)
def test_geometry(which):
    make, data = MODELS[which][0](), MODELS[which][1]()
    full = make.set_params(n_components={"FAMD": 11, "MCA": 27}.get(which, 10)).fit(data)
    found = FactorMap(full, data)
    people = found.individuals
    np.testing.assert_allclose(people.contributions.sum(axis=0), 100)
    np.testing.assert_allclose(people.cos2.sum(axis=1), 1)
    np.testing.assert_allclose((people.coordinates**2).mean(axis=0), found.eigenvalues)
    np.testing.assert_allclose((people.coordinates**2).sum(axis=1), people.distances**2)
    assert found.shares.sum() == pytest.approx(1)
    columns = np.vstack([found.variables.contributions, found.categories.contributions])
    np.testing.assert_allclose(columns.sum(axis=0), 100)
    for points in (found.variables, found.categories):
        np.testing.assert_allclose(points.cos2.sum(axis=1), np.ones(len(points)))
    if which == "FAMD":
        mine = people.coordinates[(data["Soil"] == "Env2").to_numpy()].mean(axis=0)
        np.testing.assert_allclose(found.categories.coordinates[found.categories.names.index("Soil=Env2")], mine)


def test_other_containers_and_bad_input(maps):
    frame = decathlon()
    A = frame.iloc[:, :10].to_numpy()
    found = FactorMap(
        PCA(3, scale=True, ddof=0).fit(A), A, rows=A[:2], columns=frame["Competition"].to_numpy()[:, None]
    )
    np.testing.assert_allclose(found.individuals.coordinates[:41], maps.individuals.coordinates[:, :3], atol=1e-9)
    np.testing.assert_allclose(found.categories.v_test, maps.categories.v_test[:, :3], atol=1e-9)
    assert found.individuals.names[:2] + found.variables.names[:2] == ["0", "1", "x0", "x1"]
    for alone in (frame["Competition"], frame["Competition"].to_numpy()):
        one = FactorMap(found.model, A, columns=alone)
        np.testing.assert_array_equal(one.categories.v_test, found.categories.v_test)
    polars = pl.DataFrame(frame.iloc[:, :10].to_dict("list"))
    extra = pl.DataFrame(frame.iloc[:, 10:].to_dict("list"))
    same = FactorMap(PCA(3, scale=True, ddof=0).fit(polars), polars, columns=extra)
    np.testing.assert_allclose(same.variables.coordinates, maps.variables.coordinates[:, :3], atol=1e-9)
    single = FactorMap(PCA(3).fit(A.astype(np.float32)), A.astype(np.float32))
    assert single.individuals.contributions.sum() == pytest.approx(300)
    model = found.model
    with pytest.raises(TypeError, match="model must be a fitted PCA, FAMD or MCA; got Isomap"):
        FactorMap(lowdim.Isomap(2), A)
    with pytest.raises(ValueError, match="X must be the rows the model was fitted on"):
        FactorMap(model, A[:30])
    with pytest.raises(ValueError, match="all with the same weight"):
        FactorMap(PCA(2).fit(A, sample_weight=np.arange(1, 42)), A)
    with pytest.raises(ValueError, match="columns must have a value for each of the 41 active rows; got 5"):
        FactorMap(model, A, columns=A[:5])
    with pytest.raises(TypeError, match="toarray"):
        FactorMap(model, sparse.csr_array(A))
    with pytest.raises(Exception, match="not fitted"):
        FactorMap(PCA(2), A)


def test_columns_of_one_name_are_all_there():
    X = np.random.default_rng(0).standard_normal((20, 3))
    model = PCA(2).fit(pd.DataFrame(X, columns=["a", "b", "c"]))
    extra = pd.DataFrame(X, columns=["z", "z", "a"])
    found = FactorMap(model, pd.DataFrame(X, columns=["a", "b", "c"]), columns=extra).variables
    assert found.names == ["a", "b", "c", "z", "z (2)", "a (supplementary)"]
    np.testing.assert_allclose(found.coordinates[3:], found.coordinates[:3])


def test_axes_that_are_rounding_are_refused(maps):
    X = np.random.default_rng(0).standard_normal((4, 5))
    with pytest.raises(ValueError, match="every axis must have some variance; fit with fewer components"):
        FactorMap(PCA().fit(X), X)  # four rows vary in three directions
    with pytest.raises(ValueError, match=r"axis must be a whole number from 0 to .*; got True"):
        maps.describe(True)


def test_pictures(maps):
    matplotlib.use("Agg")
    competition = decathlon()["Competition"]
    ax = lowdim.plot.factor_map(maps, labels=competition, names=5)
    assert ax.get_xlabel() == "axis 1 (32.7 %)"
    assert ax.get_aspect() == 1
    drawn = np.vstack([c.get_offsets() for c in ax.collections])
    for place in maps.individuals.coordinates[:, :2]:
        assert np.abs(drawn - place).max(axis=1).min() < 1e-12
    texts = [t.get_text() for t in ax.texts]
    assert {"Competition=Decastar", "Karpov", "Casarsa"} <= set(texts)
    assert len(texts) <= 2 + 5
    circle = lowdim.plot.correlation_circle(maps, (1, 2))
    assert circle.get_ylabel().startswith("axis 3")
    assert {t.get_text() for t in circle.texts} >= set(maps.variables.names)
    categories = FactorMap(MCA(2).fit(tea()), tea())
    names = [t.get_text() for t in lowdim.plot.factor_map(categories).texts]
    assert "where=tea shop" in names
    assert not set(names) & {str(i) for i in range(300)}
    assert lowdim.plot.factor_map(categories, rows=False).collections
    with pytest.raises(ValueError, match="must have numeric variables"):
        lowdim.plot.correlation_circle(categories)
    with pytest.raises(ValueError, match="axes must be two numbers from 0 to 1"):
        lowdim.plot.factor_map(categories, (0, 2))
    matplotlib.pyplot.close("all")

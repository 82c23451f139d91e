"""Rules for the number of components: other programs' numbers, planted ranks, plain words."""

import re
import warnings

import matplotlib
import numpy as np
import pandas as pd
import pytest
from sklearn.decomposition import PCA as SklearnPCA
from sklearn.decomposition._pca import _assess_dimension

import lowdim
from lowdim._core.incomplete import rank
from lowdim._core.incomplete.rank import gcv, k_fold
from lowdim.select import _component_rules as rules
from lowdim.select import n_components
from tests.oracles import case, load_expected, load_input


def decathlon():
    table, _ = load_input("decathlon")
    return table[:, 1:11].astype(float)


def planted(n=200, d=12, r=3, noise=0.15, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, r)) @ rng.standard_normal((r, d)) + noise * rng.standard_normal((n, d)) + 7.0


@pytest.fixture(scope="module")
def found():
    return n_components(decathlon(), scale=True, random_state=0)


def test_generalised_cross_validation_and_its_smoother_are_those_of_factominer(found):
    for rule, name in (("gcv", "factominer_estim_ncp_GCV"), ("smooth", "factominer_estim_ncp_Smooth")):
        expected, verdict = load_expected(name, "criterion"), found.verdicts[rule]
        np.testing.assert_allclose(verdict.curve[1:9], expected[1:], rtol=case(name)["rtol"])
        assert verdict.choice == case(name)["scalars"]["ncp"]
        # Without components the reference does not square the factor it squares everywhere else.
        assert verdict.curve[0] == pytest.approx(expected[0] * 41 / 40)


def test_diagnostics_are_those_of_psych_and_vegan(found):
    name = "pca_diagnostics_decathlon"
    scalars = case(name)["scalars"]
    np.testing.assert_allclose(found.eigenvalues, load_expected(name, "eigenvalues"), rtol=1e-8)
    np.testing.assert_allclose(found.curves["broken-stick"], load_expected(name, "broken_stick"), rtol=1e-8)
    np.testing.assert_allclose(found.curves["map"][1:], load_expected(name, "map_velicer"), rtol=1e-8)
    np.testing.assert_allclose(found.kmo_per_column, load_expected(name, "kmo_per_var"), rtol=1e-8)
    assert found.kmo == pytest.approx(scalars["kmo_overall"], rel=1e-8)
    expected = [scalars["bartlett_chisq"], scalars["bartlett_df"], scalars["bartlett_p"]]
    np.testing.assert_allclose(found.bartlett, expected, rtol=1e-8)
    assert found.choices["map"] == 2
    assert found.choices["broken-stick"] == 1  # 3.27 > 2.93, 1.74 < 1.93
    assert found.choices["kaiser"] == 4


@pytest.mark.parametrize("seed", range(5))
def test_minka_is_that_of_scikit_learn(seed):
    X = planted(60 + 20 * seed, 9, 1 + seed, seed=seed)
    verdict = n_components(X, rules=["minka"]).verdicts["minka"]
    values = np.linalg.eigvalsh(np.cov(X.T))[::-1]
    expected = [_assess_dimension(values, r, len(X)) for r in range(1, 9)]
    np.testing.assert_allclose(verdict.curve[1:], expected, rtol=1e-9)
    assert verdict.choice == SklearnPCA("mle").fit(X).n_components_ == 1 + seed


def test_shares_tolerance_and_drop_are_those_of_pca():
    X = planted(noise=0.5)
    choices = n_components(X, rules=["share", "error", "drop"], shares=(0.5, 0.85), max_error=0.02).choices
    assert choices == {
        "share 0.5": lowdim.PCA(0.5).fit(X).n_components_,
        "share 0.85": lowdim.PCA(0.85).fit(X).n_components_,
        "error 0.02": lowdim.PCA(max_error=0.02).fit(X).n_components_,
        "drop": lowdim.PCA("drop").fit(X).n_components_,
    }
    flat = np.random.default_rng(0).standard_normal((500, 6))
    assert n_components(flat, rules=["drop"]).choices["drop"] is None
    exact = planted(noise=0)
    assert n_components(exact, rules=["drop"]).choices["drop"] == 3


def test_folds_predict_left_out_cells():
    """The closed form against least squares without the cell, one by one."""
    X = planted(25, 6, 2, seed=3)
    curve = rules.kfold(X - X.mean(axis=0), 5, np.random.default_rng(1)).curve
    total = np.zeros(6)
    for part in np.array_split(np.random.default_rng(1).permutation(25), 5):
        kept = np.delete(X, part, axis=0)
        V = np.linalg.svd(kept - kept.mean(axis=0))[2].T
        for x in X[part] - kept.mean(axis=0):
            for j in range(6):
                others = np.arange(6) != j
                for q in range(6):
                    z = np.linalg.lstsq(V[others, :q], x[others], rcond=None)[0]
                    total[q] += (x[j] - V[j, :q] @ z) ** 2
    np.testing.assert_allclose(curve, total / X.size, rtol=1e-8)


def test_the_smoother_is_close_to_leaving_cells_out():
    X = planted(40, 8, 2, noise=0.4, seed=5)
    curve = n_components(X, rules=["smooth"]).curves["smooth"]
    errors = []
    for i, j in np.random.default_rng(0).integers(0, [40, 8], (60, 2)):
        filled = X.copy()
        filled[i, j] = np.delete(X[:, j], i).mean()
        for _ in range(60):
            mean = filled.mean(axis=0)
            u, s, vt = np.linalg.svd(filled - mean, full_matrices=False)
            filled[i, j] = mean[j] + (u[i, :2] * s[:2]) @ vt[:2, j]
        errors.append((X[i, j] - filled[i, j]) ** 2)
    assert np.mean(errors) == pytest.approx(curve[2], rel=0.35)


@pytest.mark.parametrize("r", [1, 3, 5])
def test_a_planted_rank_is_found(r):
    found = n_components(planted(300, 12, r, noise=0.3, seed=r), random_state=0)
    for rule in ("minka", "gcv", "smooth", "kfold", "drop"):
        assert found.choices[rule] == r, rule
    # Shuffled columns keep the variance of the strong components, so that weak ones beside them do not stand out.
    assert 1 <= found.choices["parallel"] <= r


def test_parallel_analysis_finds_components_of_equal_strength():
    rng = np.random.default_rng(0)
    loadings = np.linalg.qr(rng.standard_normal((12, 3)))[0].T
    X = 2 * rng.standard_normal((300, 3)) @ loadings + 0.5 * rng.standard_normal((300, 12))
    for null in ("permutation", "gaussian"):
        for scale in (True, False):
            assert n_components(X, rules=["parallel"], null=null, scale=scale, random_state=0).median == 3


def test_unrelated_columns_have_no_components():
    X = np.random.default_rng(0).standard_normal((300, 8))
    for null in ("permutation", "gaussian"):
        assert n_components(X, rules=["parallel"], null=null, n_draws=200, random_state=0).median <= 1
    found = n_components(X, random_state=0)
    assert found.choices["gcv"] == found.choices["map"] == 0
    assert found.kmo < 0.6
    assert found.bartlett[2] > 1e-3


@pytest.mark.parametrize("scale", [True, False])
def test_parallel_analysis_compares_like_with_like(scale):
    """Both null tables have the variances of the columns, so they nearly agree on Gaussian data."""
    X = np.random.default_rng(0).standard_normal((400, 5)) * [1, 1, 1, 5, 20]
    curves = [
        n_components(X, rules=["parallel"], null=null, scale=scale, n_draws=80, random_state=0).curves["parallel"]
        for null in ("permutation", "gaussian")
    ]
    np.testing.assert_allclose(curves[0], curves[1], rtol=0.12)
    assert curves[0].sum() == pytest.approx(5 if scale else X.var(axis=0).sum(), rel=0.1)


def test_units_change_unscaled_rules_only():
    X = planted()
    one, two = (n_components(T, scale=True, random_state=0) for T in (X, X * np.arange(1, 13)))
    assert one.choices == two.choices
    np.testing.assert_allclose(one.eigenvalues, two.eigenvalues)


def test_record(found):
    assert found.agreed is None
    assert found.median == 3
    text = repr(found)
    assert "the rules disagree: from 1 to " in text
    assert "KMO 0.60; Bartlett p = 1.2e-10" in text
    assert all(name in text and name in found._repr_html_() for name in found.choices)
    same = n_components(planted(noise=0.01), rules=["share", "kaiser", "gcv"])
    assert same.agreed == same.median == 3
    assert "all rules agree on 3" in repr(same)
    assert set(same.curves) == {"kaiser", "gcv"}


def test_picture(found):
    matplotlib.use("Agg")
    figure = found.plot()
    top, below = figure.axes
    assert [bar.get_height() for bar in top.patches] == pytest.approx(found.eigenvalues[: len(top.patches)])
    assert [t.get_text() for t in below.get_yticklabels()] == list(found.choices)[::-1]
    matplotlib.pyplot.close(figure)


@pytest.mark.parametrize(
    "X",
    [planted(6, 30, 2), planted(3, 2, 1), np.hstack([planted(40, 4, 2), np.ones((40, 1))]), np.arange(12.0)[:, None]],
    ids=["wide", "tiny", "constant column", "one column"],
)
def test_any_shape_gets_an_answer(X):
    for scale in (True, False):
        found = n_components(X, scale=scale, random_state=0)
        assert found.median is not None
        assert all(0 <= k <= min(len(X) - 1, X.shape[1]) for k in found.choices.values() if k is not None)
        repr(found)


def test_frames_seeds_and_bad_input():
    X = planted()
    assert n_components(pd.DataFrame(X), random_state=1).choices == n_components(X, random_state=1).choices
    X.setflags(write=False)
    n_components(X, random_state=0)
    for settings, message in (
        ({"rules": ["elbow"]}, "rules must be among share, .*; got 'elbow'"),
        ({"rules": "gcv"}, "rules must be a list of at least one of share, .*; got 'gcv'"),
        ({"rules": []}, r"rules must be a list of at least one of share, .*; got \[\]"),
        ({"shares": (1.5,)}, r"shares must be a list of shares between 0 and 1; got \(1.5,\)"),
        ({"shares": 0.9}, "shares must be a list of shares between 0 and 1; got 0.9"),
        ({"null": "uniform"}, "null must be one of 'permutation', 'gaussian'; got 'uniform'"),
        ({"quantile": 95}, "quantile must be a share"),
        ({"n_folds": 1}, "n_folds must be a whole number >= 2; got 1"),
    ):
        with pytest.raises(ValueError, match=message):
            n_components(X, **settings)
    with pytest.raises(ValueError, match="at least two different rows"):
        n_components(np.ones((5, 3)))


# ---- rows with missing cells ----------------------------------------------------------------------------------


def holed(X, share=0.1, seed=0):
    return lowdim.datasets.hide_cells(X, share, random_state=seed).X


def test_missing_cells_leave_the_rules_that_predict_cells():
    X = holed(planted(80, 9, 2, noise=0.3))
    before = X.copy()
    found = n_components(X, random_state=0)
    np.testing.assert_array_equal(X, before)
    assert n_components(np.ma.masked_invalid(X), random_state=0).choices == found.choices
    assert {name for name, choice in found.choices.items() if choice is not None} == {"gcv", "kfold"}
    assert set(found.curves) == {"gcv", "kfold"}
    np.testing.assert_array_equal(found.curves["gcv"], gcv(X, early=True).criterion)
    expected = k_fold(X, n_repeats=10, share=0.1, most=8, early=True, rng=np.random.default_rng(0)).criterion
    np.testing.assert_array_equal(found.curves["kfold"], expected)
    assert found.eigenvalues is found.kmo is found.kmo_per_column is found.bartlett is None
    assert found.agreed == found.median == 2
    text = repr(found)
    assert "all rules agree on 2" in text
    assert text.count("needs complete rows; with missing cells only gcv and kfold apply") == len(found.choices) - 2
    assert "needs complete rows" in found._repr_html_()


@pytest.mark.parametrize("r", [0, 1, 3, 11])
def test_a_planted_rank_is_found_through_holes(r):
    """Also one that is beyond what is tried at first."""
    rng = np.random.default_rng(r)
    loadings = np.linalg.qr(rng.standard_normal((40, max(r, 1))))[0].T[:r]
    X = 3 * rng.standard_normal((150, r)) @ loadings + 0.3 * rng.standard_normal((150, 40))
    found = n_components(holed(X), rules=["gcv", "kfold"], n_folds=5, random_state=0)
    assert found.choices == {"gcv": r, "kfold": r}


def test_units_do_not_matter_to_scaled_rows_with_holes():
    X = holed(planted(60, 6, 2, noise=0.4))
    one, two = (n_components(T, scale=True, n_folds=5, random_state=0) for T in (X, X * 10.0 ** np.arange(-3, 3)))
    assert one.choices == two.choices
    for name, curve in one.curves.items():
        np.testing.assert_allclose(two.curves[name], curve, rtol=1e-6)


def test_picture_of_rows_with_holes():
    matplotlib.use("Agg")
    found = n_components(holed(planted(40, 6, 2)), rules=["kaiser", "gcv", "kfold"], n_folds=3, random_state=0)
    figure = found.plot()
    top, below = figure.axes
    for line, curve in zip(top.lines, found.curves.values(), strict=True):
        np.testing.assert_allclose(line.get_ydata(), curve / curve[0])
    assert [t.get_text() for t in below.get_yticklabels()] == ["kfold", "gcv", "kaiser"]
    matplotlib.pyplot.close(figure)


def test_holes_that_leave_nothing_to_choose():
    X = planted(20, 4, 1)
    X[0, 0] = np.nan
    assert n_components(X, rules=["share", "map"]).median is None
    assert "no rule has an answer" in repr(n_components(X, rules=["share"]))
    two = n_components(X[:2], random_state=0)
    assert two.choices["kfold"] is None
    with pytest.raises(ValueError, match="n_components: X must have at least two different rows"):
        n_components(np.where(np.isnan(X), X, 1.0))
    with pytest.raises(ValueError, match=r"n_components: .*column"):
        n_components(np.column_stack([X, np.full(20, np.nan)]))
    with pytest.raises(ValueError, match=r"n_components: .*infinity"):
        n_components(np.where(X[1, 1] == X, np.inf, X))


def test_long_searches_are_announced_before_they_begin(monkeypatch):
    """By the number of columns of 683 rows of indicators, a tenth of them unknown: 30 take seconds, 105 minutes."""
    rng, begun = np.random.default_rng(0), []
    monkeypatch.setattr(rank, "few", lambda criterion, limit: begun.append(limit) or np.arange(limit + 1.0))
    tables = [np.where(rng.random((683, 1)) < 0.1, np.nan, np.eye(15)[rng.integers(0, 15, 683)]) for _ in range(7)]
    for parts, announced in ((tables[:2], []), (tables, [r"kfold' takes up to about \d\d\d s of processor time"])):
        X = np.hstack(parts)
        X = X[~np.isnan(X).all(axis=1)]
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            assert n_components(X, rules=["kfold"], random_state=0).choices["kfold"] == 0
        assert len(heard) == len(announced)
        assert all(re.search(text, str(said.message)) for text, said in zip(announced, heard, strict=True))
    assert len(begun) == 2


def test_folds_of_a_table_with_categories_that_do_not_fit_are_refused(rng):
    X = np.empty((2_000, 12), dtype=object)
    X[:, :6] = rng.choice(list("abcdefgh"), (2_000, 6))
    X[:, 6:] = rng.normal(size=(2_000, 6))
    with lowdim.config(memory_limit="10MB"), pytest.raises(MemoryError, match=r"tables of 10 folds .*n_folds"):
        n_components(X, rules=["kfold"])

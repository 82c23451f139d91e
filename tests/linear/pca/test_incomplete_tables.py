"""Cells hidden from real tables and filled in again: nothing here may be worse than the column means.

The rows of each table are shuffled. Wine is sorted by cultivar, and a block of neighbouring rows would be one cultivar
of which some columns were never seen: no method that learns from the other cultivars can know those.
"""

import warnings

import numpy as np
import pytest
from sklearn import datasets

import lowdim
from lowdim import PCA, BayesianPCA, ProbabilisticPCA
from lowdim._core.incomplete.rank import gcv
from lowdim.datasets import hide_cells

SHARES, SEEDS = (0.1, 0.3), range(2)
EVEN, CLEAR = 1.02, 0.95  # error relative to the means: no worse but for chance, and clearly better
BOUND = 50.0

TABLES, MECHANISMS = ("iris", "wine", "diabetes", "breast_cancer"), ("mcar", "mar", "nmar", "block")
each_mechanism = pytest.mark.parametrize("mechanism", MECHANISMS)
each_table = pytest.mark.parametrize("name", TABLES)

SAFE = {
    "regularized": lambda X, r: PCA(r or None, tol=1e-6, n_jobs=1).fit(X),
    "ard": lambda X, r: BayesianPCA(tol=1e-6, random_state=0, n_jobs=1).fit(X),
    "oba": lambda X, r: BayesianPCA(prior="oba", tol=1e-4, random_state=0, n_jobs=1).fit(X),
    "probabilistic": lambda X, r: ProbabilisticPCA(max(1, r), tol=1e-6, random_state=0, n_jobs=1).fit(X),
}


def table(name, shuffled=True):
    X = getattr(datasets, f"load_{name}")().data[:, :8]
    X = X[np.random.default_rng(0).permutation(len(X))[:120]] if shuffled else X
    return (X - X.mean(axis=0)) / X.std(axis=0)


def error(filled, truth, hidden):
    return float(np.sqrt(np.mean((filled - truth)[hidden] ** 2)))


def ratios(truth, share, mechanism, seed, methods):
    """Rank by cross-validation, and the error of each method over that of the column means."""
    holes = hide_cells(truth, share, mechanism, random_state=seed)
    rank = gcv(holes.X, early=True, n_jobs=1).n_components
    plain = error(lowdim.impute(holes.X, 1, method="mean").mean, truth, holes.mask)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # how much is missing, and how slowly EM goes, is not the question here
        found = {name: fit(holes.X, rank).completed_ for name, fit in methods.items()}
    return rank, {name: error(filled, truth, holes.mask) / plain for name, filled in found.items()}


def tables_and_mechanisms():
    """All in the deep tier; the quick tier has the table that takes half of the time once."""
    for name in TABLES:
        for mechanism in MECHANISMS:
            slow = name == "breast_cancer" and mechanism != "block"
            yield pytest.param(name, mechanism, marks=[pytest.mark.deep] if slow else [])


@pytest.mark.parametrize(("name", "mechanism"), list(tables_and_mechanisms()))
def test_shrunken_completions_beat_the_means(name, mechanism):
    """Clearly where cross-validation finds a component; where it finds none, they are no worse."""
    truth = table(name)
    for share in SHARES:
        runs = [ratios(truth, share, mechanism, seed, SAFE) for seed in SEEDS]
        limit = CLEAR if min(rank for rank, _ in runs) >= 1 else EVEN
        assert share > 0.1 or limit == CLEAR
        for method in SAFE:
            assert np.mean([found[method] for _, found in runs]) < limit, (method, share)


@each_mechanism
def test_unrelated_columns_are_filled_about_as_well_as_by_the_means(mechanism):
    """Nothing can be better here; a component fitted to noise must do little harm."""
    truth = np.random.default_rng(0).standard_normal((120, 8))
    for share in SHARES:
        rank, found = ratios(truth, share, mechanism, 0, SAFE)
        assert rank == 0
        assert found["ard"] < EVEN
        assert found["oba"] < EVEN
        assert found["regularized"] < 1 + 1e-12
        assert found["probabilistic"] < 1.05


def test_a_block_of_one_cultivar_cannot_be_known_but_does_not_run_away():
    truth = table("wine", shuffled=False)
    for seed in SEEDS:
        _, found = ratios(truth, 0.3, "block", seed, SAFE)
        assert max(found.values()) < 1.5


@each_mechanism
@each_table
def test_unshrunken_completions_stay_finite(name, mechanism):
    routes = {
        route: lambda X, r, route=route: PCA(max(1, r), missing=route, tol=1e-5, n_jobs=1).fit(X)
        for route in ("em", "nipals")
    }
    _, found = ratios(table(name), 0.1, mechanism, 0, routes)
    assert np.isfinite(list(found.values())).all()
    assert max(found.values()) < BOUND


def test_the_rank_of_scaled_columns_does_not_depend_on_their_units():
    """Wine as it comes: proline is in the hundreds, and would be all that cross-validation looks at."""
    raw = hide_cells(datasets.load_wine().data, 0.1, random_state=0).X
    for X in (raw, raw / np.nanstd(raw, axis=0)):
        with pytest.warns(UserWarning, match="generalised cross-validation keeps 3 components"):
            assert PCA(scale=True).fit(X).n_components_ == 3
    found = [lowdim.impute(X, 2, method="regularized", random_state=0) for X in (raw, raw / np.nanstd(raw, axis=0))]
    assert found[0].n_components == found[1].n_components >= 3


@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("route", ["regularized", "em", "nipals"])
def test_where_no_component_is_worth_keeping_the_means_fill_the_cells(route, scale):
    X = hide_cells(np.random.default_rng(0).standard_normal((60, 6)), 0.1, random_state=0).X
    means, variances = np.nanmean(X, axis=0), np.nanvar(X, axis=0)
    none = "finds none that predicts cells better than column means, which fill them; 1 is kept for the scores"
    with pytest.warns(UserWarning, match=none):
        model = PCA(missing=route, scale=scale).fit(X)
    assert model.n_components_ == 1
    np.testing.assert_allclose(model.completed_, np.where(np.isnan(X), means, X), atol=1e-12)
    known = np.broadcast_to(variances, X.shape)[np.isnan(X)]
    np.testing.assert_allclose(model.completed_variance_[np.isnan(X)], known, rtol=0.5)
    if route == "nipals":
        return
    rows = model.completed_ - means
    rows = rows / rows.std(axis=0, ddof=1) if scale else rows
    first = np.abs(np.linalg.svd(rows)[2][0])
    np.testing.assert_allclose(np.abs(model.components_[0]), first, atol=1e-7)
    np.testing.assert_allclose(model.transform(X), model.transform(model.completed_), atol=1e-12)
    assert model.shrinkage_ == [0.0]


def test_where_no_component_is_worth_keeping_cells_are_drawn_about_the_means():
    X = hide_cells(np.random.default_rng(0).standard_normal((60, 6)), 0.1, random_state=0).X
    found = lowdim.impute(X, 400, n_components=0, random_state=0)
    gaps = (found.mean - np.nanmean(X, axis=0))[np.isnan(X)] / found.std[np.isnan(X)]
    assert np.abs(gaps).max() < 4.5 / np.sqrt(400)


@pytest.mark.filterwarnings("ignore:.*not converged")
def test_nipals_says_where_it_runs_away():
    """A row of which one cell is left, and that cell has next to no part in the component."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.standard_normal((200, 1)) @ np.ones((1, 5)), 0.01 * rng.standard_normal(200)])
    X[:, :5] += 0.1 * rng.standard_normal((200, 5))
    X[0] = [np.nan] * 5 + [0.1]
    with pytest.warns(UserWarning, match=r"completed by NIPALS varies .* times as much as its observed cells do"):
        PCA(1, missing="nipals", reach=None).fit(X)

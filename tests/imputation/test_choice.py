"""The choice of a model by left-out cells: the right one wins, and what was tried is on record."""

import numpy as np
import pytest

import lowdim
from lowdim import impute
from lowdim._core.tables.indicators import Layout
from lowdim.imputation import impute as front
from lowdim.imputation.cells import Cells
from lowdim.imputation.left_out import Errors, left_out
from lowdim.imputation.models import forests
from lowdim.imputation.models.chains import ridge_fit
from lowdim.imputation.models.low_rank import SoftThreshold
from lowdim.imputation.models.model import Effort, growing


def holed(X, share=0.1, seed=0):
    return lowdim.datasets.hide_cells(X, share, random_state=seed).X


def factors(n=100, d=8, seed=0):
    """One factor, and columns whose noise differs tenfold."""
    rng = np.random.default_rng(seed)
    noise = np.geomspace(0.1, 1.0, d)
    return rng.standard_normal((n, 1)) @ np.ones((1, d)) + noise * rng.standard_normal((n, d))


def waves(n=120, seed=0):
    """Columns that determine one another and are not correlated."""
    a = np.random.default_rng(seed).uniform(0, 2 * np.pi, n)
    return np.column_stack([np.cos(a), np.sin(a), np.cos(2 * a), np.sin(2 * a), np.cos(3 * a)])


def small(*kinds):
    """Only these candidates, so that a choice takes no time."""
    return tuple(kind for kind in front.CANDIDATES if kind.name in kinds)


def test_left_out_cells_follow_the_pattern_of_the_missing_ones():
    coded = np.random.default_rng(0).standard_normal((200, 6))
    coded[:60, 4:] = np.nan  # missing together
    cells = Cells(coded, Layout.of([None] * 6))
    hidden = left_out(cells, np.random.default_rng(1))
    assert not hidden[:, :4].any()
    assert not (hidden & np.isnan(coded)).any()
    assert (hidden[:, 4] == hidden[:, 5]).mean() > 0.9
    assert 30 <= hidden.sum() <= 0.11 * np.isfinite(coded).sum()


def test_rows_columns_and_categories_keep_a_cell():
    coded = np.column_stack([np.repeat([0.0, 1.0, 2.0], [10, 9, 1]), np.full(20, np.nan), np.arange(20.0)])
    coded[:3, 1] = [1.0, 2.0, 3.0]
    cells = Cells(coded, Layout.of([("a", "b", "c"), None, None]))
    for seed in range(20):
        left = ~np.isnan(coded) & ~left_out(cells, np.random.default_rng(seed))
        assert left.any(axis=1).all()
        assert left[19, 0]
        assert left[:, 1].sum() >= 2


def test_errors_are_relative_to_the_means():
    cells = Cells(np.array([[1.0, 0.0], [3.0, 1.0], [-1.0, 1.0]]), Layout.of([None, ("a", "b")]))
    hidden = np.array([[True, True], [True, True], [False, False]])
    filled = np.array([[2.0, 0.9, 0.1], [3.0, 0.6, 0.4], [0.0, 0.0, 1.0]])
    found = Errors.of(cells, hidden, filled)
    assert found.rmse == pytest.approx(np.sqrt(0.5))
    assert found.wrong == 0.5
    base = Errors(np.array([2.0, 1.0, 2.0, 1.0]), found.column, found.numeric, found.gap)
    assert found.relative(base)[0] == pytest.approx(np.sqrt((0.25 * 2 + 0.5 * 2) / 4))


def test_linear_factors_and_curves_are_told_apart(monkeypatch):
    monkeypatch.setattr(front, "CANDIDATES", small("mean", "regularized", "neighbors", "factors"))
    assert "factor analysis" in repr(impute(holed(factors()), 1, random_state=0))
    assert "nearest rows" in repr(impute(holed(waves()), 1, random_state=0))


def test_independent_columns_get_their_means(monkeypatch):
    monkeypatch.setattr(front, "CANDIDATES", small("mean", "regularized", "ridge", "neighbors"))
    noise = holed(np.random.default_rng(0).standard_normal((150, 5)))
    found = impute(noise, 2, random_state=0)
    assert found.choice.candidates[0].error == pytest.approx(1.0, abs=0.03)


def test_the_choice_is_on_record(monkeypatch):
    monkeypatch.setattr(front, "CANDIDATES", small("mean", "regularized", "famd", "ridge", "forest"))
    found = impute(holed(factors(n=25)), 3, random_state=0)
    tried = {one.method: one for one in found.choice.candidates}
    assert set(tried) >= {"mean", "regularized", "famd", "ridge", "forest"}
    assert tried["famd"].note == "is regularised PCA where all columns are numbers"
    assert tried["forest"].note == "needs at least 30 rows"
    assert tried["ridge"].standard_error > 0
    errors = [one.error for one in found.choice.candidates if np.isfinite(one.error)]
    assert errors[0] == min(errors)
    assert len(repr(found)) < 500
    assert "lowest of" in repr(found)
    assert f"{tried['ridge'].error:.3f} ±" in repr(found.choice)


def test_a_spent_budget_is_said(monkeypatch):
    monkeypatch.setattr(front, "CANDIDATES", small("mean", "ridge", "forest"))
    with pytest.warns(UserWarning, match=r"budget of 1e-09 s of processor time ended the comparison of ridge, forest"):
        found = impute(holed(factors()), 2, random_state=0, budget=1e-9)
    cut = {one.method: one.note for one in found.choice.candidates if one.cut}
    assert set(cut) == {"ridge", "forest"}
    assert all("the budget of 1e-09 s was spent" in note for note in cut.values())
    assert found.method == "mean"


def test_a_busy_machine_chooses_as_an_idle_one(monkeypatch):
    """The budget is processor time: a clock that runs away while others work leaves the choice as it is."""
    monkeypatch.setattr(front, "CANDIDATES", small("mean", "ridge"))
    before = impute(holed(factors()), 1, random_state=0, budget=60.0)
    clock = iter(range(0, 10**9, 1000))
    monkeypatch.setattr("time.monotonic", lambda: float(next(clock)))
    after = impute(holed(factors()), 1, random_state=0, budget=60.0)
    assert not any(one.cut for one in after.choice.candidates)
    np.testing.assert_array_equal(before.mean, after.mean)


def test_ridge_regression_is_that_of_scikit_learn():
    from sklearn.linear_model import BayesianRidge

    rng = np.random.default_rng(0)
    A = rng.standard_normal((80, 5))
    y = A @ [1.0, -2.0, 0.0, 0.5, 0.0] + 0.5 * rng.standard_normal(80)
    ours, theirs = ridge_fit(A, y[:, None]), BayesianRidge(tol=1e-8).fit(A, y)
    np.testing.assert_allclose(ours.coefficients[:, 0], theirs.coef_, atol=5e-3)
    np.testing.assert_allclose(ours.predict(A)[:, 0], theirs.predict(A), atol=1e-2)


def test_soft_thresholds_minimise_what_low_rank_minimises():
    X = holed(factors(n=30))
    X = (X - np.nanmean(X, axis=0)) / np.nanstd(X, axis=0)
    cells = Cells(X, Layout.of([None] * X.shape[1]))
    filled = SoftThreshold(Effort()).fill(cells, 0.1)
    Z = X - np.nanmean(X, axis=0)
    largest = np.linalg.norm(np.nan_to_num(Z), 2)
    best = lowdim.low_rank(Z, min(Z.shape), penalty=0.1 * largest).to_array()
    hole = np.isnan(X)
    np.testing.assert_allclose((filled - np.nanmean(X, axis=0))[hole], best[hole], atol=1e-3)


def test_paths_grow_by_a_quarter():
    assert growing(20) == [1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 19]
    assert growing(0) == []


@pytest.mark.parametrize("method", ["regularized", "soft", "factors", "ridge", "forest", "neighbors"])
def test_every_model_beats_the_means_and_keeps_observed_cells(method, monkeypatch):
    monkeypatch.setattr(forests, "TREES", (3, 10))
    monkeypatch.setattr(forests, "ROUGH_TREES", (3, 5))
    X = factors(n=60, d=4)
    H = np.asfortranarray(holed(X))
    found = impute(H, 3, method=method, random_state=0, n_jobs=1, tol=1e-5)
    hole = np.isnan(H)
    np.testing.assert_array_equal(found.tables[:, ~hole], np.broadcast_to(H[~hole], (3, (~hole).sum())))
    error = np.sqrt(np.mean((found.mean - X)[hole] ** 2))
    means = impute(H, 1, method="mean").mean
    assert error < 0.9 * np.sqrt(np.mean((means - X)[hole] ** 2))
    assert (found.std[hole] > 0).all()


@pytest.mark.parametrize("scale", [1e300, 1e-300])
def test_very_large_and_very_small_numbers(scale):
    H = holed(factors(n=40, d=4))
    plain = impute(H, 2, method="ridge", random_state=0)
    found = impute(H * scale, 2, method="ridge", random_state=0)
    np.testing.assert_allclose(found.mean / scale, plain.mean, rtol=1e-6)
    np.testing.assert_allclose(found.std / scale, plain.std, rtol=1e-5)

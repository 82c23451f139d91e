"""Means of models: weights by left-out cells, honest errors, draws of all parts."""

import numpy as np
import pytest
from scipy.optimize import minimize

import lowdim
from lowdim import impute
from lowdim._core.tables.indicators import Layout
from lowdim.imputation import impute as front
from lowdim.imputation import stacking
from lowdim.imputation.cells import Cells
from lowdim.imputation.choice import choose
from lowdim.imputation.models import forests
from lowdim.imputation.models.blend import Blend
from lowdim.imputation.models.chains import RidgeChain
from lowdim.imputation.models.forests import ForestChain
from lowdim.imputation.models.means import Means
from lowdim.imputation.models.model import Effort
from lowdim.imputation.models.neighbors import NearestRows


def table(n=120, d=6, seed=0):
    """One factor, and a bend that regressions miss."""
    rng = np.random.default_rng(seed)
    t = rng.standard_normal((n, 1))
    X = t * np.linspace(0.5, 1.5, d) + 0.6 * np.sin(3 * t) * (np.arange(d) % 2) + 0.5 * rng.standard_normal((n, d))
    return X, lowdim.datasets.hide_cells(X, 0.15, random_state=seed).X


def cells_of(H):
    Z = (H - np.nanmean(H, axis=0)) / np.nanstd(H, axis=0)
    return Cells(Z, Layout.of([None] * H.shape[1]))


@pytest.mark.parametrize("seed", range(4))
def test_weights_minimise_the_penalised_error_on_the_simplex(seed, monkeypatch):
    monkeypatch.setattr(stacking, "LEAST_WEIGHT", 0.0)
    rng = np.random.default_rng(seed)
    E = rng.standard_normal((80, 4)) * [1.0, 1.1, 1.4, 3.0] + rng.standard_normal((80, 1))
    w = stacking.weights(E)
    square = np.mean(E.mean(axis=1) ** 2) * 4

    def objective(v):
        return ((E @ v) ** 2).sum() + stacking.PULL * square * ((v - 0.25) ** 2).sum()

    sums = {"type": "eq", "fun": lambda v: v.sum() - 1}
    best = minimize(objective, np.full(4, 0.25), bounds=[(0, 1)] * 4, constraints=sums, tol=1e-12)
    assert w.sum() == pytest.approx(1.0)
    assert (w >= 0).all()
    np.testing.assert_allclose(w, best.x, atol=1e-4)


def test_weights_of_models_that_are_equal_perfect_and_hopeless():
    E = np.random.default_rng(0).standard_normal((500, 1))
    np.testing.assert_allclose(stacking.weights(np.hstack([E, E])), [0.5, 0.5], atol=1e-8)
    np.testing.assert_allclose(stacking.weights(np.hstack([0 * E, 10 * E])), [1.0, 0.0])
    np.testing.assert_allclose(stacking.weights(np.zeros((5, 3))), np.full(3, 1 / 3))


def test_numbers_and_categories_have_weights_of_their_own():
    """One model knows the numbers, the other the categories: each is believed where it knows."""
    rng = np.random.default_rng(3)
    coded = np.column_stack([rng.standard_normal((200, 2)), rng.integers(2, size=200)])
    cells = Cells(coded, Layout.of([None, None, ("a", "b")]))
    truth, base = cells.spread, np.tile([0.0, 0.0, 0.5, 0.5], (200, 1))
    hidden = rng.random((200, 3)) < 0.3
    for_numbers, for_categories = base.copy(), base.copy()
    for_numbers[:, :2], for_categories[:, 2:] = truth[:, :2], truth[:, 2:]
    parts = [stacking.gaps(cells, hidden, [for_numbers, for_categories])] * 2
    assert parts[0][0].shape == (hidden[:, :2].sum(), 2)
    assert parts[0][1].shape == (2 * hidden[:, 2].sum(), 2)
    w = stacking.by_kind(parts)
    np.testing.assert_allclose(w, np.eye(2))
    np.testing.assert_allclose(stacking.mean_of([for_numbers, for_categories], w, cells), truth)
    only = [(numbers, np.zeros((0, 2))) for numbers, _ in parts]
    np.testing.assert_allclose(stacking.by_kind(only), [[1, 0], [1, 0]])  # nothing known of categories


def test_a_mean_of_models_is_taken_where_it_is_better(monkeypatch):
    kinds = tuple(kind for kind in front.CANDIDATES if kind.name in ("mean", "ridge", "neighbors"))
    monkeypatch.setattr(front, "CANDIDATES", kinds)
    gains = []
    for seed in range(6):
        X, H = table(seed=seed)
        found = impute(H, 1, random_state=seed)
        hole = np.isnan(H)
        error = {"auto": np.mean((found.mean - X)[hole] ** 2)}
        for method in ("ridge", "neighbors"):
            error[method] = np.mean((impute(H, 1, method=method, random_state=seed).mean - X)[hole] ** 2)
        gains.append(np.sqrt(error["auto"] / min(error["ridge"], error["neighbors"])))
        if found.method == "blend":
            said = repr(found)
            assert "weighted mean of" in said
            assert len(said) < 400
            weights = [weight for _, _, weight in found.choice.model.parts]
            np.testing.assert_allclose(np.sum(weights, axis=0), 1.0)
            assert np.min(weights) >= stacking.LEAST_WEIGHT
    assert np.mean(gains) < 1.02


def test_draws_of_a_mean_are_those_of_its_parts():
    _, H = table(n=60)
    cells, rng = cells_of(H), np.random.default_rng(0)
    effort = Effort(n_jobs=1)
    model = Blend(effort, ((RidgeChain(effort), None, (0.75, 0.75)), (Means(effort), None, (0.25, 0.25))))
    filled = model.fill(cells, 2)
    parts = [part.fill(cells, own) for part, own, _ in model.parts]
    np.testing.assert_allclose(filled, 0.75 * parts[0] + 0.25 * parts[1])
    assert len(list(model.bootstrap(cells, 2, filled, 3, rng))) == 3
    drawn = np.array(list(model.posterior_draws(cells, 2, filled, 40, rng)))
    assert drawn.shape == (40, *H.shape)
    np.testing.assert_array_equal(
        drawn[:, ~cells.holes], np.broadcast_to(cells.coded[~cells.holes], (40, (~cells.holes).sum()))
    )
    assert not Blend(effort, ((NearestRows(effort), 3, (0.5, 0.5)), (Means(effort), None, (0.5, 0.5)))).posterior


def test_posterior_of_independent_columns():
    """A number about its mean by its deviation, a category by its share."""
    rng = np.random.default_rng(1)
    coded = np.column_stack([rng.standard_normal(400), (rng.random(400) < 0.3).astype(float)])
    coded[:100, 0] = np.nan
    coded[100:200, 1] = np.nan
    cells = Cells(coded, Layout.of([None, ("a", "b")]))
    model = Means(Effort())
    drawn = np.array(list(model.posterior_draws(cells, None, model.fill(cells, None), 50, rng)))
    seen = coded[100:, 0]
    assert drawn[:, :100, 0].mean() == pytest.approx(seen.mean(), abs=0.05)
    assert drawn[:, :100, 0].std() == pytest.approx(seen.std(), rel=0.05)
    assert drawn[:, 100:200, 2].mean() == pytest.approx(np.nanmean(coded[:, 1]), abs=0.02)
    np.testing.assert_allclose(drawn[:, :, 1:].sum(axis=2), 1.0)


def test_forests_do_not_depend_on_threads_and_fill_as_scikit_learn_does():
    from sklearn.ensemble import ExtraTreesRegressor

    X, H = table(n=80, d=4)
    H[:, 1:] = X[:, 1:]  # one column with holes: the sweeps do not matter
    cells = cells_of(H)
    one, two = (ForestChain(Effort(n_jobs=n)).fill(cells, None) for n in (1, 2))
    np.testing.assert_array_equal(one, two)
    hole, Z = cells.holes[:, 0], cells.coded
    peer = ExtraTreesRegressor(300, random_state=0).fit(Z[~hole, 1:], Z[~hole, 0]).predict(Z[hole, 1:])
    assert np.corrcoef(one[hole, 0], peer)[0, 1] > 0.98
    assert np.sqrt(np.mean((one[hole, 0] - peer) ** 2)) < 0.15


def test_ranks_with_more_parameters_than_cells_are_not_tried():
    _, H = table(n=40, d=5)
    H[::2, :2] = np.nan
    found = impute(H, 2, method="regularized", draws="bayes", random_state=0)
    assert found.n_components < 4


def test_forests_see_the_order_of_categories_where_left_out_cells_say_so():
    """Which of two grades is the higher one: a split parts lower from higher grades, a column for each only one."""
    rng = np.random.default_rng(1)
    grades = rng.integers(20, size=(100, 2))
    higher = np.where(grades[:, 0] > grades[:, 1], 1.0, 0.0)
    hole = rng.random(100) < 0.3
    layout = Layout.of([("no", "yes"), tuple(range(20)), tuple(range(20)), None])
    table = np.column_stack([np.where(hole, np.nan, higher), grades, rng.standard_normal(100)])
    cells, model = Cells(table, layout), ForestChain(Effort(tol=1e-3))
    assert model.path(cells) == [forests.CODES, forests.INDICATORS]
    filled = [layout.gather(model.fill(cells, setting))[hole, 0] for setting in model.path(cells)]
    by_codes, by_indicators = ((column != higher[hole]).mean() for column in filled)
    assert by_codes < 0.5 * by_indicators
    choice = choose(cells, [model], np.random.default_rng(0), budget=60.0)
    assert choice.setting == forests.CODES
    assert "categories by their numbers" in choice.why
    numbers = Cells(table[:, [0, 3]], Layout.of([None, None]))
    assert model.path(numbers) == [None]

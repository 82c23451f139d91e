"""Multiple imputation is calibrated: intervals of hidden cells and means by Rubin's rules cover the truth."""

import numpy as np
import pytest

import lowdim
from lowdim import impute
from lowdim._core.tables.indicators import Layout
from lowdim.imputation.cells import Cells
from lowdim.imputation.draws import Noise
from lowdim.imputation.left_out import Errors
from lowdim.imputation.models.low_rank import drawn_about


def correlated(n=100, d=6, seed=0):
    """Equal correlations of 0.6, means 1, 2, ..., and noise that differs between the columns."""
    rng = np.random.default_rng(seed)
    spread = np.geomspace(0.5, 2.0, d)
    rows = np.sqrt(0.6) * rng.standard_normal((n, 1)) + np.sqrt(0.4) * rng.standard_normal((n, d))
    return np.arange(1.0, d + 1) + spread * rows


def coverage(method, draws, seeds, n_imputations=20):
    inside = []
    for seed in seeds:
        X = correlated(seed=seed)
        H = lowdim.datasets.hide_cells(X, 0.15, random_state=seed).X
        found = impute(H, n_imputations, method=method, draws=draws, random_state=seed, n_jobs=1)
        low, high = found.intervals()
        inside.append(((low <= X) & (high >= X))[np.isnan(H)])
    return np.concatenate(inside).mean()


@pytest.mark.parametrize(
    ("method", "draws"),
    [("regularized", "bootstrap"), ("regularized", "bayes"), ("ridge", "bayes"), ("neighbors", "bootstrap")],
)
def test_intervals_of_hidden_cells_cover_them(method, draws):
    assert 0.90 < coverage(method, draws, range(3)) < 0.985


@pytest.mark.deep
@pytest.mark.parametrize("draws", ["bootstrap", "bayes"])
@pytest.mark.parametrize("method", ["regularized", "ridge", "factors", "soft", "forest", "neighbors"])
def test_intervals_of_every_model_cover(method, draws):
    if draws == "bayes" and method not in ("regularized", "ridge"):
        pytest.skip("has no posterior")
    assert 0.90 < coverage(method, draws, range(12)) < 0.98


def covered_means(method, draws, seeds):
    """How often the mean of a column, combined by Rubin's rules, is within 1.96 deviations of the truth."""
    inside = []
    for seed in seeds:
        X = correlated(n=80, d=5, seed=seed)
        H = lowdim.datasets.hide_cells(X, 0.3, random_state=seed).X
        found = impute(H, 20, method=method, draws=draws, random_state=seed, n_jobs=1)
        pooled = found.pool(lambda T: (T.mean(axis=0), T.var(axis=0, ddof=1) / len(T)))
        inside.append(np.abs(pooled.estimate - np.arange(1.0, 6.0)) < 1.96 * np.sqrt(pooled.variance))
    return np.concatenate(inside).mean()


@pytest.mark.deep
@pytest.mark.parametrize(("method", "draws"), [("ridge", "bayes"), ("ridge", "bootstrap"), ("regularized", "bayes")])
def test_combined_means_cover_nominally(method, draws):
    assert 0.91 < covered_means(method, draws, range(60)) < 0.985


def test_noise_comes_from_the_left_out_cells():
    rng = np.random.default_rng(0)
    gap = np.concatenate([rng.standard_normal(400), 3 * rng.standard_normal(400)])
    column = np.repeat([0, 1], 400)
    noise = Noise.of(Errors(gap**2, column, np.ones(800, bool), gap), 3)
    np.testing.assert_allclose(np.sqrt(noise.variance[:2]), [1, 3], rtol=0.1)
    assert noise.variance[2] == pytest.approx((gap**2).mean())
    assert noise.drawn(1, (5000,), rng).std() == pytest.approx(1.0, abs=0.05)


def test_posterior_draws_about_a_planted_model_have_its_noise():
    """Rank 2 with noise 0.5: the draws vary by the noise and the little that is not known of the model."""
    rng = np.random.default_rng(0)
    signal = 3 * rng.standard_normal((300, 2)) @ rng.standard_normal((2, 10))
    X = signal + 0.5 * rng.standard_normal(signal.shape)
    draws = np.array([drawn_about(X, 2, False, rng) for _ in range(60)])
    assert draws.std(axis=0).mean() == pytest.approx(0.5 * np.sqrt(1 + 2 / 10), rel=0.05)
    assert np.abs(draws.mean(axis=0) - signal).mean() < 0.25


def test_categories_are_drawn_by_their_shares():
    cells = np.array([["a"], ["b"]] * 40 + [[None]] * 20, dtype=object)
    table = np.column_stack([cells, np.random.default_rng(0).standard_normal(100)]).astype(object)
    found = impute(table, 50, method="neighbors", random_state=0)
    share = (found.tables[:, 80:, 0] == "a").mean()
    assert 0.35 < share < 0.65
    assert found.agreement[80:, 0].mean() < 0.8


def test_models_without_a_posterior_are_refused_and_left_out():
    H = lowdim.datasets.hide_cells(correlated(), 0.1, random_state=0).X
    with pytest.raises(
        ValueError, match="method must be 'auto', 'regularized', 'ridge' with draws='bayes'; got 'soft'"
    ):
        impute(H, 2, method="soft", draws="bayes")
    found = impute(H, 2, draws="bayes", random_state=0)
    assert found.method in ("regularized", "ridge")
    assert found.draws == "bayes"
    assert Cells(H, Layout.of([None] * 6)).only_numbers

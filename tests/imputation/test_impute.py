"""Multiple imputation: what the holes leave unknown shows in the tables, no more and no less."""

import numpy as np
import pytest

import lowdim
from lowdim import impute
from lowdim.linear.regression_fill import by_regression
from tests import oracles


def low_rank(n=80, d=6, noise=0.5, share=0.2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2)) @ rng.standard_normal((2, d)) + noise * rng.standard_normal((n, d))
    return X, lowdim.datasets.hide_cells(X, share, random_state=seed).X


@pytest.mark.parametrize("method", ["regularized", "em"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_observed_cells_are_untouched_and_draws_differ(method, dtype):
    _, H = low_rank()
    H = H.astype(dtype)
    given = H.copy()
    found = impute(H, 5, n_components=2, method=method, random_state=0)
    seen = ~np.isnan(H)
    np.testing.assert_array_equal(H, given)
    assert found.tables.dtype == found.mean.dtype == dtype
    for table in (*found.tables, found.mean):
        np.testing.assert_array_equal(table[seen], H[seen])
    assert (found.std[seen] == 0).all()
    assert (found.std[~seen] > 0).all()
    assert len({table.tobytes() for table in found.tables}) == 5
    again = impute(H, 5, n_components=2, method=method, random_state=0, n_jobs=1)
    np.testing.assert_array_equal(again.tables, found.tables)


def test_intervals_cover_what_they_promise():
    """Cells within 1.96 deviations of their mean: 95 % over some twelve hundred hidden cells."""
    inside = []
    for seed in range(12):
        X, H = low_rank(seed=seed)
        found = impute(H, 30, n_components=2, random_state=seed)
        hole = np.isnan(H)
        inside.append(np.abs(X - found.mean)[hole] < 1.96 * np.sqrt(1 + 1 / 30) * found.std[hole])
    assert 0.93 < np.concatenate(inside).mean() < 0.97


def test_without_noise_all_draws_are_the_same():
    X, H = low_rank(noise=0.0, share=0.05)
    found = impute(H, 4, n_components=2, tol=1e-10, random_state=0)
    np.testing.assert_allclose(found.tables, np.broadcast_to(X, found.tables.shape), atol=1e-4)
    assert found.std.max() < 1e-4


def test_more_holes_more_spread_between_the_draws():
    spread = []
    for share in (0.05, 0.2, 0.4):
        _, H = low_rank(share=share)
        places = impute(H, 20, n_components=2, random_state=0).scores(2)
        spread.append(places.std(axis=0).mean())
    assert spread[0] < spread[1] < spread[2]


def test_spread_of_missmda():
    """Mean and deviation over the draws of missMDA's bootstrap: another generator, so within its error."""
    H = oracles.load_input("orange_na")[0][:, 1:].astype(float)
    case = "missmda_mipca_orange"
    mean, sd = (oracles.load_expected(case, f"{name}.csv") for name in ("mean", "sd"))
    found = impute(H, 200, n_components=2, random_state=0)
    hole = np.isnan(H)
    assert np.abs(found.mean - mean)[hole].max() < 0.35 * sd[hole].max()
    assert 0.75 < np.median(found.std[hole] / sd[hole]) < 1.3


def test_pooling_adds_what_lies_between_the_tables():
    _, H = low_rank()
    found = impute(H, 10, n_components=2, random_state=0)
    pooled = found.pool(lambda table: (table.mean(axis=0), table.var(axis=0, ddof=1) / len(table)))
    means = found.tables.mean(axis=1)
    within = (found.tables.var(axis=1, ddof=1) / H.shape[0]).mean(axis=0)
    np.testing.assert_allclose(pooled.estimate, means.mean(axis=0))
    np.testing.assert_allclose(pooled.variance, within + 1.1 * means.var(axis=0, ddof=1))
    assert ((pooled.missing_information > 0) & (pooled.missing_information < 1)).all()


def test_ellipses_hold_the_draws():
    _, H = low_rank(n=40)
    found = impute(H, 60, n_components=2, random_state=0)
    clouds = found.scores(2)
    ellipses = found.row_ellipses(0.9)
    np.testing.assert_allclose(ellipses.centers, clouds.mean(axis=0))
    gaps = clouds - ellipses.centers
    lengths = np.linalg.norm(ellipses.axes, axis=2)
    assert (lengths[:, 0] >= lengths[:, 1]).all()
    incomplete = np.isnan(H).any(axis=1)
    assert np.median(lengths[incomplete, 0]) > 2 * np.median(lengths[~incomplete, 0])
    units = ellipses.axes / lengths[..., None]
    inside = (np.einsum("mik,iak->mia", gaps, units) ** 2 / lengths**2).sum(axis=2) <= 1
    assert 0.85 < inside.mean() < 0.95
    assert found.axis_ellipses().centers.shape == (6, 2)


def test_baselines_distort():
    """Mean filling shrinks the variances by the share that is missing; draws keep them."""
    _, H = low_rank(n=400)
    ratio = {
        method: impute(H, 1 if method in ("mean", "regression") else 10, method=method, random_state=0,
                       **({"n_components": 2} if method == "regularized" else {})).distortion()
        for method in ("mean", "regression", "regularized")
    }  # fmt: skip
    share = np.isnan(H).mean(axis=0)
    np.testing.assert_allclose(ratio["mean"]["variance_ratio"], 1 - share, atol=1e-12)
    assert ratio["regression"]["variance_ratio"].mean() < 0.97
    assert abs(ratio["regularized"]["variance_ratio"].mean() - 1) < 0.04
    assert ratio["regularized"]["correlation_shift"] < 0.5 * ratio["mean"]["correlation_shift"]


def test_mean_imputation_of_the_unit_helical_loop():
    """One of three cells hidden at random: the expected squared error is (1/2 + 1/2 + 1/3)/3 = 4/9."""
    t = np.linspace(-np.pi, np.pi, 3000)
    X = np.column_stack([np.sin(t), np.cos(t), t / np.pi])
    H = X.copy()
    H[np.arange(3000), np.random.default_rng(0).integers(3, size=3000)] = np.nan
    found = impute(H, 1, method="mean").mean
    assert np.mean((found - X)[np.isnan(H)] ** 2) == pytest.approx(4 / 9, abs=0.015)


def test_regression_imputation_is_the_conditional_mean_of_the_complete_rows():
    X, H = low_rank(n=60, d=4, share=0.1)
    whole = H[~np.isnan(H).any(axis=1)]
    mean, C = whole.mean(axis=0), np.cov(whole, rowvar=False)
    filled = by_regression(H)
    for i in np.flatnonzero(np.isnan(H).any(axis=1)):
        m, o = np.isnan(H[i]), ~np.isnan(H[i])
        expected = mean[m] + C[np.ix_(m, o)] @ np.linalg.solve(C[np.ix_(o, o)], H[i, o] - mean[o])
        np.testing.assert_allclose(filled[i, m], expected, atol=1e-9)
    assert X.shape == filled.shape


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_regression_imputation_of_columns_that_follow_from_others(dtype):
    """The covariance has no inverse; what follows exactly is filled exactly, and what is constant stays so."""
    X, _ = low_rank(n=400, d=6)
    X = np.column_stack([X, X[:, 0] + X[:, 1], np.ones(400)]).astype(dtype)
    H, close = X.copy(), 1e-7 if dtype == np.float64 else 1e-3
    H[:40, 6], H[40:60, 0], H[60:70, 7] = np.nan, np.nan, np.nan
    filled = by_regression(H)
    assert filled.dtype == dtype
    np.testing.assert_allclose(filled, X, atol=close * np.abs(X).max())


def test_rank_is_chosen_and_said():
    _, H = low_rank(n=200, d=12, noise=0.3)
    found = impute(H, 2, method="regularized", random_state=0)
    assert found.n_components == found.choice.setting
    assert found.n_components in (2, 3)
    assert f"regularised PCA, {found.n_components} components" in repr(found)


def test_distortion_of_columns_without_correlations():
    flat = np.full((9, 3), 2.0)
    flat[3, 1] = np.nan
    found = impute(flat, 2, n_components=1, random_state=0).distortion()
    np.testing.assert_array_equal(found["variance_ratio"], 1.0)
    assert np.isnan(found["correlation_shift"])


def test_a_complete_table_comes_back():
    X, _ = low_rank()
    found = impute(X, 3, n_components=2, random_state=0)
    np.testing.assert_array_equal(found.tables, np.broadcast_to(X, (3, *X.shape)))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_imputations": 0}, "n_imputations must be"),
        ({"method": "zero"}, "method must be"),
        ({"method": "mean", "n_imputations": 3}, "n_imputations must be 1 with method='mean'"),
        ({"n_components": 6}, r"n_components must be at most min\(n - 2, d - 1\) = 5; got 6"),
        ({"ridge": -1.0}, "ridge must be"),
        ({"verbose": "yes"}, "verbose must be"),
    ],
)
def test_mistakes(options, message):
    _, H = low_rank()
    with pytest.raises(ValueError, match=message):
        impute(H, **{"n_imputations": 2, **options})


def test_tables_without_information_are_refused():
    _, H = low_rank()
    H[3] = np.nan
    with pytest.raises(ValueError, match="impute: 1 row of X has no observed cell"):
        impute(H)
    tiny = np.array([[1.0, np.nan, 2.0], [2.0, 1.0, np.nan], [np.nan, 3.0, 1.0], [1.0, 2.0, 0.5]])
    with pytest.warns(UserWarning, match="too few to tell noise from structure"):
        assert np.isfinite(impute(tiny, 2, n_components=2, random_state=0).tables).all()
    found = impute(low_rank()[1], 2, n_components=1, random_state=0)
    with pytest.raises(ValueError, match="n_imputations must be at least 3"):
        found.row_ellipses()
    with pytest.raises(ValueError, match="n_components must be between 1 and 6"):
        found.scores(7)

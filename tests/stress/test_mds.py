"""MDS: what must hold whatever the data, and what each setting promises."""

import tracemalloc
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist, pdist, squareform
from sklearn.exceptions import ConvergenceWarning

import lowdim
from lowdim import MDS
from lowdim._core.tables.align import procrustes
from lowdim.stress import _fit, _report, mds
from lowdim.stress._dissimilarities import Dissimilarities
from lowdim.stress._levels import LEVELS, level_of
from lowdim.stress._placement import StressPlacement
from lowdim.stress._solvers import STRESS_SOLVERS, Problem

EXACT = {"tol": 1e-15, "max_iter": 5000}


def cloud(n=60, d=4, seed=0):
    X = np.random.default_rng(seed).standard_normal((n, d)) * [3.0, 2.0, 1.0, 0.5, 0.4, 0.3][:d]
    X[:, 1] += 0.2 * X[:, 0] ** 2
    return X


def problem_of(X, level="ratio", weights=None, ties="primary"):
    pairs, _ = _fit._in_units(_fit._weighted(Dissimilarities(X, "euclidean", 1).pairs(), weights)[0])
    return Problem(pairs, level_of(level, pairs, ties), 1)


def random_weights(n, seed=3):
    W = np.random.default_rng(seed).random((n, n)) + 0.1
    return W + W.T


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("weighted", [False, True])
def test_majorisation_never_raises_the_stress(level, weighted):
    X = cloud(40)
    problem = problem_of(X, level, random_weights(40) if weighted else None)
    for seed in range(3):
        place = problem.evaluate(np.random.default_rng(seed).standard_normal(80))
        for _ in range(40):
            image = problem.evaluate(place.image)
            assert image.loss <= place.loss * (1 + 1e-12)
            place = image


@pytest.mark.parametrize("solver", STRESS_SOLVERS)
@pytest.mark.parametrize("level", LEVELS)
def test_no_solver_ever_raises_the_stress(solver, level):
    model = MDS(2, level=level, solver=solver, init="random", random_state=1).fit(cloud(40))
    assert (np.diff(model.stress_history_) <= 0).all()
    assert model.n_iter_ == len(model.stress_history_) - 1
    assert model.converged_


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("weighted", [False, True])
def test_forces_are_minus_half_the_gradient(level, weighted):
    """Also where disparities follow the configuration: at their best values they do not count."""
    X = cloud(12)
    problem = problem_of(X, level, random_weights(12) if weighted else None, ties="secondary")
    Z = np.random.default_rng(1).standard_normal(24)
    gradient, h = np.empty(24), 1e-6
    for k in range(24):
        step = h * (np.arange(24) == k)
        gradient[k] = (problem.evaluate(Z + step).loss - problem.evaluate(Z - step).loss) / (2 * h)
    np.testing.assert_allclose(-2 * problem.evaluate(Z).force / problem.length, gradient, atol=1e-7)


def test_the_diagonal_of_the_hessian():
    problem, h = problem_of(cloud(10)), 1e-5
    Z = np.random.default_rng(1).standard_normal(20)
    for k in range(20):
        step = h * (np.arange(20) == k)
        slope = (problem.evaluate(Z - step).force[k] - problem.evaluate(Z + step).force[k]) / (2 * h)
        assert problem.curvature(Z)[k] == pytest.approx(slope, rel=1e-6)


@pytest.mark.parametrize("level", LEVELS)
def test_an_exact_solution_stays_put(level):
    X = cloud(50, 2)
    model = MDS(2, level=level, init=X).fit(X)
    assert model.stress1_ < 1e-7
    assert procrustes(X, model.embedding_).disparity < 1e-14
    if level == "ratio":
        np.testing.assert_allclose(pdist(model.embedding_), pdist(X), rtol=1e-7)


def test_planar_data_has_no_sammon_error():
    X = cloud(40, 2)
    assert MDS(2, loss="sammon").fit(X).loss_ < 1e-14


@pytest.mark.parametrize("settings", [{}, {"loss": "sammon"}, {"weights": "elastic"}, {"metric": "manhattan"}])
def test_better_than_classical_scaling(settings):
    X = cloud(80)
    model = MDS(2, **settings).fit(X)
    assert model.stress_history_[-1] < model.stress_history_[0]
    if not settings:
        start = lowdim.ClassicalMDS(2).fit_transform(X)
        assert model.stress_ < lowdim.quality.stress(X, start, "raw")
        assert MDS(2, init=start).fit(X).stress_ == pytest.approx(model.stress_, rel=1e-3)


@pytest.mark.parametrize(
    "settings",
    [{}, {"loss": "sammon"}, {"weights": random_weights(30)}, {"level": "ordinal"}, {"level": "spline"}],
    ids=str,
)
def test_all_solvers_reach_the_same_stress(settings):
    X = cloud(30)
    losses = {s: MDS(2, solver=s, tol=1e-9, max_iter=20000, **settings).fit(X).loss_ for s in STRESS_SOLVERS}
    np.testing.assert_allclose(list(losses.values()), losses["majorize"], rtol=1e-3)


def test_reports_equal_the_quality_measures():
    X = cloud(60)
    for settings in ({}, {"loss": "sammon"}):
        model = MDS(2, **settings).fit(X)
        Z = model.embedding_
        for kind, value in (
            ("raw", model.stress_),
            ("stress1", model.stress1_),
            ("normalized", model.stress_normalized_),
            ("scale_optimal", model.stress_scale_optimal_),
        ):
            assert value == pytest.approx(float(lowdim.quality.stress(X, Z, kind)), rel=1e-9)
    assert model.loss_ == pytest.approx(float(lowdim.quality.sammon(X, Z)), rel=1e-6)
    assert MDS(2, **EXACT).fit(X).loss_ == pytest.approx(model_stress(X) ** 2, rel=1e-9)


def model_stress(X):
    return MDS(2, **EXACT).fit(X).stress_normalized_


def test_stress_of_points_and_pairs():
    X = cloud(30)
    model = MDS(2, level="ordinal").fit(X)
    pairs = model.stress_per_pair()
    expected = squareform((pdist(model.embedding_) - model.disparities_) ** 2)
    np.testing.assert_allclose(pairs, expected, atol=1e-12)
    assert pairs.sum() / 2 == pytest.approx(model.stress_)
    metric = MDS(2).fit(X)
    share = metric.stress_per_pair().sum(axis=1)
    np.testing.assert_allclose(metric.stress_per_point_, share / share.sum())
    np.testing.assert_array_equal(metric.disparities_, metric.dissimilarities_)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("factor", [1e-100, 1e-3, 7.0, 1e100])
def test_the_unit_of_the_dissimilarities_does_not_matter(level, factor):
    """Points scale with them, or do not at all where only their order counts."""
    D = pdist(cloud(40))
    one, other = (MDS(2, metric="precomputed", level=level, tol=1e-9).fit(c * D) for c in (1.0, factor))
    Z = other.embedding_ / (1.0 if level == "ordinal" else factor)
    np.testing.assert_allclose(Z, one.embedding_, atol=1e-4 * np.abs(Z).max())
    assert other.stress1_ == pytest.approx(one.stress1_, rel=1e-5)


@pytest.mark.parametrize("ties", ["primary", "secondary", "tertiary"])
def test_only_the_order_counts_at_the_ordinal_level(ties):
    D = np.round(pdist(cloud(40)), 1)
    settings = {"metric": "precomputed", "level": "ordinal", "ties": ties}
    one = MDS(2, **settings).fit(D)
    for other in (np.exp(D), D**3, np.sqrt(D), 5 + D):
        np.testing.assert_allclose(MDS(2, **settings).fit(other).embedding_, one.embedding_, atol=1e-7)
    assert (one.disparities_**2).mean() == pytest.approx(1.0)


@pytest.mark.parametrize("ties", ["primary", "secondary", "tertiary"])
def test_perfect_rank_agreement_has_no_stress(ties):
    X = cloud(40, 2)
    model = MDS(2, metric="precomputed", level="ordinal", ties=ties, init=X, **EXACT).fit(pdist(X) ** 1.7)
    assert model.stress1_ < 1e-10


def test_zero_is_a_value_at_the_ordinal_level():
    """The smallest one, not a missing one: the two rows are drawn together."""
    D = squareform(pdist(cloud(30)))
    D[3, 4] = D[4, 3] = 0.0
    model = MDS(2, metric="precomputed", level="ordinal").fit(D)
    assert squareform(model.disparities_)[3, 4] == model.disparities_.min()
    D[3, 4] = D[4, 3] = np.nan
    unknown = MDS(2, metric="precomputed", level="ordinal").fit(D)
    near, far = (np.linalg.norm(m.embedding_[3] - m.embedding_[4]) for m in (model, unknown))
    assert near < 0.99 * far


def test_clumps_are_reported():
    """Two far groups: every distance between them beyond every one within, which two clumps satisfy."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.standard_normal((15, 8)), rng.standard_normal((15, 8)) + 30])
    with (
        pytest.warns(UserWarning, match="MDS: the solution is degenerate: .* different disparities"),
        pytest.warns(UserWarning, match="MDS: 1 of 2 axes have an extent"),
    ):
        MDS(2, level="ordinal", max_iter=5000).fit(X)


def test_sammon_with_duplicated_rows():
    """They are one row that counts as often; the error is that of all rows."""
    X = np.repeat(cloud(12), [1, 3, 1, 2, 1, 1, 1, 1, 4, 1, 1, 1], axis=0)
    with pytest.warns(UserWarning, match="MDS: rows at dissimilarity 0 .* are merged .*: 12 of 18 rows are different"):
        model = MDS(2, loss="sammon", **EXACT).fit(X)
    Z = model.embedding_
    np.testing.assert_array_equal(Z[1], Z[2])
    assert model.loss_ == pytest.approx(float(lowdim.quality.sammon(X, Z)), rel=1e-9)
    np.testing.assert_allclose(model.transform(X), Z, atol=1e-6)
    order = np.random.default_rng(2).permutation(18)
    with pytest.warns(UserWarning, match="12 of 18 rows are different"):
        shuffled = MDS(2, loss="sammon", **EXACT).fit(X[order]).embedding_
    assert procrustes(Z[order], shuffled).disparity < 1e-12
    nearly = X + 1e-5 * np.random.default_rng(1).standard_normal(X.shape)
    assert MDS(2, loss="sammon", tol=1e-12).fit(nearly).loss_ == pytest.approx(model.loss_, rel=1e-2)


@pytest.mark.filterwarnings("ignore:MDS. all distances between rows are equal")
def test_equal_dissimilarities_make_sammon_raw_stress():
    D, start = np.ones(45), np.random.default_rng(0).standard_normal((10, 2))
    raw, sammon = (MDS(2, metric="precomputed", loss=loss, init=start, **EXACT).fit(D) for loss in ("raw", "sammon"))
    assert sammon.loss_ == pytest.approx(raw.loss_, rel=1e-9)


def test_weights_of_one_change_nothing_and_of_zero_leave_out():
    X = cloud(40)
    D = pdist(X)
    plain = MDS(2, **EXACT).fit(X)
    np.testing.assert_allclose(
        MDS(2, weights=np.full((40, 40), 3.0), **EXACT).fit(X).embedding_, plain.embedding_, atol=1e-7
    )
    W, spoilt = np.ones(len(D)), D.copy()
    W[::7], spoilt[::7] = 0.0, 100.0
    start = {"metric": "precomputed", "init": plain.embedding_, **EXACT}
    Z = MDS(2, weights=W, **start).fit(D).embedding_
    np.testing.assert_allclose(MDS(2, weights=W, **start).fit(spoilt).embedding_, Z, atol=1e-7)
    spoilt[::7] = np.nan
    unknown = MDS(2, **start).fit(spoilt)
    np.testing.assert_allclose(unknown.embedding_, Z, atol=1e-7)
    assert unknown.stress_ == pytest.approx((W * (D - pdist(Z)) ** 2).sum())
    table = squareform(spoilt)
    half = np.where(np.tril(np.ones((40, 40)), -1) > 0, np.nan, squareform(D))  # one half says it all
    np.testing.assert_allclose(MDS(2, **start).fit(table).embedding_, Z, atol=1e-7)
    np.testing.assert_allclose(MDS(2, **start).fit(half).embedding_, plain.embedding_, atol=1e-6)


@pytest.mark.parametrize("level", LEVELS)
def test_a_pair_of_no_weight_has_no_say(level):
    X = cloud(30)
    D, W = pdist(X), np.ones(435)
    W[::5] = 0.0
    settings = {"metric": "precomputed", "level": level, "weights": W, "init": lowdim.PCA(2).fit_transform(X), **EXACT}
    Z = MDS(2, **settings).fit(D).embedding_
    for spoilt in (np.where(W > 0, D, 0.0), np.where(W > 0, D, np.nan), np.where(W > 0, D, D.max())):
        np.testing.assert_allclose(MDS(2, **settings).fit(spoilt).embedding_, Z, atol=1e-6)


def test_many_rows_solve_the_weights_by_conjugate_gradients(monkeypatch):
    X, W = cloud(50), random_weights(50)
    Z = MDS(2, weights=W, solver="majorize").fit(X).embedding_
    monkeypatch.setattr("lowdim.stress._majorize.DENSE_UP_TO", 10)
    np.testing.assert_allclose(MDS(2, weights=W, solver="majorize").fit(X).embedding_, Z, atol=1e-4)


def test_a_table_in_parts_is_refused():
    D = squareform(pdist(cloud(20)))
    D[:5, 5:] = D[5:, :5] = np.nan
    with pytest.raises(ValueError, match="MDS: known dissimilarities of positive weight must join all rows; 15 of 20"):
        MDS(2, metric="precomputed").fit(D)


@pytest.mark.parametrize("level", LEVELS)
def test_unknown_pairs_stay_unknown(level):
    """They are no dissimilarities of 0: not in what is kept, not in diagrams, not in permutations."""
    D = pdist(cloud(25))
    D[::4] = np.nan
    known = ~np.isnan(D)
    model = MDS(2, metric="precomputed", level=level).fit(D)
    np.testing.assert_allclose(model.dissimilarities_, D)
    assert (np.isnan(model.disparities_) == ~known).all()
    pairs = model.stress_per_pair()
    assert pairs.sum() / 2 == pytest.approx(model.stress_)
    np.testing.assert_array_equal(squareform(pairs)[~known], 0)
    diagram = model.shepard()
    assert len(diagram.dissimilarities) == known.sum()
    np.testing.assert_array_equal(diagram.dissimilarities, np.sort(model.dissimilarities_[known]))


def test_permutations_deal_out_known_dissimilarities(monkeypatch):
    D, W = pdist(cloud(20)), random_weights(20)
    D[::3] = np.nan
    seen = []
    monkeypatch.setattr(_report, "refit", lambda model, X, **changed: seen.append((X, changed)) or 1.0)
    MDS(2, metric="precomputed", weights=W).permutation_test(D, n_draws=3, random_state=0)
    for table, changed in seen:
        vector = squareform(table, checks=False)
        np.testing.assert_array_equal(np.isnan(vector), np.isnan(D))
        np.testing.assert_allclose(np.sort(vector), np.sort(D))
        assert "weights" not in changed


def test_weights_in_any_unit():
    X, W = cloud(30), random_weights(30)
    one = MDS(2, weights=W).fit(X)
    assert one.stress_per_pair().sum() / 2 == pytest.approx(one.stress_)
    for dtype, factors in ((np.float64, (1e-300, 1e300)), (np.float32, (1e-60, 1e60))):
        for factor in factors:
            model = MDS(2, weights=factor * W).fit(X.astype(dtype))
            np.testing.assert_allclose(model.embedding_, one.embedding_, atol=1e-3 if dtype == np.float32 else 1e-9)
            assert model.stress_ == pytest.approx(factor * one.stress_, rel=1e-5)


def test_a_row_of_hardly_any_weight():
    X, W = cloud(30), np.ones((30, 30))
    W[0] = W[:, 0] = 1e-40
    model = MDS(2, weights=W, **EXACT).fit(X)
    np.testing.assert_allclose(pdist(model.embedding_[1:]), pdist(MDS(2, **EXACT).fit(X[1:]).embedding_), atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("settings", [{"loss": "sammon"}, {"weights": "elastic"}], ids=str)
def test_rows_that_are_nearly_the_same(settings, dtype):
    """Weights of 1 / delta must not leave the range in which they can be compared with others."""
    X = cloud(30)
    for near in (1e-9, 1e-13, 1e-20, 1e-30):
        rows = np.vstack([np.zeros(4), [near, 0, 0, 0], X]).astype(dtype)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # they may be merged
            model = MDS(2, **settings).fit(rows)
            drawn = MDS(2, solver="stochastic", random_state=0, **settings).fit(rows)
        assert model.loss_ == pytest.approx(MDS(2, **settings).fit(rows[1:].astype(np.float64)).loss_, rel=0.2)
        assert drawn.loss_ < 1.05 * model.loss_


@pytest.mark.parametrize("weights", [{"loss": "sammon"}, {"weights": "elastic"}], ids=str)
def test_the_loss_is_that_of_what_is_returned(weights):
    """Also where rows are merged although their dissimilarities to others differ."""
    D = squareform(pdist(cloud(30)))
    D[3, 4] = D[4, 3] = 0.0
    with pytest.warns(UserWarning, match="MDS: rows at dissimilarity 0 .* are merged"):
        model = MDS(2, metric="precomputed", **weights).fit(D)
    delta, d = squareform(D), pdist(model.embedding_)
    w = np.where(delta > 0, np.maximum(delta, 1e-9) ** (-1.0 if "loss" in weights else -2.0), 0.0)
    assert model.loss_ == pytest.approx((w * (delta - d) ** 2).sum() / (w * delta**2).sum(), rel=1e-12)


@pytest.mark.parametrize("level", ["interval", "spline"])
def test_copies_of_a_row_come_back_to_their_places(level):
    """Equal rows may have a disparity other than 0; a row to itself has none."""
    X = np.vstack([cloud(20), cloud(20), cloud(5)])
    model = MDS(2, level=level, tol=1e-12, max_iter=5000).fit(X)
    np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-3)


def test_most_dissimilarities_unknown():
    """A plane is found again from a third of its distances."""
    X = cloud(60, 2)
    D = pdist(X)
    D[np.random.default_rng(0).random(len(D)) < 0.66] = np.nan
    model = MDS(2, metric="precomputed", n_init=5, random_state=0, **EXACT).fit(D)
    assert procrustes(X, model.embedding_).disparity < 1e-12


@pytest.mark.parametrize("settings", [{}, {"loss": "sammon"}, {"level": "interval"}, {"level": "ordinal"}], ids=str)
def test_new_rows_of_a_plane_are_where_they_belong(settings):
    X = cloud(120, 2)
    model = MDS(2, **settings, **EXACT).fit(X[:100])
    fit, new = procrustes(X[:100], model.embedding_), X[100:]
    new = new[np.linalg.norm(new[:, None] - X[:100], axis=2).max(axis=1) < pdist(X[:100]).max()]  # no farther than seen
    assert len(new) > 10
    np.testing.assert_allclose(fit.apply(model.transform(new)), new, atol=0.02 if settings else 1e-6)


def test_new_rows_from_their_dissimilarities():
    X = cloud(80)
    D = squareform(pdist(X))
    model = MDS(2, metric="precomputed").fit(D[:60, :60])
    rows = MDS(2, init=model.embedding_).fit(X[:60])
    Z = model.transform(D[60:, :60])
    assert np.abs(Z).max() < 2 * np.abs(model.embedding_).max()
    np.testing.assert_allclose(
        procrustes(model.embedding_, rows.embedding_).apply(rows.transform(X[60:])), Z, atol=0.05
    )
    some = D[60:, :60].copy()
    some[:, ::3] = np.nan
    assert np.median(np.abs(model.transform(some) - Z)) < 0.1
    some[4] = np.nan
    with pytest.raises(ValueError, match="MDS: row 4 of X has no known distance to a fitted row"):
        model.transform(some)


@pytest.mark.parametrize("settings", [{}, {"loss": "sammon"}, {"level": "ordinal"}], ids=str)
def test_fitted_rows_come_back_to_minima_that_are_not_the_lowest(settings):
    """On a line from anywhere many a row has a better place elsewhere; it is not sent there."""
    X = cloud(40)
    model = MDS(1, init="random", random_state=0, **settings, **EXACT).fit(X)
    better = MDS(1, init="random", n_init=20, random_state=0, **settings).fit(X)
    assert better.loss_ < 0.99 * model.loss_
    Z = model.embedding_
    np.testing.assert_allclose(model.transform(X), Z, atol=1e-5 * np.abs(Z).max())


def test_new_rows_are_placed_beside_one_copy_of_their_dissimilarities():
    """A block of them is large where rows are many: it was held four times."""
    rng = np.random.default_rng(0)
    points = rng.normal(size=(5000, 2))
    D = cdist(points[:256], points)
    tracemalloc.start()
    try:
        Z = StressPlacement(points, 1.0, 1.0, None, 0.0)(D)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    np.testing.assert_allclose(Z, points[:256], atol=1e-9)
    assert most < 1.5 * D.nbytes


def test_a_new_row_lowers_its_own_stress():
    X = cloud(100, 6)
    model = MDS(2).fit(X[:80])
    Z, D = model.transform(X[80:]), squareform(pdist(X))[80:, :80]

    def stress(places):
        return ((D - np.linalg.norm(places[:, None] - model.embedding_, axis=2)) ** 2).sum(axis=1)

    for step in 0.01 * np.random.default_rng(0).standard_normal((20, 2)):
        assert (stress(Z + step) > stress(Z)).all()


def test_a_better_start_is_found_among_several():
    X = cloud(40, 6)
    one = MDS(1, init="random", random_state=2).fit(X)
    many = MDS(1, init="random", n_init=10, random_state=2).fit(X)
    assert many.stress_ < one.stress_
    mixed = MDS(1, n_init=4, random_state=0).fit(X)
    assert mixed.stress_ <= MDS(1).fit(X).stress_


def test_more_dimensions_than_classical_scaling_has():
    """Dissimilarities without a second positive eigenvalue still need a plane."""
    D = squareform(pdist(np.arange(5.0)[:, None]))
    D[0, 4] = D[4, 0] = 1.0
    flat = lowdim.MDS(1, metric="precomputed").fit(D)
    assert MDS(2, metric="precomputed", random_state=0).fit(D).stress_ < 0.5 * flat.stress_


def test_an_axis_that_is_not_needed_is_zero():
    with pytest.warns(UserWarning, match="MDS: 1 of 3 axes have an extent"):
        Z = MDS(3).fit_transform(np.arange(10.0)[:, None])
    np.testing.assert_array_equal(Z[:, 1:], 0)
    np.testing.assert_allclose(np.abs(Z[:, 0]), np.abs(np.arange(10) - 4.5), atol=1e-9)


@pytest.mark.parametrize("solver", ["accelerated", "stochastic"])
def test_more_dimensions_than_rows(solver):
    X = cloud(5)
    with pytest.warns(UserWarning, match="MDS: 4 of 8 axes have an extent"):
        model = MDS(8, solver=solver, random_state=0).fit(X)
    assert model.embedding_.shape == model.transform(X).shape == (5, 8)
    np.testing.assert_allclose(pdist(model.embedding_), pdist(X), atol=1e-6)


def test_few_steps_warn_and_still_return():
    with pytest.warns(ConvergenceWarning, match="MDS: not converged after max_iter=2 steps"):
        model = MDS(2, max_iter=2).fit(cloud())
    assert not model.converged_
    assert model.embedding_.shape == (60, 2)


def test_sparse_rows_and_frames():
    X = np.round(cloud(40))
    Z = MDS(2).fit_transform(X)
    np.testing.assert_allclose(MDS(2).fit(sparse.csr_array(X)).embedding_, Z, atol=1e-4)
    D = pd.DataFrame(squareform(pdist(X)))
    np.testing.assert_allclose(MDS(2, metric="precomputed").fit(D).embedding_, Z, atol=1e-2)


def test_rows_with_holes():
    X = cloud(80)
    holes = np.random.default_rng(0).random(X.shape) < 0.1
    holes[:, 0] = False
    for missing in ("pairwise", "expected"):
        model = MDS(2, missing=missing, random_state=0).fit(np.where(holes, np.nan, X))
        assert procrustes(MDS(2).fit(X).embedding_, model.embedding_).disparity < 0.1
        assert np.isfinite(model.transform(np.where(holes, np.nan, X))).all()


def test_what_a_fit_of_nothing_says():
    """Uniform random dissimilarities leave more stress in fewer dimensions, and more than structure does."""
    model = MDS(2, level="ordinal", random_state=0)
    random = model.random_stress(15, n_draws=5, random_state=0)
    assert random.shape == (5,)
    assert random.min() > MDS(2, level="ordinal").fit(cloud(15)).stress_scale_optimal_
    assert MDS(1, level="ordinal").random_stress(15, 5, random_state=0).min() > random.max()
    np.testing.assert_array_equal(model.random_stress(15, 5, random_state=0), random)


def test_permutations_tell_structure_from_none():
    test = MDS(2).permutation_test(cloud(15), n_draws=19, random_state=0)
    assert test.p_value == pytest.approx(0.05)
    assert test.null.min() > test.stress
    noise = squareform(np.random.default_rng(0).random(105))
    assert MDS(2, metric="precomputed").permutation_test(noise, n_draws=19, random_state=1).p_value > 0.05


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"loss": "sammon", "level": "ordinal"}, "level must be 'ratio' where weights depend"),
        ({"weights": "elastic", "level": "spline"}, "level must be 'ratio' where weights depend"),
        ({"loss": "sammon", "weights": "elastic"}, "weights must be None or an array for loss='sammon'"),
        ({"solver": "stochastic", "level": "interval"}, "level must be 'ratio' for solver='stochastic'"),
        ({"weights": np.ones((3, 3))}, r"weights must be a symmetric table of shape \(60, 60\)"),
        ({"weights": np.triu(np.ones((60, 60)))}, "weights must be symmetric"),
        ({"weights": -np.ones((60, 60))}, "weights must be finite and not negative"),
        ({"init": np.zeros((60, 3))}, r"init must be .* of shape \(60, 2\); got shape \(60, 3\)"),
        ({"init": "middle"}, "init must be one of 'classical', 'random' or an array; got 'middle'"),
        ({"level": "nominal"}, "level must be one of 'ratio', 'interval', 'ordinal', 'spline'"),
        ({"metric": "sideways"}, "metric must be"),
    ],
    ids=str,
)
def test_settings_that_do_not_go_together(settings, message):
    with pytest.raises(ValueError, match=f"MDS: {message}"):
        MDS(2, **settings).fit(cloud())


@pytest.mark.parametrize("level", LEVELS)
def test_tiny_tables(level):
    for n in (2, 3, 4):
        model = MDS(1, level=level).fit(np.arange(n, dtype=float)[:, None] ** 1.5)
        assert np.isfinite(model.embedding_).all()
        assert model.stress1_ < 1e-6
        assert np.isfinite(model.transform([[0.5], [9.0]])).all()


def test_large_tables_keep_no_pairs(monkeypatch):
    monkeypatch.setattr(mds, "KEPT_UP_TO", 20)
    model = MDS(2).fit(cloud(40))
    assert model.disparities_ is None
    with pytest.raises(ValueError, match="MDS: pairs are kept for up to 20 rows; got 40"):
        model.shepard()


class TestStochastic:
    """Drawn rows: nearly the stress of majorisation, nothing of the size of all pairs."""

    def test_close_to_the_full_solution(self):
        X = cloud(1500, 6)
        full = MDS(2).fit(X)
        model = MDS(2, solver="stochastic", random_state=0).fit(X)
        assert model.converged_
        assert model.stress_ < 1.01 * full.stress_
        assert model.stress_ == pytest.approx(float(lowdim.quality.stress(X, model.embedding_, "raw", pairs=None)))
        assert model.stress_scale_optimal_ == pytest.approx(
            float(lowdim.quality.stress(X, model.embedding_, "scale_optimal", pairs=None))
        )
        assert procrustes(full.embedding_, model.embedding_).disparity < 0.02
        assert model.disparities_ is None
        assert np.corrcoef(model.stress_per_point_, full.stress_per_point_)[0, 1] > 0.95

    @pytest.mark.parametrize("settings", [{"loss": "sammon"}, {"weights": "elastic"}, {"metric": "manhattan"}], ids=str)
    def test_other_losses(self, settings):
        X = cloud(500, 5)
        full = MDS(2, **settings).fit(X)
        model = MDS(2, solver="stochastic", random_state=0, **settings).fit(X)
        assert model.loss_ < 1.03 * full.loss_

    def test_tables_with_unknown_dissimilarities(self):
        X = cloud(300)
        D = pdist(X)
        D[np.random.default_rng(0).random(len(D)) < 0.2] = np.nan
        full = MDS(2, metric="precomputed").fit(D)
        model = MDS(2, metric="precomputed", solver="stochastic", random_state=0).fit(D)
        assert model.stress_ < 1.03 * full.stress_

    def test_weights_as_a_table_or_as_pairs(self):
        X, W = cloud(200), random_weights(200)
        np.fill_diagonal(W, 0.0)
        model = MDS(2, solver="stochastic", weights=W, random_state=0).fit(X)
        np.testing.assert_array_equal(
            model.embedding_, MDS(2, solver="stochastic", weights=squareform(W), random_state=0).fit(X).embedding_
        )
        assert model.stress_ < 1.02 * MDS(2, weights=W).fit(X).stress_
        with pytest.raises(ValueError, match="MDS: weights must be a symmetric table"):
            MDS(2, solver="stochastic", weights=W[:5]).fit(X)

    def test_rows_that_are_all_the_same(self):
        with pytest.warns(UserWarning, match="MDS: 0 of 2 axes have an extent"):
            model = MDS(2, solver="stochastic", random_state=0).fit(np.ones((100, 3)))
        np.testing.assert_array_equal(model.embedding_, 0)
        assert model.stress_ == model.loss_ == 0

    def test_from_anywhere(self):
        X = cloud(400, 3)
        with pytest.warns(ConvergenceWarning, match=r"MDS: not converged after 200 steps .* Try another init"):
            model = MDS(2, solver="stochastic", init="random", random_state=0).fit(X)
        assert not model.converged_
        assert model.stress_ < 1.2 * MDS(2).fit(X).stress_

    def test_the_best_of_several_starts(self):
        X = cloud(100, 3)
        settings = {"solver": "stochastic", "random_state": 0}
        with pytest.warns(ConvergenceWarning):
            worse = MDS(2, init=np.random.default_rng(0).standard_normal((100, 2)), max_iter=3, **settings).fit(X)
        with pytest.warns(ConvergenceWarning):
            better = MDS(2, init=worse.embedding_[::-1], max_iter=3, n_init=8, **settings).fit(X)
        with pytest.warns(ConvergenceWarning):
            first = MDS(2, init=worse.embedding_[::-1], max_iter=3, **settings).fit(X)
        assert better.loss_ < first.loss_

    def test_perfect_fits_are_converged(self):
        assert MDS(2, solver="stochastic", random_state=0).fit(cloud(200, 2)).converged_

    def test_a_table_in_parts_is_refused(self):
        D = squareform(pdist(cloud(20)))
        D[:5, 5:] = D[5:, :5] = np.nan
        for table, weights in ((D, None), (np.nan_to_num(D), np.zeros((20, 20)))):
            with pytest.raises(ValueError, match="MDS: known dissimilarities of positive weight must join all rows"):
                MDS(2, metric="precomputed", solver="stochastic", weights=weights).fit(table)

    def test_same_bits_for_any_number_of_threads(self):
        X = cloud(1300, 4)
        Z = [MDS(2, solver="stochastic", random_state=0, n_jobs=jobs).fit_transform(X) for jobs in (1, 2, 5)]
        np.testing.assert_array_equal(Z[0], Z[1])
        np.testing.assert_array_equal(Z[0], Z[2])

    @pytest.mark.filterwarnings("ignore:MDS. not converged")
    def test_chosen_for_very_many_rows(self, monkeypatch):
        monkeypatch.setattr(mds, "STORED_UP_TO", 100)
        assert MDS(2).fit(cloud(150)).dissimilarities_ is None
        assert MDS(2, level="ordinal").fit(cloud(150)).dissimilarities_ is not None

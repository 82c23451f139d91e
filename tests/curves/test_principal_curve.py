"""Principal curves: an independent program's results, curves whose truth is known, identities."""

import warnings

import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.exceptions import ConvergenceWarning

import lowdim
from lowdim import PrincipalCurve
from lowdim.curves import _polygon
from lowdim.curves._hastie_stuetzle import HastieStuetzle
from lowdim.curves._polyline import Polyline
from lowdim.curves._segments import k_segments
from lowdim.curves._smoothers import Lowess, Spline
from lowdim.curves.principal_curve import SMOOTHERS
from tests.oracles import case, load_expected, load_input


def parabola(n=400, noise=0.1, seed=0):
    x = np.random.default_rng(seed).uniform(-1, 1, n)
    return np.column_stack([x, x**2]) + noise * np.random.default_rng(seed + 1).standard_normal((n, 2))


def off(curve, truth):
    """Distances of the vertices of a curve from a fine polyline."""
    return np.sqrt(Polyline(truth).project(curve).squared)


# ---- princurve (R) ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("stretch", ["", "_stretch2"])
def test_projection_is_that_of_princurve(stretch):
    """Its lambda is the chord length between successive projected points (not the length on the curve)."""
    X, chain = load_input("polyline_points")[0], load_input("polyline_curve")[0]
    if stretch:  # it lengthens both end segments by twice their length
        chain = chain.copy()
        chain[0], chain[-1] = chain[0] + 2 * (chain[0] - chain[1]), chain[-1] + 2 * (chain[-1] - chain[-2])
    name = f"princurve_project_polyline{stretch}"
    curve = Polyline(chain)
    found = curve.project(X)
    points = curve.points(found)
    np.testing.assert_allclose(found.squared, load_expected(name, "dist_ind"), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(points, load_expected(name, "s"), rtol=1e-10, atol=1e-10)
    order = np.argsort(found.parameters, kind="stable")
    chords = np.zeros(len(X))
    chords[order[1:]] = np.cumsum(np.sqrt(np.square(np.diff(points[order], axis=0)).sum(axis=1)))
    np.testing.assert_allclose(chords, load_expected(name, "lambda"), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize(
    ("name", "settings"),
    [("circle_spline", {}), ("helix_spline", {}), ("helix_lowess", {"smoother": "lowess", "span": 0.2})],
)
def test_fits_are_as_good_as_princurve_s(name, settings):
    """Same data, degrees of freedom and span; its lowess weights outlying rows down, ours does not."""
    X = load_input(f"{name.split('_')[0]}_noisy")[0]
    model = PrincipalCurve(tol=1e-6, max_iter=100, **settings).fit(X)
    reference = case(f"princurve_{name}")["scalars"]["dist"]
    total = model.reconstruction_error_ * X.size
    assert total <= 1.0001 * reference
    assert total > 0.7 * reference  # no wiggles of its own
    if name != "circle_spline":  # where the open ring breaks is chance
        assert abs(spearmanr(model.parameters_, load_expected(f"princurve_{name}", "lambda"))[0]) > 0.99


# ---- known truth -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("smoother", ["spline", "lowess", "polygon", "segments"])
def test_a_parabola_is_found(smoother):
    X, x = parabola(), np.linspace(-1.2, 1.2, 2000)
    model = PrincipalCurve(smoother=smoother).fit(X)
    near = 0.05 if smoother != "segments" else 0.1  # the noise is 0.1; few straight pieces cut the bend
    assert np.sqrt(np.square(off(model.curve_, np.column_stack([x, x**2]))).mean()) < near
    assert abs(spearmanr(model.parameters_, X[:, 0])[0]) > 0.98


def test_bias_correction_gives_a_ring_its_radius_back():
    """Smoothing shrinks it; the mean radius of noisy rows is 1 + noise²/2."""
    X = lowdim.datasets.noisy_circle(1000, noise=0.1, random_state=0).X
    plain = PrincipalCurve(smoother="periodic", df=4.0, tol=1e-6).fit(X)
    corrected = PrincipalCurve(smoother="periodic", df=4.0, tol=1e-6, bias_correction=True).fit(X)
    radius = {m: np.sqrt(np.square(m.curve_).sum(axis=1)).mean() for m in (plain, corrected)}
    assert abs(radius[corrected] - 1) < 0.01
    assert radius[plain] < 0.97
    assert corrected.closed_
    assert corrected.length_ == pytest.approx(2 * np.pi, rel=0.02)


@pytest.mark.parametrize("settings", [{"smoother": "periodic"}, {"smoother": "lowess", "closed": True, "span": 0.15}])
def test_angles_on_a_ring_are_recovered_without_a_cut(settings):
    data = lowdim.datasets.noisy_circle(500, noise=0.05, random_state=1)
    model = PrincipalCurve(bias_correction=True, **settings).fit(data.X)
    angle = 2 * np.pi * model.parameters_ / model.length_
    turns = [np.exp(1j * (angle - sign * data.coordinates[:, 0])) for sign in (1, -1)]
    best = max(turns, key=lambda z: abs(z.mean()))
    assert np.abs(np.angle(best / best.mean())).max() < 0.25
    start, end = model.inverse_transform([[0.0], [model.length_]])
    np.testing.assert_allclose(start, end, atol=1e-12)


def test_a_coil_in_space_is_followed():
    X = load_input("helix_noisy")[0]
    truth = load_input("helix_noisy_truth")[0].ravel()
    for settings in ({"smoother": "lowess", "span": 0.2}, {"df": 10.0}, {"smoother": "polygon"}):
        model = PrincipalCurve(**settings).fit(X)
        assert abs(spearmanr(model.parameters_, truth)[0]) > 0.99


@pytest.mark.parametrize("smoother", ["segments", "polygon"])
def test_a_spiral_is_unrolled_where_smoothing_fails(smoother):
    data = lowdim.datasets.spiral(300, noise=0.2, random_state=0)
    length = data.isometric_coordinates[:, 0]
    model = PrincipalCurve(smoother=smoother).fit(data.X)
    assert abs(spearmanr(model.parameters_, length)[0]) > 0.999
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        smooth = PrincipalCurve(df=12).fit(data.X)
        again = PrincipalCurve(df=20, init=model.curve_).fit(data.X)
    assert abs(spearmanr(smooth.parameters_, length)[0]) < 0.95
    assert abs(spearmanr(again.parameters_, length)[0]) > 0.999
    assert again.length_ == pytest.approx(length.max() - length.min(), rel=0.03)


def test_segments_cross_where_the_rows_do():
    """A figure of eight: the path runs straight through the crossing."""
    rng = np.random.default_rng(0)
    t = rng.uniform(0, 2 * np.pi, 500)
    X = np.column_stack([np.sin(t), 0.75 * np.sin(2 * t)]) + 0.04 * rng.standard_normal((500, 2))
    model = PrincipalCurve(smoother="segments", closed=True).fit(X)
    order = t[np.argsort(model.parameters_)]
    steps = np.abs(np.angle(np.exp(1j * np.diff(order))))
    assert (steps > 0.5).sum() <= 8  # rows at the crossing that are nearer to the other branch, there and back
    objectives = [path.objective for path in k_segments(X, None, True, None).found]
    lowest = int(np.argmin(objectives))
    assert 4 < lowest + 1 < len(objectives)
    assert objectives[lowest] < objectives[2] < objectives[1]


# ---- identities and properties ---------------------------------------------------------------------------


def test_a_straight_smoother_gives_the_first_principal_component():
    X = np.random.default_rng(0).standard_normal((200, 4)) * [4, 2, 1, 0.5] + 7
    pca = lowdim.PCA(1).fit(X)
    scores = pca.transform(X)[:, 0]
    model = PrincipalCurve(df=2).fit(X)
    shifted = model.parameters_ - model.parameters_.mean()
    np.testing.assert_allclose(shifted * np.sign(shifted @ scores), scores, atol=1e-8)
    assert model.reconstruction_error_ == pytest.approx(np.square(X - pca.inverse_transform(pca.transform(X))).mean())
    assert model.converged_


@pytest.mark.parametrize("smoother", ["spline", "lowess", "segments", "polygon"])
def test_rows_on_a_line_give_that_line(smoother):
    t = np.random.default_rng(1).uniform(0, 5, 60)
    X = np.outer(t, [1.0, 2.0, -2.0]) + 3
    model = PrincipalCurve(smoother=smoother, df=6).fit(X)
    assert model.converged_
    reach = 1e-6 if smoother != "segments" else 0.3 * t.std() * 3  # k segments end at 1.5 standard deviations
    assert model.distance_.max() < max(reach, 1e-6)
    inside = (model.parameters_ > 0) & (model.parameters_ < model.length_)
    assert abs(np.corrcoef(model.parameters_[inside], t[inside])[0, 1]) > 1 - 1e-10


@pytest.mark.parametrize("smoother", ["spline", "lowess", "segments", "polygon"])
def test_closer_than_the_first_principal_component(smoother):
    X = parabola()
    model = PrincipalCurve(smoother=smoother).fit(X)
    pca = lowdim.PCA(1).fit(X)
    assert model.reconstruction_error_ < 0.7 * np.square(X - pca.inverse_transform(pca.transform(X))).mean()
    assert model.reconstruction_error_ == pytest.approx(np.square(model.distance_).sum() / X.size)
    final = model.loss_curve_[-1] if smoother != "segments" else model.loss_curve_[len(model.curve_) // 2 - 1]
    assert final == pytest.approx(model.reconstruction_error_ * X.shape[1], rel=1e-6)


def test_parameters_are_lengths_from_the_end_with_more_rows():
    X = parabola()
    X = X[X[:, 0] < np.random.default_rng(3).uniform(-1, 1, len(X))]  # more rows on the left
    model = PrincipalCurve().fit(X)
    assert model.parameters_.min() == pytest.approx(0, abs=1e-12)
    assert model.parameters_.max() == pytest.approx(model.length_)
    assert model.curve_[0, 0] < model.curve_[-1, 0]
    steps = np.sqrt(np.square(np.diff(model.curve_, axis=0)).sum(axis=1))
    assert model.length_ == pytest.approx(steps.sum())
    np.testing.assert_allclose(model.inverse_transform([[-1.0], [1e9]]), model.curve_[[0, -1]])


def test_new_rows_are_measured_on_the_fitted_curve():
    """princurve restarts at 0 with every new table."""
    X = parabola()
    model = PrincipalCurve().fit(X)
    late = np.argsort(model.parameters_)[-5:]
    np.testing.assert_allclose(model.transform(X[late])[:, 0], model.parameters_[late])
    np.testing.assert_allclose(model.distance(X[late]), model.distance_[late])
    back = model.inverse_transform(model.transform(X))
    np.testing.assert_allclose(np.sqrt(np.square(back - X).sum(axis=1)), model.distance_, atol=1e-9)


def test_incomplete_rows_are_projected_in_the_cells_they_have():
    X = load_input("helix_noisy")[0]
    holes = np.random.default_rng(0).random(X.shape) < 0.1
    holes[np.arange(len(X)), np.arange(len(X)) % 3] = False
    Y = np.where(holes, np.nan, X)
    whole = PrincipalCurve(df=10).fit(X)
    for settings in ({"df": 10}, {"smoother": "lowess", "span": 0.2}, {"smoother": "polygon"}):
        model = PrincipalCurve(**settings).fit(Y)
        back = model.inverse_transform(model.embedding_)
        gaps = np.where(holes, 0.0, back - X)
        np.testing.assert_allclose(np.sqrt(np.square(gaps).sum(axis=1)), model.distance_, atol=1e-9)
        # Without its height a row may be on either turn of the coil; the others are clear.
        assert np.median(np.abs((back - X)[holes])) < 0.2 * np.median(np.abs((X - X.mean(axis=0))[holes]))
        assert off(model.curve_, whole.curve_).mean() < 0.06
    partly = np.where(np.arange(3) == 1, np.nan, X[:20])
    near = whole.transform(partly)[:, 0]
    assert (
        Polyline(whole.curve_[:, [0, 2]]).project(X[:20, [0, 2]]).squared <= whole.distance(partly) ** 2 + 1e-12
    ).all()
    assert np.median(np.abs(near - whole.parameters_[:20])) < 0.3


def test_a_rising_distance_is_flagged_and_the_best_curve_returned():
    """Smoothing minimises nothing; here it drifts away from the rows from the third pass on."""
    X, passes = parabola(), []

    def drifting(t, Y, at, period):
        passes.append(0)
        return Spline(5.0)(t, Y, at, period) + np.array([0.0, 0.2 * max(0, len(passes) - 3)])

    alternation = HastieStuetzle(X, drifting, False, False, 100, None)
    start = Polyline(np.array([[-1.0, 0.3], [1.0, 0.3]]))
    with pytest.warns(ConvergenceWarning, match="mean squared distance rose from"):
        fit = alternation.fit(start, tol=1e-6, max_iter=100, owner="PrincipalCurve", verbose=0)
    assert not fit.converged
    assert fit.n_iter < 100
    assert fit.curve.project(X).squared.mean() == pytest.approx(fit.losses.min())
    with pytest.warns(ConvergenceWarning, match="not converged after max_iter=2"):
        assert PrincipalCurve(max_iter=2).fit(load_input("circle_noisy")[0]).n_iter_ == 2


# ---- parts -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("period", [None, 1.0])
def test_a_spline_has_the_degrees_of_freedom_asked_for(period):
    """The trace of the matrix that leads values to fits; a line (open) or a constant (closed) passes unchanged."""
    t = np.sort(np.random.default_rng(0).random(60))
    for df in (3.0, 5.0, 12.5):
        S = Spline(df)(t, np.eye(60), t, period)
        assert np.trace(S) == pytest.approx(df, abs=1e-6)
        np.testing.assert_allclose(S @ np.ones(60), 1.0, atol=1e-8)
        np.testing.assert_allclose(S, S.T, atol=1e-8)
        if period is None:
            np.testing.assert_allclose(S @ t, t, atol=1e-8)


def test_a_spline_is_scipy_s():
    from scipy.interpolate import make_smoothing_spline

    t = np.sort(np.random.default_rng(1).random(40))
    y = np.sin(6 * t) + 0.1 * np.random.default_rng(2).standard_normal(40)
    ours = Spline(6.0)(t, y[:, None], t)[:, 0]
    traces = {lam: np.trace([make_smoothing_spline(t, e, lam=lam)(t) for e in np.eye(40)]) for lam in (1e-5, 1e-3)}
    low, high = np.log(1e-5), np.log(1e-3)
    for _ in range(16):  # bisection for the penalty of the same trace
        middle = (low + high) / 2
        trace = np.trace([make_smoothing_spline(t, e, lam=np.exp(middle))(t) for e in np.eye(40)])
        low, high = (middle, high) if trace > 6.0 else (low, middle)
    assert traces[1e-5] > 6.0 > traces[1e-3]
    np.testing.assert_allclose(ours, make_smoothing_spline(t, y, lam=np.exp(low))(t), atol=2e-3)


def test_missing_cells_leave_a_smoother_the_others():
    t = np.linspace(0, 1, 80)
    Y = np.column_stack([np.sin(3 * t), t])
    Z = Y.copy()
    Z[::4, 0] = np.nan
    for smoother in (Spline(8.0), Lowess(0.2)):
        np.testing.assert_allclose(smoother(t, Z, t), Y, atol=0.02)
        np.testing.assert_allclose(smoother(t, Z, t)[:, 1], smoother(t, Y, t)[:, 1], atol=1e-6)


def test_local_lines_of_grouped_rows_are_those_of_all(monkeypatch):
    from lowdim.curves import _smoothers

    t = np.random.default_rng(0).random(5000)
    Y = np.sin(5 * t)[:, None] + 0.1
    at = np.linspace(0, 1, 50)
    grouped = Lowess(0.2)(t, Y, at)
    monkeypatch.setattr(_smoothers, "GROUPS", 10_000)
    np.testing.assert_allclose(grouped, Lowess(0.2)(t, Y, at), atol=1e-3)
    line = 2 * t[:, None] - 1
    np.testing.assert_allclose(Lowess(0.1)(t, line, at, None)[:, 0], 2 * at - 1, atol=1e-9)


@pytest.mark.parametrize("closed", [False, True])
def test_the_gradient_of_the_turns(closed):
    V = np.random.default_rng(0).standard_normal((6, 3))
    value, slope = _polygon._turns(V, closed)
    for i, k in np.ndindex(V.shape):
        step = np.zeros_like(V)
        step[i, k] = 1e-6
        ahead, behind = (_polygon._turns(V + s * step, closed)[0] for s in (1, -1))
        assert slope[i, k] == pytest.approx((ahead - behind) / 2e-6, abs=1e-7)
    assert value > 0


def test_moving_vertices_never_raises_the_criterion():
    X = parabola(200)
    X = (X - X.mean(axis=0)) / 2
    curve = Polyline(np.column_stack([np.linspace(-0.5, 0.5, 7), np.zeros(7)]))
    values = []
    for _ in range(15):
        found = curve.project(X)
        values.append(found.squared.mean() + 0.05 * _polygon._turns(curve.vertices, False)[0])
        curve = _polygon._moved(X, curve, found, 0.05)
    assert (np.diff(values) <= 1e-12).all()
    assert values[-1] < 0.5 * values[0]


def test_settings_that_cannot_be():
    X = parabola(50)
    with pytest.raises(ValueError, match=r"init must be 2 or more finite vertices with 2 columns; got shape \(3, 3\)"):
        PrincipalCurve(init=np.zeros((3, 3))).fit(X)
    with pytest.raises(ValueError, match="two columns or more for a closed curve"):
        PrincipalCurve(smoother="periodic").fit(X[:, :1])
    with pytest.raises(ValueError, match="must not lie on a line"):
        PrincipalCurve(closed=True).fit(np.outer(np.arange(9.0), [1.0, 2.0]))
    with pytest.raises(ValueError, match="smoother must be one of"):
        PrincipalCurve(smoother="cubic").fit(X)


def test_the_reconstruction_error_is_per_observed_cell():
    X = parabola()
    X[::3, 0] = np.nan
    model = PrincipalCurve().fit(X)
    off = (model.inverse_transform(model.embedding_) - X)[~np.isnan(X)]
    assert model.reconstruction_error_ == pytest.approx(np.square(off).mean())


@pytest.mark.parametrize("smoother", SMOOTHERS)
def test_a_callback_sees_the_curve_and_stops(smoother):
    X, seen = lowdim.datasets.noisy_circle(100, random_state=0).X, []

    def watch(step, loss, vertices):
        seen.append((step, loss, vertices))
        return step == 3

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = PrincipalCurve(smoother=smoother, tol=0.0, n_segments=8, callback=watch).fit(X)
    assert [step for step, _, _ in seen] == [1, 2, 3]
    assert all(vertices.shape[1] == 2 for _, _, vertices in seen)
    assert not model.converged_
    np.testing.assert_allclose(model.loss_curve_, [loss for _, loss, _ in seen])
    curve = Polyline(seen[-1][2], model.closed_)  # the last curve seen is the one kept, but for its free ends
    np.testing.assert_allclose(curve.project(model.curve_).squared, 0, atol=1e-20)


# ---- smoothing by generalised cross-validation ---------------------------------------------------------------


def _from_truth(model, truth):
    """Mean squared distance of the curve and the true one from each other, both ways."""
    gaps = np.sqrt(((model.curve_[:, None] - truth) ** 2).sum(axis=2))
    return float((gaps.min(axis=0) ** 2).mean() + (gaps.min(axis=1) ** 2).mean())


@pytest.mark.filterwarnings("ignore:PrincipalCurve")  # of the fits that it is compared with
@pytest.mark.parametrize(
    ("shape", "low", "high"),
    [
        (lambda u: np.column_stack([4 * u, 0 * u]), 2, 2),
        (lambda u: np.column_stack([4 * u - 2, (4 * u - 2) ** 2 / 2]), 6, 12),
        (lambda u: np.column_stack([6 * u, np.sin(9 * u)]), 10, 22),
    ],
)
def test_df_by_cross_validation_follows_the_bends(shape, low, high):
    rng = np.random.default_rng(0)
    X = shape(rng.random(200)) + 0.1 * rng.standard_normal((200, 2))
    model = PrincipalCurve(df="auto").fit(X)
    assert low <= model.df_ <= high
    truth = shape(np.linspace(0, 1, 400))
    fixed = [_from_truth(PrincipalCurve(df=df).fit(X), truth) for df in (3.0, 5.0, 30.0)]
    assert _from_truth(model, truth) <= 1.05 * min(fixed)


def test_df_is_kept_as_given():
    X = lowdim.datasets.noisy_circle(100, random_state=0).X
    assert PrincipalCurve(smoother="periodic", df=4).fit(X).df_ == 4.0
    assert 4 <= PrincipalCurve(smoother="periodic", df="auto").fit(X).df_ <= 15
    assert PrincipalCurve(smoother="lowess").fit(X).df_ is None

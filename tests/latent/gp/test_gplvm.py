"""Gaussian process latent variable models: gradients, closed forms, and curves that PCA cannot straighten."""

import json
import subprocess
import sys
import warnings

import numpy as np
import pytest
from scipy.stats import multivariate_normal, spearmanr
from sklearn.exceptions import ConvergenceWarning

import lowdim
from lowdim import GPLVM
from lowdim.latent.gp import _exact, _variational
from lowdim.latent.gp._process import Patterns, Process


def table(holes, n=12, d=4):
    Y = np.random.default_rng(0).standard_normal((n, d))
    if holes:
        Y[2, 1] = Y[5, 1] = Y[3, 2] = np.nan
    return Patterns.of(Y)


def differences(f, theta, step=1e-5):
    return np.array([(f(theta + step * e)[0] - f(theta - step * e)[0]) / (2 * step) for e in np.eye(len(theta))])


# ---- the two likelihoods -------------------------------------------------------------------------------------


@pytest.mark.parametrize("holes", [False, True])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_the_exact_likelihood_is_that_of_a_normal_distribution(kernel, holes):
    data, X = table(holes), np.random.default_rng(1).standard_normal((12, 2))
    process = Process(kernel, 1.3, np.ones(2), 0.2)
    K = process.between(X, X) + 0.2 * np.eye(12)
    expected = 0.0
    for j, column in enumerate(data.Y.T):
        seen = data.masks[data.home[j]] > 0
        expected += multivariate_normal(cov=K[np.ix_(seen, seen)]).logpdf(column[seen])
    assert _exact.likelihood(data, X, process)[0] == pytest.approx(expected)


@pytest.mark.parametrize("holes", [False, True])
def test_gradients_are_those_of_finite_differences(holes):
    rng, data = np.random.default_rng(2), table(holes)
    X = rng.standard_normal((12, 2))
    basis = np.exp(-0.2 * np.square(data.Y[:, None] - data.Y).sum(axis=2))
    for kernel, B in (("rbf", None), ("rbf", basis), ("linear", None)):
        f = _exact.Objective(data, kernel, 2, B)
        theta = f.initial(X, 0.1) + 0.2 * rng.standard_normal(f.size + 2)
        checked = np.delete(np.arange(len(theta)), -2) if kernel == "linear" else slice(None)  # its scale is fixed
        np.testing.assert_allclose(f(theta)[1][checked], differences(f, theta)[checked], atol=1e-8)
    f = _variational.Objective(data, 2, 5, None)
    theta = f.initial(X, rng.standard_normal((5, 2)), 0.1)
    theta += 0.3 * rng.standard_normal(len(theta))
    np.testing.assert_allclose(f(theta)[1], differences(f, theta), atol=1e-7)


def test_expectations_over_places_are_means_over_draws():
    rng = np.random.default_rng(3)
    at = _variational.Posterior(
        rng.standard_normal((1, 2)),
        np.array([[0.3, 0.1]]),
        rng.standard_normal((4, 2)),
        Process("rbf", 1.5, np.array([0.8, 2.0]), 0.1),
    )
    K = at.process.between(at.mu + np.sqrt(at.S) * rng.standard_normal((200_000, 2)), at.points)
    first, second = _variational.expected(at, slice(None))
    np.testing.assert_allclose(first[0], K.mean(axis=0), atol=0.01)
    i, j = at.pairs
    np.testing.assert_allclose(second[0], (K.T @ K / len(K))[i, j], atol=0.01)


@pytest.mark.parametrize("holes", [False, True])
def test_the_bound_meets_the_likelihood_where_nothing_is_left_out(holes):
    """Places that are certain, and each of them an inducing point; otherwise the bound is below."""
    data, X = table(holes), 2 * np.random.default_rng(4).standard_normal((12, 2))
    process = Process("rbf", 1.3, np.ones(2), 0.2)
    exact = _exact.likelihood(data, X, process)[0]

    def bound(points):
        S = np.full(X.shape, 1e-9)
        value = _variational.bound(data, _variational.Posterior(X, S, points, process), None)[0]
        return value + 0.5 * float((np.square(X) + S - np.log(S) - 1).sum())

    assert exact - 5e-3 < bound(X) < exact  # a little is added to the diagonal
    assert bound(X[:6]) < exact - 0.1


def test_predictions_are_those_of_kriging():
    data, X = table(False), np.random.default_rng(5).standard_normal((12, 2))
    process = Process("rbf", 1.3, np.ones(2), 0.2)
    found = _exact.predictor(data, X, process)
    k = process.between(X[:3] + 0.1, X)
    K = process.between(X, X) + 0.2 * np.eye(12)
    np.testing.assert_allclose(found.mean(X[:3] + 0.1), k @ np.linalg.solve(K, data.Y))
    variance = 1.5 - (k * np.linalg.solve(K, k.T).T).sum(axis=1)
    np.testing.assert_allclose(found.variance(X[:3] + 0.1), np.tile(variance[:, None], (1, 4)))


# ---- the linear kernel -----------------------------------------------------------------------------------------


def test_a_linear_kernel_is_probabilistic_pca():
    """Lawrence's closed form: X X' = U (L - s²) U' with L the eigenvalues of Y Y'/d, s² the mean of those left out."""
    X = np.random.default_rng(0).standard_normal((40, 6)) @ np.diag([4, 3, 1, 0.8, 0.6, 0.5]) + 2
    model = GPLVM(2, kernel="linear", tol=1e-14, max_iter=5000).fit(X)
    Y = X - X.mean(axis=0)
    values, U = np.linalg.eigh(Y @ Y.T / 6)
    values, U = values[::-1], U[:, ::-1]
    noise = values[2:].sum() / 38
    assert model.noise_variance_ == pytest.approx(noise, rel=1e-4)
    W = model.latent_ * np.sqrt(model.variance_)
    np.testing.assert_allclose(W @ W.T, (U[:, :2] * (values[:2] - noise)) @ U[:, :2].T, atol=1e-3 * values[0])
    C = W @ W.T + noise * np.eye(40)
    likelihood = sum(multivariate_normal(cov=C).logpdf(y) for y in Y.T)
    assert model.log_likelihood_ == pytest.approx(likelihood, rel=1e-5)
    # The same plane as probabilistic PCA: its scores are a linear function of ours.
    scores = lowdim.ProbabilisticPCA(2).fit(X).transform(X)
    # Placed again, rows far out are drawn a little: the model is less sure of them.
    for ours, near in ((model.latent_, 1e-3), (model.embedding_, 0.02)):
        left = scores - ours @ np.linalg.lstsq(ours, scores, rcond=None)[0]
        assert np.abs(left).max() < near * np.abs(scores).max()


# ---- what it is for ---------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:GPLVM. not converged")  # after 1000 steps the last digits depend on the processor
@pytest.mark.parametrize("settings", [{}, {"back_constraint": True}, {"solver": "variational", "n_inducing": 25}])
def test_a_spiral_in_space_is_unrolled_better_than_by_probabilistic_pca(settings):
    data = lowdim.datasets.spiral(150, noise=0.1, random_state=0, dim=3)
    length = data.isometric_coordinates[:, 0]
    linear = abs(spearmanr(lowdim.ProbabilisticPCA(1).fit(data.X).transform(data.X)[:, 0], length)[0])
    model = GPLVM(1, random_state=0, **{"tol": 1e-4, **settings}).fit(data.X)
    assert abs(spearmanr(model.embedding_[:, 0], length)[0]) > 0.99 > 0.9 > linear
    error = np.square(model.inverse_transform(model.embedding_) - data.X).mean()
    assert error < 0.1  # the noise is 0.01, the table's variance 31


def test_error_bars_grow_away_from_the_rows():
    X = lowdim.datasets.helical_loop(60, noise=0.05, random_state=0).X
    model = GPLVM(1, tol=1e-4).fit(X)
    rows, std = model.inverse_transform(model.embedding_, return_std=True)
    assert std.shape == X.shape
    assert np.sqrt(model.noise_variance_) <= std.min()
    outside = np.abs(rows - X) > 2 * std
    assert outside.mean() < 0.1
    far, std = model.inverse_transform([[1e3]], return_std=True)
    np.testing.assert_allclose(far[0], X.mean(axis=0))
    np.testing.assert_allclose(std[0], np.sqrt(model.variance_ + model.noise_variance_))


def test_new_rows_are_placed_where_they_are_most_likely():
    data = lowdim.datasets.helical_loop(120, noise=0.02, random_state=0)
    model = GPLVM(1, tol=1e-4).fit(data.X[::2])
    Z, t = model.transform(data.X[1::2]), data.coordinates[:, 0]
    assert abs(spearmanr(Z[:, 0], t[1::2])[0]) > 0.999
    assert np.square(model.inverse_transform(Z) - data.X[1::2]).mean() < 4 * 0.02**2
    partly = data.X[1::2].copy()
    partly[:, 0] = np.nan
    assert np.median(np.abs(model.transform(partly) - Z)) < 0.05 * np.ptp(Z)


def test_coordinates_that_are_not_needed_are_switched_off():
    X = lowdim.datasets.helical_loop(80, noise=0.05, random_state=0).X
    model = GPLVM(3, solver="variational", n_inducing=15, tol=1e-6, random_state=0, max_iter=2000).fit(X)
    relevance = np.sort(model.relevance_)[::-1]
    assert relevance[2] < 0.05 * relevance[0]


@pytest.mark.parametrize("solver", ["exact", "variational"])
def test_missing_cells_are_filled_better_than_by_probabilistic_pca(solver):
    data = lowdim.datasets.helical_loop(90, noise=0.02, random_state=0)
    holes = np.isnan(lowdim.datasets.remove_cells(data.X, random_state=0)) & (np.arange(90) % 3 == 0)[:, None]
    X = np.where(holes, np.nan, data.X)
    model = GPLVM(1, solver=solver, n_inducing=20, tol=1e-5, random_state=0).fit(X)
    linear = lowdim.ProbabilisticPCA(1, random_state=0).fit(X).completed_
    error, baseline = (np.square(filled - data.noise_free)[holes].mean() for filled in (model.completed_, linear))
    assert error < 0.3 * baseline
    np.testing.assert_array_equal(model.completed_[~holes], X[~holes])


def test_the_likelihood_rises_with_every_further_step():
    X = lowdim.datasets.helical_loop(40, random_state=0).X
    found = []
    for steps in (5, 20, 80):
        with pytest.warns(ConvergenceWarning, match=f"not converged after max_iter={steps} steps"):
            found.append(GPLVM(1, kernel="rbf", init=X[:, 2:], tol=0, max_iter=steps).fit(X).log_likelihood_)
    assert found == sorted(found)
    assert found[2] > found[0] + 10


def test_settings_that_cannot_be():
    X = lowdim.datasets.helical_loop(30, random_state=0).X
    with pytest.raises(ValueError, match="solver must be 'exact' or 'auto' with kernel='linear'"):
        GPLVM(1, kernel="linear", solver="variational").fit(X)
    with pytest.raises(ValueError, match=r"init must be 30 rows of 1 finite numbers; got shape \(30, 2\)"):
        GPLVM(1, init=X[:, :2]).fit(X)
    with pytest.raises(ValueError, match="back_constraint=True must go with"):
        GPLVM(1, back_constraint=True).fit(np.where(np.arange(3) == np.arange(30)[:, None], np.nan, X))
    with pytest.warns(UserWarning, match="n_components=4 is more than the rank of the rows, 3"):
        assert GPLVM(4, tol=1e-3).fit(X).relevance_[3] == pytest.approx(0, abs=1e-12)


def test_pytorch_is_not_needed():
    code = "import sys, json, lowdim; lowdim.GPLVM; print(json.dumps('torch' in sys.modules))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(out.stdout) is False


def test_coordinates_take_turns_at_the_same_likelihood():
    plain = _exact.Objective(table(True), "rbf", 2)
    theta = plain.initial(np.random.default_rng(1).standard_normal((12, 2)), 0.1)
    whitened, there = _exact.other_coordinates(plain, theta)
    assert whitened(there)[0] == pytest.approx(plain(theta)[0], abs=1e-12)
    again, back = _exact.other_coordinates(whitened, there)
    np.testing.assert_allclose(back, theta, atol=1e-10)
    assert again.basis is None


def test_stiff_problems_settle():
    """Noise far below the variance: with free places alone it takes more than a thousand steps."""
    t = np.linspace(0, 4 * np.pi, 200)
    X = np.column_stack([t * np.cos(t), t * np.sin(t), t]) + 0.1 * np.random.default_rng(0).standard_normal((200, 3))
    model = GPLVM(1, max_iter=500).fit(X)
    assert model.converged_
    assert model.noise_variance_ < 1e-3 * model.variance_
    with pytest.warns(ConvergenceWarning, match=r"in the last ten the log-likelihood of a cell rose by 0\.\d+ \(tol=0"):
        GPLVM(1, tol=0.0, max_iter=30).fit(X)


@pytest.mark.parametrize("settings", [{}, {"back_constraint": True}, {"solver": "variational", "n_inducing": 8}])
@pytest.mark.parametrize("last", [3, 120])
def test_a_callback_sees_the_latent_coordinates_and_stops(settings, last):
    X, seen = lowdim.datasets.helical_loop(40, random_state=0).X, []

    def watch(step, loss, latent):
        seen.append((step, loss, latent))
        return step == last

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = lowdim.GPLVM(1, tol=0.0, callback=watch, random_state=0, **settings).fit(X)
    assert [step for step, _, _ in seen] == list(range(1, last + 1))
    assert not model.converged_
    np.testing.assert_allclose(seen[-1][2], model.latent_, atol=1e-12)
    assert seen[-1][1] < seen[0][1]

"""Inducing points: the sparse likelihood against the exact one, and more points that never end in a lower bound."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import lowdim
from lowdim import GPLVM
from lowdim.latent.gp import _exact, _sparse
from lowdim.latent.gp._process import Patterns, Process


def table(n=30, d=4, holes=False):
    rng = np.random.default_rng(0)
    t = rng.uniform(-2, 2, n)
    Y = np.column_stack([np.sin(t), np.cos(t), t**2 / 4, t])[:, :d] + 0.05 * rng.standard_normal((n, d))
    if holes:
        Y[rng.random(Y.shape) < 0.15] = np.nan
    return Patterns.of(Y), rng.standard_normal((n, 2))


@pytest.mark.parametrize("holes", [False, True])
def test_with_the_points_at_the_coordinates_the_likelihood_is_the_exact_one(holes):
    rows, X = table(holes=holes)
    process = Process("rbf", 1.3, np.ones(2), 0.05)
    exact, by_X, sizes = _exact.likelihood(rows, X, process)
    value, (slopes, of_points, of_sizes), predictor = _sparse.likelihood(rows, X, X, process)
    assert value == pytest.approx(exact, rel=1e-6)
    np.testing.assert_allclose(slopes + of_points, by_X, atol=1e-4 * np.abs(by_X).max())
    np.testing.assert_allclose(of_sizes, sizes, rtol=1e-4)
    new = np.random.default_rng(1).standard_normal((7, 2))
    expected = _exact.predictor(rows, X, process)
    np.testing.assert_allclose(predictor.mean(new), expected.mean(new), atol=1e-3)
    np.testing.assert_allclose(predictor.variance(new), expected.variance(new), atol=1e-3)


def test_the_likelihood_is_that_of_its_covariance():
    rows, X = table()
    points, process = X[::4] + 0.1, Process("rbf", 0.8, np.ones(2), 0.1)
    C, Q = process.between(X, points), process.between(points, points)
    S = C @ np.linalg.solve(Q + 1e-8 * 0.8 * np.eye(len(Q)), C.T) + 0.1 * np.eye(len(X))
    sign, log = np.linalg.slogdet(S)
    d = rows.Y.shape[1]
    expected = -0.5 * (rows.n_cells * np.log(2 * np.pi) + d * log + (rows.Y * np.linalg.solve(S, rows.Y)).sum())
    assert sign > 0
    assert _sparse.likelihood(rows, X, points, process)[0] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("m", [6, 30])
def test_slopes_are_those_of_the_likelihood(m):
    rows, X = table(holes=True)
    objective = _sparse.Objective(rows, 2, m)
    theta = objective.initial(X, X[:m] + 0.05, 0.1)
    _, slope = objective(theta)
    direction = np.random.default_rng(2).standard_normal(len(theta))
    step = 1e-6 * direction
    found = (objective(theta + step)[0] - objective(theta - step)[0]) / 2e-6
    assert slope @ direction == pytest.approx(found, rel=1e-5)


def test_a_fit_with_as_many_points_as_rows_is_a_fit_of_the_exact_model():
    X = lowdim.datasets.helical_loop(40, random_state=0).X
    X = X + 0.1 * X.std() * np.random.default_rng(0).standard_normal(X.shape)
    model = GPLVM(2, solver="dtc", n_inducing=40, random_state=0).fit(X)
    mean, scale, predictor = model._extension
    rows = Patterns.of((X - mean) / scale)
    exact = _exact.likelihood(rows, model.latent_, predictor.process)[0] - rows.n_cells * np.log(scale)
    assert model.log_likelihood_ == pytest.approx(exact, rel=1e-4)
    few = GPLVM(2, solver="dtc", n_inducing=10, random_state=0).fit(X)
    back = few.inverse_transform(few.embedding_)
    assert np.abs(back - X).mean() < 0.3 * X.std()


def test_more_inducing_points_never_end_in_a_lower_bound():
    X = lowdim.datasets.helical_loop(60, random_state=0).X
    bounds = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for m in (5, 10, 20, 40):
            model = GPLVM(2, solver="variational", n_inducing=m, max_iter=150, random_state=0).fit(X)
            bounds.append(model.log_likelihood_)
    assert bounds[1:] == sorted(bounds[1:])
    assert bounds[-1] >= bounds[0]

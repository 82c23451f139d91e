"""Moments of incomplete rows against closed forms, and streams of them against tables."""

import numpy as np
import pytest

from lowdim._core.incomplete import moments as module
from lowdim._core.incomplete.moments import JointGaussian, completed, expected_moments, shrinkage_of
from lowdim._core.incomplete.patterns import ByPattern
from lowdim._core.spectrum import Moments


def incomplete(n=120, d=5, share=0.2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2)) @ rng.standard_normal((2, d)) + 0.3 * rng.standard_normal((n, d)) + 5
    hole = rng.random((n, d)) < share
    hole[np.arange(n), rng.integers(0, d, n)] = False
    return X, np.where(hole, np.nan, X)


def test_two_columns_of_which_one_is_often_missing_have_a_closed_form(monkeypatch):
    """Anderson (1957): the regression of the complete rows, applied to the moments of the complete column."""
    monkeypatch.setattr(module, "shrinkage_of", lambda S, n: 1e-13)
    rng = np.random.default_rng(0)
    x = rng.standard_normal(200)
    y = 0.8 * x + 0.5 * rng.standard_normal(200) + 1
    X = np.column_stack([x, np.where(np.arange(200) < 120, y, np.nan)])
    found = expected_moments(X, owner="test").parts[0]
    own, other = x[:120], y[:120]
    slope = np.cov(own, other)[0, 1] / own.var(ddof=1)
    left = (other - other.mean() - slope * (own - own.mean())).var()
    wanted = [[x.var(), slope * x.var()], [slope * x.var(), left + slope**2 * x.var()]]
    np.testing.assert_allclose(found.mean, [x.mean(), other.mean() + slope * (x.mean() - own.mean())], atol=1e-6)
    np.testing.assert_allclose(found.scatter / 200, wanted, atol=1e-5)


def test_complete_rows_have_their_usual_moments():
    X, _ = incomplete()
    found = expected_moments(X, owner="test").parts[0]
    np.testing.assert_allclose(found.mean, X.mean(axis=0))
    np.testing.assert_allclose(found.scatter / 120, np.cov(X.T, bias=True))


def test_losses_never_rise_and_hidden_cells_are_found():
    X, Y = incomplete()
    found = expected_moments(Y, owner="test")
    assert found.run.converged
    assert (np.diff(found.run.losses) <= 1e-10).all()
    hole = np.isnan(Y)
    error = np.square(found.completed(Y) - X)[hole].mean()
    assert error < 0.3 * np.square(np.nanmean(Y, axis=0) - X)[hole].mean()
    assert (found.completed(Y)[~hole] == X[~hole]).all()


def test_more_columns_than_rows():
    X, Y = incomplete(30, 40)
    found, hole = expected_moments(Y, owner="test"), np.isnan(Y)
    assert np.linalg.eigvalsh(found.model.covariance)[0] > 0
    assert np.square(found.completed(Y) - X)[hole].mean() < 0.3 * np.square(np.nanmean(Y, axis=0) - X)[hole].mean()


def test_groups_have_means_of_their_own():
    _, Y = incomplete()
    groups = np.arange(120) % 2
    shift = 10.0 * groups[:, None]
    apart, together = expected_moments(Y + shift, groups, owner="test"), expected_moments(Y, groups, owner="test")
    np.testing.assert_allclose(apart.parts[1].mean, together.parts[1].mean + 10, rtol=1e-6)
    np.testing.assert_allclose(apart.model.covariance, together.model.covariance, rtol=1e-5)


def test_weights_count_as_copies():
    _, Y = incomplete(60)
    weights = np.random.default_rng(1).integers(1, 4, 60)
    copies, weighed = np.repeat(Y, weights, axis=0), expected_moments(Y, None, weights.astype(float), owner="test")
    found = expected_moments(copies, owner="test").parts[0]
    np.testing.assert_allclose(weighed.parts[0].scatter, found.scatter, rtol=1e-6, atol=1e-6)


def test_densities_and_conditional_means_are_those_of_the_normal_distribution():
    X, Y = incomplete(8)
    model = JointGaussian(np.array([X.mean(axis=0), X.mean(axis=0) + 1]), np.cov(X.T) + np.eye(5))
    for row, hole, filled, density in zip(Y, np.isnan(Y), model.conditional(Y), model.log_density(Y), strict=True):
        C, o = model.covariance, ~hole
        for mean, found in zip(model.means, density, strict=True):
            gap = row[o] - mean[o]
            solved = np.linalg.solve(C[np.ix_(o, o)], gap)
            wanted = -0.5 * (gap @ solved + np.linalg.slogdet(2 * np.pi * C[np.ix_(o, o)])[1])
            assert found == pytest.approx(wanted)
        gap = row[o] - model.means[0, o]
        wanted = model.means[0, hole] + C[np.ix_(hole, o)] @ np.linalg.solve(C[np.ix_(o, o)], gap)
        np.testing.assert_allclose(filled[hole], wanted)


def test_complete_new_rows_come_back_as_they_are():
    X, Y = incomplete(20)
    model = JointGaussian.of_moments((Moments.of(X),))
    assert completed(X, model) is X
    assert completed(Y, None) is Y
    np.testing.assert_array_equal(completed(Y, model)[~np.isnan(Y)], X[~np.isnan(Y)])


def test_shrinkage_is_that_of_scikit_learn():
    from sklearn.covariance import oas

    X = incomplete(40, 6)[0]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    assert shrinkage_of(np.cov(X.T, bias=True), 40) == pytest.approx(oas(X, assume_centered=True)[1], rel=0.2)
    assert shrinkage_of(np.eye(4), 40) == 1.0


def test_a_stream_becomes_a_table_with_the_same_moments_of_every_pattern():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 3)) @ rng.standard_normal((3, 3)) + 3
    X[::2, 1] = np.nan
    X[5, 0] = np.nan
    found = ByPattern("test")
    for batch in np.array_split(X, 7):
        found.add(batch)
    assert found.weight == 200
    table, weights = found.table()
    assert len(table) < 12
    for pattern in np.unique(np.isnan(X), axis=0):
        own, few = (np.isnan(T) == pattern for T in (X, table))
        own, few = own.all(axis=1), few.all(axis=1)
        wanted, got = Moments.of(X[own][:, ~pattern]), Moments.of(table[few][:, ~pattern], weights[few])
        assert got.weight == pytest.approx(wanted.weight)
        np.testing.assert_allclose(got.mean, wanted.mean)
        np.testing.assert_allclose(got.scatter, wanted.scatter, atol=1e-10)

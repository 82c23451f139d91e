"""Confidence intervals without resampling: influences, standard errors and their coverage."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import pdist
from scipy.stats import rankdata, spearmanr

from lowdim import quality
from lowdim._core.ranks.reference import embedding, reference_of
from lowdim.quality import pair_samples, pair_statistics
from lowdim.quality.pair_sums import column_sums, pilot_of, sums_of_sample

STATISTICS = ("normalized", "stress1", "scale_optimal", "mean_gap", "sammon", "pearson")


def lengths(m=300, seed=0, ties=False):
    rng = np.random.default_rng(seed)
    delta = rng.gamma(3, size=m)
    d = 0.7 * delta + 0.3 * rng.gamma(2, size=m)
    return (np.ceil(2 * delta), np.ceil(2 * d)) if ties else (delta, d)


@pytest.mark.parametrize("name", STATISTICS)
def test_slopes_are_the_derivatives(name):
    statistic = getattr(pair_statistics, name)
    delta, d = lengths()
    s = column_sums(delta, d, pilot_of(delta, d))
    slopes = statistic.slopes(s)
    for column in range(len(s)):
        step = np.zeros_like(s)
        step[column] = 1e-5 * max(abs(s[column]), 1e-3)
        numeric = (statistic.value(s + step) - statistic.value(s - step)) / (2 * step[column])
        assert slopes.get(column, 0.0) == pytest.approx(numeric, rel=1e-5, abs=1e-9), column
    assert sum(slope * s[column] for column, slope in slopes.items()) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("ties", [False, True])
def test_influence_on_the_rank_correlation_is_that_of_leaving_a_pair_out(ties):
    x, y = lengths(400, ties=ties)
    found = pair_samples.rank_influence(rankdata(x), rankdata(y))
    whole = spearmanr(x, y)[0]
    left = [spearmanr(np.delete(x, i), np.delete(y, i))[0] for i in range(len(x))]
    np.testing.assert_allclose(found, whole - np.array(left), atol=0.02 * np.abs(found).max())
    assert found.sum() == pytest.approx(0, abs=1e-10)


def test_influence_of_independent_ranks_has_its_closed_form():
    m = 100_000
    rng = np.random.default_rng(0)
    found = pair_samples.rank_influence(rng.permutation(m) + 1.0, rng.permutation(m) + 1.0)
    assert np.sqrt(found @ found) == pytest.approx(1 / np.sqrt(m - 1), rel=0.01)


def spaces(kind, n=150):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n, 5))
    return {
        "projection": (X, 1.7 * X[:, :2]),
        "nearly exact": (X, X[:, :4] + 0.05 * rng.normal(size=(n, 4))),
        "random": (X, rng.normal(size=(n, 2))),
        "ties": (np.round(X), np.round(X[:, :2])),
    }[kind]


def estimates(X, Z, **options):
    diagram = quality.shepard(X, Z, **options)
    return {
        "normalized": quality.stress(X, Z, **options),
        "scale_optimal": quality.stress(X, Z, "scale_optimal", **options),
        "pearson": diagram.pearson,
        "spearman": diagram.spearman,
        "residual_variance": quality.residual_variance(X, Z, **{"reference": "ambient", **options}),
    }


@pytest.mark.parametrize("kind", ["projection", "nearly exact", "random", "ties"])
def test_intervals_cover_the_value_of_all_pairs_as_often_as_they_say(kind):
    X, Z = spaces(kind)
    exact = estimates(X, Z, pairs=None)
    found = [estimates(X, Z, pairs=1000, random_state=seed) for seed in range(150)]
    for name, value in exact.items():
        covered = np.mean([one[name].interval[0] <= value <= one[name].interval[1] for one in found])
        # the residual variance of unrelated distances is at the end of its range
        assert 0.90 <= covered <= (1 if (kind, name) == ("random", "residual_variance") else 0.985), name


@pytest.mark.parametrize("n", [300, 600])
def test_intervals_cover_where_pairs_start_from_the_same_rows(n):
    X, Z = spaces("projection", n)
    exact = quality.shepard(X, Z, pairs=None, metric="manhattan")
    found = [quality.shepard(X, Z, pairs=3000, metric="manhattan", random_state=seed) for seed in range(100)]
    for name in ("pearson", "spearman"):
        intervals = np.array([getattr(one, name).interval for one in found])
        covered = np.mean((intervals[:, 0] <= getattr(exact, name)) & (getattr(exact, name) <= intervals[:, 1]))
        assert 0.88 <= covered <= 1, name
        deviation = np.std([getattr(one, name) for one in found])
        assert np.mean(np.diff(intervals)) / (2 * pair_samples.WIDTH) == pytest.approx(deviation, rel=0.3)


def test_standard_error_of_a_mean_is_the_textbook_one():
    values = np.random.default_rng(0).normal(size=50)
    influence = (values - values.mean()) / 50
    pairs = pair_samples.RowPairs(values, lambda space: values)
    assert pairs.standard_error(influence) == pytest.approx(values.std(ddof=1) / np.sqrt(50))
    groups = np.repeat(np.arange(10), 5)
    means = values.reshape(10, 5).mean(axis=1)
    clustered = pair_samples.RowPairs(values, lambda space: values, groups, 0.0)
    assert clustered.standard_error(influence) == pytest.approx(means.std(ddof=1) / np.sqrt(10))
    complete = pair_samples.RowPairs(values, lambda space: values, groups, 1.0)
    within = values.reshape(10, 5).std(axis=1, ddof=1)
    assert complete.standard_error(influence) == pytest.approx(np.sqrt(np.mean(within**2) / 50))


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_a_sample_has_the_same_pairs_in_every_space(metric):
    X, Z = spaces("projection", 100)
    source, low = reference_of(X, metric=metric), embedding(X, 100, "Z")
    pairs = pair_samples.draw(source, 800, np.random.default_rng(0))
    again = reference_of(X, metric=metric)
    np.testing.assert_array_equal(pairs.distances(again), pairs.delta)
    every = pair_samples.every_pair(low)
    np.testing.assert_allclose(every.delta, pdist(X), rtol=1e-12)
    assert not every.sampled
    assert sums_of_sample(pairs, source, embedding(Z, 100, "Z")).sums[0] == len(pairs.delta)


def test_an_exact_embedding_has_no_error():
    X, _ = spaces("projection")
    found = estimates(X, X.copy(), pairs=500, random_state=0)
    assert found["normalized"].interval == (0, 0)
    assert found["scale_optimal"].interval[1] < 1e-12
    assert found["pearson"].interval == pytest.approx((1, 1), abs=1e-12)
    assert found["spearman"].interval == pytest.approx((1, 1), abs=1e-9)

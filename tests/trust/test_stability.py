"""Stability under resampling, seeds and settings."""

import numpy as np
import pytest

import lowdim


def rows(seed=0, n=120):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, 2)) @ rng.standard_normal((2, 6)) + 0.01 * rng.standard_normal((n, 6))


def test_the_same_map_comes_back_whole():
    found = lowdim.trust.stability(rows(), lowdim.PCA(n_components=2), n_resamples=3, vary=["seed"], random_state=0)
    assert found.overall == pytest.approx(1)
    assert found.spread == pytest.approx(np.zeros(120), abs=1e-6)


def test_structure_comes_back_and_noise_does_not():
    stable = lowdim.trust.stability(rows(), lowdim.PCA(n_components=2), n_resamples=5, random_state=0)
    noise = np.random.default_rng(0).standard_normal((120, 30))
    shaky = lowdim.trust.stability(noise, lowdim.PCA(n_components=2), n_resamples=5, random_state=0)
    assert stable.overall > 0.9
    assert shaky.overall < 0.5
    assert np.median(shaky.spread) > 5 * np.median(stable.spread)


def test_random_maps_have_nothing_in_common():
    from sklearn.base import BaseEstimator

    class Random(BaseEstimator):
        def __init__(self, random_state=0):
            self.random_state = random_state

        def fit_transform(self, X):
            return np.random.default_rng(self.random_state).standard_normal((len(X), 2))

    found = lowdim.trust.stability(rows(), Random(), n_resamples=8, vary=["seed"], random_state=0)
    assert abs(found.overall) < 0.03
    low, high = found.interval
    assert low < 0.02
    assert high > -0.02
    with pytest.raises(TypeError, match="no transform"):
        lowdim.trust.stability(rows(), Random(), n_resamples=2)


def test_settings_take_a_step():
    model = lowdim.Isomap(n_components=2, n_neighbors=10)
    told = lowdim.trust.stability(rows(), model, n_resamples=3, random_state=0).replicates
    assert [("n_neighbors" in each) for each in told] == [False, True, True]
    assert "n_neighbors=12" in told[1]
    assert "n_neighbors=8" in told[2]


def test_an_unstable_group_is_seen():
    rng = np.random.default_rng(0)
    X = rows(1, 160)
    X[:60] = 20 + rng.standard_normal((60, 6))  # of these, two columns show little
    labels = np.repeat(["shaky", "flat"], [60, 100])
    found = lowdim.trust.stability(X, lowdim.PCA(n_components=2), n_resamples=6, random_state=0).by_group(labels)
    assert found["flat"] > found["shaky"]


def test_no_map_remains_from_before():
    calls = []
    lowdim.trust.stability(
        rows(),
        lowdim.PCA(n_components=2),
        n_resamples=3,
        random_state=0,
        progress=lambda done, of: calls.append((done, of)),
    )
    assert calls == [(1, 3), (2, 3), (3, 3)]


def test_what_varies_must_be_known():
    with pytest.raises(ValueError, match="vary must hold some of 'rows', 'seed', 'settings'"):
        lowdim.trust.stability(rows(), lowdim.PCA(n_components=2), vary=["weather"])

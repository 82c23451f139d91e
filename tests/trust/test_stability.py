"""Stability under resampling, seeds and settings."""

import sys
import warnings

import numpy as np
import pytest

import lowdim
from lowdim.trust import cost

MODULE = sys.modules[lowdim.trust.stability.__module__]


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


def test_progress_is_said_and_changes_nothing(capsys):
    how = {"n_resamples": 3, "random_state": 0}
    quiet = lowdim.trust.stability(rows(), lowdim.PCA(n_components=2), **how)
    assert capsys.readouterr().err == ""
    loud = lowdim.trust.stability(rows(), lowdim.PCA(n_components=2), verbose=True, **how)
    said = capsys.readouterr().err.splitlines()
    assert said[0] == "trust.stability: 3 maps of 120 rows by PCA"  # few rows: the first map is soon done
    assert [line.split(",")[0] for line in said[1:]] == [f"trust.stability: {at} of 3" for at in (1, 2, 3)]
    assert "left" in said[1]
    assert "left" not in said[3]
    assert np.array_equal(quiet.per_row, loud.per_row)


def test_how_long_it_takes_is_said_before_it_begins(capsys, monkeypatch):
    """The estimate comes from parts of the rows, before the first map of all of them, and draws no random number."""
    monkeypatch.setattr(cost, "TRIED_FROM", 100)
    how = {"n_resamples": 2, "random_state": 0}
    quiet = lowdim.trust.stability(rows(n=640), lowdim.PCA(n_components=2), **how)
    loud = lowdim.trust.stability(rows(n=640), lowdim.PCA(n_components=2), verbose=1, **how)
    assert capsys.readouterr().err.startswith("trust.stability: 2 maps of 640 rows by PCA: about ")
    assert np.array_equal(quiet.per_row, loud.per_row)


def test_long_ones_are_warned_of_before_they_begin(monkeypatch):
    """Where nobody watches; the warning comes before the first map, and changes nothing."""
    monkeypatch.setattr(MODULE, "expected_seconds", lambda make, n: 75.0)
    model, how = lowdim.PCA(n_components=2), {"n_resamples": 2, "random_state": 0}
    with pytest.warns(UserWarning, match=r"trust.stability: 2 maps of 120 rows by PCA take about 2 min\. verbose=1"):
        warned = lowdim.trust.stability(rows(), model, **how)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        watched = lowdim.trust.stability(rows(), model, progress=lambda done, total: None, **how)
    assert np.array_equal(warned.per_row, watched.per_row)
    monkeypatch.setattr(MODULE, "_map_of", lambda *given: pytest.fail("a map was made first"))
    warnings.simplefilter("error")
    with pytest.raises(UserWarning, match="about 2 min"):
        lowdim.trust.stability(rows(), model, **how)


@pytest.mark.parametrize("power", [1.0, 2.0, 3.0])
def test_expected_seconds(monkeypatch, power):
    clock = [0.0]
    monkeypatch.setattr(cost.time, "monotonic", lambda: clock[0])

    def make(chosen):
        assert len(np.unique(chosen)) == len(chosen)
        clock[0] += 1e-9 * len(chosen) ** power

    assert cost.expected_seconds(make, 64_000) == pytest.approx(1e-9 * 64_000**power, rel=1e-6)
    assert cost.expected_seconds(make, 500) is None

    def refuse(chosen):
        raise ValueError("perplexity")

    assert cost.expected_seconds(refuse, 64_000) is None


def test_times_as_a_person_says_them():
    assert [cost.spoken(s) for s in (0.2, 40, 540, 12_600)] == ["about 1 s", "about 40 s", "about 9 min", "about 3.5 h"]

"""Rankings: intervals that hold, ties that are ties, agreement by closed forms."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from lowdim._core.ranks.ranking import block_mean, distance_agreement, ranking, reference_agreement, regions
from lowdim._core.ranks.reference import euclidean


def test_the_error_allows_for_dependent_rows():
    """Rows of a region share a value: the error is that of the regions' number, not of the rows' number."""
    rng = np.random.default_rng(0)
    covered = naive = 0
    for _ in range(400):
        blocks = np.repeat(np.arange(40), 25)
        values = rng.normal(size=40)[blocks] + 0.1 * rng.normal(size=1000)
        mean, error = block_mean(values, blocks)
        covered += abs(mean) <= 1.96 * error
        naive += abs(mean) <= 1.96 * values.std() / np.sqrt(1000)
    assert 0.91 <= covered / 400 <= 0.97
    assert naive / 400 < 0.5


def test_equal_maps_tie_nineteen_times_in_twenty():
    rng, wrong = np.random.default_rng(1), 0
    for _ in range(200):
        blocks = np.repeat(np.arange(40), 10)
        per_row = {name: 0.5 + 0.2 * rng.normal(size=40)[blocks] for name in "abcd"}
        wrong += len(ranking("neighbours", "", per_row, blocks).ties) < 4
    assert wrong / 200 <= 0.12  # the best of four is picked after the fact


def test_a_clear_lead_is_no_tie_and_a_tiny_one_is():
    rng = np.random.default_rng(2)
    blocks, noise = np.repeat(np.arange(40), 10), 0.01 * rng.normal(size=400)
    found = ranking("neighbours", "", {"a": 0.3 + noise, "b": np.full(400, 0.5), "c": np.full(400, 0.495)}, blocks)
    assert found.best == "b"
    assert found.ties == ("b", "c")
    assert found.behind["a"][0] == pytest.approx(0.2, abs=0.01)
    assert found.behind["a"][1] > 0.19


def test_rows_without_a_value_are_ignored():
    values = np.array([1.0, np.nan, 3.0, 2.0])
    assert block_mean(values, np.arange(4))[0] == 2.0


def test_agreement_is_spearmans_correlation():
    rng = np.random.default_rng(3)
    X, Z = rng.normal(size=(40, 5)), rng.normal(size=(40, 2))
    rows, found = distance_agreement(euclidean(X, "X"), {"Z": Z}, rng)
    assert rows.tolist() == list(range(40))
    for i in (0, 17):
        others = np.arange(40) != i
        D, E = np.linalg.norm(X - X[i], axis=1)[others], np.linalg.norm(Z - Z[i], axis=1)[others]
        assert found["Z"][i] == pytest.approx(spearmanr(D, E).statistic)


def test_the_same_distances_agree_fully():
    space = euclidean(np.random.default_rng(4).normal(size=(60, 3)), "X")
    assert reference_agreement(space, space, np.random.default_rng(0)) == pytest.approx(1)


def test_regions_are_near_their_centres():
    X = np.concatenate([np.zeros((50, 2)), np.full((50, 2), 10.0)]) + np.random.default_rng(5).normal(size=(100, 2))
    found = regions(euclidean(X, "X"), np.random.default_rng(0))
    assert not set(found[:50]) & set(found[50:])

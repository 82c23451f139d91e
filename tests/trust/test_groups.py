"""Verdicts on groups: each rule appears where it should and not elsewhere."""

import numpy as np
import pytest

import lowdim
from lowdim._core.neighbors import nearest
from lowdim.trust.modes import modes


def blobs(centres, size=80, d=6, seed=0):
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.standard_normal((size, d)) + np.resize(c, d) for c in centres])


def verdicts(X, Z, labels, **options):
    return {group.name: group.verdict for group in lowdim.trust.groups(X, Z, labels, random_state=0, **options).table}


def test_separate_groups_hold_together():
    X = blobs([0, 6, -6])
    labels = np.repeat(["a", "b", "c"], 80)
    assert verdicts(X, X[:, :2], labels) == dict.fromkeys("abc", "holds together")


def test_two_groups_under_one_label_are_a_mixture():
    X = blobs([0, 6, -6])
    labels = np.repeat(["one", "one", "two"], 80)
    assert verdicts(X, X[:, :2], labels) == {"one": "mixture", "two": "holds together"}


def test_a_valley_is_enough_for_a_mixture():
    X = blobs([0, [5, 0, 0, 0, 0, 0]], size=300)
    found = lowdim.trust.groups(X, X[:, :2], np.zeros(600, int), random_state=0).table[0]
    assert found.verdict == "mixture"
    assert found.pieces == 1 or found.valley > 4


def test_a_group_in_two_places_of_the_map_is_torn():
    X = blobs([0, 6])
    Z = X[:, :2].copy()
    Z[:40] += 50
    assert verdicts(X, Z, np.repeat([0, 1], 80)) == {0: "torn", 1: "holds together"}


def test_half_of_a_group_that_the_map_shows_apart_is_torn():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 5))
    chosen = np.arange(200) < 40
    Z = rng.standard_normal((200, 2))
    Z[chosen] += 30
    assert verdicts(X, Z, chosen) == {"selection": "torn"}


def test_patches_of_noise_overlap():
    X = np.random.default_rng(0).standard_normal((300, 5))
    labels = (X[:, 0] > 0).astype(int) + 2 * (X[:, 1] > 0)
    assert set(verdicts(X, X[:, :2], labels).values()) == {"overlaps"}


def test_a_gap_that_only_the_map_has_is_a_tear():
    """Patches of one sheet that a map moves apart; in the data each passes into the next."""
    X = np.random.default_rng(0).random((400, 2))
    labels = (X[:, 0] > 0.5).astype(int)
    Z = X + 3.0 * labels[:, None]
    assert verdicts(X, Z, labels) == {0: "torn", 1: "torn"}
    assert set(verdicts(X, X, labels).values()) <= {"overlaps", "holds together"}


@pytest.mark.parametrize("apart", [5, 6, 8])
def test_groups_that_the_map_shows_apart_rightly_hold_together(apart):
    X = blobs([0, [apart, 0, 0, 0, 0]], size=300, d=5)
    Z = X[:, :2] + np.repeat([0.0, 30.0], 300)[:, None]
    assert verdicts(X, Z, np.repeat([0, 1], 300)) == {0: "holds together", 1: "holds together"}


def test_few_rows_are_not_judged():
    X = blobs([0, 6])
    labels = np.where(np.arange(160) < 5, "few", "many")
    assert verdicts(X, X[:, :2], labels)["few"] == "too few rows"


@pytest.mark.parametrize("make", ["gauss", "uniform", "heavy"])
def test_one_peak_rarely_has_a_valley(make):
    def rows(seed):
        rng = np.random.default_rng(seed)
        draw = {"gauss": rng.standard_normal, "uniform": rng.random, "heavy": lambda size: rng.standard_t(4, size)}
        return draw[make]((150, 3))

    found = []
    for seed in range(20):
        near = nearest(rows(seed), 15)
        found.append(modes(near.distances, near.indices, 3.0, 8))
    assert sum(each.n_components > 1 or each.valley > 4 for each in found) <= 2


def test_distances_of_an_exact_map_may_be_read():
    X = blobs([0, 4, -9], d=2)
    pairs = lowdim.trust.groups(X, 3 * X, np.repeat([0, 1, 2], 80), random_state=0).pairs
    assert [pair.verdict for pair in pairs] == ["yes"] * 3
    assert [pair.ratio for pair in pairs] == pytest.approx([1] * 3)


def test_distances_that_the_map_turns_round_may_not_be_read():
    X = blobs([[0, 0], [2, 0], [30, 0]], d=2)
    Z = blobs([[0, 0], [30, 0], [2, 0]], d=2)
    found = {(p.first, p.second): p.verdict for p in lowdim.trust.groups(X, Z, np.repeat([0, 1, 2], 80)).pairs}
    assert found[0, 1] == "no"
    assert found[0, 2] == "no"


def test_rows_in_no_group_are_left_out():
    X = blobs([0, 6])
    labels = np.repeat([0.0, 1.0], 80)
    labels[:3] = np.nan
    assert [group.size for group in lowdim.trust.groups(X, X[:, :2], labels).table] == [77, 80]


def test_labels_must_fit():
    X = blobs([0, 6])
    with pytest.raises(ValueError, match="labels must be an array of 160 values"):
        lowdim.trust.groups(X, X[:, :2], [0, 1])
    with pytest.raises(ValueError, match="select at least one row"):
        lowdim.trust.groups(X, X[:, :2], np.zeros(160, bool))


def test_places_of_the_map_say_where_to_look_for_a_gap():
    """Two groups joined by a few rows: a search everywhere misses the gap, the places of the map point to it."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(160, 6))
    X[80:, 0] += 7
    Z = np.column_stack([np.repeat([0.0, 40.0], 80), np.zeros(160)]) + rng.normal(size=(160, 2))
    found = lowdim.trust.groups(X, Z, ["one"] * 160, random_state=0).table[0]
    assert found.verdict == "mixture"
    assert found.split > 4
    same = lowdim.trust.groups(rng.normal(size=(160, 6)), Z, ["one"] * 160, random_state=0).table[0]
    assert same.verdict == "torn"
    assert same.split < 4


def test_most_of_a_sheet_is_no_group_of_its_own():
    """Nearly all neighbours of a large part are its own, whatever the data are: that alone says nothing."""
    X = lowdim.datasets.swiss_roll(500, random_state=0).X
    order = np.argsort(X[:, 1])
    labels = np.full(500, "rest", dtype=object)
    labels[order[:450]] = "most"
    found = lowdim.trust.groups(X, X[:, [0, 1]], labels, random_state=0)
    assert found.table[0].inside > 0.95
    assert [group.verdict for group in found.table] == ["overlaps", "overlaps"]


def test_valleys_do_not_depend_on_the_order_of_the_rows():
    rng = np.random.default_rng(0)
    for _ in range(25):
        X = rng.standard_normal((120, 4))
        X[60:] += 1.5
        found = []
        for order in (np.arange(120), rng.permutation(120), rng.permutation(120)):
            near = nearest(X[order], 12, metric="euclidean", n_jobs=1, approximate=None, owner="test")
            found.append(modes(np.asarray(near.distances, float), near.indices, 4.0, 8).valley)
        assert np.ptp(found) < 1e-9


def test_a_part_of_a_group_is_none_whatever_lies_far_away():
    """The densest of the other rows is in a group that no path leads to: what lies around the part counts."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.random((300, 2)) * [10, 1], 0.05 * rng.random((100, 2)) + [0, 50]])
    chosen = (X[:, 0] < 4) & (X[:, 1] < 2)
    found = lowdim.trust.groups(X, X, chosen, random_state=0).table[0]
    assert found.inside > 0.9
    assert found.border < 4
    assert found.verdict == "overlaps"
    whole = X[:, 1] < 2
    assert verdicts(X, X, whole) == {"selection": "holds together"}


def test_stretches_of_a_path_are_no_groups():
    """A random walk: rows of each stretch are among themselves, and pass into the next stretch."""
    found = []
    for seed in range(3):
        X = np.cumsum(np.random.default_rng(seed).standard_normal((240, 8)), axis=0)
        labels = np.where(np.arange(240) % 40 < 30, np.arange(240) // 40, -1)  # clusterings leave rows out
        found += verdicts(X, X[:, :2], labels).values()
    assert found.count("holds together") == 0


def test_branches_of_a_tree_are_neither_groups_nor_mixtures():
    """Noise makes small neighbourhoods wide; how much densities vary by chance depends on those of larger ones."""
    found = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        ends, branch, along = rng.standard_normal((3, 12)), np.repeat(np.arange(3), 90), rng.random((270, 1))
        X = 4 * along * ends[branch] + 0.2 * rng.standard_normal((270, 12))
        found += verdicts(X, X @ np.linalg.pinv(ends)[:, :2], np.minimum(branch, 1)).values()
    assert set(found) <= {"overlaps", "torn"}


def test_of_several_groups_beside_it_the_nearest_counts():
    X = blobs([[0, 0], [1.5, 0], [0, 40]], size=120, d=2)
    assert verdicts(X, X, np.repeat([0, 1, 2], 120)) == {0: "overlaps", 1: "overlaps", 2: "holds together"}

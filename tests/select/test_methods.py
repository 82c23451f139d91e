"""The choice of a method: known winners, ties that are ties, the ceiling, bad input."""

import numpy as np
import pytest

import lowdim
from lowdim.select import method


def rows(n=150, d=5, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


def test_equal_methods_tie_and_the_first_is_chosen():
    """PCA and classical scaling give the same map."""
    found = method(rows(), "distances", ["pca", "classical-mds", "random-projection"])
    assert found.chosen == "pca"
    assert set(found.ties) == {"pca", "classical-mds"}
    assert "Not different beyond chance: classical-mds." in found.reason
    assert found.ranking[-1] == "random-projection"
    assert found.behind["random-projection"][1] > 0


def test_each_question_has_its_winner():
    X = lowdim.datasets.swiss_roll(400, random_state=1).X
    models = ["pca", lowdim.Isomap(n_neighbors=6), lowdim.TSNE(random_state=0)]
    assert method(X, "neighbours", models).chosen == "tsne"
    assert method(X, "along the data", models).chosen == "isomap"


def test_labels():
    X = np.concatenate([rows(50), rows(50, seed=1) + 8 * np.eye(5)[0]])
    y = np.repeat([0, 1], 50)
    found = method(X, "labels", {"good": "pca", "bad": lowdim.RandomProjection(2, random_state=3)}, y=y)
    assert found.scores["good"][0] == 1
    assert found.ceiling.expected == 1
    assert np.isnan(found.ceiling.dimension)


def test_a_flat_sheet_can_be_mapped_without_loss():
    X = np.random.default_rng(0).random((200, 2)) @ np.random.default_rng(1).standard_normal((2, 6))
    found = method(X, "neighbours", ["pca", "random-projection"])
    assert found.ceiling.value == pytest.approx(1)
    assert found.ceiling.found == pytest.approx(1)


def test_evenly_spread_rows_reach_what_is_expected_of_their_dimension():
    """Other rows of a cube of the same dimension: the ceiling is reached to within the error of the dimension."""
    X = np.random.default_rng(5).random((300, 6)) @ np.linalg.qr(rows(9, 9))[0][:6]
    ceiling = method(X, "neighbours", [lowdim.TSNE(random_state=0), "pca"]).ceiling
    assert ceiling.dimension == pytest.approx(6, abs=1)
    assert ceiling.found == pytest.approx(ceiling.expected, abs=0.05)
    assert ceiling.value >= ceiling.found
    assert f"{ceiling.dimension:.1f} dimensions" in str(ceiling)


def test_more_columns_have_a_higher_ceiling():
    X = np.random.default_rng(6).random((200, 6))
    two, four = (method(X, "distances", ["pca"], n_components=k).ceiling for k in (2, 4))
    assert (two.n_columns, four.n_columns) == (2, 4)
    assert four.expected > two.expected + 0.05


def test_groups_may_exceed_what_is_expected_of_their_dimension():
    rng = np.random.default_rng(7)
    X = np.concatenate([rng.standard_normal((40, 10)) + 20 * rng.standard_normal(10) for _ in range(5)])
    ceiling = method(X, "neighbours", ["tsne"]).ceiling
    assert ceiling.found > ceiling.expected
    assert ceiling.value == ceiling.found


@pytest.mark.deep
def test_rounds_choose_as_all_methods_on_all_rows_do():
    X = np.random.default_rng(0).random((4000, 3)) * [3, 2, 1]
    models = ["pca", "isomap", "laplacian-eigenmaps", "umap", "tsne", "random-projection"]
    cheap, full = (method(X, "neighbours", models, budget=budget) for budget in (0.2, 1.0))
    assert cheap.cost < 0.5 < full.cost
    assert full.scores[cheap.chosen][0] >= 0.98 * full.scores[full.ranking[0]][0]


def test_given_distances_and_failures():
    X = rows(60)
    D = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
    found = method(D, "distances", metric="precomputed")
    assert found.chosen in ("classical-mds", "mds")
    assert set(found.ranking) == {"classical-mds", "mds", "isomap", "laplacian-eigenmaps", "umap", "tsne"}
    other = method(X, "distances", {"good": "pca", "torn": lowdim.Isomap(n_neighbors=1, disconnected="error")})
    assert list(other.failed) == ["torn"]
    assert "torn" not in other.ranking
    assert "torn  no map" in repr(other)


@pytest.mark.parametrize(
    ("methods", "message"),
    [
        (["pca", lowdim.PCA(3)], "must have different names; got pca twice"),
        ({"a": "pca", "b": lowdim.PCA(3)}, "maps of the same number of columns; got a 2, b 3"),
        ([], "at least one method"),
        ("pca", "must be a list or a dict"),
        (["nothing"], "method must be one of"),
    ],
)
def test_wrong_methods_are_named(methods, message):
    with pytest.raises((ValueError, TypeError), match=message):
        method(rows(), "neighbours", methods)

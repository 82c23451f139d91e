"""`scores`: all measures in one dictionary, compared on common rows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import squareform

from lowdim import quality

KEYS = {
    "n_given",
    "n_embedded",
    "n_scored",
    "rows",
    "n_components",
    "reference",
    "metric",
    "n_anchors",
    "rnx",
    "ranked",
    "row_auc",
    "row_estimate",
    "row_estimate_from",
    "row_curves",
    "auc",
    "auc_interval",
    "k",
    "trustworthiness",
    "trustworthiness_interval",
    "continuity",
    "continuity_interval",
    "k_max",
    "q_local",
    "q_global",
    "normalized_stress",
    "normalized_stress_interval",
    "scale_optimal_stress",
    "scale_optimal_stress_interval",
    "pearson",
    "pearson_interval",
    "spearman",
    "spearman_interval",
    "zeros_data",
    "zeros_embedding",
    "knn_error",
    "knn_error_data",
    "own",
}


def data(n=60, d=5, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    X = rng.normal(size=(n, d)) + 3 * y[:, None]
    return X, X[:, :2], y


def test_every_number_is_the_one_of_its_function():
    X, Z, y = data()
    found = quality.scores(X, Z, y)
    assert set(found) == KEYS
    expected = {
        "n_given": 60,
        "n_embedded": 60,
        "n_scored": 60,
        "rows": "all",
        "n_components": 2,
        "reference": "ambient",
        "metric": "euclidean",
        "n_anchors": 60,
        "auc": quality.rnx_auc(X, Z),
        "k": 12,
        "trustworthiness": quality.trustworthiness(X, Z),
        "continuity": quality.continuity(X, Z),
        "k_max": quality.k_max(X, Z),
        "q_local": quality.q_local(X, Z),
        "q_global": quality.q_global(X, Z),
        "normalized_stress": quality.stress(X, Z),
        "scale_optimal_stress": quality.stress(X, Z, "scale_optimal"),
        "pearson": quality.shepard(X, Z).pearson,
        "spearman": quality.shepard(X, Z).spearman,
        "zeros_data": 0,
        "zeros_embedding": 0,
        "knn_error": quality.knn_error(Z, y),
        "knn_error_data": quality.knn_error(X, y),
        "own": None,
    }
    for key, value in expected.items():
        assert found[key] == value, key
    np.testing.assert_array_equal(found["rnx"], quality.rnx_curve(X, Z))
    rows = quality.per_row(X, Z)
    np.testing.assert_array_equal(found["ranked"], rows["rows"])
    np.testing.assert_array_equal(found["row_auc"], rows["auc"])
    assert all(found[key] is None for key in KEYS if key.endswith("_interval"))


def test_arbitrary_scale_hides_the_plain_stress():
    X, Z, _ = data()
    assert quality.scores(X, Z, has_scale=False)["normalized_stress"] is None
    each = quality.scores_each(X, {"a": Z, "b": Z}, has_scale={"a": False})
    assert each["a"]["normalized_stress"] is None
    assert each["b"]["normalized_stress"] == quality.stress(X, Z)
    assert each["a"]["scale_optimal_stress"] == each["b"]["scale_optimal_stress"]


def test_left_out_rows_are_compared_on_common_ground():
    X, Z, y = data()
    half = Z.copy()
    half[40:] = np.nan
    some = X[:, :1].copy()
    some[:5] = np.nan
    found = quality.scores_each(X, {"all": Z, "half": half, "some": some}, y)
    common = slice(5, 40)
    for name, embedding in (("all", Z), ("half", half), ("some", some)):
        row = found[name]
        assert (row["n_given"], row["n_scored"], row["rows"]) == (60, 35, "common")
        assert row["auc"] == quality.rnx_auc(X[common], embedding[common])
        assert row["normalized_stress"] == quality.stress(X[common], embedding[common])
        assert row["knn_error"] == quality.knn_error(embedding[common], y[common])
        assert row["knn_error_data"] == quality.knn_error(X[common], y[common])
    assert [found[name]["n_embedded"] for name in found] == [60, 40, 55]
    own = found["half"]["own"]
    assert (own["n_scored"], own["n_embedded"], own["rows"]) == (40, 40, "own")
    assert own["auc"] == quality.rnx_auc(X[:40], Z[:40])
    assert found["all"]["own"]["auc"] == quality.rnx_auc(X, Z)
    alone = quality.scores(X, half)
    assert (alone["n_scored"], alone["own"], alone["rows"]) == (40, None, "common")


def test_sampled_numbers_carry_intervals():
    X, Z, _ = data(300)
    found = quality.scores(X, Z, anchors=80, pairs=4000, random_state=0)
    assert found["n_anchors"] == 80
    for key in (key.removesuffix("_interval") for key in KEYS if key.endswith("_interval")):
        low, high = found[f"{key}_interval"]
        assert low < found[key] < high, key
    np.testing.assert_equal(quality.scores(X, Z, anchors=80, pairs=4000, random_state=0), found)
    each = quality.scores_each(X, {"a": Z, "b": Z.copy()}, anchors=80, pairs=4000)
    np.testing.assert_equal(each["a"], each["b"])  # the same rows and pairs for every embedding


def test_given_distances_dense_and_condensed():
    X, Z, y = data()
    D = np.sqrt(((X[:, None] - X[None]) ** 2).sum(-1))
    holes = Z.copy()
    holes[[2, 3]] = np.nan
    plain = quality.scores(X, holes, y)
    for given in (D, squareform(D)):
        found = quality.scores(given, holes, y, reference="precomputed")
        assert found["reference"] == "precomputed"
        for key in ("auc", "trustworthiness", "normalized_stress", "spearman", "knn_error_data"):
            assert found[key] == pytest.approx(plain[key], rel=1e-12), key


def test_geodesic_reference_and_one_axis():
    t = np.linspace(0, 4.5, 70) + 0.02 * np.random.default_rng(0).random(70)
    X = np.c_[np.cos(t), np.sin(t)]
    found = quality.scores(X, t, reference="geodesic", graph_neighbors=4)
    assert (found["reference"], found["n_components"]) == ("geodesic", 1)
    assert found["auc"] > 0.95
    assert quality.scores(X, t)["auc"] < found["auc"]


def test_few_rows_and_duplicates():
    X = np.array([[0.0, 0.0], [0.0, 0.0], [3.0, 4.0]])
    found = quality.scores(X, X[:, 0])
    assert (found["k"], found["zeros_data"], found["zeros_embedding"]) == (1, 2, 2)
    assert found["auc"] == 1
    assert quality.scores_each(X, {}) == {}


def test_baselines():
    X, Z, _ = data(400)
    found = quality.scores_each(X, {"z": Z, "random": np.random.default_rng(1).normal(size=(400, 2))})
    assert abs(found["random"]["auc"]) < 0.05 < found["z"]["auc"]


def test_wrong_calls_are_explained():
    X, Z, y = data()
    with pytest.raises(ValueError, match="the 60 rows of X; got 50"):
        quality.scores(X, Z[:50])
    with pytest.raises(ValueError, match="same number of rows; got"):
        quality.scores_each(X, {"a": Z, "b": Z[:50]})
    with pytest.raises(ValueError, match="label for each of the 60 rows; got 59"):
        quality.scores(X, Z, y[:59])
    with pytest.raises(ValueError, match="at least 3 rows must be without NaN"):
        quality.scores(X, np.full((60, 2), np.nan))
    with pytest.raises(ValueError, match="the embedding Z must hold real numbers; got <U1"):
        quality.scores(X, np.array([["a"] * 2] * 60))
    for k in (0, 2.5, True, "a"):
        with pytest.raises(ValueError, match="scores: n_neighbors must be a whole number >= 1; got"):
            quality.scores(X, Z, n_neighbors=k)
    with pytest.raises(ValueError, match="scores: graph_neighbors must be an integer from 1 to 59 for 60 rows; got 60"):
        quality.scores(X, Z, reference="geodesic", graph_neighbors=60)
    with pytest.raises(ValueError, match="X must be finite"):
        quality.scores(np.where(X > 4, np.nan, X), Z)


def test_the_old_name_of_the_neighbourhood_size_works_with_a_warning():
    X = np.random.default_rng(0).normal(size=(40, 3))
    with pytest.warns(FutureWarning, match="scores: k is now called n_neighbors"):
        old = quality.scores(X, X[:, :2], k=5)
    assert old["trustworthiness"] == quality.scores(X, X[:, :2], n_neighbors=5)["trustworthiness"]

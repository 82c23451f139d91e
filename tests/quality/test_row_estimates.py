"""The R_NX area of every row, estimated from lists of neighbours and samples of rows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist, squareform

import lowdim
from lowdim import quality
from lowdim.quality import row_estimates
from lowdim.quality._size_shares import matched_ranks, size_shares, weights_of_ranks


def clusters(n, d=10, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) + 2 * rng.normal(size=(6, d))[rng.integers(6, size=n)]


@pytest.mark.parametrize("levels", [[(99, 20), (50, 49)], [(99, 30), (20, 10), (12, 11)], [(99, 2), (60, 59)]])
def test_shares_of_all_levels_add_up_to_one(levels):
    shares = size_shares(100, levels)
    assert sum(share.sum() for share in shares) == pytest.approx(1)
    assert all((share >= 0).all() for share in shares)
    K = np.arange(1, 99)
    untouched = levels[0][1] // 2
    np.testing.assert_allclose(shares[0][:untouched], (1 / K / np.sum(1 / K))[:untouched])


def test_weights_of_ranks_give_the_sum_over_sizes():
    rng = np.random.default_rng(0)
    m, share = 40, rng.random(25)
    rho, r = rng.permutation(m) + 1, rng.permutation(m) + 1
    worst = np.maximum(rho, r)
    k = np.arange(1, 26)
    shared = np.array([(worst <= size).sum() for size in k])
    rnx = (m * shared / k - k) / (m - k)
    weight, by_chance = weights_of_ranks(share, m)
    assert weight[np.minimum(worst, 26)].sum() - by_chance == pytest.approx(share @ rnx)


def test_matched_ranks_are_those_of_a_search_by_hand():
    rng = np.random.default_rng(1)
    high, low = (np.array([rng.permutation(30)[:8] for _ in range(12)], np.int32) for _ in range(2))
    for row, found in enumerate(matched_ranks(high, low)):
        expected = [list(high[row]).index(j) + 1 if j in high[row] else 0 for j in low[row]]
        np.testing.assert_array_equal(found, expected)


def test_lists_and_sample_of_all_rows_give_the_exact_values():
    X = clusters(120)
    Z = X[:, :2]
    exact = quality.per_row(X, Z, n_neighbors=7)
    found = quality.per_row_estimate(X, Z, 7, k_up=200)
    np.testing.assert_allclose(found["auc"], exact["auc"], atol=1e-12)
    np.testing.assert_allclose(found["kept"], exact["kept"], atol=1e-12)
    assert found["approximate"]
    assert (found["k"], found["k_up"], found["n_sampled"], found["reference"]) == (7, 118, 120, "ambient")


@pytest.mark.parametrize("data", ["clusters", "roll"])
def test_estimates_agree_with_the_exact_values(data):
    X = clusters(5000) if data == "clusters" else lowdim.datasets.swiss_roll(5000, random_state=0).X
    Z = lowdim.PCA(2).fit_transform(X)
    exact = quality.per_row(X, Z, anchors=1000, random_state=1)
    found = quality.per_row_estimate(X, Z, random_state=0)
    assert found["auc"].shape == (5000,)
    assert np.isfinite(found["auc"]).all()
    assert np.corrcoef(found["auc"][exact["rows"]], exact["auc"])[0, 1] > 0.95
    assert found["auc"][exact["rows"]].mean() == pytest.approx(exact["auc"].mean(), abs=0.01)
    np.testing.assert_array_equal(found["kept"][exact["rows"]], exact["kept"])


def test_a_larger_sample_helps_where_the_first_is_thin(monkeypatch):
    X = clusters(1500)
    Z = lowdim.PCA(2).fit_transform(X)
    exact = quality.per_row(X, Z)["auc"]
    options = {"k_up": 40, "n_sampled": 60, "random_state": 0}
    with_it = quality.per_row_estimate(X, Z, **options)["auc"]
    monkeypatch.setattr(row_estimates, "MIDDLE", 0)
    without = quality.per_row_estimate(X, Z, **options)["auc"]
    errors = [np.std(found - exact) for found in (with_it, without)]
    assert errors[0] < 0.8 * errors[1]


def test_perfect_and_random_maps():
    X = clusters(1500, 3)
    perfect = quality.per_row_estimate(X, 4 * X, k_up=30, n_sampled=200, random_state=0)
    np.testing.assert_allclose(perfect["auc"], 1, atol=1e-12)
    assert (perfect["kept"] == 1).all()
    random = quality.per_row_estimate(X, np.random.default_rng(5).normal(size=(1500, 2)), k_up=30, n_sampled=200)
    assert abs(random["auc"].mean()) < 0.01


def test_the_misplaced_row_is_found_in_every_metric():
    X = clusters(400, 2)
    Z = X.copy()
    Z[17] += 30
    D = cdist(X, X)
    given = [(X, {}), (X, {"metric": "manhattan"}), (D, {"metric": "precomputed"})]
    for data, options in [*given, (squareform(D, checks=False), {"metric": "precomputed"})]:
        found = quality.per_row_estimate(data, Z, k_up=30, n_sampled=40, random_state=0, **options)
        assert np.argmin(found["auc"]) == np.argmin(found["kept"]) == 17
    ambient, precomputed = (
        quality.per_row_estimate(data, Z, k_up=30, n_sampled=40, random_state=0, **options)["auc"]
        for data, options in (given[0], given[2])
    )
    np.testing.assert_allclose(ambient, precomputed, atol=1e-12)


def test_threads_and_seeds():
    X = clusters(1200)
    found = [quality.per_row_estimate(X, X[:, :2], random_state=3, n_jobs=jobs)["auc"] for jobs in (1, 2)]
    np.testing.assert_array_equal(found[0], found[1])


def test_equal_rows_stay_in_the_lists():
    X = np.repeat(clusters(150), 2, axis=0)
    found = quality.per_row_estimate(X, X[:, :2], k_up=40, n_sampled=60, random_state=0)
    assert np.isfinite(found["auc"]).all()
    assert np.mean(found["auc"]) == pytest.approx(quality.rnx_auc(X, X[:, :2]), abs=0.03)


def test_scores_have_estimates_where_rows_were_sampled():
    X = clusters(600)
    each = quality.scores_each(X, {"a": X[:, :2], "b": X[:, 2:4]}, anchors=100, every_row=True, random_state=0)
    for name, Z in (("a", X[:, :2]), ("b", X[:, 2:4])):
        exact = quality.per_row(X, Z)["auc"]
        assert np.corrcoef(each[name]["row_estimate"], exact)[0, 1] > 0.95
        assert each[name]["row_estimate_from"] == "its 90 nearest neighbours and 600 sampled rows"
    for options in ({}, {"anchors": 100}, {"every_row": True}):
        assert quality.scores(X, X[:, :2], **options)["row_estimate"] is None
    noise = np.random.default_rng(0).normal(size=(200, 3))
    paths = quality.scores(noise, noise[:, :2], anchors=100, every_row=True, reference="geodesic")
    assert paths["row_estimate"] is None


@pytest.mark.parametrize("n", [3, 4, 7, 25])
def test_few_rows(n):
    X = clusters(n, 3)
    found = quality.per_row_estimate(X.tolist(), X[:, :2].tolist(), 1)
    np.testing.assert_allclose(found["auc"], quality.per_row(X, X[:, :2], 1)["auc"], atol=1e-12)


@pytest.mark.parametrize(("k_up", "n_sampled"), [(90, 3), (1, 3), (1, 300), (25, 40), (298, 3)])
def test_any_number_of_neighbours_and_sampled_rows(k_up, n_sampled):
    X = clusters(300, 3)
    found = quality.per_row_estimate(X, X[:, ::-1], 1, k_up=k_up, n_sampled=n_sampled, random_state=0)
    np.testing.assert_allclose(found["auc"], 1, atol=1e-12)


def test_sparse_rows():
    X = np.maximum(clusters(300), 0)
    options = {"k_up": 30, "n_sampled": 40, "random_state": 0}
    dense, thin = (quality.per_row_estimate(A, X[:, :2], **options)["auc"] for A in (X, sparse.csr_array(X)))
    np.testing.assert_allclose(dense, thin, atol=1e-12)


def test_wrong_calls_are_explained():
    X = clusters(60)
    for options, message in [
        ({"k_up": 0}, "k_up must be a whole number >= 1; got 0"),
        ({"n_neighbors": 59}, "n_neighbors must be a whole number from 1 to 58; got 59"),
        ({"n_neighbors": 31, "k_up": 30}, "n_neighbors must be a whole number from 1 to 30; got 31"),
        ({"n_sampled": 2}, "n_sampled must be a whole number >= 3; got 2"),
    ]:
        with pytest.raises(ValueError, match=f"per_row_estimate: {message}"):
            quality.per_row_estimate(X, X[:, :2], **options)

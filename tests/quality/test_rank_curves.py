"""The public rank measures."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from scipy import sparse
from sklearn.manifold import trustworthiness as sklearn_trustworthiness

import lowdim
from lowdim import quality
from lowdim._core.graph import geodesics, neighbor_graph
from lowdim._core.neighbors import nearest
from lowdim.quality import Ranks
from tests.oracles import case, load_expected, load_input


def data(n=60, d=5, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, d))
    return X, X[:, :2] + 0.3 * X[:, 2:4] ** 2


@pytest.mark.parametrize("k", [1, 5, 12, 29])
def test_trustworthiness_equals_scikit_learn(k):
    X, Z = data()
    assert quality.trustworthiness(X, Z, k) == pytest.approx(sklearn_trustworthiness(X, Z, n_neighbors=k), abs=1e-14)
    assert quality.continuity(X, Z, k) == pytest.approx(sklearn_trustworthiness(Z, X, n_neighbors=k), abs=1e-14)


def test_trustworthiness_of_venna_and_kaski_not_another():
    """Published code starts the penalties at 0 with another norm (0.817 where the definition gives 0.746)."""
    X, Z = data(60)
    rho = np.argsort(np.argsort(((X[:, None] - X[None]) ** 2).sum(-1), axis=1), axis=1)
    near = np.argsort(((Z[:, None] - Z[None]) ** 2).sum(-1), axis=1)[:, 1:4]
    penalty = np.maximum(np.take_along_axis(rho, near, axis=1) - 3, 0).sum()
    assert quality.trustworthiness(X, Z, 3) == pytest.approx(1 - 2 * penalty / (60 * 3 * (120 - 9 - 1)), abs=1e-14)


def test_coranking_matrix_equals_r():
    stored = case("coranking_lowrank_pca2")
    (X, _), (Z, _) = (load_input(file) for file in stored["inputs"])
    np.testing.assert_array_equal(quality.coranking_matrix(X, Z), load_expected("coranking_lowrank_pca2", "Q"))


def test_coranking_matrix_identities():
    X, Z = data(40)
    Q = quality.coranking_matrix(X, Z)
    np.testing.assert_array_equal(Q.sum(axis=0), 40)
    np.testing.assert_array_equal(Q.sum(axis=1), 40)
    np.testing.assert_array_equal(Q.T, quality.coranking_matrix(Z, X))
    np.testing.assert_array_equal(quality.coranking_matrix(X, -X), 40 * np.eye(39))
    corner = [Q[:k, :k].sum() / (k * 40) for k in range(1, 40)]
    np.testing.assert_allclose(quality.qnx_curve(X, Z), corner, atol=1e-14)


def test_coranking_matrix_checks_memory():
    X, Z = data(100)
    with lowdim.config(memory_limit="10kB"), pytest.raises(MemoryError, match=r"coranking_matrix.*rnx_curve"):
        quality.coranking_matrix(X, Z)


def test_functions_read_the_record():
    X, Z = data()
    ranks = Ranks.of(X, Z)
    for name, expected in {
        "rnx_curve": ranks.rnx, "qnx_curve": ranks.qnx, "lcmc_curve": ranks.lcmc, "bnx_curve": ranks.bnx,
        "rnx_auc": ranks.auc, "k_max": ranks.k_max, "q_local": ranks.q_local, "q_global": ranks.q_global,
        "trustworthiness": ranks.trustworthiness[11], "continuity": ranks.continuity[11],
        "mrre": (ranks.mrre[0][11], ranks.mrre[1][11]),
    }.items():  # fmt: skip
        measure = getattr(quality, name)
        np.testing.assert_array_equal(measure(X, Z), expected, err_msg=name)
        np.testing.assert_array_equal(measure(ranks), expected, err_msg=name)


def test_scores_say_their_reference_and_size():
    X, Z = data()
    found = quality.trustworthiness(X, Z, 7)
    assert (found.reference, found.interval, found.facts) == ("ambient", None, {"k": 7})
    D = np.sqrt(((X[:, None] - X[None]) ** 2).sum(-1))
    assert quality.rnx_auc(D, Z, reference="precomputed").reference == "precomputed"
    assert quality.rnx_auc(D, Z, metric="precomputed") == quality.rnx_auc(X, Z)


def test_sampled_scores_have_intervals_around_them():
    X, Z = data(300)
    options = {"anchors": 100, "random_state": 1}
    for measure in (quality.rnx_auc, quality.trustworthiness, quality.continuity):
        found, exact = measure(X, Z, **options), measure(X, Z)
        low, high = found.interval
        assert low < found < high
        assert low - 0.02 < exact < high + 0.02


def test_metrics_other_than_euclidean():
    X, Z = data()
    far = np.abs(X[:, None] - X[None]).sum(-1)
    assert quality.rnx_auc(X, Z, metric="manhattan") == pytest.approx(quality.rnx_auc(far, Z, reference="precomputed"))
    taxi = quality.rnx_auc(X, Z, metric=lambda a, b: np.abs(a - b).sum())
    assert taxi == pytest.approx(quality.rnx_auc(X, Z, metric="manhattan"))


def test_sparse_rows_and_unknown_metrics():
    X, Z = data()
    X[np.abs(X) < 0.5] = 0
    for make in (sparse.csr_array, sparse.coo_array, sparse.csc_matrix):
        assert quality.rnx_auc(make(X), Z) == pytest.approx(quality.rnx_auc(X, Z), abs=1e-12)
    assert quality.scores(sparse.csr_array(X), Z)["normalized_stress"] == pytest.approx(quality.stress(X, Z))
    with pytest.raises(ValueError, match=r"Ranks\.of: metric must be .* got 'far'"):
        quality.rnx_auc(X, Z, metric="far")


def test_geodesic_reference_rewards_unrolling():
    rng = np.random.default_rng(0)
    t = np.sort(1.5 * np.pi * (1 + 2 * rng.random(300)))
    h = 8 * rng.random(300)
    roll, flat = (
        np.c_[t * np.cos(t), h, t * np.sin(t)],
        np.c_[(t * np.sqrt(1 + t * t) + np.arcsinh(t)) / 2, h],
    )
    along = {
        name: quality.rnx_auc(roll, Z, reference="geodesic") for name, Z in (("flat", flat), ("cut", roll[:, ::2]))
    }
    assert along["flat"] > along["cut"] + 0.2
    assert along["flat"] > 0.7
    assert along["flat"].reference == "geodesic"


def test_geodesic_reference_equals_its_matrix():
    X, Z = data(80, 5)
    D = geodesics(neighbor_graph(nearest(X, 6), 80))
    D = (D + D.T) / 2
    assert np.all(np.isfinite(D))
    ours = quality.rnx_auc(X, Z, reference="geodesic", graph_neighbors=6)
    assert ours == pytest.approx(quality.rnx_auc(D, Z, reference="precomputed"), abs=1e-3)


def test_graph_and_neighbourhood_have_sizes_of_their_own():
    X, Z = data(80, 5)
    options = {"reference": "geodesic", "graph_neighbors": 6}
    ranks = Ranks.of(X, Z, **options)
    for k in (3, 12):
        assert quality.trustworthiness(X, Z, n_neighbors=k, **options) == quality.trustworthiness(ranks, n_neighbors=k)
        assert quality.mrre(X, Z, n_neighbors=k, **options) == quality.mrre(ranks, n_neighbors=k)
        rows = quality.per_row(X, Z, n_neighbors=k, **options)
        assert rows["continuity"].mean() == pytest.approx(quality.continuity(ranks, n_neighbors=k))
    assert quality.coranking_matrix(X, Z, **options).trace() == ranks.equal.sum()


def test_geodesic_reference_bridges_and_says_so():
    X = np.r_[np.random.default_rng(0).normal(size=(30, 2)), 50 + np.random.default_rng(1).normal(size=(30, 2))]
    with pytest.warns(UserWarning, match="2"):
        assert quality.rnx_auc(X, X, reference="geodesic", graph_neighbors=5) > 0.5


def test_truncated_area_is_the_left_part_of_the_curve():
    X, Z = data(80)
    X[10:20] = X[0]
    rnx = quality.rnx_curve(X, Z)
    for k in (1, 10, 78):
        K = np.arange(1, k + 1)
        found = quality.truncated_auc(X, Z, k)
        assert found == pytest.approx(np.sum(rnx[:k] / K) / np.sum(1 / K), abs=1e-13)
        assert found.facts["name"] == f"AUC[1..{k}]"
    assert quality.truncated_auc(X, Z, 78) == pytest.approx(quality.rnx_auc(X, Z), abs=1e-13)
    assert quality.truncated_auc(X, Z[:, 0], 5) == pytest.approx(quality.truncated_auc(X, Z[:, :1], 5))


def test_wrong_calls_are_explained():
    X, Z = data()
    ranks = Ranks.of(X, Z)
    for k in (0, 59, 5.0, True, "a", None):
        rule = "must be a whole number from 1 to 58; got"
        for measure in (quality.trustworthiness, quality.continuity, quality.mrre):
            for given in ((ranks,), (X, Z)):
                with pytest.raises(ValueError, match=f"^{measure.__name__}: n_neighbors {rule} {k!r}"):
                    measure(*given, n_neighbors=k)
        with pytest.raises(ValueError, match=f"^truncated_auc: k_up {rule} {k!r}"):
            quality.truncated_auc(X, Z, k)
    for options in ({"metric": "cosine"}, {"graph_neighbors": 5}, {"Z": Z}):
        with pytest.raises(TypeError, match="trustworthiness: pass a Ranks record alone"):
            quality.trustworthiness(ranks, **options)
    with pytest.raises(TypeError, match="pass the data and the embedding"):
        quality.rnx_auc(X)
    with pytest.raises(TypeError, match="it replaces X, Z and all options"):
        quality.rnx_auc(ranks, Z)
    with pytest.raises(TypeError, match="it replaces X, Z and all options"):
        quality.rnx_curve(ranks, metric="cosine")


def test_everything_public_is_documented():
    for name in quality.__all__:
        assert inspect.getdoc(getattr(quality, name)), name
    assert lowdim.quality is quality


@pytest.mark.parametrize("name", ["trustworthiness", "continuity", "rnx_auc", "mrre", "trustworthiness_continuity"])
def test_an_unknown_option_is_refused_by_the_function_that_was_called(name):
    X = np.random.default_rng(0).normal(size=(30, 3))
    with pytest.raises(TypeError, match=f"^{name}: unknown option 'neighbours'; the options are metric, reference"):
        getattr(quality, name)(X, X[:, :2], neighbours=5)

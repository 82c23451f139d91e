"""Published tests of rows beside `trust.rows`: where they agree, and where they do not."""

import numpy as np
import pytest
from benchmarks.published_row_tests import divergence, embedr, reliability, scdeed
from sklearn.metrics import roc_auc_score

import lowdim


def groups(seed=0, size=40, d=8):
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.standard_normal((size, d)) + 6 * step for step in (-1, 0, 1)])


def test_statistics_of_a_perfect_map():
    X = np.random.default_rng(0).standard_normal((60, 2))
    assert reliability(X, X) == pytest.approx(np.ones(60))
    shuffled = X[np.random.default_rng(1).permutation(60)]
    assert reliability(X, shuffled).mean() < 0.5
    assert divergence(X, X).mean() < divergence(X, shuffled).mean()


def test_all_three_find_rows_moved_into_another_group():
    X, model = groups(), lowdim.PCA(n_components=2)
    Z = model.fit_transform(X)
    Z[:4] = Z[100:104] + 1e-3
    moved = np.arange(len(X)) < 4
    rng = np.random.default_rng(0)
    found = {
        "trust.rows": lowdim.trust.rows(X, Z, estimator=model, n_null=2, random_state=0).p_values,
        "scDEED": scdeed(X, Z, model, rng),
        "EMBEDR": embedr(X, Z, model, rng, count=2),
    }
    for name, p in found.items():
        assert roc_auc_score(moved, p) >= 0.95, name


@pytest.mark.deep
@pytest.mark.parametrize("model", [lowdim.PCA(n_components=2), lowdim.TSNE(n_components=2, perplexity=20)])
def test_on_noise_each_calls_about_five_in_a_hundred_trustworthy(model):
    shares = {"scDEED": [], "EMBEDR": []}
    for seed in range(12):
        X = np.random.default_rng(seed).standard_normal((150, 6))
        Z, rng = model.fit_transform(X), np.random.default_rng(seed)
        shares["scDEED"].append(np.mean(scdeed(X, Z, model, rng) <= 0.05))
        shares["EMBEDR"].append(np.mean(embedr(X, Z, model, rng) <= 0.05))
    for name, found in shares.items():
        assert 0.02 <= np.mean(found) <= 0.09, name

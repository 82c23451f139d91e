"""The numbers in the sentences, computed again the long way: full matrices, plain loops, scipy."""

import numpy as np
import pytest
from scipy.sparse.csgraph import shortest_path
from scipy.stats import spearmanr

import lowdim

N = 150


@pytest.fixture(scope="module")
def made():
    rng = np.random.default_rng(2)
    angle = np.sort(rng.uniform(0, 1.6 * np.pi, N))
    X = np.column_stack([np.cos(angle), np.sin(angle), rng.uniform(0, 0.5, N)]) + 0.01 * rng.normal(size=(N, 3))
    y = np.where(angle < 2, "early", np.where(angle < 4, "middle", "late"))
    return X, y, lowdim.compare(X, y, methods=["pca", "isomap"])


def distances(X):
    return np.linalg.norm(X[:, None] - X, axis=2)


def ranks(D):
    D = D.copy()
    np.fill_diagonal(D, -1)
    return np.argsort(np.argsort(D, axis=1, kind="stable"), axis=1, kind="stable")


def area(X, Z):
    """Area under R_NX with weights 1 / K."""
    high, low = ranks(distances(X)), ranks(distances(Z))
    values = []
    for K in range(1, N - 1):
        kept = ((high >= 1) & (high <= K) & (low >= 1) & (low <= K)).sum() / (K * N)
        values.append(((N - 1) * kept - K) / (N - 1 - K))
    weights = 1 / np.arange(1, N - 1)
    return float(np.average(values, weights=weights))


def row_correlation(D, E):
    return float(np.mean([spearmanr(np.delete(D[i], i), np.delete(E[i], i)).statistic for i in range(N)]))


def along(X, k=10):
    D = distances(X)
    near = np.argsort(D, axis=1)[:, 1 : k + 1]
    graph = np.full((N, N), np.inf)
    for i in range(N):
        graph[i, near[i]] = graph[near[i], i] = D[i, near[i]]
    return shortest_path(graph, directed=False)


def test_neighbours(made):
    X, _, found = made
    numbers = found.verdict.about("neighbours")[0].numbers
    for name in ("pca", "isomap"):
        assert numbers["values"][name] == pytest.approx(area(X, found.embeddings[name]), abs=1e-9)


def test_distances_straight_and_along(made):
    X, _, found = made
    straight = found.verdict.about("distances")[0].numbers["values"]
    curve = found.verdict.about("along the data")[0].numbers
    for name in ("pca", "isomap"):
        E = distances(found.embeddings[name])
        assert straight[name] == pytest.approx(row_correlation(distances(X), E), abs=1e-9)
        assert curve["values"][name] == pytest.approx(row_correlation(along(X), E), abs=1e-9)
    assert curve["curved"] == pytest.approx(row_correlation(distances(X), along(X)), abs=1e-9)
    assert curve["best"] == "isomap"


def test_classes(made):
    X, y, found = made
    numbers = found.verdict.about("labels")[0].numbers

    def share(Z):
        D = distances(Z)
        np.fill_diagonal(D, np.inf)
        return float(np.mean(y[D.argmin(axis=1)] == y))

    assert numbers["in_data"] == pytest.approx(share(X))
    assert numbers["values"]["isomap"] == pytest.approx(share(found.embeddings["isomap"]))
    pairs = [y[i] == y[j] for i in range(N) for j in range(N) if i != j]
    assert numbers["chance"] == pytest.approx(np.mean(pairs))
    assert numbers["beyond"][0] == pytest.approx(numbers["values"][numbers["best"]] - np.mean(pairs))


def test_densities(made):
    X, _, found = made
    high, low = (np.sort(distances(A), axis=1)[:, 15] for A in (X, found.embeddings[found.verdict.recommended]))
    assert found.evidence.spread == pytest.approx(spearmanr(high, low).statistic, abs=1e-6)


def test_rows_share_the_ranks_of_the_scores(made):
    """One rank computation serves scores and row verdicts."""
    X, _, found = made
    curves = found.scored["pca"].curves
    high, low = ranks(distances(X)), ranks(distances(found.embeddings["pca"]))
    for at, K in enumerate(curves.scales):
        kept = ((high >= 1) & (high <= K) & (low >= 1) & (low <= K)).sum(axis=1) / K
        np.testing.assert_allclose(curves.values[:, at], ((N - 1) * kept - K) / (N - 1 - K))


def test_classes_that_have_nothing_to_do_with_the_data_are_not_seen():
    rng = np.random.default_rng(0)
    shown = 0
    for seed in range(12):
        X = rng.normal(size=(90, 4)) * [3, 2, 1, 1]
        y = rng.choice(["a", "b"], 90, p=[0.8, 0.2])
        found = lowdim.compare(X, y, methods=["pca"], random_state=seed)
        shown += found.evidence.classes.beyond[1] > 0
    assert shown <= 2  # one in forty is expected

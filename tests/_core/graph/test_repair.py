"""Short circuits: planted ones are found, a clean sheet raises no alarm, and nothing falls apart."""

from functools import cache

import numpy as np
import pytest
from scipy import sparse

from lowdim import datasets
from lowdim._core.graph import components, geodesics, neighbor_graph
from lowdim._core.graph.repair import (
    REPAIR_METHODS,
    flow_scores,
    linearity_scores,
    repaired,
    stability_scores,
    total_flow,
)
from lowdim._core.neighbors import nearest


@cache
def bridged_roll(n=1500, bridges=5, seed=0, noise=0.05):
    """A Swiss roll and rows half-way between its turns, and the coordinates on the sheet of the first n rows."""
    roll = datasets.swiss_roll(n, noise, random_state=seed)
    rng = np.random.default_rng(seed + 100)
    t, h = rng.uniform(1.5 * np.pi, 2.5 * np.pi, bridges), rng.uniform(3, 27, bridges)
    between = np.column_stack([(t + np.pi) * np.cos(t), h, (t + np.pi) * np.sin(t)])
    return np.vstack([roll.X, between]), roll.isometric_coordinates


def mended(X, method, k=9, **settings):
    G = neighbor_graph(nearest(X, k))
    return G, repaired(G, method, rows=lambda: X, n_components=2, n_neighbors=k, **settings)


def agreement(G, flat):
    """Correlation of path lengths with distances on the sheet."""
    some = np.arange(0, len(flat), 10)
    true = np.linalg.norm(flat[some][:, None] - flat, axis=2)
    return np.corrcoef(geodesics(G, some)[:, : len(flat)].ravel(), true.ravel())[0, 1]


def false_alarms(found, X, flat, edges):
    """Share of the edges that were suspected although they are no shorter than the way on the sheet."""
    i, j = found.edges.T
    inside = (i < len(flat)) & (j < len(flat))
    i, j = i[inside], j[inside]
    return (np.linalg.norm(flat[i] - flat[j], axis=1) < 2.5 * np.linalg.norm(X[i] - X[j], axis=1)).sum() / edges


@pytest.mark.parametrize("method", REPAIR_METHODS)
@pytest.mark.parametrize("seed", [0, 1])
def test_five_bridges_are_found_and_taken_out(method, seed):
    X, flat = bridged_roll(seed=seed)
    G, found = mended(X, method)
    assert all((found.edges == p).any() for p in range(len(flat), len(X)))
    assert agreement(G, flat) < 0.7
    assert agreement(found.graph, flat) > 0.99
    assert components(found.graph)[0] == 1
    assert false_alarms(found, X, flat, G.nnz / 2) < 0.005


@pytest.mark.parametrize("method", REPAIR_METHODS)
@pytest.mark.parametrize("seed", [2, 3])
def test_a_clean_roll_raises_no_alarm(method, seed):
    X, flat = bridged_roll(2000, 0, seed)
    G, found = mended(X, method, 10)
    assert len(found.edges) < 0.005 * G.nnz / 2
    assert agreement(found.graph, flat) > 0.99


@pytest.mark.parametrize(("n", "noise"), [(4000, 0.5), (12_000, 0.1)])
def test_noise_as_long_as_the_edges_is_no_short_circuit(n, noise):
    """Where rows lie that densely, every edge leaves the tangent plane by about its length."""
    X, flat = bridged_roll(n, 5, 0, noise)
    G, found = mended(X, "linearity", 10)
    assert false_alarms(found, X, flat, G.nnz / 2) < 0.005
    if noise < 0.2:
        assert all((found.edges == p).any() for p in range(len(flat), len(X)))


@pytest.mark.parametrize("method", ["linearity", "stability"])
def test_too_many_neighbours(method):
    X, flat = bridged_roll(1000, 0, 0)
    G, found = mended(X, method, 14)
    assert agreement(G, flat) < 0.8
    assert agreement(found.graph, flat) > 0.99


@pytest.mark.parametrize("method", REPAIR_METHODS)
def test_planted_edges(method):
    X, flat = bridged_roll(1500, 0, 4)
    G = neighbor_graph(nearest(X, 9))
    t = datasets.swiss_roll(1500, 0.05, random_state=4).coordinates
    inner = np.flatnonzero((t[:, 0] < 2.2 * np.pi) & (np.abs(t[:, 1] - 15) < 12))[::40][:5]
    target = t[inner] + [2 * np.pi, 0]
    outer = np.linalg.norm((t - target[:, None]) * [5, 1], axis=2).argmin(axis=1)
    planted = np.sort(np.column_stack([inner, outer]), axis=1)
    lengths = np.linalg.norm(X[inner] - X[outer], axis=1)
    both = sparse.coo_array(
        (np.r_[G.data, lengths], (np.r_[G.tocoo().row, inner], np.r_[G.indices, outer])), shape=G.shape
    )
    found = repaired(neighbor_graph(both.tocsr()), method, rows=lambda: X, n_components=2, n_neighbors=9)
    listed = {tuple(edge) for edge in found.edges.tolist()}
    assert len(inner) == 5
    assert all(tuple(edge) in listed for edge in planted.tolist())
    assert agreement(found.graph, flat) > 0.99


def test_flat_data_loses_no_edge():
    X = np.random.default_rng(0).random((400, 2)) @ np.array([[1.0, 2, 0], [0, 1, 1]])
    G, found = mended(X, "linearity", 8)
    assert len(found.edges) == 0
    assert found.graph.nnz == G.nnz
    assert not linearity_scores(G, X, 3, 8).any()


def test_scores_are_symmetric_and_listed_in_order():
    X, _ = bridged_roll(600)
    G = neighbor_graph(nearest(X, 9))
    for scores in (flow_scores(G), linearity_scores(G, X, 2, 9), stability_scores(G, 9)):
        S = sparse.csr_array((scores, G.indices, G.indptr), shape=G.shape).toarray()
        assert np.array_equal(S, S.T)
        assert scores.max() > 0
    _, found = mended(X, "stability")
    assert (np.diff(found.scores) <= 0).all()
    assert (found.edges[:, 0] < found.edges[:, 1]).all()


def test_what_holds_the_graph_together_stays():
    """Two sheets with one row between them: its edges leave both tangent planes, and one of each side is needed."""
    rng = np.random.default_rng(0)
    low = np.column_stack([rng.random((60, 2)), np.zeros(60)])
    X = np.vstack([low, low + np.array([0, 0, 0.8]), [[0.5, 0.5, 0.4]]])
    G, found = mended(X, "linearity", 8)
    assert components(G)[0] == components(found.graph)[0]
    assert found.removed.any()
    assert not found.removed.all()


def test_total_flow_of_a_path_and_of_samples():
    n = 30
    G = neighbor_graph(sparse.csr_array((np.ones(n - 1), (np.arange(n - 1), np.arange(1, n))), shape=(n, n)))
    node, edge = total_flow(G)
    i = np.arange(n)
    np.testing.assert_allclose(node, 2.0 * i * (n - 1 - i))
    where = np.repeat(i, np.diff(G.indptr)), G.indices
    left = np.minimum(*where) + 1
    np.testing.assert_allclose(edge, 2.0 * left * (n - left))
    X, _ = bridged_roll(1500)
    G = neighbor_graph(nearest(X, 9))
    sampled = total_flow(G)[0]
    assert sampled.sum() > 0
    assert np.array_equal(sampled, total_flow(G, n_jobs=3)[0])


@pytest.mark.parametrize("method", REPAIR_METHODS)
def test_small_and_degenerate_graphs(method):
    for X in (np.zeros((12, 3)), np.repeat(np.random.default_rng(0).random((4, 3)), 5, axis=0), np.eye(3)):
        G, found = mended(X, method, min(4, len(X) - 1))
        assert components(found.graph)[0] == components(G)[0]
    empty = sparse.csr_array((5, 5))
    assert repaired(empty, method, rows=lambda: np.eye(5), n_components=2, n_neighbors=2).graph.nnz == 0


@pytest.mark.parametrize("method", REPAIR_METHODS)
def test_threads_change_nothing(method):
    X, _ = bridged_roll(600)
    one, many = (mended(X, method, n_jobs=jobs)[1] for jobs in (1, 4))
    assert np.array_equal(one.edges, many.edges)
    assert np.array_equal(one.scores, many.scores)

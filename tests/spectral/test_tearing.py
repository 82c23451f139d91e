"""Loops are cut open where they go around something, and nowhere else."""

import numpy as np
import pytest
from scipy import sparse

from lowdim import datasets
from lowdim._core.graph import components, geodesics, neighbor_graph
from lowdim._core.neighbors import nearest
from lowdim.spectral._tearing import torn


def tearing(X, k, **settings):
    G = neighbor_graph(nearest(X, k))
    return G, *torn(G, **settings)


def ring(n):
    a = 2 * np.pi * np.arange(n) / n
    return np.column_stack([np.cos(a), np.sin(a)])


def tube(n, seed=0):
    rng = np.random.default_rng(seed)
    a, h = rng.uniform(0, 2 * np.pi, n), rng.uniform(0, 4, n)
    return np.column_stack([np.cos(a), np.sin(a), h]), a, h


def test_a_ring_becomes_a_path():
    n = 60
    G, graph, cut = tearing(ring(n), 2)
    assert G.nnz == 2 * n
    assert len(cut) == 1
    assert components(graph)[0] == 1
    step = 2 * np.sin(np.pi / n)
    assert geodesics(graph).max() == pytest.approx((n - 1) * step)
    # the same ring as a graph without rows
    sparse_graph = sparse.csr_array((np.ones(n), (np.arange(n), (np.arange(n) + 1) % n)), shape=(n, n))
    assert len(torn(neighbor_graph(sparse_graph))[1]) == 1


def test_a_ring_of_few_rows_counts_as_filled():
    assert len(tearing(ring(9), 2)[2]) == 0
    assert len(tearing(ring(9), 2, short=5)[2]) == 1


def test_a_tube_becomes_a_sheet():
    X, a, h = tube(1500)
    G, graph, cut = tearing(X, 10)
    assert 0 < len(cut) < 0.04 * G.nnz / 2
    # all cuts on one side, from end to end
    middle = np.angle(np.exp(1j * a[cut.ravel()]).mean())
    assert np.abs(np.angle(np.exp(1j * (a[cut.ravel()] - middle)))).max() < 0.6
    assert np.ptp(h[cut]) > 3.8
    # along the sheet, distances are those of the unrolled tube
    some = np.arange(0, 1500, 50)
    unrolled = np.column_stack([np.angle(np.exp(1j * (a - middle - np.pi))), h])
    true = np.linalg.norm(unrolled[some][:, None] - unrolled, axis=2)
    assert np.corrcoef(geodesics(graph, some).ravel(), true.ravel())[0, 1] > 0.995


def test_a_torus_is_cut_twice():
    rng = np.random.default_rng(0)
    a, b = rng.uniform(0, 2 * np.pi, (2, 2000))
    X = np.column_stack([(3 + np.cos(b)) * np.cos(a), (3 + np.cos(b)) * np.sin(a), np.sin(b)])
    _, graph, cut = tearing(X, 10)
    across_a = np.cos(a[cut].mean(axis=1)).std() < 0.2
    assert len(cut) > 100
    assert not across_a  # not one cut alone: cut edges lie all around the long way too
    assert len(torn(graph)[1]) == 0


@pytest.mark.parametrize("seed", [0, 1])
def test_a_sheet_and_a_sphere_keep_all_edges(seed):
    roll = datasets.swiss_roll(1500, random_state=seed).X
    G, graph, cut = tearing(roll, 9)
    assert len(cut) == 0
    assert graph.nnz == G.nnz
    ball = np.random.default_rng(seed).standard_normal((1000, 3))
    assert len(tearing(ball / np.linalg.norm(ball, axis=1)[:, None], 10)[2]) == 0


def test_parts_and_duplicates():
    X = np.vstack([ring(40), ring(40) + 10, np.repeat(ring(40) - 10, 2, axis=0)])
    G, graph, cut = tearing(X, 4)
    assert components(graph)[0] == components(G)[0] == 3
    assert {int(row) // 40 for row in cut[:, 0]} >= {0, 1}
    assert len(torn(sparse.csr_array((4, 4)))[1]) == 0


def test_threads_change_nothing():
    X = tube(400)[0]
    assert np.array_equal(tearing(X, 8, n_jobs=1)[2], tearing(X, 8, n_jobs=4)[2])

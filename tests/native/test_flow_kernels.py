"""The compiled path counts, marked paths, bounded searches and loops against small loops in Python."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.csgraph import dijkstra

from lowdim import _native
from tests.native.test_paths_kernels import as_edges, floyd_warshall, random_lengths

pytestmark = pytest.mark.kernel


def graph(seed, n=24, density=0.25, whole=False):
    """Lengths of a random graph without loops or zeros; whole numbers give ties."""
    rng = np.random.default_rng(seed)
    W = random_lengths(seed, n, density, zeros=0.0, loops=False) + 0.1
    if whole:
        W = np.where(np.isfinite(W), np.minimum(*(lambda A: (A, A.T))(rng.integers(1, 4, (n, n)))), np.inf)
    return W


def counted(W):
    """The numpy twin: paths through nodes and edges, from the number of shortest paths between every two nodes."""
    n, D = len(W), floyd_warshall(W)
    count = np.eye(n)
    for s in range(n):
        for v in np.argsort(D[s], kind="stable"):
            before = [u for u in range(n) if u != v and np.isfinite(D[s, v]) and np.isclose(D[s, u] + W[u, v], D[s, v])]
            count[s, v] = 1.0 if v == s else sum(count[s, u] for u in before)
    nodes, edges = np.zeros(n), np.zeros((n, n))
    for s in range(n):
        for t in range(n):
            if s == t or not np.isfinite(D[s, t]):
                continue
            for v in range(n):
                if v not in (s, t) and np.isclose(D[s, v] + D[v, t], D[s, t]):
                    nodes[v] += count[s, v] * count[v, t] / count[s, t]
                for u in range(n):
                    if np.isfinite(W[v, u]) and np.isclose(D[s, u] + W[u, v] + D[v, t], D[s, t]):
                        edges[v, u] += count[s, u] * count[v, t] / count[s, t]
    return nodes, edges


def flow(W, threads=1, sources=None):
    edges = as_edges(W)
    sources = np.arange(len(W), dtype=np.int32) if sources is None else np.asarray(sources, dtype=np.int32)
    node, edge = np.empty(len(W)), np.empty(len(edges[1]))
    _native.path_flow(*edges, sources, node, edge, threads)
    return node, sparse.csr_array((edge, edges[1], edges[0]), shape=W.shape).toarray()


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("whole", [False, True])
def test_flow_counts_every_shortest_path(seed, whole):
    W = graph(seed, 14, whole=whole)
    node, edge = flow(W)
    nodes, edges = counted(W)
    np.testing.assert_allclose(node, nodes, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(edge, edges, rtol=1e-9, atol=1e-9)


def test_flow_does_not_depend_on_threads():
    W = graph(5, 120, 0.05, whole=True)
    for a, b in zip(flow(W), flow(W, threads=7), strict=True):
        assert np.array_equal(a, b)
    some = flow(W, sources=[3, 40, 77])[0]
    np.testing.assert_allclose(some, sum(flow(W, sources=[s])[0] for s in (3, 40, 77)), rtol=1e-12)


def test_more_paths_than_numbers_are_shared_evenly():
    links = 1100  # a chain of squares: 2 ** links shortest paths
    W = np.full((3 * links + 1,) * 2, np.inf)
    for a in range(0, 3 * links, 3):
        for i, j in ((a, a + 1), (a, a + 2), (a + 1, a + 3), (a + 2, a + 3)):
            W[i, j] = W[j, i] = 1.0
    node, _ = flow(W, sources=[0])
    np.testing.assert_allclose(node[1::3], node[2::3])
    np.testing.assert_allclose(node[3:-1:3], 3.0 * np.arange(links - 1, 0, -1))


def test_paths_between_marked_nodes():
    W = graph(7, 30, 0.12)
    D, edges = floyd_warshall(W), as_edges(W)
    marked = (np.random.default_rng(0).random(30) < 0.3).astype(np.uint8)
    out = np.empty((30, 30), np.uint8)
    _native.path_touches(*edges, np.arange(30, dtype=np.int32), marked, out, 2)
    through = np.isclose(D[:, :, None] + D[None], D[:, None, :])  # s, v, t
    for s in range(30):
        for t in range(30):
            inner = [v for v in np.flatnonzero(through[s, :, t]) if v not in (s, t)]
            expected = np.isinf(D[s, t]) or any(marked[v] for v in inner)
            assert out[s, t] == expected


def test_distances_within_a_reach():
    W = graph(3, 60, 0.08)
    D, edges = floyd_warshall(W), as_edges(W)
    rng = np.random.default_rng(0)
    ask = np.sort(rng.permuted(np.tile(np.arange(60, dtype=np.int32), (60, 1)), axis=1)[:, :9], axis=1)
    reach, out = rng.uniform(0.2, 1.5, 60), np.empty(540)
    for threads in (1, 3):
        first = 9 * np.arange(61)
        _native.distances_within(*edges, first, np.ascontiguousarray(ask.ravel()), reach, out, threads)
        expected = np.take_along_axis(D, ask.astype(int), axis=1)
        expected[expected > reach[:, None]] = np.inf
        np.testing.assert_allclose(out.reshape(60, 9), expected, rtol=1e-12)


def test_neighbours_of_a_short_cut_fall_into_groups():
    n = 40
    W = np.full((n + 1, n + 1), np.inf)
    for i in range(n - 1):
        W[i, i + 1] = W[i + 1, i] = 1.0
    for i in range(n - 2):
        W[i, i + 2] = W[i + 2, i] = 2.0
    for end in (0, 1, 2, n - 2, n - 1):
        W[n, end] = W[end, n] = 1.0 + 0.01 * end
    start, to, length = as_edges(W)
    group = np.full(len(to), -7, np.int32)
    _native.neighbor_groups(start, to, length, start, to, length, np.array([n, 20], np.int32), 3.0, 0.5, group, 2)
    assert group[start[n] : start[n + 1]].tolist() == [0, 0, 0, 1, 1]
    assert group[start[20] : start[21]].tolist() == [0, 0, 0, 0]
    assert group[0] == -7
    # what the twin says: the way around over the way through
    around = W.copy()
    around[n] = around[:, n] = np.inf
    D = dijkstra(np.where(np.isfinite(around), around, 0))
    assert D[0, 2] <= 3 * 2.02 < D[0, n - 1]


def torus_edges(rows, columns):
    """A grid with diagonals that closes in both directions."""
    place = np.arange(rows * columns).reshape(rows, columns)
    steps = [(0, 1), (1, 0), (1, 1)]
    pairs = np.concatenate([np.stack([place, np.roll(place, s, (0, 1))], -1).reshape(-1, 2) for s in steps])
    return pairs


@pytest.mark.parametrize(("rows", "columns", "rank"), [(20, 20, 2), (4, 20, 1), (4, 5, 0)])
def test_essential_loops_are_those_of_a_torus(rows, columns, rank):
    pairs = torus_edges(rows, columns).astype(np.int32)  # what the oldest scipy walks on
    n = rows * columns
    G = sparse.csr_array((np.ones(2 * len(pairs)), (pairs.ravel("F"), pairs[:, ::-1].ravel("F"))), shape=(n, n))
    _, parent = dijkstra(G, indices=0, unweighted=True, return_predecessors=True)
    row = np.repeat(np.arange(n), np.diff(G.indptr))
    tree = (parent[row] == G.indices) | (parent[G.indices] == row)
    once = np.flatnonzero(~tree & (row < G.indices))
    generator = np.full(G.nnz, -1, np.int32)
    generator[once] = np.arange(len(once))
    turned = sparse.csr_array((np.arange(G.nnz), G.indices, G.indptr), shape=G.shape).T.tocsr().data
    generator = np.maximum(generator, generator[turned])
    essential = np.empty(len(once), np.uint8)
    edges = G.indptr.astype(np.int64), G.indices.astype(np.int32)
    _native.essential_loops(*edges, generator, np.arange(n, dtype=np.int32), 2, essential)
    # loops of four steps lie inside a ball of two: a thin torus is a ring, a small one is filled
    assert bool(essential.any()) == (rank > 0)
    if rank:
        # lifted to the plane, the loop of an edge ends where it began unless it goes around
        def lift(v):
            steps = np.zeros(2, dtype=int)
            while v != 0:
                move = np.array(divmod(v, columns)) - np.array(divmod(parent[v], columns))
                size = np.array([rows, columns])
                steps += (move + size // 2) % size - size // 2
                v = parent[v]
            return steps

        for e, found in zip(once, essential, strict=True):
            i, j = row[e], G.indices[e]
            size = np.array([rows, columns])
            move = (np.array(divmod(j, columns)) - np.array(divmod(i, columns)) + size // 2) % size - size // 2
            winding = (lift(i) + move - lift(j)) // size
            assert found == (winding[1] != 0 or (rank == 2 and winding[0] != 0))

"""Graphs: symmetric union, components, the policies for disconnected data, geodesics, Laplacians."""

from __future__ import annotations

import signal
import threading
import warnings
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse.csgraph import dijkstra, minimum_spanning_tree
from scipy.sparse.csgraph import laplacian as scipy_laplacian
from scipy.spatial.distance import cdist, pdist, squareform

from lowdim import _native
from lowdim._core.graph import components, connect, geodesics, laplacian, neighbor_graph, stored_edges
from lowdim._core.graph import shortest_paths as graph_module
from lowdim._core.graph.edges import nearest_first, with_edges
from lowdim._core.neighbors import nearest
from tests._core.runtime.clocks import stopwatch


@dataclass
class Record:
    indices: np.ndarray
    distances: np.ndarray


def edges_to_graph(n, edges):
    """A graph from (i, j, length)."""
    i, j, length = (np.array(part) for part in zip(*edges, strict=True)) if edges else (np.zeros(0, int),) * 3
    return neighbor_graph(sparse.coo_array((length.astype(float), (i, j)), shape=(n, n)))


def path(n, length=1.0):
    return edges_to_graph(n, [(i, i + 1, length) for i in range(n - 1)])


def cycle(n):
    return edges_to_graph(n, [(i, (i + 1) % n, 1.0) for i in range(n)])


def grid(rows, columns):
    at = np.arange(rows * columns).reshape(rows, columns)
    sides = np.r_[np.c_[at[:, :-1].ravel(), at[:, 1:].ravel()], np.c_[at[:-1].ravel(), at[1:].ravel()]]
    return edges_to_graph(rows * columns, [(i, j, 1.0) for i, j in sides])


def random_graph(seed, n, density, zeros=0.2):
    rng = np.random.default_rng(seed)
    i, j = np.nonzero(rng.random((n, n)) < density)
    length = rng.random(len(i)) * (rng.random(len(i)) >= zeros)
    return neighbor_graph(sparse.coo_array((length, (i, j)), shape=(n, n)))


random_graphs = st.builds(
    random_graph,
    seed=st.integers(0, 10**6),
    n=st.integers(1, 70),
    density=st.sampled_from([0.0, 0.01, 0.03, 0.1, 0.6]),
    zeros=st.sampled_from([0.0, 0.3, 1.0]),
)


# --- neighbor_graph


def brute_union(n, entries):
    best = {}
    for i, j, length in entries:
        if i != j:
            for pair in ((i, j), (j, i)):
                best[pair] = min(length, best.get(pair, np.inf))
    return best


@given(st.integers(0, 10**6), st.integers(2, 30), st.booleans())
@settings(max_examples=30, deadline=None)
def test_union_is_the_pairwise_minimum(seed, n, as_record):
    rng = np.random.default_rng(seed)
    k = int(rng.integers(1, n))
    indices = np.array([rng.permutation(np.delete(np.arange(n), i))[:k] for i in range(n)], dtype=np.int32)
    distances = np.round(rng.random((n, k)), 1)
    entries = [(i, j, d) for i in range(n) for j, d in zip(indices[i], distances[i], strict=True)]
    source = Record(indices, distances)
    if not as_record:
        source = sparse.csr_array((distances.ravel(), indices.ravel(), np.arange(0, n * k + 1, k)), shape=(n, n))
    G = neighbor_graph(source)
    stored = G.tocoo()
    found = dict(zip(zip(stored.row, stored.col, strict=True), stored.data, strict=True))
    assert found == brute_union(n, entries)
    assert G.indices.dtype == np.int32
    assert G.has_canonical_format
    assert np.all(np.diff(G.indices)[np.diff(np.repeat(np.arange(n), np.diff(G.indptr))) == 0] > 0)


def test_union_keeps_zero_lengths_drops_loops_and_leaves_the_input_alone():
    A = sparse.csr_array((np.array([5.0, 0.0, 3.0, 2.0]), ([0, 0, 1, 2], [0, 1, 2, 1])), shape=(4, 4))
    before = A.copy()
    G = neighbor_graph(A)
    assert G.nnz == 4
    assert sorted(zip(*G.nonzero(), strict=True)) == [(1, 2), (2, 1)]  # the pair 0-1 is stored with length 0
    assert G[1, 2] == G[2, 1] == 2.0
    np.testing.assert_array_equal(A.toarray(), before.toarray())


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_union_keeps_the_precision(kind):
    record = Record(np.array([[1], [0]], dtype=np.int32), np.ones((2, 1), dtype=kind))
    assert neighbor_graph(record).dtype == kind
    assert neighbor_graph(record, 5).shape == (5, 5)
    assert neighbor_graph(sparse.csr_array([[0, 3], [0, 0]])).dtype == np.float64


def test_union_of_nothing():
    assert neighbor_graph(sparse.csr_array((3, 3))).nnz == 0


@pytest.mark.parametrize("value", [np.nan, np.inf, -1.0])
def test_bad_lengths_are_refused(value):
    A = sparse.csr_array((np.array([value, value]), ([0, 1], [1, 0])), shape=(2, 2))
    with pytest.raises(ValueError, match=r"neighbor_graph: lengths of edges must be"):
        neighbor_graph(A)
    with pytest.raises(ValueError, match=r"geodesics: lengths of edges must be"):
        geodesics(A)


def test_union_refuses_a_table_that_is_not_square():
    with pytest.raises(ValueError, match=r"must be square; got shape \(2, 3\)"):
        neighbor_graph(sparse.csr_array((2, 3)))


# --- components


def test_components_are_numbered_by_size_then_by_first_row():
    G = edges_to_graph(8, [(1, 5, 1.0), (5, 7, 0.0), (2, 3, 0.0), (4, 6, 1.0)])
    count, labels = components(G)
    assert count == 4
    np.testing.assert_array_equal(labels, [3, 0, 1, 1, 2, 0, 2, 0])
    assert labels.dtype == np.int32


@given(random_graphs)
@settings(max_examples=30, deadline=None)
def test_components_are_what_geodesics_reach(G):
    count, labels = components(G)
    np.testing.assert_array_equal(np.isfinite(geodesics(G, n_jobs=1)), labels[:, None] == labels)
    sizes = np.bincount(labels)
    assert len(sizes) == count
    assert np.all(np.diff(sizes) <= 0)


# --- connect


def two_blobs(gap=100.0, n=30, seed=0):
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.normal(size=(n, 3)), rng.normal(size=(n - 5, 3)) + np.array([gap, 0, 0])])


def quiet_connect(*args, **settings_):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return connect(*args, **settings_)


def added_weight(before, after):
    return (after.sum() - before.sum()) / 2


def spanning_weight(D, labels):
    """Weight of the minimum spanning tree of the components, by scipy, from the whole table of distances."""
    count = labels.max() + 1
    between = np.zeros((count, count))
    for a in range(count):
        for b in range(a):
            between[a, b] = D[np.ix_(labels == a, labels == b)].min()
    return minimum_spanning_tree(between).sum()


@pytest.mark.parametrize("policy", ["bridge", "separate", "largest", "error"])
def test_a_connected_graph_passes_unchanged_and_in_silence(policy):
    X = np.random.default_rng(0).normal(size=(30, 2))
    G = neighbor_graph(nearest(X, 29))
    joined = connect(G, X, policy=policy, owner="Test")
    assert joined.graph is G
    assert joined.n_components == 1
    assert joined.kept.all()


def test_bridge_joins_two_blobs_by_their_closest_pair():
    X = two_blobs()
    G = neighbor_graph(nearest(X, 5))
    with pytest.warns(UserWarning, match=r"Isomap: the neighbour graph has 2 components \(30, 25 rows\)"):
        joined = connect(G, X, policy="bridge", owner="Isomap")
    assert joined.n_components == 2
    assert joined.kept.all()
    D = cdist(X[:30], X[30:])
    i, j = np.unravel_index(D.argmin(), D.shape)
    extra = joined.graph - G
    assert extra.nnz == 2
    np.testing.assert_allclose(extra[i, 30 + j], D.min(), rtol=1e-12)
    paths = geodesics(joined.graph)
    assert np.isfinite(paths).all()
    assert paths[:30, 30:].min() >= D.min() * (1 - 1e-12)
    assert np.all(paths >= squareform(pdist(X)) * (1 - 1e-12)), "a path is never shorter than the straight line"


def test_separate_and_largest_keep_the_graph():
    X = two_blobs()
    G = neighbor_graph(nearest(X, 5))
    with pytest.warns(UserWarning, match=r"2 components.*each is embedded on its own"):
        apart = connect(G, X, policy="separate", owner="Test")
    assert apart.kept.all()
    with pytest.warns(UserWarning, match="25 rows outside the largest are left out"):
        largest = connect(G, X, policy="largest", owner="Test")
    np.testing.assert_array_equal(largest.kept, np.arange(55) < 30)
    for joined in (apart, largest):
        assert joined.graph is G
        np.testing.assert_array_equal(joined.labels, np.arange(55) >= 30)
    D = geodesics(G)
    assert np.isinf(D[:30, 30:]).all()
    assert np.isinf(D[30:, :30]).all()


def test_error_names_the_counts_and_the_ways_out():
    X = two_blobs()
    G = neighbor_graph(nearest(X, 5))
    with pytest.raises(ValueError, match=r"Test: .*connected; got 2 components \(30, 25 rows\).*bridge") as caught:
        connect(G, X, policy="error", owner="Test")
    assert "n_neighbors" in str(caught.value)
    with pytest.raises(ValueError, match=r"disconnected must be one of .*; got 'join'"):
        connect(G, X, policy="join", owner="Test")


def test_three_components_are_joined_by_the_known_edges():
    X = np.array([0.0, 1.0, 2.0, 10.0, 11.0, 12.5, 30.0, 31.0])[:, None]
    G = edges_to_graph(8, [(0, 1, 1.0), (1, 2, 1.0), (3, 4, 1.0), (4, 5, 1.5), (6, 7, 1.0)])
    extra = (quiet_connect(G, X, policy="bridge").graph - G).tocoo()
    found = {(i, j): d for i, j, d in zip(extra.row, extra.col, extra.data, strict=True) if i < j}
    assert found == {(2, 3): 8.0, (5, 6): 17.5}


@pytest.mark.parametrize("sizes", [[1] * 40, [25] + [1] * 10, [30, 20, 18, 17, 5, 3, 3, 1, 1], [17, 17, 17]])
@pytest.mark.parametrize("form", ["rows", "float32", "manhattan", "dense", "condensed", "sparse rows"])
def test_bridges_weigh_as_much_as_a_minimum_spanning_tree(sizes, form):
    rng = np.random.default_rng(len(sizes))
    labels = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    X = rng.normal(size=(len(labels), 3)) + 20 * rng.normal(size=(len(sizes), 3))[labels]
    metric = "cityblock" if form == "manhattan" else "euclidean"
    D = squareform(pdist(X, metric))
    chains = [np.flatnonzero(labels == c) for c in range(len(sizes))]
    G = edges_to_graph(len(X), [(i, j, D[i, j]) for c in chains for i, j in pairwise(c)])
    given_as = {
        "rows": (X, "euclidean"),
        "float32": (X.astype(np.float32), "euclidean"),
        "manhattan": (X, "manhattan"),
        "dense": (D, "precomputed"),
        "condensed": (pdist(X), "precomputed"),
        "sparse rows": (sparse.csr_array(X), "euclidean"),
    }
    data, metric = given_as[form]
    joined = quiet_connect(G, data, policy="bridge", metric=metric)
    assert components(joined.graph)[0] == 1
    assert joined.graph.nnz - G.nnz == 2 * (len(sizes) - 1)
    expected = spanning_weight(D, joined.labels)
    np.testing.assert_allclose(added_weight(G, joined.graph), expected, rtol=1e-5 if form == "float32" else 1e-10)


def test_bridges_between_many_tied_components_make_a_tree():
    X = np.stack(np.meshgrid(np.arange(6.0), np.arange(7.0)), axis=-1).reshape(-1, 2)
    G = sparse.csr_array((42, 42))
    joined = quiet_connect(G, X, policy="bridge")
    assert components(joined.graph)[0] == 1
    assert joined.graph.nnz == 2 * 41
    np.testing.assert_array_equal(joined.graph.data, 1.0)


def test_duplicates_in_different_components_are_joined_by_an_edge_of_length_zero():
    X = np.repeat(np.array([[0.0, 0.0], [3.0, 4.0]]), 6, axis=0)
    G = edges_to_graph(12, [(i, i + 1, 0.0) for i in range(0, 12, 2)])
    joined = quiet_connect(G, X, policy="bridge")
    assert joined.n_components == 6
    assert joined.graph.nnz == 2 * 11
    D = geodesics(joined.graph)
    np.testing.assert_allclose(D, cdist(X, X), atol=1e-12)


def test_sparse_distances_bridge_from_what_is_stored():
    D = squareform(pdist(np.array([[0.0], [1.0], [5.0], [6.0], [20.0], [21.0]])))
    G = edges_to_graph(6, [(0, 1, 1.0), (2, 3, 1.0), (4, 5, 1.0)])
    known = sparse.csr_array(np.where((D <= 4.0) | (D >= 20.0), D, 0.0))  # 1-2 at 4; then only 0-4, 0-5, 1-5
    joined = quiet_connect(G, known, policy="bridge", metric="precomputed")
    extra = sparse.triu(joined.graph - G).tocoo()
    found = set(zip(extra.row.tolist(), extra.col.tolist(), extra.data.tolist(), strict=True))
    assert found == {(1, 2, 4.0), (0, 4, 20.0)}
    with pytest.raises(ValueError, match=r"Test: disconnected='bridge'.*'separate', 'largest' or 'error'"):
        connect(G, G, policy="bridge", metric="precomputed", owner="Test")
    assert quiet_connect(G, G, policy="separate", metric="precomputed").n_components == 3
    assert quiet_connect(G, G, policy="largest", metric="precomputed").kept.sum() == 2


# --- geodesics


@given(random_graphs)
@settings(max_examples=40, deadline=None)
def test_geodesics_equal_scipys(G):
    # scipy drops zero lengths from a dense table only; in a sparse one they are edges.
    np.testing.assert_array_equal(geodesics(G, n_jobs=1), dijkstra(G, directed=False))


@given(random_graphs, st.integers(0, 10**6))
@settings(max_examples=25, deadline=None)
def test_geodesics_are_a_metric_and_new_edges_never_lengthen_them(G, seed):
    D = geodesics(G, n_jobs=1)
    n = len(D)
    assert not np.isnan(D).any()
    assert np.all(np.diag(D) == 0)
    np.testing.assert_allclose(D, D.T, rtol=1e-12)
    for k in range(n):
        assert np.all((D[:, k : k + 1] + D[k]) * (1 + 1e-12) >= D)
    edges = {}
    for graph in (G.tocoo(), random_graph(seed, n, 0.05).tocoo()):
        for i, j, length in zip(graph.row, graph.col, graph.data, strict=True):
            edges[i, j] = min(length, edges.get((i, j), np.inf))
    more = sparse.csr_array((n, n))
    if edges:
        ends = np.array(sorted(edges)).T
        start = np.r_[0, np.cumsum(np.bincount(ends[0], minlength=n))]
        lengths = np.array([edges[i, j] for i, j in ends.T])
        more = neighbor_graph(sparse.csr_array((lengths, ends[1], start), shape=(n, n)))
    assert np.all(geodesics(more, n_jobs=1) <= D)


def test_closed_forms():
    i = np.arange(41)
    np.testing.assert_allclose(geodesics(path(41, 0.1)), 0.1 * abs(i[:, None] - i), rtol=1e-12)
    around = abs(i[:, None] - i)
    np.testing.assert_array_equal(geodesics(cycle(41)), np.minimum(around, 41 - around))
    r, c = np.divmod(np.arange(9 * 11), 11)
    np.testing.assert_array_equal(geodesics(grid(9, 11)), abs(r[:, None] - r) + abs(c[:, None] - c))


def test_complete_graph_gives_the_distances_themselves():
    X = np.random.default_rng(0).normal(size=(60, 4))
    D = geodesics(neighbor_graph(nearest(X, 59)))
    np.testing.assert_allclose(D, squareform(pdist(X)), rtol=1e-10, atol=1e-12)


def test_sources_may_repeat_and_come_in_any_order():
    G = random_graph(5, 90, 0.05)
    every = geodesics(G)
    for chosen in ([7], [89, 0, 3, 3, 89], np.random.default_rng(0).permutation(90), np.array([], dtype=int)):
        np.testing.assert_array_equal(geodesics(G, chosen), every[np.asarray(chosen, dtype=int)])


@pytest.mark.parametrize("n_jobs", [1, 2, 3, 8])
def test_threads_lanes_and_the_heap_give_the_same_bits(n_jobs, monkeypatch):
    rng = np.random.default_rng(0)
    G = neighbor_graph(nearest(rng.random((400, 2)), 6))
    expected = geodesics(G, n_jobs=1)
    np.testing.assert_array_equal(geodesics(G, n_jobs=n_jobs), expected)
    monkeypatch.setattr(graph_module, "_GROUPS_PER_CALL", 1)
    monkeypatch.setattr(graph_module, "_PATIENCE", dict.fromkeys(graph_module._PATIENCE, 0.5))
    np.testing.assert_array_equal(geodesics(G, n_jobs=n_jobs), expected)
    monkeypatch.setattr(graph_module, "_TABLE_BYTES", 1)
    _native.force_baseline(True)
    try:
        np.testing.assert_array_equal(geodesics(G, n_jobs=n_jobs), expected)
    finally:
        _native.force_baseline(False)


def test_lanes_leave_no_thread_idle_and_bound_the_table():
    most = graph_module._LANES[_native.simd_width()]
    assert graph_module._lanes(1000, 1000, 1) == most
    assert graph_module._lanes(10**7, 1000, 1) == 8
    assert graph_module._lanes(1000, 20, 4) == 8
    assert graph_module._lanes(1000, 1, 64) == 8


def test_float32_result_is_the_rounded_one():
    G = neighbor_graph(nearest(np.random.default_rng(0).random((150, 3)), 5))
    exact = geodesics(G)
    assert exact.dtype == np.float64
    single = geodesics(G, dtype=np.float32)
    assert single.dtype == np.float32
    np.testing.assert_array_equal(single, exact.astype(np.float32))


def test_progress_advances_and_the_graph_is_not_changed():
    class Counter:
        steps = 0

        def advance(self):
            self.steps += 1

    G = neighbor_graph(nearest(np.random.default_rng(0).random((300, 2)), 4))
    before = (G.indptr.copy(), G.indices.copy(), G.data.copy())
    counter = Counter()
    geodesics(G, progress=counter)
    assert counter.steps >= 1
    for array, copy in zip((G.indptr, G.indices, G.data), before, strict=True):
        np.testing.assert_array_equal(array, copy)


@pytest.mark.parametrize("kind", [sparse.csc_array, sparse.coo_array, sparse.csr_matrix, sparse.lil_array])
def test_any_sparse_form_will_do(kind):
    G = path(12)
    np.testing.assert_array_equal(geodesics(kind(G)), geodesics(G))


def test_unsorted_sub_graphs_and_many_components():
    G = random_graph(1, 80, 0.015, zeros=0.0)
    chosen = np.random.default_rng(0).permutation(80)[:60]
    part = G[chosen][:, chosen]
    np.testing.assert_array_equal(geodesics(part), dijkstra(part, directed=False))
    np.testing.assert_array_equal(geodesics(sparse.csr_array((50, 50))), np.where(np.eye(50, dtype=bool), 0.0, np.inf))
    np.testing.assert_array_equal(geodesics(sparse.csr_array((1, 1))), [[0.0]])


@pytest.mark.parametrize(
    ("G", "settings_", "message"),
    [
        (np.eye(3), {}, "G must be .*sparse"),
        (sparse.csr_array((2, 3)), {}, "G must be .*square"),
        (sparse.csr_array(np.triu(np.ones((3, 3)), 1)), {}, "symmetric.*neighbor_graph"),
        (path(4), {"sources": [4]}, r"0\.\.3; got 4\.\.4"),
        (path(4), {"sources": [-1]}, r"0\.\.3; got -1\.\.-1"),
        (path(4), {"sources": [0.5]}, "sources must be a list"),
        (path(4), {"sources": [[0]]}, "sources must be a list"),
        (path(4), {"dtype": int}, "float32 or float64; got int64"),
    ],
)
def test_wrong_arguments_are_named(G, settings_, message):
    with pytest.raises(ValueError, match=f"geodesics: .*{message}"):
        geodesics(G, **settings_)


# --- laplacian


@given(random_graphs, st.booleans())
@settings(max_examples=30, deadline=None)
def test_laplacian_equals_scipys_without_loops(W, dense):
    table = W.toarray()
    for name, normed in (("none", False), ("symmetric", True)):
        L, degrees = laplacian(table if dense else W, normalization=name)
        np.testing.assert_allclose(L.toarray(), scipy_laplacian(table, normed=normed), atol=1e-12)
        np.testing.assert_allclose(degrees, table.sum(axis=1), rtol=1e-12)
        assert np.isfinite(L.data).all()


@given(random_graphs, st.integers(0, 10**6))
@settings(max_examples=25, deadline=None)
def test_laplacian_identities(W, seed):
    rng = np.random.default_rng(seed)
    n = W.shape[0]
    W = W + sparse.diags_array(rng.random(n) * (rng.random(n) < 0.5))  # loops count in the degrees
    f = rng.normal(size=n)
    L, degrees = laplacian(W)
    np.testing.assert_allclose(f @ (L @ f), 0.5 * (W.toarray() * (f[:, None] - f) ** 2).sum(), rtol=1e-9, atol=1e-9)
    walk, _ = laplacian(W, normalization="random-walk")
    np.testing.assert_allclose(walk @ np.ones(n), 0.0, atol=1e-12)
    np.testing.assert_allclose(sparse.diags_array(degrees) @ walk.toarray(), L.toarray(), atol=1e-12)
    even, _ = laplacian(W, normalization="symmetric")
    np.testing.assert_allclose(even.toarray(), even.toarray().T, atol=1e-15)
    values = np.linalg.eigvalsh(even.toarray())
    assert values.min() >= -1e-10
    assert values.max() <= 2 + 1e-10
    walk_values = np.sort(np.linalg.eigvals(walk.toarray()).real)
    np.testing.assert_allclose(walk_values, values, atol=1e-6)


@given(random_graphs)
@settings(max_examples=20, deadline=None)
def test_zero_eigenvalues_count_the_components(G):
    W = G.copy()
    W.data = np.ones_like(W.data)
    count, _ = components(W)
    for name in ("none", "symmetric"):
        L, _ = laplacian(W, normalization=name)
        assert (np.linalg.eigvalsh(L.toarray()) < 1e-9).sum() == count


def test_closed_form_spectra():
    n = 17
    j = np.arange(n)
    on_path, on_cycle = 2 - 2 * np.cos(np.pi * j / n), 2 - 2 * np.cos(2 * np.pi * j / n)
    np.testing.assert_allclose(np.linalg.eigvalsh(laplacian(path(n))[0].toarray()), on_path, atol=1e-12)
    np.testing.assert_allclose(np.linalg.eigvalsh(laplacian(cycle(n))[0].toarray()), np.sort(on_cycle), atol=1e-12)
    half, _ = laplacian(cycle(n), normalization="symmetric")
    np.testing.assert_allclose(np.linalg.eigvalsh(half.toarray()), np.sort(on_cycle) / 2, atol=1e-12)
    sides = [2 - 2 * np.cos(np.pi * np.arange(m) / m) for m in (5, 8)]
    expected = np.sort(np.add.outer(*sides).ravel())
    np.testing.assert_allclose(np.linalg.eigvalsh(laplacian(grid(5, 8))[0].toarray()), expected, atol=1e-12)


def test_isolated_rows_have_empty_rows():
    for name in ("none", "symmetric", "random-walk"):
        L, degrees = laplacian(edges_to_graph(4, [(0, 2, 1.0)]), normalization=name)
        assert np.isfinite(L.toarray()).all()
        np.testing.assert_array_equal(L.toarray()[[1, 3]], 0.0)
        np.testing.assert_array_equal(degrees, [1.0, 0.0, 1.0, 0.0])
        assert L.format == "csr"


@pytest.mark.parametrize(
    ("W", "name", "message"),
    [
        (np.ones((2, 3)), "none", r"square; got shape \(2, 3\)"),
        (np.array([[0.0, -1.0], [-1.0, 0.0]]), "none", "finite and >= 0; got .*-1.0"),
        (np.array([[0.0, np.nan], [np.nan, 0.0]]), "none", "finite and >= 0"),
        (np.ones((2, 2)), "unit", "none, symmetric or random-walk; got 'unit'"),
    ],
)
def test_laplacian_names_what_is_wrong(W, name, message):
    with pytest.raises(ValueError, match=f"laplacian: .*{message}"):
        laplacian(W, normalization=name)


# --- stopping


def test_ctrl_c_stops_the_search_within_a_second_or_two():
    class Stop(Exception):
        pass

    def stop(*_):
        raise Stop

    G = grid(300, 300)
    fired = []
    before = signal.signal(signal.SIGINT, stop)
    timer = threading.Timer(0.3, lambda: (fired.append(stopwatch()), signal.raise_signal(signal.SIGINT)))
    try:
        timer.start()
        with pytest.raises(Stop):
            geodesics(G, np.arange(0, 90_000, 30), n_jobs=2, dtype=np.float32)
        assert fired[0]() < 2.0
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, before)


def test_stored_entries_are_the_edges():
    D = sparse.coo_array(([3.0, 0.0, 2.0, 5.0, 0.0], ([0, 1, 2, 2, 3], [1, 2, 0, 1, 3])), shape=(5, 5))
    for kind in (sparse.csr_array, sparse.csc_array, sparse.coo_matrix):
        G = stored_edges(kind(D)).tocoo()
        assert G.nnz == 6
        assert {(i, j): v for i, j, v in zip(G.row, G.col, G.data, strict=True) if i < j} == {
            (0, 1): 3.0,
            (0, 2): 2.0,
            (1, 2): 0.0,  # the smaller of the two directions
        }
        assert components(G)[0] == 3
    np.testing.assert_array_equal(geodesics(stored_edges(D), [0])[0], [0, 2, 2, np.inf, np.inf])


def test_stored_edges_names_who_asks():
    for D, message in [
        (sparse.csr_array([[0.0, -1.0], [0.0, 0.0]]), "Isomap: the dissimilarities must not be negative"),
        (sparse.csr_array([[0.0, np.inf], [0.0, 0.0]]), "Isomap: the dissimilarities must be finite"),
        (sparse.csr_array([[7.0, 1.0], [0.0, 0.0]]), "Isomap: .* 0 on the diagonal"),
        (sparse.csr_array([[0.0, 1j], [0.0, 0.0]]), "Isomap: .* must hold real numbers"),
        (np.zeros((2, 2)), "Isomap: the graph must be a scipy sparse matrix; got ndarray"),
    ]:
        with pytest.raises((ValueError, TypeError), match=message):
            stored_edges(D, owner="Isomap")


def test_lengths_that_overflowed_say_to_rescale_the_data():
    G = sparse.csr_array([[0.0, np.inf], [1.0, 0.0]])
    with pytest.raises(ValueError, match=r"Isomap: lengths of edges must be finite; got .*Rescale the data"):
        neighbor_graph(G, owner="Isomap")


def test_edges_are_put_between_those_stored():
    rng = np.random.default_rng(0)
    G = neighbor_graph(nearest(rng.random((60, 2)), 4))
    dense = G.toarray()
    new = [(i, j) for i, j in zip(range(20), range(59, 39, -1), strict=True) if dense[i, j] == 0]
    edges = [(1.5 + i, i, j) for i, j in new]
    found = with_edges(G, edges)
    for length, i, j in edges:
        dense[i, j] = dense[j, i] = length
    assert np.array_equal(found.toarray(), dense)
    assert found.has_sorted_indices
    assert found.nnz == G.nnz + 2 * len(edges)


@pytest.mark.parametrize("hub", [False, True])
def test_the_nearest_come_first_in_each_row(hub):
    rng = np.random.default_rng(0)
    D = np.round(rng.random((50, 50)), 1)  # with ties
    G = neighbor_graph(sparse.csr_array(np.where((D + D.T < 0.6) | (hub & (np.arange(50) == 0)), D + 0.1, 0)))
    assert np.array_equal(nearest_first(G), np.lexsort((G.data, np.repeat(np.arange(50), np.diff(G.indptr)))))

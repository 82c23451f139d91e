"""The compiled shortest paths against Floyd and Warshall's loops, and against each other bit for bit."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse.csgraph import dijkstra

from lowdim import _native

pytestmark = pytest.mark.kernel

PATIENT = 1e9


def floyd_warshall(W):
    """The numpy twin: W holds lengths, inf where there is no edge."""
    D = W.copy()
    np.fill_diagonal(D, 0.0)
    for k in range(len(D)):
        D = np.minimum(D, D[:, k : k + 1] + D[k])
    return D


def as_edges(W):
    rows, columns = np.nonzero(np.isfinite(W))
    start = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(W)))]).astype(np.int64)
    return start, columns.astype(np.int32), np.ascontiguousarray(W[rows, columns])


def heap(edges, sources, *, threads=1, dtype=np.float64):
    sources = np.asarray(sources, dtype=np.int32)
    out = np.full((len(sources), len(edges[0]) - 1), -1.0, dtype=dtype)
    _native.heap_paths(*edges, sources, np.arange(len(sources)), out, threads)
    return out


def batched(edges, sources, *, lanes=64, patience=PATIENT, threads=1, dtype=np.float64):
    sources = np.asarray(sources, dtype=np.int32)
    order, groups = np.empty(len(sources), np.int64), np.empty(len(sources) + 1, np.int64)
    count = _native.source_groups(edges[0], edges[1], sources, lanes, order, groups)
    out = np.full((len(sources), len(edges[0]) - 1), -1.0, dtype=dtype)
    borders = groups[: count + 1]
    lost = _native.batched_paths(*edges, sources[order], order, borders, out, patience, threads)
    return out, lost


def random_lengths(seed, n, density, *, zeros=0.2, loops=True):
    rng = np.random.default_rng(seed)
    W = rng.random((n, n)) * (rng.random((n, n)) >= zeros)
    W[rng.random((n, n)) >= density] = np.inf
    W = np.minimum(W, W.T)
    if not loops:
        np.fill_diagonal(W, np.inf)
    return W


graphs = st.builds(
    random_lengths,
    seed=st.integers(0, 10**6),
    n=st.integers(1, 60),
    density=st.sampled_from([0.0, 0.01, 0.03, 0.1, 0.5, 1.0]),
    zeros=st.sampled_from([0.0, 0.3, 1.0]),
    loops=st.booleans(),
)


@given(graphs)
@settings(max_examples=40, deadline=None)
def test_heap_equals_its_twin(W):
    np.testing.assert_allclose(heap(as_edges(W), range(len(W))), floyd_warshall(W), rtol=1e-12)


@given(graphs, st.sampled_from([8, 16, 32, 64]))
@settings(max_examples=40, deadline=None)
def test_batched_equals_its_twin(W, lanes):
    D, lost = batched(as_edges(W), range(len(W)), lanes=lanes)
    np.testing.assert_allclose(D, floyd_warshall(W), rtol=1e-12)
    np.testing.assert_allclose(D, D.T, rtol=1e-12)
    assert lost == 0


@given(graphs, st.integers(0, 10**6))
@settings(max_examples=30, deadline=None)
def test_every_route_gives_the_same_bits(W, seed):
    edges = as_edges(W)
    rng = np.random.default_rng(seed)
    sources = rng.permutation(len(W))[: rng.integers(1, len(W) + 1)]
    expected = heap(edges, sources)
    for lanes in (8, 64):
        np.testing.assert_array_equal(batched(edges, sources, lanes=lanes)[0], expected)
    np.testing.assert_array_equal(batched(edges, sources, patience=0.0)[0], expected)


def long_lattice(rows=40, columns=12, seed=0):
    """A strip with random lengths: paths of many edges, so that the order of additions shows in the bits."""
    rng = np.random.default_rng(seed)
    W = np.full((rows * columns, rows * columns), np.inf)
    for r in range(rows):
        for c in range(columns):
            for other in ([r + 1, c], [r, c + 1], [r + 1, c + 1]):
                if other[0] < rows and other[1] < columns:
                    i, j = r * columns + c, other[0] * columns + other[1]
                    W[i, j] = W[j, i] = rng.random()
    return W


@pytest.fixture(scope="module")
def lattice():
    return as_edges(long_lattice())


def test_scipy_gives_the_same_bits(lattice):
    start, to, length = lattice
    expected = dijkstra(sparse.csr_array((length, to, start.astype(np.int32))), directed=False)
    n = len(start) - 1
    np.testing.assert_array_equal(heap(lattice, range(n)), expected)
    np.testing.assert_array_equal(batched(lattice, range(n))[0], expected)


@pytest.mark.parametrize("threads", [2, 3])
def test_threads_do_not_change_the_bits(lattice, threads):
    sources = np.random.default_rng(1).permutation(480)[:200]
    np.testing.assert_array_equal(heap(lattice, sources, threads=threads), heap(lattice, sources))
    for lanes in (8, 32):
        one, two = (batched(lattice, sources, lanes=lanes, threads=t)[0] for t in (1, threads))
        np.testing.assert_array_equal(two, one)


@pytest.mark.parametrize("lanes", [8, 16, 32, 64])
def test_baseline_instructions_give_the_same_bits(lattice, lanes):
    wide = batched(lattice, range(100), lanes=lanes)[0]
    _native.force_baseline(True)
    try:
        narrow = batched(lattice, range(100), lanes=lanes)[0]
    finally:
        _native.force_baseline(False)
    np.testing.assert_array_equal(narrow, wide)


def test_float32_is_the_rounded_float64(lattice):
    exact = heap(lattice, range(70))
    assert exact.astype(np.float32).max() > 0
    np.testing.assert_array_equal(heap(lattice, range(70), dtype=np.float32), exact.astype(np.float32))
    np.testing.assert_array_equal(batched(lattice, range(70), dtype=np.float32)[0], exact.astype(np.float32))


def test_a_group_that_runs_out_of_patience_is_counted_and_still_right(lattice):
    D, lost = batched(lattice, range(480), patience=0.5)
    assert lost >= 1
    np.testing.assert_array_equal(D, heap(lattice, range(480)))


def test_groups_are_a_permutation_of_neighbours_within_components():
    W = random_lengths(3, 150, 0.012, zeros=0.0, loops=False)
    start, to, _ = as_edges(W)
    sources = np.random.default_rng(0).permutation(150).astype(np.int32)
    order, groups = np.empty(150, np.int64), np.empty(151, np.int64)
    count = _native.source_groups(start, to, sources, 8, order, groups)
    groups = groups[: count + 1]
    assert sorted(order) == list(range(150))
    assert groups[0] == 0
    assert groups[-1] == 150
    assert np.diff(groups).min() >= 1
    assert np.diff(groups).max() == 8
    D = floyd_warshall(W)
    for begin, end in pairwise(groups):
        assert np.isfinite(D[sources[order[begin]], sources[order[begin:end]]]).all()
    n_components = len(np.unique(np.isfinite(D), axis=0))
    assert (np.diff(groups) < 8).sum() <= n_components, "a component leaves at most one group that is not full"


def test_groups_of_a_path_are_runs():
    n = 64
    W = np.full((n, n), np.inf)
    W[np.arange(n - 1), np.arange(1, n)] = W[np.arange(1, n), np.arange(n - 1)] = 1.0
    start, to, _ = as_edges(W)
    order, groups = np.empty(n, np.int64), np.empty(n + 1, np.int64)
    count = _native.source_groups(start, to, np.arange(n, dtype=np.int32), 16, order, groups)
    assert count == 4
    np.testing.assert_array_equal(order, np.arange(n))


def test_bad_shapes_are_refused():
    edges = as_edges(np.full((3, 3), 1.0))
    out = np.empty((1, 3))
    one, row = np.zeros(1, np.int32), np.zeros(1, np.int64)
    with pytest.raises(ValueError, match="do not describe a graph"):
        _native.heap_paths(edges[0], edges[1], edges[2][:-1].copy(), one, row, out, 1)
    with pytest.raises(ValueError, match="number of edges"):
        _native.heap_paths(edges[0][:-1].copy(), edges[1], edges[2], one, row, out, 1)
    many = np.zeros(65, np.int32)
    with pytest.raises(ValueError, match="at most 64"):
        _native.batched_paths(*edges, many, np.zeros(65, np.int64), np.array([0, 65]), out, 1.0, 1)
    with pytest.raises(ValueError, match="one row of n columns for each source"):
        _native.heap_paths(*edges, one, row, np.empty((1, 4)), 1)
    with pytest.raises(TypeError):
        _native.heap_paths(*edges, one.astype(np.int64), row, out, 1)

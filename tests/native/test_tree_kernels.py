"""The compiled first look at a graph: places of edges, a new numbering, joined components and trees of paths."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from lowdim import _native
from lowdim._core.graph.connectivity import joined
from tests.native.test_flow_kernels import flow, graph
from tests.native.test_paths_kernels import as_edges, heap

pytestmark = pytest.mark.kernel

GRAPHS = [(seed, n, density, whole) for seed in range(3) for n, density in ((14, 0.3), (90, 0.06)) for whole in (0, 1)]


def renumbered(edges):
    n, m = len(edges[0]) - 1, len(edges[1])
    order, start = np.empty(n, np.int32), np.empty(n + 1, np.int64)
    to, origin = np.empty(m, np.int32), np.empty(m, np.int64)
    _native.near_order(edges[0], edges[1], order, start, to, origin)
    return order, start, to, origin


def trees(edges, kept, sources, threads=1, counted=True, width=0.3):
    n = len(edges[0]) - 1
    distance, through = np.full((len(sources), n), -1.0), np.full(n if counted else 0, -1.0)
    said = _native.tree_paths(
        *edges, kept.astype(np.uint8), np.asarray(sources, np.int32), width, distance, through, threads
    )
    return said, distance, through


def without(edges, kept):
    """The graph of the edges kept."""
    rows = np.repeat(np.arange(len(edges[0]) - 1), np.diff(edges[0]))[kept]
    start = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(edges[0]) - 1))])
    return start.astype(np.int64), edges[1][kept], edges[2][kept]


def some(W, seed, share=0.6):
    """Which stored edges are kept, both directions of an edge alike."""
    rows, columns = np.nonzero(np.isfinite(W))
    draw = np.random.default_rng(seed).random(W.shape)
    return np.minimum(draw, draw.T)[rows, columns] < share


@pytest.mark.parametrize(("seed", "n", "density", "whole"), GRAPHS)
@pytest.mark.parametrize("k", [1, 4])
def test_places_and_sizes(seed, n, density, whole, k):
    W = graph(seed, n, density, whole=bool(whole))
    edges = as_edges(W)
    later = np.full(len(edges[1]), -1, np.int32)
    size = _native.edge_places(*edges, k, later)
    place = np.full(W.shape, -1)
    for row in range(n):
        ends = np.flatnonzero(np.isfinite(W[row]))
        place[row, ends[np.argsort(W[row, ends], kind="stable")]] = np.arange(len(ends))
    there = np.nonzero(np.isfinite(W))
    assert np.array_equal(later, np.maximum(place, place.T)[there])
    ordered = [np.sort(row[np.isfinite(row)]) for row in W]
    radius = np.array([row[min(k, len(row)) - 1] if len(row) else 0.0 for row in ordered])
    radius = np.maximum(radius, np.median(radius))
    assert size == np.median(np.maximum(edges[2], np.maximum(radius[there[0]], radius[there[1]])))


def test_places_in_a_row_of_many_edges():
    n = 120  # a star: more edges than are counted instead of sorted
    W = np.full((n, n), np.inf)
    W[0, 1:] = W[1:, 0] = np.random.default_rng(0).integers(1, 9, n - 1)
    later = np.empty(2 * (n - 1), np.int32)
    _native.edge_places(*as_edges(W), 3, later)
    assert np.array_equal(later[: n - 1], np.argsort(np.argsort(W[0, 1:], kind="stable"), kind="stable"))


def test_one_way_edges_are_refused():
    edges = np.array([0, 1, 1]), np.array([1], np.int32), np.ones(1)
    with pytest.raises(ValueError, match="symmetric"):
        _native.edge_places(*edges, 1, np.empty(1, np.int32))


@pytest.mark.parametrize(("seed", "n", "density", "whole"), GRAPHS)
def test_the_new_numbering_is_the_same_graph(seed, n, density, whole):
    edges = as_edges(graph(seed, n, density))
    order, start, to, origin = renumbered(edges)
    assert np.array_equal(np.sort(order), np.arange(n))
    assert np.array_equal(np.sort(origin), np.arange(len(to)))
    rows = np.repeat(np.arange(n), np.diff(start))
    assert np.array_equal(order[to], edges[1][origin])
    assert np.array_equal(order[rows], np.repeat(np.arange(n), np.diff(edges[0]))[origin])
    assert (np.diff(origin.reshape(-1))[rows[1:] == rows[:-1]] == 1).all()  # edges of a row in their old order


@pytest.mark.parametrize(("seed", "n", "density", "whole"), GRAPHS)
@pytest.mark.parametrize("share", [0.0, 0.3, 0.9])
def test_components_are_joined_by_the_shortest_edges(seed, n, density, whole, share):
    W = graph(seed, n, density, whole=bool(whole))
    edges = as_edges(W)
    order, start, to, origin = renumbered(edges)
    kept = some(W, seed, share)
    mine = kept[origin].astype(np.uint8)
    count = _native.keep_joined(start, to, edges[2][origin], order, origin, mine)
    G = joined(sparse.csr_array((edges[2], edges[1], edges[0]), shape=W.shape), kept)
    found = np.zeros(len(to), bool)
    found[origin] = mine.astype(bool)
    rows = np.repeat(np.arange(n), np.diff(edges[0]))
    assert np.array_equal(np.stack([rows, edges[1]])[:, found], np.stack(G.nonzero()))
    assert 2 * count == found.sum() - kept.sum()


@pytest.mark.parametrize(("seed", "n", "density", "whole"), GRAPHS)
@pytest.mark.parametrize("share", [0.6, 1.0])
def test_trees_have_the_lengths_of_the_heap(seed, n, density, whole, share):
    W = graph(seed, n, density, whole=bool(whole))
    edges, sources = as_edges(W), [0, 5, n - 1]
    kept = some(W, seed, share)
    said, distance, through = trees(edges, kept, sources)
    rest = without(edges, kept)
    assert said in (0, 1)
    assert np.array_equal(distance, heap(rest, sources))
    if not whole:
        assert said == 0
        left = np.full_like(W, np.inf)
        left[np.repeat(np.arange(n), np.diff(rest[0])), rest[1]] = rest[2]
        assert np.array_equal(through, flow(left, sources=sources)[0])
    for again in (trees(edges, kept, sources, threads=3), trees(edges, kept, sources, counted=False)):
        assert again[0] == said
        assert np.array_equal(again[1], distance)


def test_equal_paths_are_told():
    square = np.full((4, 4), np.inf)
    for i, j in ((0, 1), (0, 2), (1, 3), (2, 3)):
        square[i, j] = square[j, i] = 1.0
    edges = as_edges(square)
    assert trees(edges, np.ones(8, bool), [0])[0] == 1
    assert trees(edges, np.array([1, 0, 1, 1, 0, 1, 1, 1], bool), [0])[0] == 0  # without the edge between 0 and 2


def test_edges_too_long_for_buckets():
    W = graph(0, 40, 0.2)
    W[3, 7] = W[7, 3] = 1e9
    edges = as_edges(W)
    assert trees(edges, np.ones(len(edges[1]), bool), [0])[0] == -1
    assert trees(edges, np.ones(len(edges[1]), bool), [0], width=0.0)[0] == -1


def test_wide_and_narrow_buckets_find_the_same():
    edges = as_edges(graph(1, 90, 0.06))
    every = np.ones(len(edges[1]), bool)
    found = [trees(edges, every, [0, 7], width=width) for width in (0.01, 0.3, 50.0)]
    for other in found[1:]:
        for a, b in zip(found[0], other, strict=True):
            assert np.array_equal(a, b)

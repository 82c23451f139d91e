"""Numbers that lead outside an array are refused before anything is read; sums and products hold more than 32 bits."""

import numpy as np
import pytest

from lowdim import _native
from lowdim._core.graph.edges import _added
from lowdim.stress._monotone import Order

pytestmark = pytest.mark.kernel


def graph(start=(0, 1, 2), to=(1, 0), length=(1.0, 1.0)):
    return np.array(start, np.int64), np.array(to, np.int32), np.array(length)


SOURCES = (np.array([0], np.int32), np.array([0], np.int64))


@pytest.mark.parametrize(
    "edges",
    [graph(to=(1, 2)), graph(to=(-1, 0)), graph(start=(0, 3, 2)), graph(start=(1, 1, 2)), graph(start=(0, 1, 3))],
)
def test_graphs_whose_edges_lead_nowhere(edges):
    out = np.empty((1, 2))
    with pytest.raises(ValueError, match="paths: "):
        _native.heap_paths(*edges, *SOURCES, out, 1)
    with pytest.raises(ValueError, match="paths: "):
        _native.batched_paths(*edges, *SOURCES, np.array([0, 1]), out, 4.0, 1)
    with pytest.raises(ValueError, match="source_groups: "):
        _native.source_groups(*edges[:2], SOURCES[0], 8, np.empty(1, np.int64), np.empty(2, np.int64))
    with pytest.raises(ValueError, match="paths: "):
        _native.path_flow(*edges, SOURCES[0], np.empty(2), np.empty(2), 1)


@pytest.mark.parametrize("borders", [[0, 2], [-1, 1], [1, 0]])
def test_groups_of_other_sources(borders):
    with pytest.raises(ValueError, match="groups must go up within the sources"):
        _native.batched_paths(*graph(), *SOURCES, np.array(borders), np.empty((1, 2)), 4.0, 1)


def test_questions_about_no_node():
    first, ask, reach = np.array([0, 1, 1]), np.array([5], np.int32), np.ones(2)
    with pytest.raises(ValueError, match="questions"):
        _native.distances_within(*graph(), first, ask, reach, np.empty(1), 1)


def test_loops_of_no_generator():
    start, to, _ = graph()
    order, essential = np.arange(2, dtype=np.int32), np.empty(1, np.uint8)
    with pytest.raises(ValueError, match="generator"):
        _native.essential_loops(start, to, np.array([1, -1], np.int32), order, 2, essential)


def pairs(sparse):
    X = np.arange(6.0).reshape(3, 2)
    one = np.ones(3)
    if not sparse:
        return _native.DensePairs64(X, X, one, one)
    rows = (X.ravel(), np.tile(np.arange(2, dtype=np.int32), 3), np.array([0, 2, 4, 6]))
    return _native.SparsePairs64(*rows, *rows, one, one)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("bad", [3, -1])
def test_pairs_of_no_row(sparse, bad):
    table, here, there = pairs(sparse), np.array([0], np.int32), np.array([bad], np.int32)
    values, indices = np.zeros((1, 1)), np.zeros((1, 1), np.int32)
    with pytest.raises(ValueError, match="fit together"):
        table.pairs(2, there, here, np.empty(1))
    with pytest.raises(ValueError, match="fit together"):
        table.pairs(2, here, there, np.empty(1))
    with pytest.raises(ValueError, match="fit together"):
        table.refine(2, there, values, indices)
    with pytest.raises(ValueError, match="fit together"):
        table.refine(2, here, values, np.full((1, 1), bad, np.int32))
    with pytest.raises(ValueError, match="fit together"):
        table.scan(2, there, here, values, indices)


def test_sparse_rows_with_borders_outside():
    one = np.ones(1)
    good = (np.ones(2), np.arange(2, dtype=np.int32), np.array([0, 2]))
    bad = (*good[:2], np.array([0, 3]))
    for rows in ((bad, good), (good, bad)):
        with pytest.raises(ValueError, match="fit together"):
            _native.SparsePairs64(*rows[0], *rows[1], one, one)


def test_heaps_of_other_shapes():
    with pytest.raises(ValueError, match="fit together"):
        _native.sort_top(np.zeros((2, 3)), np.zeros((2, 2), np.int32))
    block, skip = np.zeros((1, 4)), np.zeros(1, np.int32)
    for offset in (-1, 2**31 - 4):
        with pytest.raises(ValueError, match="fit together"):
            _native.top_distances(block, offset, skip, np.zeros((1, 1)), np.zeros((1, 1), np.int32))


def test_trees_and_links_that_lead_nowhere():
    n, k = 40, 3
    rows = np.random.default_rng(0).normal(size=(n, 16)).astype(np.float32)
    orders = np.empty((1, n), np.int32)
    _native.grow_trees(rows, 1, 0, 1, 1, orders)
    keys = np.empty((n, k), np.uint64)
    order, full = np.arange(n, dtype=np.int32), np.empty((n, 0), np.float32)
    space = _native.DenseDescent(rows, "squares", 2.0, np.empty(0, np.float32), full, order)
    _native.search_leaves(space, orders, 1, 1, keys)
    bad = orders.copy()
    bad[0, 3] = n
    with pytest.raises(ValueError, match="fit together"):
        _native.search_leaves(space, bad, 1, 1, np.empty_like(keys))
    links = np.zeros((n, 5), np.int32)
    links[:, 1], links[:, 2] = 1, n
    with pytest.raises(ValueError, match="fit together"):
        _native.search_links(space, orders, orders, links, keys, True, 1, 1, np.empty_like(keys))


def test_rows_of_a_descent_that_lead_nowhere():
    one, starts, columns = np.ones(2, np.float32), np.array([0, 1, 2]), np.array([0, 3], np.int32)
    for place, value in (1, columns + 1), (2, starts + 1), (3, one[:1]):
        parts = [one, columns, starts, one]
        _native.SparseDescent(*parts, 4, False, "jaccard")
        parts[place] = value
        with pytest.raises(ValueError, match="fit together"):
            _native.SparseDescent(*parts, 4, False, "jaccard")
    words = np.zeros((2, 1), np.uint64)
    bits = _native.BitDescent(words, one, 64, "dice")
    with pytest.raises(ValueError, match="fit together"):
        _native.BitDescent(words, one, 65, "dice")
    for row, ids in (2, [0]), (0, [2]), (-1, [0]):
        with pytest.raises(ValueError, match="fit together"):
            _native.measure_pairs(bits, row, np.array(ids, np.int32), np.empty(1, np.float32))
    with pytest.raises(ValueError, match="no such"):
        _native.BitDescent(words, one, 64, "squares")


def test_listed_rows_that_are_not_there():
    rows, words = np.ones((2, 3)), np.ones((2, 1), np.uint64)
    cells = np.ones(2), np.array([0, 1], np.int32), np.array([0, 1, 2])
    bad, out = np.array([[0], [2]], np.int32), np.empty((2, 1))
    with pytest.raises(ValueError, match="fit together"):
        _native.measured_lists(rows, rows, "canberra", 2.0, bad, out)
    with pytest.raises(ValueError, match="fit together"):
        _native.shared_bit_lists(words, words, bad, out)
    with pytest.raises(ValueError, match="fit together"):
        _native.shared_cell_lists(*cells, *cells, True, bad, out)
    with pytest.raises(ValueError, match="fit together"):
        _native.shared_cell_block(*cells, *cells, True, out)  # two rows of the other table, one column of room
    with pytest.raises(ValueError, match="fit together"):
        _native.measured_block(rows, rows, "canberra", 2.0, 1, out)
    with pytest.raises(ValueError, match="fit together"):
        _native.distances_from_shared(out, np.ones(1), np.ones((1, 1)), 3.0, "jaccard")
    with pytest.raises(ValueError, match="no such"):
        _native.measured_block(rows, rows, "squares", 2.0, 1, np.empty((2, 2)))
    merged = (*cells, np.zeros(2))
    single = [part.astype(np.float32) if part.dtype == float else part for part in merged]
    with pytest.raises(ValueError, match="fit together"):
        _native.merged_cell_lists(*merged, *merged, 2, "canberra", 2.0, bad, out)
    with pytest.raises(ValueError, match="fit together"):
        _native.merged_cell_block(*merged, *merged, 2, "canberra", 2.0, out)
    with pytest.raises(ValueError, match="fit together"):
        _native.merged_cell_block(*merged, *merged, 1, "canberra", 2.0, np.empty((2, 2)))  # a column that is not there
    with pytest.raises(ValueError, match="no such"):
        _native.merged_cell_block(*merged, *merged, 2, "dice", 2.0, np.empty((2, 2)))
    with pytest.raises(ValueError, match="fit together"):
        _native.gower_lists(rows, rows, bad, out)
    with pytest.raises(ValueError, match="fit together"):
        _native.GowerDescent(np.ones((2, 4), np.float32))
    with pytest.raises(ValueError, match="fit together"):
        _native.MergedDescent(*single, 1, "canberra", 2.0)


def test_forms_of_patches_that_do_not_belong_together():
    starts, members, offsets, F = np.array([0, 2]), np.array([0, 1], np.int32), np.array([0, 3]), np.ones(3)
    first, where, borders = np.array([0, 1, 2]), np.array([0, 1]), np.array([0, 2, 4])
    room = (np.empty(4, np.int32), np.empty(4))
    patch_of = np.zeros(2, np.int32)
    _native.sum_forms(starts, members, offsets, F, patch_of, first, where, borders, *room, 1)
    for place, value in (5, [0, 2, 1]), (6, [0, 2]), (4, [0, 1]), (2, [0, 4]):
        arguments = [starts, members, offsets, F, patch_of, first, where, borders]
        arguments[place] = np.array(value, arguments[place].dtype)
        with pytest.raises(ValueError, match="sum_forms"):
            _native.sum_forms(*arguments, *room, 1)


def test_borders_of_two_graphs_do_not_overflow():
    half = np.array([0, 3 * 2**29], np.int32)
    assert _added(half, half).tolist() == [0, 3 * 2**30]


@pytest.mark.parametrize("approach", [0, 1, 2])
def test_monotone_regression_with_places_of_64_bits(approach):
    """The same bits as with 32."""
    rng = np.random.default_rng(3)
    y, d = rng.normal(size=400), rng.integers(0, 60, size=400).astype(float)
    order = Order.of(d)
    assert order.order.dtype == np.uint32
    fits = []
    for dtype in (np.uint32, np.uint64):
        fit = np.empty_like(y)
        _native.monotone(y, np.empty(0), order.order.astype(dtype), order.ties, approach, fit)
        fits.append(fit)
    np.testing.assert_array_equal(*fits)
    with pytest.raises(ValueError, match="order must hold places"):
        _native.monotone(y, np.empty(0), np.array([2**40], np.uint64), np.empty((0, 2), np.int64), approach, y.copy())


@pytest.mark.deep
def test_more_pairs_than_32_bits_can_number(tmp_path):
    """93,000 points: the pairs lie in a file with holes, which takes no room. Closed forms where every delta is 0."""
    n = 93_000
    pairs = n * (n - 1) // 2
    assert pairs > 2**32
    delta = np.memmap(tmp_path / "delta", np.float32, "w+", shape=(pairs,))
    Z = np.random.default_rng(0).normal(size=(n, 2))
    force = np.empty_like(Z)
    stress = _native.stress_pass(delta, np.empty(0, np.float32), Z, force, 2)
    centred = Z - Z.mean(axis=0)
    np.testing.assert_allclose(stress, n * (centred**2).sum(), rtol=1e-5)
    np.testing.assert_allclose(force, -n * centred, atol=1e-3 * n)
    # The last pair alone, beyond 2^32: its force changes by delta (z_i - z_j) / d.
    delta[-1] = 1e6
    moved = np.empty_like(Z)
    _native.stress_pass(delta, np.empty(0, np.float32), Z, moved, 2)
    gap = Z[-2] - Z[-1]
    np.testing.assert_allclose(moved[-2] - force[-2], 1e6 * gap / np.linalg.norm(gap), rtol=1e-3)
    np.testing.assert_allclose(moved[:-2], force[:-2], rtol=0, atol=1e-9)

"""The loops of nearest-neighbour descent against numpy."""

from itertools import pairwise

import numpy as np
import pytest

from lowdim import _native

pytestmark = pytest.mark.kernel


def distances(A, B):
    return ((A[:, None].astype(np.float64) - B[None]) ** 2).sum(axis=2)


def keys_of(values, indices, fresh=0):
    bits = np.asarray(values, np.float32).view(np.uint32).astype(np.uint64)
    return bits << np.uint64(32) | np.asarray(indices, np.uint64) << np.uint64(1) | np.asarray(fresh, np.uint64)


def indices_of(keys):
    return ((keys & np.uint64(0xFFFFFFFF)) >> np.uint64(1)).astype(np.int32)


def values_of(keys):
    return (keys >> np.uint64(32)).astype(np.uint32).view(np.float32)


def nearest_lists(D, k):
    """The k nearest of a square table by (value, index), self left out."""
    D = D + np.diag(np.full(len(D), np.inf))
    indices = np.argsort(D, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(D, indices, axis=1), indices


def nothing(n):
    return np.empty((n, 0), np.float32)


def integer_rows(rng, n, width=16):
    """Small integers: float32 sums are exact, so that lists can be compared bit by bit, ties included."""
    return rng.integers(-3, 4, (n, width)).astype(np.float32)


def rows_of(sketch, full=None, order=None):
    """The rows of a search; with `full`, through sketches."""
    n = len(sketch)
    full = nothing(n) if full is None else full
    order = np.arange(n, dtype=np.int32) if order is None else order
    return _native.DenseDescent(sketch, "squares", 2.0, np.empty(0, np.float32), full, order)


def all_measured(space, n):
    """What the loop of the search makes of all pairs of n rows."""
    out = np.empty((n, n), np.float32)
    for i in range(n):
        _native.measure_pairs(space, i, np.arange(n, dtype=np.int32), out[i])
    return out


@pytest.mark.parametrize("width", [16, 32, 144])
def test_squared_distances(rng, width):
    A = rng.standard_normal((55, width)).astype(np.float32) + 5
    np.testing.assert_allclose(all_measured(rows_of(A), 55), distances(A, A), rtol=width * 2.0**-23)


def leaf_borders(n, depth, tree):
    borders = np.array([0, n])
    for level in range(depth):
        percent = 50 if level else 40 + tree * 13 % 21
        borders = np.sort(np.concatenate([borders, borders[:-1] + np.diff(borders) * percent // 100]))
    return borders


def test_a_tree_splits_along_a_line_through_two_rows(rng):
    X = rng.standard_normal((101, 16)).astype(np.float32)
    order = np.empty((1, 101), np.int32)
    _native.grow_trees(X, 1, 2, 3, 1, order)
    assert np.array_equal(np.sort(order[0]), np.arange(101))
    middle = leaf_borders(101, 1, 2)[1]
    left, right = order[0, :middle], order[0, middle:]
    lines = (X[:, None] - X[None]).reshape(-1, 16)
    gaps = (lines @ X[right].T).min(axis=1) - (lines @ X[left].T).max(axis=1)
    assert (gaps > 0).any()


def test_trees_differ_and_do_not_depend_on_threads(rng):
    X = rng.standard_normal((300, 16)).astype(np.float32)
    one, two = np.empty((2, 3, 300), np.int32)
    _native.grow_trees(X, 4, 0, 7, 1, one)
    _native.grow_trees(X, 4, 0, 7, 3, two)
    assert np.array_equal(one, two)
    assert not np.array_equal(one[0], one[1])


def test_one_leaf_is_all_pairs(rng):
    X = integer_rows(rng, 40)
    keys = np.empty((40, 6), np.uint64)
    _native.search_leaves(rows_of(X), np.arange(40, dtype=np.int32)[None], 0, 1, keys)
    assert np.array_equal(keys, keys_of(*nearest_lists(distances(X, X), 6), fresh=1))


def test_leaves_of_several_trees_are_pooled(rng):
    X, n = integer_rows(rng, 50), 50
    orders = np.stack([rng.permutation(n) for _ in range(3)]).astype(np.int32)
    together = np.zeros((n, n), bool)
    for tree, order in enumerate(orders):
        for start, stop in pairwise(leaf_borders(n, 2, tree)):
            together[np.ix_(order[start:stop], order[start:stop])] = True
    keys = np.empty((n, 5), np.uint64)
    _native.search_leaves(rows_of(X), orders, 2, 2, keys)
    expected = nearest_lists(np.where(together, distances(X, X), np.inf), 5)
    assert np.array_equal(keys, keys_of(*expected, fresh=1))


def start(rng, n=60, k=4, width=16):
    """Rows, their distances, and random lists, about half of them new."""
    X = integer_rows(rng, n, width)
    D = distances(X, X)
    shown = D + np.where(rng.random((n, n)) < 0.3, 0, 1000)
    indices = nearest_lists(shown, k)[1]
    values = np.take_along_axis(D, indices, axis=1)
    return X, D, np.sort(keys_of(values, indices, rng.integers(0, 2, (n, k))), axis=1)


def links_of(keys, room):
    n, reach = keys.shape
    links = np.empty((n, 2 + reach + room), np.int32)
    _native.link_rows(keys, reach, 5, 2, links)
    return links


def search_links(sketch, full, order, links, keys, known, stride, n_threads, out, trees=None):
    """The loop, with one tree that keeps the rows in their order."""
    trees = np.arange(len(keys), dtype=np.int32)[None] if trees is None else trees
    places = np.argsort(trees, axis=1).astype(np.int32)
    space = rows_of(sketch, full, order)
    return _native.search_links(space, trees, places, links, keys, known, stride, n_threads, out)


def test_links_are_neighbours_and_rows_that_name_me(rng):
    _, _, keys = start(rng)
    n = len(keys)
    links, indices, fresh = links_of(keys, n), indices_of(keys), keys & np.uint64(1)
    for i in range(n):
        row, column = np.nonzero(indices == i)
        expected = [(j, f) for j, f in zip(indices[i], fresh[i], strict=True)]
        expected += list(zip(row, fresh[row, column], strict=True))
        got = [(j, int(c < links[i, 0])) for c, j in enumerate(links[i, 2 : 2 + links[i, 1]])]
        assert sorted(got) == sorted(expected)


def test_links_are_capped_by_a_draw_that_threads_do_not_change(rng):
    _, _, keys = start(rng, n=200, k=8)
    one, two = np.zeros((2, 200, 2 + 8 + 2), np.int32)
    _native.link_rows(keys, 8, 5, 1, one)
    _native.link_rows(keys, 8, 5, 4, two)
    for a, b in zip(one, two, strict=True):
        assert np.array_equal(a[:2], b[:2])
        assert np.array_equal(np.sort(a[2 : 2 + a[1]]), np.sort(b[2 : 2 + b[1]]))
    assert (one[:, 1] <= 10).all()
    assert (one[:, 1] >= 8).all()


def walked(links, keys, everything):
    """What a round may look at: entries, and two links of which one is new."""
    n = len(links)
    fresh, known = np.zeros((2, n, n), bool)
    for i, row in enumerate(links):
        fresh[i, row[2 : 2 + row[0]]] = True
        known[i, row[2 + row[0] : 2 + row[1]]] = True
    either = fresh | known
    pairs = either | either @ either if everything else fresh | fresh @ either | either @ fresh
    np.put_along_axis(pairs, indices_of(keys), True, axis=1)
    return pairs


def around(n, count):
    """The rows around each row in the order of the data, as one tree gives them."""
    first = np.clip(np.arange(n) - count // 2, 0, n - count)[:, None]
    return (np.arange(n) >= first) & (np.arange(n) < first + count)


@pytest.mark.parametrize("longer", [4, 7])
@pytest.mark.parametrize("sketched", [0, 8, 16])
def test_a_round_keeps_the_best_within_two_links(rng, longer, sketched):
    X, D, keys = start(rng)
    n, k = keys.shape
    links = links_of(keys, 6)
    sketch = X * (np.arange(16) < (sketched or 16)).astype(
        np.float32
    )  # of all sixteen columns: as near as a bound can be
    order = rng.permutation(n).astype(np.int32)
    full = X[np.argsort(order)] if sketched else nothing(n)
    got = np.empty((n, longer), np.uint64)
    changed = search_links(sketch, full, order, links, keys, True, 1, 2, got)
    pairs = walked(links, keys, longer > k) | (around(n, longer + 1) & (longer > k))
    values, indices = nearest_lists(np.where(pairs, D, np.inf), longer)
    entered = ~(indices[:, :, None] == indices_of(keys)[:, None, :]).any(axis=2)
    assert np.isfinite(values).all()
    assert np.array_equal(got, keys_of(values, indices, entered))
    assert changed == entered.sum()


def test_a_round_measures_lists_again_that_are_not_known(rng):
    X, D, keys = start(rng)
    n, k = keys.shape
    links = links_of(keys, 6)
    wrong = keys_of(np.ones((n, k)), indices_of(keys))
    got = np.empty((n, k), np.uint64)
    search_links(X, nothing(n), np.arange(n, dtype=np.int32), links, wrong, False, 1, 1, got)
    values, indices = nearest_lists(np.where(walked(links, keys, True), D, np.inf), k)
    entered = ~(indices[:, :, None] == indices_of(keys)[:, None, :]).any(axis=2)
    assert np.array_equal(got, keys_of(values, indices, entered))


def test_a_round_along_whole_lists(rng):
    X, D, keys = start(rng, k=8)
    n, k = keys.shape
    fresh, known = np.zeros((2, n, n), bool)
    is_new = (keys & np.uint64(1)).astype(bool)
    np.put_along_axis(fresh, indices_of(keys), is_new, axis=1)
    np.put_along_axis(known, indices_of(keys), ~is_new, axis=1)
    pairs = fresh | known | fresh @ (fresh | known) | known @ fresh
    values, indices = nearest_lists(np.where(pairs, D, np.inf), k)
    entered = ~(indices[:, :, None] == indices_of(keys)[:, None, :]).any(axis=2)
    got, probe = np.zeros((2, n, k), np.uint64)
    arguments = (X, nothing(n), np.arange(n, dtype=np.int32), np.empty((n, 0), np.int32), keys, True)
    assert search_links(*arguments, 1, 2, got) == entered.sum() > 0
    assert np.array_equal(got, keys_of(values, indices, entered))
    assert search_links(*arguments, 7, 2, probe) == entered[::7].sum()
    assert np.array_equal(probe[::7], got[::7])


@pytest.mark.parametrize("width", [1, 17, 300, 1029])
def test_full_rows_of_any_width(rng, width):
    """One round on a complete graph confirms every pair; the sketch, all zeros, rules nothing out."""
    n = 20
    X = rng.standard_normal((n, width)).astype(np.float32)
    indices = np.array([[j for j in range(n) if j != i] for i in range(n)])
    keys, out = keys_of(np.zeros((n, n - 1)), indices), np.empty((n, n - 1), np.uint64)
    order = np.arange(n, dtype=np.int32)
    search_links(np.zeros((n, 16), np.float32), X, order, links_of(keys, 1), keys, False, 1, 1, out)
    np.testing.assert_allclose(values_of(out), nearest_lists(distances(X, X), n - 1)[0], rtol=(width + 3) * 2.0**-23)


def test_rows_of_a_small_cluster_look_around_in_the_trees(rng):
    """Rows that know only each other, and nine neighbours wanted: the ten rows around them in each tree."""
    X, n = integer_rows(rng, 30), 30
    keys = keys_of(np.full((n, 1), 5000.0), np.arange(n)[:, None] ^ 1)
    trees = np.stack([np.arange(n), rng.permutation(n)]).astype(np.int32)
    near = np.arange(n)[:, None] ^ 1 == np.arange(n)
    for tree in trees:
        near[np.ix_(tree, tree)] |= around(n, 10)
    out = np.empty((n, 9), np.uint64)
    search_links(X, nothing(n), trees[0], links_of(keys, 1), keys, False, 1, 1, out, trees=trees)
    values, indices = nearest_lists(np.where(near, distances(X, X), np.inf), 9)
    assert np.array_equal(out, keys_of(values, indices, indices != np.arange(n)[:, None] ^ 1))


@pytest.mark.parametrize("root", [False, True])
def test_lists_are_read_in_the_order_of_the_data(rng, root):
    _, _, keys = start(rng)
    n, k = keys.shape
    order = rng.permutation(n).astype(np.int32)
    indices, values = np.empty((n, k), np.int32), np.empty((n, k), np.float32)
    _native.read_lists(keys, order, root, 2, indices, values)
    expected = np.sqrt(values_of(keys)) if root else values_of(keys)
    for i in range(n):
        pairs = sorted(zip(expected[i], order[indices_of(keys)[i]], strict=True))
        assert pairs == list(zip(values[order[i]], indices[order[i]], strict=True))


def test_arrays_that_do_not_fit_are_refused(rng):
    X = integer_rows(rng, 40)
    orders = np.arange(40, dtype=np.int32)[None]
    with pytest.raises(ValueError, match="do not fit"):
        _native.search_leaves(rows_of(X), orders, 3, 1, np.empty((40, 6), np.uint64))  # leaves of five rows, six wanted
    with pytest.raises(ValueError, match="do not fit"):
        _native.search_leaves(rows_of(X[:30]), orders, 0, 1, np.empty((40, 6), np.uint64))
    with pytest.raises(ValueError, match="do not fit"):
        rows_of(X[:, :15].copy())
    with pytest.raises(ValueError, match="do not fit"):
        rows_of(X, X, np.full(40, 40, np.int32))
    with pytest.raises(ValueError, match="do not fit"):
        _native.link_rows(keys_of(np.zeros((3, 1)), [[1], [2], [7]]), 1, 0, 1, np.empty((3, 4), np.int32))

"""The loops that measure pairs cell by cell, or by what they share, against numpy: in blocks, lists and searches."""

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist

from lowdim import _native

pytestmark = pytest.mark.kernel

COUNTED = ("dice", "hamming", "jaccard", "rogerstanimoto", "russellrao", "sokalsneath", "yule")


def ruzicka(X, Y):
    lesser, greater = np.minimum(X[:, None], Y[None]).sum(axis=2), np.maximum(X[:, None], Y[None]).sum(axis=2)
    return 1 - np.divide(lesser, greater, out=np.ones_like(lesser), where=greater > 0)


def bray_curtis(X, Y):
    """As scipy has it, and 0 for two rows of zeros."""
    gaps, both = np.abs(X[:, None] - Y[None]).sum(axis=2), (X[:, None] + Y[None]).sum(axis=2)
    return np.divide(gaps, both, out=np.zeros_like(gaps), where=both > 0)


# name -> (p, twin)
METRICS = {
    "manhattan": (2.0, lambda X, Y: cdist(X, Y, "cityblock")),
    "chebyshev": (2.0, lambda X, Y: cdist(X, Y, "chebyshev")),
    "hamming": (2.0, lambda X, Y: cdist(X, Y, "hamming")),
    "canberra": (2.0, lambda X, Y: cdist(X, Y, "canberra")),
    "braycurtis": (2.0, bray_curtis),
    "ruzicka": (2.0, ruzicka),
    "jensenshannon": (2.0, lambda X, Y: cdist(X, Y, "jensenshannon")),
    "minkowski 3": (3.0, lambda X, Y: cdist(X, Y, "minkowski", p=3)),
    "minkowski 1.5": (1.5, lambda X, Y: cdist(X, Y, "minkowski", p=1.5)),
    "minkowski 7": (7.0, lambda X, Y: cdist(X, Y, "minkowski", p=7)),
}
each = pytest.mark.parametrize("metric", METRICS)


def rows_for(metric, rng, n, d):
    """Rows with zeros and with equal cells; shares for Jensen and Shannon."""
    X = np.round(rng.random((n, d)) * 4) * rng.random((n, d)).round(1) + (rng.random((n, d)) < 0.1)
    if metric == "jensenshannon":
        X[:, 0] += 1
        return X / X.sum(axis=1, keepdims=True)
    if metric.split()[0] in ("manhattan", "chebyshev", "canberra", "minkowski", "hamming"):
        return X * rng.choice([-1.0, 1.0], (n, d))
    return X


def block(X, Y, metric, n_threads=1):
    out = np.full((len(X), len(Y)), np.nan)
    _native.measured_block(X, Y, metric.split()[0], METRICS[metric][0], n_threads, out)
    return out


@each
@pytest.mark.parametrize("shape", [(1, 1, 1), (6, 37, 9), (9, 130, 21)])
def test_blocks_are_those_of_scipy(metric, shape, rng):
    b, n, d = shape
    X, Y = rows_for(metric, rng, b, d), rows_for(metric, rng, n, d)
    Y[0] = X[0]
    found = block(X, Y, metric, 3)
    np.testing.assert_allclose(
        found, METRICS[metric][1](X, Y), rtol=1e-12, atol=1e-15 if metric != "jensenshannon" else 1e-8
    )
    assert found[0, 0] == 0
    np.testing.assert_array_equal(found, block(X, Y, metric))


@each
def test_a_pair_has_the_same_bits_everywhere(metric, rng):
    """In a block, the other way round, in a list, and with narrow vectors."""
    X, Y = rows_for(metric, rng, 11, 13), rows_for(metric, rng, 40, 13)
    found = block(X, Y, metric)
    np.testing.assert_array_equal(found, block(Y, X, metric).T)
    indices = rng.integers(0, 40, (11, 19)).astype(np.int32)
    listed = np.empty(indices.shape)
    name, p = metric.split()[0], METRICS[metric][0]
    _native.measured_lists(X, Y, name, p, indices, listed)
    np.testing.assert_array_equal(listed, np.take_along_axis(found, indices, axis=1))
    _native.force_baseline(True)
    try:
        np.testing.assert_array_equal(found, block(X, Y, metric))
    finally:
        _native.force_baseline(False)


def test_powers_of_any_size_and_equal_rows():
    X = np.array([[0.0, 0.0], [1e-60, 0.0], [3.0, 4e50]])
    for p in (1.5, 2.5, 5.5):
        out = np.empty((3, 3))
        _native.measured_block(X, X, "minkowski", p, 1, out)
        np.testing.assert_allclose(out, cdist(X, X, "minkowski", p=p), rtol=1e-12)
        assert not out.diagonal().any()


def measured(space, n):
    out = np.empty((n, n), np.float32)
    for i in range(n):
        _native.measure_pairs(space, i, np.arange(n, dtype=np.int32), out[i])
    return out


def of_search(X, metric):
    """The rows of a search in single precision."""
    n, d = X.shape
    table = np.zeros((n, -(-d // 16) * 16), np.float32)
    table[:, :d] = X
    name = metric.split()[0]
    sums = X.sum(axis=1).astype(np.float32) if name in ("braycurtis", "ruzicka") else np.empty(0, np.float32)
    order = np.arange(n, dtype=np.int32)
    return _native.DenseDescent(table, name, METRICS[metric][0], sums, np.empty((n, 0), np.float32), order)


ORDERED_AS = {  # what a search measures, as a function of the distance
    "ruzicka": lambda D, d, p: D / (2 - D),  # that of Bray and Curtis
    "hamming": lambda D, d, p: D * d,
    "jensenshannon": lambda D, d, p: 2 * D**2,
    "minkowski": lambda D, d, p: D**p,
}


@each
@pytest.mark.parametrize("d", [5, 40])
def test_searches_measure_numbers_in_the_order_of_the_distances(metric, d, rng):
    X = rows_for(metric, rng, 45, d).astype(np.float32).astype(np.float64)
    found = measured(of_search(X, metric), 45)
    expected = METRICS[metric][1](X, X)
    expected = ORDERED_AS.get(metric.split()[0], lambda D, d, p: D)(expected, d, METRICS[metric][0])
    np.testing.assert_allclose(found, expected, rtol=2e-5, atol=2e-6)
    assert (found >= 0).all()
    if metric != "jensenshannon":
        assert (found.diagonal() < 1e-30).all()
    _native.force_baseline(True)
    try:
        np.testing.assert_array_equal(found, measured(of_search(X, metric), 45))
    finally:
        _native.force_baseline(False)


# ---- what rows share ----------------------------------------------------------------------------------------


def words_of(X):
    n, d = X.shape
    octets = np.zeros((n, 8 * -(-d // 64)), np.uint8)
    octets[:, : -(-d // 8)] = np.packbits(X, axis=1, bitorder="little")
    return octets.view(np.uint64)


@pytest.mark.parametrize("d", [3, 64, 200])
def test_bits_that_rows_share(d, rng):
    X, Y = rng.random((7, d)) < 0.4, rng.random((29, d)) < 0.4
    out, indices = np.empty((7, 29)), rng.integers(0, 29, (7, 5)).astype(np.int32)
    _native.shared_bit_block(words_of(X), words_of(Y), out)
    np.testing.assert_array_equal(out, X.astype(int) @ Y.T.astype(int))
    listed = np.empty((7, 5))
    _native.shared_bit_lists(words_of(X), words_of(Y), indices, listed)
    np.testing.assert_array_equal(listed, np.take_along_axis(out, indices, axis=1))
    _native.force_baseline(True)
    try:
        narrow = np.empty((7, 29))
        _native.shared_bit_block(words_of(X), words_of(Y), narrow)
    finally:
        _native.force_baseline(False)
    np.testing.assert_array_equal(out, narrow)


@pytest.mark.parametrize("name", COUNTED)
def test_distances_from_shared_bits_are_those_of_scipy(name, rng):
    X = rng.random((30, 70)) < 0.3
    shared = (X.astype(float) @ X.T).copy()
    counts = X.sum(axis=1).astype(float)
    _native.distances_from_shared(shared, counts, counts[None], 70.0, name)
    expected = cdist(X, X, name)
    np.testing.assert_allclose(shared, expected, rtol=1e-15, atol=1e-15)
    space = _native.BitDescent(words_of(X), counts.astype(np.float32), 70, name)
    np.testing.assert_allclose(measured(space, 30), expected, rtol=1e-6, atol=1e-7)


def test_rows_without_a_single_true_are_equal():
    shared = np.zeros((2, 2))
    for name in COUNTED:
        _native.distances_from_shared(shared, np.zeros(2), np.zeros((1, 2)), 5.0, name)
        assert not shared.any(), name


def csr(rows):
    return rows.data, rows.indices.astype(np.int32), rows.indptr.astype(np.int64)


def overlap(X, Y):
    """(|x| + |y| - |x - y|) / 2, cell by cell."""
    both = np.abs(X)[:, None] + np.abs(Y)[None]
    return ((both - np.abs(X[:, None] - Y[None])) / 2).sum(axis=2)


@pytest.mark.parametrize("by_overlap", [False, True])
def test_cells_that_sparse_rows_share(by_overlap, rng):
    X, Y = (sparse.csr_array(rng.random((n, 23)) * (rng.random((n, 23)) < 0.3)) for n in (9, 31))
    for rows in (X, Y):
        rows.data *= rng.choice([-1, 1], rows.nnz)
    dense = X.toarray(), Y.toarray()
    expected = overlap(*dense) if by_overlap else dense[0] @ dense[1].T
    out = np.full((9, 31), np.nan)
    _native.shared_cell_block(*csr(X), *csr(sparse.csr_array(Y.T)), by_overlap, out)
    np.testing.assert_allclose(out, expected, atol=1e-14)
    indices = rng.integers(0, 31, (9, 6)).astype(np.int32)
    listed = np.empty((9, 6))
    _native.shared_cell_lists(*csr(X), *csr(Y), by_overlap, indices, listed)
    np.testing.assert_array_equal(listed, np.take_along_axis(out, indices, axis=1))
    sums = np.abs(dense[1]).sum(axis=1) if by_overlap else (dense[1] ** 2).sum(axis=1)
    parts = csr(Y.astype(np.float32))
    space = _native.SparseDescent(*parts, sums.astype(np.float32), 23, by_overlap, "difference")
    between = cdist(dense[1], dense[1], "cityblock" if by_overlap else "sqeuclidean")
    np.testing.assert_allclose(measured(space, 31), between, rtol=1e-5, atol=1e-5)

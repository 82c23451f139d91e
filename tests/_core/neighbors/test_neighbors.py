"""Exact neighbours against brute force and scikit-learn; the three engines against each other, bit by bit."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.spatial.distance import cdist, pdist
from sklearn.neighbors import NearestNeighbors

import lowdim
from lowdim import _native
from lowdim._core.distances import with_params
from lowdim._core.neighbors import exact_nearest, exact_radius, nearest, prepared, shared, within

DTYPES = [np.float32, np.float64]
OWN = ["euclidean", "cosine", "manhattan"]
SCIPY_NAME = {"manhattan": "cityblock"}


@pytest.fixture
def rng():
    return np.random.default_rng(2)


def brute(X, k, metric="euclidean", queries=None):
    """By the definition: all distances, self at infinity, sorted by (distance, index)."""
    D = cdist(X if queries is None else queries, X, SCIPY_NAME.get(metric, metric))
    if queries is None:
        np.fill_diagonal(D, np.inf)
    order = np.lexsort((np.broadcast_to(np.arange(D.shape[1]), D.shape), D), axis=1)[:, :k]
    return order, np.take_along_axis(D, order, axis=1)


def routes_for(metric):
    return ["tree", "scan"] if metric == "manhattan" else ["tree", "products", "scan"]


def by_route(X, k, route, metric="euclidean", queries=None, n_jobs=1):
    distances, indices = exact_nearest.nearest_rows(prepared.open_search(X, queries, metric, "test"), k, n_jobs, route)
    return indices, distances


def assert_same(found, expected, rtol=1e-12, atol=0.0):
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_allclose(found[1], expected[1], rtol=rtol, atol=atol)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("metric", OWN)
@pytest.mark.parametrize("d", [2, 9, 150])
def test_every_engine_equals_brute_force(rng, dtype, metric, d):
    X = rng.normal(size=(150, d)).astype(dtype)
    expected = brute(X.astype(float), 7, metric)
    for route in routes_for(metric):
        assert_same(by_route(X, 7, route, metric), expected, rtol=1e-13, atol=1e-15)
    found = nearest(X, 7, metric=metric)
    assert_same((found.indices, found.distances), expected, rtol=16 * np.finfo(dtype).eps, atol=1e-15)
    assert found.distances.dtype == dtype
    assert found.indices.dtype == np.int32


@pytest.mark.parametrize("metric", OWN)
@pytest.mark.parametrize("d", [3, 30])
def test_equals_scikit_learn(rng, metric, d):
    X, Q = rng.normal(size=(180, d)), rng.normal(size=(40, d))
    peer = NearestNeighbors(n_neighbors=6, metric=metric, algorithm="brute").fit(X)
    for queries in (None, Q):
        distances, indices = peer.kneighbors(queries)
        found = nearest(X, 6, metric=metric, queries=queries)
        np.testing.assert_array_equal(found.indices, indices)
        np.testing.assert_allclose(found.distances, distances, rtol=1e-7)


@pytest.mark.parametrize("route", ["tree", "products", "scan"])
@pytest.mark.parametrize("k", [1, 3, 15, 40])
def test_ties_on_a_grid_are_broken_by_index(route, k):
    X = np.stack(np.meshgrid(*[np.arange(5.0)] * 3), axis=-1).reshape(-1, 3)
    for rows in (X, X * 0.1, X.astype(np.float32) + 1e4, np.tile(X, (1, 5))):
        assert_same(by_route(rows, k, route), (by_route(rows, k, "scan")), rtol=0)
    assert_same(by_route(X, k, route), brute(X, k))
    assert_same(by_route(X, k, route, queries=X[:20] + 0.5), brute(X, k, queries=X[:20] + 0.5))


@pytest.mark.parametrize("metric", OWN)
@pytest.mark.parametrize("d", [2, 40])
def test_duplicates_stay_and_self_goes_by_index(rng, metric, d):
    X = np.repeat(rng.normal(size=(6, d)), 30, axis=0)[rng.permutation(180)]
    for route in routes_for(metric):
        indices, distances = by_route(X, 12, route, metric)
        assert (indices != np.arange(180)[:, None]).all()
        assert (distances == 0).all()
        copies = (X[indices] == X[:, None]).all()
        assert copies
        assert (np.diff(indices, axis=1) > 0).all()  # all tied: the lowest indices, in order
        assert_same((indices, distances), by_route(X, 12, "scan", metric), rtol=0)


@pytest.mark.parametrize("metric", OWN)
@pytest.mark.parametrize("n", [2, 3, 300])
def test_all_rows_equal(metric, n):
    X = np.full((n, 4), 0.1)
    k = min(n - 1, 5)
    expected = [[j for j in range(n) if j != i][:k] for i in range(n)]
    for route in routes_for(metric):
        indices, distances = by_route(X, k, route, metric)
        assert indices.tolist() == expected
        assert (distances == 0).all()


@pytest.mark.parametrize("metric", [*OWN, "chebyshev"])
def test_all_neighbours(rng, metric):
    X = rng.normal(size=(35, 3))
    found = nearest(X, 34, metric=metric)
    assert_same((found.indices, found.distances), brute(X, 34, metric), rtol=1e-9)
    found = nearest(X, 35, metric=metric, queries=X[:4])
    assert_same((found.indices, found.distances), brute(X, 35, metric, X[:4]), rtol=1e-9, atol=1e-15)
    for route in routes_for(metric) if metric in OWN else []:
        assert_same(by_route(X, 34, route, metric), brute(X, 34, metric), rtol=1e-9)
        assert_same(by_route(X, 35, route, metric, X[:4]), brute(X, 35, metric, X[:4]), rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("offset", [1e3, 1e4])
@pytest.mark.parametrize("d", [3, 20, 200])
def test_float32_far_from_the_origin(rng, offset, d):
    X = (rng.normal(size=(200, d)) + offset).astype(np.float32)
    expected = brute(X.astype(float), 10)
    for route in ("tree", "products"):
        assert_same(by_route(X, 10, route), expected, rtol=1e-11)


def test_products_that_lose_all_digits_are_found_out(rng):
    """Two tight clusters far apart: float32 products see nothing inside a cluster."""
    X = np.concatenate([rng.normal(size=(90, 12)) * 1e-4 + 30, rng.normal(size=(90, 12)) * 1e-4 - 30])
    for rows in (X, X.astype(np.float32), X * 1e120, X * 1e-120):
        assert_same(by_route(rows, 8, "products"), by_route(rows, 8, "scan"), rtol=0)
    assert_same(by_route(X, 8, "products"), brute(X, 8))


def test_an_outlier_does_not_spoil_the_rest(rng):
    X = rng.normal(size=(150, 10))
    X[17] = 1e12
    search = prepared.open_search(X, None, "euclidean", "test")
    distances, indices = exact_nearest.nearest_rows(search, 5, 1, "products")
    rest = np.arange(150) != 17  # seen from out there all others are equally far
    assert_same((indices[rest], distances[rest]), [part[rest] for part in brute(X, 5)])
    assert search.single.unit**0.5 * 1e12 < 4
    assert "double" not in vars(search)  # float32 products were enough
    far = np.full((1, 10), 1e30)
    assert_same(by_route(X, 5, "products", queries=far), by_route(X, 5, "scan", queries=far), rtol=0)


def test_whole_numbers_need_no_second_look(rng):
    X = rng.integers(0, 3, size=(150, 30)).astype(float)
    search = prepared.open_search(X, None, "euclidean", "test")
    assert search.single.rounding == 0
    assert prepared.open_search(X + 0.1, None, "euclidean", "test").single.rounding > 0
    assert prepared.open_search(X * 1e4, None, "euclidean", "test").single.rounding > 0
    assert prepared.open_search(X * 1e4, None, "euclidean", "test").double.rounding == 0
    for rows in (X, X * 1e4, X + 0.1):
        assert_same(by_route(rows, 9, "products"), by_route(rows, 9, "scan"), rtol=0)
    assert_same(by_route(X, 9, "products"), brute(X, 9))


@pytest.mark.parametrize("metric", OWN)
@pytest.mark.parametrize("scale", [2.0**-700, 2.0**700])
@pytest.mark.parametrize("d", [2, 30])
def test_rows_whose_squares_leave_the_range(rng, metric, scale, d):
    X = rng.normal(size=(80, d))
    length = 1.0 if metric == "cosine" else scale
    for kind in (np.asarray, sparse.csr_array):
        plain, found = (nearest(kind(X * s), 5, metric=metric) for s in (1.0, scale))
        np.testing.assert_array_equal(found.indices, plain.indices)
        np.testing.assert_allclose(found.distances, plain.distances * length, rtol=1e-12)
        radius = float(np.median(plain.distances))
        graph = within(kind(X * scale), radius * length, metric=metric)
        np.testing.assert_array_equal(graph.indices, within(kind(X), radius, metric=metric).indices)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_zero_rows_under_cosine(rng, kind):
    X = rng.normal(size=(60, 3))
    X[[5, 9, 30]] = 0
    D = cdist(X[X.any(1)], X[X.any(1)], "cosine")
    full = np.ones((60, 60))
    full[np.ix_(X.any(1), X.any(1))] = D
    full[np.ix_([5, 9, 30], [5, 9, 30])] = 0
    np.fill_diagonal(full, np.inf)
    expected = np.sort(full, axis=1)[:, :40]
    rows = sparse.csr_array(X) if kind == "sparse" else X
    for route in ["products", "scan"] + ["tree"] * (kind == "dense"):
        indices, distances = by_route(rows, 40, route, "cosine")
        np.testing.assert_allclose(distances, expected, atol=1e-14)
        assert indices[9].tolist() == [5, 30, *(i for i in range(60) if i not in (5, 9, 30))][:40]
        outside = by_route(rows, 5, route, "cosine", queries=rows[[9, 0]])
        assert outside[0][0].tolist() == [5, 9, 30, 0, 1]
        assert outside[1][0].tolist() == [0, 0, 0, 1, 1]
        search = prepared.open_search(rows, None, "cosine", "test")
        for radius in (0.0, 0.3, 1.0):
            if route != "scan":
                i, j, length = map(
                    np.concatenate, zip(*exact_radius.rows_within(search, radius, 1, route), strict=True)
                )
                table = np.full((60, 60), np.inf)
                table[i, j] = length
                np.testing.assert_allclose(table, np.where(full <= radius, full, np.inf), atol=1e-14)
                assert len(i) == np.isfinite(table).sum()


def test_parallel_rows_are_at_exactly_zero_under_cosine(rng):
    x = rng.normal(size=(1, 7))
    X = np.concatenate([x, 2 * x, 8 * x, -x, rng.normal(size=(9, 7))]).astype(np.float32)
    found = nearest(X, 2, metric="cosine")
    assert found.indices[0].tolist() == [1, 2]
    assert (found.distances[0] == 0).all()


@pytest.mark.parametrize("metric", ["chebyshev", "braycurtis", "correlation"])
def test_scipy_metrics_and_functions(rng, metric):
    X, Q = rng.random((90, 4)).astype(np.float32), rng.random((13, 4)).astype(np.float32)
    for queries in (None, Q):
        found = nearest(X, 8, metric=metric, queries=queries)
        expected = brute(X.astype(float), 8, metric, None if queries is None else queries.astype(float))
        assert_same((found.indices, found.distances), expected, rtol=1e-6)
    assert found.distances.dtype == np.float32
    found = nearest(X[:30], 3, metric=lambda x, y: np.abs(x - y).max())
    np.testing.assert_array_equal(found.indices, nearest(X[:30], 3, metric="chebyshev").indices)


@pytest.mark.parametrize("metric", OWN)
@pytest.mark.parametrize("dtype", DTYPES)
def test_sparse_rows(rng, metric, dtype):
    X = rng.normal(size=(120, 60)).astype(dtype)
    X[rng.random(X.shape) < 0.85] = 0
    X[7:12] = X[3]
    for queries in (None, X[::5] * dtype(1.5)):
        expected = nearest(X, 9, metric=metric, queries=queries)
        for kind in (sparse.csr_array, sparse.csc_matrix):
            found = nearest(kind(X), 9, metric=metric, queries=None if queries is None else kind(queries))
            np.testing.assert_array_equal(found.indices, expected.indices)
            np.testing.assert_allclose(found.distances, expected.distances, rtol=1e-6, atol=1e-30)
            assert found.distances.dtype == dtype
        radius = float(np.median(expected.distances)) * 1.0001
        graph = within(kind(X), radius, metric=metric, queries=None if queries is None else kind(queries))
        expected_graph = within(X, radius, metric=metric, queries=queries)
        np.testing.assert_allclose(graph.toarray(), expected_graph.toarray(), rtol=1e-6, atol=1e-30)


def test_sparse_counts_with_many_ties(rng):
    X = sparse.random_array((150, 40), density=0.1, random_state=rng, data_sampler=lambda size: np.ones(size)).tocsr()
    found = nearest(X, 6)
    assert_same((found.indices, found.distances), brute(X.toarray(), 6))


@pytest.mark.parametrize("route", ["tree", "products", "scan"])
def test_the_number_of_threads_does_not_change_a_bit(rng, route):
    X = np.concatenate([rng.normal(size=(1000, 6)), np.ones((200, 6)), rng.integers(3, size=(300, 6))])
    results = [by_route(X, 10, route, n_jobs=n_jobs) for n_jobs in (1, 2, 3)]
    for indices, distances in results[1:]:
        assert indices.tobytes() == results[0][0].tobytes()
        assert distances.tobytes() == results[0][1].tobytes()


@pytest.mark.parametrize("metric", [*OWN, "chebyshev"])
def test_threads_through_the_front_door(rng, metric):
    X = rng.normal(size=(600, 8))
    one, three = (nearest(X, 5, metric=metric, n_jobs=n_jobs) for n_jobs in (1, 3))
    assert one.distances.tobytes() == three.distances.tobytes()
    assert one.indices.tobytes() == three.indices.tobytes()
    one, three = (within(X, 1.0, metric=metric, n_jobs=n_jobs) for n_jobs in (1, 3))
    assert one.data.tobytes() == three.data.tobytes()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("d", [3, 50])
def test_the_baseline_gives_the_same_bits(rng, dtype, d):
    X = rng.normal(size=(700, d)).astype(dtype)
    wide = [by_route(X, 12, route) for route in ("tree", "products", "scan")]
    _native.force_baseline(True)
    try:
        narrow = [by_route(X, 12, route) for route in ("tree", "products", "scan")]
    finally:
        _native.force_baseline(False)
    for found in [*wide, *narrow]:
        assert found[0].tobytes() == wide[0][0].tobytes()
        assert found[1].tobytes() == wide[0][1].tobytes()


@pytest.mark.parametrize("d", [2, 30])
def test_read_only_memory_mapped_and_any_order(rng, tmp_path, d):
    X = rng.normal(size=(90, d))
    expected = nearest(X, 5)
    np.save(tmp_path / "rows.npy", X)
    frozen = X.copy()
    frozen.flags.writeable = False
    wider = np.zeros((180, d + 3))
    wider[::2, 1:-2] = X
    for rows in (
        frozen,
        np.asfortranarray(X),
        wider[::2, 1:-2],
        np.load(tmp_path / "rows.npy", mmap_mode="r"),
        X.tolist(),
    ):
        found = nearest(rows, 5)
        assert found.indices.tobytes() == expected.indices.tobytes()
        assert found.distances.tobytes() == expected.distances.tobytes()
        assert within(rows, 0.5).nnz == within(X, 0.5).nnz
    np.testing.assert_array_equal(frozen, X)


def test_inputs_are_never_modified(rng):
    X, Q, D = rng.normal(size=(50, 12)), rng.normal(size=(5, 12)), squareform_of(rng, 50)
    S = sparse.csr_array(np.where(rng.random((50, 12)) < 0.3, X, 0))
    before = X.copy(), Q.copy(), D.copy(), S.copy()
    for metric in [*OWN, "chebyshev"]:
        nearest(X, 3, metric=metric)
        nearest(X, 3, metric=metric, queries=Q)
        within(X, 2.0, metric=metric)
    for metric in OWN:
        nearest(S, 3, metric=metric)
    nearest(D, 3, metric="precomputed")
    for now, then in zip((X, Q, D), before, strict=False):
        np.testing.assert_array_equal(now, then)
    np.testing.assert_array_equal(S.data, before[3].data)
    np.testing.assert_array_equal(S.indices, before[3].indices)


def squareform_of(rng, n):
    Y = rng.normal(size=(n, 4))
    return cdist(Y, Y)


@pytest.mark.parametrize("dtype", DTYPES)
def test_precomputed_table_condensed_and_graph(rng, dtype):
    Y = rng.normal(size=(70, 4)).astype(dtype)
    D = cdist(Y, Y).astype(dtype)
    expected = nearest(Y, 6)
    graph = within(Y, 10.0)
    for known in (D, np.asfortranarray(D), pdist(Y).astype(dtype), graph, graph.tocoo()):
        found = nearest(known, 6, metric="precomputed")
        np.testing.assert_array_equal(found.indices, expected.indices)
        np.testing.assert_allclose(found.distances, expected.distances, rtol=1e-5)
        assert found.distances.dtype == dtype
        assert found.indices.dtype == np.int32
        np.testing.assert_allclose(
            within(known, 1.5, metric="precomputed").toarray(), within(Y, 1.5).toarray(), rtol=1e-5
        )
    for known in (D, pdist(Y), graph):
        found = nearest(known, 6, metric="precomputed", queries=D[:9])
        assert (found.indices[:, 0] == np.arange(9)).all()  # from outside: the row itself counts
        assert (found.distances[:, 0] == 0).all()


def test_precomputed_graph_with_zeros_and_a_stored_diagonal():
    rows, columns = [0, 0, 0, 1, 1, 2, 2], [0, 1, 2, 0, 2, 0, 1]
    graph = sparse.csr_array(([0.0, 0.0, 3.0, 0.0, 2.0, 3.0, 2.0], (rows, columns)), shape=(3, 3))
    found = nearest(graph, 1, metric="precomputed")
    assert found.indices.ravel().tolist() == [1, 0, 1]
    assert found.distances.ravel().tolist() == [0, 0, 2]
    near = within(graph, 0.0, metric="precomputed")
    assert near.nnz == 2
    assert near.tocoo().col.tolist() == [1, 0]


@pytest.mark.parametrize("route", ["tree", "products"])
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_within_equals_brute_force(rng, route, metric, dtype):
    X = (rng.normal(size=(160, 5)) + 3).astype(dtype)
    X[10:15] = X[3]
    for queries in (None, X[::7]):
        D = cdist(X if queries is None else queries, X, metric).astype(float)
        radius = float(np.quantile(D, 0.1)) * (1 + 1e-6)
        search = prepared.open_search(X, queries, metric, "test")
        parts = exact_radius.rows_within(search, radius, 2, route)
        i, j, values = (np.concatenate(pieces) for pieces in zip(*parts, strict=True))
        expected = radius >= D
        if queries is None:
            np.fill_diagonal(expected, False)
        found = np.zeros_like(expected)
        found[i, j] = True
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_allclose(values, D[i, j], rtol=1e-5, atol=1e-12)


@pytest.mark.parametrize("metric", [*OWN, "chebyshev"])
@pytest.mark.parametrize("d", [1, 30])
def test_within_keeps_zeros_and_sorts_columns(rng, metric, d):
    X = np.repeat(rng.normal(size=(40, d)) + 5, 2, axis=0)
    graph = within(X, 0.0, metric=metric) if metric != "cosine" or d > 1 else within(X, -0.0, metric="euclidean")
    assert isinstance(graph, sparse.csr_array)
    assert graph.shape == (80, 80)
    assert graph.nnz == 80
    assert (graph.data == 0).all()
    assert graph.indices.tolist() == (np.arange(80) ^ 1).tolist()
    everything = within(X, 1e6, metric=metric)
    assert everything.nnz == 80 * 79
    assert everything.has_sorted_indices


def test_within_includes_the_radius_itself_in_the_precision_of_the_data():
    X = np.array([[0.0], [0.1], [0.3]], np.float32)
    assert within(X, 0.1).nnz == 2
    grid = np.stack(np.meshgrid(np.arange(6.0), np.arange(6.0)), -1).reshape(-1, 2)
    assert within(grid, 1.0).nnz == 2 * 2 * 5 * 6
    assert within(np.tile(grid, (1, 16)), 4.0).nnz == 2 * 2 * 5 * 6
    assert within(grid, 1.0, metric="manhattan").nnz == 2 * 2 * 5 * 6


def test_within_may_find_nobody(rng):
    for metric in [*OWN, "chebyshev"]:
        graph = within(rng.normal(size=(20, 6)), 1e-12, metric=metric)
        assert graph.nnz == 0
        assert graph.shape == (20, 20)


@pytest.mark.parametrize("n", [255, 256, 257, 511, 512, 513, 1023, 1024, 1025])
def test_sizes_around_the_blocks(rng, n):
    X = rng.integers(0, 4, size=(n, 6)).astype(float)
    expected = brute(X, 5)
    for route in ("products", "tree"):
        assert_same(by_route(X, 5, route), expected)
    found = nearest(X, 5, metric="chebyshev")
    assert_same((found.indices, found.distances), brute(X, 5, "chebyshev"))


@given(
    st.integers(0, 2**32 - 1),
    st.integers(2, 60),
    st.integers(1, 20),
    st.sampled_from(["normal", "whole", "copies", "offset"]),
    st.sampled_from(OWN),
    st.sampled_from(DTYPES),
)
def test_property_all_engines_agree(seed, n, d, kind, metric, dtype):
    rng = np.random.default_rng(seed)
    X = {
        "normal": lambda: rng.normal(size=(n, d)),
        "whole": lambda: rng.integers(-2, 3, size=(n, d)),
        "copies": lambda: rng.normal(size=(3, d))[rng.integers(3, size=n)],
        "offset": lambda: rng.normal(size=(n, d)) + 1e3,
    }[kind]().astype(dtype)
    k = int(rng.integers(1, n))
    reference = by_route(X, k, "scan", metric)
    for route in routes_for(metric):
        found = by_route(X, k, route, metric)
        assert found[0].tobytes() == reference[0].tobytes()
        assert found[1].tobytes() == reference[1].tobytes()
    if metric != "cosine" or X.any(axis=1).all():
        expected = brute(X.astype(float), k, metric)[1]
        scale = 1e-8 if metric == "cosine" else 1e-12 * max(1.0, np.abs(X).max())
        np.testing.assert_allclose(reference[1], expected, rtol=1e-9, atol=scale)


def test_few_queries_build_no_tree(rng):
    X = rng.normal(size=(20_000, 3))
    assert prepared.open_search(X, X[:3], "euclidean", "test").route(5) == "scan"
    assert prepared.open_search(X, None, "euclidean", "test").route(5) == "tree"
    assert prepared.open_search(np.tile(X, (1, 10)), None, "euclidean", "test").route(5) == "products"
    assert prepared.open_search(np.tile(X, (1, 10)), None, "manhattan", "test").route(5) == "scan"


def test_refused_input(rng):
    X = rng.normal(size=(9, 3))
    for k in (0, 9, -1, 2.5, True, None):
        with pytest.raises(ValueError, match="Isomap: n_neighbors must be an integer from 1 to 8 for 9 rows; got"):
            nearest(X, k, owner="Isomap", name="n_neighbors")
    with pytest.raises(ValueError, match=r"from 1 to 9 .*got 10"):
        nearest(X, 10, queries=X)
    with pytest.raises(ValueError, match="X must have at least 2 rows; got 1"):
        nearest(X[:1], 1)
    with pytest.raises(ValueError, match="queries must have the 3 columns of X; got 2"):
        nearest(X, 2, queries=X[:, :2])
    with pytest.raises(ValueError, match="queries must have at least one row"):
        nearest(X, 2, queries=X[:0])
    with pytest.raises(ValueError, match="queries must be finite"):
        nearest(X, 2, queries=X * np.nan)
    with pytest.raises(ValueError, match="metric must be"):
        nearest(X, 2, metric="nope")
    with pytest.raises(ValueError, match="metric='haversine' must get dense rows"):
        nearest(sparse.csr_array(X), 2, metric="haversine")
    for radius in (-1, np.nan, np.inf, "1", None, True):
        with pytest.raises(ValueError, match="radius must be a finite number that is not negative"):
            within(X, radius)


def test_a_metric_that_is_not_defined_names_the_pair():
    X = np.array([[1.0, 2.0], [3.0, 3.0], [2.0, 1.0]])

    def picky(x, y):
        return np.nan if x[0] == x[1] else np.abs(x - y).sum()

    with pytest.raises(ValueError, match=r"must be defined for every pair of rows; got nan for rows 1 and 0"):
        nearest(X, 1, metric=picky)
    with pytest.raises(ValueError, match=r"must be defined for every pair of rows; got NaN for query 1 and row 0"):
        nearest(X, 1, metric=picky, queries=X.copy())


def test_refused_precomputed(rng):
    D = squareform_of(rng, 8)
    with pytest.raises(ValueError, match=r"square table, a condensed vector or a sparse graph; got shape \(8, 5\)"):
        nearest(D[:, :5], 2, metric="precomputed")
    with pytest.raises(ValueError, match=r"distances to the 8 rows, one column each; got shape \(3, 7\)"):
        nearest(D, 2, metric="precomputed", queries=D[:3, :7])
    with pytest.raises(ValueError, match="finite and not negative; got otherwise in rows 0 to 7"):
        nearest(-D, 2, metric="precomputed")
    with pytest.raises(ValueError, match="finite and not negative"):
        nearest(np.where(D.max() == D, np.nan, D), 2, metric="precomputed")
    with pytest.raises(ValueError, match="finite and not negative"):
        within(sparse.csr_array(-D), 2, metric="precomputed")
    graph = sparse.lil_array(D)
    graph[5, :6] = 0
    with pytest.raises(ValueError, match="at least 4 distances per row, diagonal not counted; row 5 has 2"):
        nearest(graph.tocsr(), 4, metric="precomputed")
    with pytest.raises(ValueError, match="from 1 to 7"):
        nearest(D, 8, metric="precomputed")


def test_rows_are_searched_once_inside_shared(monkeypatch):
    from lowdim._core.neighbors import search as neighbors

    X = np.random.default_rng(0).normal(size=(60, 4))
    plain = nearest(X, 5)
    calls = []
    search = neighbors._search
    monkeypatch.setattr(neighbors, "_search", lambda *a: calls.append(a[1]) or search(*a))
    with shared(X):
        for k in (8, 5, 8, 9, 3):
            found = nearest(X, k)
            assert found.indices.shape == (60, k)
        assert calls == [8, 9]  # fewer neighbours than known are cut from what is there
        np.testing.assert_array_equal(nearest(X, 5).indices, plain.indices)
        np.testing.assert_array_equal(nearest(X, 5).distances, plain.distances)
        nearest(X, 5, metric="manhattan")
        nearest(X[::2], 5)
        nearest(X, 5, queries=X[:3])
        assert len(calls) == 5  # other rows, metrics and queries are other searches
        with pytest.raises(ValueError, match="k must be an integer"):
            nearest(X, 0)
    nearest(X, 5)
    assert len(calls) == 6


@pytest.mark.parametrize("method", ["ClassicalMDS", "Isomap"])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_fitted_zero_rows_are_placed_again_where_they_were(rng, method, kind):
    X = np.abs(rng.normal(size=(40, 6)))
    X[[3, 11, 12, 30]] = 0
    rows = sparse.csr_array(X) if kind == "sparse" else X
    model = getattr(lowdim, method)(metric="cosine")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # components of the graph, negative eigenvalues
        Z = model.fit_transform(rows)
    np.testing.assert_allclose(model.transform(rows), Z, atol=1e-6)
    np.testing.assert_allclose(Z[[11, 12, 30]], Z[[3, 3, 3]], atol=1e-6)


def test_byte_order_keeps_the_precision(rng):
    X = rng.normal(size=(20, 3)).astype(np.float32)
    D = cdist(X, X).astype(np.float32)
    for found in (nearest(X.astype(">f4"), 3), nearest(D.astype(">f4"), 3, metric="precomputed")):
        assert found.distances.dtype == np.float32
        np.testing.assert_array_equal(found.indices, nearest(X, 3).indices)


def test_tables_that_hold_no_real_numbers_are_refused(rng):
    D = cdist(rng.normal(size=(9, 2)), np.zeros((9, 2)))
    for metric in ("euclidean", "precomputed"):
        with pytest.raises(ValueError, match="masked cells are missing values"):
            nearest(np.ma.masked_less(D, 1.0), 2, metric=metric)
        with pytest.raises(ValueError, match="must hold real numbers; got complex128"):
            within(D + 1j, 1.0, metric=metric)
        with pytest.raises(ValueError, match="must hold real numbers; got complex128"):
            nearest(sparse.csr_array(D + 1j), 2, metric=metric)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_approximate_search_measures_what_it_finds_exactly(metric):
    X = np.random.default_rng(0).normal(size=(3000, 3)) @ np.random.default_rng(1).normal(size=(3, 30)) + 5
    X[7] = 0
    exact, near = nearest(X, 10, metric=metric), nearest(X, 10, metric=metric, approximate=True)
    same = [np.isin(a, b).mean() for a, b in zip(near.indices, exact.indices, strict=True)]
    assert np.mean(same) > 0.98
    rows = np.flatnonzero((near.indices == exact.indices).all(axis=1))
    np.testing.assert_array_equal(near.distances[rows], exact.distances[rows])
    assert (np.diff(near.distances, axis=1) >= 0).all()
    assert (near.indices != np.arange(3000)[:, None]).all()


def test_when_approximate_search_is_taken(monkeypatch):
    from lowdim._core.neighbors import search as neighbors

    X = np.random.default_rng(0).normal(size=(400, 20))
    taken = []
    monkeypatch.setattr(
        neighbors, "_nearly", lambda search, k, n_jobs: taken.append(1) or neighbors._search(search, k, n_jobs, "x")
    )
    for rows, asked in ((X, None), (X, False)):
        nearest(rows, 5, approximate=asked)
    assert not taken
    monkeypatch.setattr(neighbors, "_MANY", 300)
    nearest(X, 5, approximate=None)
    assert len(taken) == 1
    nearest(X, 5, queries=X, approximate=None)
    nearest(X, 5, metric=lambda a, b: float(np.abs(a - b).sum()), approximate=True)
    nearest(X, 300, approximate=True)
    assert len(taken) == 1
    for metric, rows in ("manhattan", X), ("canberra", X), ("correlation", X), ("cosine", sparse.csr_array(X)):
        before = len(taken)
        nearest(rows, 5, metric=metric, approximate=None)
        assert len(taken) == before + 1, metric
    taken.clear()
    with shared(X):
        near = nearest(X, 5, approximate=True)
        assert nearest(X, 5, approximate=None).indices is not near.indices
        assert len(taken) == 1
        nearest(X, 5)  # approximate neighbours do not serve whoever wants exact ones
        nearest(X, 5, approximate=True)
        assert len(taken) == 1


@pytest.mark.parametrize("metric", ["cosine", "hellinger", "jaccard", with_params("minkowski", {"p": 3}, "test")])
def test_neighbours_under_any_metric_are_shared(metric, monkeypatch):
    """Also of sparse rows, and under a metric with parameters that was made anew."""
    from lowdim._core.neighbors import search as neighbors

    X = (np.random.default_rng(0).random((40, 12)) < 0.5) + np.eye(40, 12)
    X = np.minimum(X, 1.0)
    calls = []
    search = neighbors._search
    monkeypatch.setattr(neighbors, "_search", lambda *a: calls.append(a[1]) or search(*a))
    for rows in (X, sparse.csr_array(X)) if isinstance(metric, str) else (X,):
        again = metric if isinstance(metric, str) else with_params("minkowski", {"p": 3}, "test")
        with shared(rows):
            first, second = nearest(rows, 5, metric=metric), nearest(rows, 4, metric=again)
            np.testing.assert_array_equal(first.indices[:, :4], second.indices)
            assert len(calls) == 1
            if not isinstance(metric, str):
                nearest(rows, 4, metric=with_params("minkowski", {"p": 4}, "test"))
                assert len(calls) == 2
        calls.clear()

"""Blocks of distances against scipy in float64."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.spatial.distance import cdist, pdist

from lowdim._core.distances import as_rows, check_dissimilarities, check_metric, pairwise

DTYPES = [np.float32, np.float64]
OWN = ["euclidean", "cosine", "manhattan"]
SCIPY_NAME = {"manhattan": "cityblock"}


@pytest.fixture
def rng():
    return np.random.default_rng(1)


def exact(X, Y, metric):
    return cdist(X.astype(float), Y.astype(float), SCIPY_NAME.get(metric, metric))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("metric", OWN)
@pytest.mark.parametrize("d", [1, 4, 90])
def test_own_metrics_equal_scipy_and_keep_the_precision(rng, dtype, metric, d):
    X, Y = rng.normal(size=(30, d)).astype(dtype), rng.normal(size=(17, d)).astype(dtype)
    D = pairwise(X, Y, metric)
    assert D.dtype == dtype
    np.testing.assert_allclose(D, exact(X, Y, metric), rtol=400 * np.finfo(dtype).eps, atol=4 * np.finfo(dtype).eps)


@pytest.mark.parametrize("metric", ["chebyshev", "canberra", "correlation", "sqeuclidean", "hamming", "minkowski"])
def test_scipy_metrics_by_name(rng, metric):
    X, Y = rng.normal(size=(8, 5)), rng.normal(size=(6, 5))
    np.testing.assert_allclose(pairwise(X, Y, metric), cdist(X, Y, metric), rtol=1e-14)
    assert pairwise(X.astype(np.float32), None, metric).dtype == np.float32


def test_a_function_of_two_rows(rng):
    X = rng.normal(size=(7, 3))
    D = pairwise(X, None, lambda x, y: np.abs(x - y).max())
    np.testing.assert_array_equal(D, cdist(X, X, "chebyshev"))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("offset", [1e3, 1e4])
def test_data_far_from_the_origin_keep_their_digits(rng, dtype, offset):
    X = (rng.normal(size=(60, 20)) + offset).astype(dtype)
    np.testing.assert_allclose(pairwise(X), exact(X, X, "euclidean"), rtol=200 * np.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", DTYPES)
def test_near_pairs_in_two_far_clusters_keep_their_digits(rng, dtype):
    X = np.concatenate([rng.normal(size=(20, 8)) * 1e-3 + 50, rng.normal(size=(20, 8)) * 1e-3 - 50]).astype(dtype)
    np.testing.assert_allclose(pairwise(X), exact(X, X, "euclidean"), rtol=200 * np.finfo(dtype).eps)


@pytest.mark.parametrize("metric", OWN)
@pytest.mark.parametrize("dtype", DTYPES)
def test_equal_rows_are_at_exactly_zero(rng, metric, dtype):
    X = (rng.normal(size=(10, 33)) + 7).astype(dtype)
    D = pairwise(X[[0, 1, 0, 2, 1]], X, metric)
    assert D[[0, 1, 2, 3, 4], [0, 1, 0, 2, 1]].tolist() == [0] * 5
    assert (np.diagonal(pairwise(X, None, metric)) == 0).all()


def test_small_angles(rng):
    x = rng.normal(size=40)
    tilt = rng.normal(size=40) * 1e-7
    tilt -= x * (tilt @ x) / (x @ x)
    angle = np.arctan2(np.linalg.norm(tilt), np.linalg.norm(x))
    D = pairwise(x[None], np.stack([x + tilt, 4 * x]), "cosine")
    np.testing.assert_allclose(D[0, 0], 2 * np.sin(angle / 2) ** 2, rtol=1e-6)
    assert D[0, 1] == 0  # the same direction


@pytest.mark.parametrize("dtype", DTYPES)
def test_zero_rows_are_at_cosine_distance_zero_from_each_other_and_one_from_the_rest(dtype):
    X = np.array([[0.0, 0], [1, 0], [0, 0], [-2, 0]], dtype)
    for rows in (X, sparse.csr_array(X)):
        expected = [[0, 1, 0, 1], [1, 0, 1, 2], [0, 1, 0, 1], [1, 2, 1, 0]]
        assert pairwise(rows, None, "cosine").tolist() == expected
        assert pairwise(rows, rows.copy(), "cosine").tolist() == expected
        assert pairwise(X[[0, 3]], rows, "cosine").tolist() == [expected[0], expected[3]]


@pytest.mark.parametrize("scale", [1e-170, 1e170])
def test_cosine_of_rows_whose_squares_leave_the_range(scale):
    X = np.array([[1.0, 0], [1, 1]])
    np.testing.assert_allclose(pairwise(X * scale, None, "cosine"), pairwise(X, None, "cosine"), rtol=1e-12)


@pytest.mark.parametrize("scale", [1e-25, 1e25])
def test_float32_whose_squares_leave_the_range(rng, scale):
    X = (rng.normal(size=(70, 5)) * scale).astype(np.float32)
    np.testing.assert_allclose(pairwise(X), exact(X, X, "euclidean"), rtol=1e-6)


@pytest.mark.parametrize("scale", [2.0**-700, 2.0**700])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_float64_whose_squares_leave_the_range(rng, scale, kind):
    X, Y = rng.normal(size=(70, 5)), rng.normal(size=(9, 5))
    np.testing.assert_array_equal(pairwise(kind(X * scale), kind(Y * scale)), pairwise(kind(X), kind(Y)) * scale)
    assert set(pairwise(X * scale, Y * scale, squared=True).ravel()) == {0.0 if scale < 1 else np.inf}


@pytest.mark.parametrize("metric", OWN)
@pytest.mark.parametrize("dtype", DTYPES)
def test_sparse_rows_equal_dense_rows(rng, metric, dtype):
    X = rng.normal(size=(20, 50)).astype(dtype)
    X[rng.random(X.shape) < 0.8] = 0
    for kind in (sparse.csr_array, sparse.csc_matrix, sparse.coo_array):
        D = pairwise(kind(X), kind(X[:5]), metric)
        assert D.dtype == dtype
        np.testing.assert_allclose(D, pairwise(X, X[:5], metric), rtol=60 * np.finfo(dtype).eps, atol=1e-6)
    np.testing.assert_allclose(pairwise(X, kind(X), metric), pairwise(X, X, metric), rtol=1e-5, atol=1e-6)


def test_sparse_rows_with_unsorted_and_repeated_entries_stay_as_they_are():
    X = sparse.csr_array((np.array([1.0, 2, 3]), np.array([2, 0, 2]), np.array([0, 3, 3])), shape=(2, 4))
    before = X.indices.copy(), X.data.copy()
    assert pairwise(X, None, "manhattan")[0, 1] == 6
    assert pairwise(X)[0, 1] == np.sqrt(20)
    np.testing.assert_array_equal(X.indices, before[0])
    np.testing.assert_array_equal(X.data, before[1])


def test_squared_and_the_dependence_on_nothing_but_the_pair(rng):
    X, Y = rng.normal(size=(9, 4)) + 3, rng.normal(size=(5, 4))
    np.testing.assert_allclose(pairwise(X, Y, squared=True), cdist(X, Y) ** 2, rtol=1e-12)
    np.testing.assert_allclose(pairwise(X, Y)[3:4], pairwise(X[3:4], Y), rtol=1e-14)
    np.testing.assert_array_equal(pairwise(X), pairwise(X).T)


@pytest.mark.parametrize("order", ["C", "F"])
def test_read_only_and_any_order(rng, order):
    X = np.asarray(rng.normal(size=(12, 5)), order=order)
    X.flags.writeable = False
    before = X.copy()
    for metric in [*OWN, "chebyshev"]:
        np.testing.assert_allclose(pairwise(X, X[::2], metric), exact(X, X[::2], metric), atol=1e-12)
    np.testing.assert_array_equal(X, before)


def test_lists_and_integers_become_float64():
    assert pairwise([[0, 0], [3, 4]]).tolist() == [[0, 5], [5, 0]]
    assert pairwise(np.eye(3, dtype=np.float32), np.eye(3)).dtype == np.float64


@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.sampled_from(OWN), st.floats(-4, 4))
def test_property_equals_scipy(seed, d, metric, exponent):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(9, d)) * 10**exponent + rng.normal(size=d)
    Y = np.concatenate([X[:3], rng.normal(size=(4, d))])
    np.testing.assert_allclose(pairwise(X, Y, metric), exact(X, Y, metric), rtol=1e-9, atol=1e-15 * 10**6)


def test_refused_input(rng):
    X = rng.normal(size=(4, 3))
    with pytest.raises(ValueError, match="metric must be a function of two rows or one of braycurtis"):
        pairwise(X, X, "euclid")
    with pytest.raises(ValueError, match="precomputed"):
        pairwise(X, X, "precomputed")
    with pytest.raises(ValueError, match="squared=True must go with metric='euclidean'; got metric='cosine'"):
        pairwise(X, X, "cosine", squared=True)
    with pytest.raises(ValueError, match="Y must have the 3 columns of X; got 2"):
        pairwise(X, X[:, :2])
    with pytest.raises(ValueError, match="table of rows and columns; got 1 dimension"):
        pairwise(X[0])
    with pytest.raises(ValueError, match="metric='haversine' must get dense rows"):
        pairwise(sparse.csr_array(X), None, "haversine")
    with pytest.raises(ValueError, match="X must be finite"):
        pairwise(np.array([[np.nan, 1.0]]))


def test_metric_names():
    assert check_metric("l1", "o") == check_metric("cityblock", "o") == "manhattan"
    assert check_metric("l2", "o") == "euclidean"
    assert check_metric("precomputed", "o") == "precomputed"
    assert check_metric(max, "o") is max
    for metric, way_out in (("mahalanobis", "whiten"), ("seuclidean", "standardise")):
        with pytest.raises(ValueError, match=f"Isomap: metric '{metric}'.*{way_out}"):
            check_metric(metric, "Isomap")
    with pytest.raises(ValueError, match="got 3"):
        check_metric(3, "o")


def test_dissimilarities_are_returned_as_they_are(rng):
    for dtype in DTYPES:
        D = pairwise(rng.normal(size=(6, 2)).astype(dtype))
        assert check_dissimilarities(D, "MDS") is D
    assert check_dissimilarities([[0, 2], [2, 0]], "MDS").dtype == np.float64


def test_condensed_dissimilarities_are_expanded(rng):
    X = rng.normal(size=(7, 3))
    np.testing.assert_array_equal(check_dissimilarities(pdist(X), "MDS"), cdist(X, X))
    assert check_dissimilarities(pdist(X).astype(np.float32), "MDS").dtype == np.float32
    with pytest.raises(ValueError, match=r"n \(n - 1\) / 2 entries for some n; got 4"):
        check_dissimilarities(np.ones(4), "MDS")


def test_rounding_of_the_two_halves_is_averaged_away(rng):
    D = pairwise(rng.normal(size=(6, 2)))
    noisy = D + 1e-8 * rng.random(D.shape)
    before = noisy.copy()
    out = check_dissimilarities(noisy, "MDS")
    np.testing.assert_array_equal(out, out.T)
    assert (np.diagonal(out) == 0).all()
    np.testing.assert_allclose(out, D, atol=1e-7)
    np.testing.assert_array_equal(noisy, before)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda D: D[:, :4], "square table or a condensed vector; got shape"),
        (lambda D: D - 2 * D, "must not be negative; got -"),
        (lambda D: np.where(D.max() == D, np.nan, D), "finite"),
        (lambda D: np.where(D.max() == D, np.inf, D), "finite"),
        (lambda D: np.triu(D), "symmetric; got entries that differ by"),
        (lambda D: 3 - D, "0 on the diagonal; got 3"),
    ],
)
def test_refused_dissimilarities(change, message):
    D = pairwise(np.array([[0.0], [1.0], [1.5], [2.0], [2.5]]))
    with pytest.raises(ValueError, match=f"MDS: .*{message}"):
        check_dissimilarities(change(D), "MDS")


def test_sparse_dissimilarities():
    graph = sparse.csr_array(np.array([[0, 1, 0], [0, 0, 2], [0, 0, 0]]))
    with pytest.raises(TypeError, match="must be dense; got a sparse matrix"):
        check_dissimilarities(graph, "MDS")
    out = check_dissimilarities(graph, "Isomap", sparse_ok=True)
    assert out.dtype == np.float64
    np.testing.assert_array_equal(out.toarray(), graph.toarray())
    for bad, message in (
        (-graph, "negative"),
        (graph[:2], "square"),
        (graph + sparse.eye_array(3), "diagonal"),
    ):
        with pytest.raises(ValueError, match=message):
            check_dissimilarities(bad, "Isomap", sparse_ok=True)


class TestWhatIsNoTableOfRealNumbers:
    TABLE = np.arange(6.0).reshape(3, 2)

    def test_masked_cells_are_missing_values(self):
        X = np.ma.masked_greater(self.TABLE, 3)
        for refuse in (pairwise, lambda X: check_dissimilarities(X[:2], "pairwise")):
            with pytest.raises(ValueError, match=r"pairwise: .*masked cells are missing values; fill or drop them"):
                refuse(X[1:])
        np.testing.assert_array_equal(pairwise(np.ma.asarray(self.TABLE)), pairwise(self.TABLE))

    @pytest.mark.parametrize("kind", [complex, "datetime64[s]", "timedelta64[s]", str])
    def test_other_kinds_are_refused(self, kind):
        X = self.TABLE.astype(int).astype(kind)
        with pytest.raises(ValueError, match="Isomap: X must hold real numbers; got " + re.escape(str(X.dtype))):
            as_rows(X, "Isomap")
        with pytest.raises(ValueError, match="must hold real numbers"):
            check_dissimilarities(X[:2], "Isomap")

    def test_objects_name_the_first_that_is_no_number(self):
        with pytest.raises(ValueError, match=r"X must hold real numbers; got 'far' \(str\)"):
            as_rows(np.array([[1.0, "far"]], object), "Isomap")
        assert as_rows(np.array([[1, 2.5]], object), "Isomap").tolist() == [[1, 2.5]]

    def test_sparse_imaginary_parts_are_not_dropped(self):
        X = sparse.csr_array(self.TABLE + 1j)
        for refuse in (as_rows, lambda X, owner: check_dissimilarities(X, owner, sparse_ok=True)):
            with pytest.raises(ValueError, match=r"must hold real numbers; got complex128"):
                refuse(X, "Isomap")


@pytest.mark.parametrize("dtype", [">f4", "<f4", ">f8", "<f8"])
def test_byte_order_changes_neither_precision_nor_values(rng, dtype):
    X = rng.normal(size=(9, 3))
    native = np.float32 if "4" in dtype else np.float64
    D = pairwise(X.astype(native))
    found = pairwise(X.astype(dtype))  # scipy's sparse matrices know the native order only
    assert found.dtype == native
    np.testing.assert_array_equal(found, D)
    assert check_dissimilarities(D.astype(dtype), "test").dtype == native

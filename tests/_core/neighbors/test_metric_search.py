"""Neighbours under every metric with a compiled loop, dense and sparse, exact and approximate, against all pairs."""

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import haversine_distances

from lowdim._core.distances import CODED, comparable, pairwise, with_params
from lowdim._core.neighbors import nearest, nn_descent, within
from tests.native.test_metric_kernels import ruzicka

COUNTED = ("dice", "jaccard", "rogerstanimoto", "russellrao", "sokalsneath", "yule")
NAMED = ("manhattan", "chebyshev", "canberra", "cosine", "correlation", "hamming", "sqeuclidean")
POSITIVE = ("braycurtis", "ruzicka", "jensenshannon", "hellinger")


def families(rng, n, d, spread=0.15):
    """Rows around a few centres, not negative."""
    centres = rng.gamma(1.0, size=(12, d))
    return centres[rng.integers(0, 12, n)] * rng.lognormal(0, spread, (n, d))


def rows_for(metric, rng, n, d=24):
    if metric in COUNTED or metric == "binary hamming":
        return (families(rng, n, 3 * d, 0.4) > 0.9).astype(float)
    if metric == "haversine":
        return rng.uniform([-1.5, -3.1], [1.5, 3.1], (n, 2))
    if metric == "hamming":
        return families(rng, n, d).round()
    return families(rng, n, d) - (0 if metric in POSITIVE else 0.5)


def all_pairs(X, Y, metric):
    """Distances by scipy and scikit-learn, or by the definition."""
    if metric == "ruzicka":
        return ruzicka(X, Y)
    if metric == "haversine":
        return haversine_distances(X, Y)
    if metric == "hellinger":
        roots = [np.sqrt(rows / rows.sum(axis=1, keepdims=True)) for rows in (X, Y)]
        return cdist(*roots) / np.sqrt(2)
    name = {"manhattan": "cityblock", "binary hamming": "hamming"}.get(metric, metric)
    return cdist(X.astype(bool), Y.astype(bool), name) if metric in COUNTED else cdist(X, Y, name)


EVERY = (*NAMED, *POSITIVE, *COUNTED, "haversine", "binary hamming")
each = pytest.mark.parametrize("metric", EVERY)


def found_for(X, k, metric, **given):
    name = "hamming" if metric == "binary hamming" else metric
    return nearest(X, k, metric=name, **given)


@each
def test_blocks_are_the_distances_of_the_definition(metric, rng):
    X, Y = rows_for(metric, rng, 25), rows_for(metric, rng, 31)
    name = "hamming" if metric == "binary hamming" else metric
    np.testing.assert_allclose(pairwise(X, Y, name), all_pairs(X, Y, metric), rtol=1e-9, atol=1e-8)
    single = pairwise(X.astype(np.float32), Y.astype(np.float32), name)
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, all_pairs(X, Y, metric), rtol=1e-4, atol=2e-4)
    own = pairwise(X, None, name)
    np.testing.assert_array_equal(own, own.T)


@each
def test_exact_neighbours_are_those_of_all_pairs(metric, rng):
    X, Q = rows_for(metric, rng, 150), rows_for(metric, rng, 9)
    D = all_pairs(X, X, metric)
    np.fill_diagonal(D, np.inf)
    found = found_for(X, 7, metric)
    np.testing.assert_allclose(found.distances, np.sort(D, axis=1)[:, :7], rtol=1e-9, atol=1e-8)
    np.testing.assert_allclose(found.distances, np.take_along_axis(D, found.indices, axis=1), rtol=1e-9, atol=1e-8)
    asked = found_for(X, 4, metric, queries=Q)
    np.testing.assert_allclose(asked.distances, np.sort(all_pairs(Q, X, metric), axis=1)[:, :4], rtol=1e-9, atol=1e-8)


@each
def test_approximate_neighbours_are_nearly_all_of_them(metric, rng):
    """The distances of those that were found are the exact ones, to the last bit."""
    n, k = 1500, 10
    X = rows_for(metric, rng, n)
    exact, nearly = (found_for(X, k, metric, approximate=approximate, n_jobs=1) for approximate in (False, True))
    right = nearly.distances <= exact.distances[:, -1:] * (1 + 1e-9) + 1e-12
    assert right.mean() > 0.97
    rising = np.diff(nearly.distances, axis=1)
    assert ((rising > 0) | ((rising == 0) & (np.diff(nearly.indices, axis=1) > 0))).all()
    both = nearly.indices == exact.indices
    np.testing.assert_array_equal(nearly.distances[both], exact.distances[both])


@pytest.mark.parametrize("p", [1.5, 3, 5])
def test_minkowski_with_a_power(p, rng):
    X = families(rng, 1300, 12)
    metric = with_params("minkowski", {"p": p}, "test")
    np.testing.assert_allclose(pairwise(X[:40], metric=metric), cdist(X[:40], X[:40], "minkowski", p=p), rtol=1e-11)
    exact, nearly = (nearest(X, 8, metric=metric, approximate=approximate, n_jobs=1) for approximate in (False, True))
    np.testing.assert_allclose(exact.distances[:30], np.sort(cdist(X[:30], X, "minkowski", p=p))[:, 1:9], rtol=1e-11)
    assert (nearly.indices == exact.indices).mean() > 0.97


# ---- sparse rows --------------------------------------------------------------------------------------------

OF_SPARSE = ("euclidean", "cosine", "manhattan", "hellinger", "sqeuclidean", "braycurtis", "ruzicka")
MERGED = ("chebyshev", "canberra", "jensenshannon", "correlation", "counted hamming")


def sparse_rows(metric, rng, n, d=300):
    """Each row has some of the columns of its topic, more of the first ones."""
    topics = np.array([rng.permutation(d)[:40] for _ in range(12)])
    rows = np.zeros((n, d))
    for i, topic in enumerate(rng.integers(0, 12, n)):
        columns = topics[topic][np.minimum(rng.geometric(0.08, 15), 40) - 1]
        np.add.at(rows[i], columns, 1.0)
    return sparse.csr_array(rows > 0 if metric in (*COUNTED, "hamming") else np.log1p(rows)).astype(float)


@pytest.mark.parametrize("metric", [*OF_SPARSE, *COUNTED, *MERGED, "hamming", "minkowski"])
def test_sparse_rows_are_compared_as_they_are(metric, rng):
    X = sparse_rows(metric, rng, 1300)
    dense = X.toarray()
    metric = with_params("minkowski", {"p": 3}, "test") if metric == "minkowski" else metric.split()[-1]
    np.testing.assert_allclose(pairwise(X[:30], X[:50], metric), pairwise(dense[:30], dense[:50], metric), atol=1e-9)
    exact, nearly = (nearest(X, 8, metric=metric, approximate=approximate, n_jobs=1) for approximate in (False, True))
    wanted = nearest(dense, 8, metric=metric)
    np.testing.assert_allclose(exact.distances, wanted.distances, atol=1e-9)
    assert (nearly.distances <= exact.distances[:, -1:] + 1e-9).mean() > 0.95
    asked = nearest(X[:100], 5, metric=metric, queries=X[100:120])
    np.testing.assert_allclose(
        asked.distances, nearest(dense[:100], 5, metric=metric, queries=dense[100:120]).distances, atol=1e-9
    )


def test_rows_of_few_cells_and_many_columns_stay_sparse(rng):
    """Too wide for words of bits, so compared by a table of the cells that they share."""
    X = sparse_rows("jaccard", rng, 120, 4000)
    D = pairwise(X.toarray(), None, "jaccard")
    np.testing.assert_array_equal(pairwise(X, None, "jaccard"), D)
    np.fill_diagonal(D, np.inf)
    np.testing.assert_array_equal(nearest(X, 5, metric="jaccard").distances, np.sort(D, axis=1)[:, :5])


def test_a_metric_that_needs_dense_rows_says_so():
    X = sparse.csr_array(np.arange(1.0, 11.0).reshape(5, 2))
    for call in (
        lambda: nearest(X, 1, metric="haversine", owner="Isomap"),
        lambda: pairwise(X, None, "haversine", owner="Isomap"),
    ):
        with pytest.raises(ValueError, match=r"Isomap: .*X\.toarray\(\)"):
            call()


def test_sparse_rows_that_are_constant_have_no_correlation():
    X = sparse.csr_array(np.array([[1.0, 0.0, 3.0], [2.0, 2.0, 2.0], [0.0, 1.0, 0.0]]))
    with pytest.raises(ValueError, match=r"rows that are not constant; all cells of row 1 of X are 2"):
        nearest(X, 1, metric="correlation")
    single = sparse.csr_array(np.array([[1.0, 0.0, 3.0], [2.0, 0.0, 6.0], [0.0, 1.0, 0.0]], np.float32))
    D = pairwise(single, None, "correlation")
    assert D.dtype == np.float32
    np.testing.assert_allclose(D, cdist(single.toarray(), single.toarray(), "correlation"), atol=1e-6)


# ---- numbers and categories ---------------------------------------------------------------------------------


def test_neighbours_of_mixed_rows_by_descent(rng):
    """Numbers, categories and missing cells: nearly all neighbours, at the distances of the exact search."""
    n, k = 1500, 10
    families_of = rng.integers(0, 12, n)
    centres = rng.normal(size=(12, 5)) * 3
    numbers = centres[families_of] + rng.normal(size=(n, 5)) * 0.5
    numbers[rng.random((n, 5)) < 0.1] = np.nan
    table = np.empty((n, 8), dtype=object)
    table[:, :5] = numbers
    for j in range(5, 8):
        choice = np.where(rng.random(n) < 0.8, families_of, rng.integers(0, 12, n))
        table[:, j] = [f"kind {value}" for value in choice]
    X = comparable(table, "gower", "test")[0]
    for dtype in (np.float64, np.float32):
        exact, nearly = (nearest(X.astype(dtype), k, metric=CODED, approximate=a, n_jobs=1) for a in (False, True))
        assert (nearly.distances <= exact.distances[:, -1:] + 1e-9).mean() > 0.97
        both = nearly.indices == exact.indices
        np.testing.assert_array_equal(nearly.distances[both], exact.distances[both])


@pytest.mark.parametrize("metric", ["braycurtis", "jaccard", "jensenshannon"])
def test_sparse_rows_outside_the_domain_are_refused(metric):
    X = sparse.csr_array(np.array([[1.0, 0.0], [0.0, -2.0], [0.0, 3.0]]))
    with pytest.raises(ValueError, match=f"metric='{metric}' must get .*; got -2 in row 1, column 1 of X"):
        nearest(X, 1, metric=metric)


def test_projected_rows_have_more_trees_the_more_there_are():
    """Two near rows are in one leaf the more rarely; dense rows keep four trees."""

    class Rows:
        def __init__(self, n, projected):
            self.n, self.projected = n, projected

    assert [nn_descent._trees(Rows(n, True)) for n in (2_000, 25_000, 100_000, 1_000_000)] == [4, 4, 8, 14]
    assert nn_descent._trees(Rows(1_000_000, False)) == 4


# ---- radius, and what is said -------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", ["hellinger", "haversine", "correlation", "sqeuclidean", "jaccard", "braycurtis"])
def test_rows_within_a_radius(metric, rng):
    X = rows_for(metric, rng, 90)
    D = pairwise(X, None, metric)
    radius = float(np.quantile(D, 0.2))
    np.fill_diagonal(D, np.inf)
    graph = within(X, radius, metric=metric)
    np.testing.assert_allclose(graph.toarray(), np.where(radius * (1 + 1e-12) >= D, D, 0), atol=1e-8)
    assert graph.nnz == (radius * (1 + 1e-12) >= D).sum()


def test_tanimoto_of_bits_and_of_counts(rng):
    """Of True and False they are one; counts are refused by the one and compared by the other."""
    bits = (rng.random((20, 30)) < 0.4).astype(float)
    np.testing.assert_allclose(pairwise(bits, metric="tanimoto"), pairwise(bits, metric="counttanimoto"), atol=1e-15)
    counts = rng.poisson(1.0, (20, 30)).astype(float) * 2
    with pytest.raises(ValueError, match=r"metric=.jaccard. must get True and False.*metric=.ruzicka. for counts"):
        pairwise(counts, metric="tanimoto")
    np.testing.assert_allclose(pairwise(counts, metric="ruzicka"), ruzicka(counts, counts), atol=1e-15)


def test_places_in_degrees_are_noticed():
    degrees = np.array([[48.1, 11.6], [52.5, 13.4]])
    with pytest.raises(
        ValueError, match=r"two columns, latitude and longitude, in radians; got 48.1 .*np.radians\(X\)"
    ):
        pairwise(degrees, metric="haversine")
    km = 6371 * pairwise(np.radians(degrees), metric="haversine")[0, 1]
    assert 500 < km < 510

"""UMAP models joined by *, + and -, the fuzzy graph as a result, and memberships of new rows."""

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist

import lowdim
from lowdim.neighbor_embedding import _fuzzy

QUICK = {"n_neighbors": 8, "max_iter": 60, "random_state": 0}


def graph(*edges, n=4):
    i, j, w = zip(*edges, strict=True)
    W = sparse.coo_array((w, (i, j)), shape=(n, n))
    return sparse.csr_array(W + W.T)


@pytest.fixture(scope="module")
def views():
    """Two tables of the same rows: the first tells groups a and b apart, the second c and d."""
    rng = np.random.default_rng(0)
    a, c = np.repeat([0, 1], 40), np.tile([0, 1], 40)
    return 6.0 * a[:, None] + rng.standard_normal((80, 3)), 6.0 * c[:, None] + rng.standard_normal((80, 3)), a, c


def test_operations_before_scaling_are_those_of_fuzzy_sets():
    left, right = graph((0, 1, 0.5), (1, 2, 0.8)), graph((0, 1, 0.4), (2, 3, 0.6))
    union = _fuzzy._operated(left, right, "+").toarray()
    np.testing.assert_allclose([union[0, 1], union[1, 2], union[2, 3]], [0.5 + 0.4 - 0.2, 0.8, 0.6])
    both = _fuzzy._operated(left, right, "*").toarray()
    np.testing.assert_allclose([both[0, 1], both[1, 2], both[2, 3]], [0.2, 0.8e-4, 0.6e-4])  # traces of the others
    contrast = _fuzzy._operated(left, right, "-").toarray()
    np.testing.assert_allclose([contrast[0, 1], contrast[1, 2], contrast[2, 3]], [0.5 * 0.6, 0.8, 0.0])


@pytest.mark.parametrize("how", ["*", "+", "-"])
def test_combined_graphs_are_symmetric_with_a_strongest_weight_of_one(how):
    rng = np.random.default_rng(1)
    left, right = (lowdim.UMAP(**QUICK).fit(rng.standard_normal((40, 3))).graph_ for _ in range(2))
    W = _fuzzy.combined(left, right, how, 8).toarray()
    np.testing.assert_array_equal(W, W.T)
    np.testing.assert_allclose(W.max(axis=1), 1.0)
    assert ((W >= 0) & (W <= 1)).all()
    if how != "-":
        other = _fuzzy.combined(right, left, how, 8).toarray()
        np.testing.assert_allclose(W, other, atol=1e-12)


@pytest.mark.filterwarnings("ignore:UMAP. the neighbour graph has")
def test_intersection_separates_what_either_table_does(views):
    X, Y, a, c = views
    one, two = lowdim.UMAP(**QUICK).fit(X), lowdim.UMAP(**QUICK).fit(Y)
    both, apart = one * two, one - two
    assert both.embedding_.shape == (80, 2)

    def kept(model, groups):
        near = np.argsort(cdist(model.embedding_, model.embedding_), axis=1)[:, 1:6]
        return (groups[near] == groups[:, None]).mean()

    assert kept(one, c) < 0.6  # the first table knows nothing of c and d
    assert min(kept(both, a), kept(both, c)) > 0.6
    assert kept(apart, a) > 0.9  # the contrast keeps the groups of the first table alone
    assert kept(apart, c) < 0.6
    same = one * two
    np.testing.assert_array_equal(same.embedding_, both.embedding_)


def test_a_model_joined_with_itself_is_its_graph():
    X = np.random.default_rng(2).standard_normal((50, 3))
    one = lowdim.UMAP(**QUICK).fit(X)
    np.testing.assert_array_equal((one * one).graph_.toarray() > 0, one.graph_.toarray() > 0)
    np.testing.assert_allclose((one * one).graph_.max(axis=1).toarray(), 1.0)


@pytest.mark.filterwarnings("ignore:UMAP. the neighbour graph has")
def test_what_cannot_be_joined_is_refused(views, tmp_path):
    X, Y, _, _ = views
    one, two = lowdim.UMAP(**QUICK).fit(X), lowdim.UMAP(**QUICK).fit(Y[:60])
    with pytest.raises(ValueError, match="must be of the same rows to be combined; got 80 and 60 rows"):
        one + two
    with pytest.raises(TypeError):
        one + 1
    both = one + lowdim.UMAP(**QUICK).fit(Y)
    for call in (both.transform, both.memberships):
        with pytest.raises(ValueError, match="has no rows of its own"):
            call(X)
    lowdim.save(both, tmp_path / "both.lowdim")
    np.testing.assert_array_equal(lowdim.load(tmp_path / "both.lowdim").embedding_, both.embedding_)
    assert both.fit(X).transform(X[:3]).shape == (3, 2)  # a model again


def test_memberships_are_those_of_the_graph_and_place_new_rows():
    X = np.random.default_rng(3).standard_normal((60, 3))
    model = lowdim.UMAP(**QUICK).fit(X)
    W = model.memberships(X[:7] + 0.01)
    assert W.shape == (7, 60)
    np.testing.assert_allclose(W.sum(axis=1), np.log2(9))  # as k neighbours have it
    np.testing.assert_array_equal(W.toarray().argmax(axis=1), np.arange(7))
    D = cdist(X, X)
    by_distances = lowdim.UMAP(metric="precomputed", **QUICK).fit(D)
    np.testing.assert_allclose(by_distances.memberships(cdist(X[:7] + 0.01, X)).toarray(), W.toarray(), atol=1e-8)


def test_the_graph_of_equal_rows_joins_them():
    X = np.random.default_rng(4).standard_normal((30, 3))
    twice = np.vstack([X, X[:5]])
    single, double = (lowdim.UMAP(**QUICK).fit(table).graph_.toarray() for table in (X, twice))
    np.testing.assert_array_equal(double, double.T)
    np.testing.assert_array_equal(double[np.arange(5), 30 + np.arange(5)], 1.0)
    np.testing.assert_array_equal(double[30:, :30][:, 5:], double[:5, 5:30])
    assert single.shape == (30, 30)
    assert (single.diagonal() == 0).all()

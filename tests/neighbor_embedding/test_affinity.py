"""Affinities: perplexities, widths, uniform weights, and the joint distribution."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from lowdim._core.neighbors import nearest
from lowdim.neighbor_embedding._affinity import as_graph, check_neighbors, joint, n_neighbors, weights


def graph(n=80, k=30, seed=0, X=None):
    X = np.random.default_rng(seed).standard_normal((n, 4)) if X is None else X
    return as_graph(nearest(X, k), len(X))


def perplexities(P):
    p = P.toarray()
    return np.exp2(-(p * np.log2(np.where(p > 0, p, 1.0))).sum(axis=1))


@given(perplexity=st.floats(1.01, 9.9), seed=st.integers(0, 1000))
def test_every_row_has_its_perplexity(perplexity, seed):
    P = weights(graph(seed=seed), perplexity=perplexity)
    np.testing.assert_allclose(perplexities(P), perplexity, atol=1e-4)
    np.testing.assert_allclose(P.sum(axis=1), 1.0, rtol=1e-12)


def test_joint_is_symmetric_and_sums_to_one():
    P = weights(graph(), perplexity=10)
    J = joint(P)
    assert (J != J.T).nnz == 0
    assert J.sum() == pytest.approx(1.0, abs=1e-14)
    np.testing.assert_allclose(J.toarray(), (P + P.T).toarray() / 160, rtol=1e-12)
    assert not J.diagonal().any()


def test_several_perplexities_are_averaged():
    G = graph()
    several = weights(G, perplexity=[3, 9.0]).toarray()
    np.testing.assert_allclose(several, (weights(G, perplexity=3) + weights(G, perplexity=9)).toarray() / 2, rtol=1e-12)


def test_one_width_and_uniform_weights():
    G = graph(k=79)
    D = G.toarray()
    expected = np.exp(-(D**2) / (2 * 0.7**2)) - np.eye(80)
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(weights(G, sigma=0.7).toarray(), expected, rtol=1e-9, atol=1e-300)
    far = weights(graph(X=np.array([[0.0], [1.0], [1e6]]), k=2), sigma=1.0)
    np.testing.assert_allclose(far.sum(axis=1), 1.0)  # a row far from all others does not vanish
    np.testing.assert_allclose(weights(graph(k=8), kind="uniform").data, 1 / 8)


def test_duplicates_and_the_scale_of_distances():
    X = np.repeat(np.random.default_rng(1).standard_normal((20, 3)), 4, axis=0)
    P = weights(graph(X=X), perplexity=8)
    np.testing.assert_allclose(perplexities(P), 8, atol=1e-4)
    np.testing.assert_allclose(weights(graph(X=1e6 * X), perplexity=8).data, P.data, rtol=1e-6)
    equal = weights(graph(X=np.ones((40, 2)), k=9), perplexity=5)
    np.testing.assert_allclose(equal.data, 1 / 9)


def test_threads_do_not_change_bits():
    G = graph(900)
    one, two = (weights(G, perplexity=7, n_jobs=jobs).data for jobs in (1, 2))
    np.testing.assert_array_equal(one, two)


def test_how_many_neighbours():
    assert n_neighbors(30, 1000, "T") == 90
    assert n_neighbors([5, 50.5], 1000, "T") == 152
    with pytest.warns(UserWarning, match=r"T: perplexity=30 is more than a third of the 59 other rows"):
        assert n_neighbors(30, 60, "T") == 59
    with pytest.raises(ValueError, match=r"T: perplexity must be less than the number of rows; got 30 for 30 rows"):
        n_neighbors(30, 30, "T")
    with pytest.raises(ValueError, match=r"T: perplexity must be at least 1, one neighbour; got 0.5"):
        n_neighbors(0.5, 30, "T")


def test_a_row_without_neighbours_is_named():
    G = sparse.csr_array(([1.0, 1.0], ([0, 1], [1, 0])), shape=(3, 3))
    with pytest.raises(ValueError, match=r"T: 1 rows of X store no distance .*row 2"):
        check_neighbors(G, "T")

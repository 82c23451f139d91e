"""UMAP of weights that are given, such as scanpy's connectivities."""

import numpy as np
import pytest
from scipy import sparse

import lowdim
from lowdim.neighbor_embedding._fuzzy import union

X = np.random.default_rng(0).normal(size=(90, 4)) + 6 * np.eye(3, 4)[np.arange(90) % 3]
OF_ROWS = lowdim.UMAP(n_neighbors=40, max_iter=30, random_state=0).fit(X)


def of_weights(W, **given):
    return lowdim.UMAP(affinity="precomputed", n_neighbors=3, max_iter=30, random_state=0, **given).fit(W)


@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.coo_array, lambda W: W.toarray()])
def test_the_map_of_a_graph_is_that_of_its_rows(kind):
    """`n_neighbors` no longer matters, nor does what stands on the diagonal."""
    model = of_weights(kind(sparse.csr_array(OF_ROWS.graph_ + 0.5 * sparse.eye_array(90))))
    np.testing.assert_array_equal(model.embedding_, OF_ROWS.embedding_)
    np.testing.assert_array_equal(model.graph_.toarray(), OF_ROWS.graph_.toarray())
    assert model.kl_divergence_ == OF_ROWS.kl_divergence_


def test_both_directions_are_combined():
    one_way = sparse.csr_array(sparse.triu(OF_ROWS.graph_))
    model = of_weights(one_way, set_op_mix_ratio=1.0)
    np.testing.assert_array_equal(model.graph_.toarray(), union(one_way, 1.0).toarray())
    np.testing.assert_allclose(model.graph_.toarray(), OF_ROWS.graph_.toarray())


def test_a_target_is_taken_with_the_weights():
    labels = np.arange(90) % 2
    assert (of_weights(OF_ROWS.graph_).graph_ != OF_ROWS.graph_).nnz == 0
    model = lowdim.UMAP(affinity="precomputed", max_iter=30, random_state=0).fit(OF_ROWS.graph_, labels)
    across = (labels[:, None] != labels) & (OF_ROWS.graph_.toarray() > 0)
    assert (model.graph_.toarray()[across] < OF_ROWS.graph_.toarray()[across]).all()


def test_equal_rows_of_a_table_of_weights_are_nodes_of_their_own():
    W = np.ones((6, 6))
    Z = of_weights(W).embedding_
    assert len(np.unique(Z.round(6), axis=0)) == 6


def test_what_needs_rows_or_distances_is_refused(tmp_path):
    model = of_weights(OF_ROWS.graph_)
    with pytest.raises(ValueError, match="cannot place new ones"):
        model.transform(X[:2])
    for given, text in (
        (OF_ROWS.graph_ * 3, "weights must be from 0 to 1; got .* to 3. For distances set metric='precomputed'"),
        (X, r"weights must be a square table, one row and column a row; got shape \(90, 4\)"),
        (-OF_ROWS.graph_, "weights must be from 0 to 1"),
    ):
        with pytest.raises(ValueError, match=text):
            of_weights(given)
    for settings in ({"densities": 1.0}, {"disconnection_distance": 2.0}):
        name = next(iter(settings))
        with pytest.raises(ValueError, match=f"UMAP: {name} must be .* for affinity='precomputed'"):
            of_weights(OF_ROWS.graph_, **settings)

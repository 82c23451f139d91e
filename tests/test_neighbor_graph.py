"""The neighbour graph as a transformer: scikit-learn's contract, and methods that take it."""

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.manifold import Isomap as SklearnIsomap
from sklearn.neighbors import KNeighborsTransformer
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import lowdim

X = lowdim.datasets.swiss_roll(150, random_state=0).X


@parametrize_with_checks([lowdim.NeighborGraph(n_neighbors=2)])
def test_scikit_learn_check(estimator, check):
    check(estimator)


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "manhattan", "chebyshev", "canberra", "correlation"])
def test_it_is_the_graph_of_scikit_learn(metric):
    wanted = KNeighborsTransformer(n_neighbors=7, metric=metric)
    ours = lowdim.NeighborGraph(7, metric=metric)
    found, graph = ours.fit_transform(X), wanted.fit_transform(X)
    assert found.nnz == graph.nnz == 8 * len(X)
    np.testing.assert_allclose(found.toarray(), graph.toarray(), atol=1e-7)
    new = X[:20] + 0.1
    np.testing.assert_allclose(ours.transform(new).toarray(), wanted.transform(new).toarray(), atol=1e-7)


def test_distances_are_those_of_the_nearest_rows():
    graph = lowdim.NeighborGraph(5).fit_transform(X)
    wanted = np.sort(cdist(X, X), axis=1)[:, :6]
    np.testing.assert_allclose(np.sort(graph.data.reshape(-1, 6), axis=1), wanted, atol=1e-6)


def test_duplicates_are_neighbours_and_a_row_is_not_its_own_second():
    rows = np.vstack([X[:5], X[:5]])
    graph = lowdim.NeighborGraph(1).fit_transform(rows)
    np.testing.assert_array_equal(
        graph.indices.reshape(-1, 2), np.column_stack([np.arange(10), np.roll(np.arange(10), 5)])
    )


def test_isomap_of_the_graph_is_isomap_of_the_rows():
    graph = lowdim.NeighborGraph(8).fit_transform(X)
    wanted = lowdim.Isomap(2, n_neighbors=8).fit_transform(X)
    found = lowdim.Isomap(2, n_neighbors=8, metric="precomputed").fit_transform(graph)
    np.testing.assert_allclose(cdist(found, found), cdist(wanted, wanted), atol=1e-6 * np.abs(wanted).max())


@pytest.mark.parametrize(
    "model",
    [
        lowdim.LaplacianEigenmaps(2, metric="precomputed"),
        lowdim.DiffusionMaps(2, metric="precomputed"),
        lowdim.UMAP(2, metric="precomputed", random_state=0),
        lowdim.TSNE(2, perplexity=5, metric="precomputed", random_state=0),
        lowdim.TCIE(2, n_neighbors=15, metric="precomputed", random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_methods_take_the_graph_in_place_of_the_rows(model):
    """Their defaults look at the rows too, so the maps are not the same; they are maps of the same rows."""
    Z = model.fit_transform(lowdim.NeighborGraph(15).fit_transform(X))
    assert lowdim.quality.trustworthiness(X, Z) > 0.8


def test_mvu_takes_the_graph():
    rows = X[:40, :2]
    Z = lowdim.MVU(2, metric="precomputed", slack=0.3).fit_transform(lowdim.NeighborGraph(5).fit_transform(rows))
    assert lowdim.quality.trustworthiness(rows, Z) > 0.8


def test_it_stands_where_the_transformer_of_scikit_learn_stands():
    found = make_pipeline(lowdim.NeighborGraph(8), SklearnIsomap(n_neighbors=8, metric="precomputed")).fit_transform(X)
    wanted = SklearnIsomap(n_neighbors=8).fit_transform(X)
    np.testing.assert_allclose(np.abs(found), np.abs(wanted), atol=1e-6 * np.abs(wanted).max())


def test_sparse_rows_and_single_precision():
    rows = sparse.random(60, 30, 0.3, format="csr", random_state=0, dtype=np.float32)
    graph = lowdim.NeighborGraph(4, metric="cosine").fit_transform(rows)
    assert graph.dtype == np.float32
    wanted = np.sort(cdist(rows.toarray(), rows.toarray(), "cosine"), axis=1)[:, :5]
    np.testing.assert_allclose(np.sort(graph.data.reshape(-1, 5), axis=1), wanted, atol=1e-5)


def test_umap_takes_the_graph_and_what_is_made_of_it():
    """Distances of neighbours, or connectivities: the same weights, the same map."""
    settings = {"n_neighbors": 10, "max_iter": 20, "random_state": 0}
    graph = lowdim.NeighborGraph(10).fit_transform(X)
    by_rows = lowdim.UMAP(**settings).fit(X)
    by_weights = lowdim.UMAP(affinity="precomputed", **settings).fit(by_rows.graph_)
    np.testing.assert_array_equal(by_weights.embedding_, by_rows.embedding_)
    assert lowdim.UMAP(metric="precomputed", **settings).fit(graph).graph_.nnz >= graph.nnz - len(X)


def test_scanpy_takes_it_as_a_transformer():
    """With its own number of neighbours, the cell itself counted: scanpy cuts the lists of a transformer to that."""
    scanpy, anndata = pytest.importorskip("scanpy"), pytest.importorskip("anndata")
    cells = [anndata.AnnData(X.astype(np.float32)) for _ in range(2)]
    scanpy.pp.neighbors(cells[0], use_rep="X", transformer=lowdim.NeighborGraph())
    scanpy.pp.neighbors(cells[1], use_rep="X")
    ours, theirs = (one.obsp["connectivities"].toarray() for one in cells)
    np.testing.assert_allclose(ours, theirs, atol=1e-4)
    distances, known = (one.obsp["distances"].toarray() for one in cells)
    np.testing.assert_allclose(distances[known > 0], known[known > 0], atol=1e-5)
    assert lowdim.UMAP(affinity="precomputed", max_iter=20).fit(cells[0].obsp["connectivities"]).graph_.nnz


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"n_neighbors": 0}, "n_neighbors must be"),
        ({"n_neighbors": 150}, "n_neighbors must be an integer from 1 to 149"),
        ({"metric": "precomputed"}, "is a graph already"),
        ({"metric": "nonsense"}, "NeighborGraph: metric"),
        ({"search": "fast"}, "search must be"),
    ],
)
def test_settings_are_checked(settings, says):
    with pytest.raises(ValueError, match=says):
        lowdim.NeighborGraph(**settings).fit_transform(X)


@pytest.mark.parametrize("metric", ["tanimoto", "dice", "rogerstanimoto", "russellrao", "sokalsneath", "yule"])
@pytest.mark.parametrize("dtype", [bool, np.uint8])
def test_rows_of_bits_need_no_floats(metric, dtype):
    bits = np.random.default_rng(0).random((60, 100)) < 0.3
    bits[:2] = False
    model = lowdim.NeighborGraph(5, metric=metric)
    found, wanted = (
        model.fit_transform(bits.astype(dtype)),
        lowdim.NeighborGraph(5, metric=metric).fit_transform(bits * 1.0),
    )
    np.testing.assert_array_equal(found.toarray(), wanted.toarray())
    np.testing.assert_array_equal(model.transform(bits[:9] * 1.0).toarray(), model.transform(bits[:9]).toarray())


def test_packed_bits_are_no_bits():
    packed = np.packbits(np.random.default_rng(0).random((30, 64)) < 0.5, axis=1)
    with pytest.raises(ValueError, match=r"must get True and False .* np\.unpackbits\(X, axis=1\)"):
        lowdim.NeighborGraph(3, metric="tanimoto").fit(packed)

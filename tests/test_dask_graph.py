"""Neighbour graphs of Dask rows, and the maps that are made of them."""

import dask.array as da
import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

import lowdim
from lowdim import quality

ROLL = lowdim.datasets.swiss_roll(1500, random_state=0).X
CUTS = [(1500, 3), (400, 2), ((0, 700, 0, 800), 3), (101, 3)]


def few(rows=150):
    return lowdim.config(sample_rows=rows)


@pytest.mark.parametrize("chunks", CUTS, ids=str)
def test_shards_find_the_neighbours_that_memory_finds(chunks):
    wanted = lowdim.NeighborGraph(10).fit_transform(ROLL)
    model = lowdim.NeighborGraph(10)
    with few():
        found = model.fit_transform(da.from_array(ROLL, chunks=chunks))
    assert model.recall_ == 1.0
    np.testing.assert_array_equal(found.indices, wanted.indices)
    np.testing.assert_allclose(found.data, wanted.data, rtol=1e-12)


@pytest.mark.parametrize("metric", ["cosine", "manhattan", "correlation"])
def test_recall_is_measured_under_every_metric(metric):
    X = np.random.default_rng(0).normal(size=(1500, 12))
    wanted = lowdim.NeighborGraph(10, metric=metric).fit_transform(X)
    model = lowdim.NeighborGraph(10, metric=metric)
    with few(300):
        found = model.fit_transform(da.from_array(X, chunks=(400, 12)))
    shared = np.mean(
        [
            len(np.intersect1d(a[1:], b[1:])) / 10
            for a, b in zip(found.indices.reshape(-1, 11), wanted.indices.reshape(-1, 11), strict=True)
        ]
    )
    assert 0.85 < model.recall_ < 1
    assert model.recall_ == pytest.approx(shared, abs=0.03)


def test_low_recall_is_said():
    X = np.random.default_rng(0).normal(size=(1500, 60))
    with few(40), pytest.warns(UserWarning, match="of the true neighbours were found"):
        lowdim.NeighborGraph(10).fit_transform(da.from_array(X, chunks=(400, 60)))


def test_copies_and_sparse_rows():
    S = sparse.random(600, 40, 0.2, format="csr", random_state=0)
    S = sparse.vstack([S, S[:50]], format="csr")
    X = da.from_array(S.toarray(), chunks=(200, 40)).map_blocks(sparse.csr_matrix)
    model = lowdim.NeighborGraph(5)
    with few(200):
        found = model.fit_transform(X)
    assert model.recall_ > 0.8
    assert (found[650 - 50 :].toarray()[:, :50].diagonal() == 0).all()
    assert all(i + 600 in found.indices[found.indptr[i] : found.indptr[i + 1]] for i in range(50))


def test_new_rows_are_compared_with_all():
    with few():
        model = lowdim.NeighborGraph(10).fit(da.from_array(ROLL, chunks=(400, 3)))
    wanted = lowdim.NeighborGraph(10).fit(ROLL).transform(ROLL[:9] * 1.01)
    np.testing.assert_array_equal(model.transform(ROLL[:9] * 1.01).indices, wanted.indices)


@pytest.mark.parametrize(
    "model",
    [
        lowdim.TSNE(2, max_iter=150, random_state=0),
        lowdim.UMAP(2, max_iter=60, random_state=0),
        lowdim.UMAP(2, init="pca", max_iter=60, random_state=0),
    ],
    ids=["tsne", "umap", "umap-pca"],
)
@pytest.mark.filterwarnings("ignore:UMAP. the neighbour graph has 3 components")
def test_maps_of_all_rows(model, tmp_path):
    X = np.random.default_rng(1).normal(size=(600, 5)) + 12 * np.repeat(np.eye(5)[:3], 200, axis=0)
    with few(300):
        found = clone(model)
        Z = found.fit_transform(da.from_array(X, chunks=(170, 3)))
    assert isinstance(Z, da.Array)
    np.testing.assert_array_equal(Z.compute(), found.embedding_)
    assert found.embedding_.shape == (600, 2)
    assert found.recall_ > 0.95
    assert len(found.sample_indices_) == 300
    wanted = clone(model).fit(X)
    assert quality.rnx_auc(X, found.embedding_) > quality.rnx_auc(X, wanted.embedding_) - 0.03
    # New rows are placed by the sample, in the group they belong to; the inverse is learned from it.
    new = X[::60] * 1.001
    places = found.transform(new)
    centres = [found.embedding_[at : at + 200].mean(axis=0) for at in (0, 200, 400)]
    nearest = np.argmin(np.linalg.norm(places[:, None] - centres, axis=2), axis=1)
    np.testing.assert_array_equal(nearest, np.repeat([0, 1, 2], [4, 3, 3]))
    assert found.inverse_transform(places).shape == new.shape
    lowdim.save(found, tmp_path / "map.lowdim")
    np.testing.assert_array_equal(lowdim.load(tmp_path / "map.lowdim").transform(new), places)
    found.fit(X)
    assert getattr(found, "_sampled", None) is None
    np.testing.assert_array_equal(found.embedding_, wanted.embedding_)


def test_what_does_not_fit_is_sampled_with_a_warning():
    X = da.from_array(ROLL, chunks=(400, 3))
    with (
        lowdim.config(sample_rows=150, memory_limit=500_000),
        pytest.warns(UserWarning, match="need about"),
        pytest.warns(UserWarning, match="random sample of 150 rows"),
    ):
        model = lowdim.UMAP(2, n_neighbors=5, max_iter=20).fit(X)
    assert len(model.embedding_) == 150

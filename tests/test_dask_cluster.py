"""A real cluster of Dask: worker processes with a limit on their memory, one of which is lost."""

import os
import signal
import time

import dask.array as da
import numpy as np
import pytest
from distributed import Client, LocalCluster, get_worker

import lowdim

pytestmark = [
    pytest.mark.deep,
    pytest.mark.timeout(600),
    pytest.mark.filterwarnings("ignore"),  # of sockets and event loops that a killed worker leaves
]


@pytest.fixture
def client():
    settings = {"n_workers": 2, "threads_per_worker": 1, "memory_limit": "700MB", "dashboard_address": None}
    with LocalCluster(processes=True, **settings) as cluster, Client(cluster) as found:
        yield found


def rows_of_block(seed, n=5000, d=20):
    return np.random.default_rng(seed).normal(size=(n, d)) * np.linspace(1, 3, d) + 5


def made(n_blocks, *, lost=None, folder=None, n=5000):
    """Rows made where they are read; the worker that is the first to read block `lost` ends at once."""

    def block(block_info=None):
        at = block_info[None]["chunk-location"][0]
        flag = None if lost is None else folder / "lost"
        if at == lost and not flag.exists():
            flag.touch()
            assert get_worker() is not None
            os.kill(os.getpid(), signal.SIGKILL)
        return rows_of_block(at, n)

    return da.map_blocks(block, chunks=((n,) * n_blocks, (20,)), dtype=float, meta=np.empty((0, 0)))


def in_memory(n_blocks):
    return np.vstack([rows_of_block(seed) for seed in range(n_blocks)])


def test_the_cluster_finds_what_memory_finds(client):
    X = in_memory(8)
    wanted = lowdim.PCA(3).fit(X)
    found = lowdim.PCA(3).fit(made(8))
    np.testing.assert_allclose(found.explained_variance_, wanted.explained_variance_, rtol=1e-12)
    np.testing.assert_allclose(found.transform(made(8)).compute(), wanted.transform(X), atol=1e-9)


@pytest.mark.parametrize("model", [lowdim.PCA(3), lowdim.PCA(3, solver="randomized")], ids=str)
def test_a_lost_worker_changes_no_number(client, model, tmp_path):
    wanted = lowdim.PCA(3).fit(made(8))
    found = model.fit(made(8, lost=5, folder=tmp_path))
    assert (tmp_path / "lost").exists()
    np.testing.assert_allclose(found.explained_variance_, wanted.explained_variance_, rtol=1e-10)


def test_a_worker_lost_in_transform_changes_no_number(client, tmp_path):
    model = lowdim.PCA(3).fit(made(8))
    found = model.transform(made(8, lost=3, folder=tmp_path)).compute()
    assert (tmp_path / "lost").exists()
    np.testing.assert_array_equal(found, model.transform(made(8)).compute())


def test_more_rows_than_the_workers_hold(client):
    """Four times the memory of the workers, of which a block of 8 MB is there only while it is read."""
    X = made(750, n=50_000)
    assert X.nbytes > 4 * 2 * 700e6
    model = lowdim.PCA(2).fit(X)
    np.testing.assert_allclose(model.mean_, 5, atol=0.01)
    np.testing.assert_allclose(model.explained_variance_, [9.0, 2.894736842105263**2], rtol=0.01)


def test_a_worker_that_joins_late_and_one_that_is_slow(client):
    def slow(block):
        time.sleep(0.05 if get_worker().name == 0 else 0.0)
        return block

    X = made(20).map_blocks(slow, dtype=float, meta=np.empty((0, 0)))
    client.cluster.scale(3)
    found = lowdim.PCA(3).fit(X)
    np.testing.assert_allclose(found.explained_variance_, lowdim.PCA(3).fit(made(20)).explained_variance_, rtol=1e-12)


def lost_in(work, again, folder, at=5):
    """What `work` finds of rows whose block `at` ends the worker that is the first to read it, and without that."""
    found = work(made(8, lost=at, folder=folder))
    assert (folder / "lost").exists()
    return found, again(made(8))


def test_a_worker_lost_in_the_neighbour_graph_changes_no_number(client, tmp_path):
    def graph(X):
        model = lowdim.NeighborGraph(10)
        return model.fit_transform(X), model.recall_

    with lowdim.config(sample_rows=4000):
        (found, recall), (wanted, again) = lost_in(graph, graph, tmp_path)
    np.testing.assert_array_equal(found.indices, wanted.indices)
    np.testing.assert_array_equal(found.data, wanted.data)
    assert recall == again > 0.5


def test_a_worker_lost_in_quality_changes_no_number(client, tmp_path):
    model = lowdim.PCA(2).fit(made(8))

    def scores(X):
        Z = model.transform(made(8))
        return lowdim.quality.Ranks.of(X, Z, anchors=40, random_state=0), lowdim.quality.stress(X, Z, random_state=0)

    found, wanted = lost_in(scores, scores, tmp_path)
    np.testing.assert_array_equal(found[0].rnx, wanted[0].rnx)
    np.testing.assert_array_equal(found[0].row_auc, wanted[0].row_auc)
    assert found[1] == wanted[1]
    X = in_memory(8)
    exact = lowdim.quality.Ranks.of(X, model.transform(X), anchors=40, random_state=0)
    np.testing.assert_allclose(found[0].trustworthiness[:80], exact.trustworthiness[:80], atol=1e-12)


@pytest.mark.parametrize("chunks", [2500, 5000, 7000, 9999, 20000, (1, 39999)], ids=str)
def test_six_chunkings_give_the_numbers_of_memory(client, chunks):
    X = in_memory(8)
    rows = da.from_array(X, chunks=(chunks, 20))
    model = lowdim.PCA(3).fit(rows)
    wanted = lowdim.PCA(3).fit(X)
    Z = model.transform(rows)
    np.testing.assert_allclose(Z.compute(), wanted.transform(X), atol=1e-9)
    ranks = lowdim.quality.Ranks.of(rows, Z, anchors=30, random_state=0)
    exact = lowdim.quality.Ranks.of(X, wanted.transform(X), anchors=30, random_state=0)
    np.testing.assert_allclose(ranks.rnx[:80], exact.rnx[:80], atol=1e-12)


def test_four_times_the_memory_through_fit_landmarks_transform_and_quality(client):
    X = made(750, n=50_000)  # blocks of 8 MB
    assert X.nbytes > 4 * 2 * 700e6
    Z = lowdim.PCA(2).fit(X).transform(X)
    assert 0 < lowdim.quality.rnx_auc(X, Z, anchors=20, random_state=0) < 1
    with lowdim.config(sample_rows=2000):
        model = lowdim.Isomap(2, n_landmarks=200).fit(X)
    assert np.isfinite(model.transform(X)[:10_000].compute()).all()

"""The option --cluster: worker processes read and place the rows, with the numbers that one process finds."""

import os
import signal
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from distributed import Client, LocalCluster

import lowdim
from lowdim.app.cli import main
from lowdim.app.large import parts

pytestmark = [
    pytest.mark.deep,
    pytest.mark.timeout(600),
    pytest.mark.filterwarnings("ignore"),  # of sockets and event loops that a closed cluster leaves
]
ROWS = np.random.default_rng(0).normal(size=(6000, 5)).astype(np.float32) * np.arange(5, 0, -1, dtype=np.float32)


@pytest.fixture(scope="module")
def cluster():
    settings = {"n_workers": 2, "threads_per_worker": 1, "memory_limit": "900MB", "dashboard_address": None}
    with LocalCluster(processes=True, **settings) as found:
        yield found


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(parts, "PART", 8 * 5 * 1000)
    monkeypatch.setattr(parts, "SAMPLE", 500)
    np.save("rows.npy", ROWS)
    for i in range(3):
        rows = ROWS[i * 2000 : (i + 1) * 2000]
        (tmp_path / "table").mkdir(exist_ok=True)
        pl.DataFrame({name: rows[:, j] for j, name in enumerate("abcde")}).write_parquet(f"table/{i}.parquet")
    return tmp_path


@pytest.mark.parametrize("method", ["pca", "factor-analysis", "umap"])
def test_fit_and_transform(cluster, folder, capsys, method):
    words = ["--method", method, "--no-scale", "--cluster", cluster.scheduler_address]
    assert main(["fit", "table", *words, "--out", "model.lowdim"]) == 0
    assert "all 6000 rows are read by the cluster, in 6 blocks" in capsys.readouterr().err
    found = pl.read_parquet("model-embedding.parquet")
    assert found.height == 6000
    if method == "pca":
        np.testing.assert_allclose(found[:, 1:].to_numpy(), lowdim.PCA(2).fit(ROWS).transform(ROWS), atol=1e-4)
    assert main(["transform", "model.lowdim", "table", "--out", "here.parquet"]) == 0
    there = ["transform", "model.lowdim", "table", "--out", "there.parquet", "--cluster", cluster.scheduler_address]
    assert main(there) == 0
    assert pl.read_parquet("here.parquet").equals(pl.read_parquet("there.parquet"))


def test_compare_draws_and_places_what_one_process_does(cluster, folder, capsys):
    words = ["compare", "rows.npy", "--methods", "pca,isomap", "--no-verdict", "--no-scale"]
    with pytest.MonkeyPatch.context() as small:
        small.setattr(parts, "LARGE", 10_000)
        assert main([*words, "--out", "here"]) == 0
    assert main([*words, "--out", "there", "--cluster", cluster.scheduler_address]) == 0
    for name in ("places.parquet", "embeddings.parquet"):
        assert pl.read_parquet(f"here/{name}").equals(pl.read_parquet(f"there/{name}")), name


def test_a_lost_worker_changes_nothing(cluster, folder):
    model = lowdim.PCA(2).fit(ROWS)
    lowdim.save(model, "model.lowdim")
    with Client(cluster) as client:
        process = next(iter(client.run(os.getpid).values()))
    os.kill(process, signal.SIGKILL)
    words = ["transform", "model.lowdim", "rows.npy", "--out", "places.parquet", "--cluster", cluster.scheduler_address]
    assert main(words) == 0
    np.testing.assert_allclose(pl.read_parquet("places.parquet")[:, 1:].to_numpy(), model.transform(ROWS), atol=1e-5)


def test_a_file_that_workers_do_not_see_is_said(cluster, folder, capsys, monkeypatch):
    monkeypatch.setattr("lowdim._core.streams.dask_cluster.Cluster.see", lambda self, path: ["tcp://worker"])
    lowdim.save(lowdim.PCA(2).fit(ROWS), "model.lowdim")
    words = ["transform", "model.lowdim", "rows.npy", "--out", "p.parquet", "--cluster", cluster.scheduler_address]
    assert main(words) == 2
    assert "rows.npy is not seen by 1 workers of the cluster" in capsys.readouterr().err
    assert not Path("p.parquet").exists()

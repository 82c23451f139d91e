"""What `estimate_memory` says of one worker of Dask, beside what a worker process takes."""

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

import lowdim

D = da.zeros((10_000, 50), chunks=(1000, 50), dtype=np.float32)


def test_a_worker_needs_blocks_and_records_not_all_rows():
    fit = lowdim.PCA(2).estimate_memory(D)
    assert fit == lowdim.PCA(2).estimate_memory(da.zeros((10_000_000, 50), chunks=(1000, 50), dtype=np.float32))
    assert fit < lowdim.PCA(2).estimate_memory(da.zeros((10_000, 50), chunks=(5000, 50), dtype=np.float32))
    assert fit < lowdim.PCA(2).estimate_memory(D.astype(np.float64))
    assert fit < lowdim.PCA(2).estimate_memory((10_000_000, 50))


def test_what_is_not_known_is_said():
    frame = dd.from_pandas(pd.DataFrame(np.zeros((20, 3)), columns=list("abc")), npartitions=2)
    for model, X, step, says in (
        (lowdim.PCA(2), frame, "fit", "X.to_dask_array"),
        (lowdim.PCA(2), D[D[:, 0] > 1], "fit", "compute_chunk_sizes"),
        (lowdim.PCA(2), D, "transform", "needs a fitted model"),
        (lowdim.PCA(2), D, "inverse", "must be 'fit' or 'transform'"),
        (lowdim.PCA(2), np.zeros((5, 3)), "transform", "must be 'fit' for rows in memory"),
        (lowdim.UMAP(2), D, "fit", "neighbour graph"),
    ):
        with pytest.raises(ValueError, match=says):
            model.estimate_memory(X, step=step)


def rows_of(n_blocks, n, d):
    """Rows made where they are read."""

    def block(block_info=None):
        at = block_info[None]["chunk-location"][0]
        return np.random.default_rng(at).standard_normal((n, d), dtype=np.float32)

    return da.map_blocks(block, chunks=((n,) * n_blocks, (d,)), dtype=np.float32, meta=np.empty((0, 0), np.float32))


def _status(name):
    with open("/proc/self/status", encoding="ascii") as lines:
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))


def _begin():
    with open("/proc/self/clear_refs", "w", encoding="ascii") as settings:
        settings.write("5")  # the peak begins anew
    return _status("VmRSS")


@pytest.fixture(scope="module")
def client():
    from distributed import Client, LocalCluster

    settings = {"n_workers": 1, "threads_per_worker": 1, "memory_limit": "4GB", "dashboard_address": None}
    with LocalCluster(processes=True, **settings) as cluster, Client(cluster) as found:
        tiny = rows_of(3, 500, 20)
        lowdim.PCA(2).fit(tiny).transform(tiny).compute()
        with lowdim.config(sample_rows=500):
            lowdim.Isomap(2, n_landmarks=20, random_state=0).fit(tiny).transform(tiny).compute()
        yield found


@pytest.mark.deep
@pytest.mark.timeout(600)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("shape", [(100_000, 50, 8), (50_000, 300, 6), (20_000, 1000, 8), (300_000, 40, 4)], ids=str)
@pytest.mark.parametrize("model", [lowdim.PCA(2), lowdim.Isomap(2, n_landmarks=50, random_state=0)], ids=str)
def test_a_worker_takes_what_is_said(client, model, shape):
    """Within 30 % or 50 MB."""
    n, d, n_blocks = shape
    X = rows_of(n_blocks, n, d)

    def check(said, work):
        before = next(iter(client.run(_begin).values()))
        found = work()
        taken = next(iter(client.run(_status, "VmHWM").values())) - before
        assert abs(taken - said) < max(0.3 * taken, 50e6), (taken / 1e6, said / 1e6)
        return found

    with lowdim.config(sample_rows=2000):
        fitted = check(model.estimate_memory(X), lambda: model.fit(X))
    few = X if isinstance(model, lowdim.PCA) else X[:n]
    check(fitted.estimate_memory(X, step="transform"), lambda: fitted.transform(few).sum().compute())

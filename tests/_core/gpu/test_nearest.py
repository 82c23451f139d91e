"""Neighbours in tensors against the engines of the CPU."""

import numpy as np
import pytest

import lowdim
from lowdim._core.gpu import cells
from lowdim._core.gpu.cells import nearest_by_cells
from lowdim._core.gpu.nearest import least, nearest_rows
from lowdim._core.neighbors import nearest

torch = pytest.importorskip("torch")


def table(kind, n=700):
    rng = np.random.default_rng(1)
    return {
        "float32 far from the origin": rng.normal(size=(n, 20)).astype(np.float32) + 1000,
        "float64": rng.normal(size=(n, 6)),
        "duplicates": np.repeat(rng.normal(size=(n // 5, 4)), 5, axis=0),
        "ties": rng.integers(0, 3, size=(n, 3)).astype(float),
        "one point": np.ones((n // 5, 3)),
    }[kind]


@pytest.mark.parametrize("kind", ["float32 far from the origin", "float64", "duplicates", "ties", "one point"])
def test_exact_neighbours_are_those_of_the_cpu(cpu, kind):
    X = table(kind)
    squares, indices = nearest_rows(cpu, cpu.tensor(X), 7)
    wanted = nearest(X, 7)
    np.testing.assert_array_equal(indices.numpy(), wanted.indices)
    np.testing.assert_allclose(np.sqrt(squares.numpy()), wanted.distances, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_the_front_door_gives_the_same_record(cpu, metric):
    X = table("float64")
    X[3] = X[11] = 0.0
    new = np.vstack([X[:40] + 0.1, np.zeros((1, 6))])
    for queries in (None, new):
        found = nearest(X, 5, metric=metric, queries=queries, device=cpu)
        wanted = nearest(X, 5, metric=metric, queries=queries)
        np.testing.assert_array_equal(found.indices, wanted.indices)
        np.testing.assert_allclose(found.distances, wanted.distances, rtol=1e-7, atol=1e-9)
        assert found.recall == 1.0


def test_other_metrics_and_sparse_rows_stay_on_the_cpu(cpu):
    X = table("float64")
    found = nearest(X, 5, metric="manhattan", device=cpu)
    np.testing.assert_array_equal(found.indices, nearest(X, 5, metric="manhattan").indices)
    assert found.recall is None


def test_cells_find_what_they_say_they_find(cpu):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 8))[rng.integers(20, size=6000)] * 6 + rng.normal(size=(6000, 8))
    found = nearest_by_cells(cpu, cpu.tensor(X), 10)
    truth = nearest(X, 10).indices
    share = np.mean([len(set(a) & set(b)) / 10 for a, b in zip(found.indices.numpy(), truth, strict=True)])
    assert found.recall >= cells.RECALL
    assert share == pytest.approx(found.recall, abs=0.01)
    again = nearest_by_cells(cpu, cpu.tensor(X), 10)
    assert torch.equal(found.indices, again.indices)
    assert torch.equal(found.squares, again.squares)
    assert not (found.indices == torch.arange(6000)[:, None]).any()


def test_data_without_structure_are_searched_exactly_in_the_end(cpu):
    X = np.random.default_rng(0).normal(size=(1500, 40))
    found = nearest_by_cells(cpu, cpu.tensor(X), 10)
    assert found.recall == 1.0
    np.testing.assert_array_equal(found.indices.numpy(), nearest(X, 10).indices)


@pytest.mark.parametrize("width", [5, 64, 333, 1024])
def test_the_least_of_groups_are_the_least(cpu, width):
    values = torch.randn(30, width, generator=torch.Generator().manual_seed(0))
    found, columns = least(cpu, values, 5)
    assert torch.equal(found.sort(dim=1).values, values.sort(dim=1).values[:, :5])
    assert torch.equal(values.gather(1, columns), found)


def test_wide_rows_are_proposed_by_rough_products_and_found_exactly(cpu):
    X = np.random.default_rng(0).normal(size=(300, 120)).astype(np.float32)
    X[7] = X[3]
    squares, indices = nearest_rows(cpu, torch.from_numpy(X), 9)
    wanted = nearest(X, 9)
    np.testing.assert_array_equal(indices.numpy(), wanted.indices)
    np.testing.assert_allclose(squares.sqrt().numpy(), wanted.distances, rtol=1e-6)


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "manhattan"])
def test_the_graph_alone(stand_in, metric):
    X = np.random.default_rng(0).normal(size=(80, 6))
    graphs = [lowdim.NeighborGraph(5, metric=metric, device=device).fit_transform(X) for device in ("cuda", "cpu")]
    np.testing.assert_array_equal(graphs[0].indices, graphs[1].indices)
    np.testing.assert_allclose(graphs[0].data, graphs[1].data, rtol=1e-12)
    found = [
        lowdim.NeighborGraph(5, device=device).fit(torch.from_numpy(X)).transform(X[:3]) for device in ("cuda", "cpu")
    ]
    np.testing.assert_array_equal(found[0].indices, found[1].indices)


def test_rows_in_cells_of_few_rows_are_searched_exactly(cpu, monkeypatch):
    monkeypatch.setattr(cells, "n_cells", lambda n: 100)
    monkeypatch.setattr(cells, "PROBES", 1)
    monkeypatch.setattr(cells, "RECALL", 0.01)
    rng = np.random.default_rng(0)
    X = np.repeat(100 * rng.normal(size=(50, 4)), 6, axis=0) + rng.normal(size=(300, 4))
    found = nearest_by_cells(cpu, cpu.tensor(X), 10)
    assert found.probes == 1
    assert np.isfinite(found.squares.numpy()).all()
    assert (found.indices.numpy() == nearest(X, 10).indices).all(axis=1).mean() > 0.5


def test_more_cells_are_listed_where_a_few_are_not_enough(cpu, monkeypatch):
    monkeypatch.setattr(cells, "FEW", 3)
    monkeypatch.setattr(cells, "MOST", 0.9)
    X = np.random.default_rng(0).normal(size=(4000, 7))
    found = nearest_by_cells(cpu, cpu.tensor(X), 10)
    assert found.recall >= cells.RECALL
    assert found.probes > 3

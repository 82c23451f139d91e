"""Tensors on a GPU whose rows stay there: no table of the size of the data comes into the memory of the machine.

Tensors of the CPU stand for those of a GPU: they take the same way through the same functions.
"""

import copy
import pickle

import numpy as np
import pytest
from sklearn.base import clone

import lowdim
from lowdim._core.gpu import devices
from lowdim._core.gpu.device_rows import DeviceRows
from lowdim._core.gpu.devices import Device
from lowdim._core.kernels import bandwidth
from lowdim._core.runtime import foreign_tables

torch = pytest.importorskip("torch")
rng = np.random.default_rng(0)
N, D = 400, 100
X = (rng.normal(size=(N, 4)) * [5, 3, 2, 1]) @ rng.normal(size=(4, D)) / 5 + rng.normal(size=(N, D))
T = torch.from_numpy(X)
NEW = T[:50] + 0.01


@pytest.fixture(autouse=True)
def gpu(monkeypatch):
    monkeypatch.setattr(foreign_tables, "on_gpu", lambda _: True)
    monkeypatch.setattr(devices, "find", lambda name, owner: None if name == "cpu" else Device(torch, "cpu"))


@pytest.fixture
def copied(monkeypatch):
    """The sizes of the tensors that were copied to the host."""
    sizes, cpu = [], torch.Tensor.cpu

    def seen(tensor):
        sizes.append(tensor.numel())
        return cpu(tensor)

    monkeypatch.setattr(torch.Tensor, "cpu", seen)
    return sizes


MODELS = {
    "wide PCA": (lowdim.PCA(3), "float64", 60),
    "wide PCA by products": (lowdim.PCA(3, solver="randomized", scale=True), "float32", 60),
    "PCA": (lowdim.PCA(3), "float32", N),
    "whitened": (lowdim.PCA(3, whiten=True, scale=True), "float64", N),
    "TSNE": (lowdim.TSNE(perplexity=4, n_neighbors=8, max_iter=12, early_iter=6), "float32", N),
    "UMAP": (lowdim.UMAP(max_iter=2, n_neighbors=6, init="pca"), "float64", N),
    "UMAP by cosine": (lowdim.UMAP(max_iter=2, n_neighbors=6, init="random", metric="cosine"), "float32", N),
    "Isomap": (lowdim.Isomap(n_landmarks=30), "float64", N),
    "MDS": (lowdim.MDS(max_iter=5), "float64", 130),
    "KernelPCA": (lowdim.KernelPCA(3, n_landmarks=30, gamma=0.01), "float32", N),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", MODELS)
def test_rows_stay_and_answers_are_those_of_arrays(name, copied):
    model, dtype, n = MODELS[name]
    model = clone(model).set_params(device="cuda", random_state=0)
    rows, new = T[:n].to(getattr(torch, dtype)), NEW.float()
    Z, placed = model.fit_transform(rows), model.transform(new)
    assert torch.is_tensor(Z)
    assert torch.is_tensor(placed)
    assert not {n * D, NEW.numel()} & set(copied)
    assert name == "MDS" or max(copied) < n * D  # of which all pairs are kept
    wanted = model.fit_transform(X[:n].astype(dtype))
    scale = np.abs(wanted).max()
    np.testing.assert_allclose(Z.numpy() / scale, wanted / scale, atol=1e-8 if dtype == "float64" else 2e-3)
    np.testing.assert_allclose(placed.numpy() / scale, model.transform(new.numpy()) / scale, atol=1e-3)


def test_a_width_needs_some_rows(copied):
    rows = DeviceRows(T)
    assert bandwidth(rows, max_rows=50) == pytest.approx(bandwidth(X, max_rows=50), rel=1e-12)
    assert max(copied) <= 50 * D
    equal = np.concatenate([np.zeros((300, 2)), np.ones((1, 2))])
    assert bandwidth(DeviceRows(torch.from_numpy(equal)), max_rows=5) == pytest.approx(bandwidth(equal, max_rows=5))


def test_exact_inverse(copied):
    model = lowdim.PCA(3, device="cuda", scale=True).fit(T)
    back = model.inverse_transform(model.transform(T))
    assert torch.is_tensor(back)
    assert max(copied) < N * D
    np.testing.assert_allclose(back.numpy(), model.inverse_transform(model.transform(X)), atol=1e-10)
    with pytest.raises(ValueError, match="Z must have 3 columns"):
        model.inverse_transform(T)


def test_neighbour_graph_and_ranks(copied):
    graph = lowdim.NeighborGraph(8, device="cuda")
    found, new = graph.fit_transform(T), graph.transform(NEW)
    Z = T[:, :2].contiguous()
    area = lowdim.quality.rnx_auc(T, Z, device="cuda")
    assert max(copied) < N * D / 10
    np.testing.assert_array_equal(found.toarray(), graph.fit_transform(X).toarray())
    np.testing.assert_array_equal(new.toarray(), graph.transform(NEW.numpy()).toarray())
    assert float(area) == pytest.approx(float(lowdim.quality.rnx_auc(X, X[:, :2], device="cuda")), abs=1e-12)
    assert float(lowdim.quality.rnx_auc(T, Z)) == pytest.approx(float(area), abs=1e-3)


def test_equal_rows_are_found_where_they_are(copied):
    rows = torch.cat([T, T[:9]])
    model = lowdim.UMAP(device="cuda", max_iter=2, n_neighbors=6, init="random", random_state=0).fit(rows)
    assert max(copied) < N * D
    np.testing.assert_array_equal(model.embedding_[:9], model.embedding_[N:])


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e200])
@pytest.mark.parametrize("model", [lowdim.TSNE(), lowdim.PCA(2, missing="error"), lowdim.NeighborGraph()])
def test_errors_are_those_of_arrays(model, bad):
    rows = X.copy()
    rows[3, 5] = bad
    said = []
    for table, device in ((rows, "cpu"), (torch.from_numpy(rows), "cuda")):
        with pytest.raises(ValueError, match=type(model).__name__) as error:
            model.set_params(device=device).fit(table)
        said.append(str(error.value))
    assert said[0] == said[1]


@pytest.mark.filterwarnings("ignore")
def test_missing_cells_are_completed_as_ever():
    rows = X.copy()
    rows[::7, 1] = np.nan
    wanted, found = (lowdim.PCA(2, device=device).fit_transform(given) for device, given in
                     (("cpu", rows), ("cuda", torch.from_numpy(rows))))  # fmt: skip
    np.testing.assert_allclose(found.numpy(), wanted, atol=1e-6)


def test_other_columns_and_types_are_refused_as_ever():
    model = lowdim.TSNE(perplexity=4, n_neighbors=8, device="cuda", max_iter=12, early_iter=6).fit(T)
    with pytest.raises(ValueError, match="100 features"):
        model.transform(T[:, :5])
    assert lowdim.PCA(2, device="cuda").fit_transform(T.to(torch.int32)).dtype == torch.float64
    assert lowdim.PCA(2, device="cuda").fit_transform(T.bfloat16()).dtype == torch.float32
    with pytest.raises(ValueError, match="2D array"):
        lowdim.PCA(2, device="cuda").fit(T[0])


def test_a_model_goes_to_the_cpu_and_into_a_file(tmp_path):
    model = lowdim.TSNE(perplexity=4, n_neighbors=8, device="cuda", max_iter=12, early_iter=6).fit(T)
    assert isinstance(model._rows, DeviceRows)
    wanted = model.transform(NEW).numpy()
    lowdim.save(model, tmp_path / "model.lowdim")
    others = lowdim.load(tmp_path / "model.lowdim"), pickle.loads(pickle.dumps(model)), copy.deepcopy(model)
    assert [type(other._rows) for other in others] == [np.ndarray, np.ndarray, DeviceRows]
    for other in others:
        np.testing.assert_array_equal(other.transform(NEW).numpy(), wanted)
    assert np.isfinite(model.set_params(device="cpu").transform(X[:5])).all()
    assert model.inverse_transform(model.embedding_[:3]).shape == (3, D)


def test_the_table_may_change_after_a_fit():
    rows = T.clone()
    model = lowdim.TSNE(perplexity=4, n_neighbors=8, device="cuda", max_iter=12, early_iter=6).fit(rows)
    wanted = model.transform(NEW).numpy()
    rows.zero_()
    np.testing.assert_array_equal(model.transform(NEW).numpy(), wanted)


def test_memory_is_estimated_from_a_tensor():
    model = lowdim.TSNE(device="cuda")
    assert model.estimate_memory(T.float(), device="cuda") == model.estimate_memory(np.float32(X), device="cuda")

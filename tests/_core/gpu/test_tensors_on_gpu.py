"""On a real GPU: rows in a tensor stay there, and what is placed there is where the CPU places it."""

import numpy as np
import pytest
from sklearn.base import clone

import lowdim
from lowdim._core.gpu.device_rows import DeviceRows

torch = pytest.importorskip("torch")
pytestmark = [
    pytest.mark.gpu,
    pytest.mark.deep,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="PyTorch finds no GPU here"),
    pytest.mark.filterwarnings("ignore"),
]
N, D = 3000, 400
rng = np.random.default_rng(0)
X = ((rng.normal(size=(N, 4)) * [5, 3, 2, 1]) @ rng.normal(size=(4, D)) / 10 + rng.normal(size=(N, D)) / 5).astype("f4")

MODELS = [
    lowdim.PCA(3),
    lowdim.TSNE(max_iter=60, early_iter=30),
    lowdim.UMAP(max_iter=20),
    lowdim.Isomap(n_landmarks=100),
    lowdim.KernelPCA(3, n_landmarks=100),
]


@pytest.mark.parametrize("model", MODELS)
def test_rows_stay_and_answers_are_those_of_arrays(model, monkeypatch):
    sizes, cpu = [], torch.Tensor.cpu
    rows = torch.from_numpy(X).to("cuda")
    model = clone(model).set_params(device="cuda", random_state=0)
    with monkeypatch.context() as patch:
        patch.setattr(torch.Tensor, "cpu", lambda tensor: (sizes.append(tensor.numel()), cpu(tensor))[1])
        Z, placed = model.fit_transform(rows), model.transform(rows[:2500] + 0.01)
    assert Z.device == placed.device == rows.device
    assert max(sizes, default=0) < N * D
    wanted, scale = model.fit_transform(X), float(Z.abs().max())
    np.testing.assert_allclose(Z.cpu().numpy() / scale, wanted / scale, atol=2e-3)
    assert model._rows is None or isinstance(model._rows, np.ndarray)


def test_pca_there_and_back():
    rows = torch.from_numpy(X).to("cuda")
    model = lowdim.PCA(5, device="cuda", scale=True).fit(rows)
    Z = model.transform(rows)
    back = model.inverse_transform(Z)
    cpu = model.transform(X)
    np.testing.assert_allclose(Z.cpu().numpy(), cpu, atol=2e-4)
    np.testing.assert_allclose(back.cpu().numpy(), model.inverse_transform(cpu), atol=2e-4)
    assert back.device == rows.device


def test_new_rows_of_lle():
    roll = lowdim.datasets.swiss_roll(2000, random_state=0).X
    model = lowdim.LLE(device="cuda", random_state=0).fit(roll)
    found, again = (model.transform(roll[:300] + 0.01) for _ in range(2))
    np.testing.assert_array_equal(found, again)
    there = model.transform(torch.from_numpy(roll[:300] + 0.01).to("cuda"))
    np.testing.assert_array_equal(there.cpu().numpy(), found)
    wanted = model.set_params(device="cpu").transform(roll[:300] + 0.01)
    np.testing.assert_allclose(found, wanted, atol=1e-5 * np.ptp(wanted))


def test_ranks_of_tensors():
    rows = torch.from_numpy(X).to("cuda")
    area = lowdim.quality.rnx_auc(rows, rows[:, :2], device="cuda")
    assert float(area) == pytest.approx(float(lowdim.quality.rnx_auc(X, X[:, :2])), abs=1e-4)


def test_new_rows_of_mds():
    model = lowdim.MDS(device="cuda", random_state=0).fit(X[:2000])
    found, again = (model.transform(X[2000:]) for _ in range(2))
    np.testing.assert_array_equal(found, again)
    there = model.transform(torch.from_numpy(X[2000:]).to("cuda"))
    np.testing.assert_array_equal(there.cpu().numpy(), found)
    wanted = model.set_params(device="cpu").transform(X[2000:])
    gaps = np.linalg.norm(found - wanted, axis=1)
    assert np.quantile(gaps, 0.99) < 1e-3 * np.ptp(wanted)


def test_a_model_of_tensors_goes_home(tmp_path):
    model = lowdim.TSNE(device="cuda", max_iter=60, early_iter=30).fit(torch.from_numpy(X).to("cuda"))
    assert isinstance(model._rows, DeviceRows)
    lowdim.save(model, tmp_path / "m.lowdim")
    other = lowdim.load(tmp_path / "m.lowdim")
    np.testing.assert_array_equal(other.transform(X[:1500]), model.transform(X[:1500]))

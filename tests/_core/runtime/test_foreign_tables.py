"""Tensors of PyTorch as rows: every estimator sees an array; on a GPU the answer is a tensor."""

import numpy as np
import pytest

import lowdim
from lowdim._core.gpu import devices
from lowdim._core.gpu.devices import Device
from lowdim._core.tables import tensors

torch = pytest.importorskip("torch")
X = np.random.default_rng(0).normal(size=(60, 5))
T = torch.from_numpy(X)


@pytest.mark.parametrize(
    "model", [lowdim.PCA(2), lowdim.Isomap(n_neighbors=8), lowdim.MDS(max_iter=200), lowdim.KernelPCA(2), lowdim.LDA(2)]
)
def test_a_tensor_of_the_cpu_is_an_array(model):
    y = (np.arange(60) % 3,) if isinstance(model, lowdim.LDA) else ()
    wanted = model.fit_transform(X, *y)
    found = model.fit_transform(T.clone().requires_grad_(), *map(torch.from_numpy, y))
    assert type(found) is np.ndarray
    np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(model.transform(T[:7]), model.transform(X[:7]))
    np.testing.assert_array_equal(model.fit(T, *y).transform(X[:7]), model.transform(X[:7]))


@pytest.mark.parametrize("model", [lowdim.PCA(2, device="cuda"), lowdim.MDS(device="auto"), lowdim.UMAP(device="cuda")])
def test_a_tensor_on_a_gpu_gives_tensors(model, monkeypatch):
    monkeypatch.setattr(tensors, "on_gpu", lambda _: True)
    monkeypatch.setattr(devices, "find", lambda name, owner: None if name == "cpu" else Device(torch, "cpu"))
    model.set_params(random_state=0)
    Z = model.fit_transform(T)
    assert torch.is_tensor(Z)
    np.testing.assert_array_equal(Z.numpy(), model.fit_transform(X))
    assert torch.is_tensor(model.transform(T[:7]))
    assert type(model.transform(X[:7])) is np.ndarray
    assert torch.is_tensor(model.inverse_transform(Z[:7]))
    assert type(model.set_params(device="cpu").fit_transform(T)) is np.ndarray


def test_half_precision_and_sparse_tensors():
    assert lowdim.PCA(2).fit_transform(T.bfloat16()).dtype == np.float32
    with pytest.raises(TypeError, match=r"sparse tensor is not taken: .* tensor.to_dense"):
        lowdim.PCA(2).fit(T.to_sparse())

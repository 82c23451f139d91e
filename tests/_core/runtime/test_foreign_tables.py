"""Tensors of PyTorch and tables of Arrow: seen as arrays and data frames; on a GPU the answer is a tensor."""

import sys

import numpy as np
import pyarrow as pa
import pytest

import lowdim
from lowdim._core.gpu import devices
from lowdim._core.gpu.devices import Device
from lowdim._core.runtime import foreign_tables

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
    monkeypatch.setattr(foreign_tables, "on_gpu", lambda _: True)
    monkeypatch.setattr(devices, "find", lambda name, owner: None if name == "cpu" else Device(torch, "cpu"))
    model.set_params(random_state=0)
    Z = model.fit_transform(T)
    assert torch.is_tensor(Z)
    np.testing.assert_allclose(Z.numpy(), model.fit_transform(X), atol=1e-9)
    assert torch.is_tensor(model.transform(T[:7]))
    assert type(model.transform(X[:7])) is np.ndarray
    assert torch.is_tensor(model.inverse_transform(Z[:7]))
    assert type(model.set_params(device="cpu").fit_transform(T)) is np.ndarray


def test_half_precision_and_sparse_tensors():
    assert lowdim.PCA(2).fit_transform(T.bfloat16()).dtype == np.float32
    with pytest.raises(TypeError, match=r"PCA: X must be a dense tensor; .* tensor.to_dense"):
        lowdim.PCA(2).fit(T.to_sparse())
    with pytest.raises(TypeError, match=r"LDA: y must have cells; got a tensor without any"):
        lowdim.LDA(2).fit(T, torch.empty(60, device="meta"))


FUNCTIONS = {
    "stress": lambda X: lowdim.quality.stress(X, X[:, :2]),
    "knn_error": lambda X: lowdim.quality.knn_error(X, np.arange(60) % 2),
    "intrinsic_dimension": lambda X: lowdim.select.intrinsic_dimension(X).value,
    "trust.stability": lambda X: lowdim.trust.stability(X, lowdim.PCA(1), n_resamples=2, random_state=0).overall,
    "dissimilarities": lambda X: lowdim.dissimilarities(X, metric="euclidean").sum(),
    "low_rank": lambda X: lowdim.low_rank(X, 2).error,
    "pseudo_inverse": lambda X: lowdim.pseudo_inverse(X).sum(),
    "RBF": lambda X: lowdim.kernels.RBF(1.0)(X).sum(),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_see_arrays_too(name):
    function = FUNCTIONS[name]
    assert function(T.clone().requires_grad_()) == function(X)
    assert function(torch.complex(T, -T).conj().imag) == function(X)  # a view that remembers a sign
    assert function(T.bfloat16()) == function(T.bfloat16().float().numpy())
    with pytest.raises(TypeError, match=f"{name}: [a-zA-Z]+ must be a dense tensor; got a sparse one"):
        function(T.to_sparse()) if name != "stress" else lowdim.quality.stress(T.to_sparse(), X[:, :2])
    with pytest.raises(TypeError, match=f"{name}: [a-zA-Z]+ must have cells"):
        function(torch.empty((60, 5), device="meta"))


def test_tables_of_arrow_are_data_frames(monkeypatch):
    """Numbers with nulls, text as categories; where pandas is not there, the way out."""
    holes = np.where(X > 1.5, np.nan, X)
    table = pa.table({name: pa.array(holes[:, j], from_pandas=True) for j, name in enumerate("abcde")})
    np.testing.assert_array_equal(lowdim.PCA(2).fit_transform(table), lowdim.PCA(2).fit_transform(holes))
    assert list(lowdim.PCA(2).fit(table).feature_names_in_) == list("abcde")
    mixed = pa.table({"a": X[:, 0], "b": list("xyz") * 20})
    np.testing.assert_array_equal(lowdim.FAMD(2).fit_transform(mixed), lowdim.FAMD(2).fit_transform(mixed.to_pandas()))
    with pytest.raises(ValueError, match="PCA: X must hold numbers; column 'b' holds text"):
        lowdim.PCA(2).fit(mixed)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(TypeError, match=r"PCA: X must be an array or a data frame; a Table of pyarrow .* polars"):
        lowdim.PCA(2).fit(table)

"""A comparison on a device: which methods run there, and what the notes say."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

import lowdim
from lowdim._core.gpu.devices import Device

torch = pytest.importorskip("torch")
X = load_digits().data[:120]


class Titled(Device):
    title = "cuda:0 (a stand-in)"


@pytest.fixture
def titled(monkeypatch):
    """`device="cuda"` means tensors of the CPU under the name of a GPU."""
    place = Titled(torch, "cpu")
    found = lambda name, owner: None if name == "cpu" else place  # noqa: E731
    monkeypatch.setattr("lowdim._core.gpu.devices.find", found)


@pytest.mark.filterwarnings("ignore")
def test_methods_that_have_a_device_get_it(titled):
    methods = {"t": "tsne", "m": "mds", "own": lowdim.TSNE(perplexity=9, max_iter=30, early_iter=10)}
    found = lowdim.compare(X, methods=methods, device="cuda", verdict=False)
    devices = {o.name: o.parameters.get("device") for o in found.outcomes if o.name in methods}
    assert devices == {"t": "cuda", "m": "cuda", "own": "cpu"}
    assert "Computed on cuda:0 (a stand-in): t, m, PCA" in found.notes[-1].replace("m, pca", "m, PCA")
    assert "the ranks of the scores" in found.notes[-1]
    assert next(o for o in found.outcomes if o.name == "t").diagnostics["device_"] == "cuda:0 (a stand-in)"
    assert "device_" not in next(o for o in found.outcomes if o.name == "own").diagnostics


def test_the_cpu_is_the_default_and_says_nothing():
    found = lowdim.compare(X, methods=["pca"], verdict=False)
    assert not any("CPU" in note for note in found.notes)
    asked = lowdim.compare(X, methods=["pca"], verdict=False, device="cpu")
    assert asked.notes[-1] == "Everything was computed on the CPU (as asked)."
    np.testing.assert_array_equal(asked.embeddings["pca"], found.embeddings["pca"])


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_auto_without_a_gpu():
    found = lowdim.compare(X, methods=["pca"], verdict=False, device="auto")
    assert found.notes[-1] == "Everything was computed on the CPU (PyTorch finds no GPU here)."


def test_names_of_no_device_are_refused_before_anything_runs():
    with pytest.raises(ValueError, match=r"compare: device must be 'cpu', 'cuda', 'auto' .* got 'tpu'"):
        lowdim.compare(X, methods=["pca"], device="tpu")

"""Where a method runs, what it may allocate there, and what happens when that is not enough."""

import subprocess
import sys

import numpy as np
import pytest

import lowdim
from lowdim._core.gpu import devices
from lowdim._core.gpu.devices import Device

torch = pytest.importorskip("torch")
has_gpu = torch.cuda.is_available()
X = np.random.default_rng(0).normal(size=(60, 5))


def test_the_cpu_is_the_default_and_needs_no_torch():
    code = "import sys, numpy as np, lowdim; lowdim.TSNE(max_iter=5, early_iter=2).fit(np.eye(40)); "
    out = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code + "print('torch' in sys.modules)"], capture_output=True, text=True
    )
    assert out.stdout.strip() == "False"


@pytest.mark.skipif(has_gpu, reason="there is a GPU")
def test_auto_is_the_cpu_where_there_is_no_gpu():
    assert devices.find("auto", "T") is None
    model = lowdim.PCA(2, device="auto").fit(X)
    assert model.device_ == "cpu"
    np.testing.assert_array_equal(model.components_, lowdim.PCA(2).fit(X).components_)


@pytest.mark.skipif(has_gpu, reason="there is a GPU")
@pytest.mark.parametrize("cls", [lowdim.PCA, lowdim.TSNE])
def test_cuda_without_a_gpu_is_an_error_with_a_way_out(cls):
    with pytest.raises(ValueError, match=rf"{cls.__name__}: device must be .* finds no GPU here: use device='cpu'"):
        cls(2, device="cuda").fit(X)


def test_names_of_no_device_are_refused():
    with pytest.raises(ValueError, match=r"T: device must be 'cpu', 'cuda', 'auto' .* got 'tpu'"):
        devices.find("tpu", "T")


def test_too_many_rows_raise_before_anything_runs(stand_in, monkeypatch):
    monkeypatch.setattr(devices, "FREE_ON_CPU", 1000)
    with pytest.raises(MemoryError, match=r"TSNE: this needs about .* on cpu .* Set a smaller perplexity"):
        lowdim.TSNE(device="cuda").fit(X)


def test_memory_that_runs_out_is_tried_again_once_in_smaller_blocks(cpu):
    seen = []

    def work(on):
        seen.append(on.shrink)
        if len(seen) == 1:
            raise torch.OutOfMemoryError("full")
        return "done"

    with pytest.warns(UserWarning, match="the memory of cpu ran out; repeated with blocks an eighth as large"):
        assert devices.run(cpu, work, "T") == "done"
    assert seen == [1, 8]


def test_blocks_shrink_with_the_memory(cpu):
    assert Device(torch, "cpu", 8).rows(1000, 10**9) * 8 == pytest.approx(cpu.rows(1000, 10**9), rel=1e-3)
    assert cpu.rows(10**15, 5) == 1


def test_memory_on_a_gpu_is_estimated_without_one():
    assert lowdim.TSNE().estimate_memory((100_000, 50), device="cuda") > 10**9 / 2
    assert lowdim.PCA(2).estimate_memory((100_000, 50), device="cuda") > 10**6
    with pytest.raises(ValueError, match="LLE: device must be 'cpu'"):
        lowdim.LLE().estimate_memory((1000, 5), device="cuda")


def test_settings_of_pytorch_are_restored(cpu):
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high")
    try:
        with devices.full_precision(cpu):
            assert torch.get_float32_matmul_precision() == "highest"
        assert torch.get_float32_matmul_precision() == "high"
    finally:
        torch.set_float32_matmul_precision(before)

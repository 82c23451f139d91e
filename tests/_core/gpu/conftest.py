import pytest

from lowdim._core.gpu import devices
from lowdim._core.gpu.devices import Device

torch = pytest.importorskip("torch")


@pytest.fixture
def cpu():
    """The backend on tensors of the CPU: the same functions, without a GPU."""
    return Device(torch, "cpu")


@pytest.fixture
def stand_in(monkeypatch, cpu):
    """`device="cuda"` means tensors of the CPU."""
    monkeypatch.setattr(devices, "find", lambda name, owner: None if name == "cpu" else cpu)
    return cpu

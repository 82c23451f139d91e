"""Where a method runs: the CPU, or a GPU that PyTorch finds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, TypeVar

import numpy as np

from lowdim._core.gpu.device_rows import DeviceRows
from lowdim._core.runtime import memory
from lowdim._core.runtime.background import imported
from lowdim._core.runtime.notices import warn

T = TypeVar("T")

SHARE = 0.9  # of the free memory of a GPU that a fit may plan for
BLOCK_BYTES = 2**30  # of one temporary array, where memory allows
FREE_ON_CPU = 2**31  # what tensors of the CPU may plan for, in tests


def load(owner: str) -> Any:
    """PyTorch, or an error that says how to install it."""
    try:
        return imported("torch")
    except ImportError as error:
        raise ImportError(
            f"{owner}: device='cuda' needs PyTorch; install it with: pip install 'lowdim[gpu]', or use device='cpu'."
        ) from error


@dataclass(frozen=True, eq=False)
class Device:
    """A device of PyTorch, and how large its temporary arrays may be."""

    torch: Any
    name: str
    shrink: int = 1  # divides the blocks, after memory ran out once

    @property
    def is_gpu(self) -> bool:
        return self.name != "cpu"

    @property
    def title(self) -> str:
        """The device as reports name it."""
        return f"{self.name} ({self.torch.cuda.get_device_name(self.name)})" if self.is_gpu else self.name

    @property
    def fused(self) -> Any:
        """Fused kernels, where this device has them."""
        return kernels() if self.is_gpu else None

    def tensor(self, values: Any, dtype: Any = None) -> Any:
        """An array (or tensor, or rows in one) on this device."""
        values = values.tensor if isinstance(values, DeviceRows) else values
        if isinstance(values, np.ndarray):
            values = self.torch.from_numpy(np.ascontiguousarray(values))
        return values.to(device=self.name, dtype=dtype)

    def free(self) -> int:
        """Bytes that are free on the device, with those that PyTorch keeps for later."""
        if not self.is_gpu:
            return FREE_ON_CPU
        cuda = self.torch.cuda
        kept = cuda.memory_reserved(self.name) - cuda.memory_allocated(self.name)
        return int(cuda.mem_get_info(self.name)[0]) + int(kept)

    def rows(self, row_bytes: int, n: int, copies: int = 4) -> int:
        """How many rows of so many bytes a temporary array may have, `copies` of which exist at once."""
        most = min(BLOCK_BYTES, self.free() // (4 * copies)) // self.shrink
        return int(np.clip(most // max(row_bytes, 1), 1, max(n, 1)))


@cache
def kernels() -> Any:
    """The module of fused kernels; None, with a warning, where Triton or the compiler that it needs does not work."""
    try:
        found = import_module("lowdim._core.gpu.fused_kernels")
        found.try_out(load("lowdim"))
    except Exception as error:  # noqa: BLE001 - Triton raises errors of many kinds where a compiler is not there
        why = next(iter(str(error).splitlines()), "")
        warn(f"Triton does not work here ({type(error).__name__}: {why}); plain PyTorch computes the same, but slower.")
        return None
    return found


def find(name: str, owner: str) -> Device | None:
    """The device of that name; None is the CPU and its compiled code.

    Parameters
    ----------
    name : str
        "cpu"; "auto", the GPU where there is one; "cuda" or "cuda:1".
    owner : str
        Who asks; error messages begin with it.

    Returns
    -------
    Device or None
    """
    if name == "cpu" or (name == "auto" and find_spec("torch") is None):
        return None
    rule = f"{owner}: device must be 'cpu', 'cuda', 'auto' or a GPU such as 'cuda:1'; got {name!r}."
    if name != "auto" and name.split(":")[0] != "cuda":
        raise ValueError(rule)
    torch = load(owner)
    if not torch.cuda.is_available():
        if name == "auto":
            return None
        raise ValueError(f"{rule} PyTorch finds no GPU here: use device='cpu', or 'auto' for a GPU where there is one.")
    try:
        found = torch.device("cuda" if name == "auto" else name)
        torch.zeros(1, device=found)
    except RuntimeError as error:
        raise ValueError(f"{rule} PyTorch finds {torch.cuda.device_count()} of them here ({error}).") from error
    return Device(torch, str(found) if found.index is not None else f"cuda:{torch.cuda.current_device()}")


def check_memory(device: Device, parts: dict[str, int], owner: str, ways_out: str) -> None:
    """MemoryError before anything is allocated where `parts` (name -> bytes) are more than the device has free."""
    total, most = sum(parts.values()), int(SHARE * device.free())
    if total <= most:
        return
    listed = ", ".join(f"{name} {memory.show(size)}" for name, size in sorted(parts.items(), key=lambda p: -p[1]))
    raise MemoryError(
        f"{owner}: this needs about {memory.show(total)} on {device.name} ({listed}); {memory.show(most)} are free. "
        f"{ways_out} device='cpu' uses the memory of the machine."
    )


TF32 = 2.0**-8 * 1.05  # of |x| |y|, by which 2 x.y may be off inside `rough_products`


@contextmanager
def full_precision(device: Device) -> Iterator[None]:
    """Products in true single precision inside the block, and no gradients; the caller's settings are restored."""
    with _products(device.torch, "highest"), device.torch.no_grad():
        yield


@contextmanager
def rough_products(device: Device) -> Iterator[None]:
    """Products of single precision from eleven bits (TF32) where the device has them, up to eight times faster."""
    with _products(device.torch, "high"):
        yield


@contextmanager
def _products(torch: Any, precision: str) -> Iterator[None]:
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision(precision)
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


def run(device: Device, work: Callable[[Device], T], owner: str) -> T:
    """`work` on the device; where its memory runs out, once more in blocks an eighth as large, with a warning."""
    with full_precision(device):
        try:
            return work(device)
        except device.torch.OutOfMemoryError:
            pass  # outside the handler, which holds the tensors of the first attempt
        if device.is_gpu:
            device.torch.cuda.empty_cache()
        warn(f"{owner}: the memory of {device.name} ran out; repeated with blocks an eighth as large.")
        return work(Device(device.torch, device.name, 8 * device.shrink))

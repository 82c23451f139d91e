"""Tensors of PyTorch as input: seen as arrays, and on a GPU given back as tensors there.

A tensor of the CPU is an array: results are arrays. A tensor on a GPU stays there (`DeviceRows`) where all that is done
with its rows is done on a GPU; else it is copied to the host. A method that computes on a GPU (`device` is not "cpu")
answers with a tensor on the same device. Nothing here imports PyTorch: where it is not loaded, nothing is a tensor.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from lowdim._core.gpu.device_rows import DeviceRows, on_host, to_host


def is_tensor(value: Any) -> bool:
    """Whether a value is a tensor of PyTorch; while another thread imports it, nothing is yet."""
    kind = getattr(sys.modules.get("torch"), "Tensor", None)
    return kind is not None and isinstance(value, kind)


def on_gpu(tensor: Any) -> bool:
    """Whether a tensor is on a GPU."""
    return bool(tensor.is_cuda)


def as_array(value: Any) -> Any:
    """A tensor as an array, without its gradients; anything else as it is."""
    if not is_tensor(value):
        return value
    torch = sys.modules["torch"]
    if value.layout != torch.strided:
        raise TypeError("A sparse tensor is not taken: pass a scipy sparse matrix, or tensor.to_dense().")
    return to_host(value.float() if value.dtype in (torch.bfloat16, torch.float16) else value)


def as_rows_of(model: Any, X: Any, step: str) -> Any:
    """What a model sees of X: of a tensor on a GPU these rows where it takes them, else a tensor as an array."""
    return as_points(X, is_tensor(X) and on_gpu(X) and model._takes_tensors(step))


def as_points(X: Any, there: bool) -> Any:
    """A tensor on a GPU as rows that stay there, if they are asked for there; else as an array."""
    rows = DeviceRows.of(X) if there and is_tensor(X) and on_gpu(X) else None
    return as_array(X) if rows is None else rows


def like(found: Any, given: Any, device: str) -> Any:
    """An array (or several) as a tensor where `given` is one, if that is on a GPU and the method computes there."""
    if isinstance(given, DeviceRows):  # one step of another, which was given the tensor
        return found
    if device == "cpu" or not is_tensor(given) or not on_gpu(given):
        return on_host(found)
    if isinstance(found, tuple):
        return tuple(like(part, given, device) for part in found)
    if isinstance(found, DeviceRows):
        return found.tensor.to(given.device)
    if not isinstance(found, np.ndarray) or found.dtype.kind != "f":
        return found
    return sys.modules["torch"].from_numpy(np.ascontiguousarray(found)).to(given.device)


def takes_tensors(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method of an estimator that sees arrays where it is given tensors, and answers as `like` says."""

    @wraps(method)
    def inside(self: Any, X: Any, *others: Any, **named: Any) -> Any:
        if "torch" not in sys.modules:
            return method(self, X, *others, **named)
        named = {name: as_array(value) for name, value in named.items()}
        found = method(self, as_rows_of(self, X, method.__name__), *map(as_array, others), **named)
        return like(found, X, getattr(self, "device", "cpu"))

    return inside


def take_tensors(cls: type) -> None:
    """The methods that a class of estimators defines take tensors from now on."""
    for name in ("fit", "fit_transform", "transform", "inverse_transform"):
        if name in vars(cls):
            setattr(cls, name, takes_tensors(vars(cls)[name]))

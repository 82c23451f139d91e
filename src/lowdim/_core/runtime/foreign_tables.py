"""Tensors of PyTorch as input: seen as arrays, and on a GPU given back as tensors there.

A tensor of the CPU is an array: results are arrays. A tensor on a GPU is copied to the host, where rows are checked and
kept; a method that computes on a GPU (`device` is not "cpu") answers with a tensor on the same device. Nothing here
imports PyTorch: where it is not loaded, nothing is a tensor.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np


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
    value = value.detach()
    return (value.float() if value.dtype in (torch.bfloat16, torch.float16) else value).cpu().numpy()


def like(found: Any, given: Any, device: str) -> Any:
    """An array (or several) as a tensor where `given` is one, if that is on a GPU and the method computes there."""
    if device == "cpu" or not is_tensor(given) or not on_gpu(given):
        return found
    if isinstance(found, tuple):
        return tuple(like(part, given, device) for part in found)
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
        found = method(self, as_array(X), *map(as_array, others), **named)
        return like(found, X, getattr(self, "device", "cpu"))

    return inside


def take_tensors(cls: type) -> None:
    """The methods that a class of estimators defines take tensors from now on."""
    for name in ("fit", "fit_transform", "transform", "inverse_transform"):
        if name in vars(cls):
            setattr(cls, name, takes_tensors(vars(cls)[name]))

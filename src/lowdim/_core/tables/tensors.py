"""Tables of other libraries as rows of an estimator: seen as arrays, and on a GPU given back as tensors there.

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

from lowdim._core.gpu.device_rows import DeviceRows, on_host
from lowdim._core.runtime import foreign_tables
from lowdim._core.runtime.foreign_tables import in_known_form, is_tensor


def as_rows_of(model: Any, X: Any, step: str) -> Any:
    """What a model sees of X: of a tensor on a GPU these rows where it takes them, else a table in a form it knows."""
    there = _on_gpu(X) and model._takes_tensors(step)
    return as_points(X, there, f"{type(model).__name__}: X")


def as_points(X: Any, there: bool, what: str = "X") -> Any:
    """A tensor on a GPU as rows that stay there, if they are asked for there; else a table in a known form."""
    rows = DeviceRows.of(X) if there and _on_gpu(X) else None
    return in_known_form(X, what) if rows is None else rows


def _on_gpu(X: Any) -> bool:
    return is_tensor(X) and foreign_tables.on_gpu(X)


def like(found: Any, given: Any, device: str) -> Any:
    """An array (or several) as a tensor where `given` is one, if that is on a GPU and the method computes there."""
    if isinstance(given, DeviceRows):  # one step of another, which was given the tensor
        return found
    if device == "cpu" or not _on_gpu(given):
        return on_host(found)
    if isinstance(found, tuple):
        return tuple(like(part, given, device) for part in found)
    if isinstance(found, DeviceRows):
        return found.tensor.to(given.device)
    if not isinstance(found, np.ndarray) or found.dtype.kind != "f":
        return found
    return sys.modules["torch"].from_numpy(np.ascontiguousarray(found)).to(given.device)


def takes_foreign(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method of an estimator that sees tables in a form it knows, and answers as `like` says."""

    @wraps(method)
    def inside(self: Any, X: Any, *others: Any, **named: Any) -> Any:
        if not foreign_tables.LIBRARIES & sys.modules.keys():
            return method(self, X, *others, **named)
        owner = type(self).__name__
        rest = [in_known_form(value, f"{owner}: y") for value in others]
        named = {name: in_known_form(value, f"{owner}: {name}") for name, value in named.items()}
        found = method(self, as_rows_of(self, X, method.__name__), *rest, **named)
        return like(found, X, getattr(self, "device", "cpu"))

    inside.takes_foreign = True  # type: ignore[attr-defined]
    return inside


def take_foreign(cls: type) -> None:
    """The methods that a class of estimators has, of its own or of a part, take such tables from now on."""
    for name in ("fit", "fit_transform", "partial_fit", "transform", "inverse_transform"):
        method = getattr(cls, name, None)
        if method is not None and not hasattr(method, "takes_foreign"):
            setattr(cls, name, takes_foreign(method))

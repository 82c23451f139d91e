"""Tables of other libraries as input: tensors of PyTorch are seen as arrays, tables of Arrow as data frames.

A tensor of the CPU is an array: results are arrays, and so they are of every function. A tensor on a GPU is copied to
the host, where rows are checked and kept; a method that computes on a GPU (`device` is not "cpu") answers with a tensor
on the same device. Nothing here imports PyTorch or Arrow: where they are not loaded, nothing is theirs.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

_LIBRARIES = {"torch", "pyarrow"}


def is_tensor(value: Any) -> bool:
    """Whether a value is a tensor of PyTorch; while another thread imports it, nothing is yet."""
    kind = getattr(sys.modules.get("torch"), "Tensor", None)
    return kind is not None and isinstance(value, kind)


def on_gpu(tensor: Any) -> bool:
    """Whether a tensor is on a GPU."""
    return bool(tensor.is_cuda)


def is_arrow(value: Any) -> bool:
    """Whether a value is a table of Arrow in memory, or a batch of its rows."""
    pyarrow: Any = sys.modules.get("pyarrow")
    kinds = tuple(kind for name in ("Table", "RecordBatch") if (kind := getattr(pyarrow, name, None)) is not None)
    return isinstance(value, kinds)


def in_known_form(value: Any, what: str) -> Any:
    """A tensor as an array, a table of Arrow as a data frame, anything else as it is; `what` begins error messages."""
    if is_tensor(value):
        return _as_array(value, what)
    return _as_frame(value) if is_arrow(value) else value


def _as_frame(table: Any) -> Any:
    """By pandas; without it the table stays as it is, for those who read its columns themselves."""
    try:
        return table.to_pandas()
    except ImportError:
        return table


def _as_array(value: Any, what: str) -> Any:
    """Without its gradients."""
    torch = sys.modules["torch"]
    if value.layout != torch.strided:
        raise TypeError(
            f"{what} must be a dense tensor; got a sparse one. Pass a scipy sparse matrix, or tensor.to_dense()."
        )
    if value.is_meta:
        raise TypeError(f"{what} must have cells; got a tensor without any (device 'meta').")
    value = value.detach().resolve_conj().resolve_neg()
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


def takes_foreign(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method of an estimator that sees tables in a form it knows, and answers as `like` says."""

    @wraps(method)
    def inside(self: Any, X: Any, *others: Any, **named: Any) -> Any:
        if not _LIBRARIES & sys.modules.keys():
            return method(self, X, *others, **named)
        owner = type(self).__name__
        rest = [in_known_form(value, f"{owner}: y") for value in others]
        named = {name: in_known_form(value, f"{owner}: {name}") for name, value in named.items()}
        found = method(self, in_known_form(X, f"{owner}: X"), *rest, **named)
        return like(found, X, getattr(self, "device", "cpu"))

    inside.takes_foreign = True  # type: ignore[attr-defined]
    return inside


def take_foreign(cls: type) -> None:
    """The methods that a class of estimators has, of its own or of a part, take such tables from now on."""
    for name in ("fit", "fit_transform", "partial_fit", "transform", "inverse_transform"):
        method = getattr(cls, name, None)
        if method is not None and not hasattr(method, "takes_foreign"):
            setattr(cls, name, takes_foreign(method))

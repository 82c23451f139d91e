"""Tables of other libraries as input: tensors of PyTorch are seen as arrays, tables of Arrow as data frames.

Nothing here imports PyTorch or Arrow: where they are not loaded, nothing is theirs. Tensors that stay on a GPU:
`_core/tables/tensors.py`.
"""

from __future__ import annotations

import sys
from typing import Any

LIBRARIES = {"torch", "pyarrow"}


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

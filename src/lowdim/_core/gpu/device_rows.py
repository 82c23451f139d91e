"""Rows that are in a tensor already: what stages on a device take where others take an array.

Nothing here imports PyTorch: who has such rows has loaded it.
"""

from __future__ import annotations

import sys
from functools import cached_property
from typing import Any

import numpy as np

PRECISIONS = ("float32", "float64")


def to_host(tensor: Any) -> np.ndarray:
    """The one way in which rows on a device come into the memory of the machine."""
    return np.asarray(tensor.detach().cpu().numpy())


class DeviceRows:
    """A table of floats whose cells are in a tensor, with what stages ask of an array: its shape, its type, some rows.

    Who asks for more, or for an array, gets the copy in the memory of the machine, which is made then, and once.
    """

    ndim = 2

    def __init__(self, tensor: Any) -> None:
        self.tensor = tensor

    @classmethod
    def of(cls, tensor: Any) -> DeviceRows | None:
        """A tensor as rows: of half precision in single, of whole numbers in double; None for what is no such table."""
        if tensor.layout != sys.modules["torch"].strided or tensor.ndim != 2 or not tensor.numel():
            return None
        if tensor.is_complex():
            return None
        name = str(tensor.dtype).removeprefix("torch.")
        tensor = tensor.detach()
        if name not in PRECISIONS:
            tensor = tensor.float() if tensor.is_floating_point() else tensor.double()
        return cls(tensor.contiguous())

    @property
    def shape(self) -> tuple[int, int]:
        n, d = self.tensor.shape
        return int(n), int(d)

    @property
    def dtype(self) -> np.dtype:
        return np.dtype(str(self.tensor.dtype).removeprefix("torch."))

    @property
    def itemsize(self) -> int:
        return int(self.tensor.element_size())

    @property
    def size(self) -> int:
        return int(self.tensor.numel())

    @property
    def nbytes(self) -> int:
        return self.size * self.itemsize

    @cached_property
    def largest(self) -> float:
        """The largest magnitude, found where the cells are; NaN and infinity show in it."""
        least, most = (float(part) for part in self.tensor.aminmax())
        return max(abs(least), abs(most)) if least == least else least

    @cached_property
    def host(self) -> np.ndarray:
        """The copy in the memory of the machine."""
        return to_host(self.tensor)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: Any) -> Any:
        """Some of the rows, on the device; a single one, by its number, as an array."""
        if isinstance(key, (int, np.integer)):
            return to_host(self.tensor[int(key)])
        if isinstance(key, (np.ndarray, list)):
            key = sys.modules["torch"].as_tensor(np.asarray(key), device=self.tensor.device)
        return DeviceRows(self.tensor[key])

    def copy(self) -> DeviceRows:
        return DeviceRows(self.tensor.clone())

    def astype(self, dtype: Any, copy: bool = True) -> DeviceRows:
        name = np.dtype(dtype).name
        return DeviceRows(self.tensor.to(dtype=getattr(sys.modules["torch"], name), copy=copy))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.host, dtype=dtype) if copy else np.asarray(self.host, dtype=dtype)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not hasattr(np.ndarray, name):
            raise AttributeError(name)
        return getattr(self.host, name)

    def __deepcopy__(self, memo: Any) -> DeviceRows:
        return self.copy()

    def __reduce__(self) -> Any:
        """An array in another process and in a file: there may be no device there."""
        return np.asarray, (self.host,)


def on_host(rows: Any) -> Any:
    """Rows on a device as an array; other rows as they are."""
    return rows.host if isinstance(rows, DeviceRows) else rows


def largest_of(rows: Any) -> float:
    """The largest magnitude of a table."""
    return rows.largest if isinstance(rows, DeviceRows) else float(np.abs(rows).max(initial=0.0))

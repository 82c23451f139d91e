"""From a model to the text and the arrays of its file."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any, BinaryIO, ClassVar
from zipfile import ZIP_STORED, ZipFile, ZipInfo

import numpy as np
from scipy import sparse

from lowdim._core.gpu.device_rows import on_host
from lowdim._core.persist import records
from lowdim._core.persist.nodes import (
    DEEPEST,
    DOCUMENT,
    EXACT,
    KINDS,
    SCALARS,
    SPARSE,
    SPARSE_PARTS,
    describe,
    is_estimator,
    is_names,
)


class Writer:
    """Turns values into JSON nodes, and collects the arrays they refer to, each of them once."""

    def __init__(self) -> None:
        self.arrays: list[np.ndarray] = []
        self._numbers: dict[int, int] = {}

    def node(self, value: Any, path: str, depth: int) -> Any:
        value = on_host(value)
        if depth > DEEPEST:
            raise ValueError(f"save: {path} must be nested less than {DEEPEST} deep; it may contain itself.")
        if value is None or type(value) in (bool, str):
            return value
        if type(value) is int:
            return value if abs(value) <= EXACT else {"kind": "int", "hex": hex(value)}
        if type(value) is float:
            return value if math.isfinite(value) else {"kind": "float", "text": repr(value)}
        for belongs, encode in self._ENCODERS:
            if belongs(value):
                return encode(self, value, path, depth + 1)
        raise TypeError(f"save: {path} must be data to go into a file; {_obstacle(value)}")

    def _nodes(self, values: dict[str, Any], path: str, depth: int) -> dict[str, Any]:
        return {name: self.node(value, f"{path}.{name}", depth) for name, value in values.items()}

    def _scalar(self, value: np.generic, path: str, depth: int) -> dict[str, Any]:
        name = "str" if isinstance(value, np.str_) else value.dtype.name
        return {"kind": "scalar", "type": name, "value": self.node(value.item(), path, depth)}

    def _array(self, value: np.ndarray, path: str, depth: int) -> dict[str, Any]:
        if id(value) not in self._numbers:
            self._numbers[id(value)] = len(self.arrays)
            self.arrays.append(value)
        name = member(self._numbers[id(value)])
        finite = value.dtype.kind not in "fc" or bool(np.isfinite(value).all())
        return {
            "kind": "array",
            "member": name,
            "dtype": value.dtype.str,
            "shape": list(value.shape),
            "finite": finite,
        }

    def _names(self, value: np.ndarray, path: str, depth: int) -> dict[str, Any]:
        return {"kind": "names", "items": value.tolist()}

    def _sparse(self, value: Any, path: str, depth: int) -> dict[str, Any]:
        parts = {name: getattr(value, name) for name in SPARSE_PARTS[value.format]}
        return {
            "kind": "sparse",
            "type": type(value).__name__,
            "shape": [int(n) for n in value.shape],
            "parts": self._nodes(parts, path, depth),
        }

    def _sequence(self, value: list[Any] | tuple[Any, ...], path: str, depth: int) -> dict[str, Any]:
        items = [self.node(item, f"{path}[{i}]", depth) for i, item in enumerate(value)]
        return {"kind": type(value).__name__, "items": items}

    def _dict(self, value: dict[str, Any], path: str, depth: int) -> dict[str, Any]:
        for key in value:
            if type(key) is not str:
                raise TypeError(f"save: the keys of {path} must be text; got {key!r}.")
        return {"kind": "dict", "items": self._nodes(value, path, depth)}

    def _slice(self, value: slice, path: str, depth: int) -> dict[str, Any]:
        parts = [self.node(part, path, depth) for part in (value.start, value.stop, value.step)]
        return {"kind": "slice", "items": parts}

    def _record(self, value: Any, path: str, depth: int) -> dict[str, Any]:
        held = {field.name: getattr(value, field.name) for field in fields(value) if field.init}
        return {"kind": "record", "class": records.tag_of(value), "fields": self._nodes(held, path, depth)}

    def _estimator(self, value: Any, path: str, depth: int) -> dict[str, Any]:
        params = value.get_params(deep=False)
        params |= {"callback": None} if "callback" in params else {}  # code, and of use during a fit only
        state = {name: item for name, item in vars(value).items() if name not in params}
        if not getattr(state.get("_running"), "has_file", False):  # sums of `partial_fit` that are not plain records
            state.pop("_running", None)
        return {
            "kind": "estimator",
            "class": type(value).__name__,
            "params": self._nodes(params, path, depth),
            "state": self._nodes(state, path, depth),
        }

    _ENCODERS: ClassVar[tuple[tuple[Callable[[Any], bool], Callable[..., dict[str, Any]]], ...]] = (
        (
            lambda v: isinstance(v, np.generic) and (isinstance(v, np.str_) or v.dtype.name in SCALARS),
            _scalar,
        ),
        (lambda v: type(v) in (np.ndarray, np.memmap) and v.dtype.kind in KINDS, _array),
        (is_names, _names),
        (lambda v: sparse.issparse(v) and type(v).__name__ in SPARSE and v.ndim == 2, _sparse),
        (lambda v: type(v) in (list, tuple), _sequence),
        (lambda v: type(v) is dict, _dict),
        (lambda v: type(v) is slice, _slice),
        (lambda v: records.tag_of(v) is not None, _record),
        (is_estimator, _estimator),
    )


def member(number: int) -> str:
    """The name of an array in the file."""
    return f"arrays/{number}.npy"


def _obstacle(value: Any) -> str:
    """Why a value cannot be written, and what to do instead."""
    if isinstance(value, (np.random.RandomState, np.random.Generator)):
        return "got a random generator. Pass an int as random_state."
    if isinstance(value, np.ndarray):
        return f"got an array of type {type(value).__name__} and dtype {value.dtype}."
    if callable(value):
        name = getattr(value, "__qualname__", type(value).__qualname__)
        return f"got the function {name!r}, which is code. Use a name or one of lowdim's objects."
    return f"got an object of type {describe(value)}."


def write_zip(path: Path | BinaryIO, text: bytes, arrays: list[np.ndarray]) -> None:
    # Not compressed: floating-point numbers hardly shrink, and no member can then be larger than its file.
    with ZipFile(path, "w", ZIP_STORED) as archive:
        archive.writestr(_info(DOCUMENT), text)
        for number, array in enumerate(arrays):
            large = array.nbytes > 2**31 - 2**16
            with archive.open(_info(member(number)), "w", force_zip64=large) as stream:
                np.lib.format.write_array(stream, array, allow_pickle=False)


def _info(name: str) -> ZipInfo:
    info = ZipInfo(name)  # its date stays 1980: the same model gives the same bytes
    info.external_attr = 0o644 << 16
    return info

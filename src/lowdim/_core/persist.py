"""Models in files: arrays and JSON in one zip, readable next year and unable to run anything.

A file holds ``model.json`` (format, version, class, parameters, fitted state) and a ``.npy`` member for each
array. Only data can be written: numbers, text, arrays, and the records and estimators of lowdim itself.
Reading looks classes up in fixed tables, and checks every size before memory is taken.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import fields, is_dataclass
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any, BinaryIO, ClassVar
from zipfile import ZIP_STORED, ZipFile, ZipInfo

import numpy as np
from scipy import sparse

import lowdim
from lowdim._core import memory
from lowdim._core.files import write_atomically

FORMAT, VERSION = "lowdim-model", 1
_DOCUMENT = "model.json"

# Frozen dataclasses of these modules, and no others, are written and read field by field.
_RECORD_MODULES = frozenset(
    f"lowdim._core.{name}"
    for name in (
        "align",
        "extend",
        "gaussian",
        "graph",
        "incomplete",
        "incomplete_kernels",
        "inverse",
        "iterate",
        "kernel_algebra",
        "kernel_catalogue",
        "kernel_given",
        "missing",
        "monotone",
        "neighbors",
        "parts",
        "placing",
        "process",
        "ranks",
        "scaling",
        "spectrum",
        "walk",
    )
)
_KINDS = "biufcSU"  # numpy types that are plain data
_SCALARS = {"bool": np.bool_, "str": np.str_} | {
    np.dtype(code).name: np.dtype(code).type
    for code in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8")
}
_SPARSE_PARTS = {
    "csr": ("data", "indices", "indptr"),
    "csc": ("data", "indices", "indptr"),
    "bsr": ("data", "indices", "indptr"),
    "coo": ("data", "row", "col"),
    "dia": ("data", "offsets"),
}
_SPARSE = {f"{form}_{kind}": form for form in _SPARSE_PARTS for kind in ("array", "matrix")}
_EXACT = 2**53  # beyond it, readers that keep numbers as doubles would round
_DEEPEST = 50


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a model to a file that `load` reads back.

    The file holds data only, so it can be read without trusting whoever wrote it. It appears complete or not
    at all: an earlier file of that name stays until the new one is on disk.

    Parameters
    ----------
    model : estimator of lowdim
        Fitted or not.
    path : str or path
        Where to. An existing file is replaced.

    Raises
    ------
    TypeError
        Where a parameter or attribute is not data, such as a function or a random generator. Then nothing is
        written.

    Examples
    --------
    >>> import lowdim, os, tempfile
    >>> model = lowdim.PCA(2).fit([[0.0, 1.0], [1.0, 0.0], [2.0, 5.0]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "model.lowdim")
    ...     lowdim.save(model, path)
    ...     lowdim.load(path).n_components_
    2
    """
    if not _is_estimator(model):
        raise TypeError(f"save: model must be an estimator of lowdim; got {_describe(model)}.")
    writer = _Writer()
    document = {
        "format": FORMAT,
        "version": VERSION,
        "lowdim": lowdim.__version__,
        "model": writer.node(model, type(model).__name__, 0),
    }
    text = json.dumps(document, indent=1, allow_nan=False).encode("ascii")
    write_atomically(path, lambda temporary: _write_zip(temporary, text, writer.arrays), owner="save")


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model that `save` wrote.

    Nothing in the file is run, whoever wrote it.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    estimator of lowdim
        With the same parameters and fitted state: ``transform`` gives the same bits on the same machine.

    Raises
    ------
    ValueError
        Where the file is damaged, has a newer format, or holds something that is not a model of lowdim.
    MemoryError
        Where its arrays would take more than the memory limit.
    """
    path = os.fsdecode(path)
    with open(path, "rb") as stream:
        try:
            return _read(stream)
        except (MemoryError, ImportError):
            raise
        except Exception as error:
            raise ValueError(f"load: {path!r} cannot be read as a model: {_reason(error)}.") from error


def _reason(error: Exception) -> str:
    text = str(error).rstrip(".")
    return text if type(error) is ValueError and text else f"{type(error).__name__} {text}".strip()


def _describe(value: object) -> str:
    return f"{type(value).__module__}.{type(value).__qualname__}"


# What may be in a file ---------------------------------------------------------------------------------


def _is_estimator(value: object) -> bool:
    name = type(value).__name__
    return name in lowdim._ESTIMATORS and getattr(lowdim, name) is type(value)


def _is_record_class(cls: object, module: str) -> bool:
    return (
        isinstance(cls, type) and cls.__module__ == module and is_dataclass(cls) and cls.__dataclass_params__.frozen  # type: ignore[attr-defined]
    )


def _is_record(value: object) -> bool:
    cls = type(value)
    return cls.__module__ in _RECORD_MODULES and _is_record_class(cls, cls.__module__)


def _is_names(value: object) -> bool:
    """Whether it is what scikit-learn keeps column names in: an array of objects, each of them text."""
    return (
        type(value) is np.ndarray and value.dtype == object and value.ndim == 1 and all(type(v) is str for v in value)
    )


# Writing -----------------------------------------------------------------------------------------------


class _Writer:
    """Turns values into JSON nodes, and collects the arrays they refer to, each of them once."""

    def __init__(self) -> None:
        self.arrays: list[np.ndarray] = []
        self._numbers: dict[int, int] = {}

    def node(self, value: Any, path: str, depth: int) -> Any:
        if depth > _DEEPEST:
            raise ValueError(f"save: {path} must be nested less than {_DEEPEST} deep; it may contain itself.")
        if value is None or type(value) in (bool, str):
            return value
        if type(value) is int:
            return value if abs(value) <= _EXACT else {"kind": "int", "hex": hex(value)}
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
        member = _member(self._numbers[id(value)])
        return {"kind": "array", "member": member, "dtype": value.dtype.str, "shape": list(value.shape)}

    def _names(self, value: np.ndarray, path: str, depth: int) -> dict[str, Any]:
        return {"kind": "names", "items": value.tolist()}

    def _sparse(self, value: Any, path: str, depth: int) -> dict[str, Any]:
        parts = {name: getattr(value, name) for name in _SPARSE_PARTS[value.format]}
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
        name = f"{type(value).__module__}:{type(value).__qualname__}"
        return {"kind": "record", "class": name, "fields": self._nodes(held, path, depth)}

    def _estimator(self, value: Any, path: str, depth: int) -> dict[str, Any]:
        params = value.get_params(deep=False)
        state = {name: item for name, item in vars(value).items() if name not in params}
        return {
            "kind": "estimator",
            "class": type(value).__name__,
            "params": self._nodes(params, path, depth),
            "state": self._nodes(state, path, depth),
        }

    _ENCODERS: ClassVar[tuple[tuple[Callable[[Any], bool], Callable[..., dict[str, Any]]], ...]] = (
        (
            lambda v: isinstance(v, np.generic) and (isinstance(v, np.str_) or v.dtype.name in _SCALARS),
            _scalar,
        ),
        (lambda v: type(v) in (np.ndarray, np.memmap) and v.dtype.kind in _KINDS, _array),
        (_is_names, _names),
        (lambda v: sparse.issparse(v) and type(v).__name__ in _SPARSE and v.ndim == 2, _sparse),
        (lambda v: type(v) in (list, tuple), _sequence),
        (lambda v: type(v) is dict, _dict),
        (lambda v: type(v) is slice, _slice),
        (_is_record, _record),
        (_is_estimator, _estimator),
    )


def _member(number: int) -> str:
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
    return f"got an object of type {_describe(value)}."


def _write_zip(path: Path, text: bytes, arrays: list[np.ndarray]) -> None:
    # Not compressed: floating-point numbers hardly shrink, and no member can then be larger than its file.
    with ZipFile(path, "w", ZIP_STORED) as archive:
        archive.writestr(_info(_DOCUMENT), text)
        for number, array in enumerate(arrays):
            large = array.nbytes > 2**31 - 2**16
            with archive.open(_info(_member(number)), "w", force_zip64=large) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)


def _info(name: str) -> ZipInfo:
    info = ZipInfo(name)  # its date stays 1980: the same model gives the same bytes
    info.external_attr = 0o644 << 16
    return info


# Reading -----------------------------------------------------------------------------------------------


def _read(stream: BinaryIO) -> Any:
    size = stream.seek(0, os.SEEK_END)
    stream.seek(0)
    if stream.read(4) != b"PK\x03\x04":
        raise ValueError("it is not a zip file")
    with ZipFile(stream) as archive:
        members = _members(archive, size)
        memory.check("load", {"the model": size})
        document = _document(archive.read(members.pop(_DOCUMENT)))
        reader = _Reader(archive, members)
        model = reader.value(document["model"])
    if not _is_estimator(model):
        raise ValueError(f"it holds no estimator but {_describe(model)}")
    if unused := set(members) - set(reader.arrays):
        raise ValueError(f"it has members the model does not use: {sorted(unused)}")
    return model


def _members(archive: ZipFile, size: int) -> dict[str, ZipInfo]:
    listed = archive.infolist()
    members = {info.filename: info for info in listed}
    if len(members) != len(listed) or _DOCUMENT not in members:
        raise ValueError(f"it must have one {_DOCUMENT} and no member twice")
    for info in listed:
        if info.compress_type != ZIP_STORED or info.flag_bits & 1 or info.compress_size != info.file_size:
            raise ValueError(f"its member {info.filename!r} is compressed or encrypted")
    if sum(info.file_size for info in listed) > size:
        raise ValueError("its members are larger than the file")
    return members


def _document(text: bytes) -> dict[str, Any]:
    document = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ValueError(f"its {_DOCUMENT} does not say format {FORMAT!r}")
    version = document.get("version")
    if type(version) is not int or version < 1:
        raise ValueError(f"its version must be a positive integer; got {version!r}")
    if version > VERSION:
        raise ValueError(
            f"it has format version {version}, written by lowdim {document.get('lowdim')}; this lowdim "
            f"({lowdim.__version__}) reads up to version {VERSION}. Upgrade lowdim"
        )
    _only(document, "format", "version", "lowdim", "model")
    return document


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError(f"its {_DOCUMENT} has a key twice")
    return found


def _no_constant(text: str) -> None:
    raise ValueError(f"its {_DOCUMENT} has {text}, which is not JSON")


def _only(node: dict[str, Any], *keys: str) -> None:
    if set(node) != set(keys):
        raise ValueError(f"an entry of {_DOCUMENT} must have the keys {sorted(keys)}; got {sorted(node)}")


def _typed(value: Any, kind: type, what: str) -> Any:
    if type(value) is not kind:
        raise ValueError(f"{what} must be of type {kind.__name__}; got {value!r:.80}")
    return value


def _shape(value: Any) -> tuple[int, ...]:
    _typed(value, list, "a shape")
    if not all(type(n) is int and n >= 0 for n in value):
        raise ValueError(f"a shape must hold non-negative integers; got {value!r:.80}")
    return tuple(value)


class _Reader:
    """Turns JSON nodes back into values; the counterpart of `_Writer`, kind by kind."""

    def __init__(self, archive: ZipFile, members: dict[str, ZipInfo]) -> None:
        self.archive, self.members = archive, members
        self.arrays: dict[str, np.ndarray] = {}

    def value(self, node: Any) -> Any:
        if node is None or type(node) in (bool, int, float, str):
            return node
        kind = _typed(node, dict, "an entry").get("kind")
        if not isinstance(kind, str) or kind not in self._DECODERS:
            raise ValueError(f"it has an entry of the unknown kind {kind!r:.80}")
        keys, decode = self._DECODERS[kind]
        _only(node, "kind", *keys)
        return decode(self, *(node[key] for key in keys))

    def _values(self, nodes: Any) -> dict[str, Any]:
        return {name: self.value(node) for name, node in _typed(nodes, dict, "a table").items()}

    def _list(self, items: Any) -> list[Any]:
        return [self.value(item) for item in _typed(items, list, "a list")]

    def _float(self, text: Any) -> float:
        if text not in ("nan", "inf", "-inf"):
            raise ValueError(f"a special number must be nan, inf or -inf; got {text!r:.80}")
        return float(text)

    def _scalar(self, name: Any, node: Any) -> np.generic:
        if not isinstance(name, str) or name not in _SCALARS:
            raise ValueError(f"it has a number of the unknown type {name!r:.80}")
        wanted = {"b": bool, "i": int, "u": int, "f": float, "U": str}[np.dtype(_SCALARS[name]).kind]
        return _SCALARS[name](_typed(self.value(node), wanted, name))

    def _array(self, member: Any, dtype: Any, shape: Any) -> np.ndarray:
        name, form = _typed(member, str, "a member"), _shape(shape)
        if name not in self.members:
            raise ValueError(f"its member {name!r} is missing")
        if name not in self.arrays:
            self._check_member(self.members[name])
            with self.archive.open(self.members[name]) as stream:
                self.arrays[name] = np.lib.format.read_array(stream, allow_pickle=False)
        found = self.arrays[name]
        if found.dtype.str != dtype or found.shape != form:
            raise ValueError(f"its array {name!r} is not of type {dtype!r:.20} and shape {form} as declared")
        return found

    def _check_member(self, info: ZipInfo) -> None:
        """The header must ask for plain data of exactly the member's size, before memory is taken for it."""
        readers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
        with self.archive.open(info) as stream:
            version = np.lib.format.read_magic(stream)
            if version not in readers:
                raise ValueError(f"its array {info.filename!r} has the unknown npy version {version}")
            shape, _, dtype = readers[version](stream)
            header = stream.tell()
        if dtype.kind not in _KINDS:
            raise ValueError(f"its array {info.filename!r} is of type {dtype}, which is not plain data")
        if header + math.prod(shape) * dtype.itemsize != info.file_size:
            raise ValueError(f"its array {info.filename!r} does not have the size of its shape {shape}")

    def _names(self, items: Any) -> np.ndarray:
        texts = [_typed(item, str, "a name") for item in _typed(items, list, "a list")]
        found = np.empty(len(texts), dtype=object)
        found[:] = texts
        return found

    def _sparse(self, name: Any, shape: Any, parts: Any) -> Any:
        if not isinstance(name, str) or name not in _SPARSE:
            raise ValueError(f"it has a sparse array of the unknown type {name!r:.80}")
        held, form = self._values(parts), _SPARSE[name]
        _only(held, *_SPARSE_PARTS[form])
        data, *where = (_typed(held[part], np.ndarray, part) for part in _SPARSE_PARTS[form])
        if any(index.dtype.kind not in "iu" for index in where):
            raise ValueError("the indices of a sparse array must be integers")
        position = tuple(where) if form == "coo" else where[0]
        arguments = (data, *where) if form in ("csr", "csc", "bsr") else (data, position)
        found = getattr(sparse, name)(arguments, shape=_shape(shape))
        if form in ("csr", "csc", "bsr"):
            found.check_format(full_check=True)  # compiled code trusts these indices
        return found

    def _record(self, name: Any, values: Any) -> Any:
        module, _, label = _typed(name, str, "a class").partition(":")
        cls = None
        with suppress(ModuleNotFoundError):  # a module of a later lowdim
            cls = getattr(import_module(module), label, None) if module in _RECORD_MODULES else None
        if not _is_record_class(cls, module):
            raise ValueError(f"it has a record of the unknown class {name!r:.80}")
        return cls(**self._values(values))  # type: ignore[misc]

    def _estimator(self, name: Any, params: Any, state: Any) -> Any:
        if not isinstance(name, str) or name not in lowdim._ESTIMATORS:
            raise ValueError(f"it has an estimator of the unknown class {name!r:.80}")
        cls = getattr(lowdim, name)
        known, given, kept = signature(cls).parameters, self._values(params), self._values(state)
        if unknown := set(given) - set(known):
            raise ValueError(f"{name} has no parameters {sorted(unknown)}")
        for attribute in kept:
            if not attribute.isidentifier() or attribute.startswith("__") or attribute in known:
                raise ValueError(f"{name} has no attribute {attribute!r:.80}")
            if callable(getattr(cls, attribute, None)):
                raise ValueError(f"{attribute!r} is a method of {name}, not an attribute")
        model = cls(**given)
        vars(model).update(kept)
        return model

    _DECODERS: ClassVar[dict[str, tuple[tuple[str, ...], Callable[..., Any]]]] = {
        "int": (("hex",), lambda self, text: int(_typed(text, str, "an integer"), 16)),
        "float": (("text",), _float),
        "scalar": (("type", "value"), _scalar),
        "array": (("member", "dtype", "shape"), _array),
        "names": (("items",), _names),
        "sparse": (("type", "shape", "parts"), _sparse),
        "list": (("items",), _list),
        "tuple": (("items",), lambda self, items: tuple(self._list(items))),
        "dict": (("items",), _values),
        "slice": (("items",), lambda self, items: slice(*self._list(items))),
        "record": (("class", "fields"), _record),
        "estimator": (("class", "params", "state"), _estimator),
    }

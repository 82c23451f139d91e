"""From a file to the model: every name is looked up, every size checked before memory is taken."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable
from inspect import signature
from typing import Any, BinaryIO, ClassVar
from zipfile import ZIP_STORED, ZipFile, ZipInfo

import numpy as np
from scipy import sparse

import lowdim
from lowdim._core.persist import records
from lowdim._core.persist.nodes import (
    DOCUMENT,
    FORMAT,
    KINDS,
    SCALARS,
    SPARSE,
    SPARSE_PARTS,
    VERSION,
    describe,
    estimator_of,
)
from lowdim._core.persist.usable import check_usable, digest_of
from lowdim._core.renamed import renamed_of
from lowdim._core.runtime import memory

_OBJECTS = 30  # bytes of Python objects for a byte of JSON such as {"a":0}, at most


def read(stream: BinaryIO) -> Any:
    size = stream.seek(0, os.SEEK_END)
    stream.seek(0)
    if stream.read(4) != b"PK\x03\x04":
        raise ValueError("it is not a zip file")
    with ZipFile(stream) as archive:
        members = _members(archive, size)
        text = members[DOCUMENT].file_size
        memory.check("load", {"arrays": size - text, f"the objects of {DOCUMENT}": _OBJECTS * text})
        document = _document(archive.read(members.pop(DOCUMENT)))
        reader = Reader(archive, members)
        model = reader.value(document["model"])
    estimator = estimator_of(model)
    if estimator is None:
        raise ValueError(f"it holds no estimator but {describe(model)}")
    if unused := set(members) - set(reader.arrays):
        raise ValueError(f"it has members the model does not use: {sorted(unused)}")
    if document["version"] >= 3 and document["digest"] != digest_of(document["model"], reader.arrays):
        raise ValueError("it was changed after it was written: its digest is another one")
    check_usable(estimator)
    return model


def _members(archive: ZipFile, size: int) -> dict[str, ZipInfo]:
    listed = archive.infolist()
    members = {info.filename: info for info in listed}
    if len(members) != len(listed) or DOCUMENT not in members:
        raise ValueError(f"it must have one {DOCUMENT} and no member twice")
    for info in listed:
        if info.compress_type != ZIP_STORED or info.flag_bits & 1 or info.compress_size != info.file_size:
            raise ValueError(f"its member {info.filename!r} is compressed or encrypted")
    if sum(info.file_size for info in listed) > size:
        raise ValueError("its members are larger than the file")
    return members


def _document(text: bytes) -> dict[str, Any]:
    document = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ValueError(f"its {DOCUMENT} does not say format {FORMAT!r}")
    version = document.get("version")
    if type(version) is not int or version < 1:
        raise ValueError(f"its version must be a positive integer; got {version!r}")
    if version > VERSION:
        raise ValueError(
            f"it has format version {version}, written by lowdim {document.get('lowdim')}; this lowdim "
            f"({lowdim.__version__}) reads up to version {VERSION}. Upgrade lowdim"
        )
    _only(document, "format", "version", "lowdim", "model", *(["digest"] if version >= 3 else []))
    return document


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError(f"its {DOCUMENT} has a key twice")
    return found


def _no_constant(text: str) -> None:
    raise ValueError(f"its {DOCUMENT} has {text}, which is not JSON")


def _only(node: dict[str, Any], *keys: str) -> None:
    if set(node) != set(keys):
        raise ValueError(f"an entry of {DOCUMENT} must have the keys {sorted(keys)}; got {sorted(node)}")


def _typed(value: Any, kind: type, what: str) -> Any:
    if type(value) is not kind:
        raise ValueError(f"{what} must be of type {kind.__name__}; got {value!r:.80}")
    return value


def _shape(value: Any) -> tuple[int, ...]:
    _typed(value, list, "a shape")
    if not all(type(n) is int and n >= 0 for n in value):
        raise ValueError(f"a shape must hold non-negative integers; got {value!r:.80}")
    return tuple(value)


class Reader:
    """Turns JSON nodes back into values; the counterpart of `Writer`, kind by kind."""

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
        said = [key for key in ("finite",) if kind == "array" and key in node]  # since version 3
        _only(node, "kind", *keys, *said)
        found = decode(self, *(node[key] for key in keys))
        if said and node["finite"] and found.dtype.kind in "fc" and not np.isfinite(found).all():
            raise ValueError(f"its array {node['member']!r} must be finite; it holds NaN or infinity")
        return found

    def _values(self, nodes: Any) -> dict[str, Any]:
        return {name: self.value(node) for name, node in _typed(nodes, dict, "a table").items()}

    def _list(self, items: Any) -> list[Any]:
        return [self.value(item) for item in _typed(items, list, "a list")]

    def _float(self, text: Any) -> float:
        if text not in ("nan", "inf", "-inf"):
            raise ValueError(f"a special number must be nan, inf or -inf; got {text!r:.80}")
        return float(text)

    def _scalar(self, name: Any, node: Any) -> np.generic:
        if not isinstance(name, str) or name not in SCALARS:
            raise ValueError(f"it has a number of the unknown type {name!r:.80}")
        wanted = {"b": bool, "i": int, "u": int, "f": float, "U": str}[np.dtype(SCALARS[name]).kind]
        return SCALARS[name](_typed(self.value(node), wanted, name))

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
        if dtype.kind not in KINDS:
            raise ValueError(f"its array {info.filename!r} is of type {dtype}, which is not plain data")
        if header + math.prod(shape) * dtype.itemsize != info.file_size:
            raise ValueError(f"its array {info.filename!r} does not have the size of its shape {shape}")

    def _names(self, items: Any) -> np.ndarray:
        texts = [_typed(item, str, "a name") for item in _typed(items, list, "a list")]
        found = np.empty(len(texts), dtype=object)
        found[:] = texts
        return found

    def _sparse(self, name: Any, shape: Any, parts: Any) -> Any:
        if not isinstance(name, str) or name not in SPARSE:
            raise ValueError(f"it has a sparse array of the unknown type {name!r:.80}")
        held, form = self._values(parts), SPARSE[name]
        _only(held, *SPARSE_PARTS[form])
        data, *where = (_typed(held[part], np.ndarray, part) for part in SPARSE_PARTS[form])
        if any(index.dtype.kind not in "iu" for index in where):
            raise ValueError("the indices of a sparse array must be integers")
        position = tuple(where) if form == "coo" else where[0]
        arguments = (data, *where) if form in ("csr", "csc", "bsr") else (data, position)
        found = getattr(sparse, name)(arguments, shape=_shape(shape))
        if form in ("csr", "csc", "bsr"):
            found.check_format(full_check=True)  # compiled code trusts these indices
        return found

    def _record(self, name: Any, values: Any) -> Any:
        tag = records.current_tag(_typed(name, str, "a class"))
        cls = records.class_of(tag)
        if cls is None:
            raise ValueError(f"it has a record of the unknown class {name!r:.80}")
        return cls(**records.today(records.FIELDS.get(tag, {}), self._values(values)))

    def _estimator(self, name: Any, params: Any, state: Any) -> Any:
        if not isinstance(name, str) or name not in lowdim._ESTIMATORS:
            raise ValueError(f"it has an estimator of the unknown class {name!r:.80}")
        cls = getattr(lowdim, name)
        known = signature(cls).parameters
        given = records.today(renamed_of(cls), self._values(params))
        kept = records.today(records.ATTRIBUTES.get(name, {}), self._values(state))
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

"""The kinds of values that a model file holds, shared by writing and reading."""

from __future__ import annotations

import numpy as np

import lowdim
from lowdim._core.persist import records

FORMAT, VERSION = "lowdim-model", 3  # version 1 named records by their modules; since 3 there is a digest
DOCUMENT = "model.json"
KINDS = "biufcSU"  # numpy types that are plain data
SCALARS = {"bool": np.bool_, "str": np.str_} | {
    np.dtype(code).name: np.dtype(code).type
    for code in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8")
}
SPARSE_PARTS = {
    "csr": ("data", "indices", "indptr"),
    "csc": ("data", "indices", "indptr"),
    "bsr": ("data", "indices", "indptr"),
    "coo": ("data", "row", "col"),
    "dia": ("data", "offsets"),
}
SPARSE = {f"{form}_{kind}": form for form in SPARSE_PARTS for kind in ("array", "matrix")}
EXACT = 2**53  # beyond it, readers that keep numbers as doubles would round
DEEPEST = 50


def describe(value: object) -> str:
    return f"{type(value).__module__}.{type(value).__qualname__}"


def is_estimator(value: object) -> bool:
    name = type(value).__name__
    return name in lowdim._ESTIMATORS and getattr(lowdim, name) is type(value)


def estimator_of(value: object) -> object:
    """The estimator of a model: the model itself, or what a record that wraps one holds; None for anything else."""
    if is_estimator(value):
        return value
    inner = getattr(value, "estimator", None) if records.tag_of(value) in records.WRAPPERS else None
    return inner if is_estimator(inner) else None


def is_names(value: object) -> bool:
    """Whether it is what scikit-learn keeps column names in: an array of objects, each of them text."""
    return (
        type(value) is np.ndarray and value.dtype == object and value.ndim == 1 and all(type(v) is str for v in value)
    )

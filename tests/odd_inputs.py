"""Odd and degenerate tables, and what a call on one of them may end in: used by the sweeps over all estimators."""

import io
import re
import warnings
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from scipy import sparse

RNG = np.random.default_rng(20)
_PLAIN = RNG.standard_normal((30, 4)) * [4.0, 2.0, 1.0, 0.5] + [3.0, -1.0, 0.0, 10.0]


def plain(n: int = 30) -> np.ndarray:
    """Rows that every method can work with."""
    return _PLAIN[:n].copy()


def _with(value: float, dtype: Any = np.float64) -> np.ndarray:
    X = _PLAIN.astype(dtype)
    X[3, 1] = value
    return X


def _scaled(scale: float, dtype: Any = np.float64) -> np.ndarray:
    return (_PLAIN * scale).astype(dtype)


def _sparse() -> Any:
    return sparse.csr_array(np.where(_PLAIN > 1, _PLAIN, 0.0) * (np.arange(30)[:, None] % 4 > 0))


def _with_parts(changed: Callable[[Any], dict[str, Any]]) -> Any:
    """A good sparse table with other arrays inside, which scipy takes too."""
    X = _sparse()
    for name, part in changed(X).items():
        setattr(X, name, part)
    return X


def _more(values: np.ndarray) -> np.ndarray:
    return np.append(values, values[:2])


def _stored_twice() -> Any:
    X = _sparse()
    return sparse.csr_array((np.repeat(X.data / 2, 2), np.repeat(X.indices, 2), 2 * X.indptr), shape=X.shape)


# name -> table; made anew by each use, so that a changed table cannot hide in the next one.
TABLES: dict[str, Callable[[], Any]] = {
    "one row": lambda: plain(1),
    "two rows": lambda: plain(2),
    "three rows": lambda: plain(3),
    "five rows": lambda: plain(5),
    "one column": lambda: plain()[:, :1],
    "all cells equal": lambda: np.full((20, 3), 7.0),
    "all cells zero": lambda: np.zeros((20, 3)),
    "rows repeated": lambda: np.repeat(plain(6), 5, axis=0),
    "two different rows": lambda: np.repeat(plain(2), [18, 2], axis=0),
    "one row differs": lambda: np.vstack([np.ones((20, 4)), [[1.0, 2.0, 3.0, 4.0]]]),
    "rank one": lambda: np.outer(np.arange(20.0), [1.0, 2.0, -3.0]),
    "collinear": lambda: np.hstack([plain(), plain() @ np.ones((4, 2))]),
    "constant column": lambda: np.hstack([plain(), np.ones((30, 1))]),
    "fewer rows than columns": lambda: np.random.default_rng(3).standard_normal((7, 25)),
    "far from the origin": lambda: plain() + 1e8,
    "one far row": lambda: np.vstack([plain(), [[1e9, 0, 0, 0]]]),
    "columns of all scales": lambda: plain() * [1e-120, 1e-30, 1e30, 1e120],
    "1e-300": lambda: _scaled(1e-300),
    "1e-160": lambda: _scaled(1e-160),
    "1e-100": lambda: _scaled(1e-100),
    "1e-20": lambda: _scaled(1e-20),
    "1e20": lambda: _scaled(1e20),
    "1e100": lambda: _scaled(1e100),
    "1e160": lambda: _scaled(1e160),
    "1e300": lambda: _scaled(1e300),
    "largest floats": lambda: np.where(_PLAIN > 1, 1.0, -1.0) * np.finfo(float).max,
    "one cell of 1e308": lambda: _with(1e308),
    "denormal": lambda: _scaled(1e-320),
    "float32 1e-40": lambda: _scaled(1e-40, np.float32),
    "float32 1e-20": lambda: _scaled(1e-20, np.float32),
    "float32 1e20": lambda: _scaled(1e20, np.float32),
    "float32 1e36": lambda: _scaled(1e36, np.float32),
    "float32 NaN": lambda: _with(np.nan, np.float32),
    "float32 3e38": lambda: np.where(_PLAIN > 1, 3e38, -3e38).astype(np.float32),
    "float16": lambda: plain().astype(np.float16),
    "long double": lambda: plain().astype(np.longdouble),
    "long double beyond float64": lambda: plain()[:, :3] * np.longdouble("1e400"),
    "infinity": lambda: _with(np.inf),
    "minus infinity": lambda: _with(-np.inf),
    "NaN": lambda: _with(np.nan),
    "all NaN": lambda: np.full((20, 3), np.nan),
    "a row of NaN": lambda: np.vstack([plain(), np.full((1, 4), np.nan)]),
    "a column of NaN": lambda: np.hstack([plain(), np.full((30, 1), np.nan)]),
    "integers": lambda: np.rint(plain()).astype(np.int64),
    "small unsigned integers": lambda: (np.abs(plain()) * 20).astype(np.uint8),
    "very large integers": lambda: (plain() * 1e16).astype(np.int64),
    "booleans": lambda: plain() > 1,
    "complex": lambda: plain() + 1j,
    "objects that are numbers": lambda: plain().astype(object),
    "objects that are not": lambda: np.array([[1.0, None, {}]] * 20, dtype=object),
    "a whole number of 400 digits": lambda: np.array([[1.0, 10**400], [2.0, 3.0], [5.0, 4.0]] * 7, dtype=object),
    "text": lambda: np.array([["a", "b", "c"], ["d", "e", "f"]] * 10),
    "bytes": lambda: np.array([[b"a", b"b"]] * 20),
    "dates": lambda: np.array("2026-01-01", dtype="datetime64[D]") + np.arange(80).reshape(20, 4),
    "records": lambda: np.zeros(20, dtype=[("a", "f8"), ("b", "f8")]),
    "no rows": lambda: np.empty((0, 4)),
    "no columns": lambda: np.empty((20, 0)),
    "one dimension": lambda: np.arange(20.0),
    "three dimensions": lambda: np.zeros((5, 4, 3)),
    "a number": lambda: 3.0,
    "None": lambda: None,
    "a word": lambda: "table.csv",
    "empty list": list,
    "ragged lists": lambda: [[1.0, 2.0], [3.0]],
    "a generator": lambda: (row for row in plain()),
    "a dict": lambda: {"a": [1.0, 2.0], "b": [3.0, 4.0]},
    "sparse": _sparse,
    "sparse, all zero": lambda: sparse.csr_array((20, 4)),
    "sparse CSC": lambda: _sparse().tocsc(),
    "sparse COO": lambda: _sparse().tocoo(),
    "sparse NaN": lambda: sparse.csr_array(_with(np.nan)),
    "sparse, no rows": lambda: sparse.csr_array((0, 4)),
    "sparse, cells stored twice": lambda: _stored_twice(),
    "sparse, values left over": lambda: _with_parts(lambda X: {"data": _more(X.data), "indices": _more(X.indices)}),
    "sparse, small indices": lambda: _with_parts(lambda X: {"indices": X.indices.astype(np.uint8)}),
    "sparse, one dimension": lambda: sparse.coo_array(_PLAIN[:, 0]),
    "sparse objects": lambda: sparse.csr_array((np.array([1, 2], object), [0, 1], [0, 1, 2]), shape=(2, 4)),
    "Arrow": lambda: pa.table({name: plain()[:, j] for j, name in enumerate("abcd")}),
    "Arrow with nulls": lambda: pa.table({"a": [1.0, None, 3.0] * 7, "b": np.arange(21.0)}),
    "Arrow batch": lambda: pa.RecordBatch.from_pydict({name: plain()[:, j] for j, name in enumerate("abcd")}),
    "pandas with NA": lambda: pd.DataFrame({"a": pd.array([1, None, 3] * 7, dtype="Int64"), "b": np.arange(21.0)}),
    "pandas nullable": lambda: pd.DataFrame(plain()).convert_dtypes(),
    "pandas with text": lambda: pd.DataFrame({"a": ["x", "y"] * 10, "b": np.arange(20.0)}),
    "pandas with time zones": lambda: pd.DataFrame({"a": pd.date_range("2026", periods=20, tz="UTC"), "b": range(20)}),
    "pandas, names twice": lambda: pd.DataFrame(plain(), columns=["a", "b", "a", "c"]),
    "pandas, names of two kinds": lambda: pd.DataFrame(plain(), columns=["a", 1, "b", 2]),
    "pandas, two-level names": lambda: pd.DataFrame(plain(), columns=pd.MultiIndex.from_product([["a", "b"], [1, 2]])),
    "pandas column": lambda: pd.DataFrame(plain())[0],
    "polars": lambda: pl.DataFrame(plain(), schema=list("abcd")),
    "polars lazy": lambda: pl.DataFrame(plain(), schema=list("abcd")).lazy(),
    "polars with nulls": lambda: pl.DataFrame({"a": [1.0, None, 3.0] * 7, "b": np.arange(21.0)}),
    "polars with time zones": lambda: pl.DataFrame(
        {"a": [datetime(2026, 1, day, tzinfo=UTC) for day in range(1, 21)], "b": range(20)}
    ),
}

# Malformed sparse tables: what their parts say is not a table. Compiled code would read outside its arrays.
_INDICES = {"negative": [0, -1, 2], "too large": [0, 9, 2], "far too large": [0, 2**31 - 1, 2]}


def _csr(indices: Any = (0, 1, 2), indptr: Any = (0, 1, 2, 3), data: Any = (1.0, 2.0, 3.0), kind: Any = None) -> Any:
    X = (kind or sparse.csr_array)((3, 4) if kind is not sparse.csc_array else (4, 3))
    X.data, X.indices, X.indptr = np.asarray(data), np.asarray(indices, np.int32), np.asarray(indptr, np.int32)
    return X


def _coo(row: Any, col: Any) -> Any:
    X = sparse.coo_array((np.ones(3), (np.arange(3), np.arange(3))), shape=(3, 4))
    X.coords = (np.asarray(row, np.int32), np.asarray(col, np.int32))
    return X


MALFORMED: dict[str, Callable[[], Any]] = {
    **{f"CSR, {name} index": lambda i=i: _csr(i) for name, i in _INDICES.items()},
    **{f"CSC, {name} index": lambda i=i: _csr(i, kind=sparse.csc_array) for name, i in _INDICES.items()},
    "CSR matrix": lambda: _csr([0, -5, 2], kind=sparse.csr_matrix),
    "indptr falls": lambda: _csr(indptr=(0, 3, 1, 3)),
    "indptr negative": lambda: _csr(indptr=(0, -3, 1, 3)),
    "indptr beyond the data": lambda: _csr(indptr=(0, 1, 2, 300)),
    "indptr does not start at 0": lambda: _csr(indptr=(2, 2, 2, 3)),
    "indptr too short": lambda: _csr(indptr=(0, 3)),
    "fewer data than indices": lambda: _csr(data=(1.0,)),
    "fractional indices": lambda: _malformed_kind(),
    "COO, negative row": lambda: _coo([0, -1, 2], [0, 1, 2]),
    "COO, column too large": lambda: _coo([0, 1, 2], [0, 1, 7]),
}


def _malformed_kind() -> Any:
    X = _csr()
    X.indices = np.array([0.0, 1.5, 2.0])
    return X


# What a call may end in --------------------------------------------------------------------------------------

_FOREIGN = re.compile(r"Traceback|Unable to allocate|LinAlg|SVD did not|cdist|incompatible function arguments|ARPACK")


def outcome(call: Callable[[], Any], owners: tuple[str, ...]) -> str:
    """ "" for a finite answer or an error of ours; what is wrong otherwise. Warnings must be ours too."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            answer = call()
        except (ValueError, TypeError, MemoryError) as error:
            return _judged(error, owners)
        except Exception as error:  # noqa: BLE001 (anything else is what is looked for)
            return f"raised {type(error).__name__}: {error}"
    for warning in heard:
        if issubclass(warning.category, RuntimeWarning) or not ours(str(warning.message), owners):
            return f"warned {warning.category.__name__}: {warning.message} ({warning.filename}:{warning.lineno})"
    return finite(answer)


def ours(text: str, owners: tuple[str, ...]) -> bool:
    return any(text.startswith(f"{owner}:") for owner in owners)


def _judged(error: BaseException, owners: tuple[str, ...]) -> str:
    text = str(error)
    if not ours(text, owners) or _FOREIGN.search(text):
        return f"raised {type(error).__name__}: {text}"
    return "" if len(text) > len(owners[0]) + 15 else f"says too little: {text}"


def finite(answer: Any) -> str:
    cells = np.asarray(answer if answer is not None else 0.0, dtype=object).ravel()
    if all(not isinstance(cell, (float, np.floating)) or np.isfinite(cell) for cell in cells):
        return ""
    return "gave NaN or infinity without a word"


# What a call must leave as it was ----------------------------------------------------------------------------


def footprint(X: Any) -> bytes:
    """The bytes of a table in any container, and how it is laid out."""
    if sparse.issparse(X):
        names = {"coo": ("data", "row", "col"), "dia": ("data", "offsets")}.get(X.format, ("data", "indices", "indptr"))
        return b"".join(np.asarray(getattr(X, name)).tobytes() for name in names)
    if isinstance(X, pd.DataFrame):
        return pd.util.hash_pandas_object(X).to_numpy().tobytes() + str(list(X.dtypes)).encode()
    if isinstance(X, pl.DataFrame):
        stream = io.BytesIO()
        X.write_ipc(stream)
        return stream.getvalue()
    array = np.asarray(X)
    return array.tobytes() + repr((array.dtype, array.shape, array.strides, array.flags.writeable)).encode()

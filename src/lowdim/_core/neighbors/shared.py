"""Neighbours found once and used by several methods: inside `with shared(X)`, equal searches are not repeated."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np
from scipy import sparse

from lowdim._core.distances import (
    Metric,
    ParametricMetric,
)
from lowdim._core.neighbors.record import Neighbors, is_count

# Inside `shared`: ((where the rows lie, metric), approximate) -> the rows, which keeps them there, and what was found.
_found: ContextVar[dict[Any, tuple[Any, Neighbors]] | None] = ContextVar("lowdim_shared_neighbors", default=None)


@contextmanager
def shared(X: Any = None) -> Iterator[None]:
    """Inside, neighbours of the same rows are searched once: methods run side by side share what was found.

    `X` is there for the reader; rows are recognised by where they lie in memory, and must not be changed inside.
    """
    token = _found.set({})
    try:
        yield
    finally:
        _found.reset(token)


def _key(X: Any, metric: Metric) -> Any:
    """Where the rows lie in memory, and the metric by name; None where they cannot be recognised."""
    if isinstance(metric, ParametricMetric):
        named: Any = metric.name, *((name, np.asarray(metric.params[name]).tobytes()) for name in sorted(metric.params))
    elif isinstance(metric, str):
        named = metric
    else:
        return None
    if sparse.issparse(X) and X.format == "csr":
        return *(_place(part) for part in (X.data, X.indices, X.indptr)), X.shape, named
    return (*_place(X), named) if isinstance(X, np.ndarray) else None


def _place(X: np.ndarray) -> tuple[Any, ...]:
    return X.__array_interface__["data"][0], X.shape, X.strides, X.dtype.str


def remembered(X: Any, k: Any, metric: Metric, approximate: bool | None) -> Neighbors | None:
    memo, key = _found.get(), _key(X, metric)
    if memo is None or key is None:
        return None
    # Exact neighbours serve everybody, approximate ones whoever allows them.
    kinds = (False,) if approximate is False else (False, True)
    known = [memo[(key, kind)][1] for kind in kinds if (key, kind) in memo]
    found = next((found for found in known if is_count(k, found.indices.shape[1])), None)
    if found is None:
        return None
    return Neighbors(np.ascontiguousarray(found.indices[:, :k]), np.ascontiguousarray(found.distances[:, :k]))


def remember(X: Any, metric: Metric, nearly: bool, found: Neighbors) -> None:
    memo, key = _found.get(), _key(X, metric)
    if memo is not None and key is not None:
        memo[(key, nearly)] = (X, found)

"""Metrics that are Euclidean or cosine distances of other rows: every engine for those serves them, exactly.

| metric | rows | distance |
|---|---|---|
| correlation | less their mean (sparse ones: `merged`) | cosine |
| hellinger | square roots of their shares | Euclidean, over the square root of 2 |
| haversine | places on a sphere of radius 1 | the angle 2 arcsin(D / 2) over the chord D |
| sqeuclidean | as they are | Euclidean, squared |
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from lowdim._core.distances.compiled import OF_SPARSE
from lowdim._core.distances.domains import check_domain
from lowdim._core.distances.metrics import HAVERSINE, HELLINGER, Metric

Array = np.ndarray


@dataclass(frozen=True)
class Moved:
    """Another metric, the rows to measure with it, and the way from its distances and back to them."""

    metric: str
    rows: Callable[[Any], Any]
    distances: Callable[[Any], Any]
    radius: Callable[[float], float]
    sparse: bool = False  # whether sparse rows stay sparse


def _centred(rows: Array) -> Array:
    wide = rows.astype(np.float64)
    wide -= wide.mean(axis=1, keepdims=True)
    return wide


def _roots_of_shares(rows: Any) -> Any:
    sums = np.asarray(rows.sum(axis=1, dtype=np.float64)).ravel()
    if not sparse.issparse(rows):
        return np.sqrt(rows / sums[:, None])
    roots = sparse.csr_array(rows, dtype=np.float64, copy=True)
    roots.data = np.sqrt(roots.data / np.repeat(sums, np.diff(roots.indptr)))
    return roots


def _on_sphere(rows: Array) -> Array:
    latitude, longitude = rows.astype(np.float64).T
    flat = np.cos(latitude)
    return np.column_stack([flat * np.cos(longitude), flat * np.sin(longitude), np.sin(latitude)])


def _angle(chord: Any) -> Any:
    return 2.0 * np.arcsin(np.minimum(chord / 2.0, 1.0))


MOVED = {
    "correlation": Moved("cosine", _centred, lambda D: D, lambda radius: radius),
    HELLINGER: Moved("euclidean", _roots_of_shares, lambda D: D / np.sqrt(2.0), lambda r: r * np.sqrt(2.0), True),
    HAVERSINE: Moved("euclidean", _on_sphere, _angle, lambda radius: 2.0 * np.sin(min(radius, np.pi) / 2.0)),
    "sqeuclidean": Moved("euclidean", lambda rows: rows, np.square, np.sqrt, True),
}


def moved(metric: Metric, rows: Any) -> Moved | None:
    """How a metric of that name is measured by another; None where it is not, or sparse rows have a loop of their own.

    Centred rows would not be sparse any more.
    """
    form = MOVED.get(metric) if isinstance(metric, str) else None
    return None if form is not None and sparse.issparse(rows) and metric in OF_SPARSE else form


def moved_rows(form: Moved, rows: Any, metric: Metric, owner: str, name: str) -> Any:
    """The rows to measure with the other metric, checked to be in the domain of the one that was asked for."""
    if sparse.issparse(rows) and not form.sparse:
        raise ValueError(f"{owner}: metric={metric!r} must get dense rows; got a sparse matrix. Pass X.toarray().")
    check_domain(rows, metric, owner, name)
    return form.rows(rows)

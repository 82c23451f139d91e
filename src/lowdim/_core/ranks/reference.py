"""Reference distances, which an embedding is compared with, and its own, in blocks of rows.

Ranks and pair sums read distances only through a `Reference`, so that data, geodesics and given
dissimilarities are measured by the same code and never need an n by n matrix of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from lowdim import _native
from lowdim._core.distances import (
    CODED,
    GOWER,
    check_dissimilarities,
    check_domain,
    check_function,
    check_metric,
    comparable,
    pairwise,
    real_array,
    real_sparse,
)
from lowdim._core.distances.labelled import labelled
from lowdim._core.distances.rows import refuse_far
from lowdim._core.gpu.device_rows import DeviceRows, on_host
from lowdim._core.graph import connect, geodesics, neighbor_graph
from lowdim._core.graph.detours import ShortCircuits, short_circuits
from lowdim._core.graph.repair import repaired
from lowdim._core.neighbors import nearest
from lowdim._core.params import one_of, shown
from lowdim._core.runtime.threads import blocks
from lowdim._core.tables.missing import largest_magnitude

Array = NDArray[Any]

KINDS = one_of("ambient", "geodesic", "precomputed")
PAIR_CELLS = 2**20  # cells of the differences of pairs of rows that are held at once


@dataclass(frozen=True, eq=False)
class Reference:
    """Where distances come from.

    `block(rows, order)` gives those of `rows` to all n rows; with `order` true, numbers that are only ordered
    like them (squares, where the root is not needed).
    """

    n: int
    name: str
    metric: str
    block: Callable[[Array, bool], Array]
    pairs: Callable[[Array, Array], Array] | None = None  # distances of rows i to rows j, one by one, where cheap
    columns: Callable[[Array, Array], Array] | None = None  # ordered like distances of rows to given rows, where cheap
    points: Any = None  # rows whose Euclidean distances are ordered like these, where there are such
    listed: Callable[[list[tuple[Array, Array]]], Array] | None = (
        None  # of rows to drawn ones, where rows are in blocks
    )


def reference_of(
    X: Any,
    *,
    metric: Any = "euclidean",
    reference: str = "ambient",
    graph_neighbors: int = 10,
    n_jobs: int | None = None,
    owner: str = "Ranks.of",
) -> Reference:
    """The distances that an embedding of `X` is compared with (`X` itself when it is a `Reference` already)."""
    if isinstance(X, Reference):
        return X
    if not KINDS.accepts(reference):
        raise ValueError(f"{owner}: reference must be {KINDS.text}; got {shown(reference)}.")
    if isinstance(X, DeviceRows):
        return _there(X, "ambient") if np.isfinite(X.largest) else reference_of(X.host, owner=owner)
    X, metric = comparable(X, check_metric(metric, owner), owner)
    named = GOWER if metric == CODED else metric if isinstance(metric, str) else getattr(metric, "__name__", "callable")
    if reference == "geodesic":
        return _geodesic(X, metric, named, graph_neighbors, n_jobs, owner)[0]
    if reference == "precomputed" or named == "precomputed":
        D = np.asarray(check_dissimilarities(labelled(X, owner)[0], owner))
        return Reference(
            len(D), "precomputed", "precomputed", lambda rows, order: D[rows], lambda i, j: D[i, j],
            lambda rows, columns: D[np.ix_(rows, columns)],
        )  # fmt: skip
    X = rows_of(X, f"{owner}: X", "Fill the holes in first")
    if named == "euclidean" and not issparse(X):
        return euclidean(X, "ambient")
    check_domain(X, metric, owner)
    check_function(X, metric, owner)
    block = _metric_blocks(X, metric, named, owner)
    return Reference(X.shape[0], "ambient", named, lambda rows, order: block(rows, None), None, block)


def embedding(Z: Any, n: int, owner: str) -> Reference:
    """Euclidean distances of an embedding of n rows."""
    if isinstance(Z, Reference):
        return Z
    if isinstance(Z, DeviceRows) and len(Z) == n and np.isfinite(Z.largest):
        return _there(Z, "embedding")
    return euclidean(embedded_rows(on_host(Z), n, owner), "embedding")


def embedded_rows(Z: Any, n: int | None, owner: str) -> Array:
    """An embedding of n rows (None: any number) as a table; a vector is a table of one column."""
    if issparse(Z):
        raise TypeError(f"{owner} must be a dense array; got a sparse matrix. Pass its toarray().")
    Z = real_array(Z, owner)
    way_out = "Score the rows that have a place in every embedding, as lowdim.quality.scores does"
    Z = rows_of(Z[:, None] if Z.ndim == 1 else Z, owner, way_out)
    if n is not None and Z.shape[0] != n:
        raise ValueError(f"{owner} must have the {n} rows of X; got {Z.shape[0]}.")
    return np.asarray(Z)


def rows_of(X: Any, owner: str, way_out: str) -> Any:
    """A finite table of float32 or float64 rows; sparse stays sparse."""
    X = real_sparse(X, owner) if issparse(X) else np.ascontiguousarray(real_array(X, owner))
    if X.ndim != 2 or X.shape[1] == 0:
        raise ValueError(f"{owner} must be a table with at least one column; got shape {X.shape}.")
    holes = ~np.isfinite(X.data if issparse(X) else X)
    if np.any(holes):
        raise ValueError(f"{owner} must be finite; got {int(holes.sum())} NaN or infinite values. {way_out}.")
    refuse_far(largest_magnitude(X.data if issparse(X) else X), X.shape[1], np.float64, owner)
    return X


def euclidean(X: Array, name: str) -> Reference:
    """Euclidean distances by differences: copies are at 0, equal distances are equal.

    Distances are in float64: those of float32 rows may leave the range of float32.
    """
    # A power of two is exact, and with the largest entry near 1 no square overflows or vanishes.
    exponent = int(np.frexp(np.max(np.abs(X), initial=0))[1])
    scaled = np.ldexp(X, -exponent)

    def block(rows: Array, order: bool) -> Array:
        out = np.empty((len(rows), len(scaled)), scaled.dtype)
        _native.square_rows(scaled[rows], scaled, out, 1)
        return out if order else _grown(np.sqrt(out, out=out), exponent)

    def pairs(i: Array, j: Array) -> Array:
        size = max(1, PAIR_CELLS // scaled.shape[1])
        squares = [np.sum((scaled[i[part]] - scaled[j[part]]) ** 2, axis=1) for part in blocks(len(i), size)]
        return _grown(np.sqrt(np.concatenate(squares)), exponent)

    def columns(rows: Array, others: Array) -> Array:
        out = np.empty((len(rows), len(others)), scaled.dtype)
        _native.square_rows(scaled[rows], scaled[others], out, 1)
        return out

    return Reference(len(X), name, "euclidean", block, pairs, columns, scaled)


def _there(X: DeviceRows, name: str) -> Reference:
    """The same of rows on a device; where they are asked for on the CPU, of their copy."""
    here = cache(lambda: euclidean(X.host, name))
    points = DeviceRows(X.tensor * 2.0 ** -int(np.frexp(X.largest)[1]))
    return Reference(
        len(X),
        name,
        "euclidean",
        lambda rows, order: here().block(rows, order),
        lambda i, j: here().pairs(i, j),  # type: ignore[misc]
        lambda rows, others: here().columns(rows, others),  # type: ignore[misc]
        points,
    )


def _grown(lengths: Array, exponent: int) -> Array:
    """``lengths * 2**exponent`` in float64; infinite where that is too small."""
    with np.errstate(over="ignore"):
        return np.ldexp(lengths.astype(np.float64, copy=False), exponent)


def _metric_blocks(X: Any, metric: Any, named: str, owner: str) -> Callable[[Array, Array | None], Array]:
    """Distances of rows to given rows, or to all."""

    def block(rows: Array, given: Array | None) -> Array:
        others = np.arange(X.shape[0]) if given is None else given
        with np.errstate(over="ignore", invalid="ignore"):
            found = pairwise(X[rows], X if given is None else X[given], metric, owner=owner, undefined=True)
        if not np.isfinite(found).all():
            i, j = (int(at[0]) for at in np.nonzero(~np.isfinite(found)))
            raise ValueError(
                f"{owner}: metric {named!r} must give finite distances; got {found[i, j]} for rows {rows[i]} and "
                f"{others[j]}. Drop such rows, rescale the data or use another metric."
            )
        found[rows[:, None] == others] = 0.0  # a row is where it is, however little is known about it
        return found

    return block


def _geodesic(
    X: Any, metric: Any, named: str, graph_neighbors: int, n_jobs: int | None, owner: str, clean: bool = False
) -> tuple[Reference, ShortCircuits | None]:
    """Shortest paths over the neighbour graph; with `clean`, without its short circuits where they spoil distances."""
    X = X if named == "precomputed" else rows_of(X, f"{owner}: X", "Fill the holes in first")
    near = nearest(X, graph_neighbors, metric=metric, n_jobs=n_jobs, owner=owner, name="graph_neighbors")
    n = len(near.indices)
    G = neighbor_graph(near, n, owner=owner)
    found = short_circuits(G, graph_neighbors, n_jobs) if clean else None
    if found is not None:
        G = repaired(
            G, "detour", rows=lambda: X, n_components=2, n_neighbors=graph_neighbors, n_jobs=n_jobs
        ).graph  # fmt: skip
    joined = connect(G, X, policy="bridge", metric=metric, owner=owner, n_jobs=n_jobs).graph
    return Reference(n, "geodesic", named, lambda rows, order: geodesics(joined, rows, n_jobs=1)), found


def along_rows(
    X: Any, metric: Any, graph_neighbors: int, n_jobs: int | None, owner: str, *, clean: bool
) -> tuple[Reference, ShortCircuits | None]:
    """Distances along the data; with `clean` without the short circuits of the graph, and what was found, or None."""
    X, metric = comparable(X, check_metric(metric, owner), owner)
    named = metric if isinstance(metric, str) else getattr(metric, "__name__", "callable")
    return _geodesic(X, metric, named, graph_neighbors, n_jobs, owner, clean)

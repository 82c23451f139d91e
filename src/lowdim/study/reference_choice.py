"""Reference distances: the distances in the data that embeddings are compared with.

Straight (ambient) distances favour embeddings that copy the original space: a perfect unrolling of a Swiss roll scores
low. Geodesic distances (along a graph of nearest neighbours) favour the unrolling, but they are estimates, and only as
good as the graph.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils import check_array

from lowdim._core.incomplete.holes import METRICS, Holes
from lowdim._core.params import shown
from lowdim._core.runtime.rng import generator
from lowdim._core.tables import missing
from lowdim._core.tables.brief import brief
from lowdim.study.data import Data, check_rows_differ


@dataclass(frozen=True, eq=False)
class ReferenceChoice:
    """The reference distances of a comparison.

    Attributes
    ----------
    name : str
        ``"ambient"``, ``"expected"`` (rows with missing cells), ``"geodesic"`` or ``"given"``.
    text : str
        The same as a phrase, for reports.
    rows : ndarray or None
        The rows the distances are between; the distances themselves when `kind` is ``"precomputed"``.
    metric : str or callable
        Distance between the rows.
    kind : str
        ``"ambient"``, ``"geodesic"`` or ``"precomputed"``.
    graph_neighbors : int
        Neighbours of each row in the graph of a geodesic reference.
    n_columns : int or None
        Number of columns of the rows; None if distances were given.
    """

    name: str
    text: str
    rows: Any
    metric: Any
    kind: str
    graph_neighbors: int = 10
    n_columns: int | None = None

    __repr__ = brief

    def without_rows(self) -> ReferenceChoice:
        """The description alone: a finished comparison need not keep the data."""
        return replace(self, rows=None)


def choose_reference(
    reference: Any,
    data: Data,
    *,
    metric: Any = "euclidean",
    graph_neighbors: int = 10,
    n_jobs: int | None = None,
    owner: str = "compare",
) -> ReferenceChoice:
    """The reference distances requested by name or as an array of rows."""
    X = data.rows
    if not isinstance(reference, str):
        return _given(reference, X.shape[0], metric, owner)
    if reference not in ("ambient", "geodesic"):
        raise ValueError(
            f"{owner}: reference must be 'ambient', 'geodesic' or an array of {X.shape[0]} rows; got {reference!r}."
        )
    if data.distances:
        if reference != "ambient":
            raise ValueError(f"{owner}: reference must be 'ambient' for distances between items; got {reference!r}.")
        return ReferenceChoice("given", "the distances given", X, "precomputed", "precomputed")
    if data.mixed is not None:
        return _gower(data, reference, metric, graph_neighbors, n_jobs, owner)
    if np.isnan(X).any() and metric != "gower":
        return _expected(X, reference, metric, graph_neighbors, n_jobs, owner)
    if reference == "ambient":
        text = f"{_name(metric)} distances between the rows of the data, {X.shape[1]} columns"
        return ReferenceChoice("ambient", text, X, metric, "ambient", n_columns=X.shape[1])
    k = min(graph_neighbors, X.shape[0] - 1)
    made = ReferenceChoice("geodesic", "", X, metric, "geodesic", k, X.shape[1])
    return replace(made, text=_geodesic_text(made, n_jobs))


def _expected(
    X: np.ndarray, reference: str, metric: Any, graph_neighbors: int, n_jobs: int | None, owner: str
) -> ReferenceChoice:
    """Expected distances between incomplete rows."""
    if metric != "euclidean":
        raise ValueError(
            f"{owner}: metric must be 'euclidean' if X has missing cells; got {metric!r}. Pass complete rows as "
            "reference, or leave incomplete rows out."
        )
    missing.admit(X, owner)
    holes = Holes.of(X, "expected", generator(0), n_jobs, owner)
    share = f"{np.isnan(X).mean():.1%} of the cells are missing"
    text = f"expected distances between the rows of the data under a Gaussian model, {X.shape[1]} columns; {share}"
    made = ReferenceChoice("expected", text, holes.table(X), holes.metric, "ambient", n_columns=X.shape[1])
    if reference == "ambient":
        return made
    made = replace(made, name="geodesic", kind="geodesic", graph_neighbors=min(graph_neighbors, X.shape[0] - 1))
    return replace(made, text=f"{_geodesic_text(made, n_jobs)}; expected distances, {share}")


def _gower(
    data: Data, reference: str, metric: Any, graph_neighbors: int, n_jobs: int | None, owner: str
) -> ReferenceChoice:
    """Gower's distances between rows of numbers and categories, over the columns that both rows have."""
    from lowdim._core.distances import comparable

    if metric not in ("euclidean", "gower"):  # the default stands for what suits the columns
        raise ValueError(f"{owner}: metric must be 'gower' for a table with categories; got {metric!r}.")
    rows, inside = comparable(data.ranked, "gower", owner)
    share = f"; {np.isnan(data.rows).any(axis=1).mean():.1%} of the rows have missing cells" if data.incomplete else ""
    text = f"Gower distances between the rows of the data, {data.n_columns} columns of numbers and categories{share}"
    made = ReferenceChoice("gower", text, rows, inside, "ambient", n_columns=data.n_columns)
    if reference == "ambient":
        return made
    made = replace(made, name="geodesic", kind="geodesic", graph_neighbors=min(graph_neighbors, data.n - 1))
    return replace(made, text=f"{_geodesic_text(made, n_jobs)}; Gower distances{share}")


def _given(reference: Any, n: int, metric: Any, owner: str) -> ReferenceChoice:
    rows = _numbers(reference, n, owner)
    if rows.shape[0] != n:
        raise ValueError(f"{owner}: reference must have {n} rows, as many as X; got {rows.shape[0]}.")
    if isinstance(metric, str) and metric == "precomputed":
        return ReferenceChoice("given", "the distances given", rows, metric, "precomputed")
    check_rows_differ(rows, owner, "reference")
    text = f"{_name(metric)} distances between the rows given as reference, {rows.shape[1]} columns"
    return ReferenceChoice("given", text, rows, metric, "ambient", n_columns=rows.shape[1])


def _numbers(reference: Any, n: int, owner: str) -> np.ndarray:
    """The rows given, as numbers; an error for what is no such table."""
    try:
        return np.asarray(
            check_array(reference, dtype=(np.float64, np.float32), estimator=owner, input_name="reference")
        )
    except (ValueError, TypeError) as problem:
        said = "" if np.ndim(reference) != 2 else f" {str(problem).splitlines()[0]}"
        raise type(problem)(
            f"{owner}: reference must be 'ambient', 'geodesic' or an array of {n} rows of finite numbers; "
            f"got {shown(reference)}.{said}"
        ) from problem


def _name(metric: Any) -> str:
    return metric if isinstance(metric, str) else getattr(metric, "__name__", "callable")


def _geodesic_text(reference: ReferenceChoice, n_jobs: int | None) -> str:
    """The graph as a phrase, with the number of its connected components, which are joined by bridges."""
    from lowdim._core.distances import comparable
    from lowdim._core.graph import components, neighbor_graph
    from lowdim._core.neighbors import nearest

    k, metric = reference.graph_neighbors, reference.metric
    rows, inside = comparable(reference.rows, metric, "geodesic reference")
    near = nearest(rows, k, metric=inside, n_jobs=n_jobs, owner="geodesic reference")
    count = components(neighbor_graph(near))[0]
    shown = "expected Euclidean" if metric == METRICS["expected"] else _name(metric)
    text = f"shortest paths over the graph of {k} nearest neighbours ({shown} distances)"
    return text if count == 1 else f"{text}; its {count} connected components were joined by their shortest edges"

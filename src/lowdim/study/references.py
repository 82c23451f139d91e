"""What embeddings are held against: a score without its reference distances means nothing.

Straight (ambient) distances reward a copy of the data's own space: on a rolled-up sheet they punish a perfect
unrolling. Distances along the data (geodesics over a graph of nearest neighbours) reward the unrolling, but they
are estimates, and good only where the graph follows the data.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils import check_array

from lowdim._core.incomplete.holes import METRICS, Holes
from lowdim._core.runtime.rng import generator
from lowdim._core.tables import missing


@dataclass(frozen=True, eq=False)
class Reference:
    """Reference distances.

    Attributes
    ----------
    name : str
        ``"ambient"``, ``"expected"`` (rows with missing cells), ``"geodesic"`` or ``"given"``.
    text : str
        The same in a phrase, for reports.
    rows : ndarray or None
        The rows the distances are between; the distances themselves when `kind` is ``"precomputed"``.
    metric : str
        How rows are measured.
    kind : str
        ``"ambient"``, ``"geodesic"`` or ``"precomputed"``.
    n_neighbors : int
        Neighbours per row in the graph of a geodesic reference.
    n_columns : int or None
        Columns of the rows; None where distances were given.
    """

    name: str
    text: str
    rows: Any
    metric: str
    kind: str
    n_neighbors: int = 10
    n_columns: int | None = None

    def without_rows(self) -> Reference:
        """What was compared against, in words only: a finished comparison need not hold the distances."""
        return replace(self, rows=None)


def reference_of(
    reference: Any,
    X: np.ndarray,
    *,
    metric: str = "euclidean",
    n_neighbors: int = 10,
    n_jobs: int | None = None,
    owner: str = "compare",
) -> Reference:
    """The reference a user asked for, by name or as an array of rows."""
    if not isinstance(reference, str):
        return _given(reference, X.shape[0], metric, owner)
    if reference not in ("ambient", "geodesic"):
        raise ValueError(
            f"{owner}: reference must be 'ambient', 'geodesic' or an array of {X.shape[0]} rows; got {reference!r}."
        )
    if np.isnan(X).any():
        return _expected(X, reference, metric, n_neighbors, n_jobs, owner)
    if reference == "ambient":
        text = f"{metric} distances between the rows of the data, {X.shape[1]} columns"
        return Reference("ambient", text, X, metric, "ambient", n_columns=X.shape[1])
    k = min(n_neighbors, X.shape[0] - 1)
    made = Reference("geodesic", "", X, metric, "geodesic", k, X.shape[1])
    return replace(made, text=_geodesic_text(made, n_jobs))


def _expected(
    X: np.ndarray, reference: str, metric: str, n_neighbors: int, n_jobs: int | None, owner: str
) -> Reference:
    """Rows with holes are held against the distances that are to be expected between them."""
    if metric != "euclidean":
        raise ValueError(
            f"{owner}: metric must be 'euclidean' where X has missing values; got {metric!r}. Pass complete rows as "
            "reference=, or leave incomplete rows out."
        )
    missing.admit(X, owner)
    holes = Holes.of(X, "expected", generator(0), n_jobs, owner)
    share = f"{np.isnan(X).mean():.1%} of the cells are missing"
    text = f"expected distances between the rows of the data under a Gaussian model, {X.shape[1]} columns; {share}"
    made = Reference("expected", text, holes.table(X), holes.metric, "ambient", n_columns=X.shape[1])
    if reference == "ambient":
        return made
    made = replace(made, name="geodesic", kind="geodesic", n_neighbors=min(n_neighbors, X.shape[0] - 1))
    return replace(made, text=f"{_geodesic_text(made, n_jobs)}; expected distances, {share}")


def check_varied(X: np.ndarray, owner: str, name: str = "X") -> None:
    """Rows that are all the same have no distances to keep: found out before anything is computed."""
    if np.equal(X, X[0]).all():
        raise ValueError(f"{owner}: {name} must have at least two different rows; all {len(X)} are the same.")


def _given(reference: Any, n: int, metric: str, owner: str) -> Reference:
    rows = check_array(reference, dtype=(np.float64, np.float32), estimator=owner, input_name="reference")
    if rows.shape[0] != n:
        raise ValueError(f"{owner}: reference must have {n} rows, as X has; got {rows.shape[0]}.")
    if metric == "precomputed":
        return Reference("given", "the distances given", rows, metric, "precomputed")
    check_varied(rows, owner, "reference")
    text = f"{metric} distances between the rows given as reference, {rows.shape[1]} columns"
    return Reference("given", text, rows, metric, "ambient", n_columns=rows.shape[1])


def _geodesic_text(reference: Reference, n_jobs: int | None) -> str:
    """The graph in words, with the number of pieces it is in: paths between pieces lead over bridges."""
    from lowdim._core.graph import components, neighbor_graph
    from lowdim._core.neighbors import nearest

    k, metric = reference.n_neighbors, reference.metric
    near = nearest(reference.rows, k, metric=metric, n_jobs=n_jobs, owner="geodesic reference")
    pieces = components(neighbor_graph(near))[0]
    shown = "expected Euclidean" if metric == METRICS["expected"] else metric
    text = f"shortest paths over the graph of {k} nearest neighbours ({shown} distances)"
    return text if pieces == 1 else f"{text}; the graph was in {pieces} pieces, joined by their shortest edges"

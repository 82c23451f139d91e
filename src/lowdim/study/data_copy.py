"""A small copy of the data that a report can carry: enough to tell how far any row is from any other.

A finished comparison does not keep the data. For Euclidean distances the copy is their leading principal components,
rounded to one step for all of them, so that distances keep their proportions; for other references of few rows it is
the distances themselves. The nearest rows are found in the data, before anything is rounded.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from sklearn.decomposition import PCA

from lowdim._core.distances import check_metric, comparable
from lowdim._core.neighbors import nearest
from lowdim._core.ranks.reference import reference_of
from lowdim._core.tables.brief import brief
from lowdim.study.reference_choice import ReferenceChoice

MOST_COLUMNS = 50
MOST_ITEMS = 1500  # rows whose distances are kept as they are, where no components can stand for them
MOST_LISTED = 100_000  # rows whose neighbours are listed
N_NEIGHBORS = 20
STEPS = 2**16 - 1


@dataclass(frozen=True, eq=False)
class DataCopy:
    """How far rows are from each other in the data, rounded.

    Attributes
    ----------
    kind : str
        "components" of the rows, "distances" between them, or "neighbours" where only these are known.
    values : ndarray of uint16
        Components, or distances, in units of `step`; None for the kind "neighbours".
    step : float
        The unit of `values`.
    variances : ndarray
        Variance of each component, largest first; empty if there are none.
    total : float
        Variance of the data; components that were left out are in it.
    neighbors : ndarray of int, or None
        The nearest rows of each row in the data, nearest first; None of very many rows.
    """

    kind: str
    values: np.ndarray | None
    step: float
    variances: np.ndarray
    total: float
    neighbors: np.ndarray | None

    __repr__ = brief

    def kept(self, n_columns: int) -> float:
        """Share of the variance, and of the mean squared distance, that this many components have."""
        return float(self.variances[:n_columns].sum() / self.total) if self.total > 0 else 1.0


def copy_of(against: ReferenceChoice, *, n_jobs: int | None = None) -> DataCopy | None:
    """The copy of the rows behind a reference; None where there are too many of a kind that cannot be made small."""
    n = len(against.rows)
    lists = _neighbors(against, n_jobs) if n <= MOST_LISTED else None
    if against.kind == "ambient" and isinstance(against.metric, str) and against.metric == "euclidean":
        return _components(np.asarray(against.rows), lists)
    if n <= MOST_ITEMS:
        return _distances(against, lists, n_jobs)
    return None if lists is None else DataCopy("neighbours", None, 1.0, np.empty(0), 0.0, lists)


def _neighbors(against: ReferenceChoice, n_jobs: int | None) -> np.ndarray:
    """In the metric of the reference; along a graph, a row's nearest rows are those that it is joined to."""
    metric = "precomputed" if against.kind == "precomputed" else against.metric
    rows, inside = comparable(against.rows, check_metric(metric, "compare"), "compare")
    k = min(N_NEIGHBORS, len(against.rows) - 1)
    return nearest(rows, k, metric=inside, n_jobs=n_jobs, approximate=None, owner="compare").indices


def _components(X: np.ndarray, lists: np.ndarray | None) -> DataCopy:
    size = float(np.abs(X).max(initial=0)) or 1.0  # with the largest entry at 1 no square overflows or vanishes
    scaled = X / size
    scaled = scaled - scaled.mean(axis=0)
    total = float(scaled.var(axis=0).sum())
    width = min(MOST_COLUMNS, *X.shape)
    found = PCA(width, random_state=0).fit_transform(scaled) if total > 0 else np.zeros((len(X), 1))
    found = found - found.min(axis=0)
    step = float(found.max()) / STEPS or 1.0
    values = np.round(found / step).astype(np.uint16)
    return DataCopy("components", values, step * size, found.var(axis=0), total, lists)


def _distances(against: ReferenceChoice, lists: np.ndarray | None, n_jobs: int | None) -> DataCopy:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # whoever scored the maps has said it
        source = reference_of(
            against.rows, metric=against.metric, reference=against.kind, graph_neighbors=against.graph_neighbors,
            n_jobs=n_jobs, owner="compare",
        )  # fmt: skip
    found = source.block(np.arange(source.n), False)
    step = float(found.max(initial=0)) / STEPS or 1.0
    return DataCopy("distances", np.round(found / step).astype(np.uint16), step, np.empty(0), 0.0, lists)

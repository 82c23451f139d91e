"""What readers ask of a map, and the measure of each row that answers it: one for each question."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from lowdim._core.neighbors import nearest
from lowdim._core.ranks import Ranks
from lowdim._core.ranks.ranking import distance_agreement
from lowdim._core.ranks.reference import Reference, reference_of

RANKED = 1000  # rows from which ranks are computed

MEASURES = {
    "neighbours": "area under R_NX",
    "distances": "rank correlation of distances",
    "along the data": "rank correlation with distances along the data",
    "labels": "rows whose nearest row has the same label",
}


def row_measures(
    question: str,
    source: Reference,
    maps: Mapping[str, np.ndarray],
    rng: np.random.Generator,
    *,
    codes: np.ndarray | None = None,
    n_jobs: int | None = None,
    owner: str = "row_measures",
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """The measure of each row in several maps of the same rows; ranks of the data are found once for all maps.

    Parameters
    ----------
    question : str
        A key of `MEASURES`.
    source : Reference
        Distances in the data, for "along the data" those of `distances_along`.
    maps : mapping of str to array
        Embeddings without NaN.
    rng : Generator
        Draws rows where not all are measured.
    codes : array of int, optional
        The class of each row, for "labels"; negative where it is not known.
    n_jobs : int or None
        Threads.
    owner : str
        Beginning of error messages.

    Returns
    -------
    rows : ndarray of int
        The rows that were measured.
    measures : dict of str to ndarray
        Map -> the measure of each of them, larger is better.
    """
    if question == "labels":
        assert codes is not None
        return np.arange(source.n), {name: right_class(Z, codes, n_jobs, owner) for name, Z in maps.items()}
    if question == "neighbours":
        ranks = Ranks.of_each(source, maps, anchors=min(source.n, RANKED), random_state=rng, n_jobs=n_jobs)
        rows = next(iter(ranks.values())).rows
        return rows, {name: found.row_auc for name, found in ranks.items()}
    return distance_agreement(source, maps, rng)


def distances_along(X: Any, metric: Any, n: int, k: int, n_jobs: int | None, owner: str) -> Reference:
    """Distances along the data of n rows: shortest paths over the graph of k neighbours."""
    k = min(k, n - 1)
    return reference_of(X, metric=metric, reference="geodesic", graph_neighbors=k, n_jobs=n_jobs, owner=owner)


def right_class(Z: np.ndarray, codes: np.ndarray, n_jobs: int | None, owner: str) -> np.ndarray:
    """1 where the nearest row with a label has the same one; NaN for rows without a label."""
    known = np.flatnonzero(codes >= 0)
    near = nearest(np.ascontiguousarray(Z[known], float), 1, n_jobs=n_jobs, approximate=None, owner=owner).indices
    right = np.full(len(Z), np.nan)
    right[known] = codes[known] == codes[known[near[:, 0]]]
    return right

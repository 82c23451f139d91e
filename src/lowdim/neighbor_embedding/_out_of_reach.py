"""Neighbours that are too far away to count (`disconnection_distance`), and rows that have no others."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from lowdim._core.manifold.neighborhood import Distinct
from lowdim._core.runtime.notices import warn
from lowdim.neighbor_embedding._new_rows import Groups


def without_long_edges(graph: sparse.csr_array, distance: float | None) -> sparse.csr_array:
    """The graph of distances without those of at least `distance`; None keeps all."""
    if distance is None or not (graph.data >= distance).any():
        return graph
    kept = graph.data < distance
    starts = np.concatenate([[0], np.cumsum(kept)])[graph.indptr]
    return sparse.csr_array((graph.data[kept], graph.indices[kept], starts), shape=graph.shape)


def within_reach(W: sparse.csr_array, same: Distinct, distance: float | None, owner: str) -> np.ndarray | None:
    """The distinct rows that have a neighbour; None where all have, or where no edge was left out."""
    if distance is None:
        return None
    has = np.diff(W.indptr) > 0
    if has.all():
        return None
    if has.sum() < 2:
        raise ValueError(
            f"{owner}: disconnection_distance must leave some rows a neighbour; {distance:g} leaves none. Raise it."
        )
    n = int(same.counts[~has].sum())
    warn(
        f"{owner}: {n} rows have no neighbour nearer than disconnection_distance={distance:g}; they are left out of "
        "the map (NaN)."
    )
    return np.flatnonzero(has)


def cut_memberships(groups: Groups, weights: list[np.ndarray], distance: float | None) -> tuple[Any, np.ndarray]:
    """Memberships of new rows without those of far fitted rows, and the new rows that are left without any.

    Those keep their memberships, so that coordinates can be computed for all; the caller leaves them out.
    """
    n = sum(len(new) for new, _ in groups)
    lost = np.zeros(n, dtype=bool)
    if distance is None:
        return weights, lost
    cut = []
    for (new, found), w in zip(groups, weights, strict=True):
        near = found.distances < distance
        lost[new] = ~near.any(axis=1)
        cut.append(np.where(near | lost[new][:, None], w, 0.0))
    return cut, lost

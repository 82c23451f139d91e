"""How good an approximate search is, measured on a sample."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowdim._core.neighbors.descent_rows import searchable
from lowdim._core.neighbors.nn_descent import check_lists
from lowdim._core.runtime import rng, threads


def estimated_recall(
    X: np.ndarray,
    neighbors: Any,
    *,
    metric: str = "euclidean",
    sample: int = 1000,
    n_jobs: int | None = None,
    random_state: Any = 0,
) -> float:
    """The share of the true nearest neighbours that was found, on rows drawn at random.

    A neighbour counts as found when it is no farther than the k-th nearest, so that ties do not matter. Each
    row drawn is compared with all others.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    neighbors : Neighbors or ndarray of shape (n, k)
        What was found: the record, or its indices.
    metric : {"euclidean", "cosine"}
    sample : int
        How many rows are drawn.
    n_jobs : int, optional
    random_state : int, Generator or RandomState

    Returns
    -------
    float
        Between 0 and 1.
    """
    indices = np.asarray(getattr(neighbors, "indices", neighbors))
    n, k = indices.shape
    check_lists(n, k, "estimated_recall")
    rows = searchable(X, metric, n_jobs, "estimated_recall")[0]
    drawn = np.sort(rng.generator(random_state).choice(n, min(n, sample), replace=False))

    def found(part: slice) -> int:
        own = drawn[part]
        bound = _kth_squared(rows, own, k)[:, None]
        values = ((rows[own][:, None].astype(np.float64) - rows[indices[own]]) ** 2).sum(axis=2)
        return int((values <= bound).sum())

    return sum(threads.map_rows(found, drawn.size, 64, n_jobs)) / (drawn.size * k)


def _kth_squared(rows: np.ndarray, own: np.ndarray, k: int) -> np.ndarray:
    """Squared distance of each of the rows `own` to its k-th nearest other row, rounded up a little."""
    center = rows[own].mean(axis=0, dtype=np.float64)
    queries = rows[own] - center
    best = np.full((own.size, k), np.inf)
    lengths = np.einsum("ij,ij->i", queries, queries)[:, None]
    for part in threads.blocks(rows.shape[0], 4096):
        others = rows[part] - center
        values = lengths + np.einsum("ij,ij->i", others, others) - 2 * queries @ others.T
        mine = np.nonzero((own >= part.start) & (own < part.stop))[0]
        values[mine, own[mine] - part.start] = np.inf
        best = np.partition(np.concatenate([best, values], axis=1), k - 1, axis=1)[:, :k]
    return best[:, -1] + 1e-13 * (lengths[:, 0] + best[:, -1])

"""Can the labels still be told apart?"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim._core.neighbors import nearest
from lowdim.quality.score import Score

Array = NDArray[Any]


def knn_error(Z: Any, y: Any, n_neighbors: int = 1, *, metric: Any = "euclidean", n_jobs: int | None = None) -> Score:
    """Leave-one-out error of the nearest-neighbour classifier.

    Each row is classified by its `n_neighbors` nearest other rows; a tied vote goes to the class met first.
    For an embedding that has seen all rows this is not a generalisation error.

    Parameters
    ----------
    Z : array (n, r)
        Embedding, or data ("no reduction at all").
    y : array (n,)
        Labels of any kind.
    n_neighbors : int
        In 1..n-1. Rows at the same distance are taken in the order of their index.
    metric : str or callable
        Distance in `Z`.
    n_jobs : int or None
        Threads.

    Returns
    -------
    Score
        Share of rows misclassified; ``facts["duplicates"]`` counts rows whose nearest other row is at
        distance 0.

    Examples
    --------
    >>> knn_error([[0.0], [1.0], [10.0], [11.0]], ["a", "a", "b", "a"])
    Score(0.5, reference='own rows', n_neighbors=1, duplicates=0)
    """
    labels = np.unique(np.asarray(y), return_inverse=True)[1].ravel()
    Z = np.asarray(Z) if not hasattr(Z, "tocsr") else Z
    Z = Z[:, None] if Z.ndim == 1 else Z
    if len(labels) != Z.shape[0]:
        raise ValueError(f"knn_error: y must have a label for each of the {Z.shape[0]} rows; got {len(labels)}.")
    near = nearest(Z, n_neighbors, metric=metric, n_jobs=n_jobs, owner="knn_error")
    wrong = _vote(labels[near.indices]) != labels
    copies = int(np.count_nonzero(near.distances[:, 0] == 0))
    return Score(np.mean(wrong), reference="own rows", n_neighbors=n_neighbors, duplicates=copies)


def _vote(votes: Array) -> Array:
    """The most frequent label of each row, among equals the one met first."""
    if votes.shape[1] == 1:
        return votes[:, 0]
    support = np.sum(votes[:, :, None] == votes[:, None, :], axis=2)
    return np.take_along_axis(votes, np.argmax(support, axis=1)[:, None], axis=1)[:, 0]

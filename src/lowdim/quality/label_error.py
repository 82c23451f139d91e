"""Classification error of nearest neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from lowdim._core import params
from lowdim._core.distances import comparable, real_array
from lowdim._core.neighbors import nearest
from lowdim._core.streams import is_lazy
from lowdim.quality._in_blocks import labels_near, share_wrong
from lowdim.quality.score import Score

Array = NDArray[Any]


@params.checked("knn_error")
def knn_error(Z: Any, y: Any, n_neighbors: int = 1, *, metric: Any = "euclidean", n_jobs: int | None = None) -> Score:
    """Leave-one-out error of the nearest-neighbour classifier.

    Each row is classified by its `n_neighbors` nearest other rows; a tied vote goes to the class of the nearest.
    For an embedding that was fitted to all rows this is not a generalisation error.

    Parameters
    ----------
    Z : array (n, r)
        Embedding, or the data itself, for the error before the reduction.
    y : array (n,)
        Labels of one type: numbers, text, ...
    n_neighbors : int
        Number of neighbours, in 1..n-1. Of rows at the same distance those with the lower number come first.
    metric : str or callable
        Distance between rows: a name ("gower" for tables of numbers and categories), a function of two rows, or
        "precomputed" where Z holds distances.
    n_jobs : int or None
        Number of threads; None means all cores. Results do not depend on it.

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
    if is_lazy(Z):
        if len(found := labels_near(Z, y, n_neighbors, metric, "knn_error")) > 2:
            return _estimated(n_neighbors, *found)
        Z, y = found
    labels = label_codes(y, "knn_error")
    Z, metric = comparable(Z, metric, "knn_error")
    Z = Z if issparse(Z) else real_array(Z, "knn_error: Z")
    Z = Z[:, None] if Z.ndim == 1 else Z
    if len(labels) != Z.shape[0]:
        raise ValueError(f"knn_error: y must have a label for each of the {Z.shape[0]} rows; got {len(labels)}.")
    params.check("knn_error", {"n_neighbors": n_neighbors}, {"n_neighbors": params.whole(1, max(1, Z.shape[0] - 1))})
    near = nearest(Z, n_neighbors, metric=metric, n_jobs=n_jobs, owner="knn_error", name="n_neighbors")
    wrong = _vote(labels[near.indices]) != labels
    duplicates = int(np.count_nonzero(near.distances[:, 0] == 0))
    return Score(np.mean(wrong), reference="own rows", n_neighbors=n_neighbors, duplicates=duplicates)


def _estimated(k: int, own: Array, near: Array, duplicates: int, n: int) -> Score:
    """The error of some rows, whose neighbours among all rows have these labels."""
    codes = label_codes(np.concatenate([own[:, None], near], axis=1).tolist(), "knn_error").reshape(len(own), k + 1)
    value, interval = share_wrong(_vote(codes[:, 1:]) != codes[:, 0], n)
    facts = {"n_neighbors": k, "duplicates": duplicates, "rows": len(own)}
    return Score(value, reference="own rows", interval=interval, **facts)


def label_codes(y: Any, owner: str) -> Array:
    """Labels as numbers 0, 1, ..."""
    if np.ma.is_masked(y):
        raise ValueError(f"{owner}: y must have no masked labels; masked cells are missing values. Fill or drop them.")
    labels = np.asarray(y)
    values = labels.ravel().tolist() if labels.dtype.kind == "O" else y
    if labels.dtype.kind in "OSU" and isinstance(values, (list, tuple)):
        # numpy converts numbers next to text into text, and cannot order other mixtures
        text = {isinstance(value, (str, bytes)) for value in values}
        if len(text) > 1:
            kinds = ", ".join(sorted({type(value).__name__ for value in values}))
            raise ValueError(f"{owner}: y must have labels of one type; got {kinds}. Pass [str(label) for label in y].")
    try:
        return np.unique(labels, return_inverse=True)[1].ravel()
    except TypeError as error:
        raise ValueError(f"{owner}: y must have labels that can be ordered; got {error}.") from error


def _vote(votes: Array) -> Array:
    """The most frequent label of each row; of equally frequent ones the first."""
    if votes.shape[1] == 1:
        return votes[:, 0]
    support = np.sum(votes[:, :, None] == votes[:, None, :], axis=2)
    return np.take_along_axis(votes, np.argmax(support, axis=1)[:, None], axis=1)[:, 0]

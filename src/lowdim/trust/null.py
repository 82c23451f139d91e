"""Tables without structure, and what a method makes of them.

A map of noise keeps some neighbourhoods too. What it keeps is the yardstick: rows of the same size whose columns are
shuffled (each column keeps its values, columns know nothing of each other), or Gaussian rows with the same covariance
(what linear structure alone gives), mapped by the same method with the same settings.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone

Array = NDArray[Any]

NULLS = ("permuted", "gaussian")


def null_maps(
    X: Any, estimator: Any, kind: str, n_null: int, rng: np.random.Generator, owner: str
) -> Iterator[tuple[Any, Array]]:
    """`n_null` tables without structure and their maps by a copy of `estimator`, each with a seed of its own.

    What the method warns about noise is not shown: it says nothing about the user's rows.
    """
    for _ in range(n_null):
        rows = null_table(X, kind, rng, owner, given=getattr(estimator, "metric", None) == "precomputed")
        copy = clone(estimator)
        if "random_state" in copy.get_params(deep=False):
            copy.set_params(random_state=int(rng.integers(2**31)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield rows, np.asarray(copy.fit_transform(rows))


def null_table(X: Any, kind: str, rng: np.random.Generator, owner: str, *, given: bool = False) -> Any:
    """A table like `X` without its structure; with `given`, X holds distances, whose values are shuffled."""
    if given:
        return _permuted_distances(X, rng)
    if kind == "gaussian":
        return _gaussian(X, rng, owner)
    if sparse.issparse(X):
        return _permuted_sparse(X, rng)
    if hasattr(X, "iloc"):
        columns = {name: X.iloc[:, at].array.take(rng.permutation(len(X))) for at, name in enumerate(X.columns)}
        return type(X)(columns, index=X.index)
    if hasattr(X, "get_columns"):
        return type(X)([column.gather(rng.permutation(len(X))) for column in X.get_columns()])
    return rng.permuted(np.asarray(X), axis=0)


def _permuted_sparse(X: Any, rng: np.random.Generator) -> Any:
    """Each column keeps its entries, at rows drawn anew."""
    table = sparse.csc_array(X)
    counts = np.diff(table.indptr)
    rows = [rng.choice(table.shape[0], size=count, replace=False) for count in counts]
    indices = np.concatenate(rows) if rows else table.indices
    return sparse.csc_array((table.data, indices, table.indptr), shape=table.shape).tocsr()


def _permuted_distances(D: Any, rng: np.random.Generator) -> Array:
    """The same distances between other pairs of items."""
    D = np.array(D.toarray() if sparse.issparse(D) else D, dtype=float)
    if D.ndim == 1:
        return rng.permuted(D)
    upper = np.triu_indices(len(D), 1)
    shuffled = np.zeros_like(D)
    shuffled[upper] = rng.permuted(D[upper])
    return shuffled + shuffled.T


def _gaussian(X: Any, rng: np.random.Generator, owner: str) -> Array:
    """Gaussian rows with the mean and covariance of `X`."""
    table = np.asarray(X.toarray() if sparse.issparse(X) else X)
    if table.dtype.kind not in "fiub" or np.isnan(table).any():
        raise ValueError(
            f"{owner}: null='gaussian' must have complete columns of numbers; got missing cells or categories. Use "
            "null='permuted'."
        )
    table = table.astype(float)
    mean = table.mean(axis=0)
    n, d = table.shape
    centred = (table - mean) / np.sqrt(max(1, n - 1))
    if d > n:
        drawn = rng.standard_normal((n, n)) @ centred
    else:
        values, vectors = np.linalg.eigh(centred.T @ centred)
        drawn = rng.standard_normal((n, d)) @ (vectors * np.sqrt(np.maximum(values, 0))).T
    return (drawn + mean).astype(np.result_type(np.asarray(X).dtype, np.float32) if not sparse.issparse(X) else float)

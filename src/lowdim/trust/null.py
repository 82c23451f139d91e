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

from lowdim._core.manifold.neighborhood import unwatched
from lowdim._core.tables.form import canonical

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
        with warnings.catch_warnings(), unwatched():
            warnings.simplefilter("ignore")
            placed = np.asarray(copy.fit_transform(rows))
        yield rows, placed


def null_table(X: Any, kind: str, rng: np.random.Generator, owner: str, *, given: bool = False) -> Any:
    """A table like `X` without its structure; with `given`, X holds distances, whose values are shuffled."""
    if given:
        return _permuted_distances(X, rng)
    if kind == "gaussian":
        return _gaussian(X, rng, owner)
    if sparse.issparse(X):
        return _permuted_sparse(X, rng)
    if hasattr(X, "iloc"):
        orders = column_orders(np.asarray(X.isna()), rng)
        columns = {name: X.iloc[:, at].array.take(orders[:, at]) for at, name in enumerate(X.columns)}
        return type(X)(columns, index=X.index)
    if hasattr(X, "get_columns"):
        lost = [column.is_null() | column.is_nan() if column.dtype.is_float() else column.is_null() for column in X]
        orders = column_orders(np.column_stack([each.to_numpy() for each in lost]), rng)
        return type(X)([column.gather(orders[:, at]) for at, column in enumerate(X.get_columns())])
    table = np.asarray(X)
    missing = table != table
    return (
        np.take_along_axis(table, column_orders(missing, rng), axis=0) if missing.any() else rng.permuted(table, axis=0)
    )


def taken(X: Any, rows: Array) -> Any:
    """Some rows of an array, a frame or sparse rows."""
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def column_orders(missing: Array, rng: np.random.Generator) -> Array:
    """For each column (columns) a random order of its cells, such that every row has a cell that is not missing.

    Of a row that would have none, one missing cell changes places with a known one of a row that has several.
    """
    n, d = missing.shape
    orders = np.stack([rng.permutation(n) for _ in range(d)], axis=1)
    lost = np.take_along_axis(missing, orders, axis=0)
    for row in np.flatnonzero(lost.all(axis=1)):
        several = np.flatnonzero((~lost).sum(axis=1) > 1)
        if not len(several):
            break  # the table itself has a row of missing cells alone
        other = rng.choice(several)
        column = rng.choice(np.flatnonzero(~lost[other]))
        for array in (orders, lost):
            array[[row, other], column] = array[[other, row], column]
    return orders


def _permuted_sparse(X: Any, rng: np.random.Generator) -> Any:
    """Each column keeps its entries, at rows drawn anew."""
    table = canonical(sparse.csc_array(X))  # a cell that is stored twice is one entry
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
    """Gaussian rows with exactly the mean and covariance of `X`.

    Rows drawn from a Gaussian with the covariance of `X` have a covariance that varies once more, with larger first
    eigenvalues, which PCA maps better: no map of Gaussian data would stand out from them. Given its mean and
    covariance, Gaussian data are a random rotation among tables that have both, and so are these rows.
    """
    table = np.asarray(X.toarray() if sparse.issparse(X) else X)
    if table.dtype.kind not in "fiub" or np.isnan(table).any():
        raise ValueError(
            f"{owner}: null='gaussian' must have complete columns of numbers; got missing cells or categories. Use "
            "null='permuted'."
        )
    table = table.astype(float)
    mean = table.mean(axis=0)
    n, d = table.shape
    centred = table - mean
    if d >= n - 1:
        drawn = _directions(n, n - 1, rng) @ (_directions(n, n - 1, rng).T @ centred)
    else:
        values, vectors = np.linalg.eigh(centred.T @ centred)
        drawn = _directions(n, d, rng) @ (vectors * np.sqrt(np.maximum(values, 0))).T
    return (drawn + mean).astype(np.result_type(np.asarray(X).dtype, np.float32) if not sparse.issparse(X) else float)


def _directions(n: int, k: int, rng: np.random.Generator) -> Array:
    """k random orthonormal columns of n entries with mean 0, evenly distributed over all such."""
    drawn = rng.standard_normal((n, k))
    Q, R = np.linalg.qr(drawn - drawn.mean(axis=0))
    return np.asarray(Q * np.where(np.diag(R) < 0, -1.0, 1.0))

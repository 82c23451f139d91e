"""How near the nearest rows are: nearer than in tables of noise where columns are related, whatever a map shows of it.

The mean log distance to the k-th nearest row estimates the entropy of the rows, up to a constant (Kozachenko and
Leonenko 1987). Shuffled columns keep the entropy of each column. Together they have the sum of these, which the rows
reach only where their columns are independent; all others have less entropy, and nearer neighbours.

A map cannot always tell. Principal components of groups have several peaks each. Shuffled, they make a grid of more
groups than the data have, and a map keeps those as well. Rows of Gaussian noise with the same covariance have no groups
at all: of the two kinds of noise, the one whose rows are farther from each other has less structure.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from lowdim._core.ranks.reference import Reference
from lowdim.quality.row_curves import scales_of
from lowdim.trust.agreement import Compared
from lowdim.trust.null import null_table, taken

Array = NDArray[Any]

SAMPLED = 400  # rows of a table whose distances are looked at
FLOOR = 1e-3  # of the mean distance: copies are not infinitely near
TABLES, GAUSSIAN_TABLES = 39, 5  # of noise, to choose between its kinds


def nearness(space: Reference) -> Array:
    """Minus the mean log distance of the rows to their k-th nearest one, for the k of `scales_of`."""
    D = np.array(space.block(np.arange(space.n), False), dtype=float)
    least, scales = max(FLOOR * D.mean(), np.finfo(float).tiny), scales_of(space.n)
    np.fill_diagonal(D, -1.0)  # the row itself comes first
    return np.asarray(-np.log(np.maximum(np.partition(D, scales, axis=1)[:, scales], least)).mean(axis=0))


def sampled_nearness(X: Any, compared: Compared, rng: np.random.Generator) -> Array | None:
    """The same of a sample of the rows, by straight distances; None for distances and where cells are missing."""
    if compared.reference == "precomputed" or compared.metric == "precomputed" or not _complete(X):
        return None
    return nearness(replace(compared, reference="ambient").source(_sample(X, rng)))


def fitting_null(X: Any, compared: Compared, rng: np.random.Generator) -> str:
    """The kind of noise that has less structure than the rows: shuffled columns, unless these make groups themselves.

    Gaussian rows are taken where the columns of the data are related beyond chance (one table in forty is taken for
    related by chance) and shuffled columns are nearer to each other than Gaussian rows. That is so where columns are
    uncorrelated and have several peaks, as principal components of groups. Columns that are independent are always
    compared with shuffled ones, so that noise of any kind keeps its level.
    """
    table = _centred_numbers(X, compared, rng)
    if table is None:
        return "permuted"
    compared = replace(compared, reference="ambient")

    def tables(kind: str, count: int) -> Array:
        made = (null_table(table, kind, rng, compared.owner) for _ in range(count))
        return np.array([nearness(compared.source(rows)) for rows in made])

    observed, permuted = nearness(compared.source(table)), tables("permuted", TABLES)
    together = np.vstack([observed, permuted])
    z = (together - together.mean(axis=0)) / np.maximum(together.std(axis=0), np.finfo(float).tiny)
    if z[0].max() <= z[1:].max():
        return "permuted"
    gaussian = tables("gaussian", GAUSSIAN_TABLES)
    smallest = 0  # neighbourhoods that lie within one group of a grid
    farther = permuted[:, smallest].mean() - permuted[:, smallest].std() - gaussian[:, smallest].mean()
    return "gaussian" if farther > 0 else "permuted"


def _centred_numbers(X: Any, compared: Compared, rng: np.random.Generator) -> Array | None:
    """A sample of the rows where Gaussian noise is like them: complete numbers of both signs, straight distances."""
    if compared.metric != "euclidean" or compared.reference == "precomputed":
        return None
    rows = _sample(X, rng)
    table = np.asarray(rows.toarray() if sparse.issparse(rows) else rows)
    if table.ndim != 2 or table.dtype.kind not in "fiu" or not np.isfinite(table).all() or table.min(initial=0) >= 0:
        return None
    return table


def _sample(X: Any, rng: np.random.Generator) -> Any:
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    X = X if hasattr(X, "shape") else np.asarray(X)
    return X if n <= SAMPLED else taken(X, np.sort(rng.choice(n, SAMPLED, replace=False)))


def _complete(X: Any) -> bool:
    if sparse.issparse(X):
        return True
    if hasattr(X, "iloc"):
        return not np.asarray(X.isna()).any()
    if hasattr(X, "get_columns"):
        return not any(column.is_null().any() or (column.dtype.is_float() and column.is_nan().any()) for column in X)
    table = np.asarray(X)
    return not bool((table != table).any())

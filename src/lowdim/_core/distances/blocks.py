"""Distances between rows, one block at a time.

A block of Euclidean or cosine distances comes from one matrix product, the fast way; where the product form
loses digits (near pairs, data far from the origin) the pair is measured again by its differences. Equal rows
are at exactly 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist

from lowdim._core.distances.compiled import OF_SPARSE, table_of
from lowdim._core.distances.domains import called, check_both_ways, check_domain, refuse_undefined
from lowdim._core.distances.gower import gower_block
from lowdim._core.distances.metrics import CODED, GOWER, OWN, Metric, check_metric
from lowdim._core.distances.moved import MOVED, Moved, moved, moved_rows
from lowdim._core.distances.rows import (
    excess,
    origin,
    over_power,
    row_pairs,
    row_scales,
    scaled,
    squared_norms,
    two_tables,
)
from lowdim._core.distances.with_holes import METRICS, expected_block, pairwise_block

# Below this part of |x|^2 + |y|^2 a squared distance is measured by differences. The error of the product
# form is then about sqrt(d) eps / tol of the value: 2e-5 for float32, 2e-12 for float64 at 100 columns.
LOSS = {np.dtype(np.float32): 0.05, np.dtype(np.float64): 1e-3}

_LONG = 40  # columns from which our kernel for manhattan distances is as fast as scipy's (benchmarks, landmark-mds)


def pairwise(
    X: Any,
    Y: Any = None,
    metric: Metric = "euclidean",
    *,
    squared: bool = False,
    owner: str = "pairwise",
    undefined: bool = False,
) -> np.ndarray:
    """The block of distances between the rows of `X` and the rows of `Y`.

    Parameters
    ----------
    X, Y : array or sparse matrix
        Rows, for the metrics of `compiled.OF_SPARSE`, euclidean, cosine, manhattan and hellinger also sparse; `Y` None
        means `X`, with a diagonal of exact 0.
    metric : str or callable
        A name of `metrics.check_metric`, or a function of two rows.
    squared : bool
        Leave out the square root (euclidean only).
    owner : str
        Who asks; error messages begin with it.
    undefined : bool
        Leave NaN where a metric that is not one of ours has no value for a pair, instead of an error.

    Returns
    -------
    ndarray of shape (rows of X, rows of Y)
        In the precision of the input. Under cosine, zero rows are at 0 from each other and at 1 from all others.

    Examples
    --------
    >>> pairwise([[0.0, 0.0], [3.0, 4.0]])
    array([[0., 5.],
           [5., 0.]])
    """
    metric = _usable(metric, squared, owner)
    Q, R = two_tables(X, Y, owner)
    if (form := moved(metric, Q)) is not None:
        return _moved_block(form, Q, R, metric, owner)
    if metric in ("euclidean", "cosine"):
        exponent = excess(R) if metric == "euclidean" else 0
        block = _from_products(
            over_power(Q, exponent), over_power(R, exponent), metric, root=metric == "euclidean" and not squared
        )
        block = over_power(block, -exponent * (2 if squared else 1))
    elif metric == METRICS["expected"]:
        block = expected_block(Q, R, lambda A, B: pairwise(A, B, squared=True))
    elif metric == METRICS["pairwise"]:
        block = pairwise_block(Q, R)
    elif metric == CODED:
        block = gower_block(Q, R)
    else:
        block = _measured(Q, R, metric, owner)
        if not undefined:
            refuse_undefined(block, metric, owner)
    if Y is None:
        if callable(metric):
            check_both_ways(block, metric, owner)
        np.fill_diagonal(block, 0.0)
    return block


def _usable(metric: Metric, squared: bool, owner: str) -> Metric:
    """The metric by its one name; ValueError for those that blocks of rows cannot be measured by."""
    metric = check_metric(metric, owner)
    if metric == "precomputed":
        raise ValueError(f"{owner}: metric must not be 'precomputed'; the distances are there already.")
    if metric == GOWER:
        raise ValueError(f"{owner}: metric must not be 'gower', whose ranges are those of all rows; see `comparable`.")
    if squared and metric != "euclidean":
        raise ValueError(f"{owner}: squared=True must go with metric='euclidean'; got metric={metric!r}.")
    return metric


def _from_products(Q: Any, R: Any, metric: Metric, root: bool) -> np.ndarray:
    """Euclidean distances or their squares; cosine distances as half the squared chord of unit rows."""
    q_scales, r_scales = row_scales(Q, metric), row_scales(R, metric)
    # Centring by R alone: a row's distances must not depend on the other rows of its batch.
    dense = not sparse.issparse(R)
    center = origin(R) if dense and metric == "euclidean" and R.size else None
    if center is None and metric == "euclidean":
        left, right = Q, R
    else:
        right = scaled(R, r_scales, center)
        left = right if Q is R else scaled(Q, q_scales, center)
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows here is measured by differences
        product = left @ right.T
        norms = [squared_norms(rows).astype(R.dtype) for rows in (left, right)]
    block = np.ascontiguousarray(product.toarray() if sparse.issparse(product) else product, dtype=R.dtype)
    if metric == "cosine":
        norms = [np.ones_like(values) for values in norms]
    row_pairs(Q, R, q_scales, r_scales).from_products(*norms, LOSS[R.dtype], root, block)
    if metric == "cosine":
        block *= 0.5
        np.minimum(block, 2.0, out=block)
        block[np.ix_(q_scales == 0, r_scales == 0)] = 0.0  # zero rows are equal rows
    return block


def _moved_block(form: Moved, Q: Any, R: Any, metric: Metric, owner: str) -> np.ndarray:
    """Distances of the rows that another metric is measured between."""
    left = moved_rows(form, Q, metric, owner, "X")
    right = None if Q is R else moved_rows(form, R, metric, owner, "Y")
    with np.errstate(over="ignore"):
        block: np.ndarray = form.distances(pairwise(left, right, form.metric, owner=owner))
        return block.astype(R.dtype, copy=False)


def _measured(Q: Any, R: Any, metric: Metric, owner: str) -> np.ndarray:
    """Every pair by itself, by compiled loops; by scipy what has weights, and short rows under manhattan distances."""
    if metric == "manhattan" and not sparse.issparse(Q) and Q.shape[1] < _LONG:
        return cdist(Q, R, "cityblock").astype(R.dtype, copy=False)
    if metric == "manhattan":
        block = np.empty((Q.shape[0], R.shape[0]), R.dtype)
        row_pairs(Q, R, row_scales(Q, metric), row_scales(R, metric)).block(1, block)
        return block
    check_domain(Q, metric, owner)
    if R is not Q:
        check_domain(R, metric, owner, "Y")
    table = table_of(Q, R, metric)
    if table is not None:
        block = table.block(slice(None), slice(None))
    elif sparse.issparse(Q) or not callable(metric):
        raise refusal_of_sparse(metric, owner)
    else:
        block = called(Q, R, metric, owner)
    return block.astype(R.dtype, copy=False)


def refusal_of_sparse(metric: Metric, owner: str) -> ValueError:
    """The error for sparse rows under a metric that would need them dense."""
    known = ", ".join((*OWN, *(name for name, form in MOVED.items() if form.sparse), *OF_SPARSE))
    return ValueError(f"{owner}: metric must be one of {known} for sparse rows; got {metric!r}. Or pass X.toarray().")


def own_points(D: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows whose distances D to fitted ones say that they are fitted themselves, and the first column at 0 of each."""
    first = np.argmin(D, axis=1)
    rows = np.flatnonzero(D[np.arange(len(D)), first] == 0)
    return rows, first[rows]

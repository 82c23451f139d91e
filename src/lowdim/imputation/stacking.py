"""Stacking: the weights of a mean of models, which minimise its squared error on left-out cells.

Weights are at least 0 and sum to 1. They are pulled towards equal ones, by as much as a few dozen cells say, so that
few left-out cells do not decide between models that are as good as each other (Wolpert, 1992; Breiman, 1996). Numbers
and categories have weights of their own: the model that predicts the one best need not be the best for the other.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.optimize import nnls

from lowdim.imputation.cells import Cells
from lowdim.imputation.models.model import Array

PULL = 20.0  # left-out cells that the pull towards equal weights counts as
LEAST_WEIGHT = 0.1  # models with less are left out, which saves their fits


def gaps(cells: Cells, hidden: Array, filled: Sequence[Array]) -> tuple[Array, Array]:
    """Truth less prediction in the left-out cells, one column for each model: (m, k) of numbers and of categories.

    Cells of categories have one gap for each indicator column.
    """
    parents = cells.layout.parents
    there, truth = hidden[:, parents], cells.spread
    numeric = np.broadcast_to(cells.numeric[parents], there.shape)[there]
    found = np.column_stack([truth[there] - table[there] for table in filled])
    return found[numeric], found[~numeric]


def by_kind(parts: Sequence[tuple[Array, Array]]) -> Array:
    """Weights of the models for numbers and for categories: (2, k). A kind without left-out cells has the other's."""
    stacks = [np.vstack([part[kind] for part in parts]) for kind in (0, 1)]
    found = [weights(E) if len(E) else None for E in stacks]
    known = next((w for w in found if w is not None), np.full(stacks[0].shape[1], 1.0 / stacks[0].shape[1]))
    return np.stack([known if w is None else w for w in found])


def weights(E: Array) -> Array:
    """Weights on the simplex that minimise |E w|² + PULL s² |w - 1/k|², with s² the mean square of E w at w = 1/k.

    Both terms are homogeneous in w where the weights sum to 1, so that the solution is the direction of the
    non-negative least squares solution with one more row that asks for a sum of 1.
    """
    k = E.shape[1]
    equal = np.full(k, 1.0 / k)
    square = max(float(np.mean((E @ equal) ** 2)) * k, 1e-300)
    pull = np.sqrt(PULL * square) * (np.eye(k) - 1.0 / k)
    A = np.vstack([np.linalg.qr(E, mode="r"), pull])
    size = np.sqrt((A**2).sum()) or 1.0
    found, _ = nnls(np.vstack([A / size, np.ones(k)]), np.append(np.zeros(len(A)), 1.0))
    found = np.where(found >= LEAST_WEIGHT * found.sum(), found, 0.0)
    return np.asarray(found / found.sum())


def cross_validated(parts: Sequence[tuple[Array, Array]]) -> list[Array]:
    """For each table of gaps the weights that the other tables give, so that its error is that of unseen cells."""
    return [by_kind([*parts[:t], *parts[t + 1 :]]) for t in range(len(parts))]


def mean_of(tables: Sequence[Array], w: Array, cells: Cells) -> Array:
    """The mean of filled tables; w holds weights for numbers and for categories, see `by_kind`."""
    columns = w[np.where(cells.numeric[cells.layout.parents], 0, 1)]  # (J, k)
    return np.asarray(sum(table * columns[:, i] for i, table in enumerate(tables)))

"""Stacking: the weights of a mean of models, which minimise its squared error on left-out cells.

Weights are at least 0 and sum to 1. They are pulled towards equal ones, by as much as a few dozen cells say, so that
few left-out cells do not decide between models that are as good as each other (Wolpert, 1992; Breiman, 1996).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.optimize import nnls

from lowdim.imputation.cells import Cells
from lowdim.imputation.models.model import Array

PULL = 20.0  # left-out cells that the pull towards equal weights counts as
LEAST_WEIGHT = 0.1  # models with less are left out, which saves their fits


def gaps(cells: Cells, hidden: Array, filled: Sequence[Array], base: Array) -> Array:
    """Truth less prediction in the left-out cells, one column for each model: (m, k).

    Cells of categories have one gap for each indicator column. Numbers and categories are each in units of the root
    mean squared gap of `base` per cell, so that both kinds weigh as in the error that models are compared by.
    """
    parents = cells.layout.parents
    there, truth = hidden[:, parents], cells.spread
    numeric = np.broadcast_to(cells.numeric[parents], there.shape)[there]
    found = np.column_stack([truth[there] - table[there] for table in filled])
    plain = truth[there] - base[there]
    for kind, columns in ((numeric, cells.numeric), (~numeric, ~cells.numeric)):
        count = int(hidden[:, columns].sum())
        if count:
            unit = float(np.sqrt((plain[kind] ** 2).sum() / count))
            found[kind] /= unit if unit > 0 else 1.0
    return found


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


def cross_validated(parts: Sequence[Array]) -> list[Array]:
    """For each table of gaps the weights that the other tables give, so that its error is that of unseen cells."""
    return [weights(np.vstack([*parts[:t], *parts[t + 1 :]])) for t in range(len(parts))]

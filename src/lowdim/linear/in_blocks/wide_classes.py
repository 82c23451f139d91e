"""The axes that separate classes of many columns, without a matrix of their pairs.

With the class means M (over the root of their priors), B = M'M has rank g - 1, and W^-1 M' is enough: of its g columns
a = W^-1 M' c, where c are the eigenvectors of the small matrix M W^-1 M'. Conjugate gradients solve for all columns at
once, one pass over the blocks a step, in units of the deviation within the classes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from lowdim._core.spectrum import eigenpairs, fix_signs
from lowdim.linear._discriminant import Classes, encode
from lowdim.linear.in_blocks.many_passes import complete_rows
from lowdim.linear.in_blocks.sums import pair_of

Array = np.ndarray

PASSES = 500  # over the blocks, at most
TOL = 1e-10  # residual of the equations, relative to their right-hand sides


@dataclass(frozen=True, eq=False)
class WideSeparation:
    """What `Separation` says, without the covariance within the classes."""

    axes: Array  # (d, q)
    between: Array  # (q,) where the total variance is 1
    within: Array
    total_along: Array  # (d, q): T a

    def covariance(self, scale: Array) -> Array | None:
        """Not formed."""
        return None

    def loadings(self, r: int, scale: Array) -> Array:
        """(d, r): least-squares coefficients of the columns on the first r scores, T a (a'T a)^-1."""
        along = self.total_along[:, :r]
        return np.asarray(along @ np.linalg.inv(self.axes[:, :r].T @ along))


def separate(batches: Any, labels: Array, classes: Classes, scale: Array, shrinkage: float) -> WideSeparation:
    """Solve B a = l W a, with the correlations within the classes moved towards 0 by `shrinkage`."""
    unit = np.where(np.isfinite(scale), scale, 1.0)
    varies = np.isfinite(scale)
    M = np.where(varies, classes.between / unit, 0.0)  # (g, d)
    weights = classes.shares / classes.counts

    def within(V: Array) -> Array:
        of = partial(_within_times, labels=labels, means=classes.means, weights=weights, B=V / unit[:, None])
        return np.where(varies[:, None], batches.gather(of) / unit[:, None], 0.0)

    def shrunken(V: Array) -> Array:
        return (1 - shrinkage) * within(V) + shrinkage * V

    G = conjugate_gradients(shrunken, np.ascontiguousarray(M.T))
    inner = M @ G
    pairs = eigenpairs((inner + inner.T) / 2, len(inner) - 1, owner="LDA")
    keep = pairs.values > 1e-10 * max(pairs.values[0], 1e-300)
    if not keep.any():
        raise ValueError("LDA: the class means are equal, so that no direction separates the classes.")
    ratios, C = pairs.values[keep], pairs.vectors[:, keep]
    axes = G @ C / np.sqrt(ratios)
    along = (within(axes) + M.T @ (M @ axes)) * unit[:, None]
    axes = axes / unit[:, None]
    signs = np.where((fix_signs(axes) * axes).sum(axis=0) < 0, -1.0, 1.0)
    return WideSeparation(axes * signs, ratios / (1 + ratios), 1 / (1 + ratios), along * signs)


def _within_times(batch: Any, labels: Array, means: Array, weights: Array, B: Array) -> Array:
    """W B of a block: rows less the mean of their class, which are not filled where they are sparse."""
    X_batch, y_batch = pair_of(batch, "LDA", "y")
    X = complete_rows(X_batch, "LDA")
    names, codes = encode(y_batch, X.shape[0])
    codes = np.searchsorted(labels, names)[codes]
    scores = weights[codes, None] * (X @ B - (means @ B)[codes])
    sums = np.zeros((len(labels), B.shape[1]))
    np.add.at(sums, codes, scores)
    return np.asarray(X.T @ scores - means.T @ sums)


def conjugate_gradients(times: Any, right: Array) -> Array:
    """The solution of A x = b for each column b of `right`, A positive definite, by products A V."""
    x, rest = np.zeros_like(right), right.copy()
    along, squares = rest.copy(), np.square(rest).sum(axis=0)
    goal = TOL**2 * np.maximum(squares, 1e-300)
    for _ in range(PASSES):
        left = squares > goal
        if not left.any():
            return x
        product = times(along[:, left])
        curved = (along[:, left] * product).sum(axis=0)
        if not (curved > 0).all():
            break
        step = squares[left] / curved
        x[:, left] += step * along[:, left]
        rest[:, left] -= step * product
        new = np.square(rest).sum(axis=0)
        along[:, left] = rest[:, left] + (new[left] / squares[left]) * along[:, left]
        squares = new
    raise ValueError(
        f"LDA: the covariance within the classes is singular, or nearly so: {PASSES} passes over the rows did not "
        "solve for the axes. Set shrinkage, such as 0.1, or reduce the columns first with lowdim.PCA(n_components)."
    )

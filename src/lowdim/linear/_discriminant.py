"""The axes that separate classes, from the rows or from their moments.

Both ways first whiten the total covariance T = W + B (within + between). There B and W have the same axes and their
eigenvalues add up to one, so that a class without variance gives a within-variance of 0 instead of a division by it.
From the rows, nothing is squared; from the moments, one pass is enough.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import softmax
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from lowdim._core.incomplete.moments import JointGaussian
from lowdim._core.runtime.threads import blocks
from lowdim._core.spectrum import Moments, eigenpairs, fix_signs, svd
from lowdim._core.tables.deviations import rounding_of
from lowdim._core.tables.form import said_by
from lowdim._core.tables.labels import numbered
from lowdim.linear._decompose import Rows

_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class Classes:
    """What is known about the classes: `shares` weigh them within, `priors` between."""

    counts: np.ndarray  # (g,) rows, or sums of their weights
    means: np.ndarray  # (g, d)
    shares: np.ndarray
    priors: np.ndarray

    @property
    def center(self) -> np.ndarray:
        return self.priors @ self.means

    @property
    def between(self) -> np.ndarray:
        """(g, d); B = M'M is the covariance between the classes."""
        return np.sqrt(self.priors)[:, None] * (self.means - self.center)

    def row_weights(self, codes: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
        """Weights that add up to one: a class has its share, whatever its count."""
        each = (self.shares / self.counts)[codes]
        return each if weights is None else each * weights


def weigh(counts: np.ndarray, means: np.ndarray, weighting: str, given: Any) -> Classes:
    """The weights of the classes; a class of one row adds to B alone."""
    g, n = len(counts), float(counts.sum())
    if n <= g:
        raise ValueError(
            f"LDA: X must have more rows (or a larger sum of weights) than classes, as a class of one row has no "
            f"variance; got {n:g} in {g} classes."
        )
    shares = counts / n if weighting == "pooled" else np.full(g, 1.0 / g)
    priors = shares if given is None else np.asarray(given, dtype=np.float64)
    if len(priors) != g:
        raise ValueError(f"LDA: priors must be one number per class; got {len(priors)} for {g} classes.")
    return Classes(counts, means, shares, priors)


@dataclass(frozen=True, eq=False)
class WhitenedTotal:
    """Coordinates with T = I: x -> A'x, the within covariance there, and the class means (rows, times root prior)."""

    A: np.ndarray  # (d, r)
    within: np.ndarray  # (r, r)
    means: np.ndarray  # (g, r)
    sizes: np.ndarray  # (r,) the columns of A are orthogonal directions over these (in units of the within deviation)
    condition: float  # smallest over largest eigenvalue of T, those without variance counted


@dataclass(frozen=True, eq=False)
class Labelled:
    """Rows, the number of their class, and weights that add up to one."""

    X: Any
    codes: np.ndarray
    weights: np.ndarray

    def residuals(self, part: slice, means: np.ndarray) -> np.ndarray:
        """Rows less the mean of their class: subtracted in float64, kept in the precision of X."""
        own = np.take(means, self.codes[part], axis=0)
        return np.subtract(self.X[part], own, out=own).astype(self.X.dtype, copy=False)

    def within(self, means: np.ndarray, n_jobs: int | None) -> np.ndarray:
        """Within covariance in one pass, block by block."""
        total = np.zeros((self.X.shape[1], self.X.shape[1]))
        for part in self._parts():
            total += Moments.of(self.residuals(part, means), self.weights[part], n_jobs=n_jobs).about(np.zeros(1))
        return total

    def variances(self, means: np.ndarray) -> np.ndarray:
        """Its diagonal."""
        squares = (self.weights[part] @ self.residuals(part, means).astype(np.float64) ** 2 for part in self._parts())
        return np.sum(list(squares), axis=0)

    def _parts(self) -> list[slice]:
        return blocks(len(self.X), max(4096, 2**23 // max(1, self.X.shape[1])))


def encode(y: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Sorted labels and the number of each row's label."""
    with said_by("LDA"):
        y = column_or_1d(y, warn=True)
        if len(y) != n:
            raise ValueError(f"LDA: y must hold one label per row; got {len(y)} labels for {n} rows.")
        if y.dtype.kind == "f" and not np.isfinite(y).all():
            lost = int((~np.isfinite(y)).sum())
            raise ValueError(f"LDA: y must hold a label for each row; {lost} are NaN or infinite.")
        classes, codes = numbered(y, "LDA")
        check_classification_targets(y)
    if classes.dtype == object and all(isinstance(name, str) for name in classes):
        classes = classes.astype(str)  # plain text, which a model file can hold
    return classes, codes


def refuse_one(classes: np.ndarray) -> np.ndarray:
    if len(classes) < 2:
        raise ValueError(
            f"LDA: y must hold at least two classes; got {len(classes)} class(es): {classes.tolist()}. Without classes "
            "use PCA."
        )
    return classes


def refuse_unobserved(X: np.ndarray, codes: np.ndarray, classes: np.ndarray) -> None:
    """The mean of a column in a class cannot be known where no row of the class has a cell there."""
    for code, name in enumerate(classes.tolist()):
        empty = np.isnan(X[codes == code]).all(axis=0)
        if empty.any():
            raise ValueError(
                f"LDA: every column must have an observed cell in every class; column {int(empty.argmax())} has none "
                f"in class {name!r} ({int(empty.sum())} such columns). Drop these columns or that class."
            )


def joint(means: np.ndarray, covariance: np.ndarray, n: float) -> JointGaussian:
    """The classes as normal distributions, for the missing cells of new rows; `n` rows the covariance comes from."""
    within = Moments(n, means[0], covariance * n)
    return JointGaussian(means, JointGaussian.of_moments((within,)).covariance)


def expected_rows(X: np.ndarray, model: JointGaussian, priors: np.ndarray) -> np.ndarray:
    """Conditional means of incomplete rows of unknown class: those of each class weighted by its probability."""
    shares = softmax(model.log_density(X) + np.log(priors), axis=1)
    rows = (model.conditional(X, np.full(len(X), code)) * share[:, None] for code, share in enumerate(shares.T))
    return np.where(np.isnan(X), reduce(np.add, rows), X)


def scatters_of_sparse(X: Any, codes: np.ndarray, weights: np.ndarray | None) -> Iterator[np.ndarray]:
    """The scatter of the sparse rows of each class about their mean, one after another."""
    for code in range(int(codes.max()) + 1):
        own = codes == code
        yield Rows.of(X[own], None if weights is None else weights[own], scale=False, ddof=0).moments().scatter


def class_means(X: Any, codes: np.ndarray, weights: np.ndarray | None, counts: np.ndarray) -> np.ndarray:
    """Weighted mean of the rows of each class, in float64."""
    each = (1.0 / counts)[codes] if weights is None else weights / counts[codes]
    sums = np.zeros((len(counts), X.shape[1]))
    for rows in blocks(X.shape[0], max(4096, 2**22 // max(1, X.shape[1]))):
        parts = (each[rows], codes[rows], np.arange(rows.stop - rows.start + 1))
        part = sparse.csr_array(parts, shape=(rows.stop - rows.start, len(counts))).T @ X[rows]
        sums += part.toarray() if sparse.issparse(part) else part
    return sums


def units(within: np.ndarray, classes: Classes, dtype: Any) -> np.ndarray:
    """Within-class deviation of each column: the unit in which it is measured.

    A column is constant where it varies by no more than the rounding of its mean. One that is constant within the
    classes is measured by the deviation between them instead; one that is constant over all gets an infinite unit, so
    that it is left out.
    """
    rounding = rounding_of(np.abs(classes.means).max(axis=0), float(classes.counts.sum()), dtype)
    inside, across = np.sqrt(np.maximum(within, 0.0)), np.sqrt((classes.between**2).sum(axis=0))
    return np.where(inside > rounding, inside, np.where(across > rounding, across, np.inf))


def whiten_rows(rows: Labelled, classes: Classes, scale: np.ndarray) -> WhitenedTotal:
    """From the singular vectors of the rows less their class mean, with the class means below."""
    n = len(rows.X)
    inside = rows.residuals(slice(0, n), classes.means) * np.sqrt(rows.weights)[:, None] / scale
    return whiten_inside(inside, n, classes, scale, rows.X.dtype)


def whiten_inside(inside: np.ndarray, n: int, classes: Classes, scale: np.ndarray, dtype: Any) -> WhitenedTotal:
    """From the n rows less their class mean, weighted and scaled, or others with the same inner products."""
    m, d = inside.shape
    found = svd(np.vstack([inside, classes.between / scale]), solver="lapack", owner="LDA")
    keep = found.values > (16 * float(np.finfo(dtype).eps) + max(n, d) * _EPS) * found.values[0]
    U, s = found.U[:, keep], found.values[keep]
    return WhitenedTotal(found.Vt[keep].T / s / scale[:, None], U[:m].T @ U[:m], U[m:], s, 1.0)


def whiten_moments(within: np.ndarray, classes: Classes, scale: np.ndarray, dtype: Any) -> WhitenedTotal:
    """From the covariances, all in units of the within-class deviation."""
    M, W = classes.between / scale, within / scale[:, None] / scale
    pairs = eigenpairs(W + M.T @ M, len(W), owner="LDA")
    keep = pairs.values > 64 * max(len(W) * _EPS, float(np.finfo(dtype).eps)) * pairs.values[0]
    s = np.sqrt(pairs.values[keep])
    A = pairs.vectors[:, keep] / s
    least = pairs.values[int(np.isfinite(scale).sum()) - 1]
    return WhitenedTotal(A / scale[:, None], A.T @ W @ A, M @ A, s, max(float(least / pairs.values[0]), 0.0))


@dataclass(frozen=True, eq=False)
class Separation:
    """The axes, best first: unit variance within the classes (divisor n), in the columns' own units."""

    axes: np.ndarray  # (d, q)
    coordinates: np.ndarray  # (r, q): the same where T = I
    between: np.ndarray  # (q,) variances in coordinates where the total (the shrunken one, if shrunken) is 1
    within: np.ndarray
    space: WhitenedTotal
    shrinkage: float

    def covariance(self, scale: np.ndarray) -> np.ndarray:
        """(d, d): within the classes (divisor n), shrunk as the axes were; 0 for constant columns."""
        space = self.space
        dual = space.A * np.where(np.isfinite(scale), scale, 0.0)[:, None] ** 2 * space.sizes**2
        W, unit = dual @ space.within @ dual.T, np.where(np.isfinite(scale), scale, 0.0)
        return (1 - self.shrinkage) * W + self.shrinkage * np.diag(unit**2)

    def loadings(self, r: int, scale: np.ndarray) -> np.ndarray:
        """(d, r): least-squares coefficients of the columns on the first r scores, T a (a'T a)^-1."""
        C, space = self.coordinates[:, :r], self.space
        dual = space.A * np.where(np.isfinite(scale), scale, 0.0)[:, None] ** 2 * space.sizes**2
        return dual @ C @ np.linalg.inv(C.T @ C)


def separate(space: WhitenedTotal, shrinkage: float = 0.0) -> Separation:
    """Solve B a = l W a, with the within correlations moved towards zero: W <- (1 - shrinkage) W + shrinkage diag(W).

    In units of the within deviation diag(W) is the identity (it is taken to be even where there is none), so all that
    matters happens in the span of `space`.
    """
    # Without shrinkage T = I in these coordinates; shrunken, T is better conditioned along the orthogonal directions.
    size = space.sizes if shrinkage else np.ones(len(space.sizes))
    W, M = size[:, None] * space.within * size, space.means * size
    W = (1 - shrinkage) * W + shrinkage * np.eye(len(size))
    pairs = eigenpairs(W + M.T @ M, len(W), owner="LDA")
    root = pairs.vectors / np.sqrt(pairs.values)
    N = M @ root
    found = svd(N, min(len(N) - 1, len(root)), solver="lapack", owner="LDA")
    keep = found.values > max(1e-7 * found.values[0], 1e-10)
    C = root @ found.Vt[keep].T
    within = np.maximum((C * (W @ C)).sum(axis=0), 0.0)
    C = size[:, None] * C / np.sqrt(np.maximum(within, 1e-300))
    axes = space.A @ C
    signs = np.where((fix_signs(axes) * axes).sum(axis=0) < 0, -1.0, 1.0)
    return Separation(axes * signs, C * signs, found.values[keep] ** 2, within, space, shrinkage)


def ledoit_wolf(rows: Labelled, classes: Classes, scale: np.ndarray) -> float:
    """How far to shrink: the share of the squared within correlations that is sampling noise (Ledoit and Wolf, 2004).

    scikit-learn's `ledoit_wolf_shrinkage` with row weights.
    """
    lengths, S = (_of_sparse if sparse.issparse(rows.X) else _of_dense)(rows, classes.means, scale)
    p = int(np.isfinite(scale).sum())
    squares = float((S**2).sum())
    spread = squares - float(np.trace(S)) ** 2 / p
    noise = (float(rows.weights @ lengths**2) - squares) / float(classes.counts.sum())
    return min(noise / spread, 1.0) if spread > 0 else 0.0


def _of_dense(rows: Labelled, means: np.ndarray, scale: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Squared lengths of the rows less the mean of their class, in units of `scale`, and R'R or RR' of them."""
    keep = np.isfinite(scale)
    R = rows.residuals(slice(0, len(rows.X)), means)[:, keep] / scale[keep]
    lengths = (R**2).sum(axis=1)
    R *= np.sqrt(rows.weights)[:, None]
    return lengths, R.T @ R if len(R) >= R.shape[1] else R @ R.T


def _of_sparse(rows: Labelled, means: np.ndarray, scale: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same without filling the rows."""
    unit, M = 1.0 / scale, means / scale
    cross = np.asarray(rows.X @ (unit[:, None] * M.T))[np.arange(len(rows.codes)), rows.codes]
    lengths = np.asarray(rows.X.power(2) @ unit**2) - 2 * cross + (M**2).sum(axis=1)[rows.codes]
    within = reduce(np.add, scatters_of_sparse(rows.X, rows.codes, rows.weights))
    return np.maximum(lengths, 0.0), within / scale[:, None] / scale


def accurate(space: WhitenedTotal, dtype: Any) -> bool:
    """Whether squared rows leave half of the digits, and no axis is near perfect separation."""
    half = np.sqrt(np.finfo(dtype).eps)
    return space.condition > half and eigenpairs(space.within, 1, which="smallest", owner="LDA").values[0] > half

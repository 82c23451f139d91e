"""Rules for the number of principal components of complete rows.

Each uses the eigenvalues `values` of the covariance (divisor n - 1, largest first, as many as can be positive) or the
centred rows, and returns a `Verdict`: its choice, a note, and the curve of its criterion. `choice` is None if a rule
does not apply or finds nothing; 0 means that no component stands out.

Incomplete rows have no eigenvalues: only rules that predict cells (cross-validation) apply to them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import chdtrc

from lowdim._core.runtime.threads import lapack, single_blas
from lowdim._core.spectrum.evidence import minka_evidence
from lowdim._core.spectrum.singular import svd

_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class Verdict:
    """The answer of one rule.

    Attributes
    ----------
    choice : int or None
        The number of components.
    note : str
        How the rule chose, or why it has no answer.
    curve : ndarray or None
        The criterion for 0, 1, 2, ... components (`kind` "criterion"), or the threshold of each eigenvalue (`kind`
        "threshold").
    kind : str
        The meaning of the curve.
    """

    choice: int | None
    note: str
    curve: np.ndarray | None = None
    kind: str = ""


# ---- rules that use the eigenvalues ---------------------------------------------------------------------


def share(values: np.ndarray, tau: float) -> Verdict:
    """The fewest components with more than the share tau of the variance."""
    together = np.cumsum(values) / values.sum()
    choice = min(int(np.searchsorted(together, tau, side="right")) + 1, len(values))
    return Verdict(choice, f"the fewest components with more than {tau:g} of the variance")


def drop(values: np.ndarray) -> Verdict:
    """Up to the largest drop on a log scale; None if no eigenvalue is twice the next."""
    above = values[values > len(values) * _EPS * values[0]]
    if len(above) < len(values):
        return Verdict(len(above), "the other eigenvalues are 0: the rows have exactly this rank")
    drops = -np.diff(np.log(above))
    if not len(drops) or drops.max() < np.log(2):
        return Verdict(None, "no drop: no eigenvalue is twice the next")
    k = int(np.argmax(drops)) + 1
    return Verdict(k, f"the largest drop: eigenvalue {k} is {np.exp(drops[k - 1]):.1f} times the next")


def kaiser(values: np.ndarray, d: int) -> Verdict:
    """Eigenvalues above their mean, which is 1 for scaled columns."""
    mean = values.sum() / d
    return _above(values, np.full(len(values), mean), f"eigenvalues above their mean {mean:.3g}")


def broken_stick(values: np.ndarray) -> Verdict:
    """Expected lengths of the parts of a stick broken at random: total/m * sum_{i>=k} 1/i."""
    m = len(values)
    expected = values.sum() / m * np.cumsum(1 / np.arange(m, 0, -1))[::-1]
    return _above(values, expected, "eigenvalues above the expected parts of a stick broken at random")


def parallel(values: np.ndarray, null: np.ndarray, quantile: float) -> Verdict:
    """Horn: eigenvalues above those of tables with independent columns (`null`, one row for each table)."""
    threshold = np.quantile(null, quantile, axis=0)
    return _above(
        values, threshold, f"eigenvalues above the {quantile:g} quantile of {len(null)} tables with independent columns"
    )


def minka(values: np.ndarray, n: int, d: int) -> Verdict:
    """The largest evidence of probabilistic PCA for 1 .. d - 1 components."""
    evidence = minka_evidence(values, n, d)
    if evidence is None:
        return Verdict(None, "needs at least as many rows as columns, and linearly independent columns")
    choice = int(np.argmax(evidence)) + 1
    return Verdict(choice, "the largest evidence (Minka)", np.concatenate([[np.nan], evidence]), "criterion")


def gcv(values: np.ndarray, n: int, d: int) -> Verdict:
    """Generalised cross-validation: mean squared error over the squared share of residual degrees of freedom."""
    q = np.arange(min(n - 2, d - 1) + 1)
    left = np.concatenate([[values.sum()], values.sum() - np.cumsum(values)])[: len(q)]
    error = (n - 1) * np.maximum(left, 0.0) / (n * d)
    curve = error * (n * d / ((n - 1 - q) * (d - q))) ** 2
    return _lowest(curve, "generalised cross-validation: its first local minimum")


# ---- rules that use the rows ----------------------------------------------------------------------------


def smooth(X: np.ndarray) -> Verdict:
    """Approximate leave-one-cell-out cross-validation (Josse and Husson, 2012).

    The error of cell i, j of the fit to all cells, over (1 - 1/n - a_i)(1 - b_j) with a_i and b_j the squared lengths
    of row i of U and row j of V: the leverage of the cell.
    """
    n, d = X.shape
    most = min(n - 2, d - 1)
    found = svd(X, owner="n_components")
    rows, columns, error, curve = np.full(n, 1 / n), np.zeros(d), X.copy(), []
    for q in range(most + 1):
        if q:
            u, v = found.U[:, q - 1], found.Vt[q - 1]
            error = error - np.outer(u * found.values[q - 1], v)
            rows, columns = rows + u**2, columns + v**2
        free = np.outer(1 - rows, 1 - columns)
        curve.append(float(np.mean((error / free) ** 2)) if free.min() > 1e-12 else np.inf)
    return _lowest(np.array(curve), "approximate leave-one-cell-out cross-validation: its first local minimum")


def kfold(X: np.ndarray, folds: int, rng: np.random.Generator) -> Verdict:
    """Each cell of a left-out row is predicted from the other cells of the row (Bro et al., 2008).

    With loadings V of the other folds, least squares without cell j has the error e_j / (1 - h_j), where e is the
    residual of the whole row and h_j the squared length of row j of V.
    """
    n, d = X.shape
    folds = min(folds, n)
    parts = np.array_split(rng.permutation(n), folds)
    most = min(n - max(map(len, parts)) - 1, d - 1)
    if most < 1:
        return Verdict(None, "needs at least three rows and two columns")
    total = np.zeros(most + 1)
    with single_blas():
        for part in parts:
            kept = np.delete(X, part, axis=0)
            mean = kept.mean(axis=0)
            total += _fold_errors(svd(kept - mean, most, owner="n_components").Vt, X[part] - mean)
    return _lowest(total / (n * d), f"cross-validation of cells in {folds} folds: its lowest value", first=False)


def _fold_errors(Vt: np.ndarray, X: np.ndarray) -> np.ndarray:
    """Sum of squared errors of left-out cells with 0, 1, ... components."""
    error, h, found = X.copy(), np.zeros(X.shape[1]), [float((X**2).sum())]
    for v in Vt:
        error = error - np.outer(X @ v, v)
        h = h + v**2
        # A cell with h = 1 cannot be predicted from the others.
        found.append(float(((error / (1 - h)) ** 2).sum()) if h.max() < 1 - 1e-10 else np.inf)
    return np.array(found)


def velicer(R: np.ndarray) -> Verdict:
    """Minimum average partial (Velicer, 1976): mean squared correlation left after taking out q components."""
    d = len(R)
    if d < 3:
        return Verdict(None, "needs at least three columns")
    values, vectors = lapack(np.linalg.eigh, R)
    loadings = (vectors * np.sqrt(np.maximum(values, 0.0)))[:, ::-1]
    curve, left = [], R.copy()
    for q in range(d - 1):
        if q:
            left = left - np.outer(loadings[:, q - 1], loadings[:, q - 1])
        size = np.sqrt(np.maximum(np.diag(left), 0.0))
        if size.min() < 1e-6:  # nothing of a column remains
            break
        partial = left / np.outer(size, size)
        curve.append((float((partial**2).sum()) - d) / (d * (d - 1)))
    return _lowest(np.array(curve), "the lowest mean squared partial correlation (Velicer)", first=False)


# ---- whether the columns are correlated --------------------------------------------------------------------


def kmo(R: np.ndarray) -> tuple[float, np.ndarray]:
    """Kaiser, Meyer and Olkin: r^2 / (r^2 + partial r^2), in total and for each column; below 0.5 is poor."""
    inverse = lapack(np.linalg.inv, R)
    partial = inverse / np.sqrt(np.outer(np.diag(inverse), np.diag(inverse)))
    squares, partials = R**2 - np.eye(len(R)), partial**2 - np.eye(len(R))
    each = squares.sum(axis=0) / (squares.sum(axis=0) + partials.sum(axis=0))
    return float(squares.sum() / (squares.sum() + partials.sum())), each


def bartlett(R: np.ndarray, n: int) -> tuple[float, int, float]:
    """Test of sphericity, that all correlations are 0: chi squared, degrees of freedom, p value."""
    d = len(R)
    statistic = -(n - 1 - (2 * d + 5) / 6) * float(np.linalg.slogdet(R)[1])
    df = d * (d - 1) // 2
    return statistic, df, float(chdtrc(df, statistic))


# ---- choosing -----------------------------------------------------------------------------------------------


def _above(values: np.ndarray, threshold: np.ndarray, note: str) -> Verdict:
    """The number of leading eigenvalues above their thresholds."""
    below = np.flatnonzero(values <= threshold)
    return Verdict(int(below[0]) if len(below) else len(values), note, threshold, "threshold")


def _lowest(curve: np.ndarray, note: str, *, first: bool = True) -> Verdict:
    """The q with the lowest criterion, or its first local minimum."""
    rises = np.flatnonzero(curve[1:] > curve[:-1])
    choice = int(rises[0]) if first and len(rises) else int(np.nanargmin(curve))
    return Verdict(choice, note, curve, "criterion")

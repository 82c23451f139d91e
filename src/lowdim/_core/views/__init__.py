"""Two tables of the same rows, each in its own principal axes, and the correlations between these."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_array

from lowdim._core.runtime.notices import warn
from lowdim._core.runtime.threads import blocks
from lowdim._core.spectrum import Moments, Triangle, eigenpairs, mean_and_variance, svd
from lowdim._core.tables import missing
from lowdim._core.tables.arrays import FLOATS, native
from lowdim._core.tables.kinds import naming_text

_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class View:
    """(X - mean) / scale = U diag(s) V', kept without U; scale is infinite for columns that do not vary."""

    mean: np.ndarray
    scale: np.ndarray
    V: np.ndarray  # (d, r)
    s: np.ndarray  # (r,)
    divisor: float  # n - 1
    ridge: float

    @property
    def filter(self) -> np.ndarray:
        """What the ridge leaves of each axis: s / sqrt(s² + (n - 1) ridge), 1 without it."""
        return self.s / np.sqrt(self.s**2 + self.divisor * self.ridge)

    def weights(self, P: np.ndarray) -> np.ndarray:
        """Weights of the columns of X whose scores are sqrt(n - 1) U filter P."""
        return self.V @ ((np.sqrt(self.divisor) * self.filter / self.s)[:, None] * P) / self.scale[:, None]

    def deviations(self, P: np.ndarray) -> np.ndarray:
        """Standard deviations of these scores; 1 without a ridge."""
        return np.linalg.norm(self.filter[:, None] * P, axis=0)

    def covariance_with(self, C: np.ndarray) -> np.ndarray:
        """Covariance of the columns of X with scores sqrt(n - 1) U C."""
        columns = np.where(np.isfinite(self.scale), self.scale, 0.0)
        return columns[:, None] * (self.V * (self.s / np.sqrt(self.divisor))) @ C


@dataclass(frozen=True, eq=False)
class Views:
    """Both tables and the correlations K = Ux' Uy of their principal axes."""

    x: View
    y: View
    K: np.ndarray
    solver: str
    owner: str

    @property
    def pairs(self) -> int:
        """How many there are: the smaller of the two ranks."""
        return min(len(self.x.s), len(self.y.s))

    def kept(self, n_components: int | None) -> int:
        """How many of them are kept, with a warning where fewer than asked for."""
        if n_components is None or n_components <= self.pairs:
            return self.pairs if n_components is None else int(n_components)
        warn(
            f"{self.owner}: n_components={n_components} is more than the smaller rank of the two tables, {self.pairs}; "
            f"keeping {self.pairs}."
        )
        return self.pairs

    def solve(self, k: int | None = None, solver: str = "lapack") -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """P, rho, Q of filter_x K filter_y = P diag(rho) Q', the largest first."""
        found = svd(self.x.filter[:, None] * self.K * self.y.filter, k, solver=solver, owner=self.owner)
        return found.U, np.minimum(found.values, 1.0), found.Vt.T


@dataclass(frozen=True, eq=False)
class Setting:
    """How the columns are scaled and regularised."""

    scale: bool
    ridge: tuple[float, float]
    owner: str

    def divide(self, mean: np.ndarray, variance: np.ndarray, n: float, dtype: Any, side: int) -> np.ndarray:
        """Standard deviations, or ones where the ridge is meant in the columns' own units; infinite where constant.

        Without a ridge the units do not matter, and equal ones make the rank a question of correlations.
        """
        deviation = np.sqrt(np.maximum(variance, 0.0))
        rounding = max(_EPS * (16.0 + np.sqrt(n)), 0.5 * float(np.finfo(dtype).eps))
        flat = deviation <= rounding * np.abs(mean)
        own = np.ones_like(deviation) if self.ridge[side] > 0 and not self.scale else deviation
        return np.where(flat, np.inf, own)


def from_rows(X: np.ndarray, Y: np.ndarray, setting: Setting) -> Views:
    """From the singular vectors of both tables: nothing is squared."""
    (x, Ux), (y, Uy) = (_view_of_rows(table, setting, side) for side, table in enumerate((X, Y)))
    return Views(x, y, Ux.T @ Uy, "svd", setting.owner)


def _view_of_rows(X: np.ndarray, setting: Setting, side: int) -> tuple[View, np.ndarray]:
    n = len(X)
    mean, variance = mean_and_variance(X)
    scale = setting.divide(mean, variance * n / (n - 1), n, X.dtype, side)
    return _view_of_centred((X - mean) / scale, mean, scale, n, setting, X.dtype, side)


def _view_of_centred(
    rows: np.ndarray, mean: np.ndarray, scale: np.ndarray, n: float, setting: Setting, dtype: Any, side: int
) -> tuple[View, np.ndarray]:
    """From centred and scaled rows, or from others with their inner products."""
    found = svd(rows, solver="lapack", owner=setting.owner)
    rank = max(max(n, rows.shape[1]) * _EPS, 16 * float(np.finfo(dtype).eps)) * found.values[0]
    keep = found.values > rank
    return View(mean, scale, found.Vt[keep].T, found.values[keep], n - 1, setting.ridge[side]), found.U[:, keep]


def from_triangle(found: Triangle, d: int, setting: Setting) -> Views:
    """From the QR decomposition of d columns of X followed by those of Y: nothing is squared."""
    (x, Ux), (y, Uy) = (
        _view_of_triangle(found, part, setting, side) for side, part in enumerate((slice(0, d), slice(d, None)))
    )
    return Views(x, y, Ux.T @ Uy, "svd", setting.owner)


def _view_of_triangle(found: Triangle, part: slice, setting: Setting, side: int) -> tuple[View, np.ndarray]:
    mean, n, dtype = found.mean[part], found.weight, np.dtype(found.dtype)
    scale = setting.divide(mean, found.squares()[part] / (n - 1), n, dtype, side)
    return _view_of_centred(found.R[:, part] / scale, mean, scale, n, setting, dtype, side)


def joint_moments(X: np.ndarray, Y: np.ndarray, n_jobs: int | None) -> Moments:
    """Moments of the columns of both tables side by side, block by block."""
    width = X.shape[1] + Y.shape[1]
    total: Moments | None = None
    for rows in blocks(len(X), max(4096, 2**20 // width)):  # memory that is freed and taken again
        part = Moments.of(np.hstack([X[rows], Y[rows]]), n_jobs=n_jobs)
        total = part if total is None else total + part
    assert total is not None  # there are rows
    return total


def from_moments(moments: Moments, d: int, setting: Setting, dtype: Any) -> tuple[Views, float]:
    """From the covariances of d columns of X followed by those of Y; and how well conditioned they are."""
    (x, cx), (y, cy) = (
        _view_of_moments(moments, part, setting, side, dtype) for side, part in enumerate((slice(0, d), slice(d, None)))
    )
    cross = moments.scatter[:d, d:] / x.scale[:, None] / y.scale
    K = (x.V / x.s).T @ cross @ (y.V / y.s)
    return Views(x, y, K, "covariance", setting.owner), min(cx, cy)


def _view_of_moments(m: Moments, part: slice, setting: Setting, side: int, dtype: Any) -> tuple[View, float]:
    mean, scatter, n = m.mean[part], m.scatter[part, part], m.weight
    scale = setting.divide(mean, np.diag(scatter) / (n - 1), n, dtype, side)
    pairs = eigenpairs(scatter / scale[:, None] / scale, len(mean), owner=setting.owner)
    keep = pairs.values > 64 * max(len(mean) * _EPS, float(np.finfo(dtype).eps)) * max(pairs.values[0], 0.0)
    least = pairs.values[max(int(np.isfinite(scale).sum()), 1) - 1]
    condition = max(float(least / pairs.values[0]), 0.0) if pairs.values[0] > 0 else 1.0
    view = View(mean, scale, pairs.vectors[:, keep], np.sqrt(pairs.values[keep]), n - 1, setting.ridge[side])
    return view, condition


def second_table(
    Y: Any, n: int, owner: str, *, sparse_ok: bool = False, nan: bool = False, policies: tuple[str, ...] = ()
) -> tuple[Any, tuple[int, ...]]:
    """Y as a finite table of `n` rows, missing cells as NaN if `nan`, and the shape of one of its rows.

    `policies` are the values of `missing` that would take missing cells, for the error.
    """
    Y = missing.undisguised(Y, owner) if nan else Y
    missing.refuse_disguised(Y, owner, "Y")
    if not sparse_ok:
        missing.refuse_sparse(Y, owner, "Y")
    form = "csr" if sparse_ok else False
    with naming_text(Y, owner, "Y"):
        Y = check_array(
            native(Y), accept_sparse=form, dtype=FLOATS, ensure_2d=False, ensure_all_finite=False, input_name="Y"
        )
    shape, Y = Y.shape[1:], Y if sparse.issparse(Y) else Y.reshape(len(Y), -1)
    if Y.shape[0] != n:
        raise ValueError(f"{owner}: X and Y must have the same number of rows; got {n} and {Y.shape[0]}.")
    cells = Y.data if sparse.issparse(Y) else Y
    largest = missing.largest_magnitude(cells) if cells.size else 0.0
    if not np.isfinite(largest):
        if np.isinf(cells).any() or not nan or sparse.issparse(Y):
            bad = n if sparse.issparse(Y) else int((~np.isfinite(Y)).any(axis=1).sum())
            ways = "".join(f"Use missing={policy!r}, or keep" for policy in policies) or "Keep"
            raise ValueError(
                f"{owner}: Y has missing (NaN) or infinite values in {bad} of {n} rows; {owner} needs complete rows. "
                f"{ways} the rows complete in both tables, or fill the cells first, for example with lowdim.impute."
            )
        largest = float(np.nanmax(np.abs(cells), initial=0.0))
    if largest and not 1e-140 < largest < 1e140:
        raise ValueError(f"{owner}: the largest value of Y is {largest:.1e}, and its square is out of range.")
    return Y if Y.dtype == np.float64 or 1e-15 < largest < 1e15 else Y.astype(np.float64), shape

"""PCA by NIPALS: its components, its completed cells, and its warnings."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from lowdim._core.incomplete import cells
from lowdim._core.incomplete.completion import RUNAWAY
from lowdim._core.runtime.notices import warn
from lowdim.linear.pca._component_rule import choose_r
from lowdim.linear.pca._fitted import FittedPCA, cell_variances, divisor_of, observed_error, resolution_of
from lowdim.linear.pca._nipals import Nipals, nipals
from lowdim.linear.pca._settings import IncompleteSettings

MANY_MISSING = 0.1  # share of missing cells above which NIPALS is known to be unstable

Array = np.ndarray


def fit(X: Array, weights: Array | None, settings: IncompleteSettings, r: int, incomplete: bool) -> FittedPCA:
    """The first r components of X; of complete rows as many of them as `n_components` asks for."""
    share = float(np.isnan(X).mean())
    if share > MANY_MISSING:
        warn(
            f"PCA: {share:.0%} of the cells are missing, and NIPALS is unstable above {MANY_MISSING:.0%}; "
            "missing='regularized' is not."
        )
    names = ("scale", "ddof", "orthogonalize", "tol", "max_iter", "callback", "verbose")
    found = nipals(X, r, weights=weights, owner="PCA", **{name: getattr(settings, name) for name in names})
    if not found.stopped:
        _warn_of_the_end(found, r, settings.max_iter)
    squares = (found.scores**2).sum(axis=0) if weights is None else weights @ found.scores**2
    if not incomplete:
        found, squares = _kept(found, squares, settings)
    fitted = FittedPCA(
        components=np.ascontiguousarray(found.loadings.T),
        mean=found.mean,
        scale=found.scale,
        explained_variance=squares / divisor_of(X, weights, settings.ddof),
        explained_variance_ratio=-np.diff(found.errors) / found.errors[0],
        singular_values=np.sqrt(squares),
        reconstruction_error=observed_error(X, found.mean, found.scale, found.loadings, found.scores, weights),
        noise_variance=0.0,
        missing_share=float(np.count_nonzero(np.isnan(X))) / X.size,
        solver="nipals",
        resolution=resolution_of(X),
        n_iter=int(found.n_iter.max(initial=0)),
        converged=bool(found.converged.all()),
        mixing=found.mixing,
    )
    return _with_cells(fitted, X, found) if incomplete else fitted


def _kept(found: Nipals, squares: Array, settings: IncompleteSettings) -> tuple[Nipals, Array]:
    """The components of complete rows that the rule in `n_components` keeps."""
    rule = settings.n_components, settings.max_error, len(squares), float(len(found.scores))
    h = choose_r(squares, float(found.errors[0]), *rule)
    return replace(
        found,
        loadings=found.loadings[:, :h],
        scores=found.scores[:, :h],
        mixing=found.mixing[:h, :h],
        errors=found.errors[: h + 1],
    ), squares[:h]


def _warn_of_the_end(found: Nipals, r: int, max_iter: int) -> None:
    k = found.scores.shape[1]
    if k == 0:
        raise ValueError("PCA: missing='nipals' needs rows that vary; all are equal. Use missing='regularized'.")
    if k < r:
        warn(f"PCA: NIPALS keeps {k} of {r} components; the residual after them is 0.")
    if not found.converged.all():
        slow = ", ".join(str(h + 1) for h in np.flatnonzero(~found.converged))
        warn(
            f"PCA: NIPALS is not converged after max_iter={max_iter} steps for component {slow}. Raise max_iter or "
            "tol.",
            ConvergenceWarning,
        )


def _with_cells(fitted: FittedPCA, X: Array, found: Nipals) -> FittedPCA:
    """Missing cells at T P', with the variances of a regression on the observed loadings."""
    ones = np.ones(found.loadings.shape[1])
    _, leverage = cells.fill(X, found.mean, found.scale, found.loadings, ones, 0.0, leverage=True)
    fit = found.scores @ found.loadings.T
    fit = found.mean + (fit if found.scale is None else fit * found.scale)
    completed = np.where(np.isnan(X), fit, X).astype(X.dtype, copy=False)
    _warn_of_runaway(X, completed)
    n, d, r = *X.shape, found.loadings.shape[1]
    free = np.count_nonzero(~np.isnan(X)) - d - r * (n - 1 + d - r)
    noise = found.errors[-1] / free if free > 0 else np.nan
    variance = cell_variances(X, leverage, noise, found.scale)
    return replace(fitted, completed=completed, completed_variance=variance)


def _warn_of_runaway(X: Array, completed: Array) -> None:
    """A row whose few observed cells have small loadings is divided by their squares: its scores have no bound."""
    before, after = np.nanstd(X, axis=0, dtype=np.float64), completed.std(axis=0, dtype=np.float64)
    times = np.divide(after, before, out=np.ones(len(before)), where=before > 0)
    if times.max() > RUNAWAY:
        warn(
            f"PCA: the column {int(times.argmax())} completed by NIPALS varies {times.max():.3g} times as much as its "
            "observed cells do: NIPALS extrapolates rows with few cells. Use missing='regularized', or fewer "
            "components."
        )

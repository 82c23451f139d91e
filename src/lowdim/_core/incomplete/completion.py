"""Incomplete rows completed by a low-rank model: iterative PCA, plain (EM) and regularised.

The fixed point is missMDA's (Josse and Husson, 2012): the means, deviations and eigenpairs are those of the completed
rows, and a missing cell is what the shrunken model predicts, mean + scale V diag(f) z with f = 1 - sigma2 / lambda and
z = V'x. It is reached faster: with W = V diag(lambda - sigma2)^1/2, the cells of a row that agree with the model solve
(W_O'W_O + sigma2 I) t = W_O'x_O over its observed cells O, so each step fills them at once, and only the model is
iterated (`fixed_point`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from lowdim._core.incomplete.cells import ObservedTable, fill_cells, weights_of
from lowdim._core.incomplete.fixed_point import FixedPoint, Settings
from lowdim._core.incomplete.warm_pca import leading
from lowdim._core.iterate import Callback, Run
from lowdim._core.runtime import threads
from lowdim._core.runtime.notices import warn
from lowdim._core.spectrum.noise_variance import LEAST_FREE
from lowdim._core.spectrum.problem import fix_signs

Array = np.ndarray

RUNAWAY = 3.0  # times a column's observed deviation: a completed column that varies more is worth a warning


@dataclass(frozen=True, eq=False)
class Completion:
    """Completed rows and the model that completed them.

    Attributes
    ----------
    completed : ndarray of shape (n, d)
        The rows; observed cells are bit for bit those given.
    mean, scale : ndarray of shape (d,)
        Of the completed rows; `scale` is None without scaling.
    loadings : ndarray of shape (d, r)
        V, orthonormal.
    scores : ndarray of shape (n, r)
        V'(x - mean) / scale of the completed rows.
    eigenvalues : ndarray of shape (r,)
        Variances of the scores.
    total_variance : float
        Of the completed (scaled) rows.
    shrinkage : ndarray of shape (r,)
        f = 1 - sigma2 / lambda: what is left of each component in the fitted cells; 1 for EM.
    sigma2 : float
        What shrinks them; 0 for EM.
    noise_variance : float
        Squared error of an observed cell, corrected for the parameters fitted; NaN where none are left over.
    error : float
        Sum of squared errors over the observed cells, in scaled units.
    leverage : ndarray of shape (n, d) or None
        Of the missing cells, where asked for; see `cells.fill`.
    run : Run
        Losses (weighted mean over rows of the squared error of the observed cells, by the shrunken model), n_iter,
        converged.
    """

    completed: Array
    mean: Array
    scale: Array | None
    loadings: Array
    scores: Array
    eigenvalues: Array
    total_variance: float
    shrinkage: Array
    sigma2: float
    noise_variance: float
    error: float
    leverage: Array | None
    run: Run


def complete(
    X: Array,
    r: int,
    *,
    method: str = "regularized",
    scale: bool = False,
    ddof: int = 0,
    ridge: float = 1.0,
    tol: float = 1e-8,
    max_iter: int = 1000,
    weights: Array | None = None,
    n_jobs: int | None = None,
    owner: str = "completion",
    quiet: bool = False,
    leverage: bool = False,
    shown: int = 0,
    callback: Callback | None = None,
    verbose: int | bool = 0,
) -> Completion:
    """Fill the missing cells (NaN) of X by the best model of rank r.

    Parameters
    ----------
    X : ndarray of shape (n, d), float32 or float64
        Rows and columns with at least one observed cell each; not changed.
    r : int
        Components, at most min(n - 2, d - 1); 0 fills in the column means.
    method : {"regularized", "em"}
        "em" fits the observed cells best; "regularized" shrinks each component by the noise, and is bounded where EM
        overfits.
    scale : bool
        Divide columns by their standard deviation, which is that of the completed rows and follows them.
    ddof : {0, 1}
        The divisor of variances in the result is n - ddof; the completed cells do not depend on it.
    ridge : float
        Multiplies the noise variance that shrinks; 0 is EM.
    tol : float
        Stop when the criterion changes by less than this part, the changes still to be expected included; or when its
        root is less than this part of the deviation.
    max_iter : int
        Maximum number of steps; each is two updates and an extrapolation.
    weights : ndarray of shape (n,), optional
        Of rows; a whole number counts as so many copies.
    n_jobs : int, optional
        Threads; the bits do not depend on it.
    owner : str
        Name of the caller, for messages.
    quiet : bool
        No warnings.
    leverage : bool
        Also compute the leverage of the missing cells.
    shown : int
        With r = 0, components of the completed rows to report all the same; their shrinkage is 0.
    callback : callable, optional
        callback(step, loss, completed rows) after each step; returning True stops.
    verbose : int or bool
        Show progress.

    Returns
    -------
    Completion

    Examples
    --------
    >>> import numpy as np
    >>> X = np.outer(np.arange(1.0, 7.0), [1.0, 2.0, -1.0])
    >>> X[2, 1] = np.nan
    >>> complete(X, 1).completed[2].round(6)
    array([ 3.,  6., -3.])
    """
    X = np.ascontiguousarray(X)
    table = ObservedTable.of(X, scale, weights, n_jobs, owner)
    most = max(0, min(int(table.weight) - 2, X.shape[1] - 1))
    if not 0 <= r <= most:
        raise ValueError(f"{owner}: r must be between 0 and min(n - 2, d - 1) = {most}; got {r}.")
    tol = max(tol, 1e-7) if X.dtype == np.float32 else tol
    settings = Settings(r, method, ridge, 0.0, tol, max_iter, owner, callback, verbose)
    if settings.shrinks and r > 0:
        settings = replace(settings, floor=_noise_floor(table, settings, quiet))
    iteration = FixedPoint(table, settings)
    with threads.single_blas():  # the products are small: handing them out costs more than it saves
        run = iteration.run()
    if not quiet:
        _warn_of_doubts(run, iteration)
    return _completion(iteration, run, ddof, leverage, shown)


def _completion(iteration: FixedPoint, run: Run, ddof: int, leverage: bool, shown: int) -> Completion:
    """The model of the last update, and the cells it gives; variances for the divisor n - ddof."""
    t, r, completed = iteration.table, iteration.settings.rank, iteration.completed
    k = r or shown
    last = run.state.found if r else leading(completed, k, scale=t.scaled, weights=t.weights)
    values = last.values[:k]
    # Components that are only reported are shrunk to nothing: the cells stay at the column means.
    sigma2 = iteration.settings.sigma2(last) if r else float(values.max(initial=0.0))
    V = fix_signs(last.vectors)
    W, strength = weights_of(V, values, sigma2)
    spread = np.zeros_like(t.X) if leverage else None
    losses = fill_cells(t.X, completed, last.mean, last.scale, W, strength, n_jobs=t.n_jobs, leverage=spread)
    more = t.weight / (t.weight - ddof)
    divide, grow = (last.scale * np.sqrt(more), 1.0) if t.scaled else (np.ones(len(V)), more)
    error = float(losses.sum() if t.weights is None else losses @ t.weights) / (more if t.scaled else 1.0)
    free = t.free(r)
    return Completion(
        completed,
        last.mean,
        divide if t.scaled else None,
        V,
        _scores(completed, last.mean, divide, V, t.n_jobs),
        eigenvalues=values * grow,
        total_variance=last.total * grow,
        shrinkage=np.divide(np.maximum(values - sigma2, 0.0), values, out=np.zeros(k), where=values > 0),
        sigma2=sigma2 * grow,
        noise_variance=error / free if free >= LEAST_FREE * t.cells else (iteration.settings.floor * grow or np.nan),
        error=error,
        leverage=spread,
        run=run,
    )


def _scores(X: Array, mean: Array, scale: Array, V: Array, n_jobs: int | None) -> Array:
    A, d, Z = V / scale[:, None], X.shape[1], np.empty((len(X), V.shape[1]))

    def part(rows: slice) -> None:
        for some in threads.blocks(rows.stop - rows.start, 2**15 // d):  # what is centred stays in the cache
            Z[rows][some] = (X[rows][some] - mean) @ A

    threads.map_rows(part, len(X), max(1, 2**20 // d), n_jobs)
    return Z


def _noise_floor(table: ObservedTable, settings: Settings, quiet: bool) -> float:
    """What sigma2 must be at least where the rank leaves too few cells to see any noise.

    Then every table is fitted almost exactly, the dropped eigenvalues go to 0, nothing is shrunk, and the cells are
    worse than the column means. The noise is taken from the largest rank that leaves enough.
    """
    r, enough = settings.rank, LEAST_FREE * table.cells
    if table.free(r) >= enough:
        return 0.0
    lower = max((q for q in range(r) if table.free(q) >= enough), default=0)
    if not quiet:
        parameters = table.cells - table.free(r)
        warn(
            f"{settings.owner}: {r} components have {parameters:.0f} parameters, and X has {table.cells:.0f} observed "
            f"cells: too few to tell noise from structure. The noise of {lower} components is assumed; ask for fewer "
            "components."
        )
    same: dict[str, Any] = {"scale": table.scaled, "weights": table.weights, "n_jobs": table.n_jobs}
    found = complete(table.X, lower, tol=max(settings.tol, 1e-6), max_iter=settings.max_iter, quiet=True, **same)
    free = table.free(lower)
    return found.error / free if free > 0 else found.total_variance / table.X.shape[1]


def _warn_of_doubts(run: Run, iteration: FixedPoint) -> None:
    """Warnings about what makes the result doubtful."""
    table, s, r = iteration.table, iteration.settings, iteration.settings.rank
    advice = "Ask for fewer components" + (", or use missing='regularized'." if s.method == "em" else ".")
    if r and not (run.converged or run.stopped):
        warn(
            f"{s.owner}: completion is not converged after max_iter={s.max_iter} steps (criterion "
            f"{run.losses[-1]:.6g}, tol={s.tol:g}). Raise max_iter or tol. {advice}",
            ConvergenceWarning,
        )
    if s.method == "em" and table.free(r) < LEAST_FREE * table.cells:
        warn(
            f"{s.owner}: {r} components have {table.cells - table.free(r):.0f} parameters, and X has {table.cells:.0f} "
            f"observed cells, so EM fits them almost exactly whatever the missing ones are. {advice}"
        )
    times = np.sqrt(table.growth(iteration.completed))
    if r and times.max() > RUNAWAY:
        warn(
            f"{s.owner}: the completed column {int(times.argmax())} varies {times.max():.3g} times as much as its "
            f"observed cells do: the model is fitted to noise, or the incomplete rows differ from the others. {advice}"
        )

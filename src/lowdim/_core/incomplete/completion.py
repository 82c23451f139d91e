"""Rows with holes completed by a low-rank model: iterative PCA, plain (EM) and regularised.

The fixed point is missMDA's (Josse and Husson, 2012): the means, deviations and eigenpairs are those of the completed
rows, and a missing cell is what the shrunken model says, mean + scale V diag(f) z with f = 1 - sigma2 / lambda and
z = V'x. The way there is shorter. With W = V diag(lambda - sigma2)^1/2, the cells of a row that agree with the model
solve (W_O'W_O + sigma2 I) t = W_O'x_O over its observed cells O, so each step fills them at once instead of creeping
there, and only the model (d x r numbers) is iterated and extrapolated.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from lowdim._core.incomplete.cells import Table, fill_cells, weights_of
from lowdim._core.incomplete.warm_pca import Leading, leading
from lowdim._core.iterate import Run, iterate
from lowdim._core.runtime import threads
from lowdim._core.runtime.notices import warn
from lowdim._core.runtime.rng import generator

Array = np.ndarray

METHODS = ("regularized", "em")
LEAST_FREE = 0.05  # share of the observed cells that must be left after fitting, for the noise to be estimated
AMPLE_FREE = 0.75  # the same share, above which EM has one optimum to speak of
APPROACH, APPROACH_STEPS = 1e-4, 100  # EM goes step by step until one changes the criterion by this part only
RUNAWAY = 3.0  # times a column's observed deviation: a completed column that varies more is worth a warning
SLACK = {"em": 0.0, "regularized": 1e-3}  # by how much an extrapolated step may raise the criterion


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
    rng: np.random.Generator | None = None,
    n_init: int = 1,
    weights: Array | None = None,
    n_jobs: int | None = None,
    owner: str = "completion",
    quiet: bool = False,
    leverage: bool = False,
    shown: int = 0,
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
        Stop when the criterion changes by this part, and would change by no more if the steps went on as they do; or
        when the root of its part of the variance is below this.
    max_iter : int
        Most steps; each is two updates and an extrapolation.
    rng, n_init
        Starts: the first from the column means, the others from random cells; the best is kept.
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
    table = Table.of(X, scale, weights, n_jobs, owner)
    most = max(0, min(table.weight_rows - 2, X.shape[1] - 1))
    if not 0 <= r <= most:
        raise ValueError(f"{owner}: r must be between 0 and min(n - 2, d - 1) = {most}; got {r}.")
    tol = max(tol, 1e-7) if X.dtype == np.float32 else tol
    floor = 0.0
    if method == "regularized" and ridge > 0 and r > 0:
        floor = _noise_floor(X, r, table, owner, quiet, {"tol": max(tol, 1e-6), "max_iter": max_iter, "scale": scale})
    best: tuple[_Iteration, Run] | None = None
    for k in range(max(1, n_init)):
        trial = _Iteration(table, r, method, ridge, floor, tol, None if k == 0 else generator(rng))
        with threads.single_blas():  # the products are small: handing them out costs more than it saves
            run = trial.run(max_iter, owner)
        if best is None or run.losses[-1] < best[1].losses[-1]:
            best = trial, run
    trial, run = best  # type: ignore[misc]
    if not quiet:
        _complain(run, trial, owner, max_iter, tol)
    return trial.result(run, ddof, leverage, shown)


def shrinking_variance(values: Array, total: float, n: float, d: int, ridge: float) -> float:
    """missMDA's noise variance: the mean of the dropped eigenvalues, corrected for the parameters of the others.

    `values` are the kept eigenvalues and the next one, which bounds it.
    """
    r = len(values) - 1
    dropped = max(total - float(values[:r].sum()), 0.0)
    free = (n - 1 - r) * (d - r)
    sigma2 = ridge * n * d / min(d, n - 1) * dropped / free if free > 0 else 0.0
    return float(min(sigma2, values[r]))


def observed_ridge(X: Array, r: int, weights: Array | None = None) -> float:
    """The `ridge` that makes the noise that of an observed cell: what is left over of all cells, over what is left of
    the observed ones. Filled cells lie on the model, so that among all cells noise looks smaller than it is."""
    observed = X.shape[1] - np.count_nonzero(np.isnan(X), axis=1)
    n, d = (len(X) if weights is None else float(weights.sum())), X.shape[1]
    cells = float(observed.sum() if weights is None else weights @ observed)
    taken = r * (n - 1 + d - r)
    return max(1.0, ((n - 1) * d - taken) / max(cells - d - taken, LEAST_FREE * cells))


@dataclass(frozen=True, eq=False)
class _State:
    """A model as a point that can be extrapolated; `found` is what it came from."""

    mean: Array
    scale: Array
    W: Array
    strength: float
    loss: float
    found: Leading
    reach: float = 4.0  # longest extrapolation
    settled: bool = False
    rate: float = 1.0  # of the last two updates
    last: float = np.inf  # criterion of the step before, and by how much it had changed
    change: float = np.inf
    moved: float = np.inf  # length of the last update
    part: float = np.inf  # the same, over the length of the model itself

    def vector(self, unit: Array) -> Array:
        return np.concatenate([self.mean / unit, self.scale / unit, self.W.ravel(), [np.sqrt(self.strength)]])

    def at(self, v: Array, unit: Array) -> _State:
        d, r = self.W.shape
        W = v[2 * d : 2 * d + d * r].reshape(d, r)
        return replace(self, mean=v[:d] * unit, scale=v[d : 2 * d] * unit, W=W, strength=float(v[-1]) ** 2)


class _Iteration:
    """One start of the fixed-point iteration; `completed` always holds the cells of the state last filled."""

    def __init__(
        self,
        table: Table,
        r: int,
        method: str,
        ridge: float,
        floor: float,
        tol: float,
        rng: np.random.Generator | None,
    ) -> None:
        self.table, self.r, self.method, self.ridge, self.floor, self.tol = table, r, method, ridge, floor, tol
        self.unit = table.deviation if table.scaled else np.ones(len(table.mean))
        self.completed = table.completed if rng is None else _random_start(table, rng)
        # A row with no more cells than components is fitted exactly by any model: plain EM, which moves the cells
        # least, is the one whose limit means something.
        shrinks = method == "regularized" and ridge > 0
        self.plain = not shrinks and 0 < table.fewest <= r
        ample = table.free(r) >= AMPLE_FREE * table.cells
        self.gentle = self.plain or not (shrinks or ample)
        # Cells at the mean of their column hide a part of the covariances; where there is enough to go by, the first
        # model is of those of the observed cells.
        self.share = table.share if rng is None and ample and not self.plain else None
        self.basis: Array | None = None

    def run(self, max_iter: int, owner: str) -> Run:
        if self.r == 0:
            return Run(None, np.array([self._variance()]), 0, True)
        first = self._updated(None)
        first = replace(first, loss=self._fill(first, whole=self.gentle))
        if self.gentle and not self.plain:
            first = self._approach(first)
        step = self._plain_step if self.plain else self._step
        run = iterate(
            step, first, max_iter=max_iter, tol=0.0, owner=owner, warn=False, until=lambda i, s, loss: s.settled
        )
        return replace(run, converged=run.state.settled or run.converged)

    def _approach(self, state: _State) -> _State:
        """Plain steps while they change much: with many parameters for its cells EM has several optima, and leaps from
        a poor model find worse ones."""
        for _ in range(APPROACH_STEPS):
            now, loss = self._plain_step(state)
            small, state = abs(state.loss - loss) <= APPROACH * loss, now
            if small or state.settled:
                break
        return replace(state, loss=self._fill(state), settled=False)

    def _step(self, state: _State) -> tuple[_State, float]:
        """Two updates and, from them, an extrapolation forward (Varadhan and Roland, 2008).

        Only forward: what Anderson mixing gains near the end it can lose at a saddle, where it stops.
        """
        one = self._updated(state)
        one = replace(one, loss=self._fill(one))
        if self._settled(state, one.loss, state.rate):
            return replace(one, settled=True), one.loss
        two = self._updated(one)
        v, first, second = (s.vector(self.unit) for s in (state, one, two))
        before, after = first - v, second - first
        size = float(np.linalg.norm(before))
        rate = float(np.linalg.norm(after)) / size if size > 0 else 0.0
        part = float(np.linalg.norm(after) / np.linalg.norm(v))
        if self._settled(state, one.loss, rate):
            return replace(two, loss=one.loss, settled=True), one.loss
        seen: dict[str, Any] = {"rate": rate, "part": part, "last": one.loss, "change": abs(state.last - one.loss)}
        bend = float(np.linalg.norm(after - before))
        length = min(size / bend if bend > 0 else 1.0, state.reach)
        reach = state.reach * 4 if length == state.reach else state.reach
        if length > 1.01:
            ahead = two.at(v + 2 * length * before + length**2 * (after - before), self.unit)
            if (ahead.scale > 0.1 * two.scale).all():
                loss = self._fill(ahead)
                if loss <= one.loss * (1.0 + SLACK[self.method]):
                    return replace(ahead, loss=loss, reach=reach, **seen), one.loss
            reach = max(1.0, state.reach / 4)
        return replace(two, loss=self._fill(two), reach=reach, **seen), one.loss

    def _plain_step(self, state: _State) -> tuple[_State, float]:
        one = self._updated(state)
        one = replace(one, loss=self._fill(one, whole=True))
        before = state.vector(self.unit)
        moved = float(np.linalg.norm(before - one.vector(self.unit)))
        settled = self._settled(state, one.loss, moved / state.moved if state.moved > 0 else 0.0)
        change = abs(state.loss - one.loss)
        part = moved / float(np.linalg.norm(before))
        return replace(one, settled=settled, moved=moved, part=part, last=one.loss, change=change), one.loss

    def _settled(self, state: _State, now: float, rate: float) -> bool:
        """Little change, and little to come: what goes on at a rate has rate / (1 - rate) of its last change ahead.

        Both for the model and for the criterion from step to step: what crawls along a valley shows in the latter.
        """
        if now <= self.tol**2 * self._variance():
            return True
        here, step = abs(state.loss - now), abs(state.last - now) if np.isfinite(state.last) else 0.0
        trend = step / state.change if state.change > 0 else 0.0
        return max(here * max(1.0, _ahead(rate)), step * _ahead(trend)) <= self.tol * now

    def _variance(self) -> float:
        deviation = self.table.deviation
        return float((deviation**2 / (self.unit**2)).sum())

    def _fill(self, state: _State, whole: bool = False) -> float:
        t = self.table
        loss = fill_cells(
            t.X, self.completed, state.mean, state.scale, state.W, state.strength, n_jobs=t.n_jobs, whole=whole
        )
        return float(loss.sum() if t.weights is None else loss @ t.weights) / t.weight

    def _updated(self, state: _State | None) -> _State:
        """The model of the rows as they are completed now, turned towards the last one."""
        t = self.table
        settings: dict[str, Any] = {"scale": t.scaled, "weights": t.weights, "n_jobs": t.n_jobs}
        enough = min(1e-6, max(1e-11, 0.1 * self.tol))
        if state is not None:  # no better than the model is known
            enough = min(1e-4, max(enough, 1e-3 * state.part))
        share = self.share if state is None else None
        found = leading(self.completed, self.r, start=self.basis, tol=enough, share=share, **settings)
        if not found.exact and 0 < found.values[self.r] == self._sigma2(found):  # only a bound: it may not bind
            found = leading(self.completed, self.r, exact=True, **settings)
        self.basis = found.basis
        W, strength = weights_of(found.vectors, found.values[: self.r], self._sigma2(found))
        if state is not None:
            left, _, right = np.linalg.svd(W.T @ state.W)
            W = W @ (left @ right)
        now = _State(found.mean, found.scale, W, strength, np.inf, found)
        return now if state is None else replace(now, reach=state.reach, part=state.part)

    def _sigma2(self, found: Leading) -> float:
        if self.method == "em" or self.ridge == 0:
            return 0.0
        sigma2 = shrinking_variance(found.values, found.total, found.weight, len(found.mean), self.ridge)
        return max(sigma2, self.floor)

    def result(self, run: Run, ddof: int, leverage: bool, shown: int) -> Completion:
        """The model of the last update, and the cells it gives; variances for the divisor n - ddof."""
        t, k = self.table, self.r or shown
        last = run.state.found if self.r else leading(self.completed, k, scale=t.scaled, weights=t.weights)
        values = last.values[:k]
        # Shrunk by all they have, components that are only shown leave the means where they are.
        sigma2 = self._sigma2(last) if self.r else float(values.max(initial=0.0))
        signs = _signs(last.vectors)
        V = last.vectors * signs
        W, strength = weights_of(V, values, sigma2)
        spread = np.zeros_like(t.X) if leverage else None
        place = (t.X, self.completed, last.mean, last.scale, W, strength)
        losses = fill_cells(*place, n_jobs=t.n_jobs, leverage=spread)
        more = t.weight / (t.weight - ddof)
        divide, grow = (last.scale * np.sqrt(more), 1.0) if t.scaled else (np.ones(len(V)), more)
        error = float(losses.sum() if t.weights is None else losses @ t.weights) / (more if t.scaled else 1.0)
        free = t.free(self.r)
        noise = error / free if free >= LEAST_FREE * t.cells else (self.floor * grow or np.nan)
        shrinkage = np.divide(np.maximum(values - sigma2, 0.0), values, out=np.zeros(k), where=values > 0)
        return Completion(
            self.completed,
            last.mean,
            divide if t.scaled else None,
            V,
            _scores(self.completed, last.mean, divide, V, t.n_jobs),
            values * grow,
            last.total * grow,
            shrinkage,
            sigma2 * grow,
            noise,
            error,
            spread,
            run,
        )


def _ahead(rate: float) -> float:
    """What is left of a geometric series, in units of its last term; a lot where it does not shrink."""
    return rate / (1.0 - rate) if rate < 0.99 else 100.0


def _scores(X: Array, mean: Array, scale: Array, V: Array, n_jobs: int | None) -> Array:
    A, d, Z = V / scale[:, None], X.shape[1], np.empty((len(X), V.shape[1]))

    def part(rows: slice) -> None:
        for some in threads.blocks(rows.stop - rows.start, 2**15 // d):  # what is centred stays in the cache
            Z[rows][some] = (X[rows][some] - mean) @ A

    threads.map_rows(part, len(X), max(1, 2**20 // d), n_jobs)
    return Z


def _signs(V: Array) -> Array:
    """What makes the entry of largest magnitude of each column positive."""
    if not V.size:
        return np.ones(V.shape[1])
    return np.where(np.take_along_axis(V, np.abs(V).argmax(axis=0)[None], axis=0)[0] < 0, -1.0, 1.0)


def _random_start(table: Table, rng: np.random.Generator) -> Array:
    """Another start: cells drawn about the column means."""
    completed = table.X.copy()
    for rows in threads.blocks(len(completed), max(1, 2**18 // completed.shape[1])):
        part = completed[rows]
        drawn = table.mean + rng.standard_normal(part.shape) * table.deviation
        np.copyto(part, drawn, where=part != part, casting="same_kind")
    return completed


def _noise_floor(X: Array, r: int, table: Table, owner: str, quiet: bool, settings: dict[str, Any]) -> float:
    """What sigma2 must be at least where rank r leaves too few cells to see any noise.

    Then every table is fitted almost exactly, the dropped eigenvalues go to 0, nothing is shrunk, and the cells are
    worse than the column means. The noise is taken from the largest rank that leaves enough.
    """
    if table.free(r) >= LEAST_FREE * table.cells:
        return 0.0
    lower = max((q for q in range(r) if table.free(q) >= LEAST_FREE * table.cells), default=0)
    if not quiet:
        parameters = table.cells - table.free(r)
        warn(
            f"{owner}: {r} components have {parameters:.0f} parameters, and X has {table.cells:.0f} observed cells: "
            f"too few to tell noise from structure. The noise of {lower} components is assumed; ask for fewer "
            "components."
        )
    found = complete(X, lower, weights=table.weights, n_jobs=table.n_jobs, quiet=True, **settings)
    free = table.free(lower)
    return found.error / free if free > 0 else found.total_variance / X.shape[1]


def _complain(run: Run, trial: _Iteration, owner: str, max_iter: int, tol: float) -> None:
    """Say what makes the result doubtful."""
    table, r = trial.table, trial.r
    way = "Ask for fewer components" + (", or use missing='regularized'." if trial.method == "em" else ".")
    if r and not run.converged:
        warn(
            f"{owner}: completion is not converged after max_iter={max_iter} steps (criterion {run.losses[-1]:.6g}, "
            f"tol={tol:g}). Raise max_iter or tol. {way}",
            ConvergenceWarning,
        )
    if trial.method == "em" and table.free(r) < LEAST_FREE * table.cells:
        warn(
            f"{owner}: {r} components have {table.cells - table.free(r):.0f} parameters, and X has {table.cells:.0f} "
            f"observed cells, so EM fits them almost exactly whatever the missing ones are. {way}"
        )
    times = np.sqrt(table.growth(trial.completed))
    if r and times.max() > RUNAWAY:
        warn(
            f"{owner}: the completed column {int(times.argmax())} varies {times.max():.3g} times as much as its "
            f"observed cells do: the model is fitted to noise, or the incomplete rows differ from the others. {way}"
        )

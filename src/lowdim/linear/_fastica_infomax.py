"""The unmixing matrix W of whitened samples, by FastICA (one direction after another or all at once) or infomax.

All algorithms stop when no row of W rotates by more than `tol` (in radians) in a step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy import linalg
from scipy.optimize import linear_sum_assignment

from lowdim._core.iterate import Callback, iterate
from lowdim._core.runtime import threads
from lowdim.linear._contrast import CONTRASTS, Contrast
from lowdim.linear._whitened import Averages, White

Array = np.ndarray

CYCLE = 50  # steps after which FastICA that has not converged is taken to cycle
SAMPLE = 5000  # samples of the first run (benchmarks/cases/ica.py)
MEMORY = 7  # steps of the limited-memory quasi-Newton direction
FLOOR = 1e-3  # least curvature in the quasi-Newton direction
LOOSE = 0.03  # radians: tolerance of the run for uncorrelated sources from which the one for independent ones starts
FLIPS = 3  # how often a source may change between peaked and flat


@dataclass(frozen=True, eq=False)
class Unmixing:
    """W, and how its iteration ended."""

    W: Array
    n_iter: int
    converged: bool
    value: Array | None = None  # E[G(y)], where the iteration knows it for rows of length 1
    stopped: bool = False  # by the callback


@dataclass(frozen=True)
class Limits:
    """When to stop, and what sees the progress."""

    tol: float
    max_iter: int
    verbose: int | bool = 0
    callback: Callback | None = None  # sees W

    def run(
        self, step: Callable[[Any], tuple[Any, float]], start: Any, show: Callable[[Any], Array]
    ) -> tuple[Any, Unmixing]:
        """`iterate` with the size of the step as loss, until it is small; the last state, and `show` of it as W."""
        run = iterate(
            step,
            start,
            max_iter=self.max_iter,
            tol=0.0,
            criterion="absolute",
            owner="ICA",
            until=lambda i, state, turn: turn <= self.tol,
            callback=self.callback,
            show=show,
            verbose=self.verbose,
            warn=False,
        )
        converged = bool(run.losses[-1] <= self.tol) and not run.stopped
        return run.state, Unmixing(show(run.state), run.n_iter, converged, stopped=run.stopped)


def unmix(white: White, start: Array, solve: Callable[..., Unmixing], rng: np.random.Generator) -> Unmixing:
    """`solve(white, start, rough, near)` on all samples; of very many, first roughly on a subsample."""
    m = max(SAMPLE, 10 * white.k**2)
    with threads.single_blas():  # k x k matrices: a second thread costs more than it saves
        if white.n < 4 * m:
            return solve(white, start, rough=False, near=False)
        first = solve(white.sample(m, rng), start, rough=True, near=False)
        if first.stopped:
            return replace(first, value=None)
        return solve(white, first.W, rough=False, near=True)


def orthogonal(W: Array) -> Array:
    """The nearest matrix with orthonormal rows, (W W')^-1/2 W."""
    U, _, Vt = linalg.svd(W)
    return U @ Vt


# ---- FastICA ----------------------------------------------------------------------------------------------------


def parallel(white: White, start: Array, contrast: Contrast, limits: Limits) -> Unmixing:
    """All directions at once: w <- E[z g(w'z)] - E[g'(w'z)] w, then W <- (W W')^-1/2 W."""

    def step(state: tuple[Array, Array | None]) -> tuple[tuple[Array, Array | None], float]:
        W, _ = state
        found = white.averages(W, contrast)
        new = orthogonal(found.cross - found.slope[:, None] * W)
        turned = new @ W.T
        np.fill_diagonal(turned, 0.0)
        return (new, found.value), float(np.linalg.norm(turned, axis=1).max())

    first = replace(limits, max_iter=min(CYCLE, limits.max_iter))
    (_, value), found = first.run(step, (orthogonal(start), None), lambda state: state[0])
    # The value of the last step but one: it is stationary where the iteration converges.
    found = replace(found, value=value if found.converged and contrast.has_value else None)
    left = limits.max_iter - found.n_iter
    if found.converged or found.stopped or left == 0 or not contrast.has_value:
        return found
    # It cycles, as happens among near-Gaussian sources: the same fixed points by line searches.
    last = _quasi_newton(white, found.W, rotation, contrast, replace(limits, max_iter=left))
    return replace(last, n_iter=found.n_iter + last.n_iter)


def deflation(white: White, start: Array, contrast: Contrast, limits: Limits) -> Unmixing:
    """One direction after another, each orthogonal to those before."""
    W, runs = np.zeros_like(start), list[Unmixing]()
    for i in range(len(start)):
        W[i] = _orthogonal_to(W[:i], start[i : i + 1])[0]
        if runs and runs[-1].stopped:
            continue
        first, step = W[i : i + 1].copy(), partial(_pursue, white, contrast, W[:i])
        show = partial(_with_row, W, i)
        (w, _), run = limits.run(step, (first, white.averages(first, contrast)), show)
        W[i] = w[0]
        runs.append(run)
    converged, stopped = all(run.converged for run in runs), runs[-1].stopped
    return Unmixing(W, max(run.n_iter for run in runs), converged, stopped=stopped)


def _with_row(W: Array, i: int, state: tuple[Array, Averages]) -> Array:
    """W with the direction that is being sought in row i."""
    W = W.copy()
    W[i] = state[0][0]
    return W


def _pursue(
    white: White, contrast: Contrast, before: Array, state: tuple[Array, Averages]
) -> tuple[tuple[Array, Averages], float]:
    """The step of FastICA, w - (E[z g] - E[y g] w) / (E[g'] - E[y g]), halved until the contrast gets more extreme."""
    w, here = state
    along = float((here.cross @ w.T)[0, 0])
    bend = float(here.slope[0]) - along
    across = here.cross - along * w
    across = across - (across @ before.T) @ before
    move = -across / np.copysign(max(abs(bend), 1e-12), bend)
    move /= np.hypot(1.0, np.linalg.norm(move))
    slack = 8 * float(np.finfo(white.dtype).eps) * abs(here.value[0])
    for halvings in range(12 if contrast.has_value else 1):
        new = _orthogonal_to(before, w + move * 0.5**halvings)
        there = white.averages(new, contrast)
        if not contrast.has_value or (there.value[0] - here.value[0]) * np.sign(bend) <= slack:
            return (new, there), float(np.linalg.norm(move)) * 0.5**halvings
    return state, float(np.linalg.norm(move))


def _orthogonal_to(before: Array, w: Array) -> Array:
    """w made orthogonal to the rows before, of length 1; projected twice, as once leaves rounding."""
    for _ in range(2):
        w = w - (w @ before.T) @ before
        length = float(np.linalg.norm(w))
        if length < 1e-12:  # nothing left: take any orthogonal direction
            w = linalg.null_space(before)[:, :1].T if len(before) else np.eye(1, w.shape[1])
            length = 1.0
        w = w / length
    return w


# ---- infomax ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Likelihood:
    """The loss at W, with its derivatives; the kind of each source is +1 (peaked) or -1 (flat)."""

    W: Array
    found: Averages
    kinds: Array
    wanted: Array  # the kind of each source by its samples
    loss: float
    gradient: Array  # of the loss in E, for W + E W
    newton: Callable[[Array], Array]  # approximate inverse Hessian
    moved: Callable[[Array], Array]  # E -> the new W


def likelihood(W: Array, found: Averages, kinds: Array | None = None) -> Likelihood:
    """Sources of density 1 / cosh y (peaked) or exp(-y²/2) cosh y (flat); E[y y'] = W W', as z is white."""
    own, cross = W @ W.T, found.cross @ W.T
    wanted = np.where(found.slope * np.diag(own) >= np.diag(cross), 1.0, -1.0)
    kinds = wanted if kinds is None else kinds
    flat = kinds < 0
    loss = 0.5 * np.diag(own)[flat].sum() + kinds @ found.value - np.linalg.slogdet(W)[1]
    gradient = flat[:, None] * own + kinds[:, None] * cross - np.eye(len(W))
    H = np.outer(flat + kinds * found.slope, np.diag(own))
    return Likelihood(W, found, kinds, wanted, float(loss), gradient, lambda G: _by_pairs(G, H), lambda E: W + E @ W)


def rotation(W: Array, found: Averages, kinds: Array | None = None) -> Likelihood:
    """The same for uncorrelated sources: W stays orthogonal, E is antisymmetric, and E[y y'] = I drops out."""
    cross = found.cross @ W.T
    wanted = np.where(found.slope >= np.diag(cross), 1.0, -1.0)
    kinds = wanted if kinds is None else kinds
    cross = kinds[:, None] * cross
    bend = kinds * found.slope - np.diag(cross)
    H = np.maximum(0.5 * (bend[:, None] + bend), FLOOR)
    loss, gradient = float(kinds @ found.value), 0.5 * (cross - cross.T)
    return Likelihood(
        W, found, kinds, wanted, loss, gradient, lambda G: G / H, lambda E: orthogonal(linalg.expm(E) @ W)
    )


def _by_pairs(G: Array, H: Array) -> Array:
    """Entries (i, j) and (j, i) meet in the matrix [[h_ij, 1], [1, h_ji]], shifted to be positive definite."""
    lowest = 0.5 * (H + H.T - np.sqrt((H - H.T) ** 2 + 4))
    H = H + np.maximum(FLOOR - lowest, 0.0)
    solved = (H.T * G - G.T) / (H * H.T - 1)
    np.fill_diagonal(solved, np.diag(G) / (np.diag(H) + 1))
    return solved


def infomax(white: White, start: Array, limits: Limits, *, uncorrelated: bool, near: bool = False) -> Unmixing:
    """Maximum likelihood; from a start that is not near the solution, the best rotation first, which is more robust."""
    found, contrast = Unmixing(start, 0, True), CONTRASTS["logcosh"]
    if uncorrelated or not near:
        first = limits if uncorrelated else replace(limits, tol=max(limits.tol, LOOSE))
        found = _quasi_newton(white, orthogonal(start), rotation, contrast, first)
    if uncorrelated or found.stopped:
        return found
    last = _quasi_newton(white, found.W, likelihood, contrast, limits)
    return replace(last, n_iter=found.n_iter + last.n_iter)


def _quasi_newton(
    white: White, start: Array, model: Callable[..., Likelihood], contrast: Contrast, limits: Limits
) -> Unmixing:
    """Limited-memory quasi-Newton steps on the relative gradient, each with a line search."""
    slack = 8 * len(start) * float(np.finfo(white.dtype).eps)  # of the loss: what rounding adds

    def at(W: Array, kinds: Array | None = None) -> Likelihood:
        return model(W, white.averages(W, contrast), kinds)

    def step(state: tuple[Likelihood, tuple, Array]) -> tuple[tuple[Likelihood, tuple, Array], float]:
        here, memory, flips = state
        turned = (here.wanted != here.kinds) & (flips < FLIPS)
        if turned.any():
            here, memory = model(here.W, here.found, np.where(turned, here.wanted, here.kinds)), ()
        for past in (memory, ()) if memory else ((),):
            direction = -_two_loops(here, past)
            direction /= np.hypot(1.0, np.abs(direction).max())  # no further than one radian
            if np.vdot(direction, here.gradient) < 0 and (moved := _line_search(here, direction, at, slack)):
                there, taken = moved
                memory = (*past, (taken, there.gradient - here.gradient))[-MEMORY:]
                return (there, memory, flips + turned), float(np.abs(taken).max())
        return (here, (), flips + turned), float(np.abs(direction).max())

    return limits.run(step, (at(start), (), np.zeros(len(start))), lambda state: state[0].W)[1]


def _line_search(
    here: Likelihood, direction: Array, at: Callable[..., Likelihood], slack: float
) -> tuple[Likelihood, Array] | None:
    """The first of the steps 1, 1/2, 1/4, ... that lowers the loss, and its size; None where none does."""
    for halvings in range(12):
        taken = direction * 0.5**halvings
        there = at(here.moved(taken), here.kinds)
        if there.loss <= here.loss + slack * abs(here.loss):
            return there, taken
    return None


def _two_loops(here: Likelihood, memory: tuple) -> Array:
    """H^-1 times the gradient by the recursion of Nocedal (1980), from the Hessian that independent sources have."""
    q, used = here.gradient.copy(), []
    for taken, change in reversed(memory):
        bend = float(np.vdot(taken, change))
        if bend <= 0:  # negative curvature: the pair is left out
            continue
        a = np.vdot(taken, q) / bend
        q -= a * change
        used.append((taken, change, bend, a))
    q = here.newton(q)
    for taken, change, bend, a in reversed(used):
        q += (a - np.vdot(change, q) / bend) * taken
    return q


# ---- several starts ----------------------------------------------------------------------------------------------


def unit(run: Unmixing) -> Unmixing:
    """The same with sources of variance 1, which are the rows of W scaled to length 1."""
    return replace(run, W=run.W / np.linalg.norm(run.W, axis=1, keepdims=True))


def stability(W: Array, others: list[Array]) -> Array:
    """Mean absolute correlation of each source with its match in the runs from other starts (rows of length 1)."""
    total = np.zeros(len(W))
    for other in others:
        alike = np.abs(W @ other.T)
        total += alike[linear_sum_assignment(alike, maximize=True)]
    return total / len(others)

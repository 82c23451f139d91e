"""Several random starts of a small network, each for a few rounds of L-BFGS, then the best of them to convergence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from lowdim._core.callbacks import Relay
from lowdim._core.iterate import Callback, Progress
from lowdim._core.runtime import threads
from lowdim._core.runtime.notices import warn
from lowdim._core.runtime.rng import generator
from lowdim.latent._lbfgs import minimise

Array = np.ndarray
ROUNDS = 3  # of a start, with codes improved between
ROUND_STEPS = 100


class Problem(Protocol):
    """What is minimised, over one flat vector of parameters."""

    def initial(self, rng: np.random.Generator) -> Array:
        """Random parameters to start from."""

    def loss(self, x: Array) -> tuple[float, Array]:
        """Loss and gradient."""

    def improve_codes(self, x: Array) -> Array:
        """Better parameters that no gradient step finds."""

    def embedding(self, x: Array) -> Array:
        """The codes of the rows."""


@dataclass(frozen=True)
class Restarts:
    """How a small network is trained."""

    owner: str
    n_init: int
    max_iter: int
    tol: float
    callback: Callback | None
    n_jobs: int | None
    verbose: int | bool


@dataclass(frozen=True, eq=False)
class Found:
    """The parameters kept, and how they were found."""

    x: Array
    loss: float
    losses: Array  # after each step of the start that was kept
    restarts: Array  # the loss of each start after its first rounds
    converged: bool
    stopped: bool  # by the callback


@dataclass(frozen=True, eq=False)
class _Rounds:
    """One start after its first rounds."""

    x: Array
    loss: float
    losses: Array


def train(problem: Problem, settings: Restarts, rng: np.random.Generator, order: Array | None = None) -> Found:
    """Short rounds from every start, then the best one to convergence.

    The callback sees the codes with row i of the problem at row ``order[i]``. With a callback the starts run one after
    the other, so that what it stops does not depend on `n_jobs`.
    """
    watch = None if settings.callback is None else Relay(settings.callback)
    step = None if watch is None else _step(watch, problem, order)
    seeds = rng.integers(2**62, size=settings.n_init)

    def first_rounds(part: slice) -> _Rounds | None:
        if watch is not None and watch.stopped:
            return None
        return _first_rounds(problem, settings, generator(int(seeds[part][0])), step)

    n_jobs = settings.n_jobs if watch is None else 1
    with Progress(settings.owner, settings.n_init, settings.verbose) as progress:
        runs = [run for run in threads.map_rows(first_rounds, settings.n_init, 1, n_jobs, progress) if run is not None]
    best, restarts = min(runs, key=lambda run: run.loss), np.array([run.loss for run in runs])
    if watch is not None and watch.stopped:
        return Found(best.x, best.loss, best.losses, restarts, False, True)
    with Progress(settings.owner, settings.max_iter, settings.verbose) as progress, threads.single_blas():
        last = minimise(
            problem.loss,
            problem.improve_codes(best.x),
            max_iter=settings.max_iter,
            tol=settings.tol,
            owner=settings.owner,
            progress=progress,
            callback=step,
        )
    losses = np.concatenate([best.losses, last.losses])
    return Found(last.x, last.loss, losses, restarts, last.converged, last.stopped)


def _step(watch: Relay, problem: Problem, order: Array | None) -> Callable[[float, Array], bool]:
    """The callback of one step, with the codes in the order of the user's rows."""

    def step(loss: float, x: Array) -> bool:
        codes = problem.embedding(x)
        return watch(loss, codes if order is None else codes[np.argsort(order)])

    return step


def _first_rounds(problem: Problem, settings: Restarts, rng: np.random.Generator, step: Any) -> _Rounds:
    x, losses = problem.initial(rng), []
    for turn in range(ROUNDS):
        x = problem.improve_codes(x) if turn else x
        steps = min(ROUND_STEPS, settings.max_iter)
        run = minimise(problem.loss, x, max_iter=steps, tol=settings.tol, owner=settings.owner, callback=step)
        x = run.x
        losses.append(run.losses)
        if run.stopped:
            break
    return _Rounds(x, run.loss, np.concatenate(losses))


def warn_unconverged(found: Found, settings: Restarts) -> None:
    """A warning where `max_iter` ended the training."""
    if not (found.converged or found.stopped):
        warn(
            f"{settings.owner}: not converged after max_iter={settings.max_iter} steps (loss {found.loss:.6g}, "
            f"tol={settings.tol:g}). Raise max_iter or tol.",
            ConvergenceWarning,
        )

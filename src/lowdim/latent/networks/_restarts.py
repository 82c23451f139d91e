"""Several starts of a small network, each for a few rounds, then the best of them to its end."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from lowdim._core.iterate import Progress
from lowdim._core.runtime import threads
from lowdim._core.runtime.notices import warn
from lowdim._core.runtime.rng import generator
from lowdim.latent.networks._lbfgs import descend

Array = np.ndarray
ROUNDS = 3  # of a start, with jumps between
ROUND_STEPS = 100


class Found(NamedTuple):
    """The parameters kept, and the way to them."""

    x: Array
    loss: float
    losses: Array
    restarts: Array
    converged: bool


def train(problem: Any, model: Any, rng: np.random.Generator) -> Found:
    """Short rounds from every start, then the best one to its end.

    A problem has `start(rng)`, `loss(x)` with its derivatives, and `jump(x)`: better parameters that no descent finds.
    """
    owner, seeds = type(model).__name__, rng.integers(2**62, size=model.n_init)
    rounds = min(ROUND_STEPS, model.max_iter)

    def first_rounds(part: slice) -> tuple[Array, float, Array]:
        x, losses = problem.start(generator(int(seeds[part][0]))), []
        for turn in range(ROUNDS):
            x = problem.jump(x) if turn else x
            run = descend(problem.loss, x, max_iter=rounds, tol=model.tol, owner=owner)
            x = run.x
            losses.append(run.losses)
        return x, run.loss, np.concatenate(losses)

    with Progress(owner, model.n_init, model.verbose) as progress:
        runs = threads.map_rows(first_rounds, model.n_init, 1, model.n_jobs, progress)
    x, _, losses = min(runs, key=lambda run: run[1])
    with Progress(owner, model.max_iter, model.verbose) as progress, threads.single_blas():
        settings = {"max_iter": model.max_iter, "tol": model.tol, "owner": owner, "progress": progress}
        last = descend(problem.loss, problem.jump(x), **settings)
    restarts = np.array([run[1] for run in runs])
    return Found(last.x, last.loss, np.concatenate([losses, last.losses]), restarts, last.converged)


def keep_run(model: Any, found: Found) -> None:
    """How the training went, as attributes; a warning where it is unfinished."""
    model.loss_, model.loss_curve_, model.restart_losses_ = found.loss, found.losses, found.restarts
    model.n_iter_, model.converged_ = len(found.losses), found.converged
    if not found.converged:
        warn(
            f"{type(model).__name__}: not converged after max_iter={model.max_iter} steps (loss {found.loss:.6g}, "
            f"tol={model.tol:g}). Raise max_iter or tol.",
            ConvergenceWarning,
        )

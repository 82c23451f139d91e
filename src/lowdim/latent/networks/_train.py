"""Training with PyTorch: mini-batches or all rows, held-out rows, several starts, and a state that can be resumed.

A loss is an object with `initial(rng, trainer)` (flat parameters), `loss(x, rows, noise)` (what is minimised),
`error(x, rows)` (what held-out rows are judged by) and `codes(x, rows)`. Parameters are one flat vector. Random numbers
are drawn on the CPU for every device, so that a GPU trains on the same batches and noise.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from lowdim._core.callbacks import Relay
from lowdim._core.iterate import Callback, Progress
from lowdim._core.runtime import threads
from lowdim._core.runtime.notices import warn
from lowdim._core.runtime.rng import generator
from lowdim.latent._lbfgs import minimise
from lowdim.latent.networks import _plateau, _torch
from lowdim.latent.networks._checkpoint import ARRAYS, Checkpoint, State, Trained

Array = np.ndarray
SCHEDULES = ("plateau", "cosine", "constant")
SMALL = 2**20  # cells: up to here in double precision and on one thread, whatever `n_jobs`
ROUND_STEPS = 200  # of L-BFGS between two checkpoints
DIVERGED = 100.0  # times the first loss: the learning rate is too large
RETREATS = 5  # times the learning rate may be divided by ten


@dataclass(frozen=True)
class Training:
    """How a network is trained."""

    owner: str
    full_batch: bool  # all rows at once, by L-BFGS; otherwise mini-batches, by Adam
    batch_size: int
    learning_rate: float
    schedule: str
    held_out: float
    patience: int
    n_init: int
    max_iter: int
    tol: float
    callback: Callback | None
    device: str
    n_jobs: int | None
    verbose: int | bool


def train(
    objective: Any,
    rows: Array,
    order: Array,
    training: Training,
    checkpoint: Checkpoint,
    rng: np.random.Generator,
    trainer: Any = None,
) -> Trained:
    """Minimise a loss over scaled rows; row i is row ``order[i]`` of the user, whose callback sees the codes.

    `trainer` makes another `Trainer` of the same arguments.
    """
    seed, begun = int(rng.integers(2**62)), checkpoint.read()
    seed = seed if begun is None else int(begun[0]["seed"])  # without a seed of the user's, that of the file
    with _torch.cores(1 if rows.size <= SMALL else training.n_jobs, training.owner):
        return (trainer or Trainer)(objective, rows, order, training, checkpoint, seed).run()


class Trainer:
    """One training: the rows on their device, the settings, and the file of its state."""

    def __init__(
        self, objective: Any, rows: Array, order: Array, training: Training, checkpoint: Checkpoint, seed: int
    ) -> None:
        self.objective, self.rows, self.order = objective, rows, order
        self.training, self.checkpoint, self.seed = training, checkpoint, seed
        self.torch = _torch.load(training.owner)
        self.dtype = np.float64 if training.full_batch or rows.size <= SMALL else np.float32
        shuffled = generator(seed).permutation(len(rows))
        count = round(training.held_out * len(rows)) if len(rows) >= 10 else 0
        self.held_rows, self.train_rows = np.sort(shuffled[:count]), np.sort(shuffled[count:])
        self.X, self.n_trained = self.tensor(rows[self.train_rows]), len(self.train_rows)
        self.X_held = self.tensor(rows[self.held_rows]) if count else self.X
        self.watch = None if training.callback is None else Relay(training.callback)

    def tensor(self, A: Array) -> Any:
        """An array on the device of the training."""
        return self.torch.as_tensor(np.ascontiguousarray(A, dtype=self.dtype), device=self.training.device)

    @property
    def stopped(self) -> bool:
        """Whether the callback stopped the fit."""
        return self.watch is not None and self.watch.stopped

    def run(self) -> Trained:
        """Every start in turn, or those that a checkpoint leaves; the best is kept."""
        n_init = self.training.n_init
        begun, best = self._resume()
        restarts = list(begun["restarts"]) if begun else []
        for start in range(len(restarts), n_init):
            state = self._state(start, begun if begun and begun["start"] == start else None)
            self._train(state, start, restarts, best)
            if self.stopped:  # a later fit may go on from here
                self._save(state, start, restarts, best, now=True)
            restarts.append(state.best_loss)
            if best is None or state.best_loss < best.best_loss:
                best = state
            if self.stopped:
                break
        if best is None:
            raise RuntimeError(f"{self.training.owner}: no start was trained.")
        if not self.stopped:
            self._save(best, n_init, restarts, best, now=not begun or begun["start"] < n_init)
        self._warn(best, best.done)
        curves = np.array(best.losses), np.array(best.held if len(self.held_rows) else [])
        converged = best.done and not self.stopped
        return Trained(best.best, *curves, np.array(restarts), converged, self.train_rows, self.held_rows)

    def _warn(self, best: State, ended: bool) -> None:
        owner, rate = self.training.owner, self.training.learning_rate
        if best.retreats:
            warn(
                f"{owner}: the loss diverged with learning_rate={rate:g}; training went on from the best weights with "
                f"{rate * best.rate:g}.",
                ConvergenceWarning,
            )
        if not (ended or self.stopped):
            warn(
                f"{owner}: not converged after max_iter={self.training.max_iter} epochs: the loss, "
                f"{best.losses[-1]:.6g}, was still decreasing or may have been. Raise max_iter (with `checkpoint` "
                "training goes on), learning_rate or tol.",
                ConvergenceWarning,
            )

    # ---- the state, in memory and on disk -------------------------------------------------------------------

    def _resume(self) -> tuple[dict[str, Any] | None, State | None]:
        """What a checkpoint holds: the start to go on with, and the best of those before it."""
        found, n_init = self.checkpoint.read(), self.training.n_init
        if found is None:
            return None, None
        values, arrays = found
        best = None
        if values["best"] is not None:
            best = State.of({name: arrays[f"best_of_{name}"] for name in ARRAYS}, values["best"])
        current = {name: array for name, array in arrays.items() if "best_of_" not in name}
        if values["start"] == n_init and best is not None:  # all done, perhaps with fewer epochs
            if best.done or self.training.max_iter <= best.epoch:
                return values, best
            values |= {"start": n_init - 1, "restarts": values["restarts"][:-1], "state": values["best"]}
            current, best = best.arrays() | {"noise": arrays["noise"]}, None
        return values | {"arrays": current}, best

    def _state(self, start: int, begun: dict[str, Any] | None) -> State:
        self.rng = generator(self.seed + 1 + start)
        self.noise = _torch.stream(self.rng, self.training.owner)
        if not begun:
            return State.at(self.objective.initial(self.rng, self).astype(self.dtype))
        state = State.of(begun["arrays"], begun["state"])
        self.rng.bit_generator.state = begun["rng"]
        self.noise.set_state(self.torch.as_tensor(begun["arrays"]["noise"]))
        return state

    def _save(self, state: State, start: int, restarts: list[float], best: State | None, now: bool = False) -> None:
        if self.checkpoint.path is None or not hasattr(self, "rng"):  # without rng: nothing was left to train
            return
        arrays = state.arrays() | {"noise": self.noise.get_state().numpy()}
        if best is not None:
            arrays |= {f"best_of_{name}": array for name, array in best.arrays().items()}
        values = {"seed": self.seed, "start": start, "restarts": restarts, "rng": self.rng.bit_generator.state}
        values |= {"state": state.values(), "best": None if best is None else best.values()}
        self.checkpoint.write(values, arrays, now=now)

    # ---- one start ------------------------------------------------------------------------------------------

    def _train(self, state: State, start: int, restarts: list[float], best: State | None) -> None:
        epoch = self._full_batch_round if self.training.full_batch else self.epoch
        with Progress(self.training.owner, self.training.max_iter, self.training.verbose) as progress:
            progress.done = state.epoch
            while not (state.done or self.stopped) and state.epoch < self.training.max_iter:
                epoch(state, progress)
                self._save(state, start, restarts, best)

    def _judge(self, state: State, x: Array, loss: float) -> bool:
        """Keep the best weights; True (for L-BFGS) once they have not improved for `patience` epochs."""
        judged = loss
        if len(self.held_rows):
            with self.torch.no_grad():
                judged = float(self.objective.error(self.tensor(x), self.X_held))
            state.held.append(judged)
        if judged < state.best_loss * (1 - math.copysign(self.training.tol, state.best_loss)):
            state.stalled = 0
        else:
            state.stalled += 1
        if judged < state.best_loss:
            state.best, state.best_loss = x.copy(), judged
        return state.stalled >= self.training.patience

    def _report(self, loss: float, x: Array) -> bool:
        """Call the callback with the codes of all rows, in the user's order."""
        if self.watch is None:
            return False
        codes = self.objective.codes(x.astype(np.float64), self.rows)
        return self.watch(loss, codes[np.argsort(self.order)])

    def _full_batch_round(self, state: State, progress: Progress) -> None:
        """Steps of L-BFGS, each of which counts as an epoch."""
        current: dict[str, float] = {}

        def objective(x: Array) -> tuple[float, Array]:
            point = self.tensor(x).requires_grad_()
            loss = self.objective.loss(point, self.X, None)
            (slope,) = self.torch.autograd.grad(loss, point)
            current["loss"] = float(loss.detach())
            return current["loss"], slope.cpu().numpy()

        held = len(self.held_rows)
        run = minimise(
            objective,
            state.x,
            max_iter=min(ROUND_STEPS, self.training.max_iter - state.epoch),
            tol=self.training.tol,
            owner=self.training.owner,
            progress=progress,
            until=(lambda x: self._judge(state, x, current["loss"])) if held else None,
            callback=None if self.watch is None else self._report,
        )
        state.x, state.epoch = run.x, state.epoch + max(1, len(run.losses))
        state.losses += run.losses.tolist()
        state.done = run.converged
        if not held and run.loss < state.best_loss:
            state.best, state.best_loss = run.x.copy(), run.loss

    def epoch(self, state: State, progress: Progress) -> None:
        """All mini-batches once, by Adam; back to the best weights where the loss diverges."""
        x, first, second = (self.tensor(getattr(state, name)) for name in ("x", "first", "second"))
        total = self.torch.zeros((), device=self.training.device, dtype=x.dtype)
        rate, steps, known = self._rate(state), state.steps, state.losses[0] if state.losses else math.nan
        for rows in self.batches():
            point = x.detach().requires_grad_()
            loss = self.objective.loss(point, rows, self.noise)
            (slope,) = self.torch.autograd.grad(loss, point)
            known = float(loss.detach()) if math.isnan(known) else known
            steps += 1
            _torch.adam(x, slope, first, second, rate, steps)
            total += loss.detach() * len(rows)
        loss = float(total) / self.n_trained
        if not math.isfinite(loss) or not bool(self.torch.isfinite(x).all()) or loss > DIVERGED * (1 + abs(known)):
            self._retreat(state)
            return
        state.x, state.first, state.second = (tensor.cpu().numpy().copy() for tensor in (x, first, second))
        state.steps, state.epoch = steps, state.epoch + 1
        state.losses.append(loss)
        progress.advance(f"loss {loss:.6g}")
        self._judge(state, state.x, loss)
        self._slow_down(state, share=rate / (self.training.learning_rate * state.rate))
        self._report(loss, state.x)

    def batches(self) -> Iterator[Any]:
        """Mini-batches of all rows, in another order in each epoch."""
        order = self.torch.as_tensor(self.rng.permutation(len(self.X)), device=self.training.device)
        return (self.X[order[batch]] for batch in threads.blocks(len(self.X), self.training.batch_size))

    def _slow_down(self, state: State, share: float) -> None:
        """At a plateau: smaller steps from the best weights, or the end. `share` is left of the rate by a cosine."""
        judged = state.held if len(self.held_rows) else state.losses
        gained, since = max(judged[0], *judged) - state.best_loss, judged[state.begun :]
        window = _plateau.window(self.training.patience, -(-self.n_trained // self.training.batch_size), state.decays)
        if share < _plateau.LEAST_RATE or not _plateau.reached(since, window, self.training.tol, gained):
            return
        if self.training.schedule != "plateau" or state.decays == _plateau.DECAYS:
            state.done = True
            return
        state.x, state.rate, state.decays = state.best.copy(), state.rate / _plateau.DECAY, state.decays + 1
        state.begun = len(judged)

    def pretrain(self, objective: Any, rows: Any, x: Array, epochs: int, rng: np.random.Generator) -> Array:
        """Some epochs of the loss of a single layer, from the weights x."""
        point, first, second = self.tensor(x), self.tensor(0 * x), self.tensor(0 * x)
        for step in range(epochs):
            order = self.torch.as_tensor(rng.permutation(len(rows)), device=self.training.device)
            batches = threads.blocks(len(rows), self.training.batch_size)
            for i, batch in enumerate(batches):
                leaf = point.detach().requires_grad_()
                (slope,) = self.torch.autograd.grad(objective.loss(leaf, rows[order[batch]], None), leaf)
                _torch.adam(point, slope, first, second, self.training.learning_rate, step * len(batches) + i + 1)
        return point.cpu().numpy()

    def _rate(self, state: State) -> float:
        rate = self.training.learning_rate * state.rate
        if self.training.schedule == "cosine":
            rate *= 0.5 * (1 + math.cos(math.pi * state.epoch / self.training.max_iter))
        return rate

    def _retreat(self, state: State) -> None:
        """Go on from the best weights, with a tenth of the learning rate."""
        if state.retreats == RETREATS:
            raise ValueError(
                f"{self.training.owner}: the loss diverged with learning_rate={self.training.learning_rate:g}, and "
                f"with one {10**RETREATS:,} times smaller too. Lower learning_rate, or look for outliers in X."
            )
        state.x, state.first, state.second = state.best.copy(), 0 * state.first, 0 * state.second
        state.steps, state.rate, state.retreats = 0, state.rate / 10, state.retreats + 1

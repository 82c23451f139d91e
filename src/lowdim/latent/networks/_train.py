"""Training with PyTorch: mini-batches or all rows, a held-out share, restarts, and a state that survives a kill.

A loss is an object with `start(rng)` (flat parameters), `loss(x, rows, noise)` (what is minimised) and `error(x, rows)`
(what held-out rows are judged by). Parameters are one flat vector. Random numbers come from the CPU on any device, so
that a GPU trains on the same batches and noise.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from lowdim._core.iterate import Progress
from lowdim._core.runtime import threads
from lowdim._core.runtime.notices import warn
from lowdim._core.runtime.rng import generator
from lowdim.latent.networks import _torch
from lowdim.latent.networks._checkpoint import Checkpoint
from lowdim.latent.networks._lbfgs import descend

Array = np.ndarray
SMALL = 2**20  # cells: up to here in double precision and on one thread, whatever `n_jobs`
ROUND_STEPS = 200  # of L-BFGS between two checkpoints
BETAS, TINY = (0.9, 0.999), 1e-8  # of Adam (Kingma and Ba, 2015)
RUNAWAY = 100.0  # times the first loss: the learning rate is too large
ARRAYS = ("x", "first", "second", "best")  # of a state
RETREATS = 5  # times the learning rate may be divided by ten


@dataclass(eq=False)
class State:
    """All that the next epoch depends on, for one start."""

    x: Array
    first: Array
    second: Array
    best: Array
    best_loss: float = math.inf
    steps: int = 0
    epoch: int = 0
    stalled: int = 0
    rate: float = 1.0  # what the learning rate is multiplied by, beside its schedule
    retreats: int = 0
    losses: list[float] = field(default_factory=list)
    held: list[float] = field(default_factory=list)
    done: bool = False

    @classmethod
    def at(cls, x: Array) -> State:
        return cls(x, np.zeros_like(x), np.zeros_like(x), x.copy())

    def arrays(self) -> dict[str, Array]:
        return {name: getattr(self, name) for name in ARRAYS}

    def values(self) -> dict[str, Any]:
        held = ("best_loss", "steps", "epoch", "stalled", "rate", "retreats", "losses", "held", "done")
        return {name: getattr(self, name) for name in held}


def _state_of(arrays: dict[str, Array], values: dict[str, Any]) -> State:
    """A state as it was written."""
    x, first, second, best = (arrays[name].copy() for name in ARRAYS)
    return State(x, first, second, best, **values)


@dataclass(frozen=True, eq=False)
class Trained:
    """The parameters kept, and the way to them."""

    x: Array
    losses: Array
    held: Array
    restarts: Array
    converged: bool
    train_rows: Array  # of the rows given: those trained on
    held_rows: Array


class Trainer:
    """One training: the rows on their device, the settings of an estimator, and where its state goes."""

    def __init__(self, model: Any, objective: Any, rows: Array, seed: int, checkpoint: Checkpoint) -> None:
        self.model, self.objective, self.owner = model, objective, type(model).__name__
        self.torch, self.checkpoint, self.seed = _torch.load(self.owner), checkpoint, seed
        self.full_batch = model.solver_ == "lbfgs"
        self.kind = np.float64 if self.full_batch or rows.size <= SMALL else np.float32
        order = generator(seed).permutation(len(rows))
        count = round(model.held_out * len(rows)) if len(rows) >= 10 else 0
        self.held_rows, self.train_rows = np.sort(order[:count]), np.sort(order[count:])
        self.device = model.device_
        self.X = self._move(rows[self.train_rows])
        self.X_held = self._move(rows[self.held_rows]) if count else self.X

    def _move(self, A: Array) -> Any:
        return self.torch.as_tensor(np.ascontiguousarray(A, dtype=self.kind), device=self.device)

    def run(self) -> Trained:
        """Every start in turn, or what is left of them; the best is kept."""
        begun, best = self._resume()
        restarts = list(begun["restarts"]) if begun else []
        for start in range(len(restarts), self.model.n_init):
            state = self._state(start, begun if begun and begun["start"] == start else None)
            self._train(state, start, restarts, best)
            restarts.append(state.best_loss)
            if best is None or state.best_loss < best.best_loss:
                best = state
        if best is None:
            raise RuntimeError(f"{self.owner}: no start was trained.")
        self._save(best, self.model.n_init, restarts, best, now=not begun or begun["start"] < self.model.n_init)
        # At the end of a cosine the learning rate is 0: there is nothing left to do.
        converged = best.done or (not self.full_batch and self.model.schedule == "cosine")
        self._say(best, converged)
        curves = np.array(best.losses), np.array(best.held if len(self.held_rows) else [])
        return Trained(best.best, *curves, np.array(restarts), converged, self.train_rows, self.held_rows)

    def _say(self, best: State, converged: bool) -> None:
        if best.retreats:
            warn(
                f"{self.owner}: the loss ran away with learning_rate={self.model.learning_rate:g}; training went on "
                f"from the best weights with {self.model.learning_rate * best.rate:g}.",
                ConvergenceWarning,
            )
        if not converged:
            warn(
                f"{self.owner}: not converged after max_iter={self.model.max_iter} epochs "
                f"(loss {best.losses[-1]:.6g}). Raise max_iter (with `checkpoint` training goes on), learning_rate "
                "or tol.",
                ConvergenceWarning,
            )

    # ---- the state, in memory and on disk -------------------------------------------------------------------

    def _resume(self) -> tuple[dict[str, Any] | None, State | None]:
        found = self.checkpoint.read()
        if found is None:
            return None, None
        values, arrays = found
        best = None
        if values["best"] is not None:
            best = _state_of({name: arrays[f"best_of_{name}"] for name in ARRAYS}, values["best"])
        parts = {name: array for name, array in arrays.items() if "best_of_" not in name}
        if values["start"] == self.model.n_init and best is not None:  # all done, perhaps with fewer epochs
            if best.done or self.model.max_iter <= best.epoch:
                return values, best
            values |= {"start": self.model.n_init - 1, "restarts": values["restarts"][:-1], "state": values["best"]}
            parts, best = best.arrays() | {"noise": arrays["noise"]}, None
        return values | {"arrays": parts}, best

    def _state(self, start: int, begun: dict[str, Any] | None) -> State:
        self.rng = generator(self.seed + 1 + start)
        self.noise = _torch.stream(self.rng, self.owner)
        if not begun:
            state = State.at(self.objective.start(self.rng, self).astype(self.kind))
        else:
            state = _state_of(begun["arrays"], begun["state"])
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
        epoch = self._full_batch_round if self.full_batch else self._epoch
        with Progress(self.owner, self.model.max_iter, self.model.verbose) as progress:
            progress.done = state.epoch
            while not state.done and state.epoch < self.model.max_iter:
                epoch(state, progress)
                self._save(state, start, restarts, best)

    def _judge(self, state: State, x: Array, loss: float) -> bool:
        """Keep the best weights; True once they have not become better for long enough."""
        judged = loss
        if len(self.held_rows):
            with self.torch.no_grad():
                judged = float(self.objective.error(self._move(x), self.X_held))
            state.held.append(judged)
        if judged < state.best_loss * (1 - math.copysign(self.model.tol, state.best_loss)):
            state.stalled = 0
        else:
            state.stalled += 1
        if judged < state.best_loss:
            state.best, state.best_loss = x.copy(), judged
        return state.stalled >= self.model.patience

    def _full_batch_round(self, state: State, progress: Progress) -> None:
        """Steps of L-BFGS, each of which counts as an epoch."""

        def objective(x: Array) -> tuple[float, Array]:
            point = self._move(x).requires_grad_()
            loss = self.objective.loss(point, self.X, None)
            (slope,) = self.torch.autograd.grad(loss, point)
            return float(loss.detach()), slope.cpu().numpy()

        current: dict[str, float] = {}

        def watched(x: Array) -> tuple[float, Array]:
            loss, slope = objective(x)
            current["loss"] = loss
            return loss, slope

        held = len(self.held_rows)
        budget = min(ROUND_STEPS, self.model.max_iter - state.epoch)
        run = descend(
            watched,
            state.x,
            max_iter=budget,
            tol=self.model.tol,
            owner=self.owner,
            progress=progress,
            after=(lambda x: self._judge(state, x, current["loss"])) if held else None,
        )
        state.x, state.epoch = run.x, state.epoch + max(1, len(run.losses))
        state.losses += run.losses.tolist()
        state.done = run.converged
        if not held and run.loss < state.best_loss:
            state.best, state.best_loss = run.x.copy(), run.loss

    def _epoch(self, state: State, progress: Progress) -> None:
        """All mini-batches once, by Adam; back to the best weights where the loss runs away."""
        x, first, second = (self._move(getattr(state, name)) for name in ("x", "first", "second"))
        order = self.torch.as_tensor(self.rng.permutation(len(self.X)), device=self.device)
        total = self.torch.zeros((), device=self.device, dtype=x.dtype)
        rate, steps, known = self._rate(state), state.steps, state.losses[0] if state.losses else math.nan
        for part in threads.blocks(len(self.X), self.model.batch_size):
            rows = self.X[order[part]]
            point = x.detach().requires_grad_()
            loss = self.objective.loss(point, rows, self.noise)
            (slope,) = self.torch.autograd.grad(loss, point)
            known = float(loss.detach()) if math.isnan(known) else known
            steps += 1
            _adam(x, slope, first, second, rate, steps)
            total += loss.detach() * len(rows)
        loss = float(total) / len(self.X)
        if not math.isfinite(loss) or not bool(self.torch.isfinite(x).all()) or loss > RUNAWAY * (1 + abs(known)):
            self._retreat(state)
            return
        state.x, state.first, state.second = (tensor.cpu().numpy().copy() for tensor in (x, first, second))
        state.steps, state.epoch = steps, state.epoch + 1
        state.losses.append(loss)
        progress.advance(f"loss {loss:.6g}")
        state.done = self._judge(state, state.x, loss)
        if self.model.schedule == "plateau" and state.stalled and state.stalled % max(1, self.model.patience // 3) == 0:
            state.rate /= 2

    def quick(self, objective: Any, rows: Any, x: Array, epochs: int, rng: np.random.Generator) -> Array:
        """Some epochs of a loss of its own, from the weights x: for parts of a network."""
        point, first, second = self._move(x), self._move(0 * x), self._move(0 * x)
        for step in range(epochs):
            order = self.torch.as_tensor(rng.permutation(len(rows)), device=self.device)
            parts = threads.blocks(len(rows), self.model.batch_size)
            for i, part in enumerate(parts):
                leaf = point.detach().requires_grad_()
                (slope,) = self.torch.autograd.grad(objective.loss(leaf, rows[order[part]], None), leaf)
                _adam(point, slope, first, second, self.model.learning_rate, step * len(parts) + i + 1)
        return point.cpu().numpy()

    def _rate(self, state: State) -> float:
        rate = self.model.learning_rate * state.rate
        if self.model.schedule == "cosine":
            rate *= 0.5 * (1 + math.cos(math.pi * state.epoch / self.model.max_iter))
        return rate

    def _retreat(self, state: State) -> None:
        if state.retreats == RETREATS:
            raise ValueError(
                f"{self.owner}: the loss ran away with learning_rate={self.model.learning_rate:g}, and with one "
                f"{10**RETREATS:,} times smaller too. Look at the rows, or lower learning_rate."
            )
        state.x, state.first, state.second = state.best.copy(), 0 * state.first, 0 * state.second
        state.steps, state.rate, state.retreats = 0, state.rate / 10, state.retreats + 1


def _adam(x: Any, slope: Any, first: Any, second: Any, rate: float, step: int) -> None:
    """One step, in place."""
    first.lerp_(slope, 1 - BETAS[0])
    second.mul_(BETAS[1]).addcmul_(slope, slope, value=1 - BETAS[1])
    size = second.sqrt().div_(math.sqrt(1 - BETAS[1] ** step)).add_(TINY)
    x.addcdiv_(first, size, value=-rate / (1 - BETAS[0] ** step))


def train(model: Any, rows: Array, objective: Callable[[], Any], rng: np.random.Generator) -> Trained:
    """Train a model whose `solver_` and `device_` are set on scaled rows."""
    checkpoint, seed = Checkpoint.of(model, rows), int(rng.integers(2**62))
    begun = checkpoint.read()
    seed = seed if begun is None else int(begun[0]["seed"])  # a start without a seed goes on with its own
    with _torch.cores(1 if rows.size <= SMALL else model.n_jobs, type(model).__name__):
        trainer = Trainer(model, objective(), rows, seed, checkpoint)
        return trainer.run()

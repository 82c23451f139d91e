"""One batch more for a network: one epoch of Adam from the weights that it has."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from lowdim._core.iterate import Progress
from lowdim._core.runtime.rng import generator
from lowdim._core.streams import is_stream
from lowdim.latent.networks import _torch
from lowdim.latent.networks._checkpoint import Checkpoint, State, Trained
from lowdim.latent.networks._rows import Scaling, rounded_and_sorted
from lowdim.latent.networks._train import SMALL, Trainer, Training

Array = np.ndarray


def flat(weights: list[Array], biases: list[Array]) -> Array:
    """The parameters of a fitted network in one vector."""
    return np.concatenate([part.ravel() for pair in zip(weights, biases, strict=True) for part in pair])


def train_further(
    loss: Any, rows: Array, order: Array, training: Training, begun: Callable[[Any], State], rng: Any
) -> tuple[Trained, State]:
    """All rows once, in mini-batches; `begun(trainer)` is the state before. The weights and the state after it."""
    seed = int(generator(rng).integers(2**62))
    with _torch.cores(1 if rows.size <= SMALL else training.n_jobs, training.owner):
        trainer = Trainer(loss, rows, order, training, Checkpoint(None, training.owner, ""), seed)
        state = begun(trainer)
        trainer.rng = generator(seed + state.steps)
        trainer.noise = _torch.stream(trainer.rng, training.owner)
        state.x, state.first, state.second = (
            getattr(state, name).astype(trainer.dtype) for name in ("x", "first", "second")
        )
        state.losses, state.held = [], []
        with Progress(training.owner, 1, training.verbose) as progress:
            trainer.epoch(state, progress)
    every = np.arange(len(rows))
    return Trained(state.x, np.array(state.losses), np.empty(0), np.empty(0), False, every, every[:0]), state


class TrainsFurther:
    """A part of `Autoencoder` and `VAE`: `partial_fit`. After any failure the model is as it was before."""

    random_state: Any
    n_weights_: int

    def _fit_one_more(self: Any, X: Any) -> Any:
        name = type(self).__name__
        if is_stream(X):
            raise TypeError(f"{name}: partial_fit must get rows in memory; `fit` reads Arrow and Dask.")
        if getattr(self, "solver", "adam") == "lbfgs":
            raise ValueError(f"{name}: solver must be 'adam' or 'auto' for partial_fit; got 'lbfgs'.")
        before, begun = dict(self.__dict__), hasattr(self, "encoder_weights_")
        try:
            self._check_parameters()
            rows, dtype = self._check_rows(X, fitting=not begun)
            if np.isnan(rows).any():
                raise ValueError(f"{name}: partial_fit must get complete rows; fill the cells first.")
            self._incomplete = False
            self._train_on(rows.astype(np.float64), dtype, begun)
            del self._incomplete
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise
        return self

    def _train_on(self: Any, X: Array, dtype: np.dtype, begun: bool) -> None:
        self._n_features_out = self.n_components
        self._check(X.shape[1])
        scaling = self._scaling(X)  # which checks what the cells may be
        scaling = Scaling(self.mean_, self.scale_) if begun else scaling
        self.mean_, self.scale_ = scaling.mean, scaling.scale
        rows, order = rounded_and_sorted(scaling(X))
        loss = self._loss(X.shape[1])
        if hasattr(self, "solver"):
            self.solver_ = "adam"
        self.device_ = _torch.device(self.device, type(self).__name__, full_batch=False)
        losses = [*getattr(self, "loss_curve_", ())]
        training = replace(self._training(), held_out=0.0, schedule="constant", n_init=1)
        found, state = train_further(
            loss, rows, order, training, lambda trainer: self._state(loss, trainer, begun), self.random_state
        )
        self.n_weights_ = loss.n_parameters
        self._keep(loss, replace(found, losses=np.array([*losses, *found.losses])))
        self._keep_prior(rows)
        self._parts |= {"first": state.first, "second": state.second, "steps": state.steps, "x": state.x}
        self.embedding_ = self._described(X, found, order).astype(dtype)

    def _state(self: Any, loss: Any, trainer: Any, begun: bool) -> State:
        if not begun:
            return State.at(loss.initial(generator(self.random_state), trainer))
        parts = self._parts or {}
        x = parts["x"].astype(np.float64) if "x" in parts else self._trained_parameters()
        if len(x) != loss.n_parameters:
            raise ValueError(
                f"{type(self).__name__}: hidden and n_components must be those of the fitted model for partial_fit; "
                "set them back, or begin with a new model: sklearn.base.clone(model)."
            )
        state = State.at(x)
        if "steps" in parts:
            state.first, state.second, state.steps = parts["first"], parts["second"], int(parts["steps"])
        return state

    def _trained_parameters(self: Any) -> Array:
        """Of a fitted network, in one vector, as its loss has them."""
        both = [
            (getattr(self, f"{name}_weights_"), getattr(self, f"{name}_biases_")) for name in ("encoder", "decoder")
        ]
        return np.concatenate([*(flat(*one) for one in both), self._others()])

    def _others(self) -> Array:
        """Parameters beside those of the networks."""
        return np.empty(0)

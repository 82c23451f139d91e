"""What encoders and decoders leave after training, as arrays, and how they run from these."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lowdim._core.runtime import threads
from lowdim.latent.networks._network import Layers, Network

Array = np.ndarray
ROWS = 512  # through a network on one thread
BLOCK = 32 * ROWS  # whose errors are found at a time


def keep_layers(model: Any, half: str, net: Network, layers: Layers) -> None:
    """Copies of weights and biases as attributes of the model, and what kind of network they are of."""
    setattr(model, f"_{half}", (net.sizes, net.activations))
    setattr(model, f"{half}_weights_", [W.copy() for W, _ in layers])
    setattr(model, f"{half}_biases_", [b.copy() for _, b in layers])


def keep_run(model: Any, found: Any) -> None:
    """How a training went."""
    model.loss_curve_, model.held_out_curve_, model.restart_losses_ = found.losses, found.held, found.restarts
    model.n_iter_, model.converged_ = len(found.losses), found.converged


def run_half(model: Any, half: str, A: Array) -> Array:
    """Scaled rows through the encoder, or codes through the decoder, in double precision."""
    net = Network(*getattr(model, f"_{half}"))
    layers = list(zip(getattr(model, f"{half}_weights_"), getattr(model, f"{half}_biases_"), strict=True))
    parts = threads.map_rows(lambda rows: net(layers, A[rows]), len(A), ROWS, model.n_jobs)
    return np.concatenate(parts)


def row_errors(X: Array, Z: Array, invert: Callable[[Array], Array]) -> Array:
    """Mean squared error of each row's cells."""
    parts = threads.blocks(len(X), BLOCK)
    return np.concatenate([np.square(invert(Z[part]) - X[part]).mean(axis=1) for part in parts])

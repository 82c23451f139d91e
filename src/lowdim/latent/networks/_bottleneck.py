"""The loss of a bottleneck network with its derivatives: encoder, codes (angles where circular), decoder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lowdim.latent.networks._levels import Levels, misfit, off_circles, onto_circles
from lowdim.latent.networks._network import Network

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Bottleneck:
    """Scaled rows, and the network that leads them through few numbers and back."""

    X: Array
    encoder: Network
    decoder: Network
    levels: Levels
    circular: bool
    decay: float

    @classmethod
    def of(cls, model: Any, rows: Array, hidden: tuple[int, ...]) -> Bottleneck:
        """With the settings of an estimator."""
        levels = Levels.of(model.n_components, model.hierarchical, model.level_weights, model.circular)
        encoder, decoder = networks(model, hidden, rows.shape[1])
        return cls(rows, encoder, decoder, levels, model.circular, model.weight_decay)

    def start(self, rng: np.random.Generator) -> Array:
        """Random weights of both halves."""
        return np.concatenate([self.encoder.start(rng), self.decoder.start(rng)])

    def jump(self, x: Array) -> Array:
        """Codes are functions of their rows here: none can jump."""
        return x

    def halves(self, x: Array) -> tuple[Array, Array]:
        """The parameters of the encoder and of the decoder."""
        return x[: self.encoder.n_parameters], x[self.encoder.n_parameters :]

    def loss(self, x: Array) -> tuple[float, Array]:
        """Mean squared error of a cell and decay, with derivatives by all weights."""
        first, second = self.halves(x)
        layers = self.encoder.layers(first)
        values = self.encoder.forward(layers, self.X)
        C, radius = onto_circles(values[-1]) if self.circular else (values[-1], None)
        error, by_decoder, by_codes = misfit(self.decoder, self.decoder.layers(second), C, self.X, _ALL, self.levels)
        if radius is not None:
            by_codes = off_circles(C, radius, by_codes)
        by_encoder, _ = self.encoder.backward(layers, values, by_codes)
        decayed = np.concatenate([self.encoder.weights_mask(), self.decoder.weights_mask()])
        loss = error / self.X.size + self.decay * float(decayed @ np.square(x))
        return loss, np.concatenate([by_encoder, by_decoder]) / self.X.size + 2 * self.decay * decayed * x


_ALL = np.ones(1)  # every cell is seen


def networks(model: Any, hidden: tuple[int, ...], d: int) -> tuple[Network, Network]:
    """Encoder and decoder, the one the mirror of the other."""
    width = 2 * model.n_components if model.circular else model.n_components
    encoder = Network.of((d, *hidden, width), model.activation)
    return encoder, Network.of((width, *hidden[::-1], d), model.activation)

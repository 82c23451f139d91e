"""The loss of nonlinear PCA with its gradient: encoder, codes (angles where circular), decoder."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lowdim.latent.networks._levels import Levels, angles_of, misfit, off_circles, onto_circles
from lowdim.latent.networks._network import Network
from lowdim.latent.networks._settings import Architecture

Array = np.ndarray
_ALL = np.ones(1)  # every cell is observed


@dataclass(frozen=True, eq=False)
class Bottleneck:
    """Scaled rows, and the network that encodes them in few numbers and decodes these."""

    X: Array
    encoder: Network
    decoder: Network
    levels: Levels
    circular: bool
    weight_decay: float

    @classmethod
    def of(cls, rows: Array, hidden: tuple[int, ...], architecture: Architecture) -> Bottleneck:
        """With the hidden widths of the encoder; the decoder has them in reverse."""
        encoder = architecture.encoder(hidden, rows.shape[1])
        decoder = architecture.decoder(hidden[::-1], rows.shape[1])
        levels = architecture.levels
        return cls(rows, encoder, decoder, levels, architecture.circular, architecture.weight_decay)

    def initial(self, rng: np.random.Generator) -> Array:
        """Random weights of both networks."""
        return np.concatenate([self.encoder.initial(rng), self.decoder.initial(rng)])

    def improve_codes(self, x: Array) -> Array:
        """Nothing to do: codes are functions of their rows here."""
        return x

    def split(self, x: Array) -> tuple[Array, Array]:
        """The parameters of the encoder and of the decoder."""
        return x[: self.encoder.n_parameters], x[self.encoder.n_parameters :]

    def embedding(self, x: Array) -> Array:
        """The codes of the rows under parameters x, as angles where circular."""
        codes = self.encoder(self.encoder.layers(self.split(x)[0]), self.X)
        return angles_of(codes) if self.circular else codes

    def loss(self, x: Array) -> tuple[float, Array]:
        """Mean squared error of a cell plus weight decay, and the gradient by all weights."""
        first, second = self.split(x)
        layers = self.encoder.layers(first)
        values = self.encoder.forward(layers, self.X)
        C, radius = onto_circles(values[-1]) if self.circular else (values[-1], None)
        error, by_decoder, by_codes = misfit(self.decoder, self.decoder.layers(second), C, self.X, _ALL, self.levels)
        if radius is not None:
            by_codes = off_circles(C, radius, by_codes)
        by_encoder, _ = self.encoder.backward(layers, values, by_codes)
        decayed = np.concatenate([self.encoder.weights_mask(), self.decoder.weights_mask()])
        loss = error / self.X.size + self.weight_decay * float(decayed @ np.square(x))
        return loss, np.concatenate([by_encoder, by_decoder]) / self.X.size + 2 * self.weight_decay * decayed * x

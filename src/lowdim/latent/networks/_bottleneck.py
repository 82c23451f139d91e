"""The loss of nonlinear PCA with its gradient: encoder, codes (angles where circular), decoder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lowdim.latent.networks._incomplete import PASSES, split_rows
from lowdim.latent.networks._levels import Levels, angles_of, misfit, off_circles, onto_circles
from lowdim.latent.networks._network import Network
from lowdim.latent.networks._settings import Architecture

Array = np.ndarray
_ALL = np.ones(1)  # every cell is observed


@dataclass(frozen=True, eq=False)
class Bottleneck:
    """Scaled rows, and the network that encodes them in few numbers and decodes these.

    A missing cell has no error. The encoder sees 0 in its place, the column's mean, then what the code decodes to,
    and the loss is that of the last pass.
    """

    X: Array  # 0 where a cell is missing
    observed: Array  # 1 where it is not
    passes: int  # 1 where all cells are observed
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
        levels, incomplete = architecture.levels, bool(np.isnan(rows).any())
        X, observed = split_rows(rows) if incomplete else (rows, _ALL)
        passes = PASSES if incomplete else 1
        return cls(X, observed, passes, encoder, decoder, levels, architecture.circular, architecture.weight_decay)

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
        """Mean squared error of an observed cell plus weight decay, and the gradient by all weights."""
        first, second = self.split(x)
        layers, decoder = self.encoder.layers(first), self.decoder.layers(second)
        filled, steps = self.X, []
        for _ in range(self.passes - 1):
            values, C, radius = self._encode(layers, filled)
            decoded = self.decoder.forward(decoder, C)
            steps.append((values, C, radius, decoded))
            filled = self.X + (1 - self.observed) * decoded[-1]
        values, C, radius = self._encode(layers, filled)
        error, by_decoder, by_codes = misfit(self.decoder, decoder, C, self.X, self.observed, self.levels)
        by_encoder, by_input = self._back(layers, values, C, radius, by_codes)
        for values, C, radius, decoded in reversed(steps):
            more, by_codes = self.decoder.backward(decoder, decoded, (1 - self.observed) * by_input)
            by_decoder = by_decoder + more
            more, by_input = self._back(layers, values, C, radius, by_codes)
            by_encoder = by_encoder + more
        decayed = np.concatenate([self.encoder.weights_mask(), self.decoder.weights_mask()])
        cells = self.X.size if self.passes == 1 else float(self.observed.sum())
        loss = error / cells + self.weight_decay * float(decayed @ np.square(x))
        return loss, np.concatenate([by_encoder, by_decoder]) / cells + 2 * self.weight_decay * decayed * x

    def _encode(self, layers: Any, rows: Array) -> tuple[list[Array], Array, Array | None]:
        """The values of the encoder's layers, the codes, and what they were divided by where circular."""
        values = self.encoder.forward(layers, rows)
        return (values, *onto_circles(values[-1])) if self.circular else (values, values[-1], None)

    def _back(self, layers: Any, values: list[Array], C: Array, radius: Array | None, by_codes: Array) -> Any:
        """Gradients by the encoder's parameters and by its input."""
        by_codes = by_codes if radius is None else off_circles(C, radius, by_codes)
        return self.encoder.backward(layers, values, by_codes)

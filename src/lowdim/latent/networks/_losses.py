"""The loss of an autoencoder: squared error, weight decay, and a penalty that keeps it from copying its input."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lowdim.latent.networks import _torch
from lowdim.latent.networks._incomplete import PASSES
from lowdim.latent.networks._network import Network
from lowdim.latent.networks._torch import EXACT_CODES, contraction, forward, mean_square, split, squared_weights

Array = np.ndarray
# Each penalty and its default strength: a weight, the standard deviation of the noise, a share of the cells.
PENALTIES = {"sparse": 0.01, "sparse-kl": 0.1, "denoising": 0.3, "denoising-mask": 0.2, "contractive": 0.01}
NOISY = ("denoising", "denoising-mask")


@dataclass(frozen=True, eq=False)
class Reconstruction:
    """Mean squared error of an observed cell after encoder and decoder, with a penalty.

    Of incomplete rows, the encoder first sees the column means in the place of missing cells, then what it decodes to
    there, and the loss is that of the last pass: so it learns to be used as it is used (see `_incomplete`).
    """

    owner: str
    encoder: Network
    decoder: Network
    penalty: str | None
    strength: float
    target: float
    weight_decay: float
    pretrain: int = 0
    incomplete: bool = False  # some cells are missing (NaN)

    @property
    def torch(self) -> Any:
        return _torch.load(self.owner)

    @property
    def n_parameters(self) -> int:
        """Numbers that are trained."""
        return self.encoder.n_parameters + self.decoder.n_parameters

    def split(self, x: Any) -> tuple[Any, Any]:
        """Layers of the encoder and of the decoder."""
        cut = self.encoder.n_parameters
        return self.encoder.layers(x[:cut]), self.decoder.layers(x[cut:])

    def initial(self, rng: np.random.Generator, trainer: Any) -> Array:
        """Random weights, or those of layer-wise pretraining."""
        x = np.concatenate([self.encoder.initial(rng), self.decoder.initial(rng)])
        return self._pretrained(x, rng, trainer) if self.pretrain else x

    def codes(self, x: Array, rows: Array) -> Array:
        """The codes of rows under parameters x, both numpy arrays."""
        return self.encoder(self.split(x)[0], np.nan_to_num(rows) if self.incomplete else rows)

    def loss(self, x: Any, rows: Any, noise: Any) -> Any:
        """With penalty and weight decay; `noise` draws the corruption of the input, or random directions."""
        encoder, decoder = self.split(x)
        rows, seen = split(self.torch, rows, self.incomplete)
        values, output = self._reproduced(encoder, decoder, self._corrupted(rows, noise), seen)
        loss = mean_square(output - rows, seen)
        if self.weight_decay:
            loss = loss + self.weight_decay * (squared_weights(encoder) + squared_weights(decoder))
        if self.penalty is None or self.penalty in NOISY:
            return loss
        return loss + self.strength * self._penalty(encoder, decoder[0][0], values, noise)

    def error(self, x: Any, rows: Any) -> Any:
        """Mean squared error alone, from uncorrupted rows: what held-out rows are judged by."""
        encoder, decoder = self.split(x)
        rows, seen = split(self.torch, rows, self.incomplete)
        return mean_square(self._reproduced(encoder, decoder, rows, seen)[1] - rows, seen)

    def _reproduced(self, encoder: Any, decoder: Any, rows: Any, seen: Any) -> tuple[list[Any], Any]:
        """The values of the encoder's layers and the decoded rows, after the last pass."""
        filled = rows
        for _ in range(1 if seen is None else PASSES):
            values = forward(self.torch, self.encoder, encoder, filled)
            output = forward(self.torch, self.decoder, decoder, values[-1])[-1]
            filled = rows if seen is None else self.torch.where(seen, rows, output)
        return values, output

    def _corrupted(self, rows: Any, noise: Any) -> Any:
        if self.penalty not in NOISY or not self.strength:
            return rows
        draw = {"generator": noise, "dtype": rows.dtype}
        if self.penalty == "denoising":
            return rows + self.strength * self.torch.randn(rows.shape, **draw).to(rows.device)
        return rows * (self.torch.rand(rows.shape, **draw) >= self.strength).to(rows.device)  # 0 is the column's mean

    def _penalty(self, encoder: Any, D: Any, values: list[Any], noise: Any) -> Any:
        """The penalty, mean over the codes.

        Codes a tenth as large with decoder weights D ten times as large would decode to the same rows, so the squared
        D are penalised as well, as the norms of a dictionary are in sparse coding.
        """
        codes = values[-1]
        scale = D.square().sum() / codes.shape[1]
        if self.penalty == "sparse":
            return codes.abs().mean() + scale
        if self.penalty == "sparse-kl":
            return divergence(self.torch, activity(codes, self.encoder.activations[-1]), self.target)
        probe = None
        if noise is not None and codes.shape[1] > EXACT_CODES:
            signs = self.torch.randint(0, 2, codes.shape, generator=noise)
            probe = (2 * signs - 1).to(codes.device, codes.dtype)
        return contraction(self.encoder, encoder, values, probe) / codes.shape[1] + scale

    def _pretrained(self, x: Array, rng: np.random.Generator, trainer: Any) -> Array:
        """Each layer of the encoder, with its mirror in the decoder, first learns to reproduce its input."""
        x, rows = x.astype(trainer.dtype), trainer.X
        encoder, decoder = self.split(x)
        names = (*self.encoder.activations[:-1], "linear")
        for i, (a, b) in enumerate(self.encoder.shapes):
            before = "linear" if i == 0 else names[i - 1]
            pair = Network((a, b), (names[i],)), Network((b, a), (before,))
            holes = self.incomplete and i == 0
            part = Reconstruction(self.owner, *pair, None, 0.0, 0.0, self.weight_decay, incomplete=holes)
            initial = part.initial(rng, trainer).astype(trainer.dtype)
            learned = trainer.pretrain(part, rows, initial, self.pretrain, rng)
            (first,), (second,) = part.split(learned)
            for kept, found in zip((*encoder[i], *decoder[-1 - i]), (*first, *second), strict=True):
                kept[...] = found
            with self.torch.no_grad():
                layer = [tuple(trainer.tensor(part) for part in first)]
                rows = forward(self.torch, part.encoder, layer, split(self.torch, rows, holes)[0])[-1]
        return x


def activity(codes: Any, activation: str) -> Any:
    """Mean activity of each unit, between 0 and 1."""
    mean = codes.mean(dim=0)
    return (1 + mean) / 2 if activation == "tanh" else mean


def divergence(torch: Any, active: Any, target: float) -> Any:
    """Mean over the units of KL(target || activity) between Bernoulli distributions."""
    active = active.clamp(1e-6, 1 - 1e-6)
    return (target * torch.log(target / active) + (1 - target) * torch.log((1 - target) / (1 - active))).mean()

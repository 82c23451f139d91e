"""What an autoencoder minimises: squared error, decay, and what keeps the codes from copying."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lowdim.latent.networks import _torch
from lowdim.latent.networks._network import Network
from lowdim.latent.networks._tensors import EXACT_CODES, contraction, decay, forward

Array = np.ndarray
# Each penalty and its strength unless told otherwise: a weight, the deviation of the noise, a share of the cells.
PENALTIES = {"sparse": 0.01, "sparse-kl": 0.1, "denoising": 0.3, "denoising-mask": 0.2, "contractive": 0.01}
NOISY = ("denoising", "denoising-mask")


@dataclass(frozen=True, eq=False)
class Reconstruction:
    """Mean squared error of a cell after encoder and decoder, with a penalty."""

    owner: str
    encoder: Network
    decoder: Network
    penalty: str | None
    strength: float
    target: float
    weight_decay: float
    pretrain: int = 0

    @property
    def torch(self) -> Any:
        return _torch.load(self.owner)

    def halves(self, x: Any) -> tuple[Any, Any]:
        """Layers of the encoder and of the decoder."""
        cut = self.encoder.n_parameters
        return self.encoder.layers(x[:cut]), self.decoder.layers(x[cut:])

    def start(self, rng: np.random.Generator, trainer: Any) -> Array:
        """Random weights, or those that each layer learned by itself."""
        x = np.concatenate([self.encoder.start(rng), self.decoder.start(rng)])
        return self._layer_by_layer(x, rng, trainer) if self.pretrain else x

    def loss(self, x: Any, rows: Any, noise: Any) -> Any:
        """With the penalty and decay; `noise` draws what spoils the input, or random directions."""
        encoder, decoder = self.halves(x)
        values = forward(self.torch, self.encoder, encoder, self._spoiled(rows, noise))
        output = forward(self.torch, self.decoder, decoder, values[-1])[-1]
        loss = (output - rows).square().mean()
        if self.weight_decay:
            loss = loss + self.weight_decay * (decay(encoder) + decay(decoder))
        if self.penalty is None or self.penalty in NOISY:
            return loss
        return loss + self.strength * self._held(encoder, decoder[0][0], values, noise)

    def error(self, x: Any, rows: Any) -> Any:
        """Squared error alone, from clean rows."""
        encoder, decoder = self.halves(x)
        codes = forward(self.torch, self.encoder, encoder, rows)[-1]
        return (forward(self.torch, self.decoder, decoder, codes)[-1] - rows).square().mean()

    def _spoiled(self, rows: Any, noise: Any) -> Any:
        if self.penalty not in NOISY or not self.strength:
            return rows
        draw = {"generator": noise, "dtype": rows.dtype}
        if self.penalty == "denoising":
            return rows + self.strength * self.torch.randn(rows.shape, **draw).to(rows.device)
        return rows * (self.torch.rand(rows.shape, **draw) >= self.strength).to(rows.device)  # 0 is the column's mean

    def _held(self, encoder: Any, D: Any, values: list[Any], noise: Any) -> Any:
        """What the penalty measures, a code in the mean.

        Codes a tenth as large cost nothing where the decoder's first weights D grow tenfold: so these count as well,
        as the norms of a dictionary are held in sparse coding.
        """
        codes = values[-1]
        undone = D.square().sum() / codes.shape[1]
        if self.penalty == "sparse":
            return codes.abs().mean() + undone
        if self.penalty == "sparse-kl":
            return divergence(self.torch, activity(codes, self.encoder.activations[-1]), self.target)
        probe = None
        if noise is not None and codes.shape[1] > EXACT_CODES:
            signs = self.torch.randint(0, 2, codes.shape, generator=noise)
            probe = (2 * signs - 1).to(codes.device, codes.dtype)
        return contraction(self.encoder, encoder, values, probe) / codes.shape[1] + undone

    def _layer_by_layer(self, x: Array, rng: np.random.Generator, trainer: Any) -> Array:
        """Each layer of the encoder, with its mirror, learns to reproduce what the one before gives it."""
        x, rows = x.astype(trainer.kind), trainer.X
        encoder, decoder = self.halves(x)
        names = (*self.encoder.activations[:-1], "linear")
        for i, (a, b) in enumerate(self.encoder.shapes):
            before = "linear" if i == 0 else names[i - 1]
            part = Reconstruction(
                self.owner, Network((a, b), (names[i],)), Network((b, a), (before,)), None, 0.0, 0.0, self.weight_decay
            )
            learned = trainer.quick(part, rows, part.start(rng, trainer).astype(trainer.kind), self.pretrain, rng)
            (first,), (second,) = part.halves(learned)
            for kept, found in zip((*encoder[i], *decoder[-1 - i]), (*first, *second), strict=True):
                kept[...] = found
            with self.torch.no_grad():
                layer = [tuple(trainer._move(part) for part in first)]
                rows = forward(self.torch, part.encoder, layer, rows)[-1]
        return x


def activity(codes: Any, activation: str) -> Any:
    """Mean activity of each unit, between 0 and 1."""
    mean = codes.mean(dim=0)
    return (1 + mean) / 2 if activation == "tanh" else mean


def divergence(torch: Any, active: Any, target: float) -> Any:
    """Mean over the units of KL(target || activity) of two coins; 0 where a unit is as active as it should be."""
    active = active.clamp(1e-6, 1 - 1e-6)
    return (target * torch.log(target / active) + (1 - target) * torch.log((1 - target) / (1 - active))).mean()

"""What a variational autoencoder minimises: minus the evidence bound, by reparameterised draws."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from lowdim.latent.networks import _torch
from lowdim.latent.networks._network import Network
from lowdim.latent.networks._tensors import decay, forward

Array = np.ndarray
LEAST = math.log(1e-6)  # log noise variance of a scaled cell: below, the bound would have no end
WIDEST = 15.0  # log variance of a code, either way
JUDGES = 20  # seed of the draws that held-out rows are judged by: the same ones each time


@dataclass(frozen=True, eq=False)
class Evidence:
    """E log p(x | z) - beta KL(q(z | x) || N(0, I)), mean over the rows, its sign turned."""

    owner: str
    encoder: Network
    decoder: Network
    bernoulli: bool
    beta: float
    weight_decay: float

    @property
    def torch(self) -> Any:
        return _torch.load(self.owner)

    def parts(self, x: Any) -> tuple[Any, Any, Any]:
        """Layers of the encoder, of the decoder, and the log noise variance."""
        cut = self.encoder.n_parameters
        last = cut + self.decoder.n_parameters
        return self.encoder.layers(x[:cut]), self.decoder.layers(x[cut:last]), x[last]

    def start(self, rng: np.random.Generator, trainer: Any) -> Array:
        """Random weights, noise as large as the data."""
        return np.concatenate([self.encoder.start(rng), self.decoder.start(rng), np.zeros(1)])

    def loss(self, x: Any, rows: Any, noise: Any) -> Any:
        """One draw a row."""
        encoder, decoder, log_noise = self.parts(x)
        mean, log_variance = self.posterior(encoder, rows)
        draws = self.torch.randn(mean.shape, generator=noise, dtype=mean.dtype).to(mean.device)
        output = forward(self.torch, self.decoder, decoder, mean + (0.5 * log_variance).exp() * draws)[-1]
        loss = (
            -self.likelihood(output, rows, log_noise).mean() + self.beta * divergence(mean, log_variance).sum(1).mean()
        )
        if self.weight_decay:
            loss = loss + self.weight_decay * (decay(encoder) + decay(decoder))
        return loss

    def error(self, x: Any, rows: Any) -> Any:
        """The same with draws that are the same every time, without decay."""
        noise = self.torch.Generator().manual_seed(JUDGES)
        encoder, decoder, _ = self.parts(x)
        held = self.weight_decay * (decay(encoder) + decay(decoder)) if self.weight_decay else 0.0
        return self.loss(x, rows, noise) - held

    def posterior(self, encoder: Any, rows: Any) -> tuple[Any, Any]:
        """Mean and log variance of the code of each row."""
        output = forward(self.torch, self.encoder, encoder, rows)[-1]
        mean, log_variance = output.chunk(2, dim=1)
        return mean, log_variance.clamp(-WIDEST, WIDEST)

    def likelihood(self, output: Any, rows: Any, log_noise: Any) -> Any:
        """log p(x | z) of each row."""
        if self.bernoulli:
            return -self.torch.nn.functional.binary_cross_entropy_with_logits(output, rows, reduction="none").sum(dim=1)
        log_noise = log_noise.clamp(min=LEAST)
        squares = (output - rows).square().sum(dim=1)
        return -0.5 * (squares * (-log_noise).exp() + rows.shape[1] * (log_noise + math.log(2 * math.pi)))


def divergence(mean: Any, log_variance: Any) -> Any:
    """KL(N(mean, variance) || N(0, 1)) of each row and unit; for arrays and tensors."""
    exp = np.exp(log_variance) if isinstance(log_variance, np.ndarray) else log_variance.exp()
    return 0.5 * (mean * mean + exp - log_variance - 1)

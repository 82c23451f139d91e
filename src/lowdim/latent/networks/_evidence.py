"""The loss of a variational autoencoder: the negative evidence lower bound (ELBO), by reparameterised draws."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from lowdim.latent.networks import _torch
from lowdim.latent.networks._network import Network
from lowdim.latent.networks._torch import forward, squared_weights

Array = np.ndarray
LEAST = math.log(1e-6)  # log noise variance of a scaled cell; without a minimum the bound is not bounded above
WIDEST = 15.0  # largest absolute log variance of a code
HELD_OUT_SEED = 20  # of the draws for held-out rows: the same ones in every epoch


@dataclass(frozen=True, eq=False)
class Evidence:
    """-E log p(x | z) + beta KL(q(z | x) || N(0, I)), mean over the rows."""

    owner: str
    encoder: Network
    decoder: Network
    bernoulli: bool
    beta: float
    weight_decay: float

    @property
    def torch(self) -> Any:
        return _torch.load(self.owner)

    def split(self, x: Any) -> tuple[Any, Any, Any]:
        """Layers of the encoder, of the decoder, and the log noise variance."""
        cut = self.encoder.n_parameters
        last = cut + self.decoder.n_parameters
        return self.encoder.layers(x[:cut]), self.decoder.layers(x[cut:last]), x[last]

    def initial(self, rng: np.random.Generator, trainer: Any) -> Array:
        """Random weights, noise variance 1: as large as that of the data."""
        return np.concatenate([self.encoder.initial(rng), self.decoder.initial(rng), np.zeros(1)])

    def codes(self, x: Array, rows: Array) -> Array:
        """The means of the codes of rows under parameters x, both numpy arrays."""
        output = self.encoder(self.split(x)[0], rows)
        return output[:, : output.shape[1] // 2]

    def loss(self, x: Any, rows: Any, noise: Any) -> Any:
        """With one draw of the code for each row."""
        encoder, decoder, log_noise = self.split(x)
        mean, log_variance = self.posterior(encoder, rows)
        draws = self.torch.randn(mean.shape, generator=noise, dtype=mean.dtype).to(mean.device)
        output = forward(self.torch, self.decoder, decoder, mean + (0.5 * log_variance).exp() * draws)[-1]
        loss = (
            -self.likelihood(output, rows, log_noise).mean() + self.beta * divergence(mean, log_variance).sum(1).mean()
        )
        if self.weight_decay:
            loss = loss + self.weight_decay * (squared_weights(encoder) + squared_weights(decoder))
        return loss

    def error(self, x: Any, rows: Any) -> Any:
        """The same with the same draws every time, without weight decay: what held-out rows are judged by."""
        noise = self.torch.Generator().manual_seed(HELD_OUT_SEED)
        encoder, decoder, _ = self.split(x)
        penalty = (
            self.weight_decay * (squared_weights(encoder) + squared_weights(decoder)) if self.weight_decay else 0.0
        )
        return self.loss(x, rows, noise) - penalty

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

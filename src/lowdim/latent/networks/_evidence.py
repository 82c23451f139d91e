"""The loss of a variational autoencoder: the negative evidence lower bound (ELBO), by reparameterised draws."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from lowdim.latent.networks import _torch
from lowdim.latent.networks._incomplete import PASSES
from lowdim.latent.networks._network import Network
from lowdim.latent.networks._torch import forward, split, squared_weights

Array = np.ndarray
LEAST = math.log(1e-6)  # log noise variance of a scaled cell; without a minimum the bound is not bounded above
WIDEST = 15.0  # largest absolute log variance of a code
HELD_OUT_SEED = 20  # of the draws for held-out rows: the same ones in every epoch


@dataclass(frozen=True, eq=False)
class Evidence:
    """-E log p(x | z) + beta KL(q(z | x) || N(0, I)), mean over the rows; of incomplete rows, x is the observed cells.

    Whatever the encoder sees in the place of missing cells, this is a bound of the likelihood of the observed ones: at
    first the column means, then what the code decodes to.
    """

    owner: str
    encoder: Network
    decoder: Network
    bernoulli: bool
    beta: float
    weight_decay: float
    fill: Array | None = None  # column means, where cells are missing

    @property
    def torch(self) -> Any:
        return _torch.load(self.owner)

    @property
    def n_parameters(self) -> int:
        """Numbers that are trained."""
        return self.encoder.n_parameters + self.decoder.n_parameters + 1

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
        rows = rows if self.fill is None else np.where(np.isnan(rows), self.fill, rows)
        output = self.encoder(self.split(x)[0], rows)
        return output[:, : output.shape[1] // 2]

    def loss(self, x: Any, rows: Any, noise: Any) -> Any:
        """With one draw of the code for each row."""
        encoder, decoder, log_noise = self.split(x)
        rows, seen = split(self.torch, rows, self.fill is not None)
        mean, log_variance = self._last_posterior(encoder, decoder, rows, seen)
        draws = self.torch.randn(mean.shape, generator=noise, dtype=mean.dtype).to(mean.device)
        output = forward(self.torch, self.decoder, decoder, mean + (0.5 * log_variance).exp() * draws)[-1]
        loss = (
            -self.likelihood(output, rows, log_noise, seen).mean()
            + self.beta * divergence(mean, log_variance).sum(1).mean()
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

    def _last_posterior(self, encoder: Any, decoder: Any, rows: Any, seen: Any) -> tuple[Any, Any]:
        """The posterior after the last pass."""
        if seen is None:
            return self.posterior(encoder, rows)
        filled = self.torch.where(seen, rows, self.torch.as_tensor(self.fill, dtype=rows.dtype, device=rows.device))
        for turn in range(PASSES):
            mean, log_variance = self.posterior(encoder, filled)
            if turn < PASSES - 1:
                output = forward(self.torch, self.decoder, decoder, mean)[-1]
                filled = self.torch.where(seen, rows, output.sigmoid() if self.bernoulli else output)
        return mean, log_variance

    def likelihood(self, output: Any, rows: Any, log_noise: Any, seen: Any = None) -> Any:
        """log p(x | z) of each row's observed cells."""
        if self.bernoulli:
            losses = self.torch.nn.functional.binary_cross_entropy_with_logits(output, rows, reduction="none")
            return -(losses if seen is None else losses * seen).sum(dim=1)
        log_noise = log_noise.clamp(min=LEAST)
        squares = (output - rows).square()
        squares, cells = (squares.sum(dim=1), rows.shape[1]) if seen is None else ((squares * seen).sum(1), seen.sum(1))
        return -0.5 * (squares * (-log_noise).exp() + cells * (log_noise + math.log(2 * math.pi)))


def divergence(mean: Any, log_variance: Any) -> Any:
    """KL(N(mean, variance) || N(0, 1)) of each row and unit; for arrays and tensors."""
    exp = np.exp(log_variance) if isinstance(log_variance, np.ndarray) else log_variance.exp()
    return 0.5 * (mean * mean + exp - log_variance - 1)


def log_likelihood(output: Array, rows: Array, noise_variance: float | None, scale: Array) -> Array:
    """log p(x | z) of the observed cells of each row, in units of X; without a noise variance, Bernoulli."""
    if noise_variance is None:
        return np.nansum(rows * output - np.logaddexp(0.0, output), axis=1)
    constant = (~np.isnan(rows)) @ (np.log(2 * np.pi * noise_variance) + 2 * np.log(scale))
    return -0.5 * (np.nansum(np.square(output - rows), axis=1) / noise_variance + constant)


def check_shares(X: Array) -> None:
    """ValueError for cells that are not from 0 to 1."""
    low, high = float(np.nanmin(X)), float(np.nanmax(X))
    if low < 0 or high > 1:
        raise ValueError(
            f"VAE: X must be from 0 to 1 for likelihood='bernoulli'; got values from {low:g} to {high:g}. Divide "
            "by the largest possible value, or use likelihood='gaussian'."
        )

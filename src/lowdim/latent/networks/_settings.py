"""Rules, checks and small choices that the networks share."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from lowdim._core import params
from lowdim._core.runtime.notices import warn
from lowdim.latent.networks._levels import Levels
from lowdim.latent.networks._network import Network
from lowdim.latent.networks._train import SMALL, Training


def training_of(owner: str, parameters: dict[str, Any], device: str, *, full_batch: bool = False) -> Training:
    """How an estimator of these parameters is trained, on a device."""
    own = ("owner", "full_batch", "device")
    same = {field.name: parameters[field.name] for field in fields(Training) if field.name not in own}
    return Training(owner=owner, full_batch=full_batch, device=device, **same)


@dataclass(frozen=True)
class Architecture:
    """What `NLPCA` and `InverseNLPCA` ask of a network, but for the widths of its hidden layers."""

    n_components: int
    activation: str
    hierarchical: bool
    level_weights: Sequence[float] | None
    circular: bool
    weight_decay: float

    @property
    def levels(self) -> Levels:
        return Levels.of(self.n_components, self.hierarchical, self.level_weights, self.circular)

    @property
    def n_codes(self) -> int:
        """Units of the code layer; a circular component is a point (cos, sin) on the unit circle."""
        return 2 * self.n_components if self.circular else self.n_components

    def encoder(self, hidden: tuple[int, ...], d: int) -> Network:
        return Network.of((d, *hidden, self.n_codes), self.activation)

    def decoder(self, hidden: tuple[int, ...], d: int) -> Network:
        """From the codes to the columns; `hidden` are its widths in this order."""
        return Network.of((self.n_codes, *hidden, d), self.activation)

    def check(self, owner: str, d: int) -> None:
        """Weights of levels need levels, one for each component; more components than columns need a warning."""
        if self.level_weights is not None:
            if not self.hierarchical:
                raise ValueError(f"{owner}: level_weights must be None unless hierarchical=True.")
            if len(self.level_weights) != self.n_components:
                raise ValueError(
                    f"{owner}: level_weights must have one number for each of the {self.n_components} components; got "
                    f"{len(self.level_weights)}."
                )
        warn_overcomplete(owner, self.n_components, d)


def sizes() -> params.Rule:
    """Widths of hidden layers: a number, or several in order."""
    return params.Rule(
        "a whole number >= 1 or a tuple of them",
        lambda v: (
            params.whole(1).accepts(v)
            or (isinstance(v, (tuple, list)) and all(params.whole(1).accepts(size) for size in v))
        ),
    )


def positive_numbers() -> params.Rule:
    """Weights of levels."""
    positive = params.real(0, open_low=True)
    return params.Rule(
        "a tuple of numbers > 0",
        lambda v: isinstance(v, (tuple, list)) and len(v) > 0 and all(map(positive.accepts, v)),
    )


def path() -> params.Rule:
    """A file, by its name or as a path."""
    return params.text() | params.Rule("a path", lambda v: isinstance(v, os.PathLike))


def widths(hidden: Any) -> tuple[int, ...]:
    """Hidden widths as a tuple."""
    return (int(hidden),) if isinstance(hidden, (int, np.integer)) else tuple(int(size) for size in hidden)


def deep_widths(hidden: Any, d: int) -> tuple[int, ...]:
    """Hidden widths of the encoder of an autoencoder for d columns; None is two layers."""
    return (min(4 * d, 256), min(2 * d, 64)) if hidden is None else widths(hidden)


def optimiser_bytes(n: int, d: int, weights: int) -> int:
    """Memory of the weights and what Adam and PyTorch keep beside them: about twenty copies."""
    return 20 * (8 if n * d <= SMALL else 4) * weights


def warn_overcomplete(owner: str, k: int, d: int) -> None:
    """A network with more codes than columns can learn the identity."""
    if k > d:
        warn(
            f"{owner}: n_components={k} is more than the {d} columns of X, so that the network can copy its input and "
            "learn nothing. Ask for fewer components, or use an Autoencoder with a penalty on the codes."
        )

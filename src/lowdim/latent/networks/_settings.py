"""Rules and small choices that the networks share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lowdim._core import params
from lowdim._core.runtime.notices import warn
from lowdim.latent.networks import _torch


def sizes() -> params.Rule:
    """Widths of hidden layers: a number, or several in order."""
    return params.Rule(
        "a whole number >= 1 or a tuple of them",
        lambda v: (
            params.whole(1).accepts(v)
            or (isinstance(v, (tuple, list)) and all(params.whole(1).accepts(size) for size in v))
        ),
    )


def shares() -> params.Rule:
    """Weights of levels: positive numbers."""
    positive = params.real(0, open_low=True)
    return params.Rule(
        "a tuple of numbers > 0",
        lambda v: isinstance(v, (tuple, list)) and len(v) > 0 and all(map(positive.accepts, v)),
    )


def widths(hidden: Any) -> tuple[int, ...]:
    """Hidden widths as a tuple."""
    return (int(hidden),) if isinstance(hidden, (int, np.integer)) else tuple(int(size) for size in hidden)


def check_levels(owner: str, weights: Sequence[float] | None, hierarchical: bool, k: int) -> None:
    """Weights of levels make sense only where there are levels, one for each component."""
    if weights is None:
        return
    if not hierarchical:
        raise ValueError(f"{owner}: level_weights must be None unless hierarchical=True.")
    if len(weights) != k:
        raise ValueError(
            f"{owner}: level_weights must have one number for each of the {k} components; got {len(weights)}."
        )


def warn_overcomplete(owner: str, k: int, d: int, held: bool) -> None:
    """More codes than columns can copy the rows, unless something holds them back."""
    if k > d and not held:
        warn(
            f"{owner}: n_components={k} is more than the {d} columns of X, so that the network can copy its input and "
            "learn nothing. Ask for fewer components, or hold the codes back with a penalty."
        )


def where(model: Any) -> str:
    """The device of a training, by its name; a GPU has nothing to win where all rows go at once in double precision."""
    owner = type(model).__name__
    _torch.load(owner)
    if model.device == "auto" and model.solver_ == "lbfgs":
        return "cpu"
    return str(_torch.device(model.device, owner))

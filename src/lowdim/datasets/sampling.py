"""What the generators share: checked arguments, the rounding of the published labels, arc lengths."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from numbers import Real

import numpy as np


def check_count(owner: str, value: object, name: str = "n_samples", least: int = 1) -> int:
    """A number of rows or pixels as an int."""
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError
        count = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"{owner}: {name} must be a whole number; got {value!r}.") from None
    if count < least:
        raise ValueError(f"{owner}: {name} must be at least {least}; got {count}.")
    return count


def check_noise(owner: str, noise: object) -> float:
    """The standard deviation of the added noise as a float."""
    if not isinstance(noise, Real) or isinstance(noise, (bool, np.bool_)):
        raise TypeError(f"{owner}: noise must be a number (a standard deviation); got {noise!r}.")
    sd = float(noise)
    if not (math.isfinite(sd) and sd >= 0):
        raise ValueError(f"{owner}: noise must be finite and at least 0; got {noise!r}.")
    return sd


def start(owner: str, n_samples: object, noise: object, random_state: object) -> tuple[int, float, np.random.Generator]:
    """Checked arguments and the generator: the first line of every data set."""
    n, sd = check_count(owner, n_samples), check_noise(owner, noise)
    from lowdim._core.runtime.rng import (
        generator,  # it imports scikit-learn, which a listing of names should not pay for
    )

    return n, sd, generator(random_state)


def round_half_away(values: np.ndarray) -> np.ndarray:
    """Round halves away from zero, as Matlab does; numpy's own rint sends 0.5 to 0."""
    # Adding 0.5 would also lift the largest double below 0.5 to 1, so the fraction is compared instead.
    size = np.abs(values)
    whole = np.floor(size)
    return np.copysign(whole + (size - whole >= 0.5), values)


def parity(*terms: np.ndarray) -> np.ndarray:
    """0 or 1 as the sum of the whole-valued terms is even or odd."""
    return np.abs(sum(terms)).astype(np.int64) % 2


def checkerboard(unit: np.ndarray, cells: int = 4) -> np.ndarray:
    """Two classes on a board of equal cells, from coordinates in [0, 1]."""
    squares = np.minimum(np.floor(unit * cells), cells - 1)
    return parity(squares.sum(axis=1))


def arc_length(speed: Callable[[np.ndarray], np.ndarray], t: np.ndarray, panels: int = 512) -> np.ndarray:
    """Length of a curve from 0 to each t in [0, 2 pi], given its speed |r'(t)|.

    Gauss-Legendre with five nodes on each of the panels, then on the rest of the panel t falls into: close
    to machine precision for the smooth speeds used here.
    """
    nodes, weights = np.polynomial.legendre.leggauss(5)

    def piece(left: np.ndarray, right: np.ndarray) -> np.ndarray:
        half = (right - left)[:, None] / 2
        return (half * weights * speed(left[:, None] + half * (nodes + 1))).sum(axis=1)

    edges = np.linspace(0, 2 * np.pi, panels + 1)
    until = np.concatenate([[0.0], np.cumsum(piece(edges[:-1], edges[1:]))])
    panel = np.clip(np.searchsorted(edges, t, side="right") - 1, 0, panels - 1)
    return until[panel] + piece(edges[panel], t)


def spiral_length(t: np.ndarray, pitch: float = 0.0) -> np.ndarray:
    """Arc length of (t cos t, t sin t, pitch t) from 0 to t, whose speed is sqrt(1 + pitch^2 + t^2)."""
    b2 = 1 + pitch * pitch
    return (t * np.sqrt(b2 + t * t) + b2 * np.arcsinh(t / np.sqrt(b2))) / 2

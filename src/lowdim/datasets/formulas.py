"""Formulas that several data sets use: rounding of the published labels, checkerboards, arc lengths."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


def round_half_away(values: np.ndarray) -> np.ndarray:
    """Round halves away from zero, as Matlab does; numpy.rint rounds 0.5 to 0."""
    # Adding 0.5 would round the largest double below 0.5 to 1, so the fraction is compared instead.
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

    Gauss-Legendre with five nodes on each of the panels, then on the rest of the panel that contains t: nearly
    machine precision for the smooth speeds used here.
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

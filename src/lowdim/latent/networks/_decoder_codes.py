"""The loss of inverse nonlinear PCA with its gradient: weights of a decoder and the codes of all rows together.

Codes start from a self-organising map, and between rounds of L-BFGS rows move to better codes elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lowdim._core.runtime import threads
from lowdim._core.runtime.notices import warn
from lowdim.latent.networks._decoder_placement import Decoder, best_anchors, noise_variance, wrapped
from lowdim.latent.networks._incomplete import split_rows
from lowdim.latent.networks._levels import Levels, along_circles, misfit, on_circles
from lowdim.latent.networks._network import Network
from lowdim.latent.networks._restarts import Restarts, train
from lowdim.latent.networks._settings import Architecture, widths
from lowdim.latent.self_organizing_map import UNITS, organize

Array = np.ndarray
ANCHORS = 256  # fitted codes that new rows may start from
REMOVED_SHARE = 0.1  # of the observed cells, to choose the widths by
TIMES = (1, 2, 3, 4, 6)  # of 2 + 2k units: the widths tried
BLOCK = 4096  # rows compared with the anchors at a time


@dataclass(frozen=True, eq=False)
class DecoderWithCodes:
    """Scaled rows (0 where a cell is missing), and the decoder to be fitted to them together with their codes."""

    X: Array
    observed: Array
    net: Network
    levels: Levels
    circular: bool
    weight_decay: float
    k: int

    @classmethod
    def of(cls, rows: Array, hidden: tuple[int, ...], architecture: Architecture) -> DecoderWithCodes:
        """With the hidden widths of the decoder."""
        X, observed = split_rows(rows)
        net, levels = architecture.decoder(hidden, rows.shape[1]), architecture.levels
        circular, weight_decay = architecture.circular, architecture.weight_decay
        return cls(X, observed, net, levels, circular, weight_decay, architecture.n_components)

    @property
    def ridge(self) -> float:
        """Penalty on the squared code of one row beside half its squared error: the same balance as in `loss`."""
        return 0.0 if self.circular else self.weight_decay * float(self.observed.sum()) / len(self.X) / self.k

    def codes(self, x: Array) -> Array:
        """The codes among the parameters."""
        return x[self.net.n_parameters :].reshape(len(self.X), self.k)

    def embedding(self, x: Array) -> Array:
        """The codes of the rows under parameters x; angles from -pi to pi where circular."""
        return wrapped(self.codes(x)) if self.circular else self.codes(x).copy()

    @property
    def anchor_rows(self) -> Array:
        """Some of the sorted rows, evenly spaced."""
        return np.unique(np.linspace(0, len(self.X) - 1, min(len(self.X), ANCHORS)).astype(int))

    def decoder(self, x: Array) -> Decoder:
        """The decoder alone, with the codes of some rows as anchors."""
        layers = self.net.layers(x[: self.net.n_parameters])
        return Decoder(self.net, layers, self.levels, self.circular, self.ridge, self.codes(x)[self.anchor_rows])

    def noise(self, x: Array) -> float:
        """Variance of a cell about the surface."""
        return noise_variance(self.decoder(x), self.codes(x), self.X, self.observed, len(x), self.anchor_rows)

    def loss(self, x: Array) -> tuple[float, Array]:
        """Mean squared error of the observed cells plus decay, and the gradient by all parameters."""
        p, cells, decayed = self.net.n_parameters, self.observed.sum(), self.net.weights_mask()
        theta, Z = x[:p], self.codes(x)
        C = on_circles(Z) if self.circular else Z
        error, by_weights, by_codes = misfit(self.net, self.net.layers(theta), C, self.X, self.observed, self.levels)
        loss = error / cells + self.weight_decay * float(decayed @ np.square(theta))
        by_weights = by_weights / cells + 2 * self.weight_decay * decayed * theta
        if self.circular:
            by_codes = along_circles(Z, by_codes) / cells
        else:
            loss += self.weight_decay * float(np.square(Z).mean())
            by_codes = by_codes / cells + (2 * self.weight_decay / Z.size) * Z
        return loss, np.concatenate([by_weights, by_codes.ravel()])

    def initial(self, rng: np.random.Generator) -> Array:
        """Random weights; codes from a self-organising map, or random where a grid would need too many units."""
        if self.k in UNITS:
            found = organize(self.X, self.observed, self.k, rng, ring=self.circular)
            Z = found.grid[found.units]
            Z = 2 * np.pi * Z / UNITS[self.k] - np.pi if self.circular else _standardised(Z)
        else:
            Z = rng.standard_normal((len(self.X), self.k)) * (2.0 if self.circular else 0.1)
        return np.concatenate([self.net.initial(rng), Z.ravel()])

    def improve_codes(self, x: Array) -> Array:
        """Codes replaced by the best anchor, where that fits the row better."""
        decoder, Z = self.decoder(x), self.codes(x)
        moved = [
            best_anchors(decoder, Z[rows], self.X[rows], self.observed[rows])
            for rows in threads.blocks(len(self.X), BLOCK)
        ]
        return np.concatenate([x[: self.net.n_parameters], np.concatenate(moved).ravel()])

    def fitted(self, x: Array) -> Array:
        """The decoded rows."""
        return self.decoder(x).rows(self.codes(x))


def _standardised(Z: Array) -> Array:
    Z = Z - Z.mean(axis=0)
    return Z / np.maximum(Z.std(axis=0), 1e-12)


def default_widths(k: int) -> tuple[int, ...]:
    """One hidden layer for k components."""
    return (10 + 2 * k,)


def largest_widths(hidden: Any, k: int) -> tuple[int, ...]:
    """The widest layers that a setting of `hidden` may lead to."""
    if hidden is None:
        return default_widths(k)
    return (TIMES[-1] * (2 + 2 * k),) if hidden == "auto" else widths(hidden)


def best_width(
    rows: Array, architecture: Architecture, training: Restarts, rng: np.random.Generator
) -> tuple[tuple[int, ...], dict[str, float] | None]:
    """The width that predicts artificially removed cells best (Scholz, 2012), and the error of each width tried."""
    k, training = architecture.n_components, replace(training, callback=None)
    remaining, removed = _remove_cells(rows, k, rng)
    if not removed.any():
        return default_widths(k), None
    errors = {}
    for times in TIMES:
        width = times * (2 + 2 * k)
        problem = DecoderWithCodes.of(remaining, (width,), architecture)
        fitted = problem.fitted(train(problem, training, rng).x)
        errors[str(width)] = float(np.square((fitted - rows)[removed]).mean())
    return (int(min(errors, key=lambda name: errors[name])),), errors


def _remove_cells(rows: Array, k: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """The rows with more cells missing, one a row, from rows that keep more cells than they have components."""
    observed = ~np.isnan(rows)
    counts = observed.sum(axis=1)
    spare = np.flatnonzero(counts > k + 1)
    if not len(spare):
        spare = np.flatnonzero(counts > 1)
        warn(
            f"InverseNLPCA: hidden='auto' removes cells to choose a width, and no row keeps more than n_components={k} "
            "cells then, so that its code is poorly determined and so is the choice. Give hidden as a number."
        )
    removed = np.zeros_like(observed)
    for i in rng.permutation(spare)[: max(1, round(REMOVED_SHARE * observed.sum()))]:
        removed[i, rng.choice(np.flatnonzero(observed[i]))] = True
    return np.where(removed, np.nan, rows), removed

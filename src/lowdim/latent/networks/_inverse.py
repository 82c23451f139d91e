"""Training of inverse NLPCA: weights and codes by L-BFGS, from self-organised starts, in rounds with jumps between."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lowdim._core.runtime import threads
from lowdim._core.runtime.notices import warn
from lowdim.latent.networks import _settings as settings
from lowdim.latent.networks._decoder_placement import Decoder, nearest_anchor, noise_variance
from lowdim.latent.networks._levels import Levels, along_circles, misfit, on_circles
from lowdim.latent.networks._network import Network
from lowdim.latent.networks._restarts import train
from lowdim.latent.networks._self_organizing_map import UNITS, organize

Array = np.ndarray
ANCHORS = 256  # fitted codes that new rows may start from
HIDDEN_SHARE = 0.1  # of the observed cells, to choose the widths by
TIMES = (1, 2, 3, 4, 6)  # of 2 + 2k units: the widths tried


@dataclass(frozen=True, eq=False)
class Problem:
    """Scaled rows (0 where not seen), and the network to be fitted to them."""

    X: Array
    seen: Array
    net: Network
    levels: Levels
    circular: bool
    decay: float
    k: int

    @classmethod
    def of(cls, model: Any, rows: Array, hidden: tuple[int, ...]) -> Problem:
        """With the settings of an estimator."""
        X, seen = split(rows)
        k = model.n_components
        net = Network.of((2 * k if model.circular else k, *hidden, rows.shape[1]), model.activation)
        levels = Levels.of(k, model.hierarchical, model.level_weights, model.circular)
        return cls(X, seen, net, levels, model.circular, model.weight_decay, k)

    @property
    def ridge(self) -> float:
        """What holds the code of one row back, beside half its squared error: the same balance as in the whole loss."""
        return 0.0 if self.circular else self.decay * float(self.seen.sum()) / len(self.X) / self.k

    def codes(self, x: Array) -> Array:
        """The part of the parameters that are codes."""
        return x[self.net.n_parameters :].reshape(len(self.X), self.k)

    @property
    def anchor_rows(self) -> Array:
        """Some of the sorted rows, spread over them."""
        return np.unique(np.linspace(0, len(self.X) - 1, min(len(self.X), ANCHORS)).astype(int))

    def decoder(self, x: Array) -> Decoder:
        """With the codes of these rows as anchors."""
        layers = self.net.layers(x[: self.net.n_parameters])
        return Decoder(self.net, layers, self.levels, self.circular, self.ridge, self.codes(x)[self.anchor_rows])

    def noise(self, x: Array) -> float:
        """Variance of a cell about the surface."""
        return noise_variance(self.decoder(x), self.codes(x), self.X, self.seen, len(x), self.anchor_rows)

    def loss(self, x: Array) -> tuple[float, Array]:
        """Mean squared error of the observed cells and decay, with derivatives by all parameters."""
        p, cells, decayed = self.net.n_parameters, self.seen.sum(), self.net.weights_mask()
        theta, Z = x[:p], self.codes(x)
        C = on_circles(Z) if self.circular else Z
        error, by_weights, by_codes = misfit(self.net, self.net.layers(theta), C, self.X, self.seen, self.levels)
        loss = error / cells + self.decay * float(decayed @ np.square(theta))
        by_weights = by_weights / cells + 2 * self.decay * decayed * theta
        if self.circular:
            by_codes = along_circles(Z, by_codes) / cells
        else:
            loss += self.decay * float(np.square(Z).mean())
            by_codes = by_codes / cells + (2 * self.decay / Z.size) * Z
        return loss, np.concatenate([by_weights, by_codes.ravel()])

    def start(self, rng: np.random.Generator) -> Array:
        """Random weights; codes from a self-organising map, or random where a grid would need too many units."""
        if self.k in UNITS:
            found = organize(self.X, self.seen, self.k, rng, ring=self.circular)
            Z = found.grid[found.units]
            Z = 2 * np.pi * Z / UNITS[self.k] - np.pi if self.circular else _unit(Z)
        else:
            Z = rng.standard_normal((len(self.X), self.k)) * (2.0 if self.circular else 0.1)
        return np.concatenate([self.net.start(rng), Z.ravel()])

    def jump(self, x: Array) -> Array:
        """Codes moved to the best of the anchors, where it is better than where they are."""
        decoder = self.decoder(x)
        Z = np.concatenate(
            [
                nearest_anchor(decoder, self.codes(x)[part], self.X[part], self.seen[part])
                for part in threads.blocks(len(self.X), 4096)
            ]
        )
        return np.concatenate([x[: self.net.n_parameters], Z.ravel()])


def split(rows: Array) -> tuple[Array, Array]:
    """Rows with 0 for missing cells, and 1 where a cell is there."""
    seen = ~np.isnan(rows)
    return np.where(seen, rows, 0.0).astype(np.float64), seen.astype(np.float64)


def _unit(Z: Array) -> Array:
    Z = Z - Z.mean(axis=0)
    return Z / np.maximum(Z.std(axis=0), 1e-12)


def widths_of(hidden: Any, k: int, final: bool = False) -> tuple[int, ...]:
    """Hidden widths that need no look at the rows."""
    if hidden is None or (hidden == "auto" and not final):
        return (10 + 2 * k,)
    return (TIMES[-1] * (2 + 2 * k),) if hidden == "auto" else settings.widths(hidden)


def chosen_widths(model: Any, rows: Array, rng: np.random.Generator) -> tuple[tuple[int, ...], dict[str, float] | None]:
    """The hidden widths: given, or those that predict artificially removed cells best (Scholz, 2012)."""
    if model.hidden != "auto":
        return widths_of(model.hidden, model.n_components), None
    holed, removed = _remove(rows, model.n_components, rng)
    if not removed.any():
        return widths_of(None, model.n_components), None
    errors = {}
    for times in TIMES:
        width = times * (2 + 2 * model.n_components)
        problem = Problem.of(model, holed, (width,))
        found = train(problem, model, rng)
        fitted = _fitted(problem, found.x)
        errors[str(width)] = float(np.square((fitted - rows)[removed]).mean())
    return (int(min(errors, key=lambda name: errors[name])),), errors


def _fitted(problem: Problem, x: Array) -> Array:
    Z = problem.codes(x)
    return problem.net(problem.net.layers(x[: problem.net.n_parameters]), on_circles(Z) if problem.circular else Z)


def _remove(rows: Array, k: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """The rows with some more cells missing, one a row, from rows that keep more cells than they have components."""
    seen = ~np.isnan(rows)
    counts = seen.sum(axis=1)
    spare = np.flatnonzero(counts > k + 1)
    if not len(spare):
        spare = np.flatnonzero(counts > 1)
        warn(
            f"InverseNLPCA: hidden='auto' hides cells to choose a width, and no row keeps more than n_components={k} "
            "cells then, so that its code is hardly known and the choice means little. Give hidden as a number."
        )
    removed = np.zeros_like(seen)
    for i in rng.permutation(spare)[: max(1, round(HIDDEN_SHARE * seen.sum()))]:
        removed[i, rng.choice(np.flatnonzero(seen[i]))] = True
    return np.where(removed, np.nan, rows), removed

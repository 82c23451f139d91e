"""Stochastic stress minimisation for very many rows: each step uses the dissimilarities of a few drawn rows.

Each step draws a few rows and computes their dissimilarities to all. Every point moves by the mean force of the drawn
rows times a step length that shrinks; a drawn row, whose dissimilarities are all known, makes its full Guttman step.
It is stochastic gradient descent pair by pair with annealed steps (Zheng, Pawar and Goodman, 2019), but in blocks: the
same work per pair, no sequential order of pairs, and no table of all pairs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from lowdim import _native
from lowdim._core.callbacks import Relay
from lowdim._core.iterate import Callback, Progress
from lowdim._core.runtime import threads
from lowdim._core.runtime.notices import warn
from lowdim.stress._dissimilarities import Dissimilarities
from lowdim.stress._fit import Fitted, Settings
from lowdim.stress._initial import classical_of_table, principal_axes, random_configuration
from lowdim.stress._majorize import apart
from lowdim.stress._report import StressForms
from lowdim.stress._weights import check_connected, weight_table

Array = np.ndarray

# The best of fifteen settings on 3,000 digits; benchmarks/cases/mds.py measures them on 10,000.
BATCH = 64
MAX_STEPS = 200
LENGTHS = (2.0, 0.05)  # of the first and the last step, decreasing by a constant factor
SWEEP = 256  # rows at a time where the stress of all pairs is computed


def fit_stochastic(dissimilarities: Dissimilarities, settings: Settings) -> Fitted:
    """A configuration from drawn rows; its diagnostics are computed on all pairs, once."""
    n = dissimilarities.n
    unit = _unit(dissimilarities, settings.rng)
    weights, weight_unit = weight_table(settings.weights, n, dissimilarities.X.dtype, "MDS")
    plain = Sampler(dissimilarities, unit, weights, 0.0)
    check_connected(n, plain.linked, "MDS")
    sampler = Sampler(dissimilarities, unit, weights, settings.power)
    points, losses, stopped = _best(sampler, settings)
    points = np.ascontiguousarray(principal_axes(points))
    Z = points.astype(settings.dtype)
    exact = np.ascontiguousarray(Z, dtype=np.float64)
    sums, point = _measure(plain, exact, settings.n_jobs)
    weighted = _measure(sampler, exact, settings.n_jobs)[0] if settings.power else sums
    forms = StressForms.of_sums(*sums)
    return Fitted(
        Z,
        points,
        1.0,
        None,
        unit,
        unit,
        replace(forms, raw=weight_unit * forms.raw),
        point,
        _loss(weighted),
        np.sqrt(losses),
        len(losses),
        not stopped and _converged(losses, Z.dtype),
        n,
    )


def _best(sampler: Sampler, settings: Settings) -> tuple[Array, Array, bool]:
    """The run of lowest loss, its losses, and whether the callback stopped the fit.

    The first run starts from `init`, the others from random configurations.
    """
    n, relay = sampler.dissimilarities.n, Relay(settings.callback)
    callback = relay.showing(lambda Z: (sampler.unit * Z).astype(settings.dtype))
    runs: list[tuple[Array, Array]] = []
    while len(runs) < settings.n_init and not relay.stopped:
        if runs or settings.initial is None:
            Z = random_configuration(n, settings.r, settings.rng)
        else:
            Z = settings.initial(None, np.arange(n), sampler.unit)
        runs.append(_run(sampler, Z - Z.mean(axis=0), settings, callback))
    losses = [_loss(_measure(sampler, Z, settings.n_jobs)[0]) for Z, _ in runs] if len(runs) > 1 else [0.0]
    return *runs[int(np.argmin(losses))], relay.stopped


def _loss(sums: tuple[float, float, float, float]) -> float:
    return sums[0] / max(sums[3], np.finfo(float).tiny)


def _converged(losses: Array, dtype: Any) -> bool:
    """Whether the mean loss of the last quarter of the steps is that of the last half; otherwise a warning."""
    steps = len(losses)
    late, last = losses[steps // 2 :].mean(), losses[3 * steps // 4 :].mean()
    converged = bool(abs(late - last) <= 0.02 * last + float(np.finfo(dtype).eps))
    if not converged:
        way = "Raise max_iter." if steps < MAX_STEPS else "Try another init, or fit on a sample and transform the rest."
        warn(f"MDS: not converged after {steps} steps (stress {np.sqrt(last):.6g}). {way}", ConvergenceWarning)
    return converged


@dataclass(frozen=True, eq=False)
class Sampler:
    """Rows of dissimilarities in units of `unit`, and of weights: those given, over delta**power."""

    dissimilarities: Dissimilarities
    unit: float
    weights: Array | None
    power: float

    def linked(self, i: int) -> Array:
        """The rows whose dissimilarity to row i is known and has a positive weight."""
        D, W = self.rows(np.array([i]))
        return W[0] > 0 if W.size else np.ones(D.shape[1], bool)

    def rows(self, chosen: Array) -> tuple[Array, Array]:
        """Both, as the compiled code takes them; no weights where all are 1."""
        D = np.ascontiguousarray(self.dissimilarities.rows(chosen) / self.unit)
        holes = np.isnan(D)
        unknown = holes.any()
        if self.weights is None and not self.power and not unknown:
            return D, np.empty((0, 0), D.dtype)
        D = np.where(holes, D.dtype.type(0), D) if unknown else D
        W = np.ones_like(D) if self.weights is None else np.asarray(self.weights[chosen], dtype=D.dtype)
        if self.power:
            W = np.divide(W, D**self.power, out=np.zeros_like(W), where=apart(D, self.power))
        return D, np.where(holes, D.dtype.type(0), W)


def classical_of_landmarks(dissimilarities: Dissimilarities, r: int, rng: np.random.Generator, unit: float) -> Array:
    """Classical scaling through landmarks, with the root mean square of all dissimilarities for unknown ones."""

    def rows(chosen: Array) -> Array:
        D = np.asarray(dissimilarities.rows(chosen), dtype=np.float64) / unit
        return np.where(np.isnan(D), 1.0, D)

    return classical_of_table(rows, dissimilarities.n, r, rng)


def _unit(dissimilarities: Dissimilarities, rng: np.random.Generator) -> float:
    """Root mean square of the dissimilarities of some rows; 1 where they are all 0."""
    n = dissimilarities.n
    D = np.asarray(dissimilarities.rows(np.sort(rng.permutation(n)[: min(n, BATCH)])), dtype=np.float64)
    unit = float(np.sqrt(np.nanmean(np.square(D))))
    return unit if unit > 0 else 1.0


def _run(sampler: Sampler, Z: Array, settings: Settings, callback: Callback | None) -> tuple[Array, Array]:
    """The configuration after all steps, and the loss of the drawn pairs in each."""
    n, batch, n_steps = len(Z), min(BATCH, len(Z)), min(MAX_STEPS, settings.max_iter)
    force, losses = np.empty_like(Z), np.empty(n_steps)
    own, stress = np.empty((batch, Z.shape[1])), np.empty(batch)
    order, n_threads = np.empty(0, np.intp), threads.n_threads(settings.n_jobs)
    first, last = LENGTHS
    with Progress("MDS", n_steps, settings.verbose) as progress:
        for step in range(n_steps):
            order = settings.rng.permutation(n) if len(order) < batch else order
            chosen, order = np.sort(order[:batch]), order[batch:]
            D, W = sampler.rows(chosen)
            _native.stress_rows(D, W, chosen.astype(np.int64), Z, force, own, stress, n_threads)
            losses[step] = stress.sum() / max(_squares(D, W), np.finfo(float).tiny)
            length = first * (last / first) ** (step / max(n_steps - 1, 1))
            full = Z[chosen] + own / _sums(W, 1, n)
            Z = Z + length * force / _sums(W, 0, batch)
            Z[chosen] = full
            progress.advance(f"stress {np.sqrt(losses[step]):.6g}")
            if callback is not None and callback(step + 1, float(losses[step]), Z):
                return Z, losses[: step + 1]
    return Z, losses


def _squares(D: Array, W: Array) -> float:
    return float(np.einsum("ij,ij->", D, D * W if W.size else D, dtype=np.float64))


def _sums(W: Array, axis: int, count: int) -> Any:
    """Sums of the weights, as divisors of forces; infinite for a point without weight, which does not move."""
    if not W.size:
        return count
    sums = W.sum(axis=axis, dtype=np.float64)
    return np.where(sums > 0, sums, np.inf)[:, None]


def _measure(sampler: Sampler, Z: Array, n_jobs: int | None) -> tuple[tuple[float, float, float, float], Array]:
    """Over all pairs, some rows at a time: the sums that `StressForms` takes, and the stress of each point's pairs."""
    n, r = Z.shape
    point, gain, length, size = np.empty(n), 0.0, 0.0, 0.0
    scratch, n_threads = np.empty((n, r)), threads.n_threads(n_jobs)
    for part in threads.blocks(n, SWEEP):
        chosen = np.arange(n, dtype=np.int64)[part]
        D, W = sampler.rows(chosen)
        own, stress = np.empty((len(chosen), r)), np.empty(len(chosen))
        _native.stress_rows(D, W, chosen, Z, scratch, own, stress, n_threads)
        point[part] = stress
        gain += float((own * Z[part]).sum())
        length += _squares(D, W) / 2
        if W.size:
            _native.stress_rows(np.zeros_like(D), W, chosen, Z, scratch, own, stress, n_threads)
            size += float(stress.sum()) / 2
    if size == 0:
        size = n * float(np.square(Z).sum()) - float(np.square(Z.sum(axis=0)).sum())
    return (float(point.sum()) / 2, gain, size, length), point

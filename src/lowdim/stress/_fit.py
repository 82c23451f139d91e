"""From the dissimilarities of all pairs to a configuration: weights, initialisation, solver, the best run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from lowdim._core.callbacks import Relay
from lowdim._core.iterate import Callback, Run
from lowdim._core.runtime.notices import warn
from lowdim.stress._dissimilarities import Dissimilarities
from lowdim.stress._initial import classical_of_table, out_of_flat, principal_axes, random_configuration
from lowdim.stress._levels import level_of
from lowdim.stress._majorize import Pairs
from lowdim.stress._report import StressForms
from lowdim.stress._solvers import Evaluated, Problem, minimize_stress
from lowdim.stress._weights import check_connected, known, merged, over_power, same_rows, user_weights

Array = np.ndarray

POWERS = {"raw": 0.0, "sammon": 1.0, "elastic": 2.0}


@dataclass(frozen=True, eq=False)
class Settings:
    """Settings of a fit."""

    r: int
    level: str
    ties: str
    power: float  # weights are those given, over delta to this power
    weights: Any
    solver: str
    initial: Callable[[Pairs | None, Array, float], Array] | None  # (pairs, rows, unit) -> first configuration
    n_init: int
    max_iter: int
    tol: float
    callback: Callback | None
    rng: np.random.Generator
    n_jobs: int | None
    verbose: int | bool
    dtype: Any


@dataclass(frozen=True, eq=False)
class Fitted:
    """A configuration with its diagnostics; lengths are around 1."""

    Z: Array
    points: Array  # the same at the scale of lowest stress, for new rows
    stretch: float  # Z over points
    curve: Any
    unit: float  # of dissimilarities
    scale: float  # factor of distances and disparities in the result
    forms: StressForms
    point_stress: Array
    loss: float
    history: Array
    n_iter: int
    converged: bool
    n_groups: int  # number of different rows, where rows at dissimilarity 0 were merged
    delta: Array | None = None
    disparities: Array | None = None  # None where pairs are not kept


def fit_pairs(dissimilarities: Dissimilarities, settings: Settings) -> Fitted:
    """The best of several runs on all pairs."""
    pairs, weight_unit = _weighted(dissimilarities.pairs(), settings.weights)
    pairs, holes = known(pairs)
    return fit_in_units(*_in_units(pairs), settings, holes, weight_unit)


def fit_in_units(
    pairs: Any, unit: float, settings: Settings, holes: Array | None = None, weight_unit: float = 1.0
) -> Fitted:
    """The same from pairs (`Pairs`, or those of a device) in units of `unit`, and of `weight_unit` for weights."""
    if unit == 0:
        return _all_at_origin(pairs, holes, settings)
    group = same_rows(pairs, settings.power) if settings.power else np.arange(pairs.n)
    work = _with_power(pairs, group, settings.power)
    problem = Problem(work, level_of(settings.level, work, settings.ties), settings.n_jobs)
    scale = _scale(pairs, unit, settings.level)
    best, run = _best(problem, group, unit, scale, settings)
    points = principal_axes(problem.scaled(best.point.reshape(work.n, settings.r)))
    disparities = problem.disparities(points)
    if settings.level == "ordinal":
        problem.level.warn_of_degenerate(disparities, float(np.sqrt(best.loss)), "MDS")
    curve = problem.level.curve(disparities)
    disparities = disparities if work is pairs else pairs.delta
    # Kruskal's stress takes disparities as the regression of the distances: at this scale they are.
    stretch = 1.0 if settings.level == "ratio" else 1.0 / max(1.0 - best.loss, 1e-3)
    Z = (stretch * points[group]).astype(settings.dtype)
    exact = np.ascontiguousarray(Z, dtype=np.float64)
    forms = StressForms.of(pairs, disparities, exact, settings.n_jobs)
    return Fitted(
        Z,
        np.ascontiguousarray(points[group]),
        stretch,
        curve,
        unit,
        scale,
        replace(forms, raw=weight_unit * forms.raw),
        pairs.detail(exact / stretch, disparities, settings.n_jobs)[0],
        _powered_loss(pairs, work, exact, settings) if settings.power else forms.scale_optimal**2,
        np.sqrt(run.losses),
        run.n_iter,
        run.converged,
        work.n,
        _with_holes(pairs.delta, holes),
        _with_holes(disparities, holes),
    )


def _powered_loss(pairs: Pairs, work: Pairs, Z: Array, settings: Settings) -> float:
    """The loss of all pairs where weights depend on the dissimilarities; merged rows count one by one."""
    heavy = work if work.n == pairs.n else over_power(pairs, settings.power)
    return heavy.stress(Z, n_jobs=settings.n_jobs)[0] / heavy.total(heavy.delta)


def _with_holes(values: Array, holes: Array | None) -> Array:
    """NaN again where a dissimilarity is unknown."""
    return values if holes is None else np.where(holes, values.dtype.type(np.nan), values)


def _weighted(pairs: Pairs, weights: Any) -> tuple[Pairs, float]:
    if weights is None:
        return pairs, 1.0
    w, unit = user_weights(weights, pairs.n, pairs.delta.dtype, "MDS")
    return Pairs(pairs.n, pairs.delta, w), unit


def _in_units(pairs: Pairs) -> tuple[Pairs, float]:
    """Dissimilarities over a power of two near the largest, in place, and that power; 0 where all of them are 0.

    A power of two changes no digit: ties stay ties, and different values stay different.
    """
    w = pairs.weights
    if w is not None:
        check_connected(pairs.n, lambda i: pairs.row(w, i) > 0, "MDS")
    largest = float(pairs.delta.max(initial=0.0))
    unit = 2.0 ** int(np.frexp(largest)[1] - 1) if largest > 0 else 0.0
    if unit > 0:
        np.divide(pairs.delta, unit, out=pairs.delta)
    return pairs, unit


def _scale(pairs: Pairs, unit: float, level: str) -> float:
    """Factor of the result: "ordinal" has no unit; disparities of mean square 1 are scaled to that of the data."""
    if level == "ratio":
        return unit
    return 1.0 if level == "ordinal" else unit * float(np.sqrt(pairs.total(pairs.delta) / pairs.total()))


def _with_power(pairs: Pairs, group: Array, power: float) -> Pairs:
    if not power:
        return pairs
    return merged(pairs, group, power) if group.max() + 1 < pairs.n else over_power(pairs, power)


def _all_at_origin(pairs: Any, holes: Array | None, settings: Settings) -> Fitted:
    """All dissimilarities are 0: every row is at the origin."""
    Z = np.zeros((pairs.n, settings.r), settings.dtype)
    nothing = StressForms.of(pairs, pairs.delta, np.zeros(Z.shape), settings.n_jobs)
    points, each, history = np.zeros(Z.shape), np.zeros(pairs.n), np.zeros(1)
    delta = _with_holes(pairs.delta, holes)
    return Fitted(Z, points, 1.0, None, 1.0, 1.0, nothing, each, 0.0, history, 1, True, pairs.n, delta, delta)


def _best(problem: Problem, group: Array, unit: float, scale: float, settings: Settings) -> tuple[Evaluated, Run[None]]:
    """The run of lowest loss: the first from `init`, the others from random configurations.

    `group` is the row of the problem that stands for each row of the data, `scale` the factor to the user's units.
    """
    relay, rng = Relay(settings.callback), settings.rng
    callback = relay.showing(lambda Z: (scale * Z[group]).astype(settings.dtype))
    loop: dict[str, Any] = {"max_iter": settings.max_iter, "tol": settings.tol, "verbose": settings.verbose}
    _, members = np.unique(group, return_index=True)
    runs: list[tuple[Evaluated, Run[None]]] = []
    while len(runs) < settings.n_init and not relay.stopped:
        if runs or settings.initial is None:
            Z = random_configuration(problem.pairs.n, settings.r, rng)
        else:
            Z = settings.initial(problem.level.start, members, unit)
        Z = _spread(problem, Z, rng)
        runs.append(minimize_stress(problem, Z, settings.solver, callback=callback, warn=False, owner="MDS", **loop))
    best, run = min(runs, key=lambda pair: pair[0].loss)
    if relay.stopped:
        return best, replace(run, converged=False)
    if not run.converged:
        warn(
            f"MDS: not converged after max_iter={settings.max_iter} steps (stress {np.sqrt(best.loss):.6g}, "
            f"tol={settings.tol:g}). Raise max_iter or tol.",
            ConvergenceWarning,
        )
    return best, run


def _spread(problem: Problem, Z: Array, rng: np.random.Generator) -> Array:
    """The initial configuration at its best scale, with noise on flat axes unless it fits perfectly already."""
    Z = problem.scaled(Z - Z.mean(axis=0))
    flat = (np.square(Z).sum(axis=0) <= 1e-18 * np.square(Z).sum()).any()
    if flat and problem.evaluate(Z.ravel()).loss > 1e4 * problem.floor:
        Z = problem.scaled(out_of_flat(Z, rng))
    return Z


def classical_of_pairs(pairs: Pairs, r: int, rng: np.random.Generator) -> Array:
    """Classical scaling of pairs, with the mean of the known dissimilarities for unknown ones."""
    w = pairs.weights
    mean = 0.0 if w is None else float(pairs.delta[w > 0].mean())

    def rows(chosen: Array) -> Array:
        D = np.array([pairs.row(pairs.delta, i) for i in chosen], dtype=np.float64)
        if w is not None:
            unknown = np.array([pairs.row(w, i) for i in chosen]) == 0
            unknown[np.arange(len(chosen)), chosen] = False
            D[unknown] = mean
        return D

    return classical_of_table(rows, pairs.n, r, rng)

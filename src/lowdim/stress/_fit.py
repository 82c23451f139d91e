"""From dissimilarities of all pairs to a configuration: weights, starts, descent, the best of several."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from lowdim._core.runtime.notices import warn
from lowdim.stress._levels import level_of
from lowdim.stress._majorize import Pairs
from lowdim.stress._report import measures
from lowdim.stress._solvers import Problem, descend
from lowdim.stress._start import classical_of_table, out_of_flat, principal_axes, random_start
from lowdim.stress._table import Table
from lowdim.stress._weights import known, merged, over_power, refuse_parts, same_rows, user_weights

Array = np.ndarray

POWERS = {"raw": 0.0, "sammon": 1.0, "elastic": 2.0}


@dataclass(frozen=True, eq=False)
class Settings:
    """What a fit is asked for."""

    r: int
    level: str
    ties: str
    power: float  # weights are those given, over delta to this power
    weights: Any
    solver: str
    first: Callable[[Pairs | None, Array, float], Array] | None  # (pairs, different rows, unit) -> the first start
    n_init: int
    max_iter: int
    tol: float
    rng: np.random.Generator
    n_jobs: int | None
    verbose: int | bool
    dtype: Any


@dataclass(frozen=True, eq=False)
class Fitted:
    """A configuration and all that is said about it; lengths are around 1."""

    Z: Array
    points: Array  # the same at the size where the stress is lowest, which places new rows
    stretch: float  # Z over points
    curve: Any
    unit: float  # of dissimilarities
    scale: float  # what distances and disparities are multiplied by in the end
    forms: dict[str, float]
    point_stress: Array
    loss: float
    history: Array
    n_iter: int
    converged: bool
    n_groups: int  # rows that are different, where equal ones had to be one
    delta: Array | None = None
    disparities: Array | None = None  # None where pairs are not kept


def fit_pairs(table: Table, settings: Settings) -> Fitted:
    """The best of several descents on all pairs."""
    pairs, weight_unit = _weighted(table.pairs(), settings.weights)
    pairs, holes = known(pairs)
    pairs, unit = _in_units(pairs)
    if unit == 0:
        return _all_in_one(pairs, holes, settings)
    group = same_rows(pairs, settings.power) if settings.power else np.arange(pairs.n)
    work = _with_power(pairs, group, settings.power)
    problem = Problem(work, level_of(settings.level, work, settings.ties), settings.n_jobs)
    _, members = np.unique(group, return_index=True)
    place, run = _best(problem, members, unit, settings)
    points = principal_axes(problem.scaled(place.place.reshape(work.n, settings.r)))
    disparities = problem.disparities(points)
    if settings.level == "ordinal":
        problem.level.warn_of_clumps(disparities, float(np.sqrt(place.loss)), "MDS")
    curve = problem.level.curve(disparities)
    disparities = disparities if work is pairs else pairs.delta
    # Kruskal's stress takes disparities as the regression of the distances: at this size they are.
    stretch = 1.0 if settings.level == "ratio" else 1.0 / max(1.0 - place.loss, 1e-3)
    Z = (stretch * points[group]).astype(settings.dtype)
    exact = np.ascontiguousarray(Z, dtype=np.float64)
    forms = measures(pairs, disparities, exact, settings.n_jobs)
    return Fitted(
        Z,
        np.ascontiguousarray(points[group]),
        stretch,
        curve,
        unit,
        _scale(pairs, unit, settings.level),
        forms | {"stress_": weight_unit * forms["stress_"]},
        pairs.detail(exact / stretch, disparities, settings.n_jobs)[0],
        _powered_loss(pairs, work, exact, settings) if settings.power else forms["stress_scale_optimal_"] ** 2,
        np.sqrt(run.losses),
        run.n_iter,
        run.converged,
        work.n,
        _with_holes(pairs.delta, holes),
        _with_holes(disparities, holes),
    )


def _powered_loss(pairs: Pairs, work: Pairs, Z: Array, settings: Settings) -> float:
    """Of all pairs at these places, where weights follow from the dissimilarities; merged ones count one by one."""
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
    """Dissimilarities over a power of two near the largest, in place; 0 where all of them are 0.

    A power of two changes no digit: what ties goes on to tie, and what differs to differ.
    """
    w = pairs.weights
    if w is not None:
        refuse_parts(pairs.n, lambda i: pairs.row(w, i) > 0, "MDS")
    largest = float(pairs.delta.max(initial=0.0))
    unit = 2.0 ** int(np.frexp(largest)[1] - 1) if largest > 0 else 0.0
    if unit > 0:
        np.divide(pairs.delta, unit, out=pairs.delta)
    return pairs, unit


def _scale(pairs: Pairs, unit: float, level: str) -> float:
    """Order alone has no unit; a line or a spline has disparities of mean square 1, brought to that of the data."""
    if level == "ratio":
        return unit
    return 1.0 if level == "ordinal" else unit * float(np.sqrt(pairs.total(pairs.delta) / pairs.total()))


def _with_power(pairs: Pairs, group: Array, power: float) -> Pairs:
    if not power:
        return pairs
    return merged(pairs, group, power) if group.max() + 1 < pairs.n else over_power(pairs, power)


def _all_in_one(pairs: Pairs, holes: Array | None, settings: Settings) -> Fitted:
    """Nothing differs: every row is at the origin."""
    Z = np.zeros((pairs.n, settings.r), settings.dtype)
    nothing = measures(pairs, pairs.delta, np.zeros(Z.shape), settings.n_jobs)
    points, each, history = np.zeros(Z.shape), np.zeros(pairs.n), np.zeros(1)
    delta = _with_holes(pairs.delta, holes)
    return Fitted(Z, points, 1.0, None, 1.0, 1.0, nothing, each, 0.0, history, 1, True, pairs.n, delta, delta)


def _best(problem: Problem, members: Array, unit: float, settings: Settings) -> Any:
    """The run that ends lowest: the first from the start asked for, the others from anywhere."""
    n, loop = problem.pairs.n, {"max_iter": settings.max_iter, "tol": settings.tol, "verbose": settings.verbose}
    runs = []
    for i in range(settings.n_init):
        first = settings.first if i == 0 else None
        Z = random_start(n, settings.r, settings.rng) if first is None else first(problem.level.start, members, unit)
        Z = _spread(problem, Z, settings.rng)
        runs.append(descend(problem, Z, settings.solver, warn=False, owner="MDS", **loop))
    place, run = min(runs, key=lambda pair: pair[0].loss)
    if not run.converged:
        warn(
            f"MDS: not converged after max_iter={settings.max_iter} steps (stress {np.sqrt(place.loss):.6g}, "
            f"tol={settings.tol:g}). Raise max_iter or tol.",
            ConvergenceWarning,
        )
    return place, run


def _spread(problem: Problem, Z: Array, rng: np.random.Generator) -> Array:
    """The start at its best size, with extent along every axis that can use it."""
    Z = problem.scaled(Z - Z.mean(axis=0))
    flat = (np.square(Z).sum(axis=0) <= 1e-18 * np.square(Z).sum()).any()
    if flat and problem.evaluate(Z.ravel()).loss > 1e4 * problem.floor:
        Z = problem.scaled(out_of_flat(Z, rng))
    return Z


def classical(pairs: Pairs, r: int, rng: np.random.Generator) -> Array:
    """Classical scaling of pairs; an unknown dissimilarity counts as the mean of the known ones."""
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

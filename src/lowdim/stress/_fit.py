"""From dissimilarities of all pairs to a configuration: weights, starts, descent, the best of several."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from lowdim._core.majorize import Pairs, reached
from lowdim._core.notices import warn
from lowdim.stress._levels import level_of
from lowdim.stress._solvers import Problem, descend
from lowdim.stress._start import classical_of_table, out_of_flat, principal_axes, random_start
from lowdim.stress._weights import known, merged, over_power, same_rows

Array = np.ndarray

POWERS = {"raw": 0.0, "sammon": 1.0, "elastic": 2.0}


@dataclass(frozen=True, eq=False)
class Fitted:
    """A configuration in units of `unit`, with its disparities and how it was found."""

    Z: Array
    pairs: Pairs  # dissimilarities in the same unit, with the weights that were given
    disparities: Array
    curve: Any
    unit: float
    stretch: float  # of the configuration shown: to where the disparities are the regression of its distances
    loss: float
    history: Array
    n_iter: int
    converged: bool
    n_groups: int  # rows that are different, where equal ones had to be one


def in_units(pairs: Pairs, owner: str) -> tuple[Pairs, float]:
    """Dissimilarities over their root mean square, in place; 0 where all of them are 0."""
    pairs = known(pairs)
    apart = int((~reached(pairs)).sum())
    if apart:
        raise ValueError(
            f"{owner}: known dissimilarities of positive weight must join all rows; {apart} of {pairs.n} cannot be "
            "reached from the first one. Leave them out, or fill some of their dissimilarities in."
        )
    unit = float(np.sqrt(pairs.total(pairs.delta) / pairs.total()))
    if unit > 0:
        delta = pairs.delta
        np.divide(delta, unit, out=delta)
    return pairs, unit


def fit_pairs(
    pairs: Pairs,
    unit: float,
    r: int,
    *,
    level: str,
    ties: str,
    power: float,
    first: Any,
    n_init: int,
    rng: np.random.Generator,
    solver: str,
    n_jobs: int | None,
    **settings: Any,
) -> Fitted:
    """The best of `n_init` descents: the first from `first` (a function of the pairs), the others from anywhere."""
    group = same_rows(pairs) if power else np.arange(pairs.n)
    work = pairs
    if power:
        work = merged(pairs, group, power) if group.max() + 1 < pairs.n else over_power(pairs, power)
    _, members = np.unique(group, return_index=True)
    problem = Problem(work, level_of(level, work, ties), n_jobs)
    runs = []
    for i in range(n_init):
        Z = first(work, members) if i == 0 and first is not None else random_start(work.n, r, rng)
        runs.append(descend(problem, _spread(problem, Z, rng), solver, warn=False, **settings))
    place, run = min(runs, key=lambda pair: pair[0].loss)
    if not run.converged:
        warn(
            f"{settings['owner']}: not converged after max_iter={settings['max_iter']} steps (stress "
            f"{np.sqrt(place.loss):.6g}, tol={settings['tol']:g}). Raise max_iter or tol.",
            ConvergenceWarning,
        )
    Z = principal_axes(problem.scaled(place.place.reshape(work.n, r)))
    disparities = problem.disparities(Z)
    if level == "ordinal":
        problem.level.warn_of_clumps(disparities, np.sqrt(place.loss), settings["owner"])
    curve = problem.level.curve(disparities)
    stretch = 1.0 if level == "ratio" else 1.0 / max(1.0 - place.loss, 1e-3)
    disparities = disparities if work is pairs else pairs.delta
    history = np.sqrt(run.losses)
    return Fitted(
        Z[group], pairs, disparities, curve, unit, stretch, place.loss, history, run.n_iter, run.converged, work.n
    )


def _spread(problem: Problem, Z: Array, rng: np.random.Generator) -> Array:
    """The start at its best size, with extent along every axis that can use it."""
    Z = problem.scaled(Z - Z.mean(axis=0))
    flat = (np.square(Z).sum(axis=0) <= 1e-18 * np.square(Z).sum()).any()
    if flat and problem.evaluate(Z.ravel()).loss > 1e4 * problem.floor:
        Z = problem.scaled(out_of_flat(Z, rng))
    return Z


def classical(pairs: Pairs, r: int, rng: np.random.Generator) -> Array:
    """Classical scaling; unknown dissimilarities count as the mean of those of their rows."""
    w = pairs.weights
    mean = pairs.delta.mean() if w is None else pairs.delta[w > 0].mean()

    def rows(chosen: Array) -> Array:
        D = np.array([pairs.row(pairs.delta, i) for i in chosen], dtype=np.float64)
        if w is not None:
            unknown = np.array([pairs.row(w, i) for i in chosen]) == 0
            unknown[np.arange(len(chosen)), chosen] = False
            D[unknown] = mean
        return D

    return classical_of_table(rows, pairs.n, r, rng)

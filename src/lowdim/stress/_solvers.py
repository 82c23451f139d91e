"""Solvers that minimise the stress, all by one function: a configuration's loss, forces and Guttman transform."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from lowdim._core.iterate import Callback, Run, iterate
from lowdim.stress._levels import Ratio
from lowdim.stress._majorize import laplacian_solver

Array = np.ndarray

Step = Callable[[Any], tuple[Any, float]]

MEMORY = 9  # configurations kept: eight steps
FINE = 1e-12  # a tolerance below which changes of the loss are rounding
STRESS_SOLVERS = ("majorize", "accelerated", "gradient", "conjugate_gradient", "pseudo_newton")


@dataclass(frozen=True, eq=False)
class Evaluated:
    """A configuration as a vector, its Guttman transform, its loss, and the forces on its points."""

    point: Array
    image: Array
    loss: float
    force: Array

    @property
    def step(self) -> Array:
        return self.image - self.point


class Problem:
    """The loss sum w (dhat - d)^2 / sum w dhat^2 of a configuration, with the best disparities for it."""

    def __init__(self, pairs: Any, level: Any, n_jobs: int | None, solve: Callable[[Array], Array] | None = None):
        self.pairs, self.level, self.n_jobs = pairs, level, n_jobs
        self.metric = isinstance(level, Ratio)
        self.solve = laplacian_solver(pairs, n_jobs) if solve is None else solve
        self.length = pairs.total(pairs.delta) if self.metric else pairs.total()
        # Below the rounding of a perfect fit, changes mean nothing.
        self.floor = float((16 * np.finfo(pairs.delta.dtype).eps) ** 2)
        self._room: Array | None = None  # for the distances of each step: allocation is expensive

    def disparities(self, Z: Array) -> Array:
        """Those that fit best; overwritten by the next call."""
        if self.metric:
            return self.level.disparities(None)
        self._room = self.pairs.distances(Z, self.n_jobs, self._room)
        return self.level.disparities(self._room)

    def evaluate(self, point: Array) -> Evaluated:
        Z = point.reshape(self.pairs.n, -1)
        stress, force = self.pairs.stress(Z, self.disparities(Z), self.n_jobs)
        image = Z + self.solve(force)
        return Evaluated(point, image.ravel(), max(stress / self.length, self.floor), force.ravel())

    def transformed(self, force: Array) -> Array:
        """V^+ F."""
        return self.solve(force.reshape(self.pairs.n, -1)).ravel()

    def curvature(self, point: Array) -> Array:
        Z = point.reshape(self.pairs.n, -1)
        return self.pairs.detail(Z, self.disparities(Z), self.n_jobs)[1].ravel()

    def scaled(self, Z: Array) -> Array:
        """The configuration at its best scale, where sum w dhat d = sum w d^2; disparities do not depend on it."""
        _, force = self.pairs.stress(Z, self.disparities(Z), self.n_jobs)
        size = self.pairs.spread(Z, self.n_jobs)
        return Z * (1.0 + float((force * Z).sum()) / size) if size > 0 else Z


def minimize_stress(
    problem: Problem, Z: Array, solver: str, *, callback: Callback | None = None, **settings: Any
) -> tuple[Evaluated, Run]:
    """Iterate from Z: the last configuration, and how the loop ended.

    The callback gets the configuration, an array of shape (n, r), as state.
    """
    start = problem.evaluate(np.ascontiguousarray(Z).ravel())

    def show(state: Any) -> Array:
        return state[-1].point.reshape(problem.pairs.n, -1)

    step = _never_up(_STEPS[solver](problem), problem)
    run = iterate(step, (start,), callback=callback, show=show, **settings)
    fine = settings["tol"] <= FINE and not run.stopped
    found = _polished(problem, run.state[-1]) if fine else run.state[-1]
    converged = run.converged and not run.stopped
    return found, Run(None, np.append(start.loss, run.losses), run.n_iter, converged, run.stopped)


def _polished(problem: Problem, found: Evaluated) -> Evaluated:
    """Steps on to where the forces vanish: near there the loss changes by less than its rounding error."""
    state: tuple[Evaluated, ...] = (found,)
    for _ in range(100):
        found = problem.evaluate(state[-1].point + _quasi_newton_direction(problem, state))
        if np.linalg.norm(found.force) >= 0.99 * np.linalg.norm(state[-1].force):
            break
        state = (*state, found)[-MEMORY:]
    return state[-1]


def _never_up(step: Step, problem: Problem) -> Step:
    """The step, but never one that raises the loss: shorter ones are tried, else the configuration stays."""

    def guarded(state: Any) -> tuple[Any, float]:
        now = state[-1]
        found, loss = step(state)
        if loss <= now.loss:
            return found, loss
        for halving in range(1, 8 if problem.level.may_be_negative else 1):
            shorter = problem.evaluate(now.point + 0.5**halving * now.step)
            if shorter.loss < now.loss:
                return (shorter,), shorter.loss
        return state, now.loss

    return guarded


def _majorize(problem: Problem) -> Step:
    def step(state: Any) -> tuple[Any, float]:
        found = problem.evaluate(state[-1].image)
        return (found,), found.loss

    return step


def _quasi_newton(problem: Problem) -> Step:
    """Limited-memory BFGS whose first metric is that of the Guttman transform, which needs no step to be learned.

    Nearly always one pass over the pairs a step. Where no step length succeeds, the Guttman transform is taken, which
    cannot raise the loss.
    """

    def step(state: Any) -> tuple[Any, float]:
        now = state[-1]
        direction = _quasi_newton_direction(problem, state)
        slope = float(now.force @ direction)
        if slope <= 0:
            state, direction, slope = (now,), now.step, float(now.force @ now.step)
        for length in (1.0, 0.3, 0.1, 0.03):
            found = problem.evaluate(now.point + length * direction)
            if found.loss <= now.loss - 2e-4 * length * slope / problem.length:
                return (*state, found)[-MEMORY:], found.loss
        found = problem.evaluate(now.image)
        return (now, found), found.loss

    return step


def _quasi_newton_direction(problem: Problem, state: Any) -> Array:
    """The two-loop recursion on the forces, with the moves and changes of force of the last steps."""
    moves = [b.point - a.point for a, b in pairwise(state)]
    changes = [a.force - b.force for a, b in pairwise(state)]
    known = [(s, y, float(s @ y)) for s, y in zip(moves, changes, strict=True)]
    known = [(s, y, sy) for s, y, sy in known if sy > 1e-10 * np.linalg.norm(s) * np.linalg.norm(y)]
    q, shares = state[-1].force.copy(), []
    for s, y, sy in reversed(known):
        shares.append(float(s @ q) / sy)
        q -= shares[-1] * y
    z = problem.transformed(q)
    if known:
        _, y, sy = known[-1]
        z *= sy / float(y @ problem.transformed(y))
    for (s, y, sy), share in zip(known, reversed(shares), strict=True):
        z += (share - float(y @ z) / sy) * s
    return z


def _gradient(problem: Problem) -> Step:
    """Steepest descent in the metric of V with Barzilai-Borwein step lengths; length 1 is the Guttman transform."""

    def step(state: Any) -> tuple[Any, float]:
        now, length = state[-1], 1.0
        if len(state) > 1:
            moved, turned = now.point - state[-2].point, state[-2].step - now.step
            along = float(moved @ turned)
            length = float(np.clip(moved @ moved / along, 1.0, 50.0)) if along > 0 else 2.0
        found = problem.evaluate(now.point + length * now.step)
        if found.loss > now.loss and length > 1.0:
            found = problem.evaluate(now.image)
        return (now, found), found.loss

    return step


def _conjugate(problem: Problem) -> Step:
    """Polak-Ribiere conjugate gradients; the step length by one secant step from that of the Guttman transform."""

    def step(state: Any) -> tuple[Any, float]:
        now, before, direction = state[-1], state[0], state[1]
        turn = 0.0
        if direction is not None:
            turn = max(0.0, float(now.force @ (now.step - before.step)) / float(before.force @ before.step))
        direction = now.step if turn == 0.0 else now.step + turn * direction
        slope = float(now.force @ direction)
        if slope <= 0:
            direction, slope = now.step, float(now.force @ now.step)
        found = problem.evaluate(now.point + direction)
        bend = slope - float(found.force @ direction)
        length = float(np.clip(slope / bend, 0.05, 20.0)) if bend > 0 else 3.0
        if abs(length - 1.0) > 0.1:
            better = problem.evaluate(now.point + length * direction)
            found = better if better.loss < found.loss else found
        if found.loss > now.loss:
            direction, found = None, problem.evaluate(now.image)
        return (now, direction, found), found.loss

    def start(state: Any) -> tuple[Any, float]:
        return step((state[-1], None, state[-1]) if len(state) == 1 else state)

    return start


def _pseudo_newton(problem: Problem) -> Step:
    """Sammon's pseudo-Newton method: forces over the Hessian's diagonal in magnitude, halved until the loss falls."""

    def step(state: Any) -> tuple[Any, float]:
        now = state[-1]
        curvature = np.abs(problem.curvature(now.point))
        floor = 1e-3 * float(curvature.mean())
        direction = now.force / np.maximum(curvature, floor)
        for halving in range(20):
            found = problem.evaluate(now.point + 0.5**halving * direction)
            if found.loss < now.loss:
                return (found,), found.loss
        found = problem.evaluate(now.image)
        return (found,), found.loss

    return step


_STEPS = {
    "majorize": _majorize,
    "accelerated": _quasi_newton,
    "gradient": _gradient,
    "conjugate_gradient": _conjugate,
    "pseudo_newton": _pseudo_newton,
}

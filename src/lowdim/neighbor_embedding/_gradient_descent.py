"""Gradient descent of t-SNE, in blocks of steps that are one call of compiled code.

Not `iterate`: a step takes less than a millisecond, and the number of steps is part of the method.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lowdim import _native
from lowdim._core.iterate import Callback, Progress, wants_stop
from lowdim._core.runtime import threads
from lowdim.neighbor_embedding._grid import GridField

BLOCK = 50  # steps between two checks of the map
EXACT = 500  # rows up to which all pairs are taken: a fifth of a millisecond a step
ALL_PAIRS = 5000  # rows up to which the divergence is computed over all pairs
TREE_DIMS, GRID_DIMS = 3, 2
# Rows from which a grid is faster than the tree in the plane (measured on maps of MNIST): its size is that of the map,
# not of n. With other degrees of freedom the kernel is a power, expensive for every pair and free on a grid.
GRID_FROM, POWER_GRID_FROM = 100_000, 20_000
STILL = 0.05  # share by which the divergence may fall in the last block of a map that counts as converged


@dataclass(frozen=True, eq=False)
class Edges:
    """Affinities for the compiled loops: a symmetric matrix whose entries sum to 1."""

    starts: np.ndarray
    ends: np.ndarray
    weights: np.ndarray

    @classmethod
    def of(cls, P: Any, dtype: Any) -> Edges:
        return cls(P.indptr.astype(np.int64), P.indices.astype(np.int32, copy=False), P.data.astype(dtype))

    @property
    def arguments(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self.starts, self.ends, self.weights


@dataclass(frozen=True)
class Phase:
    """Steps under one exaggeration of the attraction."""

    n_iter: int
    exaggeration: float
    rate: float
    momentum: float
    most_gain: float


@dataclass(frozen=True, eq=False)
class Engine:
    """How repulsion is computed: "exact" over all pairs, "barnes_hut" by a tree, "fft" on a grid."""

    solver: str
    theta: float
    dof: float
    n_threads: int

    @classmethod
    def of(cls, solver: str, n: int, k: int, theta: float, dof: float, n_jobs: int | None, owner: str) -> Engine:
        if solver == "auto":
            grid = k == 1 or (k == GRID_DIMS and n >= (GRID_FROM if dof == 1 else POWER_GRID_FROM))
            solver = "exact" if n <= EXACT or k > TREE_DIMS else "fft" if grid else "barnes_hut"
        most = {"exact": np.inf, "barnes_hut": TREE_DIMS, "fft": GRID_DIMS}[solver]
        if k > most:
            raise ValueError(
                f"{owner}: n_components must be at most {most} with solver={solver!r}; got {k}. "
                "solver='exact' takes any number."
            )
        return cls(solver, 0.0 if solver == "exact" else theta, dof, threads.n_threads(n_jobs))

    def dtype(self, given: Any, n: int) -> Any:
        """Approximate forces are within parts in a thousand, for which single precision is enough."""
        single = self.solver != "exact" or (np.dtype(given) == np.float32 and n > 4 * EXACT)
        return np.float32 if single else np.float64

    def edges(self, P: Any, dtype: Any) -> Edges:
        return Edges.of(P, dtype)

    def at(self, Z: np.ndarray, dtype: Any) -> State:
        return State.at(Z, dtype)

    def resumed(self, kept: dict[str, Any], dtype: Any) -> State:
        return State.of(kept, dtype)

    def forces(
        self, edges: Edges, Z: np.ndarray, *, theta: float | None = None, field: GridField | None = None
    ) -> tuple[np.ndarray, np.ndarray, float]:
        """Attraction, repulsion (not yet divided by the sum of the kernel) and that sum.

        A map that is too wide for a grid is computed by the tree, whose cost does not depend on empty space.
        """
        pulled, pushed = np.empty_like(Z), np.empty_like(Z)
        if self.solver == "fft" and theta is None:
            field = field or GridField(self.dof, self.n_threads)
            if field.fits(Z):
                _native.pull_map(*edges.arguments, Z, self.dof, self.n_threads, pulled)
                return pulled, *field(Z)
        theta = self.theta if theta is None else theta
        return pulled, pushed, _native.map_forces(*edges.arguments, Z, theta, self.dof, self.n_threads, pulled, pushed)

    def divergence(self, edges: Edges, Z: np.ndarray) -> float:
        """KL(P || Q); the kernel is summed by the engine, over all pairs where there are few."""
        total = self.forces(edges, Z, theta=0.0 if len(Z) <= ALL_PAIRS else None)[2]
        return float(_native.edge_costs(*edges.arguments, Z, self.dof, self.n_threads) + np.log(total))

    def advance(self, edges: Edges, state: State, phase: Phase, n_iter: int) -> float:
        """Make steps; returns the norm of the last gradient relative to that of the attraction."""
        settings = (phase.exaggeration, phase.rate, phase.momentum, phase.most_gain)
        if self.solver != "fft":
            _, gradient, pull = _native.descend_map(
                *edges.arguments, *settings, self.theta, self.dof, n_iter, self.n_threads, *state.arguments
            )
            return gradient / max(pull, 1e-300)
        field = GridField(self.dof, self.n_threads)
        for _ in range(n_iter):
            forces = self.forces(edges, state.Z, field=field)
            gradient, pull = _native.step_map(*forces, *settings, self.n_threads, *state.arguments)
        return gradient / max(pull, 1e-300)


@dataclass(frozen=True, eq=False)
class State:
    """The map, its velocity and the gains of its coordinates; changed in place."""

    Z: np.ndarray
    velocity: np.ndarray
    gains: np.ndarray

    @classmethod
    def of(cls, kept: dict[str, Any], dtype: Any) -> State:
        """As an earlier descent left it."""
        return cls(*(np.array(kept[name], dtype=dtype, order="C") for name in ("Z", "velocity", "gains")))

    @classmethod
    def at(cls, Z: np.ndarray, dtype: Any) -> State:
        Z = np.ascontiguousarray(Z - Z.mean(axis=0), dtype=dtype)
        return cls(Z, np.zeros_like(Z), np.ones_like(Z))

    @property
    def arguments(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self.Z, self.velocity, self.gains


@dataclass(frozen=True, eq=False)
class Descended:
    """The map (float64, centred), its divergence, and how the descent ended."""

    Z: np.ndarray
    divergence: float
    n_iter: int
    fall: float  # share by which the divergence fell in the last block; infinite where there was no block before
    converged: bool
    stopped: bool  # by the callback
    restarted: bool  # without the early phase, under which the map had collapsed
    state: Any  # as it is, to continue from


def gradient_descent(
    P: Any,
    start: np.ndarray,
    engine: Any,
    phases: list[Phase],
    *,
    tol: float,
    dtype: Any,
    callback: Callback | None,
    verbose: int | bool,
    owner: str,
    kept: dict[str, Any] | None = None,
    before: int = 0,
    every: int = BLOCK,
) -> Descended:
    """Follow the gradient through the phases, from `start` or on from what is kept of `before` steps.

    `engine` is an `Engine`, or a `DeviceEngine`, which has the same methods on a GPU.
    """
    edges = engine.edges(P, dtype)
    state = engine.at(start, dtype) if kept is None else engine.resumed(kept, dtype)
    plan, at = [], before
    for phase in phases:
        plan += [(phase, n) for n in _blocks(phase.n_iter, at, every)]
        at += phase.n_iter
    done, fall, settled, stopped, restarted, costs = before, np.inf, False, False, False, [np.inf]
    with Progress(owner, sum(n for _, n in plan), verbose) as progress:
        for b, (phase, n_iter) in enumerate(plan):
            relative = engine.advance(edges, state, phase, n_iter)
            done += n_iter
            if phase is not phases[-1] and plan[b + 1][0] is not phase and _collapsed(state.Z, start):
                state, restarted = engine.at(start, dtype), True
            if callback is not None or (phase is phases[-1] and b >= len(plan) - 2):
                costs.append(max(0.0, engine.divergence(edges, state.Z)))
            progress.done += n_iter - 1
            progress.advance(f"gradient {relative:.2g}")
            _check(state.Z, owner)
            settled = relative <= tol and phase is phases[-1]
            stopped = callback is not None and wants_stop(callback(done, costs[-1], centred(state.Z)))
            if settled or stopped:
                break
    if len(costs) > 2 and b > 0 and plan[b - 1][0] is phases[-1]:
        fall = (costs[-2] - costs[-1]) / max(abs(costs[-2]), 1e-300)
    settled = settled or abs(fall) <= STILL
    divergence = max(0.0, engine.divergence(edges, state.Z))
    return Descended(centred(state.Z), divergence, done, fall, settled and not stopped, stopped, restarted, state)


def _collapsed(Z: np.ndarray, start: np.ndarray) -> bool:
    """Whether the map is far narrower than its initialisation in some direction: a point or a line up to rounding.

    Where every row is a neighbour of many others, exaggerated attraction is stronger than repulsion everywhere.
    """
    narrowest = [float(np.linalg.svd(centred(Y), compute_uv=False)[-1]) for Y in (Z, start)]
    return narrowest[0] < 0.1 * narrowest[1]


def _blocks(n: int, at: int = 0, every: int = BLOCK) -> list[int]:
    """n steps from step `at` on, in blocks that end where those of a descent from step 0 do."""
    first = min(n, -at % every)
    return [size for size in [first, *(min(every, n - done) for done in range(first, n, every))] if size]


def centred(Z: np.ndarray) -> np.ndarray:
    """In double precision, with mean 0."""
    Z = Z.astype(np.float64)
    return Z - Z.mean(axis=0)


def _check(Z: np.ndarray, owner: str) -> None:
    if not np.isfinite(Z).all():
        raise ValueError(f"{owner}: the coordinates of the map overflowed. Lower learning_rate or exaggeration.")

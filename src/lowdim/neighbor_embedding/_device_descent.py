"""The descents on a GPU: of t-SNE with the phases, steps and gains of `_gradient_descent`, of UMAP with its draws."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lowdim._core.gpu.affinities import Graph
from lowdim._core.gpu.attraction import Edges
from lowdim._core.gpu.devices import Device
from lowdim._core.gpu.repulsion import AllPairs, field
from lowdim._core.gpu.sampling import Draws, Sampler
from lowdim._core.runtime.rng import generator
from lowdim.neighbor_embedding import _umap_descent
from lowdim.neighbor_embedding._densities import Densities
from lowdim.neighbor_embedding._gradient_descent import ALL_PAIRS, EXACT, GRID_DIMS, Phase
from lowdim.neighbor_embedding._umap_descent import HALVES, ONE_BY_ONE, PAIRS, RARE, Forces, Schedule

LONGEST = 5.0  # step of a point
LEAST_GAIN = 0.01
EDGES = 2**24  # of UMAP's divergence at once


@dataclass(frozen=True, eq=False)
class DeviceEngine:
    """How repulsion is computed on a device: "exact" over all pairs in blocks, or "fft" on a grid."""

    device: Device
    solver: str
    dof: float

    @classmethod
    def of(cls, device: Device, solver: str, n: int, k: int, dof: float, owner: str) -> DeviceEngine:
        if solver == "barnes_hut" or (solver == "fft" and k > GRID_DIMS):
            rule = "'auto', 'exact' or 'fft' on a GPU" if solver == "barnes_hut" else "'exact' for more than two axes"
            raise ValueError(f"{owner}: solver must be {rule}; got {solver!r}. device='cpu' has the tree.")
        if solver == "auto":
            solver = "exact" if n <= EXACT or k > GRID_DIMS else "fft"
        return cls(device, solver, dof)

    def dtype(self, given: Any, n: int) -> Any:
        """As on the CPU: the grid, and many rows, in single precision."""
        single = self.solver != "exact" or n > 4 * EXACT
        return self.device.torch.float32 if single else self.device.torch.float64

    def edges(self, P: Any, dtype: Any) -> Edges:
        return Edges.of(P if isinstance(P, Graph) else Graph.of(self.device, P), dtype)

    def at(self, Z: np.ndarray, dtype: Any) -> DeviceState:
        start = self.device.tensor(Z - Z.mean(axis=0), dtype).contiguous()
        return DeviceState([start, start.new_zeros(start.shape), start.new_ones(start.shape)])

    def resumed(self, kept: dict[str, Any], dtype: Any) -> DeviceState:
        """The state as an earlier descent left it."""
        names = ("Z", "velocity", "gains")
        return DeviceState([self.device.tensor(np.array(kept[name]), dtype).contiguous() for name in names])

    def divergence(self, edges: Edges, Z: Any) -> float:
        """KL(P || Q); the kernel is summed over all pairs where there are few."""
        Z = self.device.tensor(Z)
        total = float(self._field(exact=len(Z) <= ALL_PAIRS)(Z)[1])
        return float(edges.costs(Z, self.dof) + np.log(total))

    def _field(self, *, exact: bool = False) -> Any:
        return AllPairs(self.device, self.dof) if exact else field(self.device, self.dof, grid=self.solver == "fft")

    def advance(self, edges: Edges, state: DeviceState, phase: Phase, n_iter: int) -> float:
        """Make steps; returns the norm of the last gradient relative to that of the attraction."""
        repulsion, gradient, pulled = self._field(), None, None
        for _ in range(n_iter):
            pulled = edges.pull(state.tensors[0], 1 / self.dof) * phase.exaggeration
            pushed, total = repulsion(state.tensors[0])
            gradient = pulled - pushed / total.to(pushed.dtype)
            self._step(state, gradient, phase)
        assert gradient is not None
        assert pulled is not None
        norms = [float(part.double().norm()) for part in (gradient, pulled)]
        return norms[0] / max(norms[1], 1e-300)

    def _step(self, state: DeviceState, gradient: Any, phase: Phase) -> None:
        """Gains that grow while the gradient keeps its direction (Jacobs, 1988), and momentum."""
        Z, velocity, gains = state.tensors
        overshot = gradient * velocity > 0
        gains.copy_(self.device.torch.where(overshot, gains * 0.8, gains + 0.2).clamp_(LEAST_GAIN, phase.most_gain))
        velocity.mul_(phase.momentum).addcmul_(gains, gradient, value=-phase.rate)
        length = velocity.square().sum(dim=1, keepdim=True).sqrt_()
        velocity.mul_((LONGEST / length.clamp_(min=1e-30)).clamp_(max=1))
        Z.add_(velocity)


@dataclass(frozen=True, eq=False)
class DeviceState:
    """The map, its velocity and the gains of its coordinates on a device; changed in place."""

    tensors: list[Any]

    @property
    def Z(self) -> np.ndarray:
        return np.asarray(self.tensors[0].cpu().numpy())

    @property
    def velocity(self) -> np.ndarray:
        return np.asarray(self.tensors[1].cpu().numpy())

    @property
    def gains(self) -> np.ndarray:
        return np.asarray(self.tensors[2].cpu().numpy())


class DeviceDescent:
    """UMAP's `SampledDescent` on a device."""

    def __init__(self, graph: Graph, start: np.ndarray, forces: Forces, schedule: Schedule, rng: Any) -> None:
        device = graph.device
        draws = Draws(*forces.arguments, seed=int(rng.integers(2**63)))
        self.sampler = Sampler(graph, draws, 1 / max(schedule.epochs, RARE))
        self.schedule = schedule
        self.tensor = device.tensor(start, device.torch.float32).contiguous()

    @property
    def Z(self) -> np.ndarray:
        return np.asarray(self.tensor.cpu().numpy())

    def advance(self, done: int, epochs: int, n_threads: int) -> None:
        """Epochs of the schedule; threads are those of the device."""
        total, steps = self.schedule.epochs, range(HALVES * done, HALVES * (done + epochs))
        together = 1 - (done + epochs) / total >= ONE_BY_ONE
        self.sampler.advance(self.tensor, steps, HALVES * total, self.schedule.rate, together=together)


def divergence(graph: Graph, Z: np.ndarray, forces: Forces) -> float:
    """The twin of `_umap_descent.divergence`, over the same pairs."""
    n, device, torch = len(Z), graph.device, graph.device.torch
    at, largest = device.tensor(np.asarray(Z, dtype=np.float64)), graph.weights.max()
    degrees = torch.segment_reduce(graph.weights / largest, "sum", offsets=graph.starts, initial=0)
    half = forces.rate * forces.strength / (2 * HALVES * n)
    some = np.arange(n) if n * n <= PAIRS else generator(0).permutation(n)[: max(1, PAIRS // n)]

    def similarity(squares: Any) -> Any:
        return 1 / (1 + forces.a * squares**forces.b)

    apart, chosen = 0.0, device.tensor(some)
    for rows in chosen.split(device.rows(8 * n, len(some), copies=6)):
        squares = (at[rows, None] - at).square_().sum(dim=2)
        costs = half * (degrees[rows, None] + degrees) * -(1 - similarity(squares)).clamp_(min=1e-4).log_()
        costs[torch.arange(len(rows), device=at.device), rows] = 0
        apart += float(costs.sum())
    edges = 0.0
    for low in range(0, len(graph.ends), EDGES):
        i, j = (part[low : low + EDGES].long() for part in (graph.rows, graph.ends))
        w = graph.weights[low : low + EDGES] / largest
        r, q = half * (degrees[i] + degrees[j]), similarity((at[i] - at[j]).square_().sum(dim=1)).clamp_(min=1e-12)
        edges += float((w * (w / ((w + r) * q)).log_() + r * (r.clamp(min=1e-300) / (w + r)).log_()).sum())
    total = float(degrees.sum()) * (1 + 2 * half * (n - 1))
    return (edges + apart * n / len(some)) / max(total, 1e-300)


def loss_of(W: Any, forces: Forces, Z: np.ndarray) -> float:
    """UMAP's divergence, where its graph is."""
    return divergence(W, Z, forces) if isinstance(W, Graph) else _umap_descent.divergence(W, Z, forces)


@dataclass(frozen=True)
class Plan:
    """The settings of UMAP's descent."""

    solver: str
    max_iter: int | None
    learning_rate: float
    densities: float

    def descent_of(
        self, W: Any, start: np.ndarray, forces: Forces, radii: np.ndarray | None, rng: np.random.Generator
    ) -> tuple[Any, str]:
        """The descent and where it runs: on a GPU if the graph is there and forces are sampled."""
        schedule = Schedule.of(self.max_iter, self.learning_rate, len(start))
        few = self.solver == "auto" and len(start) <= _umap_descent.EXACT and radii is None
        if isinstance(W, Graph):
            if radii is None and not few and self.solver != "exact":
                return DeviceDescent(W, start, forces, schedule, rng), W.device.title
            W = W.to_scipy()
        if self.solver == "exact":
            return _umap_descent.ExpectedDescent(W, start, forces, schedule), "cpu"
        if few:
            return _umap_descent.SettledDescent(W, start, forces, self.max_iter, self.learning_rate, rng), "cpu"
        densities = None if radii is None else Densities.of(radii, self.densities)
        return _umap_descent.SampledDescent(W, start, forces, schedule, rng, densities), "cpu"

"""UMAP's descent by draws on a device: the twin of the compiled `sample_map`, with the same draws.

Every row moves on its own and reads where the others were after the last step, so that nothing is added by several
rows at once. What is drawn is a function of the seed, the step and the row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lowdim._core.gpu.affinities import Graph
from lowdim._core.gpu.devices import Device

FULL = 65_535  # the step of an edge that pulls every time
LONGEST, OFFSET = 4.0, 0.001  # of a force; added to squared distances where a push would be infinite
BEYOND = 8.0  # times its way to its neighbours that the pulls of a step may throw a row
WORD, LOW = 2**64, 2**32 - 1
GOLDEN, FRACTION = 0x9E3779B97F4A7C15, 0x9E3779B9
FIRST, SECOND = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


def _signed(value: int) -> int:
    """The same 64 bits as a signed number, which is what tensors have."""
    value %= WORD
    return value - WORD if value >= WORD // 2 else value


def mix(seed: int, numbers: Any) -> Any:
    """The finaliser of splitmix64 of seed and number: 64 random bits, in a tensor of int64."""
    z = (numbers + 1) * _signed(GOLDEN) + _signed(seed)
    z = (z ^ ((z >> 30) & (2**34 - 1))) * _signed(FIRST)
    z = (z ^ ((z >> 27) & (2**37 - 1))) * _signed(SECOND)
    return z ^ ((z >> 31) & (2**33 - 1))


def scrambled(x: Any) -> Any:
    """The finaliser of MurmurHash3 of 32 bits, in a tensor of int64."""
    x = ((x ^ (x >> 16)) * 0x85EBCA6B) & LOW
    x = ((x ^ (x >> 13)) * 0xC2B2AE35) & LOW
    return x ^ (x >> 16)


@dataclass(frozen=True)
class Draws:
    """The kernel 1 / (1 + a d^2b), the factor on repulsion, pushes for each pull, and the seed of what is drawn."""

    a: float
    b: float
    strength: float
    per_pull: float
    seed: int

    def pushes(self, torch: Any, step: int, most: int) -> np.ndarray:
        """How many pushes come before each pull of a row; of a number that is not whole, the rest is drawn."""
        word = int(mix(self.seed ^ 0x5BD1E995, torch.tensor([step]))[0]) % WORD
        turn, counts = (word >> 11) * 2.0**-53, [0]
        for _ in range(most):
            turn += self.per_pull
            counts.append(int(turn))
            turn -= int(turn)
        return np.cumsum(counts).astype(np.int32)


class Sampler:
    """The edges of a graph with their clocks: an edge pulls whenever its clock comes round."""

    def __init__(self, graph: Graph, draws: Draws, least: float) -> None:
        """Edges whose weight is below `least` of the largest are left out: they would hardly ever pull."""
        device: Device = graph.device
        torch = device.torch
        n, largest = len(graph.starts) - 1, graph.weights.max() if len(graph.weights) else graph.weights.new_ones(())
        kept = graph.weights >= largest * least
        self.rows, self.ends = graph.rows[kept], graph.ends[kept]
        self.steps = (FULL * (graph.weights[kept] / largest)).round().to(torch.int32)
        one, other = self.rows.long(), self.ends.long()
        # The same number at both ends, so that both are pulled in the same step.
        self.clocks = (mix(draws.seed, one.minimum(other) * n + one.maximum(other)) & FULL).to(torch.int32)
        self.degrees = torch.bincount(one, minlength=n)
        self.device, self.draws, self.n = device, draws, n
        self.most = int(self.degrees.max())
        self._slices: Any = None  # of the fused kernel

    def advance(self, Z: Any, steps: range, total: int, rate: float, *, together: bool) -> None:
        """Move the points of a map, step by step of `total`, the rate going down to 0 by the end."""
        torch = self.device.torch
        numbers = torch.arange(self.n, device=Z.device)
        counts = np.stack([self.draws.pushes(torch, step, self.most) for step in steps])
        on_device = self.device.tensor(counts)
        fused = self.device.fused if Z.shape[1] == 2 else None
        for at, step in enumerate(steps):
            keys = mix(self.draws.seed, numbers + step * self.n) & LOW
            now = float(np.float32(rate * (1 - step / total)))
            if fused is None:
                self._step(Z, keys, counts[at], now, together)
            else:
                if self._slices is None:
                    self._slices = fused.Slices(self)
                self._slices.step(Z, keys, on_device[at], now, together)

    def _step(self, Z: Any, keys: Any, counts: np.ndarray, now: float, together: bool) -> None:
        torch = self.device.torch
        self.clocks += self.steps
        due = (self.clocks > FULL).nonzero()[:, 0]
        self.clocks &= FULL
        rows, ends = self.rows[due].long(), self.ends[due].long()
        pulls = torch.bincount(rows, minlength=self.n)
        before = pulls.cumsum(0) - pulls
        here = Z.clone()
        over = Z.new_ones((self.n, 1))
        if together:
            factors, moves = self._pull(Z[rows], Z[ends])
            stiff = torch.segment_reduce(factors, "sum", lengths=pulls, initial=0)
            over = (now * stiff / BEYOND).clamp_(min=1)[:, None]
            here += now * torch.segment_reduce(moves, "sum", lengths=pulls, initial=0) / over
        for k in range(int(pulls.max()) if not together else 0):
            some = (pulls > k).nonzero()[:, 0]
            here[some] += now * self._pull(here[some], Z[ends[before[some] + k]])[1]
        self._pushed(Z, here, over, keys, pulls, counts, now)
        Z.copy_(here)

    def _pushed(self, Z: Any, here: Any, over: Any, keys: Any, pulls: Any, counts: np.ndarray, now: float) -> None:
        """After each pull of a row its pushes, all from where the pull had brought it; changes `here`."""
        for k in range(int(pulls.max())):
            some = (pulls > k).nonzero()[:, 0]
            at, sums = here[some], Z.new_zeros((len(some), Z.shape[1]))
            for number in range(counts[k], counts[k + 1]):
                random = scrambled((keys[some] + (int(number) + 1) * FRACTION) & LOW)
                drawn = (random * self.n) >> 32
                sums += self._push(at, Z[drawn]) * (drawn != some)[:, None]
            here[some] += now * sums / over[some]

    def _pull(self, here: Any, there: Any) -> tuple[Any, Any]:
        gap = there - here
        s, power = self._power(gap)
        factors = 2 * self.draws.a * self.draws.b * power / (s * (1 + self.draws.a * power))
        return factors, (factors[:, None] * gap).clamp_(-LONGEST, LONGEST)

    def _push(self, here: Any, there: Any) -> Any:
        gap = here - there
        s, power = self._power(gap)
        factors = 2 * self.draws.strength * self.draws.b / ((s + OFFSET) * (1 + self.draws.a * power))
        return (factors[:, None] * gap).clamp_(-LONGEST, LONGEST)

    def _power(self, gap: Any) -> tuple[Any, Any]:
        s = gap.square().sum(dim=1).clamp_(1e-12, 1e12)
        return s, s**self.draws.b

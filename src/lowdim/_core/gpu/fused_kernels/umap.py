# mypy: disable-error-code="attr-defined,no-untyped-def,misc,no-untyped-call,untyped-decorator"
"""One step of UMAP's descent by draws as one kernel of Triton; its twin in plain PyTorch is `Sampler`."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from lowdim._core.gpu.sampling import BEYOND, LONGEST, OFFSET

triton: Any = import_module("triton")
tl: Any = import_module("triton.language")

LANES = 32  # rows that one program moves, one in each lane


@triton.jit
def _power(dx, dy, b):
    """The squared distance, and its power b."""
    s = tl.minimum(tl.maximum(dx * dx + dy * dy, 1e-12), 1e12)
    return s, tl.exp2(b * tl.log2(s))


@triton.jit
def _hold(x, longest: tl.constexpr):
    return tl.minimum(tl.maximum(x, -longest), longest)


@triton.jit
def _drawn(key, number, n):
    """A row at random, by the finaliser of MurmurHash3."""
    h = key + (number + 1).to(tl.uint32) * 0x9E3779B9
    h = (h ^ (h >> 16)) * 0x85EBCA6B
    h = (h ^ (h >> 13)) * 0xC2B2AE35
    h = h ^ (h >> 16)
    return ((h.to(tl.uint64) * n.to(tl.uint64)) >> 32).to(tl.int32)


@triton.jit
def _pulled(
    group, lane, bases, ends, clocks, old, x, y, rate, a, b, pull,
    together: tl.constexpr, lanes: tl.constexpr, longest: tl.constexpr, beyond: tl.constexpr,
):  # fmt: skip
    """Edges whose clocks come round pull; where rows are, by what their moves are divided, and how many pulled."""
    first = tl.load(bases + group)
    width = (tl.load(bases + group + 1) - first) // lanes
    sum_x = tl.zeros([lanes], tl.float32)
    sum_y = tl.zeros([lanes], tl.float32)
    stiff = tl.zeros([lanes], tl.float32)
    pulls = tl.zeros([lanes], tl.int32)
    over = tl.full([lanes], 1.0, tl.float32)
    for e in range(width):
        at = first + e * lanes + lane
        word = tl.load(clocks + at)  # the clock above, its step below
        after = ((word >> 16) & 65535) + (word & 65535)
        tl.store(clocks + at, ((after & 65535) << 16) | (word & 65535))
        due = after > 65535
        other = tl.load(ends + at, mask=due, other=0)
        dx = tl.load(old + 2 * other, mask=due, other=0.0) - x
        dy = tl.load(old + 2 * other + 1, mask=due, other=0.0) - y
        s, p = _power(dx, dy, b)
        f = tl.where(due, pull * p / (s * (1.0 + a * p)), 0.0)
        pulls += due.to(tl.int32)
        stiff += f
        if together:
            sum_x += _hold(f * dx, longest)
            sum_y += _hold(f * dy, longest)
        else:
            x += rate * _hold(f * dx, longest)
            y += rate * _hold(f * dy, longest)
    if together:
        over = tl.maximum(rate * stiff / beyond, 1.0)
        x += rate * sum_x / over
        y += rate * sum_y / over
    return x, y, over, pulls


@triton.jit(do_not_specialize=["n"])
def _move(
    order, bases, ends, clocks, keys, counts, old, new, n, rate, a, b, pull, push,
    together: tl.constexpr, lanes: tl.constexpr, longest: tl.constexpr, offset: tl.constexpr, beyond: tl.constexpr,
):  # fmt: skip
    """Pulls, then for each of them pushes from rows drawn at random; a row in each lane."""
    group = tl.program_id(0)
    lane = tl.arange(0, lanes)
    filled = group * lanes + lane < n
    row = tl.load(order + group * lanes + lane, mask=filled, other=0)
    x = tl.load(old + 2 * row)
    y = tl.load(old + 2 * row + 1)
    x, y, over, pulls = _pulled(
        group, lane, bases, ends, clocks, old, x, y, rate, a, b, pull, together, lanes, longest, beyond
    )
    key = tl.load(keys + row).to(tl.uint32)
    for k in range(tl.max(pulls)):
        sum_x = tl.zeros([lanes], tl.float32)
        sum_y = tl.zeros([lanes], tl.float32)
        for number in range(tl.load(counts + k), tl.load(counts + k + 1)):
            drawn = _drawn(key, number, n)
            on = (k < pulls) & (drawn != row)
            dx = x - tl.load(old + 2 * drawn, mask=on, other=0.0)
            dy = y - tl.load(old + 2 * drawn + 1, mask=on, other=0.0)
            s, p = _power(dx, dy, b)
            f = tl.where(on, push / ((s + offset) * (1.0 + a * p)), 0.0)
            sum_x += _hold(f * dx, longest)
            sum_y += _hold(f * dy, longest)
        x += rate * sum_x / over
        y += rate * sum_y / over
    tl.store(new + 2 * row, x, mask=filled)
    tl.store(new + 2 * row + 1, y, mask=filled)


class Slices:
    """Edges in slices: 32 rows with about as many edges each, one in each lane, their edges side by side in memory."""

    def __init__(self, sampler: Any) -> None:
        torch, degrees, n = sampler.device.torch, sampler.degrees, sampler.n
        self.order = degrees.argsort(stable=True).to(torch.int32)
        groups = triton.cdiv(n, LANES)
        padded = torch.nn.functional.pad(degrees[self.order.long()], (0, groups * LANES - n))
        widths = padded.view(groups, LANES).amax(dim=1)
        self.bases = torch.nn.functional.pad((LANES * widths).cumsum(0), (1, 0))
        rank = torch.empty_like(degrees)
        rank[self.order.long()] = torch.arange(n, device=degrees.device)
        rows = sampler.rows.long()
        number = torch.arange(len(rows), device=rows.device) - (degrees.cumsum(0) - degrees)[rows]
        at = self.bases[rank[rows] // LANES] + number * LANES + rank[rows] % LANES
        self.ends = torch.zeros(int(self.bases[-1]), dtype=torch.int32, device=rows.device)
        self.ends[at] = sampler.ends
        self.clocks = torch.zeros_like(self.ends)  # of what fills a slice up: 0, which never comes round
        self.clocks[at] = (sampler.clocks << 16) | sampler.steps
        self.draws = sampler.draws

    def step(self, Z: Any, keys: Any, counts: Any, rate: float, together: bool) -> None:
        """Move every point of Z once."""
        draws, new = self.draws, Z.new_empty(Z.shape)
        forces = (draws.a, draws.b, 2 * draws.a * draws.b, 2 * draws.strength * draws.b)
        _move[(len(self.bases) - 1,)](
            self.order, self.bases, self.ends, self.clocks, keys, counts, Z, new, len(Z), rate, *forces,
            together=together, lanes=LANES, longest=LONGEST, offset=OFFSET, beyond=BEYOND, num_warps=1,
        )  # fmt: skip
        Z.copy_(new)

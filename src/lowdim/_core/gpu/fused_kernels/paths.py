# mypy: disable-error-code="attr-defined,no-untyped-def,misc,no-untyped-call,untyped-decorator"
"""A round of shortest paths as one kernel of Triton; its twin in plain PyTorch is `paths._relax`.

Lengths are changed in place while other rows read them. Whoever reads an old length is marked by the row that changed
it and looks again in the next round, so that the end is the same.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from lowdim._core.gpu.paths import LANES

triton: Any = import_module("triton")
tl: Any = import_module("triton.language")


@triton.jit(do_not_specialize=["blocks"])
def _relax(starts, ends, weights, lengths, todo, marks, blocks, lanes: tl.constexpr):
    """A row and a block of sources: the least of its lengths and those of its neighbours plus the edges."""
    number = tl.load(todo + tl.program_id(0)).to(tl.int64)
    row = number // blocks
    block = number - row * blocks
    lane = block * lanes + tl.arange(0, lanes)
    width = blocks * lanes
    first = tl.load(starts + row)
    last = tl.load(starts + row + 1)
    before = tl.load(lengths + row * width + lane)
    best = before
    for edge in range(first, last):
        other = tl.load(ends + edge).to(tl.int64)
        best = tl.minimum(best, tl.load(lengths + other * width + lane) + tl.load(weights + edge))
    if tl.sum((best < before).to(tl.int32), 0) > 0:
        tl.store(lengths + row * width + lane, best)
        for edge in range(first, last):
            other = tl.load(ends + edge).to(tl.int64)
            tl.store(marks + other * blocks + block, 1)


def relax(torch, graph, lengths, todo, marks) -> None:
    """One round: rows of blocks (numbers row * blocks + block) take what is shorter, and mark their neighbours."""
    starts, ends, weights = graph
    _relax[(len(todo),)](starts, ends, weights, lengths, todo, marks, marks.shape[1], lanes=LANES, num_warps=1)

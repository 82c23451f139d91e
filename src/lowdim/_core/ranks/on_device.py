"""The tallies of `Ranks.of_each` on a GPU, block by block."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim._core.gpu import coranking, devices
from lowdim._core.gpu.devices import BLOCK_BYTES, Device
from lowdim._core.ranks.reference import Reference

Array = NDArray[Any]
Part = dict[str, tuple[Array, Array]]  # map -> the area of each row, and its terms


def device_parts(place: Device, counts: Any, progress: Any) -> list[Part]:
    """Rank the rows of `counts` (see `Ranks.of_each`) and add up its tallies; areas and terms of each block.

    Distances between rows of a table are computed on the device, others on the CPU.
    """
    n, spaces = counts.source.n, [counts.source, *counts.placed.values()]
    sizes = [space.points.nbytes for space in spaces if space.points is not None]
    parts = {"rows": sum(sizes), "blocks": min(BLOCK_BYTES, 8 * n * len(counts.rows)) * coranking.COPIES // 2}
    devices.check_memory(place, parts, "Ranks.of", "Score a sample of the rows.")
    return devices.run(place, lambda on: _parts(on, counts, progress), "Ranks.of")


def _parts(on: Device, counts: Any, progress: Any) -> list[Part]:
    source = _blocks(on, counts.source)
    placed = {name: _blocks(on, space) for name, space in counts.placed.items()}
    weight, step, found = on.tensor(counts.weight), coranking.block_rows(on, counts.source.n, len(counts.rows)), []
    counts.clear()
    for low in range(0, len(counts.rows), step):
        rows = counts.rows[low : low + step]
        numbers = on.tensor(np.asarray(rows, dtype=np.int64))
        high, zeros = coranking.ordered(on, source(rows), numbers)
        counts.zeros_high += zeros
        part: Part = {}
        for name, block in placed.items():
            order, zeros = coranking.ordered(on, block(rows), numbers)
            ranks = coranking.ranks_of(on, order)
            del order
            tally, area, terms = coranking.tallied(on, high, ranks, weight, counts.ks)
            counts.tally[name] += tally
            counts.zeros_low[name] += zeros
            part[name] = area, terms
        found.append(part)
        if progress is not None:
            progress.advance()
    return found


def _blocks(on: Device, space: Reference) -> Callable[[Array], Any]:
    """Distances of some rows to all, as a tensor of the device."""
    if space.points is None:
        return lambda rows: on.tensor(np.array(space.block(rows, True)))
    points = on.tensor(space.points)
    return lambda rows: coranking.squares(on, points[on.tensor(np.asarray(rows, dtype=np.int64))], points)

"""Lengths of shortest paths from many sources at once on a device: the twin of `graph.geodesics`.

Each round takes, for every row whose neighbours changed, the least of its length and that of each neighbour plus the
edge between them (Bellman and Ford). Rounds end when nothing changes. A sum of floating-point numbers never decreases
when one of them grows, so the end does not depend on the order in which rows are taken: it is the least, over all
paths, of the sum rounded from the source outwards. The same bits come out of every run and every number of lanes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lowdim._core.gpu.devices import Device

LANES = 64  # sources of a block: rows are taken again for a block only if a length of that block changed near them
EDGES = 2**22  # relaxed at once without a fused kernel, times the lanes of a block


def geodesics(device: Device, starts: Any, ends: Any, lengths: Any, sources: np.ndarray, dtype: Any) -> Any:
    """Lengths of the shortest paths from the sources to every row; inf where no path leads.

    Parameters
    ----------
    device : Device
        Where to search.
    starts, ends, lengths : ndarray or tensor
        A symmetric graph as rows of neighbours: borders of the rows, neighbours, and lengths of the edges, >= 0.
    sources : ndarray of shape (m,)
        Different rows.
    dtype : float32 or float64
        Precision in which lengths are added.

    Returns
    -------
    tensor of shape (m, n)
        On the device.
    """
    torch, n = device.torch, len(starts) - 1
    kind = torch.float32 if np.dtype(dtype) == np.float32 else torch.float64
    graph = device.tensor(starts, torch.int64), device.tensor(ends, torch.int32), device.tensor(lengths, kind)
    itemsize = 4 if kind == torch.float32 else 8
    out = torch.empty((len(sources), n), dtype=kind, device=device.name)
    width = LANES * max(1, min(-(-len(sources) // LANES), device.free() // (3 * itemsize * LANES * n * device.shrink)))
    order = _along(device, graph, sources, kind)
    for low in range(0, len(sources), width):
        part = order[low : low + width]
        out[device.tensor(part)] = _from(device, graph, sources[part], kind)[:, : len(part)].T
    return out


def _along(device: Device, graph: Any, sources: np.ndarray, kind: Any) -> np.ndarray:
    """An order of the sources: by their distance from the one that is farthest from the first.

    Sources of a block lie near each other then: changes reach a row at about the same time from all of them.
    """
    if len(sources) <= LANES:
        return np.arange(len(sources))
    at, end = device.tensor(sources.astype(np.int64)), sources[:1]
    for _ in range(2):
        lengths = _from(device, graph, end, kind)[at, 0]
        end = sources[int(lengths.nan_to_num(posinf=-1).argmax())][None]
    return np.asarray(lengths.argsort(stable=True).cpu().numpy())


def flow(device: Device, starts: Any, ends: Any, lengths: Any, sources: np.ndarray) -> np.ndarray | None:
    """How many of the shortest paths from some sources run through each row; None where two of equal length do.

    Parameters
    ----------
    device : Device
        Where to search.
    starts, ends, lengths : ndarray or tensor
        As in `geodesics`.
    sources : ndarray of shape (m,)
        Different rows.

    Returns
    -------
    ndarray of shape (n,)
    """
    torch, n = device.torch, len(starts) - 1
    at, other = device.tensor(starts, torch.int64), device.tensor(ends, torch.int64)
    rows = torch.repeat_interleave(torch.arange(n, device=other.device), at.diff())
    edges, total = device.tensor(lengths, torch.float64), torch.zeros(n, dtype=torch.int64, device=other.device)
    for source, far in zip(sources, geodesics(device, starts, ends, lengths, sources, np.float64), strict=True):
        last = (far[other] + edges == far[rows]) & far[rows].isfinite() & (far[rows] > 0)
        count = torch.bincount(rows[last], minlength=n)
        reached = far.isfinite()
        reached[int(source)] = False
        if not torch.equal(count == 1, reached) or int(count.max()) > 1:
            return None
        parent = torch.full((n + 1,), n, dtype=torch.int64, device=other.device)
        parent[rows[last]] = other[last]
        behind = _behind(torch, parent)[:n]
        behind[int(source)] = 0
        total += behind
    return np.asarray(total.double().cpu().numpy())


def _behind(torch: Any, above: Any) -> Any:
    """How many rows of a forest hang below each; `above` is the row above it, or the last number.

    After step k it is known for those at most 2^k - 1 edges below, which the ancestor 2^k edges above does not count.
    """
    counts = torch.ones_like(above)
    while bool((above[:-1] < len(above) - 1).any()):
        counts = counts.index_add(0, above, counts)
        counts[-1] = 0
        above = above[above]
    return counts - 1


def _from(device: Device, graph: Any, sources: np.ndarray, kind: Any) -> Any:
    """The lengths (n, lanes) from some sources; lanes beyond their number stay inf."""
    torch, n = device.torch, len(graph[0]) - 1
    blocks = -(-len(sources) // LANES)
    lengths = torch.full((n, blocks * LANES), torch.inf, dtype=kind, device=device.name)
    lanes = torch.arange(len(sources), device=device.name)
    at = device.tensor(sources.astype(np.int64))
    lengths[at, lanes] = 0
    near = _neighbors(torch, graph, at)
    marks = torch.zeros((n, blocks), dtype=torch.uint8, device=device.name)
    marks[near[1], torch.div(lanes[near[0]], LANES, rounding_mode="floor")] = 1
    step = device.fused.relax if device.fused is not None else _relax
    while True:
        todo = marks.view(-1).nonzero()[:, 0]
        if not len(todo):
            return lengths
        marks.zero_()
        step(torch, graph, lengths, todo, marks)


def _neighbors(torch: Any, graph: Any, rows: Any) -> tuple[Any, Any, Any]:
    """Of each of some rows its neighbours: which of the rows, the neighbours, and the numbers of the edges."""
    starts, ends, _ = graph
    counts = starts[rows + 1] - starts[rows]
    which = torch.repeat_interleave(torch.arange(len(rows), device=rows.device), counts)
    edges = torch.arange(len(which), device=rows.device) - (counts.cumsum(0) - counts)[which] + starts[rows][which]
    return which, ends[edges].long(), edges


def _relax(torch: Any, graph: Any, lengths: Any, todo: Any, marks: Any) -> None:
    """One round: rows of blocks (numbers row * blocks + block) take what is shorter, and mark their neighbours."""
    blocks = marks.shape[1]
    lanes = lengths.view(len(marks), blocks, LANES)
    for part in todo.split(max(1, EDGES // LANES)):
        rows, block = torch.div(part, blocks, rounding_mode="floor"), part % blocks
        which, near, edges = _neighbors(torch, graph, rows)
        offers = lanes[near, block[which]] + graph[2][edges][:, None]
        counts = torch.bincount(which, minlength=len(rows))
        best = torch.segment_reduce(offers, "min", lengths=counts, initial=torch.inf)
        before = lanes[rows, block]
        less = (best < before).any(dim=1)
        lanes[rows[less], block[less]] = torch.minimum(best, before)[less]
        changed = less[which]
        marks[near[changed], block[which][changed]] = 1


def needs(n: int, edges: int, m: int, itemsize: int) -> dict[str, int]:
    """Bytes on the device for n rows, so many edges (both directions) and m sources."""
    lanes = -(-m // LANES) * LANES
    return {"geodesic distances": n * (m + lanes) * itemsize, "graph": 16 * edges, "rounds": 10 * n * -(-m // LANES)}

"""UMAP's fuzzy graph on a device: the twin of the compiled `fuzzy_rows` and of `_fuzzy.union`."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowdim._core.gpu.affinities import Graph
from lowdim._core.gpu.devices import Device

STEPS, TOL = 100, 1e-9  # of the bisection for the widths
LOOK = 8  # steps between two looks at whether all rows are done


def memberships(device: Device, distances: Any, connectivity: float, least: float) -> Any:
    """exp(-(d - reach) / width) of each row's k neighbours: 1 for the nearest, in sum log2(k + 1).

    Parameters
    ----------
    device : Device
        Where the tensors are.
    distances : tensor of shape (n, k), float64
        Of the neighbours of each row, nearest first.
    connectivity : float
        The reach is the distance of the neighbour with this rank, among those that are not at distance 0.
    least : float
        The least width, in units of the mean distance of the row; of all rows where the reach is 0.

    Returns
    -------
    tensor of shape (n, k), float64
    """
    overall = distances.mean()
    step = device.rows(8 * distances.shape[1], len(distances), copies=6)
    parts = []
    for d in distances.split(step):
        reach = _reach(device.torch, d, connectivity)
        width = _width(device.torch, d - reach[:, None], float(np.log2(d.shape[1] + 1)))
        width = width.maximum(least * device.torch.where(reach > 0, d.mean(dim=1), overall))
        parts.append(_membership(device.torch, d - reach[:, None], width))
    return device.torch.cat(parts)


def _reach(torch: Any, d: Any, connectivity: float) -> Any:
    """Between two neighbours where the rank is no whole number; the last where there are not so many apart."""
    k, zeros = d.shape[1], (d <= 0).sum(dim=1, keepdim=True)
    whole = int(connectivity)
    rest = connectivity - whole
    here, beyond = ((zeros + rank).clamp(0, k - 1) for rank in (whole - 1, whole))
    low = d.gather(1, here) if whole else torch.zeros_like(d[:, :1])
    found = low + rest * (d.gather(1, beyond) - low)
    return torch.where(k - zeros <= connectivity, d[:, -1:], found)[:, 0]


def _membership(torch: Any, gap: Any, width: Any) -> Any:
    return torch.where(gap <= 0, 1.0, (-gap / width.clamp(min=1e-300)[:, None]).exp())


def _width(torch: Any, gap: Any, target: float) -> Any:
    """By bisection, for all rows at once; rows that are done stay. 0 where no neighbour is beyond the reach."""
    largest = gap.amax(dim=1).clamp(min=0)
    width, low, high = largest.clone(), torch.zeros_like(largest), torch.full_like(largest, torch.inf)
    done = largest <= 0
    for step in range(STEPS):
        total = _membership(torch, gap, width).sum(dim=1)
        done = done | ((total - target).abs() < TOL) | (width > 1e30 * largest) | (width < 1e-30 * largest)
        if step % LOOK == 0 and bool(done.all()):
            break
        over = total > target
        high = torch.where(over, width, high)
        low = torch.where(over, low, width)
        width = torch.where(done, width, torch.where(high.isinf(), 2 * width, 0.5 * (low + high)))
    return width


def union(device: Device, indices: Any, weights: Any, mix: float) -> Graph:
    """Symmetric weights: the fuzzy union w + w' - ww' (mix 1), the intersection ww' (mix 0), or a mixture.

    Parameters
    ----------
    device : Device
        Where the tensors are.
    indices, weights : tensor of shape (n, k)
        The neighbours of each row, and their memberships.
    mix : float
        Between 0 and 1.

    Returns
    -------
    Graph
        Edges of weight 0 are left out.
    """
    torch = device.torch
    n, k = indices.shape
    own = torch.arange(n, device=indices.device)[:, None].expand(n, k).flatten()
    ends = indices.flatten().long()
    keys = torch.cat([own * n + ends, ends * n + own])
    del own, ends
    keys, order = keys.sort(stable=True)
    values = torch.cat([weights.flatten(), weights.flatten()])[order]
    del order
    fresh = torch.ones_like(keys, dtype=torch.bool)
    fresh[1:] = keys[1:] != keys[:-1]
    other = torch.zeros_like(values)  # the second of a pair, which follows the first
    other[:-1] = torch.where(fresh[1:], 0.0, values[1:])
    values = mix * (values + other) + (1 - 2 * mix) * (values * other)
    kept = fresh & (values != 0)
    keys, values = keys[kept], values[kept]
    del fresh, other, kept
    return Graph.of_pairs(device, keys, values, n)

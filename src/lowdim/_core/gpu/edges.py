"""Neighbour graphs and landmarks on a device: the twins of `graph.neighbor_graph` and of the farthest-point choice."""

from __future__ import annotations

import numpy as np

from lowdim._core.gpu.devices import Device
from lowdim._core.gpu.stress import power_of_two


def symmetric(device: Device, indices: np.ndarray, distances: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The graph in which two rows are joined when either is a neighbour of the other, by the shorter length.

    Parameters
    ----------
    device : Device
        Where to sort.
    indices, distances : ndarray of shape (n, k)
        The neighbours of each row, itself left out.

    Returns
    -------
    tuple of ndarray
        Lengths, neighbours (int32) and borders of the rows, as `csr_array` takes them.
    """
    torch, (n, k) = device.torch, indices.shape
    ends = device.tensor(indices).long().flatten()
    own = torch.arange(n, device=ends.device)[:, None].expand(n, k).flatten()
    keys, order = torch.cat([own * n + ends, ends * n + own]).sort(stable=True)
    del own, ends
    lengths = device.tensor(distances).flatten()
    lengths = torch.cat([lengths, lengths])[order]
    fresh = torch.ones_like(keys, dtype=torch.bool)
    fresh[1:] = keys[1:] != keys[:-1]
    # A pair is there once or twice.
    lengths[:-1] = torch.where(fresh[1:], lengths[:-1], lengths[:-1].minimum(lengths[1:]))
    keys, lengths = keys[fresh], lengths[fresh]
    rows = torch.div(keys, n, rounding_mode="floor")
    starts = torch.nn.functional.pad(torch.bincount(rows, minlength=n).cumsum(0), (1, 0))
    short = torch.int32 if len(keys) <= np.iinfo(np.int32).max else torch.int64
    found = lengths, (keys - rows * n).to(torch.int32), starts.to(short)
    return tuple(np.asarray(part.cpu().numpy()) for part in found)  # type: ignore[return-value]


def orders(device: Device, starts: np.ndarray, ends: np.ndarray, lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of a symmetric graph where the other direction of each edge is stored, and its edges, the nearest of a row first.

    Parameters
    ----------
    device : Device
        Where to sort.
    starts, ends, lengths : ndarray
        Borders of the rows, sorted neighbours, and lengths.

    Returns
    -------
    tuple of ndarray
        Positions of edges, one for each; what `turned` and `nearest_first` of `graph.edges` give.
    """
    torch, n = device.torch, len(starts) - 1
    counts = device.tensor(np.diff(starts).astype(np.int64))
    rows = torch.repeat_interleave(torch.arange(n, device=counts.device), counts)
    back = (device.tensor(ends).long() * n + rows).argsort(stable=True)
    order = device.tensor(lengths).argsort(stable=True)
    order = order[rows[order].argsort(stable=True)]
    return np.asarray(back.cpu().numpy()), np.asarray(order.cpu().numpy())


def farthest(device: Device, X: np.ndarray, m: int, first: int) -> np.ndarray:
    """Row after row the one farthest from those chosen, by the differences of the cells.

    Parameters
    ----------
    device : Device
        Where to measure.
    X : ndarray of shape (n, d)
        The rows.
    m : int
        How many.
    first : int
        The first of them.

    Returns
    -------
    ndarray of int of shape (m,)
    """
    torch, rows = device.torch, device.tensor(X)
    # By a power of two, so that squares fit into single precision and equal distances stay equal.
    rows = rows / (power_of_two(float(rows.abs().max())) or 1.0)
    parts = rows.split(device.rows(2 * rows.element_size() * rows.shape[1], len(rows)))
    closest = torch.full((len(rows),), torch.inf, dtype=rows.dtype, device=rows.device)
    numbers = torch.arange(len(rows), device=rows.device)
    chosen = torch.full((m,), first, dtype=torch.int64, device=rows.device)
    for j in range(m):
        if j:
            farthest_of_all = torch.where(closest == closest.max(), numbers, len(rows))
            chosen[j] = farthest_of_all.min()  # the first of equals, as on the CPU
        here = rows[chosen[j : j + 1]]
        closest = torch.minimum(closest, torch.cat([(part - here).square_().sum(dim=1) for part in parts]))
        closest[chosen[j : j + 1]] = -1
    return np.asarray(chosen.cpu().numpy())

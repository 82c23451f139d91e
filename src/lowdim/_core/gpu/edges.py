"""Neighbour graphs, their parts, landmarks and equal rows on a device: the twins of what `graph` and `tables` have."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from lowdim._core.gpu import paths
from lowdim._core.gpu.devices import Device
from lowdim._core.gpu.spectral import labels_of
from lowdim._core.gpu.stress import power_of_two
from lowdim._core.runtime.rng import generator

ODD = 0xBF58476D1CE4E5B9 - 2**64  # a multiplier that spreads bits well (Stafford, 2011), as a signed number
HIGH = 2**32 - 1


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


def farthest(device: Device, X: Any, m: int, first: int) -> np.ndarray:
    """Row after row the one farthest from those chosen, by the differences of the cells.

    Parameters
    ----------
    device : Device
        Where to measure.
    X : ndarray, or rows on the device, of shape (n, d)
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


def all_different(device: Device, X: Any) -> bool:
    """False where two rows have the same hash, as all equal rows do.

    Parameters
    ----------
    device : Device
        Where to sort.
    X : ndarray of shape (n, d)
        Rows of float32 or float64.

    Returns
    -------
    bool
    """
    found = _hashes(device, X).sort().values
    return not bool((found[1:] == found[:-1]).any())


def hashes_on(device: Device, X: Any) -> np.ndarray:
    """A hash of each row, by which equal rows are found."""
    return np.asarray(_hashes(device, X).cpu().numpy())


def equal_on(device: Device, X: Any, other: np.ndarray) -> bool:
    """Whether each row equals the other one given for it: different rows may have the same hash, if hardly ever."""
    moved = np.flatnonzero(other != np.arange(len(other)))
    step = device.rows(4 * X.itemsize * X.shape[1], len(moved))
    parts = (moved[low : low + step] for low in range(0, len(moved), step))
    return all(bool((device.tensor(X[part]) == device.tensor(X[other[part]])).all()) for part in parts)


def _hashes(device: Device, X: Any) -> Any:
    torch, keys = device.torch, []
    factors = device.tensor(2 * generator(0).integers(2**62, size=X.shape[1], dtype=np.int64) + 1)
    for low in range(0, len(X), step := device.rows(16 * X.shape[1], len(X))):
        part = device.tensor(X[low : low + step]) + 0  # -0 becomes 0
        bits = part.view(torch.int32 if part.element_size() == 4 else torch.int64).long()
        bits = (bits ^ ((bits >> 32) & HIGH)) * ODD
        keys.append(((bits ^ ((bits >> 32) & HIGH)) * factors).sum(dim=1))
    return torch.cat(keys)


@dataclass(frozen=True, eq=False)
class Lengths:
    """A symmetric graph as rows of sorted neighbours, with the lengths of the edges in double precision.

    `joined` is the twin of `connectivity.joined`.
    """

    device: Device
    n: int
    rows: Any  # int64
    ends: Any  # int64
    lengths: Any

    @classmethod
    def of(cls, device: Device, starts: np.ndarray, ends: np.ndarray, lengths: np.ndarray) -> Lengths:
        """From borders of the rows, neighbours and lengths."""
        torch, n = device.torch, len(starts) - 1
        counts = device.tensor(starts, torch.int64).diff()
        rows = torch.repeat_interleave(torch.arange(n, device=counts.device), counts)
        return cls(device, n, rows, device.tensor(ends, torch.int64), device.tensor(lengths, torch.float64))

    def kept(self, which: Any) -> Lengths:
        """Some of its edges alone."""
        return Lengths(self.device, self.n, self.rows[which], self.ends[which], self.lengths[which])

    def starts(self) -> Any:
        """The borders of the rows."""
        torch = self.device.torch
        return torch.nn.functional.pad(torch.bincount(self.rows, minlength=self.n).cumsum(0), (1, 0))

    def joined(self, which: Any, join: Callable[[Any, np.ndarray], Any]) -> Lengths:
        """Some of its edges, and the shortest others that join their connected components.

        `join` takes edges (length, row, row) in order, and the component of each row; it gives the edges that join.
        """
        torch, rest = self.device.torch, self.kept(which)
        label = torch.unique(labels_of(self.device, rest.rows, rest.ends, self.n), return_inverse=True)[1]
        across = ((label[self.rows] != label[self.ends]) & (self.rows < self.ends)).nonzero()[:, 0]
        if not len(across):
            return rest
        across = across[self.lengths[across].argsort(stable=True)]
        pair = torch.stack([label[self.rows[across]], label[self.ends[across]]]).sort(dim=0).values
        keys, order = (pair[0] * self.n + pair[1]).sort(stable=True)
        first = torch.ones_like(keys, dtype=torch.bool)
        first[1:] = keys[1:] != keys[:-1]
        across = across[order[first].sort().values]  # the shortest of two components
        edges = [part[across].tolist() for part in (self.lengths, self.rows, self.ends)]
        taken = join(zip(*edges, strict=True), label.cpu().numpy())[0]
        return rest._with(*(np.array(part) for part in zip(*taken, strict=True)))

    def _with(self, lengths: np.ndarray, one: np.ndarray, other: np.ndarray) -> Lengths:
        """And some more edges, in both directions."""
        torch, n = self.device.torch, self.n
        length, i, j = self.device.tensor(lengths, torch.float64), self.device.tensor(one), self.device.tensor(other)
        keys, order = torch.cat([self.rows * n + self.ends, i * n + j, j * n + i]).sort()
        rows = torch.div(keys, n, rounding_mode="floor")
        return Lengths(self.device, n, rows, keys - rows * n, torch.cat([self.lengths, length, length])[order])

    def geodesics(self, sources: np.ndarray) -> np.ndarray:
        """Lengths of the shortest paths from some rows."""
        found = paths.geodesics(self.device, self.starts(), self.ends, self.lengths, sources, np.float64)
        return np.asarray(found.cpu().numpy())

    def flow(self, sources: np.ndarray) -> np.ndarray | None:
        """How many of the shortest paths from some rows run through each; None where two of equal length do."""
        return paths.flow(self.device, self.starts(), self.ends, self.lengths, sources)

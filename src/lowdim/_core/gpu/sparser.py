"""A graph of lengths on a device, and its parts without some of the edges: the twin of `connectivity.joined`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from lowdim._core.gpu import paths
from lowdim._core.gpu.devices import Device
from lowdim._core.gpu.spectral import labels_of


@dataclass(frozen=True, eq=False)
class Lengths:
    """A symmetric graph as rows of sorted neighbours, with the lengths of the edges in double precision."""

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

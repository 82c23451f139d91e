"""Sums over the edges of a graph, row by row and in order: the same bits in every run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lowdim._core.gpu.affinities import Graph
from lowdim._core.gpu.devices import Device

MOST_EDGES = 2**26  # of one temporary array


@dataclass(frozen=True, eq=False)
class Edges:
    """The graph in the precision of the map, cut into parts of whole rows."""

    graph: Graph
    weights: Any
    parts: list[tuple[int, int, int, int]]  # first and last row, first and last edge

    @classmethod
    def of(cls, graph: Graph, dtype: Any) -> Edges:
        device, starts = graph.device, graph.starts.cpu().numpy()
        n, most = len(starts) - 1, min(MOST_EDGES, device.rows(8, MOST_EDGES, copies=8))
        parts, row = [], 0
        while row < n:
            until = int(np.searchsorted(starts, starts[row] + most, side="right")) - 1
            until = min(n, max(until, row + 1))
            parts.append((row, until, int(starts[row]), int(starts[until])))
            row = until
        return cls(graph, graph.weights.to(dtype), parts)

    @property
    def device(self) -> Device:
        return self.graph.device

    def pull(self, Z: Any, over_dof: float) -> Any:
        """The attraction of the edges: for each row the sum of p (z_i - z_j) / (1 + |z_i - z_j|² / dof)."""
        torch = self.device.torch
        if self.device.fused is not None and Z.shape[1] == 2 and Z.dtype == torch.float32:
            return self.device.fused.pull(self.graph.starts, self.graph.ends, self.weights, Z, over_dof)
        out = Z.new_empty(Z.shape)
        for row, until, low, high in self.parts:
            gaps, factors = self._gaps(Z, low, high)
            factors = self.weights[low:high] / factors.mul_(over_dof).add_(1)
            starts = self.graph.starts[row : until + 1] - low
            for c, gap in enumerate(gaps):
                out[row:until, c] = torch.segment_reduce(gap.mul_(factors), "sum", offsets=starts, initial=0)
        return out

    def _gaps(self, Z: Any, low: int, high: int) -> tuple[list[Any], Any]:
        """z_i - z_j along each axis, and the sum of their squares."""
        rows, ends = self.graph.rows[low:high], self.graph.ends[low:high]
        gaps = [z.index_select(0, rows).sub_(z.index_select(0, ends)) for z in Z.T.contiguous()]
        squares = gaps[0].square()
        for gap in gaps[1:]:
            squares.addcmul_(gap, gap)
        return gaps, squares

    def costs(self, Z: Any, dof: float) -> float:
        """sum p log(p / w) over the edges, w the kernel of their points; with log of its sum this is the divergence."""
        total = 0.0
        for _, _, low, high in self.parts:
            squares = self._gaps(Z.double(), low, high)[1]
            p = self.weights[low:high].double()
            logs = p.clamp(min=1e-300).log() + (dof + 1) / 2 * (squares / dof).log1p_()
            total += float((p * logs).sum())
        return total

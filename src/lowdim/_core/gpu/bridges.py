"""The shortest edges between groups of rows on a device, which join the components of a neighbour graph.

Two steps. Products of eleven bits (half precision or TF32) give for each row a lower and an upper bound of its distance
to the nearest row of every group, once for all groups. Rows that could hold the shortest edge of a group by these are
few; they are searched again exactly, so that the edges are those of an exact search of all pairs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from lowdim._core.gpu.devices import TF32, Device, rough_products
from lowdim._core.gpu.nearest import Rows, nearest_rows
from lowdim._core.gpu.stress import power_of_two

MOST_GROUPS = 64  # more are searched one by one
TINY = 2.0**-23  # twice the spacing of the smallest numbers of half precision, and a little


@dataclass(frozen=True, eq=False)
class Bounds:
    """Bounds of the squared distance of every row to the nearest row of every group."""

    device: Device
    X: Any  # the rows over `unit`
    unit: float
    group: Any  # of every row
    least: Any  # (n, groups)
    slack: Any  # (n, groups)

    @classmethod
    def of(cls, device: Device, X: Any, group: np.ndarray) -> Bounds:
        """From rows on the device and the group of each, 0, 1, ... without gaps."""
        torch, unit = device.torch, power_of_two(float(X.abs().max())) or 1.0
        X = X / unit
        labels = device.tensor(group.astype(np.int64))
        order = labels.argsort(stable=True)
        rows = Rows.of(X)
        Y, norms = rows.shifted[order].float(), rows.norms[order].float()
        counts = torch.bincount(labels)
        starts = torch.nn.functional.pad(counts.cumsum(0), (1, 0))
        own = rows.norms.float()
        longest = torch.segment_reduce(norms, "max", lengths=counts).sqrt()
        least = least_of_groups(device, rows.shifted.float(), Y, norms, starts) + own[:, None]
        product = own.sqrt()[:, None] * longest
        sums = 4 * (X.shape[1] + 8) * float(np.finfo(np.float32).eps) * (product + own[:, None] + longest.square())
        sums += TINY * np.sqrt(X.shape[1]) * (own.sqrt()[:, None] + longest)  # cells below the range of half precision
        return cls(device, X, unit, labels, least, TF32 * product + sums)

    def on(self, device: Device) -> Bounds:
        """The same for other sizes of blocks."""
        return replace(self, device=device)

    def offer(self, part: np.ndarray, number: int) -> tuple[float, int, int]:
        """The shortest edge from a part, a union of groups, to the rows outside: squared length and the two rows.

        Parameters
        ----------
        part : ndarray of shape (n,)
            The part of every row.
        number : int
            Which part.

        Returns
        -------
        tuple
            Of edges of one length that of the first row, to the first row there.
        """
        torch = self.device.torch
        inside = self.device.tensor(part == number)
        rows, others = inside.nonzero()[:, 0], (~inside).nonzero()[:, 0]
        groups = torch.ones(self.least.shape[1], dtype=torch.bool, device=rows.device)
        groups[self.group[rows]] = False
        least, slack = self.least[rows][:, groups], self.slack[rows][:, groups]
        bound = (least + slack).min()
        some = rows[((least - slack) <= bound).any(dim=1)]
        squares, indices = nearest_rows(self.device, self.X[others], 1, self.X[some])
        lengths = squares[:, 0].sqrt().to(self.X.dtype)
        at = int((lengths == lengths.min()).nonzero()[0, 0])
        return float(squares[at, 0]) * self.unit**2, int(some[at]), int(others[indices[at, 0]])


def least_of_groups(device: Device, Q: Any, Y: Any, norms: Any, starts: Any) -> Any:
    """The least |y|² - 2 q.y over each group, by products of eleven bits where the device has them.

    Parameters
    ----------
    device : Device
        Where the tensors are.
    Q, Y : tensor of shape (m, d) and (n, d)
        In single precision, no cell above 2^15; the rows of Y group after group.
    norms : tensor of shape (n,)
        |y|².
    starts : tensor of shape (groups + 1,)
        Where each group begins.

    Returns
    -------
    tensor of shape (m, groups)
    """
    if device.fused is not None:
        return device.fused.least_of_groups(device.torch, Q, Y, norms, starts)
    torch, borders = device.torch, starts.tolist()
    out = Q.new_empty((len(Q), len(borders) - 1))
    widest = max(high - low for low, high in pairwise(borders))
    step = device.rows(4 * widest, len(Q), copies=2)
    with rough_products(device):
        for number, (low, high) in enumerate(pairwise(borders)):
            for at in range(0, len(Q), step):
                part = Q[at : at + step]
                table = torch.addmm(norms[low:high].expand(len(part), -1), part, Y[low:high].T, alpha=-2)
                out[at : at + step, number] = table.amin(dim=1)
    return out

"""New rows placed in a map on a device: the twins of the compiled `place_rows` and `settle_rows`.

Each row moves on its own, the fitted points fixed. What these push with is a field: for t-SNE it is computed once on a
grid, as in `repulsion`, and read where the new rows are; for UMAP it is a sum over a few of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lowdim._core.gpu.affinities import calibrated
from lowdim._core.gpu.devices import Device
from lowdim._core.gpu.repulsion import MOST_NODES, REACH, SMOOTH, GridField
from lowdim._core.gpu.sampling import LONGEST, OFFSET

MARGIN = 0.1  # of the span of the map that the grid reaches beyond it
ARRIVED = 1e-5  # a step so short is the last one
LEAST = 2.0**-60  # squared distance


class FixedField(GridField):
    """The push of fixed points anywhere on a map of one or two dimensions, and the sum of their kernel values."""

    def __init__(self, device: Device, fitted: Any, dof: float) -> None:
        super().__init__(device, dof)
        torch, self.fitted = device.torch, fitted
        ends = torch.stack([fitted.amin(dim=0), fitted.amax(dim=0)]).double().cpu().numpy()
        wider = MARGIN * float((ends[1] - ends[0]).max())
        self.low, self.high = ends[0] - wider, ends[1] + wider
        spacing = self._spacing(float((self.high - self.low).max()))
        self.used = [int(span / spacing) + 2 * REACH + 2 for span in self.high - self.low]
        self.fields: Any = None
        if np.prod([2.0 * cells for cells in self.used]) > MOST_NODES:
            return  # a map so wide is mostly empty space: all pairs
        sizes = [int(SMOOTH[np.searchsorted(SMOOTH, 2 * max(self.used))])] * len(self.used)
        self.box = device.tensor(np.append(self.low - REACH * spacing, 1 / spacing))
        hat = torch.fft.rfftn(self._spread(fitted, self.box, self.used), s=sizes)
        even, odd = self._transforms(spacing, sizes)
        even = even * float(np.prod(sizes))
        even[..., 1 : (sizes[-1] + 1) // 2] /= 2
        kernels = torch.cat([even.to(odd.dtype)[None], odd])
        self.fields = torch.fft.irfftn(hat * kernels, s=sizes, dim=tuple(range(1, len(sizes) + 1)))

    def at(self, Z: Any) -> tuple[Any, Any]:
        """The forces on points (not yet divided by the sum of the kernel) and that sum, for each of them."""
        torch = self.device.torch
        if self.fields is None:
            return self._summed(Z)
        here = self._read(Z)
        low, high = self.device.tensor(self.low), self.device.tensor(self.high)
        inside = torch.ge(Z, low).all(dim=1) & torch.le(Z, high).all(dim=1)
        if not bool(inside.all()):
            rows = (~inside).nonzero()[:, 0]
            pushed, total = self._summed(Z[rows])
            here[rows] = torch.cat([total[:, None], pushed], dim=1).to(here.dtype)
        return here[:, 1:], here[:, 0].clamp(min=1e-30)

    def _read(self, Z: Any) -> Any:
        points = Z.float()
        if not self._is_fused(points):
            return self._gather(points, self.box, self.used, self.fields)
        both = [self._gather(points, self.box, self.used, self.fields[low : low + 2]) for low in range(2)]
        return self.device.torch.cat([both[0], both[1][:, 1:]], dim=1)

    def _summed(self, Z: Any) -> tuple[Any, Any]:
        """Over all fitted points, in blocks."""
        parts = []
        for part in Z.split(self.device.rows(8 * len(self.fitted) * (Z.shape[1] + 3), len(Z), copies=3)):
            gaps = part[:, None].double() - self.fitted.double()
            base = 1 / (1 + gaps.square().sum(dim=2) / self.dof)
            w = base ** ((self.dof + 1) / 2)
            parts.append(((gaps * (w * base)[:, :, None]).sum(dim=1), w.sum(dim=1)))
        pushed, total = (self.device.torch.cat(part) for part in zip(*parts, strict=True))
        return pushed, total


def by_affinities(
    device: Device,
    fitted: np.ndarray,
    near: np.ndarray,
    distances: np.ndarray,
    *,
    perplexity: Any,
    dof: float,
    exaggeration: float,
    steps: int,
) -> np.ndarray:
    """New rows in t-SNE: the least divergence of each, from the weighted median of its neighbours' points.

    Parameters
    ----------
    device : Device
        Where to compute.
    fitted : ndarray of shape (n, 1) or (n, 2)
        The map.
    near, distances : ndarray of shape (m, k)
        The fitted neighbours of the new rows, nearest first.
    perplexity : sequence of float
        Of the weights of the neighbours.
    dof, exaggeration, steps : float, float, int
        Of the descent.

    Returns
    -------
    ndarray of shape (m, dims)
    """
    torch, parts = device.torch, []
    places = device.tensor(fitted, torch.float64)
    field = FixedField(device, places.float(), dof)
    for low in range(0, len(near), step := device.rows(64 * near.shape[1] * fitted.shape[1], len(near))):
        points = places[device.tensor(near[low : low + step]).long()]
        squares = device.tensor(distances[low : low + step], torch.float64).square()
        p = calibrated(device, squares, perplexity)
        y = _weighted_median(torch, points, p)
        moving = torch.ones(len(y), dtype=torch.bool, device=y.device)
        for _ in range(steps):
            pushed, total = field.at(y)
            pull = exaggeration * p / (1 + (y[:, None] - points).square().sum(dim=2) / dof)
            move = (pull[:, :, None] * (points - y[:, None])).sum(dim=1) + pushed / total[:, None]
            move = move / pull.sum(dim=1).clamp(min=1e-300)[:, None]
            length = move.square().sum(dim=1).sqrt()
            y = torch.where(moving[:, None], y + move / length.clamp(min=1)[:, None], y)
            moving &= length >= ARRIVED
            if not bool(moving.any()):
                break
        parts.append(y)
    return np.asarray(torch.cat(parts).cpu().numpy())


def _weighted_median(torch: Any, points: Any, weights: Any) -> Any:
    """Of each coordinate: the least value below which half of the weight is. Points are (m, k, dims)."""
    values, order = points.sort(dim=1, stable=True)
    below = weights[:, :, None].expand_as(points).gather(1, order).cumsum(dim=1)
    middle = (below < 0.5 * below[:, -1:]).sum(dim=1, keepdim=True)
    return values.gather(1, middle)[:, 0]


def by_memberships(
    device: Device, start: np.ndarray, places: tuple[np.ndarray, np.ndarray], near: np.ndarray, weights: np.ndarray,
    forces: tuple[float, float, float, float], steps: int,
) -> np.ndarray:  # fmt: skip
    """New rows in UMAP: attraction to the neighbours and repulsion from some fitted points balance.

    Parameters
    ----------
    device : Device
        Where to compute.
    start : ndarray of shape (m, dims)
        Where the new rows begin.
    places : tuple of ndarray
        The fitted points, and those of them that repel.
    near, weights : ndarray of shape (m, k)
        The fitted neighbours of the new rows, and their memberships.
    forces : tuple of float
        a, b, strength and pushes for each pull.
    steps : int
        How many.

    Returns
    -------
    ndarray of shape (m, dims)
    """
    torch, (a, b, strength, per_pull), parts = device.torch, forces, []
    fitted, others = (device.tensor(part, torch.float64) for part in places)
    row_bytes = 8 * start.shape[1] * (len(others) + near.shape[1])

    def mean(y: Any, there: Any, pulls: Any, shares: Any) -> Any:
        pull_gap, push_gap = there - y[:, None], y[:, None] - others
        pull_by = 2 * pulls * _pull(pull_gap.square().sum(dim=2), a, b)
        push_by = shares[:, None] * _push(push_gap.square().sum(dim=2), a, b, strength)
        move = (pull_by[:, :, None] * pull_gap).sum(dim=1) + (push_by[:, :, None] * push_gap).sum(dim=1)
        return move / (pull_by.sum(dim=1) + push_by.sum(dim=1)).clamp(min=1e-300)[:, None]

    for low in range(0, len(near), step := device.rows(row_bytes, len(near), copies=6)):
        here = slice(low, low + step)
        y, pulls = device.tensor(start[here], torch.float64), device.tensor(weights[here], torch.float64)
        there = fitted[device.tensor(near[here]).long()]
        shares = 2 * per_pull * pulls.sum(dim=1) / max(len(others), 1)
        for number in range(steps):
            y = y + (1 - number / steps) * mean(y, there, pulls, shares)
        parts.append(y)
    return np.asarray(torch.cat(parts).cpu().numpy())


def _pull(s: Any, a: float, b: float) -> Any:
    """What the difference to a point at squared distance s is multiplied by; the force is at most LONGEST."""
    s = s.clamp(LEAST, 1 / LEAST)
    power = s**b
    return (2 * a * b * power / (s * (1 + a * power))).minimum(LONGEST / s.sqrt())


def _push(s: Any, a: float, b: float, strength: float) -> Any:
    s = s.clamp(LEAST, 1 / LEAST)
    return (2 * strength * b / ((OFFSET + s) * (1 + a * s**b))).minimum(LONGEST / s.sqrt())

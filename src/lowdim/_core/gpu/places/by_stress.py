"""New rows among fixed points by their dissimilarities, on a device: the twin of the compiled `place_rows` of stress.

Newton's method where it lowers the stress of a row, else one step of majorisation, which always does; all rows of a
block together, each until it has arrived.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lowdim._core.gpu.coranking import squares
from lowdim._core.gpu.devices import Device

COPIES = 12  # arrays of a block that exist at once, in double precision, for maps of two dimensions
CURVED = 1e-9  # of the number of points: a smaller pivot of the Hessian is not safely positive
ARRIVED = 1e-15  # of the size of the map: a shorter step is rounding


@dataclass(frozen=True, eq=False)
class Local:
    """Stress of some rows, half of its gradient and of its Hessian."""

    stress: Any
    gradient: Any
    hessian: Any

    @classmethod
    def of(cls, torch: Any, D: Any, points: Any, Z: Any) -> Local:
        gaps = [Z[:, k, None] - points[:, k] for k in range(Z.shape[1])]
        s = sum(gap.square() for gap in gaps)
        inverse = torch.where(s > 0, s.rsqrt(), 0.0)
        apart = s.mul_(inverse)
        stress = (D - apart).square_().sum(dim=1)
        units = [gap.mul_(inverse) for gap in gaps]
        push, bend = apart - D, inverse.mul_(D)
        gradient = torch.stack([(push * unit).sum(dim=1) for unit in units], dim=1)
        rest = (1 - bend).sum(dim=1)
        hessian = torch.stack(
            [torch.stack([(bend * one * other).sum(dim=1) for other in units], dim=1) for one in units], dim=1
        )
        hessian.diagonal(dim1=1, dim2=2).add_(rest[:, None])
        return cls(stress, gradient, hessian)

    def __getitem__(self, rows: Any) -> Local:
        return Local(self.stress[rows], self.gradient[rows], self.hessian[rows])

    def replaced(self, torch: Any, where: Any, other: Local) -> Local:
        """The same with other rows where a mask says so."""
        return Local(
            torch.where(where, other.stress, self.stress),
            torch.where(where[:, None], other.gradient, self.gradient),
            torch.where(where[:, None, None], other.hessian, self.hessian),
        )

    def lowered(self, next_: Local) -> Any:
        """Whether a step was good; near the minimum, where the stress changes by rounding, the gradient says so."""
        near = next_.stress <= self.stress * (1 + 1e-12)
        return (next_.stress < self.stress) | (near & (next_.gradient.norm(dim=1) < 0.5 * self.gradient.norm(dim=1)))


def placed(device: Device, Q: Any, X: Any, points: np.ndarray, *, unit: float, max_iter: int) -> np.ndarray:
    """The nearest minimum of sum_j (delta_j - |z - z_j|)^2 for each row, from a mean of its neighbours' points.

    Parameters
    ----------
    device : Device
        Where to measure.
    Q : ndarray, or rows on the device, of shape (m, d)
        The new rows.
    X : ndarray, or rows on the device, of shape (n, d)
        The fitted rows.
    points : ndarray of shape (n, r)
        Where these are, in units of `unit`.
    unit : float
        Euclidean distances between rows are divided by it.
    max_iter : int
        Steps.

    Returns
    -------
    ndarray of shape (m, r)
    """
    torch, at = device.torch, device.tensor(np.ascontiguousarray(points))
    dtype = np.result_type(Q.dtype, X.dtype).name
    rows, new = (device.tensor(table, getattr(torch, dtype)) for table in (X, Q))
    size, out = float(at.abs().max()), at.new_empty((len(new), at.shape[1]))
    step = device.rows(8 * len(rows), len(new), copies=COPIES + 2 * at.shape[1])
    for low in range(0, len(new), step):
        D = squares(device, new[low : low + step], rows).sqrt_().double().div_(unit)
        Z = started(torch, D, at)
        out[low : low + step] = _settled(torch, D, at, Z, size, max_iter)
    return np.asarray(out.cpu().numpy())


def started(torch: Any, D: Any, points: Any) -> Any:
    """Weighted means of the nearest points, exact at a point itself and continuous between (Franke and Little)."""
    n, r = points.shape
    k = min(r + 3, n - 1)
    d, near = D.topk(k + 1, dim=1, largest=False) if k < n - 1 else (D, torch.arange(n, device=D.device).expand_as(D))
    reach = d.amax(dim=1, keepdim=True)
    weights = ((reach - d) / (reach * d)).square()
    same = d == 0
    weights = torch.where(same.any(dim=1, keepdim=True), same.double(), weights)
    weights = torch.where(weights.isfinite(), weights, 0.0)
    weights = torch.where((weights.sum(dim=1) == 0)[:, None], 1.0, weights)  # all neighbours equally far
    weights = weights / weights.sum(dim=1, keepdim=True)
    return (weights[:, :, None] * points[near]).sum(dim=1)


def _settled(torch: Any, D: Any, points: Any, Z: Any, size: float, max_iter: int) -> Any:
    """Rows that have arrived are left out of the further steps."""
    open_, out = torch.arange(len(Z), device=Z.device), Z.clone()
    now = Local.of(torch, D, points, Z)
    for _ in range(max_iter):
        step, curved = _newton(torch, now, len(points))
        move = torch.where(curved[:, None], step, -now.gradient / len(points))
        Z, now, left = _stepped(torch, D, points, Z, now, move, curved, size)
        out[open_] = Z
        if not bool(left.any()):
            break
        open_, D, Z, now = open_[left], D[left], Z[left], now[left]
    return out


def _newton(torch: Any, now: Local, weight: float) -> tuple[Any, Any]:
    """The step of Newton's method, and for which rows it is one downhill."""
    factor, info = torch.linalg.cholesky_ex(now.hessian)
    pivots = factor.diagonal(dim1=1, dim2=2).square().amin(dim=1)
    curved = (info == 0) & (pivots > CURVED * weight)
    one = torch.eye(factor.shape[1], dtype=factor.dtype, device=factor.device)
    safe = torch.where(curved[:, None, None], factor, one)
    return torch.cholesky_solve(-now.gradient[:, :, None], safe)[:, :, 0], curved


def _stepped(
    torch: Any, D: Any, points: Any, Z: Any, now: Local, move: Any, curved: Any, size: float
) -> tuple[Any, Local, Any]:
    """Rows after a step, of Newton's method or else of majorisation, and which of them may go on."""
    tiny = ARRIVED * size
    moves = move.norm(dim=1) > tiny
    found = Local.of(torch, D, points, Z + move)
    good = moves & now.lowered(found)
    again = (moves & ~good & curved).nonzero()[:, 0]
    if len(again):
        slower = -now.gradient[again] / len(points)
        other = Local.of(torch, D[again], points, Z[again] + slower)
        better = (slower.norm(dim=1) > tiny) & now[again].lowered(other)
        move, good = move.clone(), good.clone()
        move[again], good[again] = slower, better
        found.stress[again], found.gradient[again], found.hessian[again] = other.stress, other.gradient, other.hessian
    return torch.where(good[:, None], Z + move, Z), now.replaced(torch, good, found), good

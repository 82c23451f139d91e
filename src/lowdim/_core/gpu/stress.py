"""Stress and its forces on a device: the twin of the compiled `stress_pass`, row by row of a square table.

Every pair is met twice, once from each of its rows, so that a row's force is a sum along one row of the table: nothing
is added to the same place by two rows. The table is kept where it fits; else its rows are measured anew in each pass.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from lowdim._core.gpu.coranking import squares
from lowdim._core.gpu.device_rows import largest_of
from lowdim._core.gpu.devices import BLOCK_BYTES, SHARE, Device

COPIES = 6  # arrays of a block that exist at once, in double precision
FUSED_UP_TO = 3  # coordinates of a map for which there is a fused pass


@dataclass(frozen=True, eq=False)
class Table:
    """Dissimilarities of n rows on a device, kept as a square table or measured from the rows, in units of `unit`."""

    device: Device
    n: int
    kept: Any  # (n, n), or None
    rows: Any  # (n, d), where the table is not kept
    unit: float

    def block(self, low: int, high: int) -> Any:
        """The dissimilarities of some rows to all."""
        if self.kept is not None:
            return self.kept[low:high]
        return squares(self.device, self.rows[low:high], self.rows).sqrt_()

    def parts(self, copies: int = COPIES) -> Iterator[tuple[int, Any]]:
        """The table block by block, with the number of the first row of each."""
        step = self.device.rows(8 * self.n, self.n, copies=copies)
        for low in range(0, self.n, step):
            yield low, self.block(low, min(self.n, low + step))

    def total(self) -> float:
        """The sum of squares over pairs."""
        return float(sum(part.double().square().sum() for _, part in self.parts())) / 2


def power_of_two(largest: float) -> float:
    """The power of two below a length; 0 for 0."""
    return 2.0 ** int(np.frexp(largest)[1] - 1) if largest > 0 else 0.0


def keeps_table(device: Device, n: int, itemsize: int) -> bool:
    """Whether a square table takes at most two thirds of what a fit may plan for."""
    return n * n * itemsize <= SHARE * device.free() * 2 / 3


def table_of_rows(device: Device, X: Any, *, keep: bool) -> Table:
    """Euclidean distances, by the differences of the cells, in the precision of X.

    Parameters
    ----------
    device : Device
        Where to measure.
    X : ndarray of shape (n, d)
        The rows; cells of any size, as they are divided by a power of two first.
    keep : bool
        Keep the square table.

    Returns
    -------
    Table
        Its largest value lies between 1 and 2, of a table that is not kept between 1/2 and 2 sqrt(d).
    """
    n = len(X)
    scale = power_of_two(largest_of(X)) or 1.0
    rows = device.tensor(X)
    rows = (rows.double() / scale).to(rows.dtype)
    if not keep:
        spread = float((rows.double().amax(dim=0) - rows.double().amin(dim=0)).max())
        unit = power_of_two(spread)
        return Table(device, n, None, rows / unit if unit else rows, unit * scale)
    table = rows.new_empty((n, n))
    step = device.rows(rows.element_size() * n, n)
    for low in range(0, n, step):
        table[low : low + step] = squares(device, rows[low : low + step], rows).sqrt_()
    return _in_units(device, table, scale)


def table_of_distances(device: Device, D: Any) -> Table:
    """A symmetric table of known dissimilarities."""
    table = device.tensor(D)
    return _in_units(device, table if device.is_gpu else table.clone(), 1.0)


def _in_units(device: Device, table: Any, scale: float) -> Table:
    unit = power_of_two(float(table.max()))
    if unit:
        table /= unit
    return Table(device, len(table), table, None, unit * scale)


def stress_pass(table: Table, Z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The stress of each row's pairs, and the forces sum_j (delta / d - 1)(z_i - z_j).

    Parameters
    ----------
    table : Table
        The dissimilarities.
    Z : ndarray of shape (n, r)
        A configuration, in float64.

    Returns
    -------
    tuple of ndarray
        (n,) and (n, r); the stress of all pairs is half the sum of the first.
    """
    device = table.device
    points = device.tensor(np.ascontiguousarray(Z - Z.mean(axis=0)))
    fused = device.fused if Z.shape[1] <= FUSED_UP_TO else None
    stress, force = points.new_empty(len(Z)), points.new_empty(Z.shape)
    if fused is not None and table.kept is not None:
        fused.stress(table.kept, points, 0, stress, force)
    else:
        for low, part in table.parts():
            here = slice(low, low + len(part))
            if fused is not None:
                fused.stress(part, points, low, stress[here], force[here])
            else:
                stress[here], force[here] = _block(device, part, points, here)
    return stress.cpu().numpy(), force.cpu().numpy()


def _block(device: Device, delta: Any, Z: Any, here: slice) -> tuple[Any, Any]:
    s = squares(device, Z[here], Z)
    inverse = device.torch.where(s > 0, s.rsqrt(), 0.0)
    stress = (delta - s.mul_(inverse)).square_().sum(dim=1)
    c = inverse.mul_(delta).sub_(1.0)
    return stress, c.sum(dim=1)[:, None] * Z[here] - c @ Z


def needs(n: int, d: int, itemsize: int) -> dict[str, int]:
    """Bytes on the device where the square table is kept."""
    block = 2 * min(BLOCK_BYTES, 8 * n * n)
    return {"rows": 3 * n * d * itemsize, "dissimilarities": n * n * itemsize, "blocks": block, "points": 64 * n}

"""Metric scaling on a GPU: the pairs of `_majorize` as a table on the device, and the same solvers above them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lowdim._core.gpu import devices
from lowdim._core.gpu.device_rows import DeviceRows
from lowdim._core.gpu.devices import Device
from lowdim._core.gpu.places.by_stress import placed
from lowdim._core.gpu.stress import Table, keeps_table, needs, stress_pass, table_of_distances, table_of_rows
from lowdim.stress._dissimilarities import Dissimilarities
from lowdim.stress._fit import Fitted, Settings, fit_in_units
from lowdim.stress._placement import MAX_ITER, StressPlacement

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Given:
    """Stands for the dissimilarities where `Pairs` has a vector of them."""

    dtype: Any


@dataclass(frozen=True, eq=False)
class DevicePairs:
    """What solvers ask of `Pairs`, without weights and at level "ratio"."""

    table: Table
    delta: Given
    length: float  # sum of squared dissimilarities over pairs
    weights: None = None

    @classmethod
    def of(cls, table: Table, dtype: Any) -> DevicePairs:
        return cls(table, Given(np.dtype(dtype)), table.total())

    @property
    def n(self) -> int:
        return self.table.n

    def total(self, values: Any = None) -> float:
        """The sum of squares of the dissimilarities; the number of pairs where none are given."""
        return self.n * (self.n - 1) / 2 if values is None else self.length

    def stress(self, Z: Array, delta: Any = None, n_jobs: int | None = None) -> tuple[float, Array]:
        """sum (delta - d)^2 and the forces on the points."""
        each, force = stress_pass(self.table, Z)
        return float(each.sum()) / 2, force

    def spread(self, Z: Array, n_jobs: int | None = None) -> float:
        """sum d^2."""
        return max(self.n * float(np.square(Z).sum()) - float(np.square(Z.sum(axis=0)).sum()), 0.0)

    def detail(self, Z: Array, delta: Any = None, n_jobs: int | None = None) -> tuple[Array, None]:
        """The stress of each point's pairs."""
        return stress_pass(self.table, Z)[0], None

    def row(self, values: Any, i: int) -> Array:
        """The dissimilarities of row i to all."""
        return np.asarray(self.table.block(i, i + 1)[0].cpu().numpy())

    def condensed(self) -> Array:
        """Pairs i < j, as scipy's `pdist` has them."""
        D = self.table.block(0, self.n).cpu().numpy()
        return np.asarray(D[np.triu_indices(self.n, 1)])


def fit_on_device(place: Device, given: Dissimilarities, settings: Settings, kept_up_to: int, ways_out: str) -> Fitted:
    """The best of several runs on all pairs; without the square table where it does not fit the device."""
    n, X = given.n, given.X if isinstance(given.X, DeviceRows) else np.asarray(given.X)
    fits = keeps_table(place, n, X.itemsize)
    parts = needs(n, X.shape[1], X.itemsize)
    if not fits and given.metric is not None:
        parts.pop("dissimilarities")
    devices.check_memory(place, parts, "MDS", ways_out)

    def fit(on: Device) -> Fitted:
        keep = fits and on.shrink == 1
        table = table_of_distances(on, X) if given.metric is None else table_of_rows(on, X, keep=keep)
        pairs = DevicePairs.of(table, X.dtype)
        found = fit_in_units(pairs, table.unit, settings)
        kept = pairs.condensed() if n <= kept_up_to else None
        return replace(found, delta=kept, disparities=kept)

    return devices.run(place, fit, "MDS")


def place_on_device(place: Device, X: Any, rows: Any, where: StressPlacement) -> Array:
    """Coordinates of new rows by their Euclidean distances to the fitted ones."""
    settings: dict[str, Any] = {"points": where.points, "unit": where.unit, "max_iter": MAX_ITER}
    return where.scale * devices.run(place, lambda on: placed(on, X, rows, **settings), "MDS")

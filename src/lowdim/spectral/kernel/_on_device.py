"""Rows and their Gaussian kernel on a GPU: what `_kernel_tiles` and `_landmarks` compute in tiles, in blocks there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lowdim._core.gpu import devices, gaussian
from lowdim._core.gpu.device_rows import DeviceRows, largest_of
from lowdim._core.gpu.devices import Device
from lowdim._core.kernels import RBF
from lowdim.spectral.kernel._kernel_tiles import Tiles

Array = np.ndarray
OWNER = "KernelPCA"


def takes(kernel: Any, X: Any) -> bool:
    """Whether a GPU has this kernel: a Gaussian one of dense rows whose squares stay in range."""
    if type(kernel) is not RBF or not isinstance(X, (np.ndarray, DeviceRows)) or X.size == 0:
        return False
    return largest_of(X) < 2.0**50 and 1e-30 < kernel.gamma < 1e30


class GaussianThere:
    """A part of `KernelPCA`: rows in a tensor on a GPU stay there where the kernel is one that is computed there."""

    _stays: tuple[str, ...] = ("fit", "fit_transform", "transform")
    kernel: Any

    def _takes_tensors(self, step: str) -> bool:
        known = (isinstance(self.kernel, str) and self.kernel == "rbf") or type(self.kernel) is RBF
        return known and bool(super()._takes_tensors(step))  # type: ignore[misc]


@dataclass(frozen=True, eq=False)
class DeviceTiles(Tiles):
    """The rows on a device, and their kernel matrix where it is kept."""

    place: Device
    there: Any
    kept: Any = None

    @classmethod
    def of(cls, place: Device, kernel: Any, X: Array, *, keep: bool = False) -> DeviceTiles:
        """Rows on the device; `keep`: with their matrix."""
        there, gamma = place.tensor(X), float(kernel.gamma)
        kept = devices.run(place, lambda on: gaussian.matrix(on, there, gamma), OWNER) if keep else None
        return cls(kernel, X, place, there, kept)

    @property
    def gamma(self) -> float:
        return float(self.kernel.gamma)  # type: ignore[attr-defined]

    def diag(self) -> Array:
        """k(x, x) of the fitted rows: of a Gaussian kernel 1."""
        return np.ones(self.n)

    def product(self, Y: Array) -> Array:
        """K Y in float64 sums."""
        return devices.run(self.place, lambda on: gaussian.product(on, self.there, self.gamma, Y, self.kept), OWNER)

    def moments(self, few: Tiles, root: Array, start: Array) -> tuple[Any, ...]:
        """See `gaussian.moments`; `few` holds the rows that all are compared with."""
        some = self.place.tensor(few.X)
        return devices.run(
            self.place, lambda on: gaussian.moments(on, self.there, some, self.gamma, root, start), OWNER
        )

    def scored(self, few: Tiles, extension: Any, center: Array) -> tuple[Array, Array]:
        """Scores of all rows, and the products of their kernel values with a centre."""
        return scored(self.place, self.kernel, few.X, self.there, extension, center)


def tiles_on(place: Device, kernel: Any, X: Array, parts: dict[str, int], ways_out: str) -> DeviceTiles:
    """Rows on a device that has memory for `parts`; with their kernel matrix where that is one of them and fits."""
    fits = gaussian.keeps_matrix(place, len(X), X.itemsize)
    keep = fits and "kernel matrix" in parts
    devices.check_memory(
        place, {name: size for name, size in parts.items() if fits or name != "kernel matrix"}, OWNER, ways_out
    )
    return DeviceTiles.of(place, kernel, X, keep=keep)


def scored(
    place: Device, kernel: Any, few: Array, X: Any, extension: Any, center: Array | None = None
) -> tuple[Array, Array]:
    """Scores of rows by a formula of their kernel values to a few, and the products of these with a centre."""
    center = np.zeros(len(few)) if center is None else center
    gamma, formula = float(kernel.gamma), (extension.offset, extension.projection, center)
    return devices.run(place, lambda on: gaussian.scored(on, X, on.tensor(few), gamma, *formula), OWNER)

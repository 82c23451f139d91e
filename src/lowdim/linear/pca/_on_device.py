"""PCA on a GPU: the moments of the rows, and places of rows that are there already."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from lowdim._core.gpu import devices
from lowdim._core.gpu.device_rows import DeviceRows, on_host
from lowdim._core.gpu.moments import moments as device_moments
from lowdim._core.gpu.places import linear_map
from lowdim._core.spectrum import Moments
from lowdim._core.tables.arrays import extent


class OnDevice:
    """A part of `PCA`, whose attributes it reads."""

    _stays: tuple[str, ...] = ("fit", "fit_transform", "transform", "inverse_transform")
    device: str
    n_jobs: Any
    whiten: bool
    _ways_out: ClassVar[str]
    _device_memory: Any
    _extend: Any

    def _place(self, X: Any) -> Any:
        """The GPU, where one was asked for and has the memory; None: the CPU."""
        place = devices.find(self.device, "PCA")
        if place is not None:
            devices.check_memory(place, self._device_memory(*extent(X)), "PCA", self._ways_out)
            self.device_ = place.title
        return place

    def _moments(self, X: Any, weights: np.ndarray | None) -> Moments:
        place = self._place(X)
        if place is None:
            return Moments.of(on_host(X), weights, n_jobs=self.n_jobs)
        return Moments(*devices.run(place, lambda on: device_moments(on, X, weights), "PCA"))

    def _extend_there(self: Any, X: DeviceRows) -> Any:
        place = devices.find(self.device, "PCA")
        assert place is not None
        if self.solver_ == "nipals":
            return place.tensor(np.ascontiguousarray(self._extend(X.host)))
        A = self.components_.T if self.scale_ is None else self.components_.T / self.scale_[:, None]
        A = A / np.sqrt(self.explained_variance_) if self.whiten else A
        return devices.run(place, lambda on: linear_map.scores(on, X, self.mean_, A), "PCA")

    def _invert_there(self: Any, Z: DeviceRows) -> Any:
        place = devices.find(self.device, "PCA")
        assert place is not None
        B = self.components_ * np.sqrt(self.explained_variance_)[:, None] if self.whiten else self.components_
        B = B if self.scale_ is None else B * self.scale_
        return devices.run(place, lambda on: linear_map.rows_of(on, Z, self.mean_, B), "PCA")

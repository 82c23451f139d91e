"""Coordinates of rows on linear axes, and rows from coordinates, where they are on a device: the twins of `Linear`."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowdim._core.gpu.device_rows import DeviceRows
from lowdim._core.gpu.devices import Device


def scores(device: Device, X: DeviceRows, mean: np.ndarray, matrix: np.ndarray) -> Any:
    """(x - mean) A in the precision of the rows; centred first, with the rounding of the mean taken off too.

    Parameters
    ----------
    device : Device
        Where to multiply.
    X : DeviceRows of shape (n, d)
        The rows.
    mean : ndarray of shape (d,)
        In float64.
    matrix : ndarray of shape (d, k)
        In float64.

    Returns
    -------
    tensor of shape (n, k)
    """
    center, dtype = device.tensor(mean), X.tensor.dtype
    rounded, A = center.to(dtype), device.tensor(matrix).to(dtype)
    rest = (center - rounded.double()).to(dtype)
    out, step = _out(device, X, A.shape[1])
    for low in range(0, len(X), step):
        part = device.tensor(X[low : low + step]) - rounded
        out[low : low + step] = part.sub_(rest) @ A
    return out


def rows_of(device: Device, Z: DeviceRows, mean: np.ndarray, matrix: np.ndarray) -> Any:
    """mean + z B, in double precision before it is rounded to the precision of the coordinates.

    Parameters
    ----------
    device, Z, mean
        As in `scores`, Z being the coordinates.
    matrix : ndarray of shape (k, d)
        In float64.

    Returns
    -------
    tensor of shape (n, d)
    """
    center, B = device.tensor(mean), device.tensor(matrix)
    out, step = _out(device, Z, B.shape[1])
    for low in range(0, len(Z), step):
        out[low : low + step] = device.tensor(Z[low : low + step]).double() @ B + center
    return out


def _out(device: Device, rows: DeviceRows, k: int) -> tuple[Any, int]:
    """The place of the answer, and how many rows to multiply at once."""
    out = device.torch.empty((len(rows), k), dtype=rows.tensor.dtype, device=device.name)
    return out, device.rows(8 * (rows.shape[1] + k), len(rows))


def centred(X: DeviceRows, mean: np.ndarray, scale: np.ndarray | None, weights: np.ndarray | None) -> DeviceRows:
    """Rows less their mean, over their scale, times the roots of their weights, in their precision."""
    cells = X.tensor

    def like(values: np.ndarray) -> Any:
        return cells.new_tensor(values.tolist(), dtype=cells.dtype)

    rounded = like(mean)
    found = cells - rounded
    found -= like(mean - np.asarray(rounded.cpu().numpy(), dtype=np.float64))
    found = found if scale is None else found.div_(like(scale))
    return DeviceRows(found if weights is None else found.mul_(like(np.sqrt(weights))[:, None]))

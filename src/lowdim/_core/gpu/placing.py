"""Coordinates from distances or kernel values to fitted rows on a device, in blocks."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowdim._core.gpu.devices import Device


def by_squares(device: Device, D: Any, offset: np.ndarray, projection: np.ndarray) -> np.ndarray:
    """Gower's formula: (-D'^2 / 2 - offset) P in double precision, as `Nystrom` computes it.

    Parameters
    ----------
    device : Device
        Where to multiply.
    D : tensor or ndarray of shape (m, n)
        Distances of n rows to m sources; blocks of it are copied to the device where it is elsewhere.
    offset, projection : ndarray of shape (m,) and (m, r)
        Of the formula.

    Returns
    -------
    ndarray of shape (n, r)
    """
    torch = device.torch
    P, center = (device.tensor(np.asarray(part, dtype=np.float64)) for part in (projection, offset))
    n, parts = D.shape[1], []
    step = device.rows(8 * len(center), n)
    for low in range(0, n, step):
        S = device.tensor(D[:, low : low + step]).to(torch.float64, copy=True).square_().mul_(-0.5)
        parts.append(S.sub_(center[:, None]).T @ P)
    return np.asarray(torch.cat(parts).cpu().numpy())

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


def through_neighbors(
    device: Device, D: np.ndarray, near: np.ndarray, lengths: np.ndarray, offset: np.ndarray, projection: np.ndarray
) -> np.ndarray:
    """Coordinates of new rows from the shortest paths to the sources through one of their neighbours.

    Parameters
    ----------
    device : Device
        Where to compute.
    D : ndarray of shape (m, n)
        Geodesic distances of the fitted rows to the sources.
    near, lengths : ndarray of shape (q, k)
        Neighbours of the new rows among the fitted ones, and their distances; inf: not to be used.
    offset, projection : ndarray of shape (m,) and (m, r)
        Of Gower's formula.

    Returns
    -------
    ndarray of shape (q, r)
    """
    torch = device.torch
    P, center = (device.tensor(np.asarray(part, dtype=np.float64)) for part in (projection, offset))
    known = device.tensor(D).T.contiguous()
    ends, edges = device.tensor(near).long(), device.tensor(lengths, known.dtype)
    parts = []
    for low in range(0, len(ends), step := device.rows(8 * len(center), len(ends))):
        here = slice(low, low + step)
        paths = torch.full((len(ends[here]), len(center)), torch.inf, dtype=known.dtype, device=known.device)
        for one, length in zip(ends[here].T, edges[here].T, strict=True):
            paths = torch.minimum(paths, known[one] + length[:, None])
        parts.append(paths.to(torch.float64, copy=True).square_().mul_(-0.5).sub_(center) @ P)
    return np.asarray(torch.cat(parts).cpu().numpy())

"""Principal components of rows on a GPU, where they are the start of a map."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowdim._core.gpu.devices import Device
from lowdim._core.gpu.moments import MOST_COLUMNS, moments
from lowdim._core.spectrum.problem import fix_signs

RESOLVED = 1e-8  # an eigenvalue below this part of the first may be rounding: the CPU decides the rank


def principal_places(device: Device, X: Any, k: int) -> np.ndarray | None:
    """The first k principal components of dense rows, in float64; None where the CPU has to decide the rank."""
    torch = device.torch
    if min(X.shape) <= k or X.shape[1] > MOST_COLUMNS:
        return None
    _, mean, scatter = moments(device, X)
    unit = float(np.trace(scatter))
    if not 1e-200 < unit < 1e200:
        return None
    values, vectors = torch.linalg.eigh(device.tensor(scatter / unit))
    values, vectors = values.flip(0)[:k].cpu().numpy(), vectors.flip(1)[:, :k].cpu().numpy()
    if values[-1] <= RESOLVED * max(values[0], 1e-300):
        return None
    loadings, center = device.tensor(fix_signs(vectors)), device.tensor(mean)
    step = device.rows(16 * X.shape[1], len(X))
    parts = (device.tensor(X[low : low + step]).double() for low in range(0, len(X), step))
    return np.concatenate([((part - center) @ loadings).cpu().numpy() for part in parts])

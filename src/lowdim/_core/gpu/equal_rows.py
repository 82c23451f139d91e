"""Whether a table has equal rows, on a device."""

from __future__ import annotations

import numpy as np

from lowdim._core.gpu.devices import Device
from lowdim._core.runtime.rng import generator

ODD = 0xBF58476D1CE4E5B9 - 2**64  # a multiplier that spreads bits well (Stafford, 2011), as a signed number
HIGH = 2**32 - 1


def all_different(device: Device, X: np.ndarray) -> bool:
    """False where two rows have the same hash, as all equal rows do.

    Parameters
    ----------
    device : Device
        Where to sort.
    X : ndarray of shape (n, d)
        Rows of float32 or float64.

    Returns
    -------
    bool
    """
    torch, keys = device.torch, []
    factors = device.tensor(2 * generator(0).integers(2**62, size=X.shape[1], dtype=np.int64) + 1)
    for low in range(0, len(X), step := device.rows(16 * X.shape[1], len(X))):
        part = device.tensor(X[low : low + step]) + 0  # -0 becomes 0
        bits = part.view(torch.int32 if part.element_size() == 4 else torch.int64).long()
        bits = (bits ^ ((bits >> 32) & HIGH)) * ODD
        keys.append(((bits ^ ((bits >> 32) & HIGH)) * factors).sum(dim=1))
    found = torch.cat(keys).sort().values
    return not bool((found[1:] == found[:-1]).any())

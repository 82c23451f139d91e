"""Means and scatter of rows on a device: products in the precision of the rows, sums in double precision.

As `spectrum.moments`: each chunk of rows is centred at its own mean before it is multiplied, and the chunks are merged
in double precision about their common mean (Chan, Golub and LeVeque, 1983).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lowdim._core.gpu.devices import BLOCK_BYTES, Device

CHUNK = 4096  # rows centred and multiplied at once
WORKSPACE = 2**26  # bytes that the library of products takes
MOST_COLUMNS = 8192  # of a covariance matrix on a device


def moments(device: Device, X: Any, weights: Any = None) -> tuple[float, np.ndarray, np.ndarray]:
    """Total weight, mean and scatter of the rows of X (an array, or a tensor of any device), block by block.

    Parameters
    ----------
    device : Device
        Where to multiply.
    X : ndarray or tensor of shape (n, d)
        Blocks of it are copied to the device where it is elsewhere.
    weights : ndarray of shape (n,), optional
        Not negative.

    Returns
    -------
    tuple
        The sum of the weights, the mean (d,) and the scatter (d, d), in float64.
    """
    torch = device.torch
    n, d = X.shape
    step = block_rows(n, d, device.free() // device.shrink)
    parts = [_part(device, X, weights, low, step) for low in range(0, n, step)]
    all_weights, all_means, scatters = zip(*parts, strict=True)
    weight, means = torch.cat(all_weights), torch.cat(all_means)
    total = weight.sum()
    mean = weight @ means / total
    roots = (means - mean) * weight.sqrt()[:, None]
    scatter = sum(scatters) + roots.T @ roots
    return float(total), mean.cpu().numpy(), scatter.cpu().numpy()


def _part(device: Device, X: Any, weights: Any, low: int, count: int) -> tuple[Any, Any, Any]:
    """Weights and means of the chunks of some rows, and the sum of their scatters."""
    torch = device.torch
    rows = device.tensor(X[low : low + count])
    w = torch.ones(len(rows), dtype=torch.float64, device=rows.device)
    w = w if weights is None else device.tensor(weights[low : low + count], torch.float64)
    whole = len(rows) // CHUNK * CHUNK
    found = []
    chunks = rows[:whole].view(-1, CHUNK, rows.shape[1]), w[:whole].view(-1, CHUNK)
    for part, own in (chunks, (rows[None, whole:], w[None, whole:])):
        if part.numel():
            found.append(_scatter(part, own, weighted=weights is not None))
    weight, mean, scatter = zip(*found, strict=True)
    return torch.cat(weight), torch.cat(mean), sum(scatter)


def _scatter(rows: Any, w: Any, *, weighted: bool) -> tuple[Any, Any, Any]:
    """Of each chunk (first axis); scatters are summed."""
    total = w.sum(dim=1)
    over = total.clamp(min=1e-300)[:, None]
    double = w.dtype
    mean = (rows * w[:, :, None]).sum(dim=1, dtype=double) / over if weighted else rows.sum(dim=1, dtype=double) / over
    # The mean is rounded to the precision of the rows; what that leaves is taken off again.
    near = mean.to(rows.dtype)
    centred = rows - near[:, None]
    left = centred * w[:, :, None].to(rows.dtype) if weighted else centred
    products = left.transpose(1, 2) @ centred
    rest = (mean - near.to(double)) * total.sqrt()[:, None]
    return total, mean, products.to(double).sum(dim=0) - rest.T @ rest


def needs(n: int, d: int, itemsize: int) -> dict[str, int]:
    """Bytes on the device: a block of rows, the same centred and in double precision, and sums."""
    block = min(n, block_rows(n, d)) * d * itemsize
    chunks = -(-min(n, block_rows(n, d)) // CHUNK)
    sums = (chunks + 6) * d * d * (itemsize + 8) // 2
    return {"blocks": 4 * block, "sums": sums, "workspace": WORKSPACE}


def block_rows(n: int, d: int, free: int | None = None) -> int:
    """Rows multiplied at once: whole chunks, so many that rows and products fill a block."""
    most = BLOCK_BYTES if free is None else min(BLOCK_BYTES, free // 12)
    return CHUNK * int(np.clip(most // (8 * d * max(CHUNK, d)), 1, n // CHUNK + 1))

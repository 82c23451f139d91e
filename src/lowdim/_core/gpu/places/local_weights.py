"""Weights that rebuild rows from their neighbours, on a device: the twin of the compiled `local_weights`."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowdim._core.gpu.devices import Device

LEAST_RIDGE = 1e-10  # of the trace, where nothing is left to set the ridge by
NONE = 1e-300  # a squared distance that counts as none


def local_weights(
    device: Device, Q: Any, X: Any, near: np.ndarray, use: np.ndarray, *, ridge: float | None, rank: int
) -> Any:
    """Weights of sum 1 for each row of Q: they minimise |q - sum_j w_j x_j|² + sum_j c_j w_j².

    See `local_fits.weights`.

    Parameters
    ----------
    device : Device
        Where to solve.
    Q, X : ndarray, or rows on the device, of shape (m, d) and (n, d)
        Rows, and those that rebuild them.
    near : ndarray of int of shape (m, k)
        The neighbours of each row of Q.
    use : ndarray of bool of shape (m, k)
        Those that count, at least one of each row.
    ridge : float or None
        As a share of the trace; None: the mean variance outside the `rank` leading directions.
    rank : int
        Dimension of the embedding.

    Returns
    -------
    tensor of shape (m, k), float64
    """
    torch = device.torch
    rows, new = device.tensor(X), device.tensor(Q)
    ends, kept = device.tensor(near).long(), device.tensor(use)
    out = torch.empty(near.shape, dtype=torch.float64, device=rows.device)
    size = near.shape[1] * (rows.shape[1] + 2 * near.shape[1]) * 8
    step = device.rows(size, len(new), copies=3)
    for low in range(0, len(new), step):
        part = slice(low, low + step)
        gaps = rows[ends[part]].double().sub_(new[part, None].double()).mul_(kept[part, :, None])
        gaps /= gaps.abs().amax(dim=(1, 2), keepdim=True).clamp(min=NONE)
        out[part] = _solved(torch, gaps @ gaps.transpose(1, 2), kept[part], ridge, rank)
    return out


def _solved(torch: Any, C: Any, kept: Any, ridge: float | None, rank: int) -> Any:
    """From the inner products of the gaps; neighbours that do not count have gaps of 0."""
    diagonal, count = C.diagonal(dim1=1, dim2=2), kept.sum(dim=1)
    total = diagonal.sum(dim=1)
    part = torch.full_like(total, LEAST_RIDGE if ridge is None else max(ridge, LEAST_RIDGE))
    if ridge is None:
        values = torch.linalg.eigvalsh(C).clamp_(min=0)
        rest = values[:, : max(values.shape[1] - rank, 0)].sum(dim=1)
        off = (count - rank).clamp(min=1) * total.clamp(min=NONE)
        part = torch.where(count > rank, rest / off, 0.0).clamp_(min=LEAST_RIDGE)
    equal = kept & (diagonal < NONE)
    unit = torch.where(kept & ~equal, diagonal.clamp(min=NONE).rsqrt(), 0.0)
    A = C * unit[:, :, None] * unit[:, None]
    A.diagonal(dim1=1, dim2=2).add_(torch.where(unit > 0, (part * count)[:, None], 1.0))
    start = unit / unit.amax(dim=1, keepdim=True).clamp(min=NONE)
    w = torch.cholesky_solve(start[:, :, None], torch.linalg.cholesky_ex(A).L)[:, :, 0] * start
    w = torch.where(equal.any(dim=1, keepdim=True), equal.double(), w)
    return w / w.sum(dim=1, keepdim=True)


def combined(device: Device, weights: Any, near: np.ndarray, embedding: np.ndarray) -> np.ndarray:
    """The weighted means of the places of the neighbours."""
    places, ends = device.tensor(np.asarray(embedding, dtype=np.float64)), device.tensor(near).long()
    found = sum(weights[:, j, None] * places[ends[:, j]].nan_to_num() for j in range(near.shape[1]))
    return np.asarray(found.cpu().numpy())

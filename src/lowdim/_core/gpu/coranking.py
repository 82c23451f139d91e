"""Ranks of neighbours on a device: rows sorted by their distances, and the tallies of `_core.ranks`.

A tally by rank is a sum down the columns of a block that lies in the order of these ranks: whole numbers, and nothing
is scattered.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lowdim._core.gpu.devices import Device

COPIES = 12  # arrays of a block that exist at once


def block_rows(device: Device, n: int, m: int) -> int:
    """Rows that are ranked at once."""
    return device.rows(8 * n, m, copies=COPIES)


def squares(device: Device, Q: Any, X: Any) -> Any:
    """Squared distances of the rows of Q to those of X by their differences, in their precision."""
    if device.fused is not None:
        return device.fused.squares(Q, X)
    out = X.new_zeros((len(Q), len(X)))
    for one, other in zip(Q.T, X.T, strict=True):
        out.add_((one[:, None] - other).square_())
    return out


def ordered(device: Device, D: Any, rows: Any) -> tuple[Any, int]:
    """The columns of each row by their distances, ties by index, the row itself first; and how many others are at 0.

    Parameters
    ----------
    device : Device
        Where the tensors are.
    D : tensor of shape (m, n)
        Distances of `rows` to all rows, or numbers ordered like them; changed.
    rows : tensor of shape (m,)
        The numbers of the rows.

    Returns
    -------
    tuple
        A tensor of shape (m, n) of int64, and an int.
    """
    D[device.torch.arange(len(rows), device=D.device), rows] = -1
    return D.sort(dim=1, stable=True).indices, int((D == 0).sum())


def ranks_of(device: Device, order: Any) -> Any:
    """The rank of every column, 0 that of the row itself; int32."""
    torch = device.torch
    numbers = torch.arange(order.shape[1], device=order.device, dtype=torch.int32).expand_as(order)
    return torch.empty(order.shape, dtype=torch.int32, device=order.device).scatter_(1, order, numbers)


def tallied(device: Device, high: Any, low: Any, weight: Any, ks: tuple[int, ...]) -> tuple[Any, Any, Any]:
    """The twin of the compiled `tally_ranks`.

    Parameters
    ----------
    device : Device
        Where the tensors are.
    high : tensor of shape (m, n)
        The order of the columns in the data, from `ordered`.
    low : tensor of shape (m, n)
        The ranks of the columns in the embedding, from `ranks_of`.
    weight : tensor of shape (n,)
        Of the larger of two ranks, in the area of a row.
    ks : tuple of int
        Neighbourhood sizes to keep row by row.

    Returns
    -------
    tuple of ndarray
        Tallies (7, n), areas (m,), and (m, ks, 3): neighbours kept, depth of in- and extrusions.
    """
    torch = device.torch
    k = torch.arange(high.shape[1], device=high.device, dtype=torch.int32)
    low_at = low.gather(1, high)  # the rank in the embedding of what has rank k in the data
    high_at = ranks_of(device, low_at.long())
    sides = []
    for other in (low_at, high_at):
        gap = other - k
        sides += [(gap < 0).sum(dim=0), gap.clamp(min=0).sum(dim=0), gap.abs().sum(dim=0)]
    equal = (low_at == k).sum(dim=0)
    tally = torch.stack([equal, *sides])
    tally[:, 0] = 0
    area = weight[low_at.maximum(k)].sum(dim=1) - 1
    terms = []
    for size in ks:
        near_low, near_high = low_at[:, 1 : size + 1], high_at[:, 1 : size + 1]
        depths = [(near - size).clamp(min=0).sum(dim=1) for near in (near_high, near_low)]
        terms.append(torch.stack([(near_high <= size).sum(dim=1), *depths], dim=1))
    kept = torch.stack(terms, dim=1) if terms else k.new_zeros((len(high), 0, 3)).long()
    return tuple(np.asarray(part.cpu().numpy()) for part in (tally, area, kept))  # type: ignore[return-value]

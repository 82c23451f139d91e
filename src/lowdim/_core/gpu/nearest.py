"""Exact nearest neighbours in blocks: products propose, differences decide.

The engines of `neighbors.exact_nearest` in tensors. Blocks of products in single precision propose somewhat more than
k rows; these are measured by their differences in double precision and sorted by (distance, index). A bound on the
rounding of the products says whether a row that was not proposed could be nearer. Rows for which it could are searched
again in double precision, and after that (ties, duplicates) by all differences.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from lowdim._core.gpu.devices import TF32, Device, rough_products

SPARE = 8  # candidates beyond k that absorb the rounding of the products
WIDE, ROUGH_SPARE = 96, 24  # columns from which rough products propose first, and candidates beyond k then
COLUMNS = 2**17  # rows compared with a block of queries at once


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows on a device, as they are and shifted to their mean in single precision, where rounding is small."""

    given: Any
    shifted: Any
    norms: Any
    center: Any

    @classmethod
    def of(cls, given: Any, center: Any = None, dtype: Any = None) -> Rows:
        center = column_mean(given) if center is None else center
        shifted = (given - center.to(given.dtype)).to(dtype or given.new_zeros(0).float().dtype).contiguous()
        return cls(given, shifted, shifted.square().sum(dim=1), center)

    def precise(self) -> Rows:
        """The same in double precision."""
        given = self.given.double()
        return Rows.of(given, self.center, given.dtype)


def column_mean(X: Any) -> Any:
    """In double precision, some rows at a time."""
    total = sum(part.sum(dim=0, dtype=X.new_zeros(0).double().dtype) for part in X.split(2**18))
    return total / len(X)


def nearest_rows(device: Device, X: Any, k: int, Q: Any = None) -> tuple[Any, Any]:
    """Squared distances (float64) and indices (int64) of the k nearest rows of X, nearest first, ties by index.

    Parameters
    ----------
    device : Device
        Where the tensors are.
    X : tensor of shape (n, d)
        Rows to search.
    k : int
        How many; at most n, or n - 1 without Q.
    Q : tensor of shape (m, d), optional
        Rows to find neighbours for. None: those of X, each left out of its own neighbours by its index.

    Returns
    -------
    tuple of tensor
        Both of shape (m, k).
    """
    own = None if Q is not None else device.torch.arange(len(X), device=X.device)
    rows = Rows.of(X)
    queries = rows if Q is None else Rows.of(Q, rows.center)
    return search(device, rows, queries, k, own)


def search(device: Device, rows: Rows, queries: Rows, k: int, own: Any) -> tuple[Any, Any]:
    """Proposals in single, then in double precision for the rows that are not certain, then all differences.

    Of wide rows, whose products take most of the time, rough products (TF32) propose first.
    """
    torch = device.torch
    m, n = len(queries.given), len(rows.given)
    there = n - (own is not None)
    values = torch.empty((m, k), dtype=torch.float64, device=rows.given.device)
    indices = torch.empty((m, k), dtype=torch.int64, device=rows.given.device)
    open_ = torch.arange(m, device=values.device)
    single = rows.shifted.element_size() == 4
    for mode in ("rough", "single", "double") if single and rows.shifted.shape[1] >= WIDE else ("single", "double"):
        if mode == "double" and len(open_):
            rows, queries = rows.precise(), queries.precise()
        spare = ROUGH_SPARE if mode == "rough" else SPARE
        wanted = min(there, (k + spare + k // 8) * (4 if mode == "double" else 1))
        step = device.rows(min(n, COLUMNS) * rows.shifted.element_size(), m, copies=3)
        uncertain = []
        for part in _parts(open_, step):
            with rough_products(device) if mode == "rough" else nullcontext():
                found = _proposed(device, rows, queries, part, wanted, own)
            values[part], indices[part], certain = _decided(
                device, rows, queries, part, k, found, wanted == there, TF32 if mode == "rough" else 0.0
            )
            uncertain.append(part[~certain])
        open_ = torch.cat(uncertain) if uncertain else open_[:0]
    for part in _parts(open_, device.rows(24 * n, m)):
        values[part], indices[part] = _scanned(device, rows, queries, part, k, own)
    return values, indices


def _parts(rows: Any, step: int) -> list[Any]:
    return [rows[low : low + step] for low in range(0, len(rows), step)]


def _proposed(device: Device, rows: Rows, queries: Rows, part: Any, wanted: int, own: Any) -> tuple[Any, Any]:
    """The least |y|² - 2 x.y of each query, and the rows y; in no order."""
    torch = device.torch
    Q, n = queries.shifted[part], len(rows.shifted)
    best: tuple[Any, Any] | None = None
    for low in range(0, n, COLUMNS):
        Y, norms = rows.shifted[low : low + COLUMNS], rows.norms[low : low + COLUMNS]
        table = torch.addmm(norms.expand(len(Q), -1), Q, Y.T, alpha=-2)
        if own is not None:
            at = own[part] - low
            here = ((at >= 0) & (at < len(Y))).nonzero()[:, 0]
            table[here, at[here]] = torch.inf
        values, indices = least(device, table, min(wanted, len(Y)))
        here_found = values, indices + low
        best = here_found if best is None else merged(torch, best, here_found, wanted)
    assert best is not None
    return best


def least(device: Device, table: Any, k: int) -> tuple[Any, Any]:
    """The k least values of each row and their columns, in no order.

    Columns are taken in groups: the k groups with the least minima hold the k least values, so that one pass over the
    table and two short selections are enough.
    """
    torch, width = device.torch, table.shape[-1]
    size = int(2 ** round(np.log2(max(1.0, np.sqrt(width / k)))))
    groups = width // size
    if size < 2 or groups <= k:
        found = table.topk(k, dim=-1, largest=False, sorted=False)
        return found.values, found.indices
    inside = table[..., : groups * size].unflatten(-1, (groups, size))
    near = inside.amin(dim=-1).topk(k, dim=-1, largest=False, sorted=False).indices
    place = torch.arange(size, device=table.device)
    columns = (near[..., None] * size + place).flatten(-2)
    rest = torch.arange(groups * size, width, device=table.device).expand(*columns.shape[:-1], -1)
    columns = torch.cat([columns, rest], dim=-1)
    found = table.gather(-1, columns).topk(k, dim=-1, largest=False, sorted=False)
    return found.values, columns.gather(-1, found.indices)


def merged(torch: Any, one: tuple[Any, Any], other: tuple[Any, Any], k: int) -> tuple[Any, Any]:
    """The k least of two lists for each row."""
    values, indices = (torch.cat(both, dim=1) for both in zip(one, other, strict=True))
    found = values.topk(min(k, values.shape[1]), dim=1, largest=False, sorted=False)
    return found.values, indices.gather(1, found.indices)


def _decided(
    device: Device, rows: Rows, queries: Rows, part: Any, k: int, found: tuple[Any, Any], all_there: bool, rough: float
) -> tuple[Any, Any, Any]:
    """The k nearest of the proposals, and whether no other row can be nearer."""
    values, indices = measured(device, rows.given, queries.given[part], found[1])
    values, indices = values[:, :k], indices[:, :k]
    norms, kth = queries.norms[part].double(), values[:, k - 1]
    floor = norms + found[0].max(dim=1).values.double()
    d, eps = rows.shifted.shape[1], float(np.finfo(np.float32 if rows.shifted.element_size() == 4 else np.float64).eps)
    # A row no farther than the k-th has |y| <= |x| + distance: an outlier does not spoil the bound of the others.
    reach = norms.sqrt() + kth.sqrt()
    slack = (d + 8) * eps * (norms + reach**2) + rough * norms.sqrt() * reach + 1e-35
    certain = kth + slack < floor
    return values, indices, certain | all_there


def measured(device: Device, X: Any, Q: Any, indices: Any) -> tuple[Any, Any]:
    """Squared distances of each row of Q to rows of X by their differences, sorted by (distance, index)."""
    torch = device.torch
    values = torch.empty(indices.shape, dtype=torch.float64, device=X.device)
    size = indices.shape[1] * X.shape[1] * 8
    step = device.rows(size, len(Q), copies=3)
    for low in range(0, len(Q), step):
        gaps = X[indices[low : low + step]].double().sub_(Q[low : low + step, None].double())
        values[low : low + step] = gaps.square_().sum(dim=2)
    order = indices.argsort(dim=1)
    values, indices = values.gather(1, order), indices.gather(1, order)
    values, order = values.sort(dim=1, stable=True)
    return values, indices.gather(1, order)


def _scanned(device: Device, rows: Rows, queries: Rows, part: Any, k: int, own: Any) -> tuple[Any, Any]:
    """Every pair by its differences, ties by index."""
    torch = device.torch
    table = torch.cdist(queries.given[part].double(), rows.given.double(), compute_mode="donot_use_mm_for_euclid_dist")
    if own is not None:
        table[torch.arange(len(part), device=table.device), own[part]] = torch.inf
    order = table.sort(dim=1, stable=True).indices[:, :k]
    return measured(device, rows.given, queries.given[part], order)

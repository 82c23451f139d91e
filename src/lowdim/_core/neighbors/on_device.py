"""Neighbours on a GPU: dense rows under Euclidean and cosine distances, exact or by cells."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from lowdim._core.distances import as_rows, excess, over_power, row_scales
from lowdim._core.gpu import cells, devices
from lowdim._core.gpu.bridges import MOST_GROUPS, Bounds
from lowdim._core.gpu.cells import nearest_by_cells
from lowdim._core.gpu.device_rows import DeviceRows
from lowdim._core.gpu.devices import Device
from lowdim._core.gpu.nearest import nearest_rows
from lowdim._core.neighbors.exact_nearest import fill_zero_rows
from lowdim._core.neighbors.prepared import Search, open_search, own_index
from lowdim._core.neighbors.record import Neighbors, check_k

MANY = 100_000  # rows from which cells are faster than all pairs on a GPU


METRICS = ("euclidean", "cosine")


def takes(search: Search) -> bool:
    """Whether a GPU has an engine for this search."""
    return search.metric in METRICS and not sparse.issparse(search.X)


def opened(X: Any, queries: Any, metric: Any, owner: str) -> Search:
    """As `open_search`, for a search on a device: rows that are there already stay there."""
    if metric not in METRICS or not any(isinstance(rows, DeviceRows) for rows in (X, queries)):
        return open_search(X, queries, metric, owner)
    rows = _as_rows(X, owner, "X")
    asked = rows if queries is None else _as_rows(queries, owner, "queries")
    if asked.shape[1] != rows.shape[1]:
        raise ValueError(f"{owner}: queries must have the {rows.shape[1]} columns of X; got {asked.shape[1]}.")
    dtype = np.result_type(rows.dtype, asked.dtype)
    same = asked is rows
    rows = rows if rows.dtype == dtype else rows.astype(dtype)
    asked = rows if same else asked if asked.dtype == dtype else asked.astype(dtype)
    exponent = _excess(rows) if metric == "euclidean" else 0
    if exponent:
        rows = _over_power(rows, exponent)
        asked = rows if same else _over_power(asked, exponent)
    scales, skip = _row_scales(rows, metric), own_index(asked.shape[0], queries)
    asked_scales = scales if same else _row_scales(asked, metric)
    return Search(asked, rows, metric, same, skip, asked_scales, scales, None, exponent)


def _as_rows(X: Any, owner: str, name: str) -> Any:
    if not isinstance(X, DeviceRows):
        return as_rows(X, owner, name)
    if not np.isfinite(X.largest):
        raise ValueError(f"{owner}: {name} must be finite; got NaN or infinity. Fill or drop these rows first.")
    return X


def _excess(rows: Any) -> int:
    return excess(np.array([rows.largest]) if isinstance(rows, DeviceRows) else rows)


def _over_power(rows: Any, exponent: int) -> Any:
    if isinstance(rows, DeviceRows):
        return DeviceRows(rows.tensor * 2.0**-exponent)
    return over_power(rows, exponent)


def _row_scales(rows: Any, metric: Any) -> np.ndarray:
    """As `row_scales`: the reciprocal length of each row under cosine, 0 for a row of zeros, else 1."""
    if metric != "cosine" or not isinstance(rows, DeviceRows):
        return row_scales(rows, metric)
    cells = rows.tensor.double()
    peak = cells.abs().amax(dim=1)
    norms = peak * (cells / peak.clamp(min=1e-300)[:, None]).square_().sum(dim=1).sqrt_()
    return np.asarray(((norms > 1e-300) / norms.clamp(min=1e-300)).cpu().numpy())


def may_approximate(search: Search, k: int, asked: bool | None) -> bool:
    """Whether cells are wanted and have something to offer: a row's list must be shorter than two cells."""
    n = search.X.shape[0]
    return search.same and k < np.sqrt(n) and (asked is True or (asked is None and n >= MANY))


def tensors(device: Device, search: Search, k: int, nearly: bool, owner: str) -> tuple[Any, Any, float]:
    """Squared distances (float64), indices (int64), both on the device, and the recall on a sample."""

    def find(on: Device) -> tuple[Any, Any, float]:
        X = _points(on, search, search.X, search.x_scales)
        if nearly:
            found = nearest_by_cells(on, X, k)
            return found.squares, found.indices, found.recall
        Q = None if search.same else _points(on, search, search.Q, search.q_scales)
        return *nearest_rows(on, X, k, Q), 1.0

    devices.check_memory(
        device, needs(search.X.shape[0], search.X.shape[1], search.X.itemsize, k), owner, "Search fewer neighbours."
    )
    return devices.run(device, find, owner)


def _points(device: Device, search: Search, rows: Any, scales: np.ndarray) -> Any:
    """Rows on the device; under cosine of length 1, and rows of zeros with an axis of their own."""
    X = device.tensor(rows)
    if search.metric != "cosine":
        return X
    X = X.double() * device.tensor(scales)[:, None]
    if search.q_scales.all() and search.x_scales.all():
        return X
    return device.torch.cat([X, device.tensor(scales == 0).to(X.dtype)[:, None]], dim=1)


def device_lists(device: Device, X: Any, k: int, *, approximate: bool | None, owner: str) -> tuple[Any, Any, float]:
    """Neighbours of dense rows under the Euclidean distance, left on the device.

    Parameters
    ----------
    device : Device
        The GPU.
    X : ndarray of shape (n, d)
        The rows.
    k : int
        How many neighbours.
    approximate : bool or None
        As in `nearest`; None: from 100,000 rows on.
    owner : str
        Who asks; error messages begin with it.

    Returns
    -------
    tuple
        Squared distances and indices, tensors of shape (n, k), and the recall on a sample.
    """
    search = opened(X, None, "euclidean", owner)
    check_k(k, search.X.shape[0], True, owner, "n_neighbors")
    nearly = may_approximate(search, k, approximate)
    squares, indices, recall = tensors(device, search, k, nearly, owner)
    return squares * 4.0**search.exponent, indices, recall


def shortest_across(
    device: Device, X: Any, labels: np.ndarray, owner: str
) -> Callable[[np.ndarray, int], tuple[float, int, int]] | None:
    """The shortest edge from a part, a union of groups of dense rows, to the rows outside; None for many groups.

    Parameters
    ----------
    device : Device
        The GPU.
    X : ndarray of shape (n, d)
        The rows.
    labels : ndarray of shape (n,)
        The group of each.
    owner : str
        Who asks; error messages begin with it.

    Returns
    -------
    callable or None
        (part of every row, number of the part) -> length, row of the part, row outside.
    """
    if labels.max() >= MOST_GROUPS:
        return None
    search = opened(X, None, "euclidean", owner)
    bounds = devices.run(device, lambda on: Bounds.of(on, on.tensor(search.X), labels), owner)

    def offer(part: np.ndarray, number: int) -> tuple[float, int, int]:
        square, i, j = devices.run(device, lambda on: bounds.on(on).offer(part, number), owner)
        return float(search.distances(np.array([square])).astype(search.X.dtype)[0]), i, j

    return offer


def nearest_on(device: Device, search: Search, k: int, nearly: bool, owner: str) -> Neighbors:
    """The record of a search on the device."""
    squares, indices, recall = tensors(device, search, k, nearly, owner)
    found = indices.int().cpu().numpy()
    if search.metric == "euclidean" and search.exponent == 0:  # roots are rounded correctly: the same bits
        distances = squares.sqrt_().to(getattr(device.torch, search.X.dtype.name)).cpu().numpy()
    else:
        distances = search.distances(squares.cpu().numpy())
    fill_zero_rows(search, k, distances, found)
    with np.errstate(over="ignore"):
        return Neighbors(found, distances.astype(search.X.dtype, copy=False), recall)


def needs(n: int, d: int, itemsize: int, k: int) -> dict[str, int]:
    """Bytes on the device: the rows as they are and shifted, the lists, and blocks of products or of differences."""
    parts = {"rows": n * d * (itemsize + 4), "neighbours": 32 * n * k}
    products, differences = min(devices.BLOCK_BYTES, 4 * n * n), 12 * n * d * (k + k // 8 + 8)
    if n >= MANY:
        return parts | cells.needs(n, d, k)
    return parts | {"blocks": max(products, min(3 * devices.BLOCK_BYTES // 2, differences))}

"""Choosing landmarks: a few rows that stand for all of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from lowdim._core.distances import as_rows, check_metric, excess, over_power, pairwise, row_pairs
from lowdim._core.gpu import devices
from lowdim._core.gpu.device_rows import DeviceRows
from lowdim._core.gpu.devices import Device
from lowdim._core.gpu.edges import farthest
from lowdim._core.runtime.rng import generator

LANDMARK_METHODS = ("random", "farthest", "kmeans++")


def choose(
    X: Any,
    m: int,
    *,
    method: str = "random",
    metric: Any = "euclidean",
    rng: Any = None,
    owner: str = "landmarks",
    device: Device | None = None,
    weights: np.ndarray | None = None,
) -> np.ndarray:
    """Indices of `m` different rows of X, in the order they were chosen.

    Choosing by distance computes n·m distances and keeps n of them. Duplicates of a chosen row are chosen only after
    all different rows.

    Parameters
    ----------
    X : array or sparse rows
        The data; with ``metric="precomputed"`` the square matrix of distances.
    m : int
        How many rows.
    method : {"random", "farthest", "kmeans++"}
        ``"random"``: all sets are equally likely. ``"farthest"``: each next row is the one farthest from
        those chosen, which covers the data within twice the smallest possible radius (Gonzalez 1985);
        outlying rows come early. ``"kmeans++"``: drawn with probability proportional to the squared distance
        from those chosen (Arthur and Vassilvitskii 2007), between the two.
    metric : str or callable
        The distance.
    rng : int, generator or None
        Draws the rows; for ``"farthest"`` only the first one.
    owner : str
        Name of the caller, for messages.
    device : Device, optional
        A GPU that measures dense rows for ``"farthest"`` under the Euclidean distance.
    weights : ndarray of float, optional
        For ``"kmeans++"``: each row stands for so many.

    Returns
    -------
    ndarray of int
        The first j of them are what a call with ``m=j`` gives, except for ``"random"``.

    Examples
    --------
    >>> X = [[0.0], [0.1], [5.0], [5.1], [9.0]]
    >>> sorted(choose(X, 3, method="farthest", rng=0).tolist())
    [0, 2, 4]
    """
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    if isinstance(m, bool) or not isinstance(m, (int, np.integer)) or not 1 <= m <= n:
        raise ValueError(f"{owner}: the number of landmarks must be an integer from 1 to {n}, the rows; got {m!r}.")
    if method not in LANDMARK_METHODS:
        raise ValueError(f"{owner}: the landmark method must be one of {', '.join(LANDMARK_METHODS)}; got {method!r}.")
    draw = generator(rng)
    if method == "random":
        return draw.choice(n, int(m), replace=False)
    dense = not sparse.issparse(X) and isinstance(metric, str) and metric == "euclidean"
    if device is not None and dense and method == "farthest":
        rows, start = X if isinstance(X, DeviceRows) else as_rows(X, owner), int(draw.integers(n))
        return devices.run(device, lambda on: farthest(on, rows, int(m), start), owner)
    first = None if weights is None else int(draw.choice(n, p=weights / weights.sum()))
    pick = _farthest if method == "farthest" else partial(_proportional, weights=weights)
    return _greedy(_measure(as_rows(X, owner), metric, owner), n, int(m), draw, pick, first)


def sources_among(
    X: Any,
    rows: np.ndarray,
    m: int | None,
    *,
    metric: Any,
    rng: Any,
    device: Device | None = None,
    chosen: np.ndarray | None = None,
) -> np.ndarray | None:
    """Positions in `rows` of the m landmarks that paths start from; None where all rows are sources.

    They are far from each other; where X holds distances they are drawn at random. `chosen` are landmarks that are
    known already, of which two or more must be among the rows.
    """
    if m is None or m >= len(rows):
        return None
    if chosen is not None and (known := np.isin(rows, chosen)).sum() > 1:
        return np.flatnonzero(known)
    if isinstance(metric, str) and metric == "precomputed":
        return np.sort(generator(rng).permutation(len(rows))[:m])
    return np.sort(choose(X[rows], m, method="farthest", metric=metric, rng=rng, device=device))


def _measure(rows: Any, metric: Any, owner: str) -> Callable[[int], np.ndarray]:
    """The function that gives the distances of all rows from one of them."""
    name = check_metric(metric, owner)
    if name == "precomputed":
        if sparse.issparse(rows) or rows.shape[0] != rows.shape[1]:
            raise ValueError(f"{owner}: precomputed distances must be a dense square table; got {rows.shape}.")
        return lambda i: rows[i]
    if name != "euclidean":
        return lambda i: pairwise(rows[i : i + 1], rows, name, owner=owner)[0]
    rows = over_power(rows, excess(rows, 50))  # squares must fit into float32; the choice does not depend on scale
    ones = np.ones(rows.shape[0])

    def euclidean(i: int) -> np.ndarray:
        # Pair by pair: for a single row, a matrix product would read the data several times.
        found = np.empty((1, rows.shape[0]), rows.dtype)
        row_pairs(rows[i : i + 1], rows, ones[:1], ones).block(2, found)
        return np.sqrt(found[0])

    return euclidean


def _greedy(
    measure: Callable[[int], np.ndarray],
    n: int,
    m: int,
    draw: np.random.Generator,
    pick: Callable[[np.ndarray, np.random.Generator], int],
    first: int | None,
) -> np.ndarray:
    """Choose row after row by the distances of all rows to those chosen, which are marked by -1."""
    chosen = np.empty(m, np.intp)
    chosen[0] = draw.integers(n) if first is None else first
    closest = np.full(n, np.inf)
    for j in range(m):
        if j:
            chosen[j] = pick(closest, draw)
        np.minimum(closest, measure(chosen[j]), out=closest)
        closest[chosen[j]] = -1.0
    return chosen


def _farthest(closest: np.ndarray, draw: np.random.Generator) -> int:
    return int(np.argmax(closest))


def _proportional(closest: np.ndarray, draw: np.random.Generator, weights: np.ndarray | None = None) -> int:
    largest = closest.max()
    squares = np.square(np.maximum(closest, 0.0) / (largest if largest > 0 else 1.0))
    total = np.cumsum(squares if weights is None else weights * squares)
    if total[-1] > 0:
        # side="right" skips rows of probability 0: those chosen already and their duplicates
        found = np.searchsorted(total, draw.random() * total[-1], side="right")
        return int(min(found, np.searchsorted(total, total[-1])))
    return int(draw.choice(np.flatnonzero(closest >= 0)))

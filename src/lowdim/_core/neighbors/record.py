"""The record of a neighbour search."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse

from lowdim._core.neighbors.exact_radius import Pairs


@dataclass(frozen=True, eq=False)
class Neighbors:
    """The k nearest rows of each row: nearest first, ties by index, the row itself left out by index.

    Attributes
    ----------
    indices : ndarray of shape (m, k), int32
    distances : ndarray of shape (m, k)
        In the precision of the input.
    recall : float or None
        The share of the true neighbours that was found, where the search measured it on a sample.
    """

    indices: np.ndarray
    distances: np.ndarray
    recall: float | None = None


def is_count(k: Any, most: int) -> bool:
    return isinstance(k, Integral) and not isinstance(k, (bool, np.bool_)) and 1 <= int(k) <= most


def check_k(k: Any, n: int, own: bool, owner: str, name: str) -> None:
    """`k` must be a number of neighbours that n rows have; one less where a row is not its own neighbour."""
    most = n - own
    if most < 1:
        raise ValueError(f"{owner}: X must have at least 2 rows; got {n}.")
    if not is_count(k, most):
        raise ValueError(f"{owner}: {name} must be an integer from 1 to {most} for {n} rows; got {k!r}.")


def graph_of_pairs(parts: list[Pairs], shape: tuple[int, int], dtype: Any) -> Any:
    rows, columns, values = (np.concatenate(pieces) for pieces in zip(*parts, strict=True))
    graph = sparse.csr_array((values.astype(dtype, copy=False), (rows, columns)), shape=shape)
    graph.sort_indices()
    return graph

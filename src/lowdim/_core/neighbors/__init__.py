"""Nearest neighbours: the one front door of the package.

`nearest` gives the k nearest rows of every row, `within` all rows inside a radius; for rows, sparse rows and
precomputed distances. The exact engines are in `exact_nearest` and `exact_radius`, the approximate one is in
`nn_descent`. A row is left out of its own neighbours by its index, never by its distance, so that duplicates stay in.
"""

from lowdim._core.neighbors.on_device import device_lists
from lowdim._core.neighbors.record import Neighbors
from lowdim._core.neighbors.search import SEARCH, nearest, within
from lowdim._core.neighbors.shared import shared

__all__ = ["SEARCH", "Neighbors", "device_lists", "nearest", "shared", "within"]

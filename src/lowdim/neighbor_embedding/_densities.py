"""Densities in UMAP's map (densMAP): groups that are dense in the data are dense in the map.

The radius of a row is the logarithm of the weighted mean squared distance to its neighbours; the correlation between
the radii in the data and in the map is maximised. Narayan, Berger and Cho, Assessing single-cell transcriptomic
variability through density-preserving data visualization, 2021.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from lowdim import _native
from lowdim._core.runtime import threads

LEAST = 1e-8  # of the mean squared distance, added to that of each row: keeps the logarithm finite
STEADY = 0.1  # added to the variance of radii in the map, which may be close to 0 at first
# Factor on the weight, so that 2 keeps radii as densMAP's usual weight does, and the length of a step at most. Cut
# at 4 along each axis, as other forces are, nearly all were cut: rows moved by equal steps, and neighbours parted.
FACTOR, MOST = 0.6, 64.0


def data_radii(graph: sparse.csr_array, W: sparse.csr_array) -> np.ndarray:
    """log of sum_j w_ij d_ij² / sum_j w_ij, over the neighbours of each row.

    Parameters
    ----------
    graph : csr_array of shape (n, n)
        Distances of rows to their neighbours.
    W : csr_array of shape (n, n)
        Weights of the edges, symmetric.

    Returns
    -------
    ndarray of shape (n,)
    """
    lengths = sparse.csr_array(graph.maximum(graph.T))
    largest = max(
        float(lengths.data.max(initial=0.0)), 1e-300
    )  # squares of very large or small numbers are out of range
    squares = W.multiply((lengths / largest).power(2)).sum(axis=1) / np.maximum(W.sum(axis=1), 1e-300)
    return np.log(squares + LEAST * max(float(squares.mean()), 1e-300)) + 2 * np.log(largest)


def map_radii(W: sparse.csr_array, Z: np.ndarray, a: float, b: float, n_threads: int) -> tuple[np.ndarray, np.ndarray]:
    """The same in the map, weighted by the kernel of the map; and the sums of these weights."""
    radii, sums = np.empty((2, len(Z)))
    starts, ends = W.indptr.astype(np.int64), W.indices.astype(np.int32)
    _native.map_radii(starts, ends, a, b, n_threads, np.ascontiguousarray(Z, dtype=np.float32), radii, sums)
    return radii, sums


@dataclass(frozen=True, eq=False)
class Densities:
    """Standardised radii of rows in the data, and the weight of their correlation with those in the map."""

    wanted: np.ndarray
    weight: float

    @classmethod
    def of(cls, radii: np.ndarray, weight: float) -> Densities:
        deviation = float(radii.std())
        return cls((radii - radii.mean()) / deviation if deviation > 1e-9 else np.zeros_like(radii), weight)

    def moves(self, W: sparse.csr_array, Z: np.ndarray, a: float, b: float, n_threads: int) -> np.ndarray:
        """Steps along the gradient of the correlation, scaled by the total attraction."""
        radii, sums = map_radii(W, Z, a, b, n_threads)
        slopes, moves = self.slopes(radii), np.empty(Z.shape)
        starts, ends = W.indptr.astype(np.int64), W.indices.astype(np.int32)
        _native.radii_gradient(starts, ends, a, b, radii, sums, slopes, n_threads, Z, moves)
        moves *= FACTOR * self.weight * float(W.data.sum() / W.data.max(initial=1e-300))
        lengths = np.sqrt((moves**2).sum(axis=1))
        return moves * np.minimum(1.0, MOST / np.maximum(lengths, MOST))[:, None]

    def slopes(self, radii: np.ndarray) -> np.ndarray:
        """Derivatives of the correlation by each radius of the map."""
        gaps, variance = radii - radii.mean(), float(radii.var()) + STEADY
        together = float(self.wanted @ radii) / len(radii)
        return np.asarray((self.wanted - together * gaps / variance) / (len(radii) * np.sqrt(variance)))


def both_radii(
    W: Any, Z: np.ndarray, placed: np.ndarray, radii: np.ndarray, forces: Any, n_jobs: int | None
) -> np.ndarray:
    """Of the distinct rows, in the data and in the map; NaN there for rows that are not `placed`, as those of W are."""
    both = np.stack([radii, np.full(len(Z), np.nan)], axis=1)
    both[placed, 1] = map_radii(W, Z[placed], forces.a, forces.b, threads.n_threads(n_jobs))[0]
    return both

"""Curves as chains of straight segments: nearest points, arc length, and points at a given arc length."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lowdim import _native
from lowdim._core.runtime import threads

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Projection:
    """The points of a polyline nearest to some rows.

    Attributes
    ----------
    parameters : ndarray of shape (n,)
        Length of the polyline up to each; the largest one where several points are equally near.
    segments, shares : ndarray of shape (n,)
        The segment of each nearest point, and its position along the segment, from 0 to 1.
    squared : ndarray of shape (n,)
        Squared distances, over the observed cells of a row.
    """

    parameters: Array
    segments: Array
    shares: Array
    squared: Array


@dataclass(frozen=True, eq=False)
class Polyline:
    """Vertices joined in order, and the last to the first where it is closed.

    Attributes
    ----------
    vertices : ndarray of shape (m, d)
        Two or more, in double precision.
    closed : bool
        Whether the last is joined to the first.

    Examples
    --------
    >>> import numpy as np
    >>> corner = Polyline(np.array([[0.0, 0.0], [2.0, 0.0], [2.0, 2.0]]))
    >>> corner.project(np.array([[1.0, 1.0], [np.nan, 0.5]])).parameters  # the first is as near to both segments
    array([3. , 2.5])
    """

    vertices: Array
    closed: bool = False

    @property
    def chain(self) -> Array:
        """The vertices, the first one again at the end of a closed polyline."""
        V = np.vstack([self.vertices, self.vertices[:1]]) if self.closed else self.vertices
        return np.ascontiguousarray(V, dtype=np.float64)

    @property
    def lengths(self) -> Array:
        """Length of the polyline up to each vertex of its chain."""
        steps = np.sqrt(np.square(np.diff(self.chain, axis=0)).sum(axis=1))
        return np.concatenate([[0.0], np.cumsum(steps)])

    def project(self, X: Array, n_jobs: int | None = None) -> Projection:
        """The nearest point for each row; a row with missing cells (NaN) is compared in the others."""
        n, chain, lengths = len(X), self.chain, self.lengths
        segments, shares, squared = np.empty(n, dtype=np.int64), np.empty(n), np.empty(n)
        X = np.ascontiguousarray(X, dtype=np.float64)
        _native.project_polyline(X, chain, segments, shares, squared, threads.n_threads(n_jobs))
        parameters = lengths[segments] * (1.0 - shares) + lengths[segments + 1] * shares
        return Projection(parameters, segments, shares, squared)

    def points(self, found: Projection) -> Array:
        """The nearest points themselves."""
        chain, share = self.chain, found.shares[:, None]
        return chain[found.segments] * (1.0 - share) + chain[found.segments + 1] * share

    def at(self, parameters: Array) -> Array:
        """Points at these lengths: modulo the whole length where it is closed, else from the first end to the last."""
        lengths, chain = self.lengths, self.chain
        inside = parameters
        if self.closed and lengths[-1] > 0:
            inside = np.where(parameters == lengths[-1], parameters, np.mod(parameters, lengths[-1]))
        inside = np.clip(inside, 0.0, lengths[-1])
        j = np.clip(np.searchsorted(lengths, inside, side="right") - 1, 0, len(lengths) - 2)
        step = lengths[j + 1] - lengths[j]
        share = np.where(step > 0, (inside - lengths[j]) / np.where(step > 0, step, 1.0), 0.0)[:, None]
        return chain[j] * (1.0 - share) + chain[j + 1] * share

    def between(self, low: float, high: float) -> Polyline:
        """The part of an open polyline between two of its lengths."""
        lengths = self.lengths
        ends = self.at(np.array([low, high]))
        inner = self.vertices[(lengths > low) & (lengths < high)]
        return Polyline(np.vstack([ends[:1], inner, ends[1:]]))

    def reversed(self) -> Polyline:
        """The same points, run through from the other end."""
        return Polyline(np.ascontiguousarray(self.vertices[::-1]), self.closed)


@dataclass(frozen=True, eq=False)
class Fit:
    """A curve, and how it was found."""

    curve: Polyline
    losses: Array  # mean squared distance after each iteration
    n_iter: int
    converged: bool

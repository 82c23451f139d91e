"""Checks of a kernel: symmetric, positive semi-definite, neither too narrow nor too wide."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowdim._core.distances import pairwise
from lowdim._core.incomplete.kernels import IncompleteKernel
from lowdim._core.kernels import ANOVA, Chi2, DistanceKernel, Kernel
from lowdim._core.kernels.algebra import parts_of
from lowdim._core.runtime import threads
from lowdim._core.runtime.notices import warn
from lowdim._core.scaling.centring import center_kernel
from lowdim._core.spectrum.eigenvalues import all_eigenvalues
from lowdim.spectral.kernel._axes import OWNER, Axes
from lowdim.spectral.kernel._kernel_tiles import Tiles

Array = np.ndarray
SPECTRUM = 1500  # rows whose whole spectrum is computed for negative eigenvalues (half a second)
PAIRS = 3000  # rows between which all distances are compared
FLAT, NARROW, WIDE = 1.1, 3.0, 1e-3


def check_symmetric(tiles: Tiles, owner: str) -> None:
    """ValueError for a kernel that is not symmetric.

    Given matrices are checked as a whole, functions of two rows on some rows.
    """
    kernel, X = tiles.kernel, tiles.X
    if kernel.is_psd:
        return
    if kernel.pairwise:
        check_square(kernel, X, owner)
        worst, largest = _asymmetry(X), float(np.abs(X).max())
    else:
        some = X[: min(100, tiles.n)]
        K = kernel(some, some.copy())
        worst, largest = float(np.abs(K - K.T).max()), float(np.abs(K).max())
    if worst > 1e-4 * max(largest, np.finfo(X.dtype).tiny):
        raise ValueError(f"{owner}: the kernel must be symmetric; k(x, y) and k(y, x) differ by up to {worst:.3g}.")


def check_square(kernel: Kernel, X: Any, owner: str) -> None:
    """ValueError for a given matrix that is not square."""
    if kernel.pairwise and X.shape[0] != X.shape[1]:
        raise ValueError(f"{owner}: the kernel matrix must be square; got shape {X.shape}.")


def _asymmetry(K: Array) -> float:
    parts = threads.blocks(len(K), 512)  # tile by tile: reading a transposed matrix by rows is slow
    return max(float(np.abs(K[a, b] - K[b, a].T).max()) for i, a in enumerate(parts) for b in parts[: i + 1])


def negative_share(tiles: Tiles, rng: np.random.Generator) -> float:
    """Share of negative eigenvalues in the sum of all magnitudes, with a warning where it is not rounding."""
    if tiles.kernel.is_psd:
        return 0.0
    some = np.sort(rng.choice(tiles.n, min(tiles.n, SPECTRUM), replace=False))
    given = tiles.X[np.ix_(some, some)] if tiles.kernel.pairwise else tiles.kernel(tiles.X[some])
    values = all_eigenvalues(center_kernel(np.asarray(given, dtype=np.float64))[0], owner=OWNER)
    magnitude = float(np.abs(values).sum())
    share = float(-values[values < 0].sum()) / magnitude if magnitude > 0 else 0.0
    if values[-1] < -1e-6 * max(values[0], 0.0):
        seen = "these rows" if len(some) == tiles.n else f"{len(some)} of these rows"
        warn(
            f"{OWNER}: the kernel is not positive semidefinite on {seen} (smallest eigenvalue {values[-1]:.3g}, "
            f"largest {values[0]:.3g}); negative eigenvalues, {share:.2g} of the spectrum, are left out."
        )
    return share


def _has_width(kernel: Kernel) -> bool:
    inner = kernel.kernel if isinstance(kernel, IncompleteKernel) else kernel
    return any(isinstance(part, (DistanceKernel, ANOVA, Chi2)) for part in parts_of(inner))


def report_width(axes: Axes, kernel: Kernel, n: int, same_norm: bool) -> None:
    """Warn where all rows are dissimilar to the kernel, or nearly equal.

    Only where k(x, x) is the same for all rows, as for kernels of a distance: others have no width.
    """
    values = axes.values[axes.values > 0]
    if not same_norm or not len(values) or axes.own <= 0:
        return
    mean = axes.total / (n - 1)
    flat = values[0] < FLAT * values[-1] and values[0] < (NARROW if len(values) > 1 else FLAT) * mean
    if n > 5 * len(axes.values) and flat:
        warn(
            f"{OWNER}: the spectrum is flat: the first of {len(values)} eigenvalues is {values[0] / values[-1]:.3g} "
            f"times the last, and {values[0] / mean:.3g} times the mean of all. To {kernel} each row is dissimilar to "
            "all others, and the axes mean little. "
            + (
                "Its width is too small: use a smaller gamma, or width='median'."
                if _has_width(kernel)
                else "Use another kernel."
            )
        )
    elif axes.total < WIDE * axes.own:
        warn(
            f"{OWNER}: to {kernel} all rows are nearly the same: their variance in feature space is "
            f"{axes.total / axes.own:.2g} of k(x, x). "
            + (
                "Its width is too large and the result nearly that of PCA: use a larger gamma, or width='median'."
                if _has_width(kernel)
                else "Centre the rows first, X - X.mean(axis=0), or use another kernel."
            )
        )


def distance_loss(tiles: Tiles, Z: Array) -> float:
    """Mean over pairs of the distance in feature space less that of the scores, which cannot be longer."""
    own, parts, sums = tiles.diag(), threads.blocks(tiles.n, 512), 0.0
    Z = np.asarray(Z, dtype=np.float64)
    for i, a in enumerate(parts):
        tile_of = tiles.own(a)
        for b in parts[i:]:
            squared = own[a, None] + own[b] - 2 * tile_of(b).astype(np.float64)
            loss = np.maximum(np.sqrt(np.maximum(squared, 0.0)) - pairwise(Z[a], Z[b]), 0.0)
            sums += float(np.triu(loss, 1).sum() if a == b else loss.sum())
    return sums / (tiles.n * (tiles.n - 1) / 2)

"""Maps turned to lie alike, so that the eye can compare them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from lowdim._core.tables.align import procrustes


def aligned_maps(embeddings: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The first two columns of each embedding, turned and mirrored, never stretched, to lie like the first one.

    A map has no up and no left: turning it changes no distance. The rows that both maps have decide; a map that has
    fewer than three in common with the first one stays as it is.
    """
    flat = {name: _two_columns(Z) for name, Z in embeddings.items()}
    turned: dict[str, np.ndarray] = {}
    for name, Z in flat.items():
        target = next(iter(turned.values()), Z)
        rows = np.isfinite(target).all(axis=1) & np.isfinite(Z).all(axis=1)
        turned[name] = Z if target is Z or rows.sum() < 3 else _turned(Z, target, rows)
    return turned


def _turned(Z: np.ndarray, target: np.ndarray, rows: np.ndarray) -> np.ndarray:
    # The turn does not depend on the sizes of the two maps, and squares of huge coordinates would overflow.
    shapes = [A[rows] / (np.abs(A[rows]).max() or 1.0) for A in (target, Z)]
    turn = procrustes(*shapes, scale=False).rotation
    return (Z - Z[rows].mean(axis=0)) @ turn


def _two_columns(Z: np.ndarray) -> np.ndarray:
    """Two columns of float64; the second one is zero where there is only one."""
    Z = np.asarray(Z[:, :2], dtype=np.float64)
    return Z if Z.shape[1] == 2 else np.column_stack([Z, np.zeros(len(Z))])

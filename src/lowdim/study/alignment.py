"""Maps rotated and reflected onto the first one, for pictures side by side."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from lowdim._core.tables.align import procrustes


def aligned_maps(embeddings: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The first two components of each embedding, rotated and reflected (not rescaled) onto those of the first one.

    Rotation and reflection change no distance. The rows that both maps have decide; a map with fewer than three rows in
    common with the first one stays as it is.
    """
    flat = {name: _two_columns(Z) for name, Z in embeddings.items()}
    aligned: dict[str, np.ndarray] = {}
    for name, Z in flat.items():
        target = next(iter(aligned.values()), Z)
        rows = np.isfinite(target).all(axis=1) & np.isfinite(Z).all(axis=1)
        aligned[name] = Z if target is Z or rows.sum() < 3 else _rotated(Z, target, rows)
    return aligned


def _rotated(Z: np.ndarray, target: np.ndarray, rows: np.ndarray) -> np.ndarray:
    # The rotation does not depend on the scales of the two maps; unscaled, squares of huge coordinates would overflow.
    shapes = [A[rows] / (np.abs(A[rows]).max() or 1.0) for A in (target, Z)]
    rotation = procrustes(*shapes, scale=False).rotation
    return (Z - Z[rows].mean(axis=0)) @ rotation


def _two_columns(Z: np.ndarray) -> np.ndarray:
    """The first two columns as float64; zeros for the second if there is only one."""
    Z = np.asarray(Z[:, :2], dtype=np.float64)
    return Z if Z.shape[1] == 2 else np.column_stack([Z, np.zeros(len(Z))])

"""Maps turned to lie alike, so that the eye can compare them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from lowdim._core.align import procrustes


def aligned_maps(embeddings: Mapping[str, np.ndarray], rows: np.ndarray) -> dict[str, np.ndarray]:
    """The first two columns of each embedding, turned and mirrored, never stretched, to lie like the first one.

    A map has no up and no left: turning it changes no distance. `rows` marks the rows that all maps have.
    """
    flat = {name: _two_columns(Z) for name, Z in embeddings.items()}
    turned: dict[str, np.ndarray] = {}
    for name, Z in flat.items():
        if not turned:
            turned[name] = Z
            continue
        target = next(iter(turned.values()))
        turn = procrustes(target[rows], Z[rows], scale=False).rotation
        turned[name] = (Z - Z[rows].mean(axis=0)) @ turn
    return turned


def _two_columns(Z: np.ndarray) -> np.ndarray:
    """Two columns of float64; the second one is zero where there is only one."""
    Z = np.asarray(Z[:, :2], dtype=np.float64)
    return Z if Z.shape[1] == 2 else np.column_stack([Z, np.zeros(len(Z))])

"""Isomap of a sheet with a hole and of a closed loop, with TCIE for the hole and ``tear=True`` for the loop.

Writes holed_sheet.png into the folder named as the first argument: a Swiss roll with a rectangular hole, unrolled, by
Isomap and by TCIE; and a closed helix in one dimension, by Isomap with and without ``tear=True``.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

import lowdim


def main(path=".", quick=False):
    """Write the figure to a folder or file; return its numbers."""
    figure, axes = plt.subplots(1, 5, figsize=(21, 4.4), layout="constrained")
    found = hole(axes[:3], 800 if quick else 1500) | loop(axes[3:], 2000)
    path = Path(path) / "holed_sheet.png" if Path(path).is_dir() else Path(path)
    figure.savefig(path, dpi=110)
    plt.close(figure)
    for name, value in found.items():
        print(f"{name}: {value:.3f}")
    return found


def hole(axes: np.ndarray, n: int) -> dict[str, float]:
    """Correlations with the flat sheet."""
    roll = lowdim.datasets.swiss_roll_hole(n, noise=0.02, random_state=0)
    flat, color = roll.isometric_coordinates, roll.coordinates[:, 0]
    settings = {"n_neighbors": 8, "repair": "linearity", "random_state": 0}
    isomap, tcie = (method(2, **settings).fit(roll.X) for method in (lowdim.Isomap, lowdim.TCIE))
    found = {}
    axes[0].scatter(*flat.T, s=6, c=np.where(tcie.boundary_, "black", "0.8"))
    axes[0].set_title("the sheet, and its boundary as TCIE finds it")
    for ax, name, model in ((axes[1], "Isomap", isomap), (axes[2], "TCIE", tcie)):
        fit = lowdim.quality.procrustes(flat, model.embedding_)
        found[name] = fit.correlation
        ax.scatter(*fit.aligned.T, s=6, c=color)
        ax.set_title(f"{name}: {fit.correlation:.3f}")
    for ax in axes:
        ax.set(xticks=[], yticks=[], aspect="equal")
    return found


def loop(axes: np.ndarray, n: int) -> dict[str, float]:
    """Share of rows whose nearest row in the map has another class."""
    helix = lowdim.datasets.helix(n, random_state=0)
    found = {}
    for ax, tear in zip(axes, (False, True), strict=True):
        model = lowdim.Isomap(1, n_neighbors=8, tear=tear, n_landmarks=200, random_state=0).fit(helix.X)
        name = "torn helix" if tear else "closed helix"
        found[name] = lowdim.quality.knn_error(model.embedding_, helix.labels)
        ax.scatter(helix.coordinates[:, 0], model.embedding_[:, 0], s=4, color="C0")
        ax.set(
            title=f"{name}: 1-NN error {found[name]:.1%}", xlabel="position on the loop", ylabel="position in the map"
        )
    return found


if __name__ == "__main__":
    main(*sys.argv[1:2])

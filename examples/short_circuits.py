"""A Swiss roll with a few rows between its turns: Isomap with and without repair of the neighbour graph.

Writes short_circuits.png into the folder named as the first argument: the roll from above with the suspicious edges,
and the maps of Isomap without repair and with each of the three methods of repair. The numbers are correlations of the
maps with the unrolled sheet.
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
    roll = lowdim.datasets.swiss_roll(1000 if quick else 2000, random_state=0)
    rng = np.random.default_rng(1)
    angle, height = rng.uniform(1.5 * np.pi, 2.5 * np.pi, 5), rng.uniform(3, 27, 5)
    radius = angle + np.pi
    between = np.column_stack([radius * np.cos(angle), height, radius * np.sin(angle)])
    X, n = np.vstack([roll.X, between]), len(roll.X)

    figure, axes = plt.subplots(1, 5, figsize=(21, 4.4), layout="constrained")
    found, models = {}, {}
    for ax, repair in zip(axes[1:], (None, "flow", "linearity", "stability"), strict=True):
        model = models[repair] = lowdim.Isomap(2, n_neighbors=8, repair=repair, random_state=0).fit(X)
        name = "without repair" if repair is None else f"repair={repair!r}"
        found[name] = lowdim.quality.procrustes(roll.isometric_coordinates, model.embedding_[:n]).correlation
        ax.scatter(*model.embedding_[:n].T, s=4, c=roll.coordinates[:, 0])
        ax.scatter(*model.embedding_[n:].T, s=40, color="black", marker="x")
        ax.set(title=f"{name}: {found[name]:.3f}", xticks=[], yticks=[], aspect="equal")
    draw_edges(axes[0], X, n, roll.coordinates[:, 0], models["flow"])
    path = Path(path) / "short_circuits.png" if Path(path).is_dir() else Path(path)
    figure.savefig(path, dpi=110)
    plt.close(figure)
    for name, value in found.items():
        print(f"{name}: {value:.3f}")
    return found


def draw_edges(ax: plt.Axes, X: np.ndarray, n: int, color: np.ndarray, model: lowdim.Isomap) -> None:
    ax.scatter(X[:n, 0], X[:n, 2], s=3, c=color)
    for i, j in model.suspicious_edges_:
        ax.plot(X[[i, j], 0], X[[i, j], 2], color="black", linewidth=1)
    ax.scatter(X[n:, 0], X[n:, 2], s=40, color="black", marker="x")
    count = len(model.suspicious_edges_)
    ax.set(title=f"from above, with {count} suspicious edges", xticks=[], yticks=[], aspect="equal")


if __name__ == "__main__":
    main(*sys.argv[1:2])

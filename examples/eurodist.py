"""A map of Europe from road distances alone, beside the real one.

Writes eurodist.png into the folder named as the first argument: the cities where they are, and where classical scaling
puts them from their distances, aligned with the real map by a Procrustes analysis.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

import lowdim


def main(path=".", quick=False):
    """Write the figure to a folder or file; return its numbers."""
    roads = lowdim.datasets.eurodist()
    longitude, latitude = roads.coordinates.T
    place = np.column_stack([longitude * np.cos(np.deg2rad(48)), latitude]) * 111.2  # km, on a flat map about 48° north

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # road distances are not Euclidean
        model = lowdim.ClassicalMDS(n_components=2, metric="precomputed").fit(roads.X)
    fit = lowdim.quality.procrustes(place, model.embedding_, n_permutations=999, random_state=0)

    figure, (left, right) = plt.subplots(1, 2, figsize=(13, 6.5), layout="constrained", sharex=True, sharey=True)
    draw(left, place, roads.label_names, "where the cities are")
    draw(right, fit.aligned, roads.label_names, "where their road distances put them (lines lead to the true place)")
    for there, here in zip(place, fit.aligned, strict=True):
        right.plot(*np.transpose([there, here]), color="0.7", linewidth=1, zorder=0)
    stress = lowdim.quality.stress(roads.X, model.embedding_, "stress1", reference="precomputed")
    figure.suptitle(
        f"Procrustes correlation {fit.correlation:.3f} (p = {fit.p_value:.3f}); stress {stress:.3f}; "
        f"{model.negative_share_:.0%} of the spectrum is negative"
    )
    path = Path(path) / "eurodist.png" if Path(path).is_dir() else Path(path)
    figure.savefig(path, dpi=110)
    plt.close(figure)
    found = {"Procrustes correlation": fit.correlation, "stress": stress, "negative share": model.negative_share_}
    for name, value in found.items():
        print(f"{name}: {value:.3f}")
    return found


def draw(ax: plt.Axes, Z: np.ndarray, names: tuple[str, ...], title: str) -> None:
    ax.scatter(*Z.T, s=18, color=lowdim.plot.COLORS[0])
    for z, name in zip(Z, names, strict=True):
        ax.annotate(name, z, xytext=(4, 3), textcoords="offset points", fontsize=8)
    ax.set(title=title, xticks=[], yticks=[], aspect="equal")
    ax.margins(0.12)


if __name__ == "__main__":
    main(*sys.argv[1:2])

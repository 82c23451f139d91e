"""A map of Morse signals from confusions, converted to dissimilarities.

Writes morse.png into the folder named as the first argument. Signals that were often confused are close together; the
two properties that people use, length and share of dashes, are not part of the data. The Shepard diagrams below show
how dissimilarities are used: as distances, up to an additive constant, or as ranks alone.
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
    signals = lowdim.datasets.morse()
    D = lowdim.dissimilarities(signals.X, conversion=100)  # 100 per cent minus the share of answers "the same"

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # confusions are not Euclidean distances
        model = lowdim.ClassicalMDS(n_components=2, metric="precomputed", correction="cailliez").fit(D)
    Z = model.embedding_

    figure = plt.figure(figsize=(14, 10.5), layout="constrained")
    above, below = figure.subfigures(2, 1, height_ratios=[1.7, 1])
    axes = above.subplots(1, 2, sharex=True, sharey=True)
    for ax, property_, name in zip(axes, signals.coordinates.T, signals.coordinate_names, strict=True):
        drawn = ax.scatter(*Z.T, c=property_, s=40, cmap="viridis")
        for z, text in zip(Z, signals.label_names, strict=True):
            ax.annotate(text, z, xytext=(5, 3), textcoords="offset points", fontsize=8)
        ax.annotate(
            "", direction(Z, property_) * np.abs(Z).max(), (0, 0), arrowprops={"arrowstyle": "->", "color": "0.6"}
        )
        ax.set(title=f"{name}: R² = {explained(Z, property_):.2f}", xticks=[], yticks=[], aspect="equal")
        ax.margins(0.1)
        above.colorbar(drawn, ax=ax, shrink=0.7)
    stress = {}
    for ax, level in zip(below.subplots(1, 3), ("ratio", "interval", "ordinal"), strict=True):
        scaled = lowdim.MDS(n_components=2, metric="precomputed", level=level).fit(D)
        stress[f"stress, {level}"] = scaled.stress1_
        lowdim.plot.shepard(scaled.shepard(), ax=ax, title=f"MDS, {level}: stress {scaled.stress1_:.2f}")
    figure.suptitle("36 Morse signals by how often they were confused (Rothkopf 1957)")
    path = Path(path) / "morse.png" if Path(path).is_dir() else Path(path)
    figure.savefig(path, dpi=110)
    plt.close(figure)
    found = {
        name: explained(Z, values) for name, values in zip(signals.coordinate_names, signals.coordinates.T, strict=True)
    } | stress
    for name, value in found.items():
        print(f"{name}: {value:.3f}")
    return found


def direction(Z: np.ndarray, property_: np.ndarray) -> np.ndarray:
    """Unit vector of the direction in which a property increases, by its regression on both axes."""
    slope = np.linalg.lstsq(Z, property_ - property_.mean(), rcond=None)[0]
    return slope / np.linalg.norm(slope)


def explained(Z: np.ndarray, property_: np.ndarray) -> float:
    return float(np.corrcoef(Z @ direction(Z, property_), property_)[0, 1] ** 2)


if __name__ == "__main__":
    main(*sys.argv[1:2])

"""A spiral in the plane and its one true coordinate, the length along the curve.

PCA projects the turns onto each other. Kernel PCA with a Gaussian kernel does not unroll it at any width: its
components are waves along the curve, not its length. Isomap measures along the curve and finds it. What kernel PCA can
do is denoise the spiral: many such waves describe the curve, but not the noise across it.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib
import numpy as np
from scipy.stats import spearmanr

import lowdim

matplotlib.use("Agg")
import matplotlib.pyplot as plt


def main(path=".", quick=False):
    """Write the figure to a folder or file; return rank correlations with the length, and distances to the curve."""
    data = lowdim.datasets.spiral(200 if quick else 500, noise=0.2, random_state=0)
    X, length = data.X, data.isometric_coordinates[:, 0]
    choice = lowdim.select.kernel_width(X, n_components=1, criterion="rnx")
    models = {
        "PCA": lowdim.PCA(1),
        f"kernel PCA (width {choice.width:.2g})": lowdim.KernelPCA(1, kernel=choice.kernel),
        "Isomap": lowdim.Isomap(1, n_neighbors=8),
    }
    cleaned = lowdim.KernelPCA(30, width=2.0, preimage="fixed_point").fit(X).denoise(X)
    curve = lowdim.datasets.spiral(5000, noise=0.0, random_state=1).X
    figure, axes = plt.subplots(2, 3, figsize=(11, 7), layout="constrained")
    found = {}
    for ax, (name, model) in zip(axes[0], models.items(), strict=True):
        z = model.fit_transform(X)[:, 0]
        found[name.split(" (")[0]] = abs(float(spearmanr(z, length)[0]))
        ax.scatter(length, z, s=6, c=length, cmap="viridis", linewidths=0)
        ax.set(
            title=f"{name}: correlation {found[name.split(' (')[0]]:.2f}",
            xlabel="length along the spiral",
            yticks=[],
        )
    for ax, rows, title in ((axes[1, 0], X, "noisy"), (axes[1, 1], cleaned, "cleaned")):
        off = np.sqrt(((rows[:, None] - curve) ** 2).sum(axis=2).min(axis=1)).mean()
        found[title.split()[0]] = float(off)
        ax.plot(*curve[np.argsort((curve**2).sum(axis=1))].T, color="0.85", linewidth=1, zorder=0)
        lowdim.plot.embedding(rows, length, ax=ax, title=f"{title}: {off:.2f} off the curve", legend=False)
    ax = axes[1, 2]
    ax.semilogx(choice.curve.widths, choice.curve.mean, "o-", color=lowdim.plot.COLORS[0])
    ax.axvline(choice.curve.median, color="0.5", linestyle=":", label="median rule")
    ax.set(xlabel="width of the Gaussian kernel", ylabel="area under R_NX of one component")
    ax.legend(frameon=False)
    path = Path(path) / "spiral.png" if Path(path).is_dir() else Path(path)
    figure.savefig(path, dpi=110)
    plt.close(figure)
    for name, value in found.items():
        print(f"{name}: {value:.3f}")
    return found


if __name__ == "__main__":
    main(*sys.argv[1:2])

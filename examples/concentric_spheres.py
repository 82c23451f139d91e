"""Two concentric spheres: no linear projection separates them, a Gaussian kernel of suitable width does.

Kernel PCA does not use the labels. A linear classifier on two components then measures the separation: with PCA and
the polynomial kernel of degree 5 the spheres overlap, with the Gaussian kernel they do not, if its width is between
the distances of neighbours on a sphere and the distance between the spheres.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import lowdim

matplotlib.use("Agg")
import matplotlib.pyplot as plt

WIDTHS = 10.0 ** np.linspace(-1, 1, 17)


def separated(Z, labels):
    """Cross-validated accuracy of a line between the two classes."""
    line = make_pipeline(StandardScaler(), LogisticRegression(C=100.0, max_iter=1000))
    return float(cross_val_score(line, Z, labels, cv=5).mean())


def main(path=".", quick=False):
    """Write the figure to a folder or file; return the accuracies."""
    shells = lowdim.datasets.concentric_spheres(200 if quick else 600, random_state=0, radii=(1.0, 3.0))
    order = np.random.default_rng(0).permutation(len(shells.X))
    X, labels = shells.X[order], shells.labels[order]
    curve = [separated(lowdim.KernelPCA(2, width=w).fit_transform(X), labels) for w in WIDTHS[:: 8 if quick else 1]]
    models = {
        "PCA": lowdim.PCA(2),
        "polynomial kernel, degree 5": lowdim.KernelPCA(2, kernel="poly", degree=5),
        "Gaussian kernel, width 1.5": lowdim.KernelPCA(2, width=1.5),
    }
    figure, axes = plt.subplots(2, 2, figsize=(8.5, 8), layout="constrained")
    found = {}
    for ax, (name, model) in zip(axes.flat, models.items(), strict=False):
        Z = model.fit_transform(X)
        found[name] = separated(Z, labels)
        names = np.array(shells.label_names)[labels]
        lowdim.plot.embedding(Z, names, ax=ax, title=f"{name}: {found[name]:.0%} by a line", label_name="sphere")
    ax = axes[1, 1]
    ax.semilogx(WIDTHS[:: 8 if quick else 1], curve, "o-", color=lowdim.plot.COLORS[0])
    ax.axvline(np.sqrt(0.5 / lowdim.kernels.bandwidth(X)), color="0.5", linestyle=":", label="median rule")
    ax.set(xlabel="width of the Gaussian kernel", ylabel="accuracy of a line on two components", ylim=(0.45, 1.02))
    ax.legend(frameon=False)
    path = Path(path) / "concentric_spheres.png" if Path(path).is_dir() else Path(path)
    figure.savefig(path, dpi=110)
    plt.close(figure)
    for name, value in found.items():
        print(f"{name}: {value:.3f}")
    return found


if __name__ == "__main__":
    main(*sys.argv[1:2])

"""Missing cells of a helical loop, filled in by a line and by curves.

The loop has one dimension in three columns, and every row lacks one of its three cells. A linear method can do little
better than the column means. Inverse nonlinear PCA fits a curve to the cells that are there and finds each row's place
on it; so does a Gaussian process. Rows at the two ends lie above each other: where such a row lacks its height, nothing
tells the ends apart, and both fill in what is between.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import matplotlib
import numpy as np

import lowdim

matplotlib.use("Agg")
import matplotlib.pyplot as plt


def main(path=".", quick=False):
    """Draw the picture into a folder or file; return the squared errors of the missing cells."""
    loop = lowdim.datasets.helical_loop(150 if quick else 400, noise=0.05, random_state=0)
    X = lowdim.datasets.remove_cells(loop.X, random_state=0)
    gone = np.isnan(X)
    models = {
        "probabilistic PCA": lowdim.ProbabilisticPCA(1),
        "GPLVM": lowdim.GPLVM(1, max_iter=300),
        "inverse NLPCA": lowdim.InverseNLPCA(1, hidden=12, n_init=3 if quick else 10, random_state=0),
    }
    rows = {"complete rows": loop.X, "column means": np.where(gone, np.nanmean(X, axis=0), X)}
    rows |= {name: completed(model, X) for name, model in models.items()}
    found = {name: float(np.square(filled - loop.noise_free)[gone].mean()) for name, filled in rows.items()}
    draw(Path(path) / "helix_completed.png" if Path(path).is_dir() else Path(path), rows, loop, gone, found)
    for name, error in found.items():
        print(f"{name}: {error:.4f}")
    return found


def completed(model, X):
    """Rows with their cells filled in; a line that finds no good fit says so, and is right."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return model.fit(X).completed_


def draw(path, rows, loop, gone, found):
    """One panel for each way; the true loop in grey, rows coloured by their place on it."""
    figure, axes = plt.subplots(2, 3, figsize=(11, 8), subplot_kw={"projection": "3d"}, layout="constrained")
    for ax, (name, filled) in zip(axes.flat, rows.items(), strict=False):
        ax.plot(*loop.noise_free[np.argsort(loop.coordinates[:, 0])].T, color="0.8", linewidth=1)
        ax.scatter(*filled.T, s=7, c=loop.coordinates[:, 0], cmap="viridis", linewidths=0, depthshade=False)
        ax.set_title(name if name == "complete rows" else f"{name}: squared error {found[name]:.3f}", fontsize=10)
    lacking = axes.flat[-1]
    for j, (label, color) in enumerate(zip(("sine", "cosine", "height"), lowdim.plot.COLORS, strict=False)):
        lacking.scatter(*loop.X[gone[:, j]].T, s=7, color=color, label=label, linewidths=0, depthshade=False)
    lacking.set_title("what is missing", fontsize=10)
    lacking.legend(frameon=False, loc="upper left", fontsize=8)
    for ax in axes.flat:
        ax.set(xlim=(-1.2, 1.2), ylim=(-1.2, 1.2), zlim=(-1.2, 1.2), xticks=[], yticks=[], zticks=[])
        ax.view_init(22, -60)
    figure.savefig(path, dpi=110)
    plt.close(figure)


if __name__ == "__main__":
    main(*sys.argv[1:2])

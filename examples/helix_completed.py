"""Missing cells of a helical loop, completed by linear methods and by a curve.

The loop has one dimension in three columns, and every row has one missing cell. Linear methods are hardly better than
the column means. Inverse nonlinear PCA fits a curve to the observed cells and finds the position of each row on it.
The two ends of the loop differ only in height: where the height is missing there, the completed value lies in between.
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
    """Write the figure to a folder or file; return the squared errors of the missing cells."""
    loop = lowdim.datasets.helical_loop(150 if quick else 400, noise=0.05, random_state=0)
    X = lowdim.datasets.remove_cells(loop.X, random_state=0)
    gone = np.isnan(X)
    models = {
        "probabilistic PCA": lowdim.ProbabilisticPCA(1),
        "Bayesian PCA": lowdim.BayesianPCA(),
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
    """The completed rows; linear methods warn about their poor fit."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return model.fit(X).completed_


def draw(path, rows, loop, gone, found):
    """The missing cells, then a panel for each method; the true loop in grey, rows coloured by position on it."""
    figure, axes = plt.subplots(2, 3, figsize=(11, 7.6), subplot_kw={"projection": "3d"}, layout="constrained")
    for j, (label, color) in enumerate(zip(("sine", "cosine", "height"), lowdim.plot.COLORS, strict=False)):
        some = loop.X[gone[:, j]].T
        axes.flat[1].scatter(*some, s=7, color=color, label=label, linewidths=0, depthshade=False)
    axes.flat[1].set_title("missing cells", fontsize=10)
    axes.flat[1].legend(frameon=False, loc="upper left", fontsize=8)
    panels = [ax for i, ax in enumerate(axes.flat) if i != 1]
    for ax, (name, filled) in zip(panels, rows.items(), strict=True):
        ax.plot(*loop.noise_free.T, color="0.7", linewidth=1)
        ax.scatter(*filled.T, s=7, c=loop.coordinates[:, 0], cmap="viridis", linewidths=0, depthshade=False)
        ax.set_title(name if name == "complete rows" else f"{name}: squared error {found[name]:.3f}", fontsize=10)
    for ax in axes.flat:
        ax.set(xlim=(-1.2, 1.2), ylim=(-1.2, 1.2), zlim=(-1.2, 1.2), xticks=[], yticks=[], zticks=[])
        ax.view_init(25, 20)
    figure.savefig(path, dpi=110)
    plt.close(figure)


if __name__ == "__main__":
    main(*sys.argv[1:2])

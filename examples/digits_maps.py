"""Maps of handwritten digits: PCA, an autoencoder, a variational autoencoder and a Gaussian process (GPLVM).

PCA is the best linear projection; the networks are nonlinear and separate digits that overlap in the projection. The
number is the share of images whose nearest neighbour in the map is another digit, for fitted and for new images.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import matplotlib
import numpy as np
from sklearn.datasets import load_digits

import lowdim

matplotlib.use("Agg")
import matplotlib.pyplot as plt

FITTED = 1200


def main(path=".", quick=False):
    """Write the figure to a folder or file; return the shares, for fitted and for new images."""
    images, labels = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(images))[: 300 if quick else None]
    X, y = images[order] / 16, labels[order]
    n, training = (200, {"hidden": 32, "max_iter": 80, "batch_size": 32}) if quick else (FITTED, {"max_iter": 300})
    known, new = slice(0, n), slice(n, None)
    models = {
        "PCA": lowdim.PCA(2),
        "autoencoder": lowdim.Autoencoder(2, random_state=0, **training),
        "variational autoencoder": lowdim.VAE(2, likelihood="bernoulli", random_state=0, **training),
        "GPLVM": lowdim.GPLVM(2, solver="variational", n_inducing=12 if quick else 40, max_iter=15 if quick else 200),
    }
    figure, axes = plt.subplots(2, 2, figsize=(10, 9.4), layout="constrained")
    found = {}
    for ax, (name, model) in zip(axes.flat, models.items(), strict=True):
        Z = fitted(model, X[known])
        placed = model.transform(X[new])
        found[name] = lowdim.quality.knn_error(Z, y[known])
        nearest = np.square(placed[:, None] - Z).sum(axis=2).argmin(axis=1)
        found[f"{name}, new"] = float((y[known][nearest] != y[new]).mean())
        words = f"{name}: {found[name]:.0%} lie next to another digit, of new images {found[f'{name}, new']:.0%}"
        draw(ax, Z, y[known], words)
    path = Path(path) / "digits_maps.png" if Path(path).is_dir() else Path(path)
    figure.savefig(path, dpi=110)
    plt.close(figure)
    for name, share in found.items():
        print(f"{name}: {share:.3f}")
    return found


def fitted(model, X):
    """The map; few iterations are enough for a figure, without the convergence warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return model.fit_transform(X)


def draw(ax, Z, y, words):
    """Draw each image as its digit."""
    for digit in range(10):
        ax.scatter(*Z[y == digit].T, s=22, marker=f"${digit}$", color=plt.cm.tab10(digit), linewidths=0)
    ax.set(xticks=[], yticks=[])
    ax.set_title(words, fontsize=9)


if __name__ == "__main__":
    main(*sys.argv[1:2])

"""Hastie and Stuetzle's principal curve of a noisy circle.

The curve starts as the first principal axis; each iteration projects the rows on it and smooths them along it. Four
iterations are drawn, then the converged curve: nearly a circle, with a gap, and too small, since smoothing is biased
inwards. A closed curve has no gap, and adding the smoothed residuals corrects the bias.
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

PASSES = (1, 2, 3, 4)


def main(path=".", quick=False):
    """Write the figure to a folder or file; return the mean squared distances and radii."""
    X = lowdim.datasets.noisy_circle(150 if quick else 300, noise=0.12, random_state=0).X
    models = {f"pass {k}": fitted(X, df=5, max_iter=k) for k in PASSES}
    models["settled"] = fitted(X, df=5)
    models["closed, bias corrected"] = fitted(X, smoother="periodic", bias_correction=True)
    figure, axes = plt.subplots(2, 3, figsize=(10, 7), layout="constrained")
    found = {}
    for ax, (name, model) in zip(axes.flat, models.items(), strict=True):
        found[name] = float(np.square(model.distance_).mean())
        draw(ax, X, model)
        ax.set_title(f"{name}: D² {found[name]:.3f}", fontsize=10)
    found["radius"] = float(np.sqrt(np.square(models["closed, bias corrected"].curve_).sum(axis=1)).mean())
    path = Path(path) / "principal_curve.png" if Path(path).is_dir() else Path(path)
    figure.savefig(path, dpi=110)
    plt.close(figure)
    for name, value in found.items():
        print(f"{name}: {value:.3f}")
    return found


def fitted(X, **settings):
    """A curve after this many iterations, without the convergence warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return lowdim.PrincipalCurve(**settings).fit(X)


def draw(ax, X, model):
    """Rows, the lines to their nearest points, and the curve."""
    feet = model.inverse_transform(model.embedding_)
    angle = np.linspace(0, 2 * np.pi, 200)
    ax.plot(np.cos(angle), np.sin(angle), color="0.8", linewidth=1, zorder=0)
    ax.plot(*np.stack([X, feet], axis=1).transpose(2, 1, 0), color="0.75", linewidth=0.4, zorder=1)
    ax.scatter(*X.T, s=6, c=model.parameters_, cmap="viridis", linewidths=0, zorder=2)
    curve = np.vstack([model.curve_, model.curve_[:1]]) if model.closed_ else model.curve_
    ax.plot(*curve.T, color="black", linewidth=1.8, zorder=3)
    ax.set(aspect="equal", xticks=[], yticks=[])


if __name__ == "__main__":
    main(*sys.argv[1:2])

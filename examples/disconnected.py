"""Two clusters with no edge of the neighbour graph between them, with the four policies of `disconnected`.

Writes disconnected.png into the folder named as the first argument. "error" has no map: its message is shown.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from textwrap import fill

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

import lowdim


def main(path=".", quick=False):
    """Write the figure to a folder or file; return its numbers."""
    n = 150 if quick else 400
    roll = lowdim.datasets.swiss_roll(2 * n, random_state=0).X
    ball = 3 * np.random.default_rng(0).standard_normal((n, 3)) + [60, 15, 0]
    X, kind = np.vstack([roll, ball]), np.repeat([0, 0, 1], n)

    figure, axes = plt.subplots(1, 4, figsize=(18, 4.6), layout="constrained")
    found = {}
    for ax, policy in zip(axes, ("bridge", "separate", "largest", "error"), strict=True):
        ax.set(title=f"disconnected={policy!r}", xticks=[], yticks=[], aspect="equal")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # about the connected components
                Z = lowdim.Isomap(2, n_neighbors=8, disconnected=policy, random_state=0).fit_transform(X)
        except ValueError as error:
            ax.text(0.5, 0.5, fill(str(error), 36), ha="center", va="center", transform=ax.transAxes)
            ax.set_aspect("auto")
            continue
        found[f"placed by {policy}"] = float(np.isfinite(Z).all(axis=1).mean())
        ax.scatter(*Z.T, s=6, c=np.take(["C0", "C1"], kind))
    path = Path(path) / "disconnected.png" if Path(path).is_dir() else Path(path)
    figure.savefig(path, dpi=110)
    plt.close(figure)
    for name, value in found.items():
        print(f"{name}: {value:.3f}")
    return found


if __name__ == "__main__":
    main(*sys.argv[1:2])

"""Where local methods fail: more noise, or more dimensions, compared with PCA.

Local methods rely on the nearest rows. With noise, the nearest rows may be on another turn of the sheet; and a sheet
of r dimensions needs a number of rows that grows like c^r before the nearest ones are near. PCA uses all rows at once:
it never unrolls anything, but it loses little.

Two series: a Swiss roll with increasing noise (its turns are 6.3 apart), and sheets of increasing dimension r that are
curved in every direction (each coordinate runs along three quarters of a circle), all with the same number of rows. A
map is scored by how well the true coordinates of a row are predicted from its five nearest rows in the map: the share
of variance explained (1: all; 0: nothing).

Writes where_local_methods_stop.png into the folder named as the first argument and prints the table behind it.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from sklearn.neighbors import NearestNeighbors

import lowdim

METHODS = {
    "PCA": lambda r, k: lowdim.PCA(r),
    "Isomap": lambda r, k: lowdim.Isomap(r, n_neighbors=k, random_state=0),
    "LLE": lambda r, k: lowdim.LLE(r, n_neighbors=k, random_state=0),
    "LTSA": lambda r, k: lowdim.LLE(r, n_neighbors=k, method="ltsa", random_state=0),
    "Laplacian eigenmaps": lambda r, k: lowdim.LaplacianEigenmaps(r, n_neighbors=k, random_state=0),
}


def main(path=".", quick=False):
    """Write the figure to a folder or file; return its numbers."""
    n, draws = (800, 1) if quick else (1500, 2)
    noises = (0.0, 2.0) if quick else (0.0, 0.25, 0.5, 1.0, 1.5, 2.0)
    dimensions = (2, 10) if quick else (1, 2, 4, 6, 8, 10)
    sweeps = {
        "noise": (noises, lambda sd, seed: rolled(n, sd, seed), 8),
        "dimension": (dimensions, lambda r, seed: bent(n, r, seed), 14),
    }
    figure, axes = plt.subplots(1, 2, figsize=(13, 5), layout="constrained", sharey=True)
    found = {}
    for ax, (name, (levels, make, k)) in zip(axes, sweeps.items(), strict=True):
        scores = {(level, m): score(make, level, METHODS[m], k, draws) for level in levels for m in METHODS}
        print_table(name, levels, scores)
        for m in METHODS:
            line = [scores[level, m] for level in levels]
            ax.plot(levels, line, "o-", label=m, color="black" if m == "PCA" else None)
        found |= {(name, level, m): value for (level, m), value in scores.items()}
    axes[0].set(xlabel="noise (standard deviation)", ylabel="variance explained", title="a Swiss roll with noise")
    axes[1].set(xlabel="dimension of the sheet", title=f"curved sheets, {n} rows each", xticks=dimensions)
    axes[1].legend()
    path = Path(path) / "where_local_methods_stop.png" if Path(path).is_dir() else Path(path)
    figure.savefig(path, dpi=100)
    plt.close(figure)
    return found


def rolled(n: int, noise: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows and the flat sheet they come from."""
    roll = lowdim.datasets.swiss_roll(n, noise, random_state=seed)
    return roll.X, roll.isometric_coordinates


def bent(n: int, r: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """r coordinates, each along three quarters of its own circle: 2 r columns, with a little noise."""
    rng = np.random.default_rng(seed)
    flat = rng.random((n, r))
    angle = 1.5 * np.pi * flat
    X = np.hstack([np.cos(angle), np.sin(angle)])
    return X + 0.05 * rng.standard_normal(X.shape), flat


def score(make, level: float, method, k: int, draws: int) -> float:
    """Variance of the true coordinates explained by the map, the mean over draws."""
    known = []
    for seed in range(draws):
        X, flat = make(level, seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about small eigengaps and disconnected graphs
            Z = method(flat.shape[1], k).fit_transform(X)
        near = NearestNeighbors(n_neighbors=5).fit(Z).kneighbors(return_distance=False)
        left = np.square(flat - flat[near].mean(axis=1)).mean(axis=0)
        known.append(1 - np.mean(left / flat.var(axis=0)))
    return float(np.mean(known))


def print_table(name: str, levels: tuple, scores: dict) -> None:
    print(f"{name:>20s}" + "".join(f"{level:8g}" for level in levels))
    for method in METHODS:
        print(f"{method:>20s}" + "".join(f"{scores[level, method]:8.2f}" for level in levels))


if __name__ == "__main__":
    main(*sys.argv[1:2])

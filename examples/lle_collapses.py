"""The two ways in which LLE collapses, and the warnings of lowdim.

LLE asks that every row be reconstructed from its neighbours and that the map have unit variance; nothing else keeps
rows apart. (1) If the neighbour graph is disconnected, each connected component can collapse to a point: the
eigenvalue 0 occurs once for every component. (2) If it is connected, a few outliers can have all the variance of an
axis, and the dense rows collapse to a line or a point.

Writes lle_collapses.png into the folder named as the first argument. Upper row: three curved sheets that are not
connected, by scikit-learn (without a warning) and with two policies of lowdim. Lower row: a roll with ten outliers,
mapped with a warning, and without these rows.
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
from sklearn.manifold import LocallyLinearEmbedding

import lowdim


def main(path=".", quick=False):
    """Write the figure to a folder or file; return its numbers."""
    figure, axes = plt.subplots(2, 4, figsize=(18, 9), layout="constrained")
    found = pieces(axes[0], 150 if quick else 300) | outliers(axes[1], 800 if quick else 1000)
    path = Path(path) / "lle_collapses.png" if Path(path).is_dir() else Path(path)
    figure.savefig(path, dpi=100)
    plt.close(figure)
    for name, value in found.items():
        print(f"{name}: {value:.3g}")
    return found


def pieces(axes: np.ndarray, n: int) -> dict[str, float]:
    """The first collapse: standard deviation of a connected component, relative to the whole map."""
    rng, piece = np.random.default_rng(0), np.repeat(range(3), n)
    place, height = rng.uniform(0, 1.5 * np.pi, 3 * n), rng.uniform(0, 3, 3 * n)
    X = np.column_stack([np.cos(place) + 4 * piece, height, np.sin(place)])
    silent = LocallyLinearEmbedding(n_neighbors=10, n_components=2, eigen_solver="dense").fit_transform(X)
    bridged, issued = listen(lowdim.LLE(2, n_neighbors=10, random_state=0), X)
    apart, _ = listen(lowdim.LLE(2, n_neighbors=10, disconnected="separate", random_state=0), X)

    axes[0].scatter(X[:, 0], X[:, 2], s=5, c=place)
    axes[0].set(title=f"{bridged.n_components_graph_} curved sheets, not connected", aspect="equal")
    titles = (
        "scikit-learn, without a warning: each sheet is a point",
        "disconnected='bridge'",
        "disconnected='separate'",
    )
    maps = (silent, bridged.embedding_, apart.embedding_)
    for ax, title, Z in zip(axes[1:], titles, maps, strict=True):
        for i, marker in enumerate("o^s"):
            ax.scatter(*Z[piece == i].T, s=10, c=place[piece == i], marker=marker)
        ax.set(title=title, xticks=[], yticks=[])
    axes[2].set_xlabel("it warns: " + fill(issued[0], 60), fontsize=8)
    shares = {name: spread(Z, piece) for name, Z in zip(("silent", "bridged", "separate"), maps, strict=True)}
    return {"graph parts": bridged.n_components_graph_} | {f"spread of a piece, {k}": v for k, v in shares.items()}


def outliers(axes: np.ndarray, n: int) -> dict[str, float]:
    """The second collapse: how much of its second dimension a roll keeps with ten outliers."""
    roll, rng = lowdim.datasets.swiss_roll(n, random_state=0), np.random.default_rng(0)
    aside = rng.standard_normal((10, 3))
    aside *= rng.uniform(40, 80, (10, 1)) / np.linalg.norm(aside, axis=1, keepdims=True)
    X = np.vstack([roll.X, roll.X.mean(axis=0) + aside])
    color = roll.coordinates[:, 0]
    model, issued = listen(lowdim.LLE(2, random_state=0), X)
    clean, nothing = listen(lowdim.LLE(2, random_state=0), roll.X)

    axes[0].scatter(X[:n, 0], X[:n, 2], s=5, c=color)
    axes[0].scatter(X[n:, 0], X[n:, 2], s=40, color="black", marker="x")
    axes[0].set(title="a roll and ten outliers", aspect="equal")
    for ax, Z, title in (
        (axes[1], model.embedding_, f"LLE: the graph has {model.n_components_graph_} part, and yet"),
        (axes[2], model.embedding_[:n], "the same map, the roll alone"),
        (axes[3], clean.embedding_, f"without the ten rows: {len(nothing)} warnings"),
    ):
        ax.scatter(*Z[:n].T, s=5, c=color)
        ax.scatter(*Z[n:].T, s=40, color="black", marker="x")
        ax.set(title=title, xticks=[], yticks=[])
    axes[1].set_xlabel("it warns: " + fill(issued[0], 60), fontsize=8)
    axes[2].set_aspect("equal")
    return {
        "thickness of the roll, with outliers": thickness(model.embedding_[:n]),
        "thickness of the roll, without": thickness(clean.embedding_),
        "warnings with outliers": len(issued),
        "warnings without": len(nothing),
    }


def listen(model: lowdim.LLE, X: np.ndarray) -> tuple[lowdim.LLE, list[str]]:
    """The fitted model and what it warns of beside short circuits, which a roll of few rows has."""
    with warnings.catch_warnings(record=True) as issued:
        warnings.simplefilter("always")
        model.fit(X)
    messages = [str(warning.message) for warning in issued]
    return model, [message for message in messages if "short circuits" not in message]


def spread(Z: np.ndarray, piece: np.ndarray) -> float:
    """Root mean squared distance of rows to the mean of their component, over that to the mean of the map."""
    inside = np.concatenate([Z[piece == i] - Z[piece == i].mean(axis=0) for i in np.unique(piece)])
    return float(np.linalg.norm(inside) / np.linalg.norm(Z - Z.mean(axis=0)))


def thickness(Z: np.ndarray) -> float:
    """The smaller over the larger standard deviation of rows."""
    values = np.linalg.svd(Z - Z.mean(axis=0), compute_uv=False)
    return float(values[-1] / values[0])


if __name__ == "__main__":
    main(*sys.argv[1:2])

"""Two distances on a Swiss roll: the straight (Euclidean) distance, and the geodesic distance along the sheet.

The geodesic distance is the length of the shortest path in the neighbour graph. Isomap is classical scaling of
geodesic instead of Euclidean distances.

Writes geodesic_distance.png into the folder named as the first argument: two rows of the roll with both paths between
them; both distances of many pairs over the true distance on the unrolled sheet; and the maps of classical scaling of
each.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from scipy.sparse.csgraph import shortest_path
from scipy.spatial.distance import cdist
from sklearn.neighbors import kneighbors_graph

import lowdim


def main(path=".", quick=False):
    """Write the figure to a folder or file; return its numbers."""
    roll = lowdim.datasets.swiss_roll(800 if quick else 1500, random_state=0)
    edges = kneighbors_graph(roll.X, 8, mode="distance")
    along, previous = shortest_path(edges, directed=False, return_predecessors=True)
    through, true = cdist(roll.X, roll.X), cdist(roll.isometric_coordinates, roll.isometric_coordinates)

    figure, axes = plt.subplots(1, 4, figsize=(19, 4.8), layout="constrained")
    start, end = far_pair(through, true)
    way = path_between(previous, start, end)
    draw_ways(axes[0], roll, way)
    found = {
        "pair, straight": through[start, end],
        "pair, along the graph": along[start, end],
        "pair, along the sheet": true[start, end],
        "correlation, straight": correlation(through, true),
        "correlation, along the graph": correlation(along, true),
    }
    draw_pairs(axes[1], true, {"straight": through, "along the graph": along})
    for ax, title, D in ((axes[2], "straight distances", through), (axes[3], "distances along the graph", along)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # geodesic distances are not exactly Euclidean
            Z = lowdim.ClassicalMDS(2, metric="precomputed").fit_transform(D)
        fit = lowdim.quality.procrustes(roll.isometric_coordinates, Z)
        found[f"map, {title}"] = fit.correlation
        ax.scatter(*fit.aligned.T, s=5, c=roll.coordinates[:, 0])
        ax.set(title=f"map of {title}: {fit.correlation:.3f}", xticks=[], yticks=[], aspect="equal")
    path = Path(path) / "geodesic_distance.png" if Path(path).is_dir() else Path(path)
    figure.savefig(path, dpi=100)
    plt.close(figure)
    for name, value in found.items():
        print(f"{name}: {value:.3f}")
    return found


def far_pair(through: np.ndarray, true: np.ndarray) -> tuple[int, int]:
    """Two rows on neighbouring turns: at most 8 apart in space, as far apart as possible along the sheet."""
    start, end = np.unravel_index(np.argmax(np.where(through < 8, true, 0)), true.shape)
    return int(start), int(end)


def path_between(previous: np.ndarray, start: int, end: int) -> list[int]:
    """The rows on the shortest path."""
    way = [end]
    while way[-1] != start:
        way.append(int(previous[start, way[-1]]))
    return way


def correlation(D: np.ndarray, true: np.ndarray) -> float:
    """Correlation of the distances of all pairs."""
    pairs = np.triu_indices(len(D), 1)
    return float(np.corrcoef(D[pairs], true[pairs])[0, 1])


def draw_ways(ax: plt.Axes, roll: lowdim.datasets.Dataset, way: list[int]) -> None:
    ax.scatter(roll.X[:, 0], roll.X[:, 2], s=4, c=roll.coordinates[:, 0])
    ax.plot(roll.X[way, 0], roll.X[way, 2], color="black", label="along the graph")
    ends = [way[0], way[-1]]
    ax.plot(roll.X[ends, 0], roll.X[ends, 2], "o--", color="red", label="straight")
    ax.set(title="the roll from above, and two paths", xticks=[], yticks=[], aspect="equal")
    ax.legend(loc="upper left", fontsize=8)


def draw_pairs(ax: plt.Axes, true: np.ndarray, kinds: dict[str, np.ndarray]) -> None:
    rng = np.random.default_rng(0)
    i, j = rng.integers(0, len(true), (2, 3000))
    for (name, D), color in zip(kinds.items(), ("red", "black"), strict=True):
        ax.scatter(true[i, j], D[i, j], s=3, color=color, label=f"{name}: correlation {correlation(D, true):.3f}")
    ax.plot([0, true.max()], [0, true.max()], color="0.7", linewidth=1)
    ax.set(title="3,000 pairs of rows", xlabel="distance along the sheet", ylabel="measured distance")
    ax.legend(fontsize=8)


if __name__ == "__main__":
    main(*sys.argv[1:2])

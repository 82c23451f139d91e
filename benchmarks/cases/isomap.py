"""Isomap

Two dimensions, 10 neighbours. *landmarks 0* is the exact method; scikit-learn has no landmarks. *R² paths*: squared
correlation between lengths of shortest paths and distances in the map. *R² sheet*: agreement with the flat coordinates
of the Swiss roll, after rotation and scaling. *max difference*: from the map of scikit-learn after alignment, relative
to its standard deviation.
"""

from __future__ import annotations

import warnings

import numpy as np

from benchmarks import data as sets
from benchmarks.case import Contender, Skip

sizes = {
    "quick": [{"set": "swiss-roll", "n": 2000, "landmarks": 0}, {"set": "swiss-roll", "n": 5000, "landmarks": 100}],
    "full": [
        {"set": "swiss-roll", "n": 2000, "landmarks": 0},
        {"set": "swiss-roll", "n": 5000, "landmarks": 0},
        {"set": "swiss-roll", "n": 10000, "landmarks": 0},
        {"set": "mnist-50", "n": 5000, "landmarks": 0},
        {"set": "swiss-roll", "n": 100000, "landmarks": 500},
        {"set": "mnist-50", "n": 70000, "landmarks": 500},
    ],
}
K = 10


def data(size):
    if size["set"] == "swiss-roll":
        X, sheet = sets.swiss_roll(size["n"])
        return {"X": X, "sheet": sheet}
    return {"X": sets.principal(sets.real("mnist"), 50)[: size["n"]]}


def lowdim(data, size, threads):
    from lowdim import Isomap

    model = Isomap(2, n_neighbors=K, n_landmarks=size["landmarks"] or None, random_state=0, n_jobs=threads)
    return lambda: {"Z": model.fit_transform(data["X"])}


def scikit_learn(data, size, threads):
    from sklearn.manifold import Isomap

    if size["landmarks"]:
        raise Skip("has no landmarks")
    return lambda: {"Z": Isomap(n_components=2, n_neighbors=K, n_jobs=threads).fit_transform(data["X"])}


ours = {"lowdim": Contender(lowdim, "lowdim")}
peers = {"scikit-learn": Contender(scikit_learn, "sklearn")}


def quality(data, size, results):
    paths, sources = shortest(data["X"])
    judged = {name: {"R² paths": explained(paths, sources, found["Z"])} for name, found in results.items()}
    for name, found in results.items():
        if "sheet" in data:
            left = misfit(data["sheet"], found["Z"])
            judged[name]["R² sheet"] = 1 - np.square(left).sum() / spread(data["sheet"]) ** 2
        if "scikit-learn" in results and name != "scikit-learn":
            peer = results["scikit-learn"]["Z"]
            judged[name]["max difference"] = np.abs(misfit(peer, found["Z"])).max() / peer.std(axis=0).max()
    return judged


def shortest(X):
    """Path lengths from a few rows, by scipy on a graph made by scikit-learn."""
    from scipy.sparse.csgraph import connected_components, dijkstra
    from sklearn.neighbors import kneighbors_graph

    graph = kneighbors_graph(X, K, mode="distance")
    _, part = connected_components(graph, directed=False)
    largest = np.flatnonzero(part == np.bincount(part).argmax())
    sources = np.random.default_rng(2).choice(largest, 20, replace=False)
    return dijkstra(graph, directed=False, indices=sources), sources


def explained(paths, sources, Z):
    reached = np.isfinite(paths) & np.isfinite(Z[:, 0])
    D = np.sqrt(np.square(Z[sources, None] - Z[None]).sum(axis=2))
    return np.corrcoef(paths[reached], D[reached])[0, 1] ** 2


def spread(A):
    return np.linalg.norm(A - A.mean(axis=0))


def misfit(A, B):
    """What a rotation, a shift and one scale leave of A - B."""
    A, B = A - A.mean(axis=0), B - B.mean(axis=0)
    U, s, Vt = np.linalg.svd(B.T @ A)
    return A - (s.sum() / np.square(B).sum()) * B @ (U @ Vt)


warnings.filterwarnings("ignore", message=".*connected.*")

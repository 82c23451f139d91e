"""Landmark MDS

Two dimensions. The peers are floors, not methods: the distances of all rows to the landmarks alone, in blocks of 1,024
rows that are thrown away, by a matrix product in numpy (Euclidean, without any care for near pairs) or by scipy
(Manhattan). *Kept*: correlation between distances and distances in the map, on 2,000 random pairs. For Euclidean
distances ours is a projection and needs no distances.
"""

from __future__ import annotations

import warnings

import numpy as np

from benchmarks.case import Contender

sizes = {
    "quick": [{"metric": metric, "n": 50_000, "d": 10, "landmarks": 500} for metric in ("euclidean", "manhattan")],
    "full": [
        {"metric": "euclidean", "n": 1_000_000, "d": 10, "landmarks": 500},
        {"metric": "manhattan", "n": 1_000_000, "d": 10, "landmarks": 500},
        {"metric": "manhattan", "n": 100_000, "d": 50, "landmarks": 500},
    ],
}
BLOCK = 1024


def data(size):
    X = np.random.default_rng(0).normal(size=(size["n"], size["d"])) * 1.5 ** -np.arange(size["d"])
    return {"X": X}


def lowdim(data, size, threads):
    from lowdim import LandmarkMDS

    warnings.filterwarnings("ignore", message=".*not Euclidean.*")
    settings = {"n_landmarks": size["landmarks"], "metric": size["metric"], "random_state": 0, "n_jobs": threads}
    return lambda: {"Z": LandmarkMDS(2, **settings).fit_transform(data["X"])}


def distances(data, size, threads):
    from scipy.spatial.distance import cdist

    from lowdim._core.runtime.threads import map_rows

    X = data["X"]
    few = X[np.random.default_rng(1).permutation(len(X))[: size["landmarks"]]]
    squares = np.square(few).sum(axis=1)

    def product(rows):
        D = X[rows] @ few.T
        D *= -2
        D += squares
        D += np.square(X[rows]).sum(axis=1)[:, None]
        return np.sqrt(np.maximum(D, 0, out=D), out=D)[0, 0]

    def measure(rows):
        return cdist(X[rows], few, "cityblock")[0, 0]

    block = product if size["metric"] == "euclidean" else measure
    return lambda: {"first": np.array(map_rows(block, len(X), BLOCK, threads))}


ours = {"lowdim": Contender(lowdim, "lowdim")}
peers = {"distances alone": Contender(distances, "scipy")}


def kept(result, data, size):
    return {name: value[:: max(1, size["n"] // 4000)] for name, value in result.items()}


def quality(data, size, results):
    if "lowdim" not in results:
        return {}
    X, Z = data["X"][:: max(1, size["n"] // 4000)], results["lowdim"]["Z"]
    i, j = np.random.default_rng(2).integers(len(X), size=(2, 2000))
    true = np.linalg.norm(X[i] - X[j], ord={"euclidean": 2, "manhattan": 1}[size["metric"]], axis=1)
    return {"lowdim": {"kept": np.corrcoef(true, np.linalg.norm(Z[i] - Z[j], axis=1))[0, 1]}}

"""Landmark MDS

Two dimensions. No other library has the method. *distances alone* is a lower bound for one that needs distances: those
of all rows to the landmarks, in blocks of 1,024 rows, by a matrix product in numpy (Euclidean, without any correction
of rounding errors) or by scipy (Manhattan). For Euclidean distances lowdim projects the rows and needs no distances.
*correlation*: between distances and distances in the map, for 2,000 random pairs.
"""

from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor

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
    from threadpoolctl import threadpool_limits

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
    parts = [slice(start, start + BLOCK) for start in range(0, len(X), BLOCK)]

    def run():
        with threadpool_limits(1, "blas"), ThreadPoolExecutor(threads) as pool:
            return {"first": np.array(list(pool.map(block, parts)))}

    return run


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
    return {"lowdim": {"correlation": np.corrcoef(true, np.linalg.norm(Z[i] - Z[j], axis=1))[0, 1]}}

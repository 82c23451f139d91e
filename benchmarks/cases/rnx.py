"""The R_NX curve

The whole curve, exact, for the first two principal coordinates of clusters in 50 dimensions. *area*: under the curve.
*difference*: largest difference between the curves of lowdim and of the peer, which sorts with numpy.
"""

from __future__ import annotations

import numpy as np

from benchmarks import data as sets
from benchmarks.case import Contender, Skip

sizes = {
    "quick": [{"n": 1000}],
    "full": [{"n": 2000}, {"n": 10000}, {"n": 50000}],
}


def data(size):
    X = sets.clusters(size["n"], 50).astype(np.float64)
    return {"X": X, "Z": sets.principal(X, 2)}


def lowdim(data, size, threads):
    from lowdim.quality import rnx_curve

    return lambda: {"rnx": rnx_curve(data["X"], data["Z"], anchors=None, n_jobs=threads)}


def by_hand(data, size, threads):
    from scipy.spatial.distance import cdist

    if size["n"] > 10_000:
        raise Skip("takes too long")
    X, Z, n = data["X"], data["Z"], size["n"]

    def ranks(rows, A):
        D = cdist(A[rows], A)
        D[np.arange(len(rows)), rows] = -1
        return np.argsort(np.argsort(D, axis=1, kind="stable"), axis=1)

    def run():
        counts = np.zeros(n, np.int64)
        for rows in np.array_split(np.arange(n), max(1, n // 500)):
            counts += np.bincount(np.maximum(ranks(rows, X), ranks(rows, Z)).ravel(), minlength=n)
        K = np.arange(1, n - 1)
        kept = np.cumsum(counts[1:])[:-1] / (n * K)
        return {"rnx": ((n - 1) * kept - K) / (n - 1 - K)}

    return run


ours = {"lowdim": Contender(lowdim, "lowdim")}
peers = {"sorting with numpy": Contender(by_hand, "scipy")}


def quality(data, size, results):
    weight = 1 / np.arange(1, size["n"] - 1)
    judged = {name: {"area": found["rnx"] @ weight / weight.sum()} for name, found in results.items()}
    if len(results) == 2:
        mine, peer = (found["rnx"] for found in results.values())
        judged["lowdim"]["difference"] = np.abs(mine - peer).max()
    return judged

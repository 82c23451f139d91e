"""UMAP of MNIST

The 50 leading principal coordinates of so many rows, n_neighbors=15 and defaults otherwise, neighbours and start
included. *warm*: the second fit in a process, umap-learn's loops being compiled; *cold*: everything from the start of
the process. umap-learn runs without a seed, which lets it use all threads; lowdim's map is the same for any number.
*trustworthiness*: with 12 neighbours, up to 20,000 rows. *10-NN kept*: share of the ten nearest neighbours of 1,000
rows that are among the ten nearest in the map. *1-NN error*: share of 5,000 rows whose nearest row in the map is of
another class.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from benchmarks import data as sets
from benchmarks.case import Contender

sizes = {
    "quick": [{"set": "clusters-50", "n": 2000}],
    "full": [{"set": "mnist-50", "n": 10000}, {"set": "mnist-50", "n": 70000}],
}
JUDGED, MOST_PAIRS = 1000, 20_000


def data(size):
    if size["set"] == "clusters-50":
        return {"X": sets.clusters(size["n"], 50)}
    X = sets.principal(sets.real("mnist"), 50)
    with np.load(Path(os.environ["LOWDIM_DATA"]) / "mnist.npz", allow_pickle=False) as archive:
        labels = archive["y"].astype(np.int64)
    rows = np.sort(np.random.default_rng(0).permutation(len(X))[: size["n"]])
    return {"X": X[rows], "labels": labels[rows]}


def lowdim_fit(data, size, threads):
    from lowdim import UMAP

    return lambda: {"Z": UMAP(n_jobs=threads).fit_transform(data["X"])}


def umap_learn_fit(data, size, threads):
    from umap import UMAP

    return lambda: {"Z": UMAP(n_jobs=threads).fit_transform(data["X"])}


ours = {
    "lowdim, warm": Contender(lowdim_fit, "lowdim", clock="warm"),
    "lowdim, cold": Contender(lowdim_fit, "lowdim", clock="process"),
}
peers = {
    "umap-learn, warm": Contender(umap_learn_fit, "umap", clock="warm"),
    "umap-learn, cold": Contender(umap_learn_fit, "umap", clock="process"),
}


def quality(data, size, results):
    from lowdim._core.neighbors import nearest
    from lowdim.quality import trustworthiness

    X, n = data["X"], size["n"]
    judged = np.sort(np.random.default_rng(1).permutation(n)[: 5 * JUDGED])
    true = nearest(X, 11, queries=X[judged[::5]]).indices
    found = {}
    for name, result in results.items():
        Z = np.ascontiguousarray(result["Z"], np.float64)
        near = nearest(Z, 11, queries=Z[judged]).indices
        found[name] = {"10-NN kept": _kept(true, near[::5], judged[::5])}
        if "labels" in data:
            first = np.where(near[:, 0] == judged, near[:, 1], near[:, 0])
            found[name]["1-NN error"] = np.mean(data["labels"][first] != data["labels"][judged])
        if n <= MOST_PAIRS:
            found[name]["trustworthiness"] = trustworthiness(X, Z, n_neighbors=12)
    return found


def _kept(true, near, own):
    pairs = zip(true, near, own, strict=True)
    return np.mean([len((set(a) - {i}) & (set(b) - {i})) / (len(set(a) - {i})) for a, b, i in pairs])

"""UMAP of MNIST

Data: the 50 leading principal coordinates of n rows of MNIST; n_neighbors=15, otherwise defaults. The time includes the
search for neighbours and the initial map. *warm*: the second fit in a process, after umap-learn has compiled its loops;
*cold*: from the start of the process. umap-learn runs without a seed, so that it can use all threads; the map of lowdim
does not depend on the number of threads. *trustworthiness*: with 12 neighbours, by scikit-learn, only up to 20,000
rows. *10-NN kept*: share of the ten nearest neighbours of 1,000 rows that are among the ten nearest in the map. *1-NN
error*: share of 5,000 rows whose nearest row in the map has another label.
"""

from __future__ import annotations

import numpy as np

from benchmarks import maps
from benchmarks.case import Contender

sizes = {
    "quick": [{"set": "clusters-50", "n": 2000}],
    "full": [{"set": "mnist-50", "n": 10000}, {"set": "mnist-50", "n": 70000}],
}
MOST_PAIRS = 20_000


def data(size):
    return maps.rows(size)


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
    from sklearn.manifold import trustworthiness

    Z = {name: np.ascontiguousarray(result["Z"], np.float64) for name, result in results.items()}
    found = maps.measured(data, Z)
    if size["n"] <= MOST_PAIRS:
        for name in found:
            found[name]["trustworthiness"] = trustworthiness(data["X"], Z[name], n_neighbors=12)
    return found

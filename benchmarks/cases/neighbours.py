"""Nearest neighbours of all rows

Data: *mnist* is MNIST with its 784 columns, *mnist-50* its 50 leading principal coordinates; float32. *recall*: share
of the k true neighbours that were found, for 1,000 rows. *pynndescent, equal recall* has the settings that come closest
to the recall of lowdim; where there is no such line, the defaults do. hnswlib: M 16, ef_construction 200, ef 2 (k + 1).
"""

from __future__ import annotations

import numpy as np

from benchmarks import data as sets
from benchmarks.case import Contender, Skip
from benchmarks.internal import core

sizes = {
    "quick": [{"set": "clusters-50", "n": 5000, "k": 15}],
    "full": [
        {"set": "mnist-50", "n": 70000, "k": 15},
        {"set": "mnist-50", "n": 70000, "k": 90},
        {"set": "mnist", "n": 70000, "k": 15},
        {"set": "mnist", "n": 70000, "k": 90},
    ],
}
JUDGED = 1000
# Settings of pynndescent by which its recall comes closest to that of lowdim, where the defaults are far from it.
EQUAL = {("mnist-50", 90): {"n_iters": 3, "max_candidates": 20}, ("mnist", 90): {"max_candidates": 20}}


def data(size):
    if size["set"] == "clusters-50":
        return {"X": sets.clusters(size["n"], 50)}
    X = sets.real("mnist", size["n"])
    return {"X": sets.principal(X, 50) if size["set"] == "mnist-50" else X}


def lowdim(approximate):
    def prepare(data, size, threads):
        nearest = core("nearest")
        return lambda: {"indices": nearest(data["X"], size["k"], approximate=approximate, n_jobs=threads).indices}

    return prepare


def scikit_learn(data, size, threads):
    from sklearn.neighbors import NearestNeighbors

    def run():
        fitted = NearestNeighbors(n_neighbors=size["k"], n_jobs=threads).fit(data["X"])
        return {"indices": fitted.kneighbors()[1]}

    return run


def pynndescent(data, size, threads, **settings):
    from pynndescent import NNDescent

    def run():
        index = NNDescent(data["X"], n_neighbors=size["k"] + 1, n_jobs=threads, random_state=0, **settings)
        return {"indices": without_self(index.neighbor_graph[0])}

    return run


def pynndescent_equal(data, size, threads):
    if (size["set"], size["k"]) not in EQUAL:
        raise Skip("the defaults have the recall of lowdim")
    return pynndescent(data, size, threads, **EQUAL[size["set"], size["k"]])


def faiss_exact(data, size, threads):
    import faiss

    faiss.omp_set_num_threads(threads)

    def run():
        index = faiss.IndexFlatL2(data["X"].shape[1])
        index.add(data["X"])
        return {"indices": without_self(index.search(data["X"], size["k"] + 1)[1])}

    return run


def hnswlib(data, size, threads):
    from hnswlib import Index

    def run():
        n, d = data["X"].shape
        index = Index(space="l2", dim=d)
        index.init_index(max_elements=n, M=16, ef_construction=200, random_seed=0)
        index.set_num_threads(threads)
        index.add_items(data["X"])
        index.set_ef(2 * (size["k"] + 1))
        return {"indices": without_self(index.knn_query(data["X"], size["k"] + 1)[0].astype(np.int64))}

    return run


def without_self(indices):
    """The list of each row without the row; where it is not there, without the last entry."""
    own = indices == np.arange(len(indices))[:, None]
    own[~own.any(axis=1), -1] = True
    return indices[~own].reshape(len(indices), -1)


ours = {
    "lowdim approximate": Contender(lowdim(approximate=True), "lowdim"),
    "lowdim exact": Contender(lowdim(approximate=False), "lowdim"),
    "lowdim approximate (cold)": Contender(lowdim(approximate=True), "lowdim", "process"),
}
peers = {
    "scikit-learn exact": Contender(scikit_learn, "sklearn"),
    "pynndescent (warm)": Contender(pynndescent, "pynndescent", "warm"),
    "pynndescent, equal recall (warm)": Contender(pynndescent_equal, "pynndescent", "warm"),
    "pynndescent (cold)": Contender(pynndescent, "pynndescent", "process"),
    "faiss exact": Contender(faiss_exact, "faiss"),
    "hnswlib": Contender(hnswlib, "hnswlib"),
}


def judged_rows(n):
    return np.random.default_rng(1).choice(n, min(n, JUDGED), replace=False)


def kept(result, data, size):
    return {"indices": result["indices"][judged_rows(size["n"])]}


def quality(data, size, results):
    X, rows = data["X"].astype(np.float64), judged_rows(size["n"])
    X -= X.mean(axis=0)
    right = dict.fromkeys(results, 0)
    for part in np.array_split(np.arange(len(rows)), 20):
        D = squared(X, rows[part])
        limit = np.partition(D, size["k"] - 1, axis=1)[:, size["k"] - 1, None] * (1 + 1e-6) + 1e-9
        for name, found in results.items():
            right[name] += np.sum(np.take_along_axis(D, found["indices"][part].astype(np.int64), axis=1) <= limit)
    return {name: {"recall": count / (len(rows) * size["k"])} for name, count in right.items()}


def squared(X, rows):
    """Squared distances from some rows to all, a row being infinitely far from itself."""
    norms = np.einsum("ij,ij->i", X, X)
    D = norms[rows, None] + norms - 2 * X[rows] @ X.T
    D[np.arange(len(rows)), rows] = np.inf
    return D

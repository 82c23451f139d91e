"""Nearest neighbours under other metrics

Data: *abundances* are generated counts of 200 species, *fingerprints* generated rows of 2,048 bits of which about fifty
are set, *tf-idf* generated texts of 60 words out of 50,000, as sparse rows. *recall*: share of the k true neighbours
that were found, for 300 rows. scikit-learn is exact; where it has no line, it takes minutes.
"""

from __future__ import annotations

import numpy as np

from benchmarks import data as sets
from benchmarks.case import Contender, Skip
from benchmarks.internal import core

sizes = {
    "quick": [
        {"set": "abundances", "metric": "braycurtis", "n": 2000, "k": 15},
        {"set": "fingerprints", "metric": "jaccard", "n": 2000, "k": 15},
        {"set": "tf-idf", "metric": "cosine", "n": 2000, "k": 15},
    ],
    "full": [
        {"set": "abundances", "metric": "braycurtis", "n": 20000, "k": 15},
        {"set": "abundances", "metric": "manhattan", "n": 20000, "k": 15},
        {"set": "abundances", "metric": "canberra", "n": 20000, "k": 15},
        {"set": "abundances", "metric": "chebyshev", "n": 20000, "k": 15},
        {"set": "fingerprints", "metric": "jaccard", "n": 20000, "k": 15},
        {"set": "fingerprints", "metric": "jaccard", "n": 100000, "k": 15},
        {"set": "tf-idf", "metric": "cosine", "n": 20000, "k": 15},
        {"set": "tf-idf", "metric": "cosine", "n": 100000, "k": 15},
    ],
}
JUDGED = 300
MANY = 50_000  # rows from which all pairs take scikit-learn minutes


def data(size):
    if size["set"] == "abundances":
        return {"X": sets.abundances(size["n"], 200)}
    if size["set"] == "fingerprints":
        return {"X": sets.fingerprints(size["n"])}
    X = sets.tf_idf(size["n"], 50_000)
    return {"data": X.data, "indices": X.indices, "indptr": X.indptr}


def rows_of(data, size):
    """The rows as a table, or as a sparse matrix."""
    if "X" in data:
        return data["X"]
    from scipy import sparse

    parts = tuple(np.array(data[name]) for name in ("data", "indices", "indptr"))
    return sparse.csr_matrix(parts, shape=(size["n"], 50_000))


def lowdim(approximate):
    def prepare(data, size, threads):
        nearest, X = core("nearest"), rows_of(data, size)
        how = {"metric": size["metric"], "approximate": approximate, "n_jobs": threads}
        return lambda: {"indices": nearest(X, size["k"], **how).indices}

    return prepare


def scikit_learn(data, size, threads):
    from sklearn.neighbors import NearestNeighbors

    if size["n"] >= MANY:
        raise Skip("all pairs take minutes")
    X = rows_of(data, size)

    def run():
        fitted = NearestNeighbors(n_neighbors=size["k"], metric=size["metric"], n_jobs=threads).fit(X)
        return {"indices": fitted.kneighbors()[1]}

    return run


def pynndescent(data, size, threads):
    from pynndescent import NNDescent

    X = rows_of(data, size)

    def run():
        index = NNDescent(X, n_neighbors=size["k"] + 1, metric=size["metric"], n_jobs=threads, random_state=0)
        return {"indices": without_self(index.neighbor_graph[0])}

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
    "pynndescent (cold)": Contender(pynndescent, "pynndescent", "process"),
}


def judged_rows(n):
    return np.random.default_rng(1).choice(n, min(n, JUDGED), replace=False)


def kept(result, data, size):
    return {"indices": result["indices"][judged_rows(size["n"])]}


def quality(data, size, results):
    X, rows = rows_of(data, size), judged_rows(size["n"])
    right = dict.fromkeys(results, 0)
    for part in np.array_split(np.arange(len(rows)), 20):
        D = distances(X, rows[part], size["metric"])
        limit = np.partition(D, size["k"] - 1, axis=1)[:, size["k"] - 1, None] * (1 + 1e-6) + 1e-9
        for name, found in results.items():
            right[name] += np.sum(np.take_along_axis(D, found["indices"][part].astype(np.int64), axis=1) <= limit)
    return {name: {"recall": count / (len(rows) * size["k"])} for name, count in right.items()}


def distances(X, rows, metric):
    """Distances from some rows to all, a row being infinitely far from itself."""
    if metric == "cosine":
        D = 1.0 - (X[rows] @ X.T).toarray().astype(np.float64)  # of rows of length 1
    elif metric == "jaccard":
        shared = X[rows].astype(np.float32) @ X.T.astype(np.float32)
        D = 1.0 - shared / (X[rows].sum(axis=1)[:, None] + X.sum(axis=1) - shared).astype(np.float64)
    else:
        from scipy.spatial.distance import cdist

        D = cdist(X[rows], X, "cityblock" if metric == "manhattan" else metric)
    D[np.arange(len(rows)), rows] = np.inf
    return D

"""Kernel PCA

Gaussian kernel, 10 components. Data: clusters in 50 dimensions, float64 where nothing is said; the kernel width is the
median distance. *error*: largest relative error of an eigenvalue. *lowdim operator* does not store the kernel matrix.
"""

from __future__ import annotations

import numpy as np

from benchmarks import data as sets
from benchmarks.case import Contender, Skip

sizes = {
    "quick": [{"n": 1000}],
    "full": [{"n": 5000}, {"n": 10000}, {"n": 20000}, {"n": 20000, "dtype": "float32"}],
}
COMPONENTS = 10


def data(size):
    from scipy.spatial.distance import pdist

    X = sets.clusters(size["n"], 50).astype(size.get("dtype", "float64"))
    return {"X": X, "gamma": 0.5 / np.median(pdist(X[:1000])) ** 2}


def lowdim(solver):
    def prepare(data, size, threads):
        from lowdim import KernelPCA

        options = {"gamma": float(data["gamma"]), "solver": solver, "random_state": 0, "n_jobs": threads}
        model = KernelPCA(COMPONENTS, kernel="rbf", **options)
        return lambda: {"values": model.fit(data["X"]).eigenvalues_}

    return prepare


def scikit_learn(solver):
    def prepare(data, size, threads):
        from sklearn.decomposition import KernelPCA

        if solver == "auto" and size["n"] > 10_000:
            raise Skip("decomposes the whole n x n matrix")
        options = {"kernel": "rbf", "gamma": float(data["gamma"]), "eigen_solver": solver, "random_state": 0}
        model = KernelPCA(COMPONENTS, n_jobs=threads, **options)
        return lambda: {"values": model.fit(data["X"]).eigenvalues_}

    return prepare


ours = {
    "lowdim": Contender(lowdim("auto"), "lowdim"),
    "lowdim operator": Contender(lowdim("operator"), "lowdim"),
}
peers = {
    f"scikit-learn {solver}": Contender(scikit_learn(solver), "sklearn") for solver in ("auto", "arpack", "randomized")
}


def quality(data, size, results):
    truth = exact(data["X"], float(data["gamma"]))
    return {name: {"error": np.max(np.abs(found["values"] / truth - 1))} for name, found in results.items()}


def exact(X, gamma):
    """The largest eigenvalues of the centred kernel, to machine precision."""
    from scipy.sparse.linalg import eigsh
    from scipy.spatial.distance import cdist

    X = X.astype(np.float64)
    K = cdist(X, X, "sqeuclidean")
    K *= -gamma
    np.exp(K, out=K)
    means = K.mean(axis=0)
    K -= means
    K -= means[:, None] - means.mean()
    return np.sort(eigsh(K, COMPONENTS, v0=np.ones(len(X)) + np.arange(len(X)) % 7, tol=0)[0])[::-1]

"""Kernel PCA with landmarks (Nystrom)

Gaussian kernel, 10 components. Data: clusters in 50 dimensions, float64. *task fit*: fit and transform all rows;
*transform*: all rows by a model of 5,000 rows. The peer is a pipeline of *Nystroem* and PCA of scikit-learn. *variance
captured*: variance of the scores, summed over the 10 components; higher is better, the full method has the most.
"""

from __future__ import annotations

import numpy as np

from benchmarks import data as sets
from benchmarks.case import Contender, Skip

sizes = {
    "quick": [{"n": 3000, "landmarks": 200, "task": "fit"}],
    "full": [
        {"n": 100_000, "landmarks": 2000, "task": "fit"},
        {"n": 100_000, "landmarks": 2000, "task": "transform"},
    ],
}
COMPONENTS = 10


def data(size):
    from scipy.spatial.distance import pdist

    X = sets.clusters(size["n"], 50).astype(np.float64)
    return {"X": X, "gamma": 0.5 / np.median(pdist(X[:1000])) ** 2}


def measured(model, X, size):
    """The function that is measured: fitting all rows, or placing them with a model of 5,000 of them."""
    if size["task"] == "fit":
        return lambda: {"Z": model.fit_transform(X)}
    model.fit(X[:5000])
    return lambda: {"Z": model.transform(X)}


def lowdim(data, size, threads):
    from lowdim import KernelPCA

    options = {"gamma": float(data["gamma"]), "random_state": 0, "n_jobs": threads}
    return measured(KernelPCA(COMPONENTS, n_landmarks=size["landmarks"], **options), data["X"], size)


def scikit_learn(data, size, threads):
    from sklearn.decomposition import PCA
    from sklearn.kernel_approximation import Nystroem
    from sklearn.pipeline import make_pipeline

    features = Nystroem(gamma=float(data["gamma"]), n_components=size["landmarks"], random_state=0, n_jobs=threads)
    return measured(make_pipeline(features, PCA(COMPONENTS, random_state=0)), data["X"], size)


def scikit_learn_sample(data, size, threads):
    from sklearn.decomposition import KernelPCA

    if size["task"] == "fit":
        raise Skip("would need an n x n matrix")
    model = KernelPCA(COMPONENTS, kernel="rbf", gamma=float(data["gamma"]), eigen_solver="arpack", random_state=0)
    return measured(model, data["X"], size)


ours = {"lowdim": Contender(lowdim, "lowdim")}
peers = {
    "scikit-learn Nystroem + PCA": Contender(scikit_learn, "sklearn"),
    "scikit-learn KernelPCA of 5,000 rows": Contender(scikit_learn_sample, "sklearn"),
}


def quality(data, size, results):
    return {name: {"variance captured": float(found["Z"].var(axis=0).sum())} for name, found in results.items()}

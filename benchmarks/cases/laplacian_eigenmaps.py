"""Laplacian eigenmaps

Two components, 15 neighbours, weights of 1, and half of that for pairs in which only one row is a neighbour of the
other: the same graph for all. *eigenvalue ratio*: Rayleigh quotient y'Ly / y'Dy of the first component, divided by
the smallest non-zero eigenvalue of the graph; 1 is exact. *residual*: largest ||D^-1/2 (L - l D) y|| / ||D^1/2 y|| of
the components. The time of lowdim includes the search for short circuits, which scikit-learn does not make.
"""

from __future__ import annotations

import warnings

import numpy as np

from benchmarks import data as sets
from benchmarks.case import Contender

sizes = {
    "quick": [{"set": "swiss-roll", "n": 3000}],
    "full": [
        {"set": "swiss-roll", "n": 10000},
        {"set": "swiss-roll", "n": 70000},
        {"set": "mnist-50", "n": 10000},
    ],
}
K = 15


def data(size):
    if size["set"] == "swiss-roll":
        return {"X": sets.swiss_roll(size["n"])[0]}
    return {"X": sets.principal(sets.real("mnist"), 50)[: size["n"]]}


def lowdim(data, size, threads):
    from lowdim import LaplacianEigenmaps

    model = LaplacianEigenmaps(2, n_neighbors=K, weights="binary", search="exact", random_state=0, n_jobs=threads)
    return lambda: {"Z": model.fit_transform(data["X"])}


def scikit_learn(solver):
    def prepare(data, size, threads):
        from sklearn.manifold import SpectralEmbedding

        # A row counts as its own first neighbour there.
        options = {"affinity": "nearest_neighbors", "n_neighbors": K + 1, "eigen_solver": solver, "random_state": 0}
        model = SpectralEmbedding(2, n_jobs=threads, **options)
        return lambda: {"Z": model.fit_transform(data["X"])}

    return prepare


ours = {"lowdim": Contender(lowdim, "lowdim")}
peers = {
    "scikit-learn arpack": Contender(scikit_learn("arpack"), "sklearn"),
    "scikit-learn lobpcg": Contender(scikit_learn("lobpcg"), "sklearn"),
    "scikit-learn amg": Contender(scikit_learn("amg"), "pyamg"),
}


def quality(data, size, results):
    W = graph(data["X"])
    least = smallest(W)
    judged = {}
    for name, found in results.items():
        first, residual = measured(W, found["Z"])
        judged[name] = {"eigenvalue ratio": first / least, "residual": residual}
    return judged


def graph(X):
    from sklearn.neighbors import kneighbors_graph

    A = kneighbors_graph(X, K)
    return 0.5 * (A + A.T)


def normalised(W):
    from scipy import sparse

    degrees = np.asarray(W.sum(axis=1)).ravel()
    half = sparse.diags(1 / np.sqrt(degrees))
    return sparse.identity(len(degrees)) - half @ W @ half, np.sqrt(degrees)


def smallest(W):
    """The second smallest eigenvalue, the first being 0, by a factorised inverse to machine precision."""
    from scipy.sparse.linalg import eigsh

    B, root = normalised(W)
    return np.sort(eigsh(B.tocsc(), 3, sigma=-1e-8, which="LM", v0=root + np.arange(len(root)) % 7, tol=0)[0])[1]


def measured(W, Z):
    B, root = normalised(W)
    V = root[:, None] * Z
    V = V / np.linalg.norm(V, axis=0)
    values = (V * (B @ V)).sum(axis=0)
    return float(values[0]), float(np.linalg.norm(B @ V - V * values, axis=0).max())


warnings.filterwarnings("ignore", message=".*(connected|converge|Exited).*")

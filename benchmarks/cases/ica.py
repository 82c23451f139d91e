"""Independent component analysis

`fit` on float64 rows: Laplace and uniform sources alternate, mixed by a random matrix. *Amari*: Amari distance between
the product of unmixing and mixing matrix and a permutation, from 0 to 1; lower is better. Most of it is due to the
finite number of rows. Each implementation has its default tolerance.
"""

from __future__ import annotations

import numpy as np

from benchmarks.case import Contender

sizes = {
    "quick": [{"n": 5000, "k": 8}],
    "full": [{"n": 100_000, "k": 40}],
}


def data(size):
    rng = np.random.default_rng(0)
    shape = (size["n"], size["k"])
    S = np.where(np.arange(size["k"]) % 2, rng.laplace(size=shape), rng.uniform(-1, 1, shape))
    mixing = rng.standard_normal((size["k"], size["k"]))
    return {"X": S @ mixing.T, "mixing": mixing}


def lowdim(**settings):
    def prepare(data, size, threads):
        from lowdim import ICA

        model = ICA(random_state=0, n_jobs=threads, **settings)
        return lambda: {"unmixing": model.fit(data["X"]).components_}

    return prepare


def scikit_learn(solver):
    def prepare(data, size, threads):
        from sklearn.decomposition import FastICA

        model = FastICA(size["k"], whiten="unit-variance", whiten_solver=solver, random_state=0)
        return lambda: {"unmixing": model.fit(data["X"]).components_}

    return prepare


def picard(**settings):
    def prepare(data, size, threads):
        from picard import picard as solve

        def run():
            K, W, _ = solve(data["X"].T, random_state=0, **settings)
            return {"unmixing": W @ K}

        return run

    return prepare


ours = {
    "lowdim fastica": Contender(lowdim(), "lowdim"),
    "lowdim infomax": Contender(lowdim(algorithm="infomax"), "lowdim"),
}
peers = {
    "scikit-learn eigh": Contender(scikit_learn("eigh"), "sklearn"),
    "scikit-learn svd": Contender(scikit_learn("svd"), "sklearn"),
    "picard (orthogonal)": Contender(picard(ortho=True), "picard"),
    "picard": Contender(picard(ortho=False, extended=True), "picard"),
}


def quality(data, size, results):
    return {name: {"Amari": amari(found["unmixing"] @ data["mixing"])} for name, found in results.items()}


def amari(P):
    """0 for a scaled permutation, at most 1."""
    P, k = np.abs(P), len(P)
    rows, columns = P / P.max(axis=1, keepdims=True), P / P.max(axis=0)
    return (rows.sum() + columns.sum() - 2 * k) / (2 * k * max(k - 1, 1))

"""Principal component analysis

`fit` on rows with a non-zero mean; float32 where nothing is said. A fit of a small table comes first and is not
measured. *error*: largest relative error of an explained variance, compared with float64. *X.T @ X* is the matrix
product alone (X @ X.T where there are more columns than rows): a lower bound for solvers that form it.
"""

from __future__ import annotations

import numpy as np

from benchmarks import data as sets
from benchmarks.case import Contender, Skip

sizes = {
    "quick": [{"n": 20000, "d": 50, "k": 10}, {"n": 500, "d": 2000, "k": 10}],
    "full": [
        {"n": 1_000_000, "d": 100, "k": 10},
        {"n": 20000, "d": 2000, "k": 50},
        {"n": 5000, "d": 20000, "k": 50},
        *(
            {"n": n, "d": d, "k": k, "dtype": dtype}
            for n, d, k in ((1000, 20, 2), (20000, 50, 10), (1000, 1000, 10), (5000, 1000, 500))
            for dtype in ("float32", "float64")
        ),
    ],
}


def data(size):
    return {"X": sets.low_rank(size["n"], size["d"]).astype(size.get("dtype", "float32"))}


def fitting(model, X):
    """The fit, once the model has imported and set up all that it needs."""
    model.fit(X[: 2 * max(20, model.n_components)])
    return lambda: {"values": model.fit(X).explained_variance_}


def lowdim(data, size, threads):
    from lowdim import PCA

    return fitting(PCA(size["k"], random_state=0, n_jobs=threads), data["X"])


def scikit_learn(solver):
    def prepare(data, size, threads):
        from sklearn.decomposition import PCA

        if solver == "covariance_eigh" and size["d"] > size["n"]:
            raise Skip("forms a covariance larger than the data")
        return fitting(PCA(size["k"], svd_solver=solver, random_state=0), data["X"])

    return prepare


def product(data, size, threads):
    X = data["X"]
    return lambda: {"C": (X.T @ X if size["d"] <= size["n"] else X @ X.T)[:1]}


ours = {"lowdim": Contender(lowdim, "lowdim")}
peers = {
    "X.T @ X": Contender(product, "numpy"),
    **{
        f"scikit-learn {solver}": Contender(scikit_learn(solver), "sklearn")
        for solver in ("auto", "covariance_eigh", "full", "randomized", "arpack")
    },
}


def quality(data, size, results):
    truth = exact(data["X"])[: size["k"]]
    solved = {name: found["values"] for name, found in results.items() if "values" in found}
    return {name: {"error": np.max(np.abs(values / truth - 1))} for name, values in solved.items()}


def exact(X):
    """Variances along the principal axes, from float64 sums."""
    mean = X.mean(axis=0, dtype=np.float64)
    wide = X.shape[1] > X.shape[0]
    if wide:
        centred = X - mean
        C = centred @ centred.T
    else:
        parts = (part - mean for part in np.array_split(X, max(1, len(X) // 50_000)))
        C = sum(part.T @ part for part in parts)
    return np.linalg.eigvalsh(C)[::-1] / (len(X) - 1)

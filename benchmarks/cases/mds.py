"""Multidimensional scaling by stress

Two dimensions. Data: the first 50 principal coordinates of MNIST (clusters where there is no MNIST); the initial map is
classical scaling. *accelerated* is the default of lowdim; *majorize* makes the same iterations as scikit-learn, at most
*steps*; *stochastic* does not store the pairs. A fit of 50 rows comes first and is not measured. *stress*: Kruskal's
stress at the best scale (with the best disparities for *level ordinal*); lower is better. *iterations*: those made.
"""

from __future__ import annotations

import warnings

import numpy as np

from benchmarks import data as sets
from benchmarks.case import Contender, Skip

sizes = {
    "quick": [{"level": "ratio", "n": 500, "steps": 300}, {"level": "ordinal", "n": 300, "steps": 50}],
    "full": [
        {"level": "ratio", "n": 1000, "steps": 300},
        {"level": "ratio", "n": 2000, "steps": 300},
        {"level": "ordinal", "n": 1000, "steps": 50},
        {"level": "ratio", "n": 10000, "steps": 1000},
    ],
}
TOL = 1e-6


def data(size):
    try:
        X = sets.principal(sets.real("mnist", size["n"]), 50)
    except Skip:
        X = sets.clusters(size["n"], 50)
    X = X.astype(np.float64)
    return {"X": X, "start": sets.principal(X, 2)}


def scaling(solver):
    def prepare(data, size, threads):
        from lowdim import MDS

        if solver == "stochastic" and (size["n"] < 3000 or size["level"] != "ratio"):
            raise Skip("measured from 3,000 rows on, level ratio")
        steps = size["steps"] if solver == "majorize" else 1000
        settings = {"level": size["level"], "solver": solver, "tol": TOL, "random_state": 0, "n_jobs": threads}
        model = MDS(2, init=data["start"], max_iter=steps, **settings)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # three steps are not enough, and need not be
            MDS(2, init=data["start"][:50], max_iter=3, **settings).fit(data["X"][:50])

        def run():
            Z = model.fit_transform(data["X"])
            return {"Z": Z, "steps": np.array(model.n_iter_)}

        return run

    return prepare


def scikit_learn(data, size, threads):
    from scipy.spatial.distance import pdist, squareform
    from sklearn.manifold import smacof

    if size["n"] > 5000:
        raise Skip("takes an hour")
    metric = size["level"] == "ratio"
    D = squareform(pdist(data["X"]))

    smacof(D[:50, :50], metric=metric, n_components=2, init=data["start"][:50], n_init=1, max_iter=3)

    def run():
        found = smacof(
            D, metric=metric, n_components=2, init=data["start"], n_init=1, max_iter=size["steps"], eps=TOL,
            return_n_iter=True,
        )  # fmt: skip
        return {"Z": found[0], "steps": np.array(found[2])}

    return run


ours = {
    "lowdim accelerated": Contender(scaling("accelerated"), "lowdim"),
    "lowdim majorize": Contender(scaling("majorize"), "lowdim"),
    "lowdim stochastic": Contender(scaling("stochastic"), "lowdim"),
}
peers = {"scikit-learn": Contender(scikit_learn, "sklearn")}


def quality(data, size, results):
    from scipy.optimize import isotonic_regression
    from scipy.spatial.distance import pdist

    delta = pdist(data["X"])
    order = np.argsort(delta)
    judged = {}
    for name, found in results.items():
        d = pdist(found["Z"])
        goal = delta if size["level"] == "ratio" else np.empty_like(d)
        if size["level"] == "ordinal":
            goal[order] = isotonic_regression(d[order]).x
        cosine = (goal @ d) ** 2 / ((goal @ goal) * (d @ d))
        judged[name] = {"stress": float(np.sqrt(max(1 - cosine, 0.0))), "iterations": float(found["steps"])}
    return judged


warnings.filterwarnings("ignore", message=".*not converged.*")
warnings.filterwarnings("ignore", category=FutureWarning)

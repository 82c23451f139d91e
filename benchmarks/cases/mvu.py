"""Maximum variance unfolding

Two dimensions, 5 neighbours, repair of short circuits by linearity, slack 0.0005, the Swiss roll. *landmarks 0* unfolds
all rows. No other Python library has the method. *lowdim exact* solves the semidefinite program with Clarabel, which is
possible for some tens of rows. *variance ratio*: trace of the Gram matrix, divided by that of the exact solution. *edge
error*: largest relative change of the distance between two neighbours, in all dimensions of the Gram matrix. *R²
sheet*: agreement with the flat coordinates of the roll, after rotation and scaling.
"""

from __future__ import annotations

import warnings

import numpy as np

from benchmarks import data as sets
from benchmarks.case import Contender, Skip

sizes = {
    "quick": [{"n": 30, "landmarks": 0}, {"n": 400, "landmarks": 0}],
    "full": [
        {"n": 45, "landmarks": 0},
        {"n": 500, "landmarks": 0},
        {"n": 1000, "landmarks": 0},
        {"n": 2000, "landmarks": 0},
        {"n": 20_000, "landmarks": 1000},
    ],
}
K = 5


def data(size):
    X, sheet = sets.swiss_roll(size["n"])
    return {"X": X, "sheet": sheet}


def fitted(data, size, threads, solver):
    from lowdim import MVU

    settings = {"n_neighbors": K, "repair": "linearity", "n_landmarks": size["landmarks"] or None, "n_jobs": threads}
    model = MVU(2, solver=solver, random_state=0, **settings)

    def run():
        model.fit(data["X"])
        return {"Z": model.embedding_, "judged": np.array([model.objective_, model.edge_error_])}

    return run


def lowdim(data, size, threads):
    return fitted(data, size, threads, "low_rank")


def exact(data, size, threads):
    if size["n"] > 60:
        raise Skip("takes minutes from 60 rows on")
    return fitted(data, size, threads, "exact")


ours = {"lowdim": Contender(lowdim, "lowdim"), "lowdim exact": Contender(exact, "clarabel")}
peers = {}


def quality(data, size, results):
    judged = {}
    for name, found in results.items():
        objective, error = found["judged"].tolist()
        judged[name] = {"edge error": error, "R² sheet": explained(data["sheet"], found["Z"])}
        if "lowdim exact" in results:
            judged[name]["variance ratio"] = objective / float(results["lowdim exact"]["judged"][0])
    return judged


def explained(sheet, Z):
    """R² after the best rotation, shift and scale."""
    A, B = sheet - sheet.mean(axis=0), Z - Z.mean(axis=0)
    s = np.linalg.svd(B.T @ A, compute_uv=False)
    return float(s.sum() ** 2 / (np.square(A).sum() * np.square(B).sum()))


warnings.filterwarnings("ignore", message=".*neighbour graph has.*")

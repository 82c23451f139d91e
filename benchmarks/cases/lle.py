"""LLE, modified, Hessian and LTSA

Two dimensions, 12 neighbours, the Swiss roll. *R² long side*, *R² short side*: the two flat coordinates of the roll as
affine functions of the map. The Hessian method of scikit-learn keeps the whole complement of the tangent space and so
equals its LTSA.
"""

from __future__ import annotations

import warnings

import numpy as np

from benchmarks import data as sets
from benchmarks.case import Contender

METHODS = ("standard", "modified", "hessian", "ltsa")
sizes = {
    "quick": [{"method": method, "n": 2000} for method in METHODS],
    "full": [*({"method": method, "n": 10000} for method in METHODS), {"method": "standard", "n": 50000}],
}
K = 12


def data(size):
    X, sheet = sets.swiss_roll(size["n"])
    return {"X": X, "sheet": sheet}


def lowdim(data, size, threads):
    from lowdim import LLE

    model = LLE(2, n_neighbors=K, method=size["method"], random_state=0, n_jobs=threads)
    return lambda: {"Z": model.fit_transform(data["X"])}


def scikit_learn(data, size, threads):
    from sklearn.manifold import LocallyLinearEmbedding

    settings = {"method": size["method"], "eigen_solver": "arpack", "random_state": 0, "n_jobs": threads}
    model = LocallyLinearEmbedding(n_components=2, n_neighbors=K, **settings)
    return lambda: {"Z": model.fit_transform(data["X"])}


ours = {"lowdim": Contender(lowdim, "lowdim")}
peers = {"scikit-learn": Contender(scikit_learn, "sklearn")}


def quality(data, size, results):
    judged = {name: recovered(data["sheet"], found["Z"]) for name, found in results.items()}
    return {name: {"R² long side": long, "R² short side": short} for name, (long, short) in judged.items()}


def recovered(sheet, Z):
    """R² of each coordinate of the sheet as an affine function of the map."""
    A = np.column_stack([np.ones(len(Z)), Z])
    left = sheet - A @ np.linalg.lstsq(A, sheet, rcond=None)[0]
    return (1 - np.square(left).sum(axis=0) / np.square(sheet - sheet.mean(axis=0)).sum(axis=0)).tolist()


warnings.filterwarnings("ignore", message=".*gap after the last axis.*")

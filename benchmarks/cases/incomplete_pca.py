"""PCA with missing cells

`fit` on float64 rows: rank 5 plus noise, 20 % of the cells missing at random, tolerance 1e-6. A fit of 50 rows comes
first and is not measured. *error*: largest difference between an imputed cell and the fixed point of the iteration,
relative to the noise; the fixed point is that of the plain iteration at 1e-12 (of lowdim where that takes too long).
*numpy plain* is the published iteration: a full SVD of the completed, centred table in each step. *em* is without
regularisation.
"""

from __future__ import annotations

import numpy as np

from benchmarks.case import Contender, Skip

NOISE = 1.0
LONG = 2_000_000  # cells up to which the plain iteration is run

sizes = {
    "quick": [{"n": 1000, "d": 200, "k": 5}],
    "full": [{"n": 1000, "d": 200, "k": 5}, {"n": 100_000, "d": 200, "k": 5}, {"n": 300, "d": 5000, "k": 5}],
}


def data(size):
    rng = np.random.default_rng(0)
    n, d, k = size["n"], size["d"], size["k"]
    X = rng.standard_normal((n, k)) @ rng.standard_normal((k, d)) + NOISE * rng.standard_normal((n, d)) + 3.0
    X[rng.random(X.shape) < 0.2] = np.nan
    return {"X": X}


def lowdim(method):
    def prepare(data, size, threads):
        from lowdim import PCA

        model = PCA(size["k"], missing=method, tol=1e-6, n_jobs=threads)
        model.fit(data["X"][:50])
        return lambda: {"completed": model.fit(data["X"]).completed_}

    return prepare


def plain(regularized):
    def prepare(data, size, threads):
        if data["X"].size > LONG:
            raise Skip("takes minutes")
        iterate(data["X"][:50], size["k"], regularized, 1e-3)
        return lambda: {"completed": iterate(data["X"], size["k"], regularized, 1e-6)}

    return prepare


def iterate(X, r, regularized, tol, most=5000):
    """Iterative PCA as published: fill in the means, then decompose, refill, and again."""
    holes, (n, d), last = np.isnan(X), X.shape, np.inf
    Z = np.where(holes, np.nanmean(X, axis=0), X)
    for step in range(most):
        mean = Z.mean(axis=0)
        U, s, Vt = np.linalg.svd(Z - mean, full_matrices=False)
        values = s**2 / n
        sigma2 = n * d / min(d, n - 1) * values[r:].sum() / ((n - 1 - r) * (d - r)) if regularized else 0.0
        shrunk = s[:r] * (1 - min(sigma2, values[r]) / values[:r])
        fit = mean + (U[:, :r] * shrunk) @ Vt[:r]
        loss = float(((X - fit)[~holes] ** 2).sum())
        Z = np.where(holes, fit, X)
        if step > 4 and abs(1 - loss / last) < tol:
            break
        last = loss
    return Z


ours = {"lowdim": Contender(lowdim("regularized"), "lowdim"), "lowdim em": Contender(lowdim("em"), "lowdim")}
peers = {
    "numpy plain": Contender(plain(regularized=True), "numpy"),
    "numpy plain em": Contender(plain(regularized=False), "numpy"),
}


def kept(result, data, size):
    """The first rows' missing cells are enough to compare."""
    return {"cells": result["completed"][:500][np.isnan(data["X"][:500])]}


def quality(data, size, results):
    X = data["X"]
    truth = {}
    for regularized in (True, False):
        if X.size <= LONG:
            found = iterate(X, size["k"], regularized, 1e-12)
        else:
            from lowdim import PCA

            found = PCA(size["k"], missing="regularized" if regularized else "em", tol=1e-12).fit(X).completed_
        truth[regularized] = found[:500][np.isnan(X[:500])]
    return {
        name: {"error": np.abs(found["cells"] - truth[not name.endswith("em")]).max() / NOISE}
        for name, found in results.items()
        if "cells" in found
    }

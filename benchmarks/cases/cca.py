"""Canonical correlation analysis

`fit` on two tables of 50 columns that share 10 directions; 5 pairs of components. *error*: largest error of a canonical
correlation, compared with an SVD in float64. *Cholesky* is the textbook solution in a few lines of numpy.
"""

from __future__ import annotations

import numpy as np

from benchmarks.case import Contender

sizes = {
    "quick": [{"n": 2000, "d": 50, "k": 5}],
    "full": [{"n": 10_000, "d": 50, "k": 5}, {"n": 200_000, "d": 50, "k": 5}],
}


def data(size):
    rng = np.random.default_rng(0)
    shared = rng.standard_normal((size["n"], 10))
    return {
        name: shared @ rng.standard_normal((10, size["d"])) + 3 * rng.standard_normal((size["n"], size["d"])) + 5
        for name in ("X", "Y")
    }


def lowdim(data, size, threads):
    from lowdim import CCA

    model = CCA(size["k"], n_jobs=threads)
    return lambda: {"correlations": model.fit(data["X"], data["Y"]).correlations_}


def scikit_learn(data, size, threads):
    from sklearn.cross_decomposition import CCA

    model = CCA(size["k"])

    def run():
        model.fit(data["X"], data["Y"])
        return {"x": model.x_rotations_, "y": model.y_rotations_}

    return run


def cholesky(data, size, threads):
    X, Y = data["X"], data["Y"]

    def run():
        Xc, Yc = X - X.mean(axis=0), Y - Y.mean(axis=0)
        Lx, Ly = np.linalg.cholesky(Xc.T @ Xc), np.linalg.cholesky(Yc.T @ Yc)
        K = np.linalg.solve(Ly, np.linalg.solve(Lx, Xc.T @ Yc).T)
        return {"correlations": np.linalg.svd(K)[1][: size["k"]]}

    return run


ours = {"lowdim": Contender(lowdim, "lowdim")}
peers = {"scikit-learn": Contender(scikit_learn, "sklearn"), "Cholesky": Contender(cholesky, "numpy")}


def quality(data, size, results):
    truth = exact(data["X"], data["Y"])[: size["k"]]
    return {name: {"error": np.max(np.abs(_found(data, result) - truth))} for name, result in results.items()}


def _found(data, result):
    """The correlations, or those of the scores where only weights are given."""
    if "correlations" in result:
        return result["correlations"]
    scores = [(data[name] - data[name].mean(axis=0)) @ result[name.lower()] for name in ("X", "Y")]
    Zx, Zy = (Z / np.linalg.norm(Z, axis=0) for Z in scores)
    return (Zx * Zy).sum(axis=0)


def exact(X, Y):
    """Cosines of the angles between the two column spaces."""
    Qx, Qy = (np.linalg.qr(T - T.mean(axis=0))[0] for T in (X, Y))
    return np.linalg.svd(Qx.T @ Qy, compute_uv=False)

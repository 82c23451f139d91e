"""Principal curves

Data: rows around a rising spiral; the initial curve is a coarse polyline along it. *fit*: the algorithm of Hastie and
Stuetzle, ten iterations, splines with 20 degrees of freedom. *projection*: nearest points on a polyline with as many
segments as rows. *numpy* compares each row with every segment, as the R package princurve does (in C++). *mean squared
distance*: from the rows to the curve; lower is better.
"""

from __future__ import annotations

import warnings

import numpy as np

from benchmarks.case import Contender, Skip
from benchmarks.internal import core

sizes = {
    "quick": [{"task": "projection", "n": 2000}, {"task": "fit", "n": 2000}],
    "full": [
        {"task": "projection", "n": 10000},
        {"task": "fit", "n": 10000},
        {"task": "projection", "n": 100000},
        {"task": "fit", "n": 100000},
    ],
}
DF, PASSES = 20.0, 10


def data(size):
    rng = np.random.default_rng(0)
    t = 4 * np.pi * np.sqrt(rng.random(size["n"]))
    X = spiral(t) + 0.1 * rng.standard_normal((len(t), 3))
    return {
        "X": X,
        "curve": spiral(np.linspace(0, 4 * np.pi, size["n"] + 1)),
        "start": spiral(np.linspace(0, 12.5, 30)),
    }


def spiral(t):
    return np.column_stack([t * np.cos(t), t * np.sin(t), 2 * t])


def lowdim(data, size, threads):
    from lowdim import PrincipalCurve

    if size["task"] == "projection":
        polyline = core("Polyline")
        return lambda: {"squared": polyline(data["curve"]).project(data["X"], threads).squared}
    model = PrincipalCurve(df=DF, init=data["start"], tol=0.0, max_iter=PASSES, n_jobs=threads)
    return lambda: {"squared": np.square(model.fit(data["X"]).distance_)}


def numpy(data, size, threads):
    from scipy.interpolate import make_lsq_spline

    if size["n"] > 10000:
        raise Skip("would take hours")
    if size["task"] == "projection":
        return lambda: {"squared": nearest(data["X"], data["curve"])[1]}

    def fit():
        """A segment for each row, and unpenalised splines: the smoothing costs next to nothing here."""
        X, (t, squared) = data["X"], nearest(data["X"], data["start"])
        for _ in range(PASSES):
            order = np.argsort(t)
            u = t[order] + 1e-9 * np.arange(len(t))
            knots = np.concatenate([[u[0]] * 4, np.quantile(u, np.linspace(0, 1, int(DF) - 2)[1:-1]), [u[-1]] * 4])
            t, squared = nearest(X, make_lsq_spline(u, X[order], knots)(u))
        return {"squared": squared}

    return fit


def nearest(X, chain):
    """Length up to the nearest point, and its squared distance."""
    a, u = chain[:-1], np.diff(chain, axis=0)
    length = np.maximum(np.square(u).sum(axis=1), 1e-300)
    ends = np.concatenate([[0.0], np.cumsum(np.sqrt(length))])
    t, squared = np.empty(len(X)), np.empty(len(X))
    for i, x in enumerate(X):
        share = np.clip(((x - a) * u).sum(axis=1) / length, 0, 1)
        distances = np.square(x - a - share[:, None] * u).sum(axis=1)
        j = distances.argmin()
        t[i], squared[i] = ends[j] + share[j] * np.sqrt(length[j]), distances[j]
    return t, squared


ours = {"lowdim": Contender(lowdim, "lowdim")}
peers = {"numpy": Contender(numpy, "numpy")}


def quality(data, size, results):
    return {name: {"mean squared distance": float(found["squared"].mean())} for name, found in results.items()}


warnings.filterwarnings("ignore", message=".*not converged.*")

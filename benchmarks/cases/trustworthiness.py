"""Trustworthiness and continuity

With 12 neighbours, exact, for the first two principal coordinates of clusters in 50 dimensions. lowdim computes both
measures, scikit-learn only the first. *difference*: from the value of scikit-learn.
"""

from __future__ import annotations

import numpy as np

from benchmarks import data as sets
from benchmarks.case import Contender, Skip

sizes = {
    "quick": [{"n": 1000}],
    "full": [{"n": 2000}, {"n": 10000}, {"n": 50000}],
}
K = 12


def data(size):
    X = sets.clusters(size["n"], 50).astype(np.float64)
    return {"X": X, "Z": sets.principal(X, 2)}


def lowdim(data, size, threads):
    from lowdim.quality import trustworthiness_continuity

    def run():
        both = trustworthiness_continuity(data["X"], data["Z"], K, anchors=None, n_jobs=threads)
        return dict(zip(("trustworthiness", "continuity"), both, strict=True))

    return run


def scikit_learn(data, size, threads):
    from sklearn.manifold import trustworthiness

    if size["n"] > 20_000:
        raise Skip(f"needs about {3 * 8 * size['n'] ** 2 / 1e9:.0f} GB")
    return lambda: {"trustworthiness": trustworthiness(data["X"], data["Z"], n_neighbors=K)}


ours = {"lowdim": Contender(lowdim, "lowdim")}
peers = {"scikit-learn": Contender(scikit_learn, "sklearn")}


def quality(data, size, results):
    judged = {name: dict(found) for name, found in results.items()}
    if len(results) == 2:
        mine, peer = (float(found["trustworthiness"]) for found in results.values())
        judged["lowdim"]["difference"] = abs(mine - peer)
    return judged

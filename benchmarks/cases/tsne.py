"""t-SNE of MNIST

The 50 leading principal coordinates of so many rows, perplexity 30, 250 steps under early exaggeration and 500 after
them for everybody, neighbours included. *KL*: the divergence of the returned map on one and the same P (90 exact
neighbours), summed over all pairs; up to 20,000 rows. *10-NN kept*: share of the ten nearest neighbours of 1,000 rows
that are among the ten nearest in the map. *1-NN error*: share of 5,000 rows whose nearest row in the map is of another
class.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from benchmarks import data as sets
from benchmarks.case import Contender, Skip

sizes = {
    "quick": [{"set": "clusters-50", "n": 2000}],
    "full": [{"set": "mnist-50", "n": 10000}, {"set": "mnist-50", "n": 70000}],
}
JUDGED, MOST_PAIRS = 1000, 20_000


def data(size):
    if size["set"] == "clusters-50":
        return {"X": sets.clusters(size["n"], 50)}
    X = sets.principal(sets.real("mnist"), 50)
    with np.load(Path(os.environ["LOWDIM_DATA"]) / "mnist.npz", allow_pickle=False) as archive:
        labels = archive["y"].astype(np.int64)
    rows = np.sort(np.random.default_rng(0).permutation(len(X))[: size["n"]])
    return {"X": X[rows], "labels": labels[rows]}


def lowdim_with(**settings):
    def prepare(data, size, threads):
        from lowdim import TSNE

        return lambda: {"Z": TSNE(n_jobs=threads, **settings).fit_transform(data["X"])}

    return prepare


def scikit_learn(data, size, threads):
    from sklearn.manifold import TSNE

    if size["n"] > 20_000:
        raise Skip("takes tens of minutes")
    model = TSNE(n_jobs=threads, max_iter=750, random_state=0)
    return lambda: {"Z": model.fit_transform(data["X"])}


def open_tsne(method):
    def prepare(data, size, threads):
        from openTSNE import TSNE

        model = TSNE(n_jobs=threads, negative_gradient_method=method, random_state=0)
        return lambda: {"Z": np.asarray(model.fit(data["X"]))}

    return prepare


ours = {
    "lowdim": Contender(lowdim_with(), "lowdim"),
    "lowdim, grid": Contender(lowdim_with(solver="fft"), "lowdim"),
}
peers = {
    "scikit-learn": Contender(scikit_learn, "sklearn"),
    "openTSNE fft": Contender(open_tsne("fft"), "openTSNE"),
    "openTSNE bh": Contender(open_tsne("bh"), "openTSNE"),
}


def quality(data, size, results):
    from lowdim._core.neighbors import nearest
    from lowdim.neighbor_embedding import _affinity

    X, n = data["X"], size["n"]
    judged = np.sort(np.random.default_rng(1).permutation(n)[: 5 * JUDGED])
    true = nearest(X, 11, queries=X[judged[::5]]).indices
    P = None
    if n <= MOST_PAIRS:
        P = _affinity.joint(_affinity.weights(_affinity.as_graph(nearest(X, 90), n), perplexity=30.0))
    found = {}
    for name, result in results.items():
        Z = np.ascontiguousarray(result["Z"], np.float64)
        near = nearest(Z, 11, queries=Z[judged]).indices
        found[name] = {"10-NN kept": _kept(true, near[::5], judged[::5])}
        if "labels" in data:
            first = np.where(near[:, 0] == judged, near[:, 1], near[:, 0])
            found[name]["1-NN error"] = np.mean(data["labels"][first] != data["labels"][judged])
        if P is not None:
            found[name]["KL"] = divergence(P, Z)
    return found


def _kept(true, near, own):
    pairs = zip(true, near, own, strict=True)
    return np.mean([len((set(a) - {i}) & (set(b) - {i})) / (len(set(a) - {i})) for a, b, i in pairs])


def divergence(P, Z):
    """KL(P || Q), all pairs, some rows at a time."""
    total = 0.0
    for start in range(0, len(Z), 500):
        offsets = Z[start : start + 500, None] - Z
        total += (1 / (1 + np.einsum("ijc,ijc->ij", offsets, offsets))).sum()
    i, j = P.nonzero()
    s = ((Z[i] - Z[j]) ** 2).sum(axis=1)
    return float((P.data * (np.log(P.data) + np.log1p(s))).sum() + np.log(total - len(Z)))

"""t-SNE of MNIST

Data: the 50 leading principal coordinates of n rows of MNIST. Perplexity 30; 250 iterations with early exaggeration and
500 without it for all implementations. The time includes the search for neighbours. *KL*: Kullback-Leibler divergence
of the returned map, over all pairs, with the same P for all (90 exact neighbours); only up to 20,000 rows; lower is
better. *10-NN kept*: share of the ten nearest neighbours of 1,000 rows that are among the ten nearest in the map. *1-NN
error*: share of 5,000 rows whose nearest row in the map has another label. *lowdim, grid* is `solver="fft"`.
"""

from __future__ import annotations

import numpy as np

from benchmarks import maps
from benchmarks.case import Contender, Skip

sizes = {
    "quick": [{"set": "clusters-50", "n": 2000}],
    "full": [{"set": "mnist-50", "n": 10000}, {"set": "mnist-50", "n": 70000}],
}
MOST_PAIRS = 20_000


def data(size):
    return maps.rows(size)


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
    Z = {name: np.ascontiguousarray(result["Z"], np.float64) for name, result in results.items()}
    found = maps.measured(data, Z)
    if size["n"] <= MOST_PAIRS:
        P = maps.joint_probabilities(data["X"], 30.0, 90)
        for name in found:
            found[name]["KL"] = maps.divergence(P, Z[name])
    return found

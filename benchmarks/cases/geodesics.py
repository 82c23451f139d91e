"""Lengths of shortest paths

Graph of the 10 nearest neighbours; lengths of the shortest paths from *sources* rows to all rows. *error*: largest
relative difference from scipy's lengths, for about 20 sources. scipy uses one thread.
"""

from __future__ import annotations

import numpy as np

from benchmarks import data as sets
from benchmarks.case import Contender
from benchmarks.internal import core

sizes = {
    "quick": [{"set": "swiss-roll", "n": 2000, "sources": 2000}],
    "full": [
        {"set": "swiss-roll", "n": 5000, "sources": 5000},
        {"set": "swiss-roll", "n": 10000, "sources": 10000},
        {"set": "swiss-roll", "n": 100000, "sources": 500},
        {"set": "mnist-50", "n": 10000, "sources": 10000},
        {"set": "mnist-50", "n": 70000, "sources": 500},
    ],
}


def data(size):
    roll = size["set"] == "swiss-roll"
    X = sets.swiss_roll(size["n"])[0] if roll else sets.principal(sets.real("mnist"), 50)[: size["n"]]
    G = sets.neighbor_graph(X.astype(np.float64), 10)
    sources = np.random.default_rng(0).permutation(size["n"])[: size["sources"]]
    return {"lengths": G.data, "columns": G.indices, "rows": G.indptr, "sources": np.sort(sources)}


def graph(data):
    from scipy.sparse import csr_array

    n = len(data["rows"]) - 1
    return csr_array((data["lengths"], data["columns"], data["rows"]), shape=(n, n))


def lowdim(data, size, threads):
    geodesics, G = core("geodesics"), graph(data)
    return lambda: {"D": geodesics(G, data["sources"], n_jobs=threads)}


def scipy(data, size, threads):
    from scipy.sparse.csgraph import dijkstra

    G = graph(data)
    return lambda: {"D": dijkstra(G, directed=False, indices=data["sources"])}


ours = {"lowdim": Contender(lowdim, "lowdim")}
peers = {"scipy dijkstra": Contender(scipy, "scipy")}


def kept(result, data, size):
    return {"D": result["D"][:: max(1, size["sources"] // 20)]}


def quality(data, size, results):
    from scipy.sparse.csgraph import dijkstra

    some = data["sources"][:: max(1, size["sources"] // 20)]
    truth = dijkstra(graph(data), directed=False, indices=some)
    return {name: {"error": error(truth, found["D"])} for name, found in results.items()}


def error(truth, found):
    reached = np.isfinite(truth)
    if not np.array_equal(reached, np.isfinite(found)):
        return np.inf
    return np.max(np.abs(found - truth)[reached] / np.maximum(truth[reached], 1e-300))

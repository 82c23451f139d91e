"""Repair of short circuits in a neighbour graph

Data: Swiss rolls (noise 0.05, 10 neighbours) with five rows added half-way between two turns. Each of them connects the
turns (a short circuit). No other library looks for them. The graph is given; the time is that of the repair. *bridges
found*: added rows for which an edge is reported (of 5). *false alarms %*: percentage of the edges along the sheet that
are reported. *path correlation*: between path lengths and distances on the sheet, in the repaired graph; *before
repair*: the same in the given graph.
"""

from __future__ import annotations

import numpy as np

from benchmarks import data as sets
from benchmarks.case import Contender
from benchmarks.internal import core

sizes = {
    "quick": [{"n": 1500}],
    "full": [{"n": 1500}, {"n": 5000}, {"n": 30_000}],
}
K, BRIDGES = 10, 5


def data(size):
    from lowdim.datasets import swiss_roll

    roll, rng = swiss_roll(size["n"], 0.05, random_state=0), np.random.default_rng(0)
    t, h = rng.uniform(1.5 * np.pi, 2.5 * np.pi, BRIDGES), rng.uniform(3, 27, BRIDGES)
    between = np.column_stack([(t + np.pi) * np.cos(t), h, (t + np.pi) * np.sin(t)])
    return {"X": np.vstack([roll.X, between]), "sheet": roll.isometric_coordinates}


def repair_by(method):
    def prepare(data, size, threads):
        repaired, G = core("repaired"), sets.neighbor_graph(data["X"], K)

        def run():
            found = repaired(G, method, rows=lambda: data["X"], n_components=2, n_neighbors=K, n_jobs=threads)
            left = found.graph
            return {"edges": found.edges, "data": left.data, "indices": left.indices, "indptr": left.indptr}

        return run

    return prepare


ours = {f"lowdim {name}": Contender(repair_by(name), "lowdim") for name in ("linearity", "flow", "stability")}
peers = {}


def quality(data, size, results):
    from scipy.sparse import csr_array

    X, sheet, G = data["X"], data["sheet"], sets.neighbor_graph(data["X"], K)
    judged, before = {}, agreement(G, sheet)
    for name, found in results.items():
        i, j = found["edges"].T
        planted = sum(bool((found["edges"] == p).any()) for p in range(len(sheet), len(X)))
        i, j = (ends[(i < len(sheet)) & (j < len(sheet))] for ends in (i, j))
        along = np.linalg.norm(sheet[i] - sheet[j], axis=1) < 2.5 * np.linalg.norm(X[i] - X[j], axis=1)
        left = csr_array((found["data"], found["indices"], found["indptr"]), shape=G.shape)
        judged[name] = {"bridges found": planted, "false alarms %": 200 * float(along.sum()) / G.nnz}
        judged[name] |= {"path correlation": agreement(left, sheet), "before repair": before}
    return judged


def agreement(G, sheet):
    """Correlation of path lengths from 50 rows with distances on the sheet."""
    from scipy.sparse.csgraph import dijkstra

    some = np.linspace(0, len(sheet) - 1, 50).astype(int)
    true = np.linalg.norm(sheet[some, None] - sheet, axis=2)
    return float(np.corrcoef(dijkstra(G, indices=some)[:, : len(sheet)].ravel(), true.ravel())[0, 1])

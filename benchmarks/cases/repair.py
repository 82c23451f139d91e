"""Short circuits found and taken out

Swiss rolls (noise 0.05, 10 neighbours) with five rows planted half-way between turns. No other library looks for them;
the time is that of the repair alone, the graph being there. *Found*: planted rows of which an edge is suspected.
*False*: percentage of the edges along the sheet that are suspected. *Paths*: correlation of path lengths with distances
on the sheet, *as it was* in the graph with its short circuits.
"""

from __future__ import annotations

import numpy as np

from benchmarks.case import Contender

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


def mended(method):
    def prepare(data, size, threads):
        from lowdim._core.graph.repair import repaired

        G = graph(data["X"])

        def run():
            found = repaired(G, method, rows=lambda: data["X"], n_components=2, n_neighbors=K, n_jobs=threads)
            left = found.graph
            return {"edges": found.edges, "data": left.data, "indices": left.indices, "indptr": left.indptr}

        return run

    return prepare


def graph(X):
    from lowdim._core.graph import neighbor_graph
    from lowdim._core.neighbors import nearest

    return neighbor_graph(nearest(X, K))


ours = {name: Contender(mended(name), "lowdim") for name in ("linearity", "flow", "stability")}
peers = {}


def quality(data, size, results):
    from scipy.sparse import csr_array

    X, sheet, G = data["X"], data["sheet"], graph(data["X"])
    judged, before = {}, agreement(G, sheet)
    for name, found in results.items():
        i, j = found["edges"].T
        planted = sum(bool((found["edges"] == p).any()) for p in range(len(sheet), len(X)))
        i, j = (ends[(i < len(sheet)) & (j < len(sheet))] for ends in (i, j))
        along = np.linalg.norm(sheet[i] - sheet[j], axis=1) < 2.5 * np.linalg.norm(X[i] - X[j], axis=1)
        left = csr_array((found["data"], found["indices"], found["indptr"]), shape=G.shape)
        judged[name] = {"found": planted, "false": 200 * float(along.sum()) / G.nnz}
        judged[name] |= {"paths": agreement(left, sheet), "as it was": before}
    return judged


def agreement(G, sheet):
    """Correlation of path lengths from 50 rows with distances on the sheet."""
    from scipy.sparse.csgraph import dijkstra

    some = np.linspace(0, len(sheet) - 1, 50).astype(int)
    true = np.linalg.norm(sheet[some, None] - sheet, axis=2)
    return float(np.corrcoef(dijkstra(G, indices=some)[:, : len(sheet)].ravel(), true.ravel())[0, 1])

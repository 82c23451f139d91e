"""Connected components and the smoothest functions of a graph on a device, to begin a map with.

The eigenvectors L y = l D y with the smallest l > 0 are those of D^-1/2 W D^-1/2 with the largest eigenvalues below 1.
They are found by Lanczos' method, orthogonalised twice and restarted with its best vectors (Wu and Simon, 2000).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lowdim._core.gpu.affinities import Graph
from lowdim._core.gpu.attraction import MOST_EDGES

BASIS = 80  # vectors kept between two restarts
PRODUCTS = 2000  # at most; what is found by then is an initialisation all the same
ROUGH, FINEST, SHARE = 1e-3, 1e-6, 0.1  # residuals: at most so large, no smaller than needed, and a share of l


def labels_of(device: Any, rows: Any, ends: Any, n: int) -> Any:
    """The least number of a row that a path leads to, for each of n rows joined by edges in both directions.

    Each row takes the least number among its neighbours, and jumps to what that took.
    """
    torch = device.torch
    label = torch.arange(n, device=ends.device)
    while True:
        jumped = label[label]
        offers, found = jumped[ends], jumped.clone()
        found.scatter_reduce_(0, label[rows], offers, "amin")
        found.scatter_reduce_(0, rows, offers, "amin")
        if torch.equal(found, label):
            return label
        label = found


def multiply(graph: Graph, weights: Any, x: Any) -> Any:
    """The matrix of the graph, with these weights, times a vector; rows are summed in order."""
    device, n = graph.device, len(graph.starts) - 1
    if device.fused is not None:
        return device.fused.multiply(graph.starts, graph.ends, weights, x)
    if len(weights) <= MOST_EDGES:
        return device.torch.segment_reduce(x[graph.ends] * weights, "sum", offsets=graph.starts, initial=0)
    out, starts = x.new_empty(n), graph.starts
    rows = max(1, n * MOST_EDGES // len(weights))
    for row in range(0, n, rows):
        here = starts[row : row + rows + 1]
        low, high = int(here[0]), int(here[-1])
        products = x[graph.ends[low:high]] * weights[low:high]
        out[row : row + rows] = device.torch.segment_reduce(products, "sum", offsets=here - low, initial=0)
    return out


def smoothest(graph: Graph, k: int, rng: np.random.Generator) -> np.ndarray | None:
    """The k eigenvectors of the smallest eigenvalues above 0 of a connected graph, to a few digits, signs arbitrary.

    Parameters
    ----------
    graph : Graph
        Symmetric, connected.
    k : int
        How many.
    rng : Generator
        For the first vector.

    Returns
    -------
    ndarray of shape (n, k) or None
        None for a graph so small that a dense method should find them.
    """
    torch, n = graph.device.torch, len(graph.starts) - 1
    if n <= BASIS + k + 1:
        return None
    degrees = torch.segment_reduce(graph.weights, "sum", offsets=graph.starts, initial=0)
    roots = degrees.sqrt()
    weights = graph.weights / (roots[graph.rows] * roots[graph.ends])
    constant = roots / roots.norm()
    V = weights.new_empty((BASIS + 1, n))
    V[0] = graph.device.tensor(rng.standard_normal(n))
    V[0] -= (constant @ V[0]) * constant
    V[0] /= V[0].norm()
    H, kept = weights.new_zeros((BASIS, BASIS)), 0
    for _ in range(PRODUCTS // (BASIS // 2)):
        last: Any = None
        for j in range(kept, BASIS):
            last = _extend(graph, weights, constant, V, H, j)
        values, Y = np.linalg.eigh(H.cpu().numpy())
        values, Y = values[::-1], np.ascontiguousarray(Y[:, ::-1])
        residuals = float(last) * np.abs(Y[-1, :k])
        kept = BASIS // 2
        V[:kept] = graph.device.tensor(np.ascontiguousarray(Y[:, :kept].T)) @ V[:BASIS]
        if residuals.max() <= min(ROUGH, max(SHARE * float(1 - values[0]), FINEST)):
            break
        V[kept] = V[BASIS]
        H.zero_()
        H.diagonal()[:kept] = graph.device.tensor(values[:kept].copy())
    return np.asarray((V[:k] / roots).T.cpu().numpy())


def _extend(graph: Graph, weights: Any, constant: Any, V: Any, H: Any, j: int) -> Any:
    """The next vector of the basis and column of the projected matrix; the norm of what the basis does not hold."""
    w = multiply(graph, weights, V[j])
    w -= (constant @ w) * constant
    column = V[: j + 1] @ w
    w -= column @ V[: j + 1]
    again = V[: j + 1] @ w
    w -= again @ V[: j + 1]
    w -= (constant @ w) * constant
    column += again
    H[: j + 1, j] = column
    H[j, : j + 1] = column
    size = w.norm()
    V[j + 1] = w / size.clamp(min=1e-300)
    return size

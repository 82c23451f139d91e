"""Data and measures of quality that t-SNE and UMAP have in common."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import data as sets

NEAR = 10
JUDGED = 1000  # rows whose neighbours are compared; five times as many for the class of the nearest row


def rows(size: dict[str, Any]) -> dict[str, np.ndarray]:
    """So many rows of MNIST in 50 principal coordinates with their classes, or clusters."""
    if size["set"] == "clusters-50":
        return {"X": sets.clusters(size["n"], 50)}
    X = sets.principal(sets.real("mnist"), 50)
    with np.load(Path(os.environ["LOWDIM_DATA"]) / "mnist.npz", allow_pickle=False) as archive:
        labels = archive["y"].astype(np.int64)
    some = np.sort(np.random.default_rng(0).permutation(len(X))[: size["n"]])
    return {"X": X[some], "labels": labels[some]}


def measured(data: dict[str, np.ndarray], maps: dict[str, np.ndarray]) -> dict[str, dict[str, float]]:
    """Share of the neighbours kept, and share of rows whose nearest row in the map is of another class."""
    n = len(data["X"])
    judged = np.sort(np.random.default_rng(1).permutation(n)[: 5 * JUDGED])
    true, found = _nearest(data["X"], judged[::5]), {}
    for name, Z in maps.items():
        near = _nearest(Z, judged)
        found[name] = {"10-NN kept": _kept(true, near[::5], judged[::5])}
        if "labels" in data:
            first = np.where(near[:, 0] == judged, near[:, 1], near[:, 0])
            found[name]["1-NN error"] = float(np.mean(data["labels"][first] != data["labels"][judged]))
    return found


def _nearest(X: np.ndarray, queries: np.ndarray) -> np.ndarray:
    """The nearest rows of some rows, usually with the row itself among them."""
    from sklearn.neighbors import NearestNeighbors

    return NearestNeighbors(n_neighbors=NEAR + 1).fit(X).kneighbors(X[queries], return_distance=False)


def _kept(true: np.ndarray, near: np.ndarray, own: np.ndarray) -> float:
    pairs = zip(true.tolist(), near.tolist(), own.tolist(), strict=True)
    return float(np.mean([len((set(a) - {i}) & (set(b) - {i})) / len(set(a) - {i}) for a, b, i in pairs]))


def joint_probabilities(X: np.ndarray, perplexity: float, k: int) -> Any:
    """P of t-SNE on k exact neighbours: Gaussians of the given perplexity for each row, made symmetric, sum 1."""
    from scipy.sparse import csr_array
    from sklearn.neighbors import NearestNeighbors

    distances, indices = NearestNeighbors(n_neighbors=k).fit(X).kneighbors()
    squares = np.square(distances, dtype=np.float64)
    low, high = np.full((len(X), 1), -60.0), np.full((len(X), 1), 60.0)  # of log beta, by bisection
    for _ in range(100):
        middle = (low + high) / 2
        P = _gaussian(squares, middle)
        entropy = -(P * np.log(np.maximum(P, 1e-300))).sum(axis=1, keepdims=True)
        wide = entropy > np.log(perplexity)
        low, high = np.where(wide, middle, low), np.where(wide, high, middle)
    P = csr_array((_gaussian(squares, high).ravel(), indices.ravel(), np.arange(0, indices.size + 1, k)), (len(X),) * 2)
    both = (P + P.T).tocsr()
    both.data /= both.data.sum()
    both.eliminate_zeros()
    return both


def _gaussian(squares: np.ndarray, log_beta: np.ndarray) -> np.ndarray:
    P = np.exp(-np.exp(log_beta) * (squares - squares[:, :1]))
    return P / P.sum(axis=1, keepdims=True)


def divergence(P: Any, Z: np.ndarray) -> float:
    """KL(P || Q) of a map, all pairs, some rows at a time."""
    total = 0.0
    for start in range(0, len(Z), 500):
        offsets = Z[start : start + 500, None] - Z
        total += (1 / (1 + np.einsum("ijc,ijc->ij", offsets, offsets))).sum()
    i, j = P.nonzero()
    s = ((Z[i] - Z[j]) ** 2).sum(axis=1)
    return float((P.data * (np.log(P.data) + np.log1p(s))).sum() + np.log(total - len(Z)))

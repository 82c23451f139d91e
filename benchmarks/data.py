"""Rows to measure on: generated ones, and real ones from the folder that LOWDIM_DATA names."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.case import Skip


def real(name: str, rows: int | None = None) -> np.ndarray:
    """Rows of NAME.npz as float32, in their order or so many drawn at random."""
    folder = os.environ.get("LOWDIM_DATA")
    if not folder:
        raise Skip(f"needs {name}.npz; set LOWDIM_DATA to the folder that holds it")
    path = Path(folder) / f"{name}.npz"
    if not path.is_file():
        raise Skip(f"needs {name}.npz, which is not in the folder LOWDIM_DATA")
    with np.load(path, allow_pickle=False) as archive:
        X = archive["X"]
    if rows is not None and rows < len(X):
        X = X[np.sort(np.random.default_rng(0).choice(len(X), rows, replace=False))]
    return X.astype(np.float32)


def principal(X: np.ndarray, k: int) -> np.ndarray:
    """The first k principal coordinates, in the precision of X."""
    centred = X - X.mean(axis=0)
    _, axes = np.linalg.eigh(np.asarray(centred.T @ centred, np.float64))
    return np.ascontiguousarray(centred @ axes[:, : -k - 1 : -1].astype(X.dtype))


def clusters(n: int, d: int, *, groups: int = 20, seed: int = 0) -> np.ndarray:
    """Overlapping groups of rows that each fill about ten directions, as images do; float32."""
    rng = np.random.default_rng(seed)
    X = np.empty((n, d), np.float32)
    member = rng.integers(groups, size=n)
    for g in range(groups):
        mine, inner = np.flatnonzero(member == g), min(10, d)
        X[mine] = 2 * rng.normal(size=d) + rng.normal(size=(len(mine), inner)) @ rng.normal(size=(inner, d))
    return X + 0.3 * rng.standard_normal((n, d), np.float32)


def low_rank(n: int, d: int, *, rank: int = 60, mean: float = 1.0, noise: float = 0.1, seed: int = 0) -> np.ndarray:
    """Rows with a decaying spectrum above a floor of noise and a mean that is not zero; float32."""
    rng = np.random.default_rng(seed)
    rank = min(rank, d)
    axes = np.linalg.qr(rng.normal(size=(d, rank)))[0] * (10.0 / np.arange(1, rank + 1))
    axes = np.ascontiguousarray(axes.T, np.float32)
    X = np.empty((n, d), np.float32)
    for start in range(0, n, 20_000):
        part = X[start : start + 20_000]
        part[:] = rng.standard_normal((len(part), rank), np.float32) @ axes
        part += np.float32(noise) * rng.standard_normal(part.shape, np.float32)
    return X + np.float32(mean)


def swiss_roll(n: int) -> Any:
    """Rows of the Swiss roll and the coordinates of the sheet it was rolled from."""
    from lowdim.datasets import swiss_roll as make

    made = make(n, random_state=0)
    return made.X, made.isometric_coordinates


def neighbor_graph(X: np.ndarray, k: int) -> Any:
    """Edges between each row and its k nearest rows, both directions stored, with their lengths (by scikit-learn)."""
    from scipy.sparse import csr_array
    from sklearn.neighbors import kneighbors_graph

    A = csr_array(kneighbors_graph(X, k, mode="distance"))
    G = csr_array(A.maximum(A.T))
    G.sort_indices()
    return G


def abundances(n: int, d: int, *, groups: int = 30, seed: int = 0) -> np.ndarray:
    """Counts of d species at n places of some habitats: not negative, many zeros, a few large; float32."""
    rng = np.random.default_rng(seed)
    habitats = rng.gamma(0.4, size=(groups, d)) * rng.pareto(1.5, size=d)
    means = habitats[rng.integers(groups, size=n)] * rng.lognormal(0.0, 0.4, (n, 1))
    return rng.poisson(rng.gamma(4.0, 5.0 * means)).astype(np.float32)


def fingerprints(n: int, bits: int = 2048, *, seed: int = 0) -> np.ndarray:
    """Rows of True and False as of molecules: about fifty True, families of about fifty rows, common and rare columns.

    A row keeps four of five columns of its family and has eight of its own.
    """
    rng = np.random.default_rng(seed)
    chance = 1.0 / (10.0 + np.arange(bits))
    chance /= chance.sum()
    families = rng.choice(bits, size=(max(1, n // 50), 48), p=chance)
    X = np.zeros((n, bits), bool)
    for start in range(0, n, 20_000):
        part = X[start : start + 20_000]
        own = np.arange(len(part))[:, None]
        shared = families[rng.integers(len(families), size=len(part))]
        shared = np.where(rng.random(shared.shape) < 0.8, shared, shared[:, :1])
        part[own, shared] = True
        part[own, rng.choice(bits, size=(len(part), 8), p=chance)] = True
    return X


def tf_idf(n: int, d: int, *, words: int = 60, topics: int = 300, seed: int = 0) -> Any:
    """Weighted words of n texts, rows of length 1: two of three words are of the topic of the text, others of any."""
    from scipy import sparse

    rng = np.random.default_rng(seed)
    common = 1.0 / (5.0 + np.arange(d))
    own = rng.choice(d, size=(topics, min(1000, d)), p=common / common.sum())
    rows = np.repeat(np.arange(n, dtype=np.int32), words)
    places = np.minimum(rng.pareto(0.6, size=n * words) * 8, own.shape[1] - 1).astype(np.int32)
    drawn = own[np.repeat(rng.integers(topics, size=n), words), places].astype(np.int32)
    any_word = rng.random(n * words) < 1 / 3
    drawn[any_word] = rng.choice(d, size=int(any_word.sum()), p=common / common.sum())
    counts = sparse.csr_array((np.ones(n * words, np.float32), (rows, drawn)), shape=(n, d))
    counts.sum_duplicates()
    idf = np.log((1 + n) / (1 + np.bincount(counts.indices, minlength=d))) + 1
    counts.data = (1 + np.log(counts.data)) * idf[counts.indices].astype(np.float32)
    lengths = np.sqrt(np.asarray(counts.multiply(counts).sum(axis=1)).ravel())
    counts.data /= np.repeat(lengths, np.diff(counts.indptr)).astype(np.float32)
    return counts

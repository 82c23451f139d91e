"""Errors of the nearest neighbour in maps of many sets by many methods: the protocol of two published tables.

A method that has a number of neighbours is run with 5, 6, ..., 15 of them, as published; the number with the least mean
error is shown. Every row is embedded and judged: parts of a graph that falls apart are joined by bridges.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import lowdim
from lowdim.kernels import Polynomial
from lowdim.quality import knn_error

from . import Line

NEIGHBORS = range(5, 16)
METHODS = ("None", "PCA", "Isomap", "Kernel PCA", "LLE", "Laplacian eigenmaps")


@dataclass(frozen=True)
class Set:
    """A data set of the table: how it is drawn, how many axes its maps have, what was published for each method."""

    name: str
    draw: Callable[[np.random.Generator], tuple[np.ndarray, np.ndarray]]
    r: int
    published: tuple[float, ...]
    extra: dict[str, Callable[[int, int], Any]]  # further methods, of r and the number of neighbours


def run_sets(
    sets: list[Set], repeats: int, rng: np.random.Generator, advance: Callable[[str, int, int], None]
) -> list[Line]:
    """Mean errors in percent over draws, of every method on every set."""
    lines = []
    for number, one in enumerate(sets):
        errors: dict[tuple[str, int], list[float]] = {}
        for repeat in range(repeats):
            advance(one.name, number * repeats + repeat, len(sets) * repeats)
            X, labels = one.draw(rng)
            for key, error in _errors(X, labels, one):
                errors.setdefault(key, []).append(error)
        lines += _lines(one, errors, len(X))
    return lines


def _errors(X: np.ndarray, labels: np.ndarray, one: Set) -> Iterator[tuple[tuple[str, int], float]]:
    """The method and its number of neighbours (0: it has none), and the error of its map."""
    yield ("None", 0), _error(X, labels)
    yield ("PCA", 0), _error(lowdim.PCA(one.r).fit_transform(X), labels)
    kernel = Polynomial(5, coef0=1.0)
    yield ("Kernel PCA", 0), _error(_quietly(lowdim.KernelPCA(one.r, kernel=kernel, random_state=0), X), labels)
    for name, make in {**_GRAPHS, **one.extra}.items():
        for k in NEIGHBORS:
            yield (name, k), _error(_quietly(make(one.r, k), X), labels)


_GRAPHS: dict[str, Callable[[int, int], Any]] = {
    "Isomap": lambda r, k: lowdim.Isomap(r, n_neighbors=k, random_state=0),
    "LLE": lambda r, k: lowdim.LLE(r, n_neighbors=k, random_state=0),
    "Laplacian eigenmaps": lambda r, k: lowdim.LaplacianEigenmaps(r, n_neighbors=k, random_state=0),
}


def _quietly(model: Any, X: np.ndarray) -> np.ndarray:
    """The map; that a graph fell apart or a gap is small is part of the experiment."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return model.fit_transform(X)


def _error(Z: np.ndarray, labels: np.ndarray) -> float:
    return 100.0 * float(knn_error(Z, labels))


def _lines(one: Set, errors: dict[tuple[str, int], list[float]], n: int) -> list[Line]:
    published = dict(zip(METHODS, one.published, strict=True))
    lines = []
    for name in [*METHODS, *one.extra]:
        tried = {k: found for (method, k), found in errors.items() if method == name}
        k = min(tried, key=lambda k: float(np.mean(tried[k])))
        with_k = f", {k} neighbours" if k else ""
        printed = f"{published[name]:.2f}" if name in published else "-"
        what = f"{one.name} ({n:,} rows, {one.r} axes), {name}{with_k}"
        lines.append(Line(what, printed, float(np.mean(tried[k])), float(np.std(tried[k]))))
    return lines

"""Nearest-neighbour errors of several methods on several data sets: the protocol of two published tables.

Methods with a neighbour graph are run with 5, 6, ..., 15 neighbours; for each draw of a data set the number with the
lowest error counts, as in the publication. All rows are embedded and scored: connected components of a disconnected
graph are joined by bridges. LLE and Laplacian eigenmaps have a second parameter; two values of it are shown.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import lowdim
from lowdim._core.neighbors import nearest
from lowdim.kernels import Polynomial
from lowdim.quality import knn_error
from lowdim.study.reproductions import Line

NEIGHBORS = range(5, 16)
METHODS = ("None", "PCA", "Isomap", "Kernel PCA", "LLE", "Laplacian eigenmaps")  # the columns of both tables
NARROW = 0.2  # of the median length of an edge; chosen on a draw of each artificial set, among 0.15 to 1


@dataclass(frozen=True)
class TableEntry:
    """A data set of the table: its generator, the number of components, and the published errors of the methods."""

    name: str
    draw: Callable[[np.random.Generator], tuple[np.ndarray, np.ndarray]]
    r: int
    published: tuple[float, ...]
    extra: dict[str, Callable[[int, int, float], Any]] = field(default_factory=dict)  # further methods


@dataclass(frozen=True)
class Draw:
    """Rows, their classes, and the distances to their neighbours."""

    X: np.ndarray
    labels: np.ndarray
    lengths: np.ndarray

    @classmethod
    def of(cls, X: np.ndarray, labels: np.ndarray) -> Draw:
        return cls(X, labels, nearest(X, max(NEIGHBORS)).distances)

    def error(self, Z: np.ndarray) -> float:
        """Percent of the rows whose nearest neighbour in the map is of another class."""
        return 100.0 * float(knn_error(Z, self.labels))


def run_sets(
    sets: list[TableEntry], repeats: int, rng: np.random.Generator, advance: Callable[[str, int, int], None]
) -> Iterator[Line]:
    """Mean errors in percent over draws, of every method on every data set; each line as soon as it is computed."""
    steps, step = sum(len(_tasks(one)) for one in sets) * repeats, 0
    for one in sets:
        draws = [Draw.of(*one.draw(rng)) for _ in range(repeats)]
        for name, make in _tasks(one).items():
            best = []
            for draw in draws:
                advance(f"{one.name}, {name}", step, steps)
                step += 1
                best.append(min((error, k) for k, error in _errors(draw, one.r, make)))
            yield _line(one, name, best, len(draws[0].X))


def _tasks(one: TableEntry) -> dict[str, Callable[..., Any]]:
    """The method of each line: a function of the number of components, or also of the neighbours and their distance."""
    return {**_PLAIN, **_GRAPHS, **one.extra}


_PLAIN: dict[str, Callable[[int], Any]] = {
    "None": lambda r: None,
    "PCA": lowdim.PCA,
    "Kernel PCA": lambda r: lowdim.KernelPCA(r, kernel=Polynomial(5, coef0=1.0), random_state=0),
}
_GRAPHS: dict[str, Callable[[int, int, float], Any]] = {
    "Isomap": lambda r, k, length: lowdim.Isomap(r, n_neighbors=k, random_state=0),
    "LLE": lambda r, k, length: lowdim.LLE(r, n_neighbors=k, random_state=0),
    "LLE, ridge 1e-5": lambda r, k, length: lowdim.LLE(r, n_neighbors=k, ridge=1e-5, random_state=0),
    "Laplacian eigenmaps, wide weights": lambda r, k, length: lowdim.LaplacianEigenmaps(
        r, n_neighbors=k, width="largest", random_state=0
    ),
    "Laplacian eigenmaps, narrow weights": lambda r, k, length: lowdim.LaplacianEigenmaps(
        r, n_neighbors=k, width=NARROW * length, random_state=0
    ),
}


def _errors(draw: Draw, r: int, make: Callable[..., Any]) -> Iterator[tuple[int, float]]:
    """Number of neighbours and error; the number is 0 for a method without a graph."""
    if make in _PLAIN.values():
        yield 0, draw.error(_map(make(r), draw.X))
        return
    for k in NEIGHBORS:
        yield k, draw.error(_map(make(r, k, float(np.median(draw.lengths[:, :k]))), draw.X))


def _map(model: Any, X: np.ndarray) -> np.ndarray:
    """The embedding; the rows themselves for None. Disconnected graphs are part of the experiment: no warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return X if model is None else model.fit_transform(X)


def _line(one: TableEntry, name: str, best: list[tuple[float, int]], n: int) -> Line:
    errors, numbers = np.array([error for error, _ in best]), sorted({k for _, k in best})
    published = dict(zip(METHODS, one.published, strict=True))
    printed = None if name in one.extra else published[name.split(",")[0]]
    several = f"{numbers[0]} to {numbers[-1]}" if len(numbers) > 1 else f"{numbers[0]}"
    what = f"{one.name} ({n:,} rows, {one.r} components), {name}" + (f", {several} neighbours" if numbers[-1] else "")
    return Line(what, "-" if printed is None else f"{printed:.2f}", float(errors.mean()), float(errors.std()))

"""What the best map of so many columns could reach on this data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from lowdim._core.distances import check_metric, comparable
from lowdim._core.neighbors import nearest
from lowdim.select._candidates import Candidate
from lowdim.select._rounds import Round, Task, fit_round, part_of
from lowdim.select.intrinsic import TooFewRows, intrinsic_dimension

Array = NDArray[Any]

ROWS = 2000  # rows that are mapped for it
METHODS = 2  # the best so many methods map the rows of cubes


@dataclass(frozen=True)
class Ceiling:
    """What the best map of so many columns can be expected to reach on this data.

    Attributes
    ----------
    value : float
        The larger of the next two.
    found : float
        The measure of the best map that was found: at least this can be reached.
    expected : float
        What the same methods reach on as many rows drawn evenly from a cube of the intrinsic dimension of the data: 1
        where the map has as many columns. Data with groups can exceed it, curved or noisy data may fall short of it.
        For labels: the share of rows whose nearest row in the data, not in the map, has the same label.
    dimension : float
        The intrinsic dimension of the data; NaN where it was not needed.
    n_columns, n_rows : int
        Columns of the maps; rows that were mapped for these numbers.
    """

    value: float
    found: float
    expected: float
    dimension: float
    n_columns: int
    n_rows: int

    def __str__(self) -> str:
        if np.isnan(self.dimension):
            return f"{self.value:.2f} (reached {self.found:.2f}; in the data itself {self.expected:.2f})"
        return (
            f"{self.value:.2f} (reached {self.found:.2f}; evenly spread rows of {self.dimension:.1f} dimensions reach "
            f"{self.expected:.2f} in {self.n_columns} columns)"
        )


def ceiling_of(task: Task, candidates: Sequence[Candidate], last: Round) -> Ceiling:
    """From the best methods of the last round, on at most `ROWS` rows of the data and of cubes."""
    by_name = {each.name: each for each in candidates}
    best = [by_name[name] for name in list(last.ranking.values)[:METHODS]]
    rows = task.order[: min(last.n_rows, ROWS)]
    reached = last if len(rows) == last.n_rows else fit_round(task, best, np.sort(rows))
    found = next(iter(reached.ranking.values.values()))
    if task.codes is not None:
        expected, dimension = _by_the_data(task, np.sort(rows)), np.nan
    else:
        dimension = _dimension(task, np.sort(rows))
        expected = _of_cubes(task, best, dimension, len(rows), reached.n_columns)
    return Ceiling(max(found, expected), found, expected, dimension, reached.n_columns, len(rows))


def _dimension(task: Task, rows: Array) -> float:
    """The intrinsic dimension; of too few different rows for it as many as they can have."""
    try:
        found = intrinsic_dimension(part_of(task.X, rows, task.metric), metric=task.metric, n_jobs=task.n_jobs)
    except TooFewRows as few:
        return float(few.different - 1)
    return float(found.value)


def _of_cubes(task: Task, best: list[Candidate], dimension: float, n: int, columns: int) -> float:
    """Between the cubes of the next smaller and the next larger dimension, in proportion."""
    if dimension <= columns:
        return 1.0
    below = int(np.floor(dimension))
    low, high = (1.0 if columns >= D else _of_cube(task, best, D, n) for D in (below, below + 1))
    return low + (dimension - below) * (high - low)


def _of_cube(task: Task, best: list[Candidate], D: int, n: int) -> float:
    """The best measure on n rows drawn evenly from a cube of D dimensions."""
    X = np.random.default_rng([task.seed, D]).random((n, D))
    cube = replace(task, X=X, n=n, metric="euclidean", codes=None)
    plain = [replace(each, estimator=_euclidean(each.estimator)) for each in best]
    return next(iter(fit_round(cube, plain, np.arange(n)).ranking.values.values()))


def _euclidean(estimator: Any) -> Any:
    copy = clone(estimator)
    return copy.set_params(metric="euclidean") if "metric" in copy.get_params(deep=False) else copy


def _by_the_data(task: Task, rows: Array) -> float:
    """Share of rows whose nearest row in the data has the same label."""
    X, metric = comparable(part_of(task.X, rows, task.metric), check_metric(task.metric, task.owner), task.owner)
    near = nearest(X, 1, metric=metric, n_jobs=task.n_jobs, approximate=None, owner=task.owner).indices[:, 0]
    codes = np.asarray(task.codes)[rows]
    return float(np.mean(codes == codes[near]))

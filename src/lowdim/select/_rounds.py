"""Successive halving: all candidates on a part of the rows, the better ones on more of them, the best on the most."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from lowdim._core.distances import check_metric, comparable
from lowdim._core.manifold.neighborhood import unwatched
from lowdim._core.neighbors import shared
from lowdim._core.ranks.questions import MEASURES, distances_along, row_measures
from lowdim._core.ranks.ranking import Ranking, ranking, regions, resampled
from lowdim._core.ranks.reference import Reference, reference_of
from lowdim.select._candidates import Candidate

Array = NDArray[Any]
Interval = tuple[float, float, float]

FEW_ROWS = 2000  # up to so many, every candidate is fitted to all rows
LEAST_ROWS = 1000, 2000  # of the two rounds: settings that differ by 2 % are not told apart by fewer
GRAPH_NEIGHBORS = 5  # few, so that the graph along which distances are measured has few short circuits
HARDLY = 0.005  # of the best value: so little is given up for a smaller setting or a simpler method
FEWER = 4  # candidates become fewer by this factor


@dataclass(frozen=True, eq=False)
class Task:
    """Rows and the question that is asked of their maps."""

    X: Any
    n: int
    question: str
    codes: Array | None
    metric: Any
    seed: int
    n_jobs: int | None
    owner: str

    @property
    def order(self) -> Array:
        """All rows in a random order: a round has the first of them, so that rounds share rows."""
        return np.random.default_rng(self.seed).permutation(self.n)

    def some(self, rows: Array) -> tuple[Any, Reference, Array | None]:
        """A part of the rows, the distances that its maps are compared with, and its labels."""
        X = part_of(self.X, rows, self.metric)
        codes = None if self.codes is None else self.codes[rows]
        if self.question == "along the data":
            return X, distances_along(X, self.metric, len(rows), GRAPH_NEIGHBORS, self.n_jobs, self.owner), codes
        return X, reference_of(X, metric=self.metric, n_jobs=self.n_jobs, owner=self.owner), codes


@dataclass(frozen=True, eq=False)
class Round:
    """What one round found.

    Attributes
    ----------
    n_rows, n_columns : int
        Rows that were mapped, and columns of the maps.
    ranking : Ranking
        The candidates, best first.
    intervals : dict of str to (value, low, high)
        The measure of each with its 95 % interval, by resampling of regions of the data.
    failed : dict of str to str
        Candidates without a map, and why.
    """

    n_rows: int
    n_columns: int
    ranking: Ranking
    intervals: dict[str, Interval]
    failed: dict[str, str]


def part_of(X: Any, rows: Array, metric: Any) -> Any:
    """Some rows of an array, a frame or sparse rows; of distances, those among them."""
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if hasattr(X, "get_columns"):
        return X[rows]
    if isinstance(metric, str) and metric == "precomputed":
        return np.ascontiguousarray(X[np.ix_(rows, rows)])
    found = (X.tocsr() if sparse.issparse(X) else X)[rows]
    return np.ascontiguousarray(found) if isinstance(found, np.ndarray) else found


@dataclass(frozen=True)
class Plan:
    """Rows and candidates of each round.

    With `ordered` candidates (settings from small to large) the first round has every other one, and those between are
    judged by interpolation.
    """

    rounds: tuple[tuple[int, int], ...]
    ordered: bool

    @classmethod
    def of(cls, n: int, candidates: int, budget: float, max_rows: int, *, ordered: bool) -> Plan:
        """Two rounds with half of the budget each, but not with fewer rows than are needed to tell settings apart."""
        most = min(n, max_rows)
        if n <= FEW_ROWS or candidates == 1 or budget == 1:
            return cls(((most, candidates),), False)
        ordered = ordered and candidates > 2 * FEWER
        many, few = -(-candidates // 2) if ordered else candidates, -(-candidates // FEWER)
        first, second = (
            int(min(most, max(least, budget * n * candidates / 2 / count)))
            for least, count in zip(LEAST_ROWS, (many, few), strict=True)
        )
        first = min(first, most // 2)
        return cls(((first, many), (second, few)), ordered)

    @property
    def mapped(self) -> int:
        """Rows of all maps together."""
        return sum(rows * count for rows, count in self.rounds)


def halve(task: Task, candidates: Sequence[Candidate], scheme: Plan) -> list[Round]:
    """Run the rounds; the first candidates of a round's ranking go on to the next."""
    order = task.order
    (rows, count), *rest = scheme.rounds
    places = list(range(len(candidates)))
    if scheme.ordered:
        places = np.unique(np.round(np.linspace(0, len(candidates) - 1, count)).astype(int)).tolist()
    found = [fit_round(task, [candidates[at] for at in places], np.sort(order[:rows]))]
    for rows, count in rest:
        values = found[-1].ranking.values
        known = [at for at in places if candidates[at].name in values]
        if scheme.ordered:  # settings between are judged by interpolation
            guess = np.interp(np.arange(len(candidates)), known, [values[candidates[at].name] for at in known])
        else:
            guess = np.array([values.get(each.name, -np.inf) for each in candidates])
        left = [int(at) for at in np.argsort(-guess, kind="stable")[:count] if np.isfinite(guess[at])]
        found.append(fit_round(task, [candidates[at] for at in sorted(left)], np.sort(order[:rows])))
    return found


def fit_round(task: Task, candidates: Sequence[Candidate], rows: Array) -> Round:
    """Fit the candidates to some rows and rank them."""
    X, source, codes = task.some(rows)
    maps, failed = fit_all(X, candidates, task.seed)
    if not maps:
        name, why = next(iter(failed.items()))
        raise ValueError(f"{task.owner}: none of the {len(failed)} candidates has a map; {name}: {why}")
    widths = {name: Z.shape[1] for name, Z in maps.items()}
    if len(set(widths.values())) > 1:
        told = ", ".join(f"{name} {count}" for name, count in widths.items())
        raise ValueError(f"{task.owner}: methods must give maps of the same number of columns; got {told}.")
    return _judged(task, source, codes, maps, failed)


def fit_all(X: Any, candidates: Sequence[Candidate], seed: int) -> tuple[dict[str, Array], dict[str, str]]:
    """The maps of the candidates, whose neighbours are searched once, and why some have none.

    The largest numbers of neighbours come first, so that one search serves all.
    """
    maps: dict[str, Array] = {}
    failed: dict[str, str] = {}
    with shared(X), unwatched(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what a setting that is not chosen warns of is of no use
        for each in sorted(candidates, key=lambda one: -(one.value or 0)):
            try:
                Z = np.asarray(each.copy(seed).fit_transform(X), float)
            except (ValueError, ArithmeticError, np.linalg.LinAlgError, MemoryError) as error:
                failed[each.name] = str(error)
                continue
            lost = int((~np.isfinite(Z)).any(axis=1).sum())
            if lost:
                failed[each.name] = f"{lost} of {len(Z)} rows have no place in its map"
            else:
                maps[each.name] = np.ascontiguousarray(Z)
    return {each.name: maps[each.name] for each in candidates if each.name in maps}, failed


def _judged(
    task: Task, source: Reference, codes: Array | None, maps: dict[str, Array], failed: dict[str, str]
) -> Round:
    """The ranking of maps of the same rows."""
    rng = np.random.default_rng(task.seed)
    rows, measured = row_measures(task.question, source, maps, rng, codes=codes, n_jobs=task.n_jobs, owner=task.owner)
    blocks = regions(source, rng)[rows]
    intervals = {name: resampled(values, blocks, rng) for name, values in measured.items()}
    columns = next(iter(maps.values())).shape[1]
    return Round(
        source.n, columns, ranking(task.question, MEASURES[task.question], measured, blocks), intervals, failed
    )


def ties_of(rounds: Sequence[Round]) -> set[str]:
    """Candidates that were never behind the best of a round beyond chance."""
    ties: set[str] = set()
    for each in rounds:
        ties = (ties - set(each.ranking.values)) | set(each.ranking.ties)
    return ties


def nearly_best(last: Ranking) -> list[str]:
    """Candidates of the last round that tie with the best one and are hardly behind it."""
    near = HARDLY * abs(last.values[last.best])
    return [last.best, *(name for name in last.ties[1:] if last.behind[name][0] < near)]


def checked_task(X: Any, question: str, y: Any, metric: Any, seed: int, n_jobs: int | None, owner: str) -> Task:
    """The task, from what users give."""
    if not isinstance(question, str) or question not in MEASURES:
        raise ValueError(f"{owner}: question must be one of {', '.join(map(repr, MEASURES))}; got {question!r}.")
    rows, inside = comparable(X, check_metric(metric, owner), owner)
    n = reference_of(rows, metric=inside, n_jobs=n_jobs, owner=owner).n
    codes = None
    if question == "labels":
        if y is None:
            raise ValueError(f'{owner}: y must have a label for each row with question="labels"; got None.')
        codes = np.unique(np.asarray(y), return_inverse=True)[1].reshape(-1)
        if len(codes) != n:
            raise ValueError(f"{owner}: y must have a label for each of the {n} rows; got {len(codes)}.")
    if not (hasattr(X, "iloc") or hasattr(X, "get_columns") or hasattr(X, "tocsr")):
        X = np.ascontiguousarray(X, dtype=np.float32 if getattr(X, "dtype", None) == np.float32 else float)
    elif hasattr(X, "tocsr"):
        X = X.tocsr()
    return Task(X, n, question, codes, metric, seed, n_jobs, owner)

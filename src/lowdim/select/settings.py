"""The number of neighbours, the perplexity or the width of a method, by the question that its map is to answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from lowdim._core import params
from lowdim._core.params import checked, none, text
from lowdim._core.ranks.questions import MEASURES
from lowdim._core.runtime.rng import generator
from lowdim.select._candidates import Candidate, estimator_of, grid_of, setting_of
from lowdim.select._rounds import Plan, Task, checked_task, halve, nearly_best, ties_of

Array = NDArray[Any]

MAX_ROWS = 10_000
RULES = {
    "budget": params.real(0, 1, open_low=True),
    "max_rows": params.whole(20),
    "n_components": params.whole(1),
    "random_state": params.seed(),
    "n_jobs": params.jobs(),
}


@dataclass(frozen=True, eq=False, repr=False)
class SettingChoice:
    """The settings that were tried, how well each answers the question, and which is chosen.

    Attributes
    ----------
    parameter : str
        "n_neighbors", "perplexity" or "width".
    chosen : int or float
        The smallest setting that ties with the best one and is less than 0.5 % behind it.
    estimator : estimator
        The method with that setting, not fitted.
    grid : ndarray
        The settings, small to large.
    score : ndarray
        The measure of each, in the last round that it was in; NaN where it was in none or has no map.
    interval : ndarray of shape (settings, 2)
        Its 95 % interval, by drawing regions of the data again.
    n_rows : ndarray of int
        Rows of that round. Maps of more rows have lower scores, so only scores of one round can be compared.
    ties : tuple
        Settings that were never behind the best one beyond chance.
    question, measure : str
        What was asked, and what was measured.
    cost : float
        Rows that were mapped, as a share of those that the whole grid on all rows takes.
    failed : dict
        Setting -> why it has no map.
    """

    parameter: str
    chosen: float
    estimator: Any
    grid: Array
    score: Array
    interval: Array
    n_rows: Array
    ties: tuple[float, ...]
    question: str
    measure: str
    cost: float
    failed: dict[float, str]

    def __repr__(self) -> str:
        name = type(self.estimator).__name__
        head = f"{name}: {self.parameter}={self.chosen:g} for {self.question} ({self.measure})"
        lines = [
            f"{value:>10g}  {score:.3f}  ({low:.3f} to {high:.3f})  {rows} rows{'  tie' if value in self.ties else ''}"
            for value, score, (low, high), rows in zip(self.grid, self.score, self.interval, self.n_rows, strict=True)
        ]
        return "\n".join([head, *lines])


@checked("select.n_neighbors", parameter=none() | text())
def n_neighbors(
    X: Any,
    method: Any = "umap",
    *,
    question: str = "neighbours",
    y: Any = None,
    grid: Sequence[float] | None = None,
    parameter: str | None = None,
    n_components: int = 2,
    budget: float = 0.2,
    max_rows: int = MAX_ROWS,
    metric: Any = "euclidean",
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> SettingChoice:
    """Choose the number of neighbours of a method: for t-SNE the perplexity, for kernels the width.

    Every other setting is tried on a part of the rows; the best quarter of all settings, those between judged by
    interpolation, on more rows. Within a round the neighbours are searched once and the ranks of the data are computed
    once. Settings are compared row by row; those
    that do not differ beyond chance are ties, and of ties that are within 0.5 % of the best one the smallest is chosen.

    Parameters
    ----------
    X : array (n, d), data frame, or distances
        The rows.
    method : str, class or estimator
        A name ("umap", "t-sne", "kernel-pca"), an estimator class, or an estimator, whose other settings are kept.
    question : {"neighbours", "distances", "along the data", "labels"}
        What the map is read for: who is near whom (area under R_NX), how far rows are apart (rank correlation of
        distances), the same along the neighbour graph, or whether nearest rows have the same label.
    y : array of shape (n,), optional
        Labels, for ``question="labels"``.
    grid : sequence of numbers, optional
        Settings to try. Default: 12 from 4 to 100 neighbours, for widths from that of near rows to that of all pairs.
    parameter : {"n_neighbors", "perplexity", "width"}, optional
        What is searched, for methods that have several of them.
    n_components : int
        Number of components, where `method` is a name or a class.
    budget : float
        Rows that are mapped, as a share of those that the whole grid on all rows takes; 1: the whole grid, as with up
        to 2,000 rows. A round has at least 1,000 rows, so that the share is kept from 5,000 rows on. With a fifth, the
        choice was 0 to 4.3 % below the best of the whole grid on sixteen tables and methods, on thirteen within 2 %.
    max_rows : int
        Most rows that are mapped at once.
    metric : str or callable
        Distance between rows: a name ("gower" for tables of numbers and categories), a function of two rows, or
        "precomputed" where X holds distances.
    random_state : int, generator or None
        Seed; the same int gives the same result.
    n_jobs : int or None
        Number of threads; None means all cores. Results do not depend on it.

    Returns
    -------
    SettingChoice
        The chosen setting, the scores of all with intervals, and ties.

    References
    ----------
    Jamieson, Talwalkar (2016), Non-stochastic best arm identification and hyperparameter optimization.

    Examples
    --------
    >>> import lowdim
    >>> X = lowdim.datasets.swiss_roll(300, random_state=0).X
    >>> found = lowdim.select.n_neighbors(X, "isomap", question="along the data", grid=[6, 8, 40, 80])
    >>> found.chosen in (6, 8)
    True
    >>> Z = found.estimator.fit_transform(X)
    """
    owner = "select.n_neighbors"
    given = {"budget": budget, "max_rows": max_rows, "n_components": n_components}
    params.check(owner, given | {"random_state": random_state, "n_jobs": n_jobs}, RULES)
    seed = int(generator(random_state).integers(2**31))
    task = checked_task(X, question, y, metric, seed, n_jobs, owner)
    estimator = estimator_of(method, n_components, metric, n_jobs, owner)
    name = setting_of(estimator, parameter, owner)
    values = _checked_grid(grid, owner) if grid is not None else grid_of(task.X, task.n, estimator, name, metric)
    candidates = candidates_of(estimator, name, values)
    return _choice(task, candidates, Plan.of(task.n, len(candidates), budget, max_rows, ordered=True))


def candidates_of(estimator: Any, parameter: str, values: Sequence[float], label: str = "") -> list[Candidate]:
    """The method at each setting."""
    return [
        Candidate(f"{label}{value:g}", clone(estimator).set_params(**{parameter: value}), parameter, value)
        for value in values
    ]


def _choice(task: Task, candidates: list[Candidate], scheme: Plan) -> SettingChoice:
    found = halve(task, candidates, scheme)
    values = {each.name: each.value for each in candidates}
    best = min(nearly_best(found[-1].ranking), key=lambda name: values[name] or 0)
    score, interval = np.full(len(candidates), np.nan), np.full((len(candidates), 2), np.nan)
    rows = np.zeros(len(candidates), int)
    for each in found:
        for at, one in enumerate(candidates):
            if one.name in each.intervals:
                score[at], *interval[at] = each.intervals[one.name]
                rows[at] = each.n_rows
    ties = ties_of(found)
    chosen = next(each for each in candidates if each.name == best)
    return SettingChoice(
        parameter=str(chosen.parameter),
        chosen=chosen.value or 0,
        estimator=chosen.estimator,
        grid=np.array([each.value for each in candidates]),
        score=score,
        interval=interval,
        n_rows=rows,
        ties=tuple(each.value or 0 for each in candidates if each.name in ties),
        question=task.question,
        measure=MEASURES[task.question],
        cost=scheme.mapped / (task.n * len(candidates)),
        failed={values[name] or 0: why for each in found for name, why in each.failed.items()},
    )


def _checked_grid(grid: Sequence[float], owner: str) -> tuple[float, ...]:
    positive = params.real(0, open_low=True)
    values = list(grid) if np.ndim(grid) == 1 else []
    if not values or not all(positive.accepts(value) for value in values):
        raise ValueError(f"{owner}: grid must be a list of positive numbers; got {params.shown(grid)}.")
    return tuple(sorted({params.plain(value) for value in values}))

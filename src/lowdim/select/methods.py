"""Which method answers a question best, on this data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lowdim._core import params
from lowdim._core.ranks.questions import MEASURES
from lowdim._core.runtime.rng import generator
from lowdim.select._candidates import Candidate, estimator_of
from lowdim.select._ceiling import Ceiling, ceiling_of
from lowdim.select._rounds import Interval, Plan, Round, checked_task, halve, nearly_best, ties_of
from lowdim.select.settings import MAX_ROWS, RULES

# From simple to involved: of methods that cannot be told apart the first is chosen.
METHODS = ("pca", "kernel-pca", "mds", "isomap", "laplacian-eigenmaps", "lle", "umap", "tsne")
ON_DISTANCES = ("classical-mds", "mds", "isomap", "laplacian-eigenmaps", "umap", "tsne")

READ_FOR = {
    "neighbours": "who is near whom",
    "distances": "how far rows are apart",
    "along the data": "how far rows are apart along the data",
    "labels": "which rows have the same label",
}


@dataclass(frozen=True, eq=False, repr=False)
class MethodChoice:
    """Methods in the order in which their maps answer one question.

    Attributes
    ----------
    chosen : str
        The method: of those that tie with the best one and are less than 0.5 % behind it, the first in the list that
        was given, which by default is the simplest.
    estimator : estimator
        That method, not fitted.
    ranking : tuple of str
        All methods with a map, best first. Those of the last round come first.
    ties : tuple of str
        Methods that were never behind the best one beyond chance.
    scores : dict of str to (value, low, high)
        The measure of each method with its 95 % interval by drawing regions of the data again, in the last round that
        it was in.
    behind : dict of str to (difference, low, high)
        By how much it was behind the best method of that round, with an interval that holds for all at once at 95 %.
    n_rows : dict of str to int
        Rows of that round. Maps of more rows have lower scores, so only scores of one round can be compared.
    reason : str
        The choice in one or two sentences.
    ceiling : Ceiling
        What the best map of so many columns can be expected to reach on this data.
    question, measure : str
        What was asked, and what was measured.
    cost : float
        Rows that were mapped, as a share of those that all methods on all rows take.
    failed : dict of str to str
        Method -> why it has no map.
    """

    chosen: str
    estimator: Any
    ranking: tuple[str, ...]
    ties: tuple[str, ...]
    scores: dict[str, Interval]
    behind: dict[str, Interval]
    n_rows: dict[str, int]
    reason: str
    ceiling: Ceiling
    question: str
    measure: str
    cost: float
    failed: dict[str, str]

    def __repr__(self) -> str:
        wide = max(map(len, self.ranking))
        lines = [
            f"  {name:<{wide}}  {value:.3f}  ({low:.3f} to {high:.3f})  {self.n_rows[name]} rows"
            + ("  tie" if name in self.ties and len(self.ties) > 1 else "")
            for name, (value, low, high) in ((each, self.scores[each]) for each in self.ranking)
        ]
        lines += [f"  {name:<{wide}}  no map: {why}" for name, why in self.failed.items()]
        return "\n".join([self.reason, *lines, f"  ceiling {self.ceiling}"])


@params.checked("select.method")
def method(
    X: Any,
    question: str = "neighbours",
    methods: Sequence[Any] | Mapping[str, Any] | None = None,
    *,
    y: Any = None,
    n_components: int = 2,
    budget: float = 0.2,
    max_rows: int = MAX_ROWS,
    metric: Any = "euclidean",
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> MethodChoice:
    """Choose the method whose map answers a question best, or say that several do not differ beyond chance.

    All methods are tried on a part of the rows, and the better quarter of them on more rows. There is one measure for
    each question. Methods are compared row by row, with errors that allow for the dependence of rows of one region.

    Parameters
    ----------
    X : array (n, d), data frame, or distances
        The rows.
    question : {"neighbours", "distances", "along the data", "labels"}
        What the map is read for: who is near whom (area under R_NX), how far rows are apart (rank correlation of
        distances), the same along the neighbour graph, or whether nearest rows have the same label.
    methods : sequence of names, classes or estimators, or dict of str to them; optional
        The methods, simple ones first. Default: PCA, kernel PCA, MDS, Isomap, Laplacian eigenmaps, LLE, UMAP and t-SNE
        with default settings; with another metric those that take it.
    y : array of shape (n,), optional
        Labels, for ``question="labels"``.
    n_components : int
        Number of components of methods that are given by name or class.
    budget : float
        Rows that are mapped, as a share of those that all methods on all rows take; 1: all methods on all rows, as
        with up to 2,000 rows. A round has at least 1,000 rows, so that the share is kept from 10,000 rows on.
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
    MethodChoice
        The ranking with intervals, ties, the reason in words, and what could be reached.

    Examples
    --------
    >>> import lowdim
    >>> X = lowdim.datasets.swiss_roll(300, random_state=0).X
    >>> found = lowdim.select.method(X, "along the data", ["pca", lowdim.Isomap(n_neighbors=7)])
    >>> found.chosen, found.ties
    ('isomap', ('isomap',))
    """
    owner = "select.method"
    given = {"budget": budget, "max_rows": max_rows, "n_components": n_components}
    params.check(owner, given | {"random_state": random_state, "n_jobs": n_jobs}, RULES)
    seed = int(generator(random_state).integers(2**31))
    task = checked_task(X, question, y, metric, seed, n_jobs, owner)
    named = _named(methods, metric, owner)
    candidates = [
        Candidate(name, estimator_of(one, n_components, metric, n_jobs, owner)) for name, one in named.items()
    ]
    scheme = Plan.of(task.n, len(candidates), budget, max_rows, ordered=False)
    rounds = halve(task, candidates, scheme)
    cost = scheme.mapped / (task.n * len(candidates))
    return _choice(candidates, rounds, question, ceiling_of(task, candidates, rounds[-1]), cost)


def _named(methods: Any, metric: Any, owner: str) -> dict[str, Any]:
    """Name -> method."""
    if methods is None:
        plain = isinstance(metric, str) and metric == "euclidean"
        methods = METHODS if plain else ON_DISTANCES
    if isinstance(methods, Mapping):
        named = {str(name): one for name, one in methods.items()}
    elif isinstance(methods, Sequence) and not isinstance(methods, str):
        names = [_name_of(one) for one in methods]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise ValueError(f"{owner}: methods must have different names; got {twice} twice. Give a dict with names.")
        named = dict(zip(names, methods, strict=True))
    else:
        raise TypeError(f"{owner}: methods must be a list or a dict; got {methods!r}.")
    if not named:
        raise ValueError(f"{owner}: methods must have at least one method; got none.")
    return named


def _name_of(one: Any) -> str:
    if isinstance(one, str):
        return one
    return str(getattr(one, "__name__", type(one).__name__)).lower()


def _choice(
    candidates: list[Candidate], rounds: list[Round], question: str, ceiling: Ceiling, cost: float
) -> MethodChoice:
    scores: dict[str, Interval] = {}
    behind: dict[str, Interval] = {}
    rows: dict[str, int] = {}
    ranking: list[str] = []
    failed: dict[str, str] = {}
    for each in rounds:
        scores, behind = scores | each.intervals, behind | each.ranking.behind
        behind |= {each.ranking.best: (0.0, 0.0, 0.0)}
        rows |= dict.fromkeys(each.intervals, each.n_rows)
        ranking = [*each.ranking.values, *(name for name in ranking if name not in each.ranking.values)]
        failed |= each.failed
    near, tied = nearly_best(rounds[-1].ranking), ties_of(rounds)
    chosen = next(each for each in candidates if each.name in near)
    ties = tuple(name for name in ranking if name in tied)
    reason = _reason(question, chosen.name, scores, behind, ranking, ties, rows)
    return MethodChoice(
        chosen.name, chosen.estimator, tuple(ranking), ties, scores, behind, rows, reason, ceiling, question,
        MEASURES[question], cost, failed,
    )  # fmt: skip


def _reason(
    question: str,
    chosen: str,
    scores: dict[str, Interval],
    behind: dict[str, Interval],
    ranking: list[str],
    ties: tuple[str, ...],
    rows: dict[str, int],
) -> str:
    """The choice in one or two sentences."""
    value, low, high = scores[chosen]
    seen = f"{MEASURES[question]} {value:.2f}, {low:.2f} to {high:.2f}, on {rows[chosen]:,} rows"
    others = [name for name in ties if name != chosen]
    first = f"For {READ_FOR[question]}: {chosen} ({seen})."
    if others:
        first += f" Not different beyond chance: {', '.join(others)}."
    after = next((name for name in ranking if name not in ties), None)
    if after is None:
        return first
    return f"{first} The next one, {after}, is behind by {behind[after][0]:.2f} on {rows[after]:,} rows."

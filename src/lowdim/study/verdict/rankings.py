"""The four questions that maps are ranked by, and what may not be read from one of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import spearmanr

from lowdim._core.distances import check_metric, comparable
from lowdim._core.neighbors import nearest
from lowdim._core.ranks.questions import MEASURES, right_class
from lowdim._core.ranks.ranking import Ranking, block_mean, distance_agreement, ranking, reference_agreement, regions
from lowdim._core.ranks.reference import Reference, along_rows
from lowdim.study.reference_choice import ReferenceChoice
from lowdim.trust.agreement import less_apart

if TYPE_CHECKING:
    from lowdim.study.verdict.evidence import Case

STRAIGHT = ("ambient", "expected", "gower")  # references for which distances along the data are another question
GRAPH_NEIGHBORS = 10
SEARCHED = 20_000  # rows up to which the graph is searched for short circuits: beyond, that takes minutes
NEAR = 15  # neighbours whose distance says how dense the rows are


@dataclass(frozen=True)
class ClassesShown:
    """How well the map that shows the classes best does show them.

    Attributes
    ----------
    in_data : float or None
        Share of the rows whose nearest row in the data has their class.
    chance : float
        The same where classes have nothing to do with places.
    beyond : (difference, low, high)
        By how much the map is above chance, with its 95 % interval.
    """

    in_data: float | None
    chance: float
    beyond: tuple[float, float, float]


@dataclass(frozen=True, eq=False)
class Along:
    """Distances along the data.

    Attributes
    ----------
    distances : Reference
        Shortest paths over the graph of 10 nearest neighbours, without its short circuits.
    cut : int
        Edges that were found to be short circuits, and left out.
    """

    distances: Reference
    cut: int


@dataclass(frozen=True, eq=False)
class Ranked:
    """A ranking for each question that this data can answer.

    Attributes
    ----------
    rankings : dict of str to Ranking
        By question.
    curved : float or None
        Rank correlation of straight distances with those along the data.
    cut : int
        Short circuits that were left out of the graph of the latter.
    classes : ClassesShown or None
        The best map for classes beside chance.
    """

    rankings: dict[str, Ranking]
    curved: float | None
    cut: int
    classes: ClassesShown | None


def rank_all(case: Case, maps: dict[str, np.ndarray], source: Reference, rng: np.random.Generator) -> Ranked:
    """Rank the maps by every question."""
    blocks = regions(source, rng)
    per_row = {name: case.scored[name].per_row for name in maps}
    found = {"neighbours": ranking("neighbours", MEASURES["neighbours"], per_row, blocks)}
    rows, agree = distance_agreement(source, maps, rng)
    found["distances"] = ranking("distances", MEASURES["distances"], agree, blocks[rows])
    curved, cut, classes = None, 0, None
    if case.against.name in STRAIGHT:
        along = distances_along(case.against, case.data.n, case.n_jobs, clean=case.data.n <= SEARCHED)
        curved, cut = reference_agreement(source, along.distances, rng), along.cut
        rows, agree = distance_agreement(along.distances, maps, rng)
        found["along the data"] = ranking("along the data", MEASURES["along the data"], agree, blocks[rows])
    codes = None if case.labels is None else case.labels.codes
    blind = {name: Z for name, Z in maps.items() if not case.targets.get(name)}
    if codes is not None and len(blind) and (codes >= 0).sum() > 1:
        right = {name: right_class(Z, codes, case.n_jobs, "compare") for name, Z in blind.items()}
        found["labels"] = ranking("labels", MEASURES["labels"], right, blocks)
        best = found["labels"].best
        classes = _beside_chance(right[best], codes, blocks, case.scored[best].scores.get("knn_error_data"))
    return Ranked(found, curved, cut, classes)


def _beside_chance(right: np.ndarray, codes: np.ndarray, blocks: np.ndarray, error: float | None) -> ClassesShown:
    known = codes >= 0
    counts = np.bincount(codes[known])
    chance = np.full(len(codes), np.nan)
    chance[known] = (counts[codes[known]] - 1) / (known.sum() - 1)  # of another row drawn at random
    difference, spread = block_mean(right - chance, blocks)
    beyond = (difference, difference - 1.96 * spread, difference + 1.96 * spread)
    return ClassesShown(None if error is None else 1 - error, float(np.nanmean(chance)), beyond)


def surroundings(against: ReferenceChoice, Z: np.ndarray, n_jobs: int | None) -> tuple[float | None, np.ndarray | None]:
    """How far the nearest rows are, in data and map: rank correlation over the rows, and for each row how much farther.

    The correlation is low where the map evens out densities, and None where most rows have copies. The second is the
    isolation of each row (`trust.rows`). Neither has a meaning with distances along the data.
    """
    if against.kind == "geodesic":
        return None, None
    metric = "precomputed" if against.kind == "precomputed" else against.metric
    rows, inside = comparable(against.rows, check_metric(metric, "compare"), "compare")
    k = min(NEAR, len(Z) - 2)
    high = nearest(rows, k, metric=inside, n_jobs=n_jobs, approximate=None, owner="compare")
    low = nearest(np.ascontiguousarray(Z, float), k, n_jobs=n_jobs, approximate=None, owner="compare")
    hidden, last = less_apart(high, low), (high.distances[:, -1], low.distances[:, -1])
    if np.median(last[0]) <= 0 or np.ptp(last[1]) == 0:
        return None, hidden
    return float(spearmanr(*last).statistic), hidden


def not_searched(case: Case) -> dict[str, str]:
    """What is left out of the rankings, and why."""
    if case.data.n <= SEARCHED or case.against.name not in STRAIGHT:
        return {}
    return {"short circuits in distances along the data": f"of more than {SEARCHED:,} rows they are not searched for"}


def distances_along(against: ReferenceChoice, n: int, n_jobs: int | None, *, clean: bool) -> Along:
    """Distances along the data, in the metric of the comparison.

    A map that is made over the same graph (Isomap has 10 neighbours by default) has the same short circuits, and would
    be praised for them. So they are removed here, with `clean`.
    """
    k = min(GRAPH_NEIGHBORS, n - 1)
    distances, found = along_rows(against.rows, against.metric, k, n_jobs, "compare", clean=clean)
    return Along(distances, 0 if found is None else len(found.edges))

"""The numbers behind a verdict: rankings by question, rows and groups of the recommended map, structure, dimension."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from lowdim._core.ranks.ranking import Ranking
from lowdim._core.ranks.reference import Reference, reference_of
from lowdim._core.runtime.rng import generator
from lowdim._core.tables.brief import brief
from lowdim.select import intrinsic_dimension
from lowdim.select.intrinsic import IntrinsicDimension
from lowdim.study.data import Data
from lowdim.study.labels import Labels
from lowdim.study.outside import ReadyMade
from lowdim.study.reference_choice import ReferenceChoice
from lowdim.study.running.baselines import RandomEmbedding
from lowdim.study.running.one_method import Outcome
from lowdim.study.scoring import Scored
from lowdim.study.verdict.against_noise import Judged, Noise, SampledRows
from lowdim.study.verdict.gaps import gaps
from lowdim.study.verdict.order import TableOrder, table_order
from lowdim.study.verdict.rankings import ClassesShown, not_searched, rank_all, surroundings
from lowdim.study.verdict.structure_found import FoundStructure
from lowdim.trust.fractures import Fractures
from lowdim.trust.groups import GroupTrust, groups
from lowdim.trust.stability import Stability, stability

LEAST_ROWS = 30  # of fewer rows nothing is said
MOST_ROWS = 20_000  # from here on clusters are not searched for in the map
LEAST_GROUP = 20
APART = 2.0  # times as far from the nearest rows, beside what is usual there, as the map shows
CLUSTERS = "clusters in the map"


@dataclass(frozen=True, eq=False)
class Evidence:
    """What the sentences of a verdict are made from.

    Attributes
    ----------
    maps : tuple of str
        The maps that are compared: those with the most common number of components.
    width : int
        That number.
    n_rows : int
        Rows of the data.
    reference : ReferenceChoice
        The reference distances of the comparison.
    baseline : str or None
        The linear map.
    rankings : dict of str to Ranking
        By question.
    recommended : str or None
        The best map for neighbours.
    curved : float or None
        Rank correlation of straight distances with those along the data: near 1 where the data are not curved. Of many
        rows it is that of a sample, like that of noise.
    curved_noise : float or None
        The same for noise with the same columns: in many dimensions the two differ without any curve.
    cut : int
        Short circuits that were left out of the graph for distances along the data.
    classes : ClassesShown or None
        The map that shows the classes best, beside chance.
    spread : float or None
        Rank correlation, over rows, of the distance to their 15th neighbour in the data and in the recommended map:
        low where the map does not show how dense the rows are.
    isolation : ndarray or None
        Of each row: how much farther it is from its nearest rows in the data than the recommended map shows.
    verdicts, p_values : dict of str to ndarray
        Of each row, for the maps that were compared with noise.
    noise : str
        The noise that these rows were compared with: "permuted" (columns shuffled) or, where shuffled columns make
        groups of their own, "gaussian" (the same covariance).
    sampled : SampledRows or None
        Verdicts on the rows of a map of a sample, where there are too many rows to map as much noise.
    structure : FoundStructure or None
        Maps by two fixed methods beside maps of noise.
    groups : GroupTrust or None
        Of the recommended map.
    groups_are : str
        Where these groups come from.
    clusters : ndarray of str or None
        The cluster of each row, "" for none, where the groups are clusters found in the map.
    dimension : IntrinsicDimension or None
        Of the data.
    most_dimensions : int or None
        Those that so many rows and columns can have; None for distances and tables with categories.
    categories : bool
        Whether the table has columns of categories, which no dimension is estimated of.
    order : TableOrder or None
        Whether rows that follow each other in the table are near each other.
    stability : Stability or None
        Of the recommended map, if asked for.
    gaps : dict of str to Fractures
        Of the maps by t-SNE and UMAP, if asked for.
    row_names : list of str or None
        Names of the rows.
    row_numbers : ndarray of int or None
        Numbers of the rows where they have no names; None: 0, 1, 2, ...
    skipped : dict of str to str
        What could not be judged, and why.
    n_columns : int
        Columns of the data; 0 for distances.
    """

    maps: tuple[str, ...]
    width: int
    n_rows: int
    reference: ReferenceChoice
    baseline: str | None = None
    rankings: dict[str, Ranking] = field(default_factory=dict)
    recommended: str | None = None
    curved: float | None = None
    curved_noise: float | None = None
    cut: int = 0
    classes: ClassesShown | None = None
    spread: float | None = None
    isolation: np.ndarray | None = None
    verdicts: dict[str, np.ndarray] = field(default_factory=dict)
    p_values: dict[str, np.ndarray] = field(default_factory=dict)
    noise: str = "permuted"
    sampled: SampledRows | None = None
    structure: FoundStructure | None = None
    groups: GroupTrust | None = None
    groups_are: str = ""
    clusters: np.ndarray | None = None
    dimension: IntrinsicDimension | None = None
    most_dimensions: int | None = None
    categories: bool = False
    order: TableOrder | None = None
    stability: Stability | None = None
    gaps: dict[str, Fractures] = field(default_factory=dict)
    row_names: list[str] | None = None
    row_numbers: np.ndarray | None = None
    skipped: dict[str, str] = field(default_factory=dict)
    n_columns: int = 0

    __repr__ = brief

    @property
    def apart(self) -> np.ndarray:
        """Rows that the recommended map shows amid others that they are far from, the farthest first."""
        if self.isolation is None:
            return np.empty(0, int)
        value = np.where(np.isfinite(self.isolation), self.isolation, 0.0)  # beside copies no distance is usual
        return np.argsort(-value, kind="stable")[: int((value >= APART).sum())]


@dataclass(frozen=True, eq=False)
class Case:
    """A finished comparison: what `gather` looks at."""

    outcomes: list[Outcome]
    scored: dict[str, Scored]
    data: Data
    labels: Labels | None
    against: ReferenceChoice
    targets: dict[str, str]  # method -> what it needs labels for; empty if it needs none
    row_names: list[str] | None
    seed: int
    n_jobs: int | None = None
    in_this_process: bool = True  # whether methods may be fitted here; else each has a process of its own, with limits
    n_resamples: int = 0  # of `trust.stability`
    fractures: bool = False  # whether `trust.fractures` is asked for

    def outcome(self, name: str) -> Outcome:
        """The outcome of one method."""
        return next(one for one in self.outcomes if one.name == name)


class Listener(Protocol):
    """Hears which step begins, and how much of it is done."""

    def announce(self, name: str) -> None:
        """A step begins."""

    def tell(self, share: float) -> None:
        """So much of it is done."""


def gather(case: Case, listener: Listener | None = None) -> Evidence:
    """All numbers; what cannot be computed for this data is listed with the reason, and the rest goes on."""
    maps, width, left = comparable_maps(case)
    found = _about_data(case, maps, width)
    announce = (lambda name: None) if listener is None else listener.announce
    skipped = left | not_searched(case)
    if case.data.n < LEAST_ROWS or not maps:
        few = f"{case.data.n} rows are too few (at least {LEAST_ROWS})" if maps else "no map is complete"
        return replace(found, skipped={"all": few})
    rng = generator(case.seed)
    with warnings.catch_warnings():  # a disconnected graph is joined; the text of the reference says so
        warnings.filterwarnings("ignore", ".*the neighbour graph has .*; they were joined", UserWarning)
        source = _source(case.against, case.n_jobs)
        ranked = rank_all(case, maps, source, rng)
    best = ranked.rankings["neighbours"].best
    baseline = next((o.name for o in case.outcomes if o.baseline and o.name in maps), None)
    found = replace(found, baseline=baseline, rankings=ranked.rankings, recommended=best, curved=ranked.curved,
                    cut=ranked.cut, classes=ranked.classes)  # fmt: skip
    announce("maps of noise")
    try_ = Attempts(skipped)
    tell = (lambda share: None) if listener is None else listener.tell
    judged = try_("rows", Noise(case, source, maps, best, ranked.curved, ranked.cut, rng, tell).judge) or Judged()
    skipped |= judged.skipped
    announce("groups and dimension")
    labels, named = _groups_of(case, maps[best])
    near = try_("densities", lambda: surroundings(case.against, maps[best], case.n_jobs))
    spread, hidden = near or (None, None)
    found = replace(
        found,
        **judged.evidence(),
        groups=try_("groups", lambda: _groups(case, maps[best], labels)) if labels is not None else None,
        groups_are=named,
        clusters=np.array([each or "" for each in labels]) if named.startswith(CLUSTERS) else None,
        spread=spread,
        isolation=hidden,
        dimension=try_("dimension", lambda: _dimension(case)),
        most_dimensions=_most_dimensions(case.data),
        categories=case.data.mixed is not None,
        order=None if case.against.kind == "geodesic" else try_("order of the table", lambda: table_order(source)),
    )
    return replace(_asked_for(found, case, maps, try_, listener), skipped=skipped)


def _about_data(case: Case, maps: Iterable[str], width: int) -> Evidence:
    """What is known before anything is judged."""
    data = case.data
    numbers, columns = None if data.table is None else data.table.rows, 0 if data.distances else data.n_columns
    return Evidence(
        tuple(maps), width, data.n, case.against, row_names=case.row_names, row_numbers=numbers, n_columns=columns
    )


def _asked_for(
    found: Evidence, case: Case, maps: dict[str, np.ndarray], attempt: Attempts, listener: Listener | None
) -> Evidence:
    """What costs more and is only computed where it is wished for."""
    announce = (lambda name: None) if listener is None else listener.announce
    if case.n_resamples:
        announce("stability")
        best = str(found.recommended)
        found = replace(found, stability=attempt("stability", lambda: _stability(case, best, listener)))
    if case.fractures:
        announce("gaps")
        found = replace(found, gaps=gaps(case, maps, attempt))
    return found


class Attempts:
    """Parts of the evidence that some data cannot give: the error becomes the reason.

    Warnings are not shown: they are about noise, or about parts of the rows.
    """

    def __init__(self, skipped: dict[str, str]) -> None:
        self.skipped = skipped

    def __call__(self, name: str, compute: Callable[[], Any]) -> Any:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return compute()
        except (ValueError, TypeError) as problem:
            self.skipped[name] = str(problem)
            return None


def comparable_maps(case: Case) -> tuple[dict[str, np.ndarray], int, dict[str, str]]:
    """The maps that can be ranked together: complete, and with the most common number of components."""
    real = [o for o in case.outcomes if o.embedding is not None and not isinstance(o.estimator, RandomEmbedding)]
    whole = [o for o in real if np.isfinite(o.embedding).all()]  # type: ignore[arg-type]
    left = {o.name: "it leaves rows out" for o in real if o not in whole}
    if not whole:
        return {}, 0, left
    counts = Counter(o.n_components for o in whole)
    width = max(counts, key=lambda r: (counts[r], -(r or 0)))
    left |= {
        o.name: f"it has {o.n_components} column{'s' * (o.n_components != 1)}, not {width}, and more columns keep more"
        for o in whole
        if o.n_components != width
    }
    return {o.name: np.asarray(o.embedding) for o in whole if o.n_components == width}, int(width or 0), left


def _source(against: ReferenceChoice, n_jobs: int | None) -> Reference:
    return reference_of(
        against.rows, metric=against.metric, reference=against.kind, graph_neighbors=against.graph_neighbors,
        n_jobs=n_jobs, owner="compare",
    )  # fmt: skip


def _groups_of(case: Case, Z: np.ndarray) -> tuple[Any, str]:
    """The classes of the label, else clusters found in the map; and where they come from."""
    labels, named = _classes_or_clusters(case, Z)
    if labels is None or case.against.name != "gower" or not case.data.incomplete:
        return labels, named
    # Gower's distance leaves out cells that one row lacks: such rows are near to many and would join any two groups.
    known = np.isfinite(case.data.rows).mean(axis=1)
    poor = known < np.median(known)
    labels = np.where(poor, None, labels)
    return labels, f"{named}; {poor.sum():,} rows with more missing cells than most left out" if poor.any() else named


def _classes_or_clusters(case: Case, Z: np.ndarray) -> tuple[Any, str]:
    if case.labels is not None and case.labels.codes is not None and case.labels.classes is not None:
        names = np.array([*case.labels.classes, None], dtype=object)
        return names[case.labels.codes], f"classes of {case.labels.name}"
    if len(Z) > MOST_ROWS:
        return None, ""
    from sklearn.cluster import HDBSCAN

    found = HDBSCAN(min_cluster_size=max(LEAST_GROUP, len(Z) // 50), copy=True).fit(np.array(Z, float)).labels_
    if found.max() < 1:
        return None, ""
    return np.array([None if code < 0 else f"cluster {code + 1}" for code in found], dtype=object), CLUSTERS


def _groups(case: Case, Z: np.ndarray, labels: Any) -> GroupTrust:
    metric = "precomputed" if case.against.kind == "precomputed" else case.against.metric
    return groups(case.against.rows, Z, labels, metric=metric, random_state=case.seed, n_jobs=case.n_jobs)


def _dimension(case: Case) -> IntrinsicDimension:
    metric = "precomputed" if case.against.kind == "precomputed" else case.against.metric
    return intrinsic_dimension(case.against.rows, metric=metric, n_jobs=case.n_jobs)


def _most_dimensions(data: Data) -> int | None:
    if data.distances or data.mixed is not None:
        return None
    with np.errstate(invalid="ignore"):
        varying = np.fmax.reduce(data.rows, axis=0) > np.fmin.reduce(data.rows, axis=0)  # NaN: no cell is known
    return min(int(varying.sum()), data.n - 1)


def _stability(case: Case, name: str, listener: Listener | None) -> Stability:
    outcome = case.outcome(name)
    if isinstance(outcome.estimator, ReadyMade) or case.targets.get(name):
        raise ValueError(f"{name} cannot be fitted again to parts of the rows")
    vary: Iterable[str] = ("seed", "settings") if case.data.distances else ("rows", "seed", "settings")
    return stability(
        case.data.seen_by(outcome.estimator), outcome.estimator, n_resamples=case.n_resamples, vary=vary,
        progress=None if listener is None else lambda done, total: listener.tell(done / total),
        random_state=case.seed, n_jobs=case.n_jobs,
    )  # fmt: skip

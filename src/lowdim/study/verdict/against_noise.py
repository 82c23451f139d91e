"""Rows and whole maps beside those of noise: one table of noise serves all methods."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from lowdim._core.neighbors import shared
from lowdim._core.ranks.ranking import reference_agreement
from lowdim._core.ranks.reference import Reference, reference_of
from lowdim.quality.row_curves import RowCurves
from lowdim.study.data import Data
from lowdim.study.methods import method_of
from lowdim.study.outside import ReadyMade
from lowdim.study.reference_choice import ReferenceChoice, choose_reference
from lowdim.study.running.one_method import Outcome
from lowdim.study.verdict.noise import mapped_again, noise_of, sample_of
from lowdim.study.verdict.rankings import STRAIGHT, distances_along
from lowdim.study.verdict.structure_found import FoundStructure
from lowdim.study.verdict.structure_test import Mapped, fixed_methods, structure_test
from lowdim.trust.agreement import Compared, far_pairs
from lowdim.trust.nearness import fitting_null
from lowdim.trust.rows import NEIGHBORS, judged_rows

if TYPE_CHECKING:
    from lowdim.study.verdict.evidence import Case

LEVEL = 0.05
POOLED = 2000  # rows of noise: a p-value of 0.05 is then known to 0.005
MOST_TABLES = 5
MANY_ROWS = 5000  # from here on only the recommended map is compared with maps of noise: each is a second fit
MOST_ROWS = 20_000  # from here on neighbours of noise are searched for minutes: rows of a map of a sample are judged
PART = 2000  # rows of that sample
BUDGET = 120.0  # seconds that maps of noise may take for the rows of one method, by the time that its own map took
SLOW = (
    "mvu",
    "tcie",
    "gplvm",
    "autoencoder",
    "vae",
    "nlpca",
    "inverse-nlpca",
)  # fitted again only if recommended, once


@dataclass(frozen=True, eq=False)
class SampledRows:
    """Verdicts on the rows of a map of a sample, where noise of the size of the data cannot be mapped in time."""

    method: str
    verdict: np.ndarray
    n_all: int


@dataclass(frozen=True, eq=False)
class Judged:
    """Verdicts and p-values of rows by method, the test of the whole map, and what was left out."""

    verdicts: dict[str, np.ndarray] = field(default_factory=dict)
    p_values: dict[str, np.ndarray] = field(default_factory=dict)
    sampled: SampledRows | None = None
    structure: FoundStructure | None = None
    curved: tuple[float, float] | None = None  # of the rows (or of a sample of them), and of noise with as many rows
    skipped: dict[str, str] = field(default_factory=dict)
    kind: str = "permuted"  # of the noise that rows are compared with

    def evidence(self) -> dict[str, Any]:
        """What goes into the evidence, by name."""
        found = {name: getattr(self, name) for name in ("verdicts", "p_values", "sampled", "structure")}
        found["noise"] = self.kind
        return found if self.curved is None else {**found, "curved": self.curved[0], "curved_noise": self.curved[1]}


Found = dict[str, tuple[np.ndarray, np.ndarray]]  # method -> verdicts and p-values of its rows


@dataclass(frozen=True, eq=False)
class Noise:
    """Compares maps with maps of noise."""

    case: Case
    source: Reference
    maps: dict[str, np.ndarray]
    best: str
    curved: float | None
    cut: int
    rng: np.random.Generator
    tell: Callable[[float], None] = lambda share: None  # hears how much is done
    kind: str = "permuted"

    def judge(self) -> Judged:
        """The rows of all maps, or of many rows those of the recommended one; then whether there is structure."""
        if self.case.against.name == "given" and not self.case.data.distances:
            return Judged(skipped={"rows": "the reference distances were given, and noise has none"})
        if self.case.data.n_columns == 1 and not self.case.data.distances:
            return Judged(skipped={"structure": "one column has no other that it could be related to"})
        if not self.case.in_this_process:
            return Judged(skipped={"rows": "each method runs under limits in a process of its own"})
        of_rows, of_sample, of_structure, of_kind = self.rng.spawn(4)  # what one of them draws changes no other
        return replace(self, kind=self._kind(of_kind))._judge(of_rows, of_sample, of_structure)

    def _kind(self, rng: np.random.Generator) -> str:
        """Shuffled columns, unless these make groups of their own."""
        data, against = self.case.data, self.case.against
        if data.distances or data.mixed is not None or data.incomplete:
            return "permuted"
        compared = Compared(against.metric, "ambient", n_jobs=self.case.n_jobs, owner="compare")
        return fitting_null(data.rows, compared, rng)

    def _judge(
        self, of_rows: np.random.Generator, of_sample: np.random.Generator, of_structure: np.random.Generator
    ) -> Judged:
        shown = [o for o in self.case.outcomes if o.name in self.maps]
        reasons = {o.name: reason for o in shown if (reason := self._reason(o))}
        whole = _Part(self, self.case.data, self.case.against, self.source, of_rows)
        found, curved, skipped = whole.judged(self.maps, [o for o in shown if o.name not in reasons])
        sampled = None
        if self.best in reasons and _fits_again(self.case.outcome(self.best)):
            sampled, of_part, failed = self._sampled(self.case.outcome(self.best), of_sample)
            curved, skipped = curved or of_part, skipped | failed
        tested = fixed_methods([o for o in shown if _fits_again(o) and not _slow(o) and not self._target(o)])
        structure, left = structure_test(whole, tested, of_structure, lambda share: self.tell(0.5 + 0.5 * share))
        return Judged(
            {name: verdict for name, (verdict, _) in found.items()}, {name: p for name, (_, p) in found.items()},
            sampled, structure, curved, _named(reasons) | skipped | left, self.kind,
        )  # fmt: skip

    def _target(self, outcome: Outcome) -> str:
        return self.case.targets.get(outcome.name, "")

    def _reason(self, outcome: Outcome) -> str:
        """Why the rows of a map are not compared with noise of the same size; empty if they are."""
        n = self.case.data.n
        seconds = outcome.seconds * _tables(n)
        if not _fits_again(outcome):
            return "it is no method that could map noise"
        if n > MOST_ROWS:
            return f"to map noise of {n:,} rows takes too long"
        if outcome.name != self.best and n > MANY_ROWS:
            return f"of more than {MANY_ROWS:,} rows only the recommended map is compared with noise"
        if outcome.name != self.best and _slow(outcome):
            return "it is slow to fit, and only compared with noise where it is recommended"
        if seconds > BUDGET:
            return f"by the time of its own map, maps of noise would take more than {BUDGET:.0f} s"
        return ""

    def _sampled(
        self, outcome: Outcome, rng: np.random.Generator
    ) -> tuple[SampledRows | None, tuple[float, float] | None, dict[str, str]]:
        """The rows of a map of a sample, by the same method, beside noise with as many rows."""
        n, target = self.case.data.n, self._target(outcome)
        chosen = np.sort(rng.choice(n, min(n, PART), replace=False))
        labels = self.case.labels.take(chosen) if target and self.case.labels is not None else None
        part = _Part.of(self, sample_of(self.case.data, chosen), rng)
        Z = mapped_again(outcome, part.data, labels, target, int(rng.integers(2**31)))
        if isinstance(Z, str):
            return None, None, {"rows of a sample": f"its map by {outcome.name} failed: {Z}"}
        found, curved, skipped = part.judged({outcome.name: Z}, [outcome], chosen)
        if outcome.name not in found:
            return None, curved, skipped
        return SampledRows(outcome.name, found[outcome.name][0], n), curved, skipped


@dataclass(frozen=True, eq=False)
class _Part(Mapped):
    """All rows or a sample of them, with their distances."""

    noise: Noise
    data: Data
    against: ReferenceChoice
    source: Reference
    rng: np.random.Generator

    @classmethod
    def of(cls, noise: Noise, data: Data, rng: np.random.Generator) -> _Part:
        """Some rows of the data."""
        made = cls(noise, data, noise.case.against, noise.source, rng)
        against = made.reference_of(data)
        return cls(noise, data, against, made.compared(against).source(against.rows), rng)

    def judged(
        self, maps: dict[str, np.ndarray], fitted: list[Outcome], chosen: np.ndarray | None = None
    ) -> tuple[Found, tuple[float, float] | None, dict[str, str]]:
        """Verdicts and p-values of the rows by method; how curved data and noise are; methods that failed on noise."""
        if not fitted:
            return {}, None, {}
        observed = self._observed(maps, [o.name for o in fitted], chosen is None)
        null: dict[str, list[np.ndarray]] = {o.name: [] for o in fitted}
        skipped: dict[str, str] = {}
        curved = None
        turns = _tables(self.data.n)
        for turn in range(turns):
            noise = noise_of(self.data, self.rng, self.noise.kind)
            with shared(noise.rows):
                against = self.reference_of(noise)
                for name, curves in self._of_noise(noise, against, fitted, skipped, chosen).items():
                    null[name].append(curves.values)
                curved = self._curved(against, chosen is None) if turn == 0 else curved
            self.noise.tell(0.5 * (turn + 1) / turns)
        found = {
            name: judged_rows(observed[name], np.concatenate(values), LEVEL, self._all_false(maps[name]))
            for name, values in null.items()
            if values and name not in skipped
        }
        return found, curved, skipped

    def _curved(self, noise: ReferenceChoice, whole: bool) -> tuple[float, float] | None:
        """Rank correlation of straight distances with those along the data, of the rows and of noise."""
        if self.noise.case.against.name not in STRAIGHT:
            return None
        of_rows, cut = (self.noise.curved, self.noise.cut) if whole else self._bent(self.against, True)
        return None if of_rows is None else (of_rows, self._bent(noise, cut > 0)[0])  # both cleaned, or none

    def _bent(self, against: ReferenceChoice, clean: bool) -> tuple[float, int]:
        n_jobs = self.noise.case.n_jobs
        straight = reference_of(against.rows, metric=against.metric, n_jobs=n_jobs, owner="compare")
        along = distances_along(against, straight.n, n_jobs, clean=clean)
        return reference_agreement(straight, along.distances, self.rng), along.cut

    def _observed(self, maps: dict[str, np.ndarray], names: list[str], whole: bool) -> dict[str, RowCurves]:
        """The curves of the rows of the data: those that were found with the scores, where they were."""
        scored = self.noise.case.scored
        known = {name: curves for name in names if whole and (curves := scored[name].curves) is not None}
        return known | self.curves(self.against, {name: maps[name] for name in names if name not in known}, self.rng)

    def _all_false(self, Z: np.ndarray) -> np.ndarray:
        """Rows none of whose nearest rows in the map is near in the data."""
        near = Compared(n_jobs=self.noise.case.n_jobs, owner="compare").neighbours(Z, min(NEIGHBORS, len(Z) - 2))
        return np.asarray(far_pairs(self.source, near.indices, self.rng).all(axis=1))

    def _of_noise(
        self, noise: Data, against: ReferenceChoice, fitted: list[Outcome], skipped: dict[str, str],
        chosen: np.ndarray | None,
    ) -> dict[str, RowCurves]:  # fmt: skip
        """Curves of the rows of one table of noise in its maps by each method."""
        placed = {}
        for outcome in fitted:
            target, labels = self.noise.case.targets.get(outcome.name, ""), self.noise.case.labels
            if labels is not None and chosen is not None:
                labels = labels.take(chosen)
            Z = mapped_again(outcome, noise, labels if target else None, target, int(self.rng.integers(2**31)))
            if isinstance(Z, str):
                skipped[outcome.name] = f"its map of noise failed: {Z}"
            else:
                placed[outcome.name] = Z
        return self.curves(against, placed, self.rng)

    def curves(
        self, against: ReferenceChoice, maps: dict[str, np.ndarray], rng: np.random.Generator
    ) -> dict[str, RowCurves]:
        """The R_NX curve of every row in each map."""
        return self.compared(against).curves(against.rows, maps, rng) if maps else {}

    def compared(self, against: ReferenceChoice) -> Compared:
        """How the rows are compared with those of a map."""
        n_jobs = self.noise.case.n_jobs
        return Compared(against.metric, against.kind, against.graph_neighbors, n_jobs, "compare")

    def reference_of(self, data: Data) -> ReferenceChoice:
        """Distances of the same kind between the rows of other data."""
        against = self.noise.case.against
        own = against.name not in ("expected", "gower") and against.kind != "precomputed" and data.mixed is None
        metric = against.metric if own and not data.incomplete else "euclidean"
        name = "geodesic" if against.kind == "geodesic" else "ambient"
        k = against.graph_neighbors
        return choose_reference(name, data, metric=metric, graph_neighbors=k, n_jobs=self.noise.case.n_jobs)


def _tables(n: int) -> int:
    """Tables of noise whose pooled rows are enough for p-values."""
    return int(np.clip(-(-POOLED // n), 1, MOST_TABLES))


def _fits_again(outcome: Outcome) -> bool:
    return not isinstance(outcome.estimator, ReadyMade) and hasattr(outcome.estimator, "get_params")


def _slow(outcome: Outcome) -> bool:
    known = method_of(outcome.estimator)
    return known is not None and known.name in SLOW


def _named(reasons: dict[str, str]) -> dict[str, str]:
    """What was left out by name, maps with the same reason together."""
    by: dict[str, list[str]] = {}
    for name, reason in reasons.items():
        by.setdefault(reason, []).append(name)
    return {f"single rows of {', '.join(names)}": reason for reason, names in by.items()}

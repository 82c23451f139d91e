"""Is there structure at all? Maps of a sample of the rows, and its distances, beside those of noise.

The methods are fixed before the data are looked at: the linear map, and the first of a list of methods for neighbours.
To test the method that the ranking of the same rows put first would find structure in noise too often: among maps that
are about equally good, the one that the rows happen to favour is first, and maps of noise by that method have no such
advantage. With both methods the data stand out where they stand out most, at any neighbourhood size in either map; so
does each table of noise.

Maps alone do not suffice. Shuffled principal components of groups make a grid of groups, which maps keep as well as the
groups of the data. So the distances to the nearest rows count too (`trust.nearness`): where columns are related they
are shorter than in noise, whatever single columns are like. Where the maps do not tell the data from shuffled columns,
they are compared with Gaussian rows of the same covariance as well, to say whether they show anything.

Nineteen tables of noise say no less than p = 0.05. That is enough where the data lead by more than all tables of noise
differ. Where the lead is narrow, more tables are mapped, up to 99, until so many of them stand out as much as the data
that the answer is known (a sequential Monte Carlo test after Besag and Clifford). To stop early can only mean that
nothing was found, so that at most one table of noise in twenty is called structure.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from lowdim._core.neighbors import shared
from lowdim.quality.row_curves import RowCurves
from lowdim.study.data import Data
from lowdim.study.methods import method_of
from lowdim.study.reference_choice import ReferenceChoice
from lowdim.study.running.one_method import Outcome
from lowdim.study.verdict.few_rows import suspects
from lowdim.study.verdict.noise import mapped_again, noise_of, sample_of
from lowdim.study.verdict.structure_found import FoundStructure, Without, found_structure
from lowdim.trust.agreement import Compared
from lowdim.trust.nearness import nearness

TABLES, SAMPLE = 19, 400  # tables of noise, and rows of each
MOST_TABLES, STEP = 99, 20  # tables where the lead is narrow, and how many are mapped before the next look
FEWEST = 30  # rows that are left without those that could make structure by themselves
SETTLED = 6  # tables that stand out as much: the p-value of 99 tables would be above 0.05
BUDGET = 60.0  # processor seconds that all maps of noise by one method may take, by the time of the first map
MORE_BUDGET = 60.0  # processor seconds that the further tables may take together, by the time of the first ones
FIRST = ("tsne", "umap", "isomap", "laplacian-eigenmaps", "lle", "mds", "sammon", "kernel-pca")


class Mapped(Protocol):
    """Rows whose maps can be compared with those of other rows."""

    data: Data

    @abstractmethod
    def reference_of(self, data: Data) -> ReferenceChoice:
        """Distances between the rows of other data."""

    @abstractmethod
    def curves(
        self, against: ReferenceChoice, maps: dict[str, np.ndarray], rng: np.random.Generator
    ) -> dict[str, RowCurves]:
        """The R_NX curve of every row in each map."""

    @abstractmethod
    def compared(self, against: ReferenceChoice) -> Compared:
        """How the rows are compared with those of a map."""


def fixed_methods(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """The linear map and one for neighbours: a choice that does not depend on how the columns are related."""
    known = {o.name: method.name for o in outcomes if (method := method_of(o.estimator)) is not None}
    linear = [o for o in outcomes if o.baseline][:1]
    others = [o for o in outcomes if not o.baseline]
    place = {name: at for at, name in enumerate(FIRST)}
    others.sort(key=lambda o: place.get(known.get(o.name, ""), len(FIRST)))
    return linear + others[:1]


def structure_test(
    part: Mapped, methods: list[Outcome], rng: np.random.Generator, tell: Callable[[float], None] = lambda share: None
) -> tuple[FoundStructure | None, dict[str, str]]:
    """The fixed methods on a sample of the rows and on noise made from that sample; what was left out, and why.

    `tell` is called with the share of the first tables of noise that are mapped.
    """
    n = part.data.n
    chosen = np.sort(rng.choice(n, min(n, SAMPLE), replace=False))
    data = sample_of(part.data, chosen)
    kept, skipped = [], {}
    for outcome in methods:
        start = time.process_time()
        Z = mapped_again(outcome, data, None, "", int(rng.integers(2**31)))
        needed = TABLES * (time.process_time() - start)
        if isinstance(Z, str):
            skipped[f"structure in {outcome.name}"] = f"its map of {data.n:,} rows failed: {Z}"
        elif needed > BUDGET:
            skipped[f"structure in {outcome.name}"] = f"{TABLES} maps of noise would take about {needed:.0f} s"
        else:
            kept.append((outcome, Z))
    if not kept:
        return None, skipped
    placed = {outcome.name: Z for outcome, Z in kept}
    looked = _Look.at(part, data, [outcome for outcome, _ in kept], placed, rng, tell)
    try:
        found = sequential(looked, skipped)
    except _MapFailed as failure:
        return None, skipped | {"structure": str(failure)}
    found = found if found.by_maps else replace(found, gaussian=looked.beside_gaussian(skipped))
    return replace(found, without=_without(looked, chosen)) if found.related else found, skipped


def _without(looked: _Look, chosen: np.ndarray) -> Without | None:
    """The test without the few rows that could make structure by themselves; None where there are none."""
    if not looked.measured or looked.data.mixed is not None:
        return None
    data, against = looked.data, looked.part.reference_of(looked.data)
    left_out = suspects(data.rows, looked.part.compared(against).source(against.rows), looked.rng)
    others = left_out.others(data.n)
    if len(others) == data.n or len(others) < FEWEST:
        return None
    rest = sample_of(data, others)
    maps = {o.name: mapped_again(o, rest, None, "", int(looked.rng.integers(2**31))) for o in looked.methods}
    placed = {name: Z for name, Z in maps.items() if not isinstance(Z, str)}
    if len(placed) < len(maps):
        return None
    try:
        found = sequential(_Look.at(looked.part, rest, looked.methods, placed, looked.rng, lambda share: None), {})
    except _MapFailed:
        return None
    return Without(chosen[left_out.far], len(left_out.copies), found)


class _MapFailed(Exception):
    """A method has no map of noise."""


@dataclass(frozen=True, eq=False)
class _Look:
    """Maps as many tables of noise as are asked for, and compares the data with them."""

    part: Mapped
    data: Data
    methods: list[Outcome]
    rng: np.random.Generator
    tell: Callable[[float], None]
    measured: bool  # whether distances count too
    observed: np.ndarray

    @classmethod
    def at(
        cls,
        part: Mapped,
        data: Data,
        methods: list[Outcome],
        maps: dict[str, np.ndarray],
        rng: np.random.Generator,
        tell: Callable[[float], None],
    ) -> _Look:
        """The maps of the data. Distances that are given, or between incomplete rows, do not count."""
        measured = not data.distances and not data.incomplete
        blank = cls(part, data, methods, rng, tell, measured, np.empty(0))
        return replace(blank, observed=blank.signs(data, maps))

    def tables(self, count: int, kind: str = "permuted") -> list[np.ndarray]:
        """What so many more tables of noise show."""
        made = []
        for _ in range(count):
            made.append(self._table(kind))
            self.tell(len(made) / count)
        return made

    def _table(self, kind: str) -> np.ndarray:
        noise = noise_of(self.data, self.rng, kind)
        with shared(noise.rows):
            maps: dict[str, np.ndarray] = {}
            for outcome in self.methods:
                Z = mapped_again(outcome, noise, None, "", int(self.rng.integers(2**31)))
                if isinstance(Z, str):
                    raise _MapFailed(f"the map of noise by {outcome.name} failed: {Z}")
                maps[outcome.name] = Z
            return self.signs(noise, maps)

    def signs(self, data: Data, maps: dict[str, np.ndarray]) -> np.ndarray:
        """The mean curves of the maps, one after the other, and how near the nearest rows are."""
        against = self.part.reference_of(data)
        found = self.part.curves(against, maps, self.rng)
        signs = [found[name].values.mean(axis=0) for name in maps]
        if self.measured:
            signs.append(nearness(self.part.compared(against).source(against.rows)))
        return np.concatenate(signs)

    def found(self, null: list[np.ndarray]) -> FoundStructure:
        """The data beside these tables of noise."""
        names = [outcome.name for outcome in self.methods]
        return found_structure(self.observed, np.array(null), names, self.data.n, nearer=self.measured)

    def beside_gaussian(self, skipped: dict[str, str]) -> FoundStructure | None:
        """The maps alone beside those of Gaussian rows with the same covariance; None where there are no such rows."""
        if not self.measured or self.data.mixed is not None:
            return None
        names = [outcome.name for outcome in self.methods]
        try:
            null = np.array(self.tables(TABLES, "gaussian"))
        except _MapFailed as failure:
            skipped["structure beside Gaussian rows"] = str(failure)
            return None
        size = len(self.observed) // (len(names) + 1) * len(names)
        return found_structure(self.observed[:size], null[:, :size], names, self.data.n)


class Looked(Protocol):
    """Draws tables of noise, and compares the data with them."""

    def tables(self, count: int) -> list[np.ndarray]:
        """So many more tables."""

    def found(self, null: list[np.ndarray]) -> FoundStructure:
        """The data beside these tables."""


def sequential(looked: Looked, skipped: dict[str, str]) -> FoundStructure:
    """Nineteen tables of noise; more of them where the lead is narrow, until the answer is known."""
    start = time.process_time()
    null = looked.tables(TABLES)
    found, spent = looked.found(null), time.process_time() - start
    if found.clear or found.as_much >= SETTLED:
        return found
    needed = spent / TABLES * (MOST_TABLES - TABLES)
    if needed > MORE_BUDGET:
        skipped["structure by more tables"] = f"{MOST_TABLES - TABLES} more tables of noise would take {needed:.0f} s"
        return found
    while len(null) < MOST_TABLES and found.as_much < SETTLED:
        null += looked.tables(min(STEP, MOST_TABLES - len(null)))
        found = looked.found(null)
    return found

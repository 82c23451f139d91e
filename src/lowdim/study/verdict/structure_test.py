"""Is there structure at all? Maps of a sample of the rows beside maps of noise.

The methods are fixed before the data are looked at: the linear map, and the first of a list of methods for neighbours.
To test the method that the ranking of the same rows put first would find structure in noise too often: among maps that
are about equally good, the one that the rows happen to favour is first, and maps of noise by that method have no such
advantage. With both methods the data stand out where they stand out most, at any neighbourhood size in either map; so
does each table of noise.

Nineteen tables of noise say no less than p = 0.05. That is enough where the data lead by more than all tables of noise
differ. Where the lead is narrow, more tables are mapped, up to 99, until so many of them stand out as much as the data
that the answer is known (a sequential Monte Carlo test after Besag and Clifford). To stop early can only mean that
nothing was found, so that at most one table of noise in twenty is called structure.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from lowdim._core.neighbors import shared
from lowdim.quality.row_curves import RowCurves, scales_of
from lowdim.study.data import Data
from lowdim.study.methods import method_of
from lowdim.study.reference_choice import ReferenceChoice
from lowdim.study.running.one_method import Outcome
from lowdim.study.verdict.noise import mapped_again, noise_of, sample_of
from lowdim.trust.structure import is_clear, stand_out

TABLES, SAMPLE = 19, 400  # tables of noise, and rows of each
MOST_TABLES, STEP = 99, 20  # tables where the lead is narrow, and how many are mapped before the next look
SETTLED = 6  # tables that stand out as much: the p-value of 99 tables would be above 0.05
BUDGET = 60.0  # processor seconds that all maps of noise by one method may take, by the time of the first map
MORE_BUDGET = 60.0  # processor seconds that the further tables may take together, by the time of the first ones
FIRST = ("tsne", "umap", "isomap", "laplacian-eigenmaps", "lle", "mds", "sammon", "kernel-pca")


@dataclass(frozen=True, eq=False)
class FoundStructure:
    """Where maps of a sample of the rows stand out most beside maps of noise by the same methods.

    Attributes
    ----------
    method : str
        The map in which they stand out most.
    p_value : float
        Share of the tables, the data among them, that stand out at least as much in any of the maps.
    scale : int
        The neighbourhood size at which they do.
    observed : float
        R_NX of the rows at that size in that map.
    null : float
        The largest value of the noise there.
    lowest : float
        The smallest value of the noise there.
    n_rows, n_null : int
        Rows of the sample, tables of noise.
    methods : tuple of str
        All methods that were looked at.
    """

    method: str
    p_value: float
    scale: int
    observed: float
    null: float
    lowest: float
    n_rows: int
    n_null: int
    methods: tuple[str, ...] = ()

    @property
    def as_much(self) -> int:
        """Tables of noise that stand out at least as much as the data."""
        return round(self.p_value * (1 + self.n_null)) - 1

    @property
    def clear(self) -> bool:
        """Whether no table of noise stands out as much, and the lead is wider than the range of the noise."""
        return self.as_much == 0 and is_clear(self.observed, self.lowest, self.null)


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
    data = sample_of(part.data, np.sort(rng.choice(n, min(n, SAMPLE), replace=False)))
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
    observed = _mean_curves(part, part.reference_of(data), placed, rng)
    looked = _Look(part, data, [outcome for outcome, _ in kept], observed, rng, tell)
    try:
        return sequential(looked, skipped), skipped
    except _MapFailed as failure:
        return None, skipped | {"structure": str(failure)}


class _MapFailed(Exception):
    """A method has no map of noise."""


@dataclass(frozen=True, eq=False)
class _Look:
    """Maps as many tables of noise as are asked for, and compares the data with them."""

    part: Mapped
    data: Data
    methods: list[Outcome]
    observed: np.ndarray
    rng: np.random.Generator
    tell: Callable[[float], None]

    def tables(self, count: int) -> list[np.ndarray]:
        """The mean curves of so many more tables of noise."""
        made = []
        for _ in range(count):
            made.append(self._table())
            self.tell(len(made) / count)
        return made

    def _table(self) -> np.ndarray:
        noise = noise_of(self.data, self.rng)
        with shared(noise.rows):
            maps: dict[str, np.ndarray] = {}
            for outcome in self.methods:
                Z = mapped_again(outcome, noise, None, "", int(self.rng.integers(2**31)))
                if isinstance(Z, str):
                    raise _MapFailed(f"the map of noise by {outcome.name} failed: {Z}")
                maps[outcome.name] = Z
            return _mean_curves(self.part, self.part.reference_of(noise), maps, self.rng)

    def found(self, null: list[np.ndarray]) -> FoundStructure:
        """The data beside these tables of noise."""
        return _found(self.observed, np.array(null), [outcome.name for outcome in self.methods], self.data.n)


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


def _mean_curves(
    part: Mapped, against: ReferenceChoice, maps: dict[str, np.ndarray], rng: np.random.Generator
) -> np.ndarray:
    """The mean curves of the maps, one after the other."""
    found = part.curves(against, maps, rng)
    return np.concatenate([found[name].values.mean(axis=0) for name in maps])


def _found(observed: np.ndarray, null: np.ndarray, names: list[str], n: int) -> FoundStructure:
    z, null_z = stand_out(observed, null)
    at = int(z.argmax())
    p = (1 + int((null_z >= z[at]).sum())) / (1 + len(null))
    scales, noise = scales_of(n), null[:, at]
    method, scale = names[at // len(scales)], int(scales[at % len(scales)])
    return FoundStructure(
        method, p, scale, float(observed[at]), float(noise.max()), float(noise.min()), n, len(null), tuple(names)
    )

"""Is there structure at all? Maps of a sample of the rows beside maps of noise.

The methods are fixed before the data are looked at: the linear map, and the first of a list of methods for neighbours.
To test the method that the ranking of the same rows put first would find structure in noise too often: among maps that
are about equally good, the one that the rows happen to favour is first, and maps of noise by that method have no such
advantage. With both methods the data stand out where they stand out most, at any neighbourhood size in either map; so
does each table of noise.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Sequence
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
from lowdim.trust.structure import stand_out

TABLES, SAMPLE = 19, 400  # tables of noise, and rows of each
BUDGET = 60.0  # processor seconds that all maps of noise by one method may take, by the time of the first map
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
    n_rows: int
    n_null: int
    methods: tuple[str, ...] = ()


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
    part: Mapped, methods: list[Outcome], rng: np.random.Generator
) -> tuple[FoundStructure | None, dict[str, str]]:
    """The fixed methods on a sample of the rows and on noise made from that sample; what was left out, and why."""
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
    observed, null = [_mean_curves(part, part.reference_of(data), placed, rng)], []
    for _ in range(TABLES):
        noise = noise_of(data, rng)
        with shared(noise.rows):
            maps = {o.name: mapped_again(o, noise, None, "", int(rng.integers(2**31))) for o, _ in kept}
            failed = [name for name, Z in maps.items() if isinstance(Z, str)]
            if failed:
                return None, skipped | {"structure": f"the map of noise by {failed[0]} failed: {maps[failed[0]]}"}
            null.append(_mean_curves(part, part.reference_of(noise), maps, rng))  # type: ignore[arg-type]
    return _found(observed[0], np.array(null), list(placed), data.n), skipped


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
    scales = scales_of(n)
    method, scale = names[at // len(scales)], int(scales[at % len(scales)])
    return FoundStructure(method, p, scale, float(observed[at]), float(null[:, at].max()), n, len(null), tuple(names))

"""Sums over pairs of rows: all pairs in blocks, or a sample of them with confidence intervals.

Stress, Sammon's error and Pearson's correlation are functions of a dozen sums over the pairs (delta, d) of
distances in the data and in the embedding. Correlations are summed around a pilot mean and residuals around a
pilot scale, to avoid cancellation for a nearly perfect embedding. Distances whose squares would leave the
range of float64 are summed in their own unit, a power of two. The distances of the data are computed once for all
embeddings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim._core.params import shown, whole
from lowdim._core.ranks.reference import Reference
from lowdim._core.runtime import memory
from lowdim._core.runtime.threads import map_rows
from lowdim.quality.pair_samples import Interval, RowPairs, above
from lowdim.quality.pair_statistics import Statistic

Array = NDArray[Any]

EXACT_UP_TO = 5_000  # rows whose pairs are all summed under pairs="auto"
SAMPLE = 200_000  # pairs drawn beyond


@dataclass(frozen=True)
class Pilot:
    """Approximate values to sum around: mean of delta, mean of d, scale of d; and the units 2**units of both."""

    delta: float
    d: float
    scale: float
    units: tuple[int, int] = (0, 0)


@dataclass(frozen=True, eq=False)
class PairSums:
    """The sums, in the order of `pair_statistics`; of sampled pairs also the summands, one row for each pair."""

    sums: Array
    pilot: Pilot
    n: int
    reference: str
    pairs: RowPairs | None = None
    summands: Array | None = None

    def estimate(self, statistic: Statistic, times: float = 1.0) -> tuple[float, Interval | None]:
        """A function of the sums in true units, and its 95 % confidence interval if pairs were sampled."""
        power = statistic.power(*self.pilot.units)
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            value = statistic.value(self.sums)
            exact = float(np.ldexp(value * times, power))
            if self.pairs is None or self.summands is None:
                return exact, None
            if np.isnan(value):
                return exact, (np.nan, np.nan)
            slopes = statistic.slopes(self.sums)
            influence = np.zeros(len(self.summands))
            for column, slope in slopes.items():
                influence += slope * self.summands[:, column]
            ends = self.pairs.interval(value, influence, statistic.low, statistic.high)
            low, high = np.ldexp(np.multiply(ends, times), power)
        return exact, (float(low), float(high))


def wanted(pairs: Any, n: int, exact_up_to: int, owner: str) -> int | None:
    """How many pairs to draw; None for all, of which there may be fewer than were asked for."""
    if isinstance(pairs, str) and pairs == "auto":
        return None if n <= exact_up_to else SAMPLE
    if pairs is None:
        return None
    if not whole(2).accepts(pairs):
        raise ValueError(f'{owner}: pairs must be "auto", None or an integer of at least 2; got {shown(pairs)}.')
    if (drawn := int(pairs)) >= n * (n - 1) // 2:
        return None
    memory.check(owner, {"pairs of rows": 48 * drawn}, "Draw fewer pairs.")
    return drawn


def sums_of_all(source: Reference, spaces: Mapping[str, Reference], n_jobs: int | None) -> dict[str, PairSums]:
    """The sums over all pairs of rows for each embedding."""
    pilots = _pilots(source, spaces)

    def summed(part: slice) -> Array:
        rows = np.arange(part.start, part.stop)
        upper = above(rows, source.n)
        delta = source.block(rows, False)[upper].astype(float)
        with np.errstate(over="ignore", invalid="ignore"):  # infinite sums are an error later
            return np.stack([
                column_sums(*in_units(delta, space.block(rows, False)[upper].astype(float), pilots[name].units),
                            pilots[name])
                for name, space in spaces.items()
            ])  # fmt: skip

    parts = map_rows(summed, source.n, max(1, min(256, 2**17 // source.n)), n_jobs)
    totals = np.sum(parts, axis=0)
    return {
        name: PairSums(total, pilots[name], source.n, source.name) for name, total in zip(spaces, totals, strict=True)
    }


def sums_of_sample(pairs: RowPairs, source: Reference, space: Reference) -> PairSums:
    """The sums over sampled pairs of rows."""
    d = pairs.distances(space)
    pilot = pilot_of(pairs.delta, d)
    with np.errstate(over="ignore", invalid="ignore"):
        table = columns(*in_units(pairs.delta, d, pilot.units), pilot)
        return PairSums(table.sum(axis=0), pilot, source.n, source.name, pairs, table)


def _pilots(source: Reference, spaces: Mapping[str, Reference]) -> dict[str, Pilot]:
    """From twenty rows."""
    rows = np.unique(np.linspace(0, source.n - 1, 20).astype(np.int64))
    others = np.arange(source.n)[None, :] != rows[:, None]
    delta = source.block(rows, False)[others].astype(float)
    return {name: pilot_of(delta, space.block(rows, False)[others].astype(float)) for name, space in spaces.items()}


def pilot_of(delta: Array, d: Array) -> Pilot:
    """Means and least-squares scale of some pairs, in their units."""
    units = unit_of(delta), unit_of(d)
    delta, d = in_units(delta, d, units)
    with np.errstate(over="ignore", invalid="ignore"):
        length = float(d @ d)
        return Pilot(float(delta.mean()), float(d.mean()), float(delta @ d) / length if length > 0 else 0.0, units)


def unit_of(lengths: Array) -> int:
    """The exponent of the unit for these lengths: 0 unless they are far from 1."""
    exponent = int(np.frexp(np.max(lengths, initial=0))[1])
    return int(np.clip(exponent, -1000, 1000)) if abs(exponent) > 200 else 0


def in_unit(lengths: Array, unit: int) -> Array:
    """Lengths in units of 2**unit."""
    return lengths * 2.0**-unit if unit else lengths


def in_units(delta: Array, d: Array, units: tuple[int, int]) -> tuple[Array, Array]:
    """Both lengths of each pair, each in its own unit."""
    return in_unit(delta, units[0]), in_unit(d, units[1])


def _gap(delta: Array, d: Array, pilot: Pilot) -> Array:
    """delta - d in the larger of the two units."""
    top = max(pilot.units)
    return in_unit(delta, top - pilot.units[0]) - in_unit(d, top - pilot.units[1])


def columns(delta: Array, d: Array, pilot: Pilot) -> Array:
    """One row of summands for each pair."""
    u, v, e, gap = delta - pilot.delta, d - pilot.d, delta - pilot.scale * d, _gap(delta, d, pilot)
    positive = delta > 0
    share = np.divide(gap * gap, delta, out=np.zeros_like(delta), where=positive)
    one = np.ones_like(delta)
    found = [one, u, v, u * u, v * v, u * v, e * e, e * d, d * d, delta * delta, gap * gap, delta, share]
    return np.stack(found, axis=-1)


def column_sums(delta: Array, d: Array, pilot: Pilot) -> Array:
    """The sums of `columns` without the table."""
    u, v, e, gap = delta - pilot.delta, d - pilot.d, delta - pilot.scale * d, _gap(delta, d, pilot)
    share = np.divide(gap, delta, out=np.zeros_like(delta), where=delta > 0)
    products = [(u, u), (v, v), (u, v), (e, e), (e, d), (d, d), (delta, delta), (gap, gap)]
    return np.array(
        [len(delta), u.sum(), v.sum(), *(a @ b for a, b in products), delta.sum(), share @ gap], dtype=float
    )

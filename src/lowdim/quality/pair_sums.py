"""Sums over pairs of rows: all pairs in blocks, or a sample of them with a bootstrap confidence interval.

Stress, Sammon's error and Pearson's correlation are functions of a dozen sums over the pairs (delta, d) of
distances in the data and in the embedding. Correlations are summed around a pilot mean and residuals around a
pilot scale, to avoid cancellation for a nearly perfect embedding. Distances whose squares would leave the
range of float64 are summed in their own unit, a power of two.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim._core.ranks.reference import Reference
from lowdim._core.runtime.rng import generator
from lowdim._core.runtime.threads import blocks, map_rows

Array = NDArray[Any]

EXACT_UP_TO = 5_000  # rows whose pairs are all summed under pairs="auto"
SAMPLE = 200_000  # pairs drawn beyond
SOURCES = 400  # rows they start from if distances are computed row by row (geodesics, other metrics)
BOOTSTRAPS = 200

COUNT, U, V, UU, VV, UV, EE, ED, DD, DELTA2, GAP2, DELTA, SAMMON = range(13)


@dataclass(frozen=True)
class Pilot:
    """Approximate values to sum around: mean of delta, mean of d, scale of d; and the units 2**units of both."""

    delta: float
    d: float
    scale: float
    units: tuple[int, int] = (0, 0)


@dataclass(frozen=True, eq=False)
class PairSums:
    """Sums over pairs, last axis the columns named above; `resampled` has a bootstrap sample in each row."""

    sums: Array
    pilot: Pilot
    n: int
    reference: str
    resampled: Array | None

    def estimate(self, statistic: Callable[[Array], Array], power: int = 0) -> tuple[float, tuple[float, float] | None]:
        """A function of the sums times 2**power, and its 95 % confidence interval if pairs were sampled."""
        with np.errstate(over="ignore", under="ignore"):
            value = float(np.ldexp(statistic(self.sums), power))
            if self.resampled is None:
                return value, None
            low, high = np.ldexp(np.quantile(statistic(self.resampled), [0.025, 0.975]), power)
        return value, (float(low), float(high))


def wanted(pairs: Any, n: int, exact_up_to: int, owner: str) -> int | None:
    """How many pairs to draw; None for all."""
    if isinstance(pairs, str) and pairs == "auto":
        return None if n <= exact_up_to else SAMPLE
    if pairs is None:
        return None
    if isinstance(pairs, (bool, str)) or not hasattr(pairs, "__index__") or int(pairs) < 2:
        raise ValueError(f'{owner}: pairs must be "auto", None or an integer of at least 2; got {pairs!r}.')
    return int(pairs)


def pair_sums(source: Reference, low: Reference, pairs: int | None, random_state: Any, n_jobs: int | None) -> PairSums:
    """The sums over all pairs (`pairs` None) or over a sample."""
    if pairs is None:
        pilot = pilot_of(*_first_rows(source, low))
        parts = map_rows(
            lambda part: _summed(*upper(source, low, part), pilot),
            source.n,
            max(1, min(256, 2**17 // source.n)),
            n_jobs,
        )
        return PairSums(np.sum(parts, axis=0), pilot, source.n, source.name, None)
    rng = generator(random_state)
    delta, d, group = draw(source, low, pairs, rng)
    pilot = pilot_of(delta, d)
    with np.errstate(over="ignore", invalid="ignore"):
        table = columns(*in_units(delta, d, pilot.units), pilot)
        return PairSums(table.sum(axis=0), pilot, source.n, source.name, bootstrap(table, group, rng))


def _summed(delta: Array, d: Array, pilot: Pilot) -> Array:
    with np.errstate(over="ignore", invalid="ignore"):  # infinite sums are an error later
        return column_sums(*in_units(delta, d, pilot.units), pilot)


def upper(source: Reference, low: Reference, part: slice) -> tuple[Array, Array]:
    """Both distances of the pairs i < j with i in `part`, as float64 vectors."""
    rows = np.arange(part.start, part.stop)
    mask = np.arange(source.n)[None, :] > rows[:, None]
    return source.block(rows, False)[mask].astype(float), low.block(rows, False)[mask].astype(float)


def all_pairs(source: Reference, low: Reference) -> tuple[Array, Array]:
    """Both distances of all pairs i < j."""
    parts = [upper(source, low, part) for part in blocks(source.n, max(1, 2**20 // source.n))]
    return np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts])


def _first_rows(source: Reference, low: Reference) -> tuple[Array, Array]:
    rows = np.unique(np.linspace(0, source.n - 1, 20).astype(np.int64))
    others = np.arange(source.n)[None, :] != rows[:, None]
    return source.block(rows, False)[others].astype(float), low.block(rows, False)[others].astype(float)


def draw(source: Reference, low: Reference, pairs: int, rng: np.random.Generator) -> tuple[Array, Array, Array | None]:
    """A uniform sample of pairs and their distances; with the row each starts from if rows are shared."""
    n = source.n
    if source.pairs is not None and low.pairs is not None:
        i, j = rng.integers(n, size=pairs), rng.integers(n - 1, size=pairs)
        j += j >= i
        return source.pairs(i, j).astype(float), low.pairs(i, j).astype(float), None
    rows = np.sort(rng.choice(n, size=min(n, SOURCES), replace=False))
    each = max(1, pairs // len(rows))
    found = []
    for part in blocks(len(rows), max(1, 2**20 // n)):
        start = rows[part]
        j = rng.integers(n - 1, size=(len(start), each))
        j += j >= start[:, None]
        found.append([np.take_along_axis(s.block(start, False), j, axis=1).ravel() for s in (source, low)])
    delta, d = (np.concatenate([f[side] for f in found]).astype(float) for side in (0, 1))
    return delta, d, np.repeat(np.arange(len(rows)), each)


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
    return np.stack(
        [one, u, v, u * u, v * v, u * v, e * e, e * d, d * d, delta * delta, gap * gap, delta, share], axis=-1
    )


def column_sums(delta: Array, d: Array, pilot: Pilot) -> Array:
    """The sums of `columns` without the table."""
    u, v, e, gap = delta - pilot.delta, d - pilot.d, delta - pilot.scale * d, _gap(delta, d, pilot)
    share = np.divide(gap, delta, out=np.zeros_like(delta), where=delta > 0)
    products = [(u, u), (v, v), (u, v), (e, e), (e, d), (d, d), (delta, delta), (gap, gap)]
    return np.array(
        [len(delta), u.sum(), v.sum(), *(a @ b for a, b in products), delta.sum(), share @ gap], dtype=float
    )


def bootstrap(table: Array, group: Array | None, rng: np.random.Generator) -> Array:
    """Sums of resampled pairs, or of resampled groups of pairs."""
    if group is not None:
        table = np.stack([np.bincount(group, weights=column) for column in table.T], axis=-1)
    size = len(table)
    counts = (np.bincount(rng.integers(size, size=size), minlength=size) for _ in range(BOOTSTRAPS))
    return np.stack([count @ table for count in counts])


def pearson(sums: Array) -> Array:
    """Correlation of delta and d; NaN when one of them is constant."""
    n, u, v = sums[..., COUNT], sums[..., U], sums[..., V]
    both = [sums[..., square] - mean * mean / n for square, mean in ((UU, u), (VV, v))]
    # If all values are equal, only rounding remains.
    spread = np.where((both[0] > 1e-12 * sums[..., UU]) & (both[1] > 1e-12 * sums[..., VV]), both[0] * both[1], 0.0)
    cross = sums[..., UV] - u * v / n
    return np.clip(
        np.divide(cross, np.sqrt(np.maximum(spread, 0)), out=np.full_like(cross, np.nan), where=spread > 0),
        -1,
        1,
    )


def scale_optimal(sums: Array) -> Array:
    """Normalised stress after the best rescaling of the embedding."""
    length = sums[..., DD]
    gain = np.divide(sums[..., ED] ** 2, length, out=np.zeros_like(length), where=length > 0)
    return np.sqrt(np.maximum(sums[..., EE] - gain, 0) / sums[..., DELTA2])

"""What the test for structure found."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lowdim.quality.row_curves import scales_of
from lowdim.trust.structure import is_clear, share_that_stands_out, stand_out

LEVEL = 0.05


@dataclass(frozen=True, eq=False)
class Nearer:
    """How much nearer to each other the rows are than those of noise.

    Attributes
    ----------
    scale : int
        The distance is that to the k-th nearest row, for this k.
    share : float
        By how much it is shorter than in noise on average (geometric means over the rows).
    null, lowest : float
        The largest and the smallest such share among the tables of noise.
    clear : bool
        Whether the data lead the nearest table of noise by at least the range of the noise.
    """

    scale: int
    share: float
    null: float
    lowest: float
    clear: bool


@dataclass(frozen=True, eq=False)
class Without:
    """The same test of the other rows, where a few rows or copies could make structure by themselves.

    Attributes
    ----------
    far : ndarray of int
        Rows of the data that are far from all others.
    copies : int
        Rows that repeat an earlier one.
    found : FoundStructure
        Without these.
    """

    far: np.ndarray
    copies: int
    found: FoundStructure


@dataclass(frozen=True, eq=False)
class FoundStructure:
    """Where maps of a sample of the rows stand out most beside maps of noise by the same methods.

    Attributes
    ----------
    method : str
        The map in which they stand out most.
    p_value : float
        Share of the tables, the data among them, that stand out at least as much in any of the maps or by distances.
    scale : int
        The neighbourhood size at which they stand out most in that map.
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
    map_p_value : float or None
        The same as `p_value` by the maps alone; None where nothing else counts.
    nearer : Nearer or None
        Distances to the nearest rows beside those of noise; None where distances are given or cells are missing.
    gaussian : FoundStructure or None
        The maps beside those of Gaussian rows with the same covariance, where the maps do not tell the data from
        shuffled columns and such rows can be made.
    without : Without or None
        The test without rows that could make structure by themselves, where there is structure and there are such rows.
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
    map_p_value: float | None = None
    nearer: Nearer | None = None
    gaussian: FoundStructure | None = None
    without: Without | None = None

    @property
    def by_few_rows(self) -> bool:
        """Whether structure is found only with a few rows that are far from all others, or with copies."""
        return self.related and self.without is not None and not self.without.found.related

    @property
    def as_much(self) -> int:
        """Tables of noise that stand out at least as much as the data."""
        return round(self.p_value * (1 + self.n_null)) - 1

    @property
    def clear(self) -> bool:
        """Whether no table of noise stands out as much, and the lead is wider than the range of the noise."""
        return self.as_much == 0 and (self.map_leads or (self.nearer is not None and self.nearer.clear))

    @property
    def map_leads(self) -> bool:
        """Whether the map leads all maps of noise by at least their range."""
        return is_clear(self.observed, self.lowest, self.null)

    @property
    def related(self) -> bool:
        """Whether columns are related beyond chance."""
        return self.p_value <= LEVEL

    @property
    def by_maps(self) -> bool:
        """Whether the maps alone tell the data from shuffled columns."""
        return self.related and (self.map_p_value is None or self.map_p_value <= LEVEL)

    @property
    def beyond_gaussian(self) -> bool:
        """Whether the maps clearly keep more than those of Gaussian rows with the same covariance."""
        return self.gaussian is not None and self.gaussian.clear

    @property
    def single_columns(self) -> bool:
        """Whether columns are unrelated, and the maps show more than Gaussian rows: what single columns are like."""
        return not self.related and self.beyond_gaussian


def found_structure(
    observed: np.ndarray, null: np.ndarray, names: list[str], n: int, *, nearer: bool = False
) -> FoundStructure:
    """The data beside tables of noise: the curves of the named maps, then, with `nearer`, that of distances."""
    scales, size = scales_of(n), len(observed) // (len(names) + nearer) * len(names)
    at = int(stand_out(observed[:size], null[:, :size])[0].argmax())
    noise = null[:, at]
    return FoundStructure(
        method=names[at // len(scales)],
        p_value=share_that_stands_out(observed, null),
        scale=int(scales[at % len(scales)]),
        observed=float(observed[at]),
        null=float(noise.max()),
        lowest=float(noise.min()),
        n_rows=n,
        n_null=len(null),
        methods=tuple(names),
        map_p_value=share_that_stands_out(observed[:size], null[:, :size]) if nearer else None,
        nearer=_nearer(observed[size:], null[:, size:], scales) if nearer else None,
    )


def _nearer(observed: np.ndarray, null: np.ndarray, scales: np.ndarray) -> Nearer:
    at = int(stand_out(observed, null)[0].argmax())
    value, noise = float(observed[at]), null[:, at]
    low, high = float(noise.min()), float(noise.max())
    share, largest, least = (float(-np.expm1(noise.mean() - each)) for each in (value, high, low))
    return Nearer(int(scales[at]), share, largest, least, is_clear(value, low, high))

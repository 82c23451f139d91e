"""Swiss rolls: a flat sheet rolled up in space; complete, with a hole, unevenly sampled, or in two parts.

All of them lie on the surface (t cos t, h, t sin t) with t between 3 pi/2 and 9 pi/2. Rolling does not
stretch, so the sheet has isometric coordinates: the length of the spiral up to t, s(t) = (t sqrt(1 + t^2) +
asinh t) / 2, and the height h. The pair (t, h) that generators usually return is *not* isometric: a step in
t is sqrt(1 + t^2) long.
"""

from __future__ import annotations

import numpy as np

from lowdim._core.params import checked
from lowdim.datasets.arguments import start
from lowdim.datasets.dataset import Dataset
from lowdim.datasets.formulas import parity, round_half_away, spiral_length

_FIRST = 1.5 * np.pi
_HEIGHT = 30.0


@checked("swiss_roll")
def swiss_roll(
    n_samples: int = 1000, noise: float = 0.05, random_state: object = None, *, hole: bool = False
) -> Dataset:
    """A flat sheet rolled up in three dimensions: the standard test of manifold methods.

    With u, v uniform on [0, 1]: t = (3 pi / 2)(1 + 2u), h = 30 v, and the row is (t cos t, h, t sin t) plus
    Gaussian noise. Labels are the two colours of a checkerboard on the sheet, the parity of round(t/2) +
    round(h/12).

    Parameters
    ----------
    n_samples : int
        Number of rows.
    noise : float
        Standard deviation of the Gaussian noise added to every value.
    random_state : int, generator or None
        Seed; the same int gives the same result. The noise-free rows do not depend on ``noise``.
    hole : bool
        Leave out the middle cell of a 3 x 3 grid in (t, h); see :func:`swiss_roll_hole`.

    Returns
    -------
    Dataset
        Coordinates (t, h); isometric coordinates (arc length, h).

    Notes
    -----
    Compare an unrolled sheet with ``isometric_coordinates``, not with (t, h), which are not isometric. Rows are
    uniform in t, so they are about three times denser at the centre of the roll than outside. Neighbouring turns are
    2 pi apart; neighbourhoods that reach that far make short circuits.

    References
    ----------
    Tenenbaum, de Silva, Langford (2000), Science 290. Labels: van der Maaten, Postma, van den Herik (2009).

    Examples
    --------
    >>> from lowdim.datasets import swiss_roll
    >>> roll = swiss_roll(300, noise=0, random_state=0)
    >>> t, h = roll.coordinates.T
    >>> bool(abs(roll.X[:, 0] ** 2 + roll.X[:, 2] ** 2 - t**2).max() < 1e-9)
    True
    """
    name = "swiss-roll-hole" if hole else "swiss-roll"
    n, sd, rng = start("swiss_roll_hole" if hole else "swiss_roll", n_samples, noise, random_state)
    unit = rng.random((n, 2))
    if hole:
        # Eight of nine cells: cell 4 is the middle one, so the numbers from 4 on are one higher.
        cell = rng.integers(8, size=n)
        cell += cell >= 4
        unit = (unit + np.column_stack([cell // 3, cell % 3])) / 3
    t, h = _FIRST * (1 + 2 * unit[:, 0]), _HEIGHT * unit[:, 1]
    what = "A flat sheet with a rectangular hole" if hole else "A flat sheet"
    return _rolled(name, f"{what}, rolled up in three dimensions.", t, h, _board(t, h, 12), sd, rng)


@checked("swiss_roll_hole")
def swiss_roll_hole(n_samples: int = 1000, noise: float = 0.05, random_state: object = None) -> Dataset:
    """A Swiss roll with a rectangular hole in the sheet: methods that assume a convex sheet fail.

    The sheet of :func:`swiss_roll` without the middle cell of a 3 x 3 grid in (t, h): 5 pi/2 < t < 7 pi/2 and
    10 < h < 20.

    Parameters
    ----------
    n_samples : int
        Number of rows, all outside the hole.
    noise : float
        Standard deviation of the Gaussian noise added to every value.
    random_state : int, generator or None
        Seed; the same int gives the same result.

    Returns
    -------
    Dataset
        Coordinates (t, h); isometric coordinates (arc length, h).

    Notes
    -----
    The isometric coordinates hold for close rows. The shortest path on the data goes around the hole and is
    longer than the straight line in these coordinates, so Isomap enlarges the hole; Hessian LLE and TCIE should not.

    References
    ----------
    Donoho, Grimes (2003), PNAS 100.

    Examples
    --------
    >>> from lowdim.datasets import swiss_roll_hole
    >>> t, h = swiss_roll_hole(400, random_state=0).coordinates.T
    >>> bool(((t > 7.86) & (t < 10.99) & (h > 10) & (h < 20)).any())
    False
    """
    return swiss_roll(n_samples, noise, random_state, hole=True)


@checked("changing_swiss_roll")
def changing_swiss_roll(n_samples: int = 1000, noise: float = 0.05, random_state: object = None) -> Dataset:
    """A Swiss roll whose density decreases along the sheet: no single neighbourhood size suits all of it.

    As :func:`swiss_roll` with t = (3 pi / 2)(1 + 2r), where r has density 2(1 - r) on [0, 1], and h = 21 v.
    Labels are the parity of round(t/2) + round(h/10).

    Parameters
    ----------
    n_samples : int
        Number of rows.
    noise : float
        Standard deviation of the Gaussian noise added to every value.
    random_state : int, generator or None
        Seed; the same int gives the same result.

    Returns
    -------
    Dataset
        Coordinates (t, h); isometric coordinates (arc length, h).

    Notes
    -----
    Rows are sparse at the outer end. There a fixed number of neighbours reaches far and may make short circuits; a
    fixed radius that suits the centre leaves outer rows without neighbours. Methods whose result depends on the
    density of the rows, such as Laplacian eigenmaps, show the density rather than the sheet.

    References
    ----------
    Generator of the Matlab toolbox of van der Maaten, Postma, van den Herik (2009).

    Examples
    --------
    >>> from lowdim.datasets import changing_swiss_roll
    >>> t = changing_swiss_roll(1000, random_state=0).coordinates[:, 0]
    >>> bool((t < 3 * 3.1416).mean() > 0.7)
    True
    """
    n, sd, rng = start("changing_swiss_roll", n_samples, noise, random_state)
    # Published as rejection sampling (keep r with probability 1 - r); this inverts its distribution.
    r = 1 - np.sqrt(1 - rng.random(n))
    t, h = _FIRST * (1 + 2 * r), 21 * rng.random(n)
    what = "A flat sheet, rolled up, whose density decreases towards the outside."
    return _rolled("changing-swiss-roll", what, t, h, _board(t, h, 10), sd, rng)


@checked("broken_swiss_roll")
def broken_swiss_roll(
    n_samples: int = 1000, noise: float = 0.05, random_state: object = None, *, parity_labels: bool = False
) -> Dataset:
    """A Swiss roll in two parts: a test of methods on a disconnected neighbour graph.

    The first ceil(n/2) rows have t = (3 pi / 2)(1 + 0.8u), the others t = (3 pi / 2)(1 + 2(0.4u + 0.6)); h =
    30 v. The strip between, a fifth of the range of t, is missing. Labels are round(t), as in the published
    generator.

    Parameters
    ----------
    n_samples : int
        Number of rows.
    noise : float
        Standard deviation of the Gaussian noise added to every value.
    random_state : int, generator or None
        Seed; the same int gives the same result.
    parity_labels : bool
        Use the checkerboard labels of :func:`swiss_roll` instead, which are commented out in the published
        generator.

    Returns
    -------
    Dataset
        Coordinates (t, h); isometric coordinates (arc length, h), with the gap as wide as the missing strip.

    Notes
    -----
    With 5000 rows the halves are about 6 apart and neighbours about 0.5, so the neighbour graph has two connected
    components for every k from 5 to 15. A method that embeds only the larger half and is scored on that half looks
    better than it is (2 % error instead of the published 14 % for Isomap): score all rows. Geodesic distances are
    defined only within a half.

    References
    ----------
    van der Maaten, Postma, van den Herik (2009), Dimensionality reduction: a comparative review.

    Examples
    --------
    >>> from lowdim.datasets import broken_swiss_roll
    >>> t = broken_swiss_roll(1000, random_state=0).coordinates[:, 0]
    >>> bool(((t > 8.5) & (t < 10.3)).any())
    False
    """
    n, sd, rng = start("broken_swiss_roll", n_samples, noise, random_state)
    u = 0.4 * rng.random(n)
    u[(n + 1) // 2 :] += 0.6
    t, h = _FIRST * (1 + 2 * u), _HEIGHT * rng.random(n)
    labels = _board(t, h, 12) if parity_labels else round_half_away(t).astype(np.int64)
    what = "A rolled-up sheet in two parts, with a strip missing between them."
    return _rolled("broken-swiss-roll", what, t, h, labels, sd, rng)


def _board(t: np.ndarray, h: np.ndarray, width: float) -> np.ndarray:
    return parity(round_half_away(t / 2), round_half_away(h / width))


def _rolled(
    name: str,
    description: str,
    t: np.ndarray,
    h: np.ndarray,
    labels: np.ndarray,
    noise: float,
    rng: np.random.Generator,
) -> Dataset:
    clean = np.column_stack([t * np.cos(t), h, t * np.sin(t)])
    return Dataset(
        X=clean + noise * rng.standard_normal(clean.shape),
        coordinates=np.column_stack([t, h]),
        labels=labels,
        name=name,
        description=description,
        coordinate_names=("t", "h"),
        noise_free=clean,
        isometric_coordinates=np.column_stack([spiral_length(t), h]),
    )

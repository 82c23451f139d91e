"""Curves in two and three dimensions, with one true coordinate."""

from __future__ import annotations

import numpy as np

from lowdim._core.params import checked, whole
from lowdim.datasets.arguments import start
from lowdim.datasets.dataset import Dataset
from lowdim.datasets.formulas import arc_length, parity, round_half_away, spiral_length

# Columns removed from the first and last five rows, as in the demonstration by Scholz (z once at each end).
_FIRST_FIVE = (0, 1, 1, 0, 2)
_LAST_FIVE = (2, 1, 0, 1, 0)


@checked("helix")
def helix(n_samples: int = 1000, noise: float = 0.05, random_state: object = None) -> Dataset:
    """A coil of eight turns around a ring: a closed curve, which one dimension cannot show without a cut.

    On the grid t_i = 2 pi i / n, i = 1..n, the row is ((2 + cos 8t) cos t, (2 + cos 8t) sin t, sin 8t) plus
    Gaussian noise. Labels are the parity of round(1.5 t).

    Parameters
    ----------
    n_samples : int
        Number of rows, in order along the curve.
    noise : float
        Standard deviation of the Gaussian noise added to every value.
    random_state : int, generator or None
        Seed; the same int gives the same result. Only the noise is random.

    Returns
    -------
    Dataset
        Coordinate t; isometric coordinate: the length of the curve from its start, which is cut open at t =
        0.

    Notes
    -----
    The curve is closed: its last row is next to its first. One dimension can show it only with a cut, two
    without. Its first two principal components have equal variance, so the 1-NN error of
    one-dimensional PCA is between 28 and 40 %, depending on the seed; that of Isomap is near 1 % only if the
    neighbour graph is cut by chance (k = 5) or by ``tear=True``.

    References
    ----------
    van der Maaten, Postma, van den Herik (2009), Dimensionality reduction: a comparative review.

    Examples
    --------
    >>> from lowdim.datasets import helix
    >>> ring = helix(1000, noise=0).X
    >>> round(float(((ring[0] - ring[-1]) ** 2).sum() ** 0.5), 3)  # first and last row: one step apart
    0.054
    """
    n, sd, rng = start("helix", n_samples, noise, random_state)
    t = 2 * np.pi * np.arange(1, n + 1) / n
    radius = 2 + np.cos(8 * t)
    clean = np.column_stack([radius * np.cos(t), radius * np.sin(t), np.sin(8 * t)])
    length = arc_length(lambda s: np.sqrt(64 + (2 + np.cos(8 * s)) ** 2), t)
    what = "A closed coil of eight turns around a ring."
    return _curve("helix", what, clean, t, length, parity(round_half_away(1.5 * t)), sd, rng)


@checked("helical_loop")
def helical_loop(
    n_samples: int = 1000, noise: float = 0.05, random_state: object = None, *, unit_height: bool = True
) -> Dataset:
    """One turn of a rising loop: a test of methods that fill in missing cells on a curve.

    On the grid t = -pi..pi the row is (sin t, cos t, t / pi) plus Gaussian noise. Labels are the quarters of
    the loop, 0 to 3. :func:`remove_cells` takes one value out of every row.

    Parameters
    ----------
    n_samples : int
        Number of rows, in order along the loop.
    noise : float
        Standard deviation of the Gaussian noise added to every value.
    random_state : int, generator or None
        Seed; the same int gives the same result. Only the noise is random.
    unit_height : bool
        The third column is t/pi, between -1 and 1. With False it is t itself, as in the original program.

    Returns
    -------
    Dataset
        Coordinate t; isometric coordinate: the length of the loop from its middle, t sqrt(1 + c^2) where the
        third column is c t.

    Notes
    -----
    Report which height was used: column means have an expected squared error of 4/9 = 0.444 at unit height, but
    1.43 if the third column is t. The published comparison agrees with the former. Compute errors against
    ``noise_free`` and over the removed cells only. No row is complete, and PCA with one component diverges
    without regularisation.

    References
    ----------
    Scholz, Kaplan, Guy, Kopka, Selbig (2005), Bioinformatics 21.

    Examples
    --------
    >>> import numpy as np
    >>> from lowdim.datasets import helical_loop, remove_cells
    >>> loop = helical_loop(1000, random_state=0)
    >>> holes = remove_cells(loop.X, random_state=0)
    >>> gone = np.isnan(holes)
    >>> filled = np.where(gone, np.nanmean(holes, axis=0), holes)
    >>> bool(abs(np.mean((filled - loop.noise_free)[gone] ** 2) - 4 / 9) < 0.03)
    True
    """
    n, sd, rng = start("helical_loop", n_samples, noise, random_state)
    t = np.linspace(-np.pi, np.pi, n)
    rise = 1 / np.pi if unit_height else 1.0
    clean = np.column_stack([np.sin(t), np.cos(t), rise * t])
    length = np.sqrt(1 + rise**2) * t
    quarters = 4 * np.arange(n) // n
    what = f"One turn of a rising loop, its third column {'t/pi' if unit_height else 't'}."
    return _curve("helical-loop", what, clean, t, length, quarters, sd, rng)


@checked("remove_cells")
def remove_cells(X: np.ndarray, random_state: object = None) -> np.ndarray:
    """A copy of three-column data with one missing cell in every row, for :func:`helical_loop`.

    Each row loses one of its three values, all equally likely. The first and the last five rows follow a
    fixed pattern instead (x y y x z and z y x y x), because a row at an end that has lost its z could belong
    to either end.

    Parameters
    ----------
    X : array-like of shape (n, 3)
        Rows in order along the loop, at least ten; left as they are.
    random_state : int, generator or None
        Seed; the same int gives the same result.

    Returns
    -------
    ndarray of shape (n, 3)
        Copy of ``X``, as floats, with exactly one NaN in every row.

    References
    ----------
    The pattern is that of the demonstration by M. Scholz, as used in Scholz et al. (2005), Bioinformatics 21.

    Examples
    --------
    >>> import numpy as np
    >>> from lowdim.datasets import helical_loop, remove_cells
    >>> holes = remove_cells(helical_loop(200, random_state=0).X, random_state=0)
    >>> np.isnan(holes).sum(axis=1).tolist() == [1] * 200
    True
    """
    from lowdim._core.runtime.rng import generator

    holes = np.array(X, dtype=np.float32 if getattr(X, "dtype", None) == np.float32 else np.float64)
    if holes.ndim != 2 or holes.shape[1] != 3 or len(holes) < 10:
        raise ValueError(
            f"remove_cells: X must have 3 columns and at least 10 rows; got shape {holes.shape}. "
            "Pass the X of helical_loop."
        )
    if not np.isfinite(holes).all():
        raise ValueError("remove_cells: X must be complete and finite; got NaN or infinite values.")
    column = generator(random_state).integers(3, size=len(holes))
    column[:5], column[-5:] = _FIRST_FIVE, _LAST_FIVE
    holes[np.arange(len(holes)), column] = np.nan
    return holes


@checked("spiral", dim=whole(2, 3))
def spiral(n_samples: int = 1000, noise: float = 0.05, random_state: object = None, *, dim: int = 2) -> Dataset:
    """A spiral of two turns, flat or rising: a curve that no linear method can unroll.

    With u uniform on [0, 1]: t = 4 pi sqrt(u), which spreads rows almost evenly along the curve, and the row
    is (t cos t, t sin t), or (t cos t, t sin t, 2t) in three dimensions, plus Gaussian noise. Labels are the
    parity of round(t/2).

    Parameters
    ----------
    n_samples : int
        Number of rows.
    noise : float
        Standard deviation of the Gaussian noise added to every value.
    random_state : int, generator or None
        Seed; the same int gives the same result.
    dim : {2, 3}
        Number of columns.

    Returns
    -------
    Dataset
        Coordinate t; isometric coordinate: the length of the curve from its centre.

    Notes
    -----
    Rows are in random order. Neighbouring turns are 2 pi apart in the plane: with few rows or much noise the
    neighbour graph has short circuits between them, which spoil all geodesic distances.

    Examples
    --------
    >>> from lowdim.datasets import spiral
    >>> spiral(300, random_state=0)
    <Dataset spiral-2d: 300 x 2, coordinates (t), 2 classes, isometric coordinates known>
    >>> spiral(300, random_state=0, dim=3).X.shape
    (300, 3)
    """
    n, sd, rng = start("spiral", n_samples, noise, random_state)
    t = 4 * np.pi * np.sqrt(rng.random(n))
    pitch = 2.0 if dim == 3 else 0.0
    clean = np.column_stack([t * np.cos(t), t * np.sin(t), pitch * t])[:, :dim]
    what = "A spiral of two turns in the plane." if dim == 2 else "A spiral of two turns that rises like a cone."
    labels = parity(round_half_away(t / 2))
    return _curve(f"spiral-{dim}d", what, clean, t, spiral_length(t, pitch), labels, sd, rng)


@checked("noisy_circle")
def noisy_circle(n_samples: int = 1000, noise: float = 0.1, random_state: object = None) -> Dataset:
    """Rows around the unit circle: for principal curves, circular components and denoising.

    With u uniform on [0, 1]: t = 2 pi u and the row is (cos t, sin t) plus Gaussian noise. Labels are the
    quarters of the turn, 0 to 3.

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
        Coordinate t, the angle, which is also the isometric coordinate of the circle cut open at t = 0.

    Notes
    -----
    The noise increases the mean radius to about 1 + noise^2 / 2, so a curve through the middle of the data is
    slightly too wide. Compare angles on the circle (2 pi equals 0), and after the best rotation and reflection.

    Examples
    --------
    >>> from lowdim.datasets import noisy_circle
    >>> ring = noisy_circle(500, random_state=0)
    >>> bool(abs((ring.noise_free**2).sum(axis=1) - 1).max() < 1e-12)
    True
    """
    n, sd, rng = start("noisy_circle", n_samples, noise, random_state)
    u = rng.random(n)
    t = 2 * np.pi * u
    clean = np.column_stack([np.cos(t), np.sin(t)])
    quarters = np.floor(4 * u).astype(np.int64)
    return _curve("noisy-circle", "Rows around the unit circle, with noise.", clean, t, t.copy(), quarters, sd, rng)


def _curve(
    name: str,
    description: str,
    clean: np.ndarray,
    t: np.ndarray,
    length: np.ndarray,
    labels: np.ndarray,
    noise: float,
    rng: np.random.Generator,
) -> Dataset:
    return Dataset(
        X=clean + noise * rng.standard_normal(clean.shape),
        coordinates=t[:, None],
        labels=labels,
        name=name,
        description=description,
        coordinate_names=("t",),
        noise_free=clean,
        isometric_coordinates=length[:, None],
    )

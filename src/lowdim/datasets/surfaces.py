"""Surfaces and solids: twin peaks, a surface that intersects itself, a curved grid, clusters, spheres."""

from __future__ import annotations

import numpy as np

from lowdim._core.params import checked, real
from lowdim.datasets.arguments import start
from lowdim.datasets.dataset import Dataset
from lowdim.datasets.formulas import arc_length, checkerboard, parity, round_half_away


@checked("twin_peaks", height=real(0, open_low=True))
def twin_peaks(
    n_samples: int = 1000,
    noise: float = 0.05,
    random_state: object = None,
    *,
    published: bool = False,
    height: float = 10.0,
) -> Dataset:
    """Two peaks and two pits over a square: a surface that is curved but not folded.

    With x, y uniform on [-1, 1] the surface is z = sin(pi x) tanh(3 y). Gaussian noise is added to all three
    columns, *then* z is multiplied by ``height``, its noise included. Labels are a checkerboard of 4 x 4
    cells in (x, y).

    Parameters
    ----------
    n_samples : int
        Number of rows.
    noise : float
        Standard deviation of the Gaussian noise, before the multiplication.
    random_state : int, generator or None
        Seed; the same int gives the same result.
    published : bool
        Use the labels of the published generator, the parity of the sum of round((X + column minimum) / 10).
        The rows stay the same.
    height : float
        Factor of the third column. Some libraries call the surface with factor 1 twin peaks.

    Returns
    -------
    Dataset
        Coordinates (x, y). They are not isometric, and no others are: the surface is curved in both
        directions.

    Notes
    -----
    The published labels do not test unfolding. After the multiplication x and y contribute round(...) = 0 to
    them, so that one class is a band of z and the other the rest: a 1-NN classifier on z alone is almost never
    wrong, one on the *true* (x, y) is wrong for about 5 % of 5000 rows, and PCA, whose first component is z, has a
    lower error than the data. With the default labels z alone is no better than chance. The data then have an error
    of about 15 % for 5000 rows, more than half of it due to the noise, a tenth of the width of a cell in x and y.

    References
    ----------
    van der Maaten, Postma, van den Herik (2009), Dimensionality reduction: a comparative review.

    Examples
    --------
    >>> from lowdim.datasets import twin_peaks
    >>> peaks, published = twin_peaks(400, random_state=0), twin_peaks(400, random_state=0, published=True)
    >>> bool((peaks.X == published.X).all()), bool((peaks.labels == published.labels).all())
    (True, False)
    """
    n, sd, rng = start("twin_peaks", n_samples, noise, random_state)
    xy = 1 - 2 * rng.random((n, 2))
    flat = np.column_stack([xy, np.sin(np.pi * xy[:, 0]) * np.tanh(3 * xy[:, 1])])
    stretch = np.array([1.0, 1.0, height])
    X = (flat + sd * rng.standard_normal(flat.shape)) * stretch
    if published:
        labels = parity(*round_half_away((X + X.min(axis=0)) / 10).T)
    else:
        labels = checkerboard((xy + 1) / 2)
    return Dataset(
        X=X,
        coordinates=xy,
        labels=labels,
        name="twin-peaks-published" if published else "twin-peaks",
        description="Two peaks and two pits over a square" + (", with the published labels." if published else "."),
        coordinate_names=("x", "y"),
        noise_free=flat * stretch,
    )


@checked("intersecting")
def intersecting(n_samples: int = 1000, noise: float = 0.05, random_state: object = None) -> Dataset:
    """A sheet in the shape of a figure eight, which intersects itself.

    On the grid t_i = 2 pi i / n, i = 1..n, with h uniform on [0, 5], the row is (cos t, cos t sin t, h) plus
    Gaussian noise. Labels are the parity of round(t/2) + round(h/2).

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
        Coordinates (t, h); isometric coordinates (length along the eight, h), cut open at t = 0.

    Notes
    -----
    Near the intersection (t = pi/2 and t = 3 pi/2, both at x = y = 0) neighbours belong to different parts of the
    sheet, so *every* neighbour graph has short circuits there and isometric distances hold only away from it. No
    method that uses X alone can separate the labels of the two parts there.

    References
    ----------
    Generator of the Matlab toolbox of van der Maaten, Postma, van den Herik (2009).

    Examples
    --------
    >>> from lowdim.datasets import intersecting
    >>> x, y, h = intersecting(400, noise=0, random_state=0).X.T
    >>> bool(abs(y**2 - x**2 * (1 - x**2)).max() < 1e-12)
    True
    """
    n, sd, rng = start("intersecting", n_samples, noise, random_state)
    t = 2 * np.pi * np.arange(1, n + 1) / n
    h = 5 * rng.random(n)
    clean = np.column_stack([np.cos(t), np.cos(t) * np.sin(t), h])
    length = arc_length(lambda s: np.sqrt(np.sin(s) ** 2 + np.cos(2 * s) ** 2), t)
    return Dataset(
        X=clean + sd * rng.standard_normal(clean.shape),
        coordinates=np.column_stack([t, h]),
        labels=parity(round_half_away(t / 2), round_half_away(h / 2)),
        name="intersecting",
        description="A sheet in the shape of a figure eight, which intersects itself along a line.",
        coordinate_names=("t", "h"),
        noise_free=clean,
        isometric_coordinates=np.column_stack([length, h]),
    )


@checked("hd")
def hd(n_samples: int = 1000, noise: float = 0.05, random_state: object = None) -> Dataset:
    """A five-dimensional grid, curved in ten dimensions: intrinsic dimension 5, too high for a map.

    t1..t5 run over a grid on [0, 1] with m = round(n^(1/5)) levels each; the row is (cos t1, tanh 3 t2, t1 +
    t3, t4 sin t2, sin(t1 + t5), t5 cos t2, t5 + t4, t2, t3 t4, t1) plus Gaussian noise. Labels are a
    checkerboard of 2^5 cells, the parity of the sum of 1 + round(t).

    Parameters
    ----------
    n_samples : int
        Approximate number of rows. The grid has m^5: 1024 for 1000, 3125 for 5000.
    noise : float
        Standard deviation of the Gaussian noise added to every value.
    random_state : int, generator or None
        Seed; the same int gives the same result. Only the noise is random.

    Returns
    -------
    Dataset
        Coordinates (t1, ..., t5). They are not isometric, and isometric ones are not known.

    Notes
    -----
    With k <= 8 neighbours and 3125 rows the rows with t2 = 0 (625 rows) are often a separate connected component.
    Isomap on the other 2500 rows has a 1-NN error near 22 %; with all rows it has 27 to 33 %, worse than PCA (about
    22 %). Report how many rows were embedded and score all methods on the same rows. If m is odd, the middle level
    belongs to the upper half (0.5 rounds up).

    References
    ----------
    van der Maaten, Postma, van den Herik (2009), where it is the HD data set ("difficult" in the program).

    Examples
    --------
    >>> from lowdim.datasets import hd
    >>> hd(5000, random_state=0)
    <Dataset hd: 3125 x 10, coordinates (t1, t2, t3, t4, t5), 2 classes, no isometric coordinates>
    """
    n, sd, rng = start("hd", n_samples, noise, random_state)
    levels = int(round_half_away(np.array(n**0.2)))
    axis = np.linspace(0, 1, levels)
    t = np.stack(np.meshgrid(*[axis] * 5, indexing="ij"), axis=-1).reshape(-1, 5)
    t1, t2, t3, t4, t5 = t.T
    clean = np.column_stack(
        [
            np.cos(t1),
            np.tanh(3 * t2),
            t1 + t3,
            t4 * np.sin(t2),
            np.sin(t1 + t5),
            t5 * np.cos(t2),
            t5 + t4,
            t2,
            t3 * t4,
            t1,
        ]
    )
    return Dataset(
        X=clean + sd * rng.standard_normal(clean.shape),
        coordinates=t,
        labels=parity(*(1 + round_half_away(t)).T),
        name="hd",
        description="A five-dimensional grid, curved in ten dimensions.",
        coordinate_names=("t1", "t2", "t3", "t4", "t5"),
        noise_free=clean,
    )


@checked("clusters_3d")
def clusters_3d(n_samples: int = 1000, noise: float = 0.05, random_state: object = None) -> Dataset:
    """Five separate cubes of rows: are clusters and the distances between them preserved?

    Five centres are uniform in [0, 10]^3 and m is the smallest distance between two of them. Rows are
    uniform in cubes of side m / sqrt(12) round the centres, plus Gaussian noise. The label is the cluster.

    Parameters
    ----------
    n_samples : int
        Number of rows, the same for each cluster; rows of a cluster are consecutive.
    noise : float
        Standard deviation of the Gaussian noise added to every value.
    random_state : int, generator or None
        Seed; the same int gives the same result. It also determines the centres.

    Returns
    -------
    Dataset
        Coordinates: the noise-free position (x, y, z), which is isometric.

    Notes
    -----
    The cubes never overlap, but if two centres are close together *all* cubes are small and the noise dominates.
    The neighbour graph has five connected components unless k is larger than a cluster. The published program leaves
    some rows at the origin without a cluster; here all rows belong to one.

    References
    ----------
    Generator of the Matlab toolbox of van der Maaten, Postma, van den Herik (2009).

    Examples
    --------
    >>> import numpy as np
    >>> from lowdim.datasets import clusters_3d
    >>> np.bincount(clusters_3d(1000, random_state=0).labels).tolist()
    [200, 200, 200, 200, 200]
    """
    n, sd, rng = start("clusters_3d", n_samples, noise, random_state)
    centres = 10 * rng.random((5, 3))
    gaps = np.linalg.norm(centres[:, None] - centres, axis=2)
    side = gaps[np.triu_indices(5, 1)].min() / np.sqrt(12)
    labels = 5 * np.arange(n) // n
    clean = centres[labels] + side * (rng.random((n, 3)) - 0.5)
    return Dataset(
        X=clean + sd * rng.standard_normal(clean.shape),
        coordinates=clean.copy(),
        labels=labels,
        name="clusters-3d",
        description="Five separate cubes of rows in three dimensions.",
        coordinate_names=("x", "y", "z"),
        noise_free=clean,
        isometric_coordinates=clean.copy(),
    )


@checked("concentric_spheres")
def concentric_spheres(
    n_samples: int = 1000,
    noise: float = 0.05,
    random_state: object = None,
    *,
    radii: tuple[float, float] = (1.0, 2.0),
) -> Dataset:
    """Two spheres, one inside the other: no linear map separates them, a kernel can.

    Rows are uniform on spheres about the origin, half on each, plus Gaussian noise. The label is the sphere.

    Parameters
    ----------
    n_samples : int
        Number of rows, half on each sphere; rows of the inner sphere come first.
    noise : float
        Standard deviation of the Gaussian noise added to every value.
    random_state : int, generator or None
        Seed; the same int gives the same result.
    radii : tuple of two floats
        Radius of the inner and of the outer sphere.

    Returns
    -------
    Dataset
        Coordinates (longitude, latitude) in radians; the sphere is the label. A sphere cannot be flattened
        without stretching, so there are no isometric coordinates.

    Notes
    -----
    Every projection to a line or a plane puts one sphere on top of the other. Whether KernelPCA separates them
    depends on the width of its kernel: a wide kernel is nearly linear (PCA), with a narrow one all rows are
    dissimilar.

    Examples
    --------
    >>> import numpy as np
    >>> from lowdim.datasets import concentric_spheres
    >>> shells = concentric_spheres(600, noise=0, random_state=0)
    >>> radius = np.linalg.norm(shells.X, axis=1)
    >>> bool(np.allclose(radius, shells.labels + 1))
    True
    """
    n, sd, rng = start("concentric_spheres", n_samples, noise, random_state)
    try:
        radius = np.asarray(radii, dtype=np.float64)
    except (TypeError, ValueError):
        radius = np.empty(0)
    if radius.shape != (2,) or not 0 < radius[0] < radius[1] < np.inf:
        raise ValueError(f"concentric_spheres: radii must be two rising numbers above 0; got {radii!r}.")
    longitude = np.pi * (2 * rng.random(n) - 1)
    height = 2 * rng.random(n) - 1  # bands of equal height on a sphere have equal area
    labels = 2 * np.arange(n) // n
    around = np.sqrt(1 - height**2)
    unit = np.column_stack([around * np.cos(longitude), around * np.sin(longitude), height])
    clean = radius[labels, None] * unit
    return Dataset(
        X=clean + sd * rng.standard_normal(clean.shape),
        coordinates=np.column_stack([longitude, np.arcsin(height)]),
        labels=labels,
        name="concentric-spheres",
        description="Two spheres, one inside the other.",
        coordinate_names=("longitude", "latitude"),
        noise_free=clean,
        label_names=("inner", "outer"),
    )

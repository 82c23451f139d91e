"""Points on the land of the earth, on a sphere."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from lowdim._core.params import checked
from lowdim.datasets.arguments import start
from lowdim.datasets.dataset import Dataset

_CONTINENTS = ("Africa", "Antarctica", "Asia", "Europe", "North America", "Oceania", "South America")


@checked("world")
def world(n_samples: int | None = None, noise: float = 0.0, random_state: object = None) -> Dataset:
    """Points on the land of the earth, on the unit sphere, with their continents: a surface with no isometric map.

    The row of a point at longitude a and latitude b is (cos b cos a, cos b sin a, sin b).

    Parameters
    ----------
    n_samples : int or None
        Number of points, drawn without replacement. None: all 4918, in order from north to south.
    noise : float
        Standard deviation of the Gaussian noise added to every value, which moves points off the sphere.
    random_state : int, generator or None
        Seed; the same int gives the same result.

    Returns
    -------
    Dataset
        Coordinates (longitude, latitude) in degrees, east and north positive; labels 0 to 6, named in
        ``label_names``. A sphere cannot be flattened without stretching: no isometric coordinates exist.

    Notes
    -----
    Every embedding in two dimensions is a map projection: linear ones put the two hemispheres on top of each
    other, others must cut or stretch, and good ones cut through the oceans.
    Longitude and latitude are not good coordinates near the poles and at 180 degrees. Use distances on the
    sphere as reference (the arc cosine of the inner product of two rows).

    The points are the land points of a Fibonacci lattice of 17,000, so they are equally dense everywhere:
    point i has the height 1 - (2i + 1) / 17000 and turns by the golden angle from one to the next. Land and
    continents are those of Natural Earth, 1:110m countries, in the public domain, where all of Russia, and
    French Guiana, count as Europe. Lakes and islands too small for that scale are missing. Longitude and
    latitude are stored to 0.01 degree.

    Examples
    --------
    >>> from lowdim.datasets import world
    >>> earth = world()
    >>> earth
    <Dataset world: 4918 x 3, coordinates (longitude, latitude), 7 classes, no isometric coordinates>
    >>> earth.label_names[earth.labels[-1]]
    'Antarctica'
    """
    with np.load(Path(__file__).with_name("world.npz")) as stored:
        degrees, labels = stored["lonlat"] / 100, stored["continent"].astype(np.int64)
    n, sd, rng = start("world", len(labels) if n_samples is None else n_samples, noise, random_state)
    if n > len(labels):
        raise ValueError(
            f"world: n_samples must be at most {len(labels)}, the number of points; got {n}. Use None for all of them."
        )
    if n_samples is not None:
        chosen = rng.choice(len(labels), size=n, replace=False)
        degrees, labels = degrees[chosen], labels[chosen]
    longitude, latitude = np.deg2rad(degrees).T
    around = np.cos(latitude)
    clean = np.column_stack([around * np.cos(longitude), around * np.sin(longitude), np.sin(latitude)])
    return Dataset(
        X=clean + sd * rng.standard_normal(clean.shape),
        coordinates=degrees,
        labels=labels,
        name="world",
        description="Points on the land of the earth, on the unit sphere, by continent.",
        coordinate_names=("longitude", "latitude"),
        noise_free=clean,
        label_names=_CONTINENTS,
    )

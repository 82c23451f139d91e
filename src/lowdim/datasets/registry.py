"""Data sets by name, for the command line and for loops over all of them."""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from functools import partial

from lowdim._core.params import checked
from lowdim.datasets.curves import helical_loop, helix, noisy_circle, spiral
from lowdim.datasets.dataset import Dataset
from lowdim.datasets.globe import world
from lowdim.datasets.images import clock, shifted_face
from lowdim.datasets.surfaces import clusters_3d, concentric_spheres, hd, intersecting, twin_peaks
from lowdim.datasets.swiss_rolls import broken_swiss_roll, changing_swiss_roll, swiss_roll, swiss_roll_hole

_GENERATORS: dict[str, Callable[..., Dataset]] = {
    "swiss-roll": swiss_roll,
    "broken-swiss-roll": broken_swiss_roll,
    "swiss-roll-hole": swiss_roll_hole,
    "changing-swiss-roll": changing_swiss_roll,
    "helix": helix,
    "helical-loop": helical_loop,
    "twin-peaks": twin_peaks,
    "twin-peaks-published": partial(twin_peaks, published=True),
    "hd": hd,
    "clusters-3d": clusters_3d,
    "intersecting": intersecting,
    "concentric-spheres": concentric_spheres,
    "spiral-2d": spiral,
    "spiral-3d": partial(spiral, dim=3),
    "noisy-circle": noisy_circle,
    "clock": clock,
    "shifted-face": shifted_face,
    "world": world,
}


def names() -> list[str]:
    """The names of the data sets, for :func:`load`.

    Returns
    -------
    list of str
        One name for each data set.

    Examples
    --------
    >>> from lowdim.datasets import names
    >>> names()[:3]
    ['swiss-roll', 'broken-swiss-roll', 'swiss-roll-hole']
    """
    return list(_GENERATORS)


@checked("load")
def load(name: str, n_samples: int | None = None, noise: float | None = None, random_state: object = None) -> Dataset:
    """A data set by its name.

    Parameters
    ----------
    name : str
        One of :func:`names`; underscores count as dashes.
    n_samples : int or None
        Number of rows; None for the default of the data set.
    noise : float or None
        Standard deviation of the noise; None for the default of the data set.
    random_state : int, generator or None
        Seed; the same int gives the same result.

    Returns
    -------
    Dataset
        The rows, their true coordinates and labels.

    Examples
    --------
    >>> from lowdim.datasets import load
    >>> load("twin-peaks", 300, random_state=0)
    <Dataset twin-peaks: 300 x 3, coordinates (x, y), 2 classes, no isometric coordinates>
    """
    if not isinstance(name, str):
        raise TypeError(f"load: name must be a string; got {name!r}.")
    known = name.replace("_", "-")
    if known not in _GENERATORS:
        close = get_close_matches(known.lower(), _GENERATORS, n=3)
        hint = f"Did you mean {' or '.join(close)}?" if close else f"Known data sets: {', '.join(_GENERATORS)}."
        raise ValueError(f"load: name must be that of a data set; got {name!r}. {hint}")
    given = {"n_samples": n_samples, "noise": noise}
    return _GENERATORS[known](
        random_state=random_state, **{key: value for key, value in given.items() if value is not None}
    )

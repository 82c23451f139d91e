"""Data sets with known coordinates.

Each is a function of a number of rows, a noise level and a seed, and returns a :class:`Dataset`: the rows
``X``, the ``coordinates`` they were made from and ``labels``; if the data can be flattened without
stretching, also the ``isometric_coordinates`` of a perfect embedding. The formulas of the classical
comparison by van der Maaten, Postma and van den Herik (2009) are reproduced exactly; each docstring says what its
set is for and what to beware of.

`eurodist` and `morse` are measured dissimilarities and similarities, for methods with ``metric="precomputed"``.

    >>> from lowdim.datasets import swiss_roll
    >>> X, coordinates, labels = swiss_roll(1000, random_state=0)
    >>> X.shape, coordinates.shape
    ((1000, 3), (1000, 2))
"""

from lowdim.datasets.curves import helical_loop, helix, noisy_circle, remove_cells, spiral
from lowdim.datasets.dataset import Dataset
from lowdim.datasets.dissimilarities import eurodist, morse
from lowdim.datasets.globe import world
from lowdim.datasets.hidden_cells import HiddenCells, hide_cells
from lowdim.datasets.images import clock, shifted_face
from lowdim.datasets.registry import load, names
from lowdim.datasets.surfaces import clusters_3d, concentric_spheres, hd, intersecting, twin_peaks
from lowdim.datasets.swiss_rolls import broken_swiss_roll, changing_swiss_roll, swiss_roll, swiss_roll_hole

__all__ = [
    "Dataset",
    "HiddenCells",
    "broken_swiss_roll",
    "changing_swiss_roll",
    "clock",
    "clusters_3d",
    "concentric_spheres",
    "eurodist",
    "hd",
    "helical_loop",
    "helix",
    "hide_cells",
    "intersecting",
    "load",
    "morse",
    "names",
    "noisy_circle",
    "remove_cells",
    "shifted_face",
    "spiral",
    "swiss_roll",
    "swiss_roll_hole",
    "twin_peaks",
    "world",
]


def __getattr__(name):
    if name == "Holes":
        from lowdim._core.runtime.notices import warn

        warn("datasets: Holes is now called HiddenCells; the old name will go in the next release.", FutureWarning)
        return HiddenCells
    raise AttributeError(f"module 'lowdim.datasets' has no attribute {name!r}")

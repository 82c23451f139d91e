"""The record of a data set: rows, true coordinates and labels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Rows of data with their true coordinates and labels.

    Unpacks as ``X, coordinates, labels``.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The rows, float64, noise included.
    coordinates : ndarray of shape (n, k)
        The parameters each row was made from; ``coordinate_names`` has their names.
    labels : ndarray of shape (n,)
        A class (int) for each row, a function of the true coordinates unless the generator says otherwise.
    name : str
        The name in :func:`load`.
    description : str
        One sentence.
    coordinate_names : tuple of str
        Names of the columns of ``coordinates``.
    noise_free : ndarray of shape (n, d)
        ``X`` before noise was added: errors of denoising and imputation are measured against it.
    isometric_coordinates : ndarray of shape (n, k) or None
        Coordinates whose Euclidean distances equal the geodesic distances of the noise-free data for close rows
        (for all rows if the set has no hole, gap or closed direction). None if no such coordinates are known.
    label_names : tuple of str
        A name for each label 0, 1, ..., if the labels have names.
    image_shape : tuple of (int, int) or None
        Height and width if a row is a flattened grey image: ``X[i].reshape(image_shape)``.

    Examples
    --------
    >>> from lowdim.datasets import swiss_roll
    >>> roll = swiss_roll(500, random_state=0)
    >>> roll
    <Dataset swiss-roll: 500 x 3, coordinates (t, h), 2 classes, isometric coordinates known>
    >>> X, coordinates, labels = roll
    """

    X: np.ndarray
    coordinates: np.ndarray
    labels: np.ndarray
    name: str
    description: str
    coordinate_names: tuple[str, ...]
    noise_free: np.ndarray
    isometric_coordinates: np.ndarray | None = None
    label_names: tuple[str, ...] = ()
    image_shape: tuple[int, int] | None = None

    def __iter__(self) -> Iterator[np.ndarray]:
        return iter((self.X, self.coordinates, self.labels))

    def __repr__(self) -> str:
        (rows, columns), flat = self.X.shape, self.isometric_coordinates
        classes = len(np.unique(self.labels))
        facts = [
            f"{rows} x {columns}",
            f"coordinates ({', '.join(self.coordinate_names)})",
            f"{classes} {'class' if classes == 1 else 'classes'}",
            "no isometric coordinates" if flat is None else "isometric coordinates known",
        ]
        return f"<Dataset {self.name}: {', '.join(facts)}>"

    def __str__(self) -> str:
        return f"{self!r}\n{self.description}"

"""Maps that show nothing: few places, one place and some outliers, one direction only."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim._core.distances import real_array
from lowdim._core.manifold.crowding import crowding
from lowdim._core.params import checked, none, whole

Array = NDArray[Any]

FEW = 20  # rows of which a third are soon at one place
ROUNDING = 1e-14  # of the largest coordinate
GRID = 1000  # places along a map that can be distinguished
# Of maps by PCA, scaling, Isomap, t-SNE and UMAP of curves, surfaces, clusters, digits, tables and noise, none had more
# than 0.08 of the rows at one place, fewer places than half of the rows, more than 0.46 of the variance of a direction
# in 2 % of the rows, or a second direction of less than 0.0097 of the first. Collapsed maps are far beyond.
CROWDED = 0.5  # of the rows within 1 % of the diameter of one place
PLACES, MANY = 0.1, 100  # fewer places than this share of the rows and than this number are few
OUTLYING, PAID = 0.02, 0.8  # of the rows, and of the variance along a direction that they make
FLAT = 0.003  # deviation along the second direction over that along the first


@checked("degeneracy", n_distinct=none() | whole(0))
def degeneracy(Z: Any, *, n_distinct: int | None = None) -> tuple[str, ...]:
    """What is degenerate about a map, as sentences with the numbers; none for a map that shows its rows.

    A map is degenerate if its rows have few distinct places, if most of them are in one place and few outlying rows
    span the map, or if they lie along one direction. Maps of fewer than 20 rows are not judged.

    Parameters
    ----------
    Z : array (n, r)
        Embedding; rows with NaN are left out.
    n_distinct : int or None
        Number of different rows of the data: equal rows must have the same place. None: all are different.

    Returns
    -------
    tuple of str
        One sentence for each problem.

    Examples
    --------
    >>> import numpy as np
    >>> Z = np.random.default_rng(0).normal(size=(200, 2))
    >>> degeneracy(Z)
    ()
    >>> degeneracy(Z * [1, 0.001])[0][:44]
    'The map is a line: the deviation along its s'
    """
    Z = real_array(Z, "degeneracy: Z")
    if Z.ndim not in (1, 2) or 0 in Z.shape[1:]:
        raise ValueError(f"degeneracy: Z must be a table of rows and columns; got shape {Z.shape}.")
    Z = Z[:, None] if Z.ndim == 1 else Z
    Z = np.asarray(Z, np.float64)[np.isfinite(Z).all(axis=1)]
    if len(Z) < FEW:
        return ()
    Z = Z / (np.abs(Z).max() or 1.0)
    Z = Z - Z.mean(axis=0)
    extent = np.abs(Z).max()
    if extent <= ROUNDING:
        return (f"All {len(Z)} rows are at one place.",)
    Z = Z / extent
    distinct = min(len(Z), n_distinct or len(Z))
    found = [_one_place(Z, distinct) or _few_places(Z, distinct) or _outliers(Z), _one_direction(Z)]
    return tuple(sentence for sentence in found if sentence)


def _few_places(Z: Array, distinct: int) -> str | None:
    """Places that differ by a thousandth of the map."""
    places = len(np.unique(np.rint(Z * (GRID / 2)), axis=0))
    if places > min(PLACES * distinct, MANY):
        return None
    return f"The {len(Z)} rows are at {places} places only (places closer than 0.1 % of the map's extent count as one)."


def _one_place(Z: Array, distinct: int) -> str | None:
    share = crowding(Z)
    equal = 1 - distinct / len(Z)  # these may be at one place in the data already
    if share <= CROWDED + equal:
        return None
    far = round((1 - share) * len(Z))
    return (
        f"{len(Z) - far} of {len(Z)} rows ({share:.0%}) lie within 1 % of the map's diameter of one place: the map "
        f"shows {far} outlying rows."
    )


def _outliers(Z: Array) -> str | None:
    """A direction whose variance a few rows make."""
    values, vectors = np.linalg.eigh(Z.T @ Z / len(Z))
    kept = values > 1e-12 * values[-1]
    white = Z @ (vectors[:, kept] / np.sqrt(values[kept]))
    count = int(np.ceil(OUTLYING * len(Z)))
    rows = np.argsort(-np.square(white).sum(axis=1), kind="stable")[:count]
    paid = float(np.linalg.norm(white[rows], 2) ** 2 / len(Z))
    if paid <= PAID:
        return None
    return (
        f"{count} of {len(Z)} rows make {paid:.0%} of the variance along a direction of the map, along which the "
        "others are at one place."
    )


def _one_direction(Z: Array) -> str | None:
    if Z.shape[1] < 2:
        return None
    first, second = np.sqrt(np.maximum(np.linalg.eigvalsh(Z.T @ Z)[::-1][:2], 0))
    if second > FLAT * first:
        return None
    return (
        f"The map is a line: the deviation along its second direction is {second / first:.2%} of that along the first."
    )

"""The forms in which files have distances: square, lower triangle, condensed, pairs, similarities."""

from __future__ import annotations

import numpy as np
import polars as pl

from lowdim.app.errors import UserError
from lowdim.app.reading.distances.pairs import pairs_in, read_pairs
from lowdim.app.reading.distances.record import distances_of
from lowdim.app.reading.distances.square import read_similarities, read_square, square_in
from lowdim.app.reading.loaded import Loaded

FORMS = ("square", "lower", "condensed", "pairs", "similarities")


def as_distances(loaded: Loaded, form: str | None, shown: str) -> Loaded:
    """The distances in a table: in the form that the user chose, or where they are recognised; else the table.

    Where a table may hold distances but it is not certain, it stays a table, with a note that names the option.
    """
    if form == "no" or loaded.kind == "distances":
        return loaded
    if form is None:
        found = square_in(loaded)
        return pairs_in(loaded) if found is loaded else found
    if form not in FORMS:
        raise UserError(f"--distances must be one of {', '.join(FORMS)} or no; got {form!r}.")
    if form == "pairs":
        return read_pairs(loaded, shown)
    if form == "condensed":
        return _condensed(loaded, shown)
    return read_similarities(loaded, shown) if form == "similarities" else read_square(loaded, form, shown)


def _condensed(loaded: Loaded, shown: str) -> Loaded:
    from scipy.spatial.distance import squareform

    frame = loaded.frame
    if 1 not in frame.shape or not all(kind.is_numeric() for kind in frame.dtypes):
        raise UserError(
            f"{shown}: --distances condensed needs one column or one row of numbers; got {frame.height} rows and "
            f"{frame.width} columns."
        )
    values = frame.cast(pl.Float64).to_numpy().ravel()
    n = round((1 + np.sqrt(1 + 8 * len(values))) / 2)
    if n * (n - 1) // 2 != len(values):
        raise UserError(f"{shown}: condensed distances are n(n - 1)/2 numbers, such as 3, 6 or 10; got {len(values)}.")
    if (values < 0).any():
        raise UserError(f"{shown}: distances must not be negative; got {values.min():g}.")
    names = [str(i + 1) for i in range(n)]
    return distances_of(squareform(values), names, [*loaded.notes, f"condensed distances between {n} items"])

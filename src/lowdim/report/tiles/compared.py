"""The scatter of a comparison: its maps, labels, verdicts and columns, of all rows."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lowdim.report.column_views import colour_columns, given_colours, shown_columns, verdict_columns
from lowdim.report.record import Compared
from lowdim.report.tiles.scatter import Colour, Places, Scatter

MOST_CELLS = 64_000_000  # numbers of the columns to colour by, 4 bytes each


def scatter_of(
    comparison: Compared,
    *,
    title: str,
    row_numbers: np.ndarray,
    colours: Mapping[str, Any] | None = None,
    notes: Sequence[str] = (),
) -> Scatter:
    """All rows of a comparison, for tiles.

    Parameters
    ----------
    comparison : Compared
        The comparison to show.
    title : str
        The heading.
    row_numbers : ndarray
        The number shown for each row.
    colours : mapping of str to array, optional
        Further quantities to colour the maps by; the first is what the page opens with.
    notes : sequence of str
        Notes about the data.

    Returns
    -------
    Scatter
        The map that the verdict recommends is the first.
    """
    rows = np.arange(comparison.n_rows)
    first, maps = comparison.verdict.recommended, comparison.aligned()
    names = sorted((name for name in maps if name not in comparison.copies), key=lambda name: name != first)
    flat = {outcome.name: outcome.n_components == 1 for outcome in comparison.outcomes}
    used = sum(column.use == "map" for column in comparison.columns)
    columns = colour_columns(comparison, None, [], rows, most_cells=MOST_CELLS)
    left = [f"Maps can be coloured by the first {len(columns)} of {used} columns."] if len(columns) < used else []
    return Scatter(
        title=title,
        maps=[Places(name, maps[name], flat[name]) for name in names],
        numbers=row_numbers,
        colours=[
            *map(_unpacked, given_colours(colours, comparison.n_rows, rows)),
            *_label(comparison),
            *map(_unpacked, verdict_columns(comparison, rows)),
            *(Colour(f"quality: {name}", comparison.per_row[name], only=name) for name in names),
            *map(_unpacked, columns),
        ],
        names=comparison.row_names,
        texts={column["name"]: column["values"] for column in shown_columns(comparison, rows)},
        notes=[*notes, *left],
    )


def _unpacked(column: dict[str, Any]) -> Colour:
    """A column as the self-contained page has it, as an array again."""
    classes = column["classes"]
    values = np.frombuffer(base64.b64decode(column["values"]), "<f4" if classes is None else "<i4")
    return Colour(column["name"], values, classes)


def _label(comparison: Compared) -> list[Colour]:
    labels = comparison.labels
    if labels is None:
        return []
    return [Colour(labels.name, labels.values if labels.codes is None else labels.codes, labels.classes)]

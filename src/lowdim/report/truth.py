"""What the page knows about the data itself: how far rows are from each other, and which are nearest."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowdim.report.column_views import pack
from lowdim.report.record import Compared

MOST_CELLS = 2_500_000  # numbers of the copy of the data in the page, 2.7 bytes each


def truth(comparison: Compared, drawn: np.ndarray) -> dict[str, Any] | None:
    """The copy of the data for the rows that are drawn, as small as the page can bear; None if there is none."""
    copy = comparison.data_copy
    if copy is None:
        return None
    whole = len(drawn) == comparison.n_rows
    found = {
        "kind": copy.kind, "width": 0, "step": copy.step, "values": "", "near": None, "k": 0,
        "text": _TEXTS[copy.kind],
    }  # fmt: skip
    if copy.kind == "components":
        width = max(1, min(copy.values.shape[1], MOST_CELLS // len(drawn)))
        kept = copy.kept(width)
        of = "all of the" if kept > 0.9995 else f"{100 * kept:.0f} % of the"
        text = f"Distances are computed in this page from {width} components with {of} variance, rounded to 16 bits."
        found |= {"width": width, "values": pack(copy.values[drawn, :width], np.uint16), "text": text}
    elif copy.kind == "distances":
        found |= {"width": len(drawn), "values": pack(copy.values[np.ix_(drawn, drawn)], np.uint16)}
    if copy.neighbors is not None and whole:
        kind = np.uint16 if comparison.n_rows <= 2**16 else np.uint32
        found |= {"near": pack(copy.neighbors, kind), "k": copy.neighbors.shape[1]}
    return found if found["values"] or found["near"] else None


_TEXTS = {
    "components": "",
    "distances": "Distances are those of the reference, rounded to 16 bits.",
    "neighbours": "Distances are not in this page, to keep it small; neighbours are.",
}

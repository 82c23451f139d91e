"""What the page knows about the data itself: how far rows are from each other, and which are nearest."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowdim._core.neighbors import nearest
from lowdim.report.column_views import pack
from lowdim.report.record import Compared

N_NEIGHBORS = 20
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
        "sampled": not whole,
    }  # fmt: skip
    if copy.kind == "components":
        width = max(1, min(copy.values.shape[1], MOST_CELLS // len(drawn)))
        kept = copy.kept(width)
        of = "all of the" if kept > 0.9995 else f"{100 * kept:.0f} % of the"
        text = f"Distances are computed in this page from {width} components with {of} variance, rounded to 16 bits."
        found |= {"width": width, "values": pack(copy.values[drawn, :width], np.uint16), "text": text}
    elif copy.kind == "distances":
        found |= {"width": len(drawn), "values": pack(copy.values[np.ix_(drawn, drawn)], np.uint16)}
    near = copy.neighbors if whole else _among(copy, drawn, found["width"])
    if near is not None:
        kind = np.uint16 if len(drawn) <= 2**16 else np.uint32
        found |= {"near": pack(near, kind), "k": near.shape[1]}
    return found if found["values"] or found["near"] else None


def _among(copy: Any, drawn: np.ndarray, width: int) -> np.ndarray | None:
    """The nearest of the rows that are drawn, by the distances of the copy; None if it has none."""
    k = min(N_NEIGHBORS, len(drawn) - 1)
    if copy.kind == "neighbours" or k < 1:
        return None
    given = copy.kind == "distances"
    rows = copy.values[np.ix_(drawn, drawn)] if given else copy.values[drawn, :width]
    metric = "precomputed" if given else "euclidean"
    return nearest(rows.astype(float), k, metric=metric, approximate=None, owner="report").indices


_TEXTS = {
    "components": "",
    "distances": "Distances are those of the reference, rounded to 16 bits.",
    "neighbours": "Distances are not in this page, to keep it small; neighbours are.",
}

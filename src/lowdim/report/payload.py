"""The numbers that the script of the page draws."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowdim._core.runtime.rng import generator
from lowdim.report.column_views import pack
from lowdim.report.missing import uncertain_places
from lowdim.report.record import Compared
from lowdim.report.truth import truth


def drawn_rows(comparison: Compared, most: int) -> np.ndarray:
    """The rows to draw: all, or a random sample (repeatable by the seed), rows of known quality first."""
    n = comparison.n_rows
    if n <= most:
        return np.arange(n)
    shuffled = generator(comparison.seed).permutation(n)
    known = quality_known(comparison)[shuffled]
    return np.sort(np.concatenate([shuffled[known], shuffled[~known]])[:most])


def quality_known(comparison: Compared) -> np.ndarray:
    """Rows that were ranked from: all scored rows, or a sample of them."""
    known = np.zeros(comparison.n_rows, dtype=bool)
    for values in comparison.per_row.values():
        known |= np.isfinite(values)
    return known


def payload(comparison: Compared, drawn: np.ndarray, numbers: np.ndarray, imputation: Any = None) -> dict[str, Any]:
    """The data that the script draws."""
    names = comparison.row_names
    maps = {name: _unit_box(Z) for name, Z in comparison.aligned().items() if name not in comparison.copies}
    uncertain = uncertain_places(comparison, maps, imputation, drawn)
    return {
        "rows": pack(numbers[drawn], np.int32),
        "names": None if names is None else [names[i] for i in drawn],
        "label": _label(comparison, drawn),
        "questions": _questions(comparison),
        "recommended": comparison.verdict.recommended,
        "truth": truth(comparison, drawn),
        "maps": [
            {**_map(comparison, name, Z[drawn], comparison.per_row[name][drawn]), "ellipses": uncertain.get(name)}
            for name, Z in maps.items()
        ],
    }


def curve_lines(chart: dict[str, Any]) -> dict[str, Any]:
    """The curves of one chart as numbers, for the values shown under the pointer."""
    lines = [
        {
            "name": line["name"],
            "colour": line["colour"],
            "k": pack(line["k"], np.int32),
            "r": pack(line["values"], np.float32),
        }
        for line in chart["lines"]
    ]
    return {"longest": chart["longest"], "low": chart["low"], "lines": lines}


def _label(comparison: Compared, drawn: np.ndarray) -> dict[str, Any] | None:
    labels = comparison.labels
    if labels is None:
        return None
    if labels.codes is not None:
        return {
            "name": labels.name,
            "classes": labels.classes,
            "values": pack(labels.codes[drawn], np.int32),
        }
    return {"name": labels.name, "classes": None, "values": pack(labels.values[drawn], np.float32)}


def _map(comparison: Compared, name: str, Z: np.ndarray, quality: np.ndarray) -> dict[str, Any]:
    outcome = next(o for o in comparison.outcomes if o.name == name)
    return {
        "name": name,
        "flat": outcome.n_components == 1,
        "linear": bool(outcome.linear) and outcome.n_components != 1,
        "xy": pack(Z, np.float32),
        "quality": pack(quality, np.float32),
    }


def _unit_box(Z: np.ndarray) -> np.ndarray:
    """Centred and scaled by one factor, so that the larger extent is 1."""
    seen = Z[np.isfinite(Z).all(axis=1)]
    low, high = seen.min(axis=0), seen.max(axis=0)
    extent = float((high - low).max()) or 1.0
    return (Z - (low + high) / 2) / extent


def _questions(comparison: Compared) -> list[dict[str, Any]]:
    """For each question the maps that were ranked, best first, with those that are not behind beyond chance."""
    rankings = {} if comparison.evidence is None else comparison.evidence.rankings
    return [
        {
            "name": r.question, "measure": r.measure, "ties": list(r.ties),
            "values": [[name, round(float(value), 4)] for name, value in r.values.items()],
        }
        for r in rankings.values()
    ]  # fmt: skip

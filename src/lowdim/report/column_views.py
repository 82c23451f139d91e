"""The columns of a table on the page: colours of the maps, texts shown with a row, and the list of what was done."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from lowdim.report.record import Compared, ShownColumn

# Columns that maps can be coloured by: at most this many, with at most this many numbers (5.3 bytes each as base64).
MOST_COLUMNS, MOST_CELLS = 64, 2_000_000
MOST_TEXT = 4_000_000  # characters of the columns that are only shown
C = TypeVar("C", bound=ShownColumn)
ROW_VERDICTS = ("misplaced", "trusted", "unsure")  # in the order of the alphabet
CLUSTERS = "clusters: "  # and the map that they were found in
MOST_LISTED = 12  # columns of one kind and use that have a line each


def pack(values: np.ndarray, kind: Any) -> str:
    """Little-endian bytes as base64: exact, and half the size of decimal text."""
    return base64.b64encode(np.ascontiguousarray(values, dtype=np.dtype(kind).newbyteorder("<")).tobytes()).decode()


def colour_columns(
    comparison: Compared, data: Any, names: list[str], drawn: np.ndarray, *, most_cells: int | None = None
) -> list[dict[str, Any]]:
    """The first columns that the methods saw, up to the limits above."""
    most = min(MOST_COLUMNS, max(1, (most_cells or MOST_CELLS) // max(1, len(drawn))))
    if data is not None:
        return _of_array(comparison, data, names, drawn, most)
    used = [column for column in comparison.columns if column.use == "map"]
    return [_coloured(column, drawn) for column in used[:most]]


def verdict_columns(comparison: Compared, drawn: np.ndarray, missing: np.ndarray | None = None) -> list[dict[str, Any]]:
    """The verdict on each row as a colour, for the maps that were judged; the recommended one first."""
    first = comparison.verdict.recommended
    names = sorted(comparison.verdict.rows, key=lambda name: name != first)
    codes = {name: np.searchsorted(ROW_VERDICTS, comparison.verdict.rows[name][drawn]) for name in names}
    answers: list[dict[str, Any]] = [
        {"name": f"row verdict: {name}", "classes": list(ROW_VERDICTS), "values": pack(found, np.int32)}
        for name, found in codes.items()
    ]
    return [*answers, *_clusters(comparison, drawn), *_amounts(comparison, names, drawn, missing)]


def _amounts(
    comparison: Compared, names: list[str], drawn: np.ndarray, missing: np.ndarray | None
) -> list[dict[str, Any]]:
    """Further quantities of each row, where they are known: p-values, stability, gaps, share of missing cells."""
    found = {f"p-value: {name}": comparison.verdict.p_values.get(name) for name in names}
    stability = None if comparison.evidence is None else comparison.evidence.stability
    if stability is not None:
        found[f"stability: {comparison.verdict.recommended}"] = stability.per_row
    for name, gaps in ({} if comparison.evidence is None else comparison.evidence.gaps).items():
        moved = not np.isnan(gaps.overconfidence).all()
        found[f"jumps when moved: {name}"] = gaps.overconfidence if moved else None
        found[f"fracture: {name}"] = _finite(gaps.fracture)
    found["share of missing cells"] = missing
    return [
        {"name": name, "classes": None, "values": pack(values[drawn], np.float32)}
        for name, values in found.items()
        if values is not None
    ]


def _finite(values: np.ndarray) -> np.ndarray:
    """Rows that nothing holds have the colour of the one that is held least: no value would be no colour."""
    known = values[np.isfinite(values)]
    return np.where(np.isposinf(values), known.max() if len(known) else 1.0, values)


def given_colours(given: Mapping[str, Any] | None, n: int, drawn: np.ndarray) -> list[dict[str, Any]]:
    """Quantities that the caller gave, for colours."""
    found = []
    for name, values in (given or {}).items():
        if np.shape(values) != (n,):
            raise ValueError(f"report: colours[{name!r}] must have {n} values; got shape {np.shape(values)}.")
        found.append({"name": name, "classes": None, "values": pack(np.asarray(values)[drawn], np.float32)})
    return found


def opening(
    comparison: Compared, seen: Sequence[Mapping[str, Any]], given: Sequence[Any], judged: Sequence[Mapping[str, Any]]
) -> tuple[str | None, list[str]]:
    """What maps are coloured by when the page opens, as the page names it, and why; None: the label, or the quality.

    First what the caller gave; without a label the column that the map shows best; of tables too wide for one column to
    mean something, the clusters that the verdict found.
    """
    if given:
        return f"column:{len(seen)}", []
    if comparison.labels is not None:
        return None, []
    found = comparison.opening_colour
    places = [j for j, column in enumerate(seen) if found is not None and column["name"] == found.column]
    if places:
        return f"column:{places[0]}", [found.why]
    groups = [j for j, column in enumerate(judged) if column["name"].startswith(CLUSTERS)]
    if groups:
        why = f"maps open coloured by {judged[groups[0]]['name']!r}: no single column says as much"
        return f"column:{len(seen) + groups[0]}", [why]
    return None, []


def _clusters(comparison: Compared, drawn: np.ndarray) -> list[dict[str, Any]]:
    """The clusters that the verdict speaks of."""
    found = None if comparison.evidence is None else comparison.evidence.clusters
    if found is None:
        return []
    names = sorted(set(found.tolist()) - {""})
    codes = {name: code for code, name in enumerate(names)} | {"": -1}
    values = np.array([codes[each] for each in found.tolist()])[drawn]
    name = f"{CLUSTERS}{comparison.verdict.recommended}"
    return [{"name": name, "classes": names, "values": pack(values, np.int32)}]


def _of_array(comparison: Compared, data: Any, names: list[str], drawn: np.ndarray, most: int) -> list[dict[str, Any]]:
    if np.ndim(data) != 2 or len(data) != comparison.n_rows:
        raise ValueError(f"report: data must be a table with {comparison.n_rows} rows; got shape {np.shape(data)}.")
    values = np.asarray(data)
    with np.errstate(over="ignore"):  # a number beyond single precision is shown as missing
        return [
            {
                "name": names[j] if j < len(names) else f"column {j}",
                "classes": None,
                "values": pack(values[drawn, j], np.float32),
            }
            for j in range(min(values.shape[1], most))
        ]


def _coloured(column: ShownColumn, drawn: np.ndarray) -> dict[str, Any]:
    if column.kind == "number":
        with np.errstate(over="ignore"):
            return {"name": column.name, "classes": None, "values": pack(column.values[drawn], np.float32)}
    known = ~column.missing
    classes, places = np.unique(column.values[known].astype(str), return_inverse=True)
    if column.levels:
        order = {level: i for i, level in enumerate(column.levels)}
        placed = np.argsort([order.get(name, len(order)) for name in classes], kind="stable")
        classes, places = classes[placed], np.argsort(placed)[places]
    codes = np.full(len(known), -1, dtype=np.int32)
    codes[known] = places.ravel()
    return {"name": column.name, "classes": classes.tolist(), "values": pack(codes[drawn], np.int32)}


def shown_columns(comparison: Compared, drawn: np.ndarray) -> list[dict[str, Any]]:
    """Columns that no method saw, as texts; long ones are cut so that the page stays small."""
    shown = [column for column in comparison.columns if column.use == "shown"]
    most = MOST_TEXT // max(1, len(shown) * len(drawn)) if shown else 0
    found = []
    for column in shown:
        texts = column.texts()
        found.append({"name": column.name, "values": [texts[i][: max(most, 8)] for i in drawn]})
    return found


def alike(columns: Sequence[C]) -> list[list[C]]:
    """Columns of the same kind and use, with or without a doubt, together."""
    groups: dict[tuple[str, str, bool], list[C]] = {}
    for column in columns:
        groups.setdefault((column.kind, column.use, bool(column.doubt)), []).append(column)
    return list(groups.values())


def column_groups(comparison: Compared) -> list[dict[str, str]]:
    """What was done with each column: a line for each, or one for many of the same kind and use."""
    lines = []
    for columns in alike(comparison.columns):
        kind, use, many = columns[0].kind, columns[0].use, len(columns) > MOST_LISTED
        for column in columns[:1] if many else columns:
            name = f"{column.name} … {columns[-1].name} ({len(columns)} columns)" if many else column.name
            missing = sum(int(one.missing.sum()) for one in (columns if many else [column]))
            lines.append({
                "name": name, "kind": kind, "use": use, "reason": column.reason, "doubt": column.doubt,
                "about": "" if many else column.about,
                "missing": f"{missing:,}" if missing else "",
            })  # fmt: skip
    return lines

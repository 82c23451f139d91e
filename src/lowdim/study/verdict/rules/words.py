"""Pieces of sentences: choices between maps, shares, lists of names."""

from __future__ import annotations

import numpy as np

from lowdim._core.ranks.ranking import Ranking
from lowdim.study.verdict.evidence import Evidence

POORLY = 0.5  # share of rows that can be trusted, or of neighbours that come back: below, single rows mean nothing
NAMED = 5  # rows or groups that are named in a sentence


def reference_words(found: Evidence) -> str:
    """The reference distances in two or three words."""
    names = {
        "ambient": "straight distances in the data", "expected": "expected distances in the data",
        "gower": "Gower's distances in the data", "geodesic": "distances along the data",
        "given": "the distances given",
    }  # fmt: skip
    return names[found.reference.name]


def choice(purpose: str, ranked: Ranking, measured: str) -> str:
    """Which map to look at, or that several do as well."""
    others = [name for name in ranked.ties if name != ranked.best]
    if not ranked.behind:
        return f"{purpose}, there is only {ranked.best} ({measured})."
    if len(others) == len(ranked.behind):
        return f"{purpose}, no map is better than the others beyond chance ({ranked.best}: {measured})."
    if others:
        return f"{purpose}, look at {ranked.best} ({measured}); its lead over {listed(others)} is within chance."
    second = next(iter(ranked.behind))
    ahead, low, high = ranked.behind[second]
    return f"{purpose}, look at {ranked.best} ({measured}); next is {second}, {_behind(ranked, ahead, low, high)}."


def _behind(ranked: Ranking, ahead: float, low: float, high: float) -> str:
    """By how much a map is behind: points of a percentage, or of a correlation."""
    if ranked.question in ("neighbours", "labels"):
        return f"{100 * ahead:.0f} points behind (95 % interval {100 * low:.1f} to {100 * high:.1f})"
    return f"{ahead:.2f} behind (95 % interval {low:.3f} to {high:.3f})"


def percent(share: float) -> str:
    """Whole percents; not all of them unless it is all, and some unless it is none."""
    shown = round(100 * share)
    if share < 1 and shown == 100:
        return "over 99 %"
    return "under 1 %" if share > 0 and shown == 0 else f"{shown} %"


def between_percents(low: float, high: float) -> str:
    """From one share to another, or the one that both are."""
    return percent(high) if percent(low) == percent(high) else f"{percent(low).removesuffix(' %')} to {percent(high)}"


def numbers_of(ranked: Ranking) -> dict[str, object]:
    """The numbers of a ranking that a sentence rests on."""
    return {"measure": ranked.measure, "best": ranked.best, "ties": list(ranked.ties), "values": ranked.values}


def rows_named(found: Evidence, verdict: np.ndarray) -> str:
    """The worst of the misplaced rows, by name where they have one."""
    p = found.p_values[found.recommended or ""]
    where = np.flatnonzero(verdict == "misplaced")
    return named_rows(found, where[np.argsort(-p[where], kind="stable")])


def named_rows(found: Evidence, rows: np.ndarray) -> str:
    """The first of some rows, by name where they have one, and how many more there are."""
    numbers = np.arange(found.n_rows) if found.row_numbers is None else found.row_numbers
    given = [""] * found.n_rows if found.row_names is None else found.row_names
    called = "" if found.row_names is None else "row "  # a row without a name, among others that have one
    names = [given[i] or f"{called}{numbers[i]}" for i in rows[:NAMED]]
    word = "" if found.row_names is not None else "row " if len(rows) == 1 else "rows "
    return word + listed(names, len(rows))


def listed(names: list[str], total: int | None = None) -> str:
    """The first names, and how many more there are."""
    more = (total or len(names)) - min(NAMED, len(names))
    shown = names[:NAMED]
    if not names:
        return ""
    if more:
        return f"{', '.join(shown)} and {more} more"
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def is_noise(found: Evidence) -> bool:
    """Whether no structure was found, not even in single columns, or only that of a few rows."""
    test = found.structure
    return test is not None and (test.by_few_rows or not (test.related or test.single_columns))

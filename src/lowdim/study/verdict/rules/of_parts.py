"""The rules on parts of the recommended map: its rows, groups of them, and distances between groups."""

from __future__ import annotations

from collections import Counter

import numpy as np

from lowdim.study.verdict.evidence import Evidence
from lowdim.study.verdict.rules.words import POORLY, is_noise, listed, named_rows, percent, rows_named
from lowdim.study.verdict.sentence import Sentence
from lowdim.trust.fractures import Fractures
from lowdim.trust.groups import GroupPair
from lowdim.trust.rows import VERDICTS

FEW_WRONG = 0.25  # of the distances between groups: where more are wrong, none should be read
SEEN = 100  # rows of a group: of fewer, a gap around it is easily missed
TRUSTED = "better placed than all but 5 % of the rows of noise, or with four fifths of their neighbours right"


def rows(found: Evidence) -> list[Sentence]:
    """Are the rows of the recommended map where they belong?"""
    verdict = found.verdicts.get(found.recommended or "")
    if verdict is None:
        return _rows_of_a_sample(found)
    counts = Counter(verdict.tolist())
    trusted, misplaced = counts["trusted"] / len(verdict), counts["misplaced"]
    text = f"In the {found.recommended} map {counts['trusted']:,} of {len(verdict):,} rows can be trusted ({TRUSTED})"
    if misplaced and trusted < POORLY:
        text += f"; {misplaced:,} {'is' if misplaced == 1 else 'are'} misplaced"
    elif misplaced:
        text += f"; {misplaced:,} {'is' if misplaced == 1 else 'are'} misplaced: {rows_named(found, verdict)}"
    text += "."
    if trusted < POORLY:
        text += " Most rows cannot be trusted: read nothing about single rows."
    numbers = {"method": found.recommended, **{kind: counts[kind] for kind in VERDICTS}}
    return [Sentence("rows", text, numbers, "evidence-rows")]


def _rows_of_a_sample(found: Evidence) -> list[Sentence]:
    """The rows of a map of a sample: what the method does, not where each row of the large map is."""
    if found.sampled is None:
        return []
    verdict, name = found.sampled.verdict, found.sampled.method
    counts = Counter(verdict.tolist())
    text = (
        f"In a {name} map of {len(verdict):,} of the {found.sampled.n_all:,} rows, drawn at random, "
        f"{counts['trusted']:,} rows can be trusted ({TRUSTED}) and {counts['misplaced']:,} are misplaced."
    )
    if counts["trusted"] < POORLY * len(verdict):
        text += " Most rows cannot be trusted: read nothing about single rows."
    numbers = {"method": name, "rows": len(verdict), **{kind: counts[kind] for kind in VERDICTS}}
    return [Sentence("rows", text, numbers, "evidence-rows")]


def apart(found: Evidence) -> list[Sentence]:
    """Which rows stand apart in the data, and are shown amid others?"""
    hidden = found.apart
    if found.isolation is None or not len(hidden):
        return []
    many = f"{len(hidden):,} {'row stands' if len(hidden) == 1 else 'rows stand'} apart"
    most = float(found.isolation[hidden[0]])
    text = (
        f"The {found.recommended} map hides that {many}: beside what is usual there, the nearest rows are up to "
        f"{most:.1f} times as far in the data as in the map ({named_rows(found, hidden)}). Outliers are drawn in like "
        "that, and rows between groups."
    )
    numbers = {"method": found.recommended, "rows": len(hidden), "most": most}
    return [Sentence("rows", text, numbers, "evidence-questions")]


def groups(found: Evidence) -> list[Sentence]:
    """Which groups are real?"""
    if found.groups is None or is_noise(found):
        return []
    table = [group for group in found.groups.table if group.verdict != "too few rows"]
    if not table:
        text = f"Groups were not judged ({found.groups_are}): none of {len(found.groups.table)} has 20 rows."
        return [Sentence("groups", text, {"groups": len(found.groups.table)}, "evidence-groups")]
    by = {
        kind: [str(g.name) for g in table if g.verdict == kind]
        for kind in ("holds together", "torn", "mixture", "overlaps")
    }
    own = by["holds together"]
    in_pieces = [str(g.name) for g in table if g.verdict == "torn" and g.in_pieces]
    by_words = {
        f"{len(own) or 'none'} of {len(table)} found to be {_own_groups(len(own), len(table))} in the data": own,
        "several groups in one": by["mixture"],
        "in several places of the map, though no gap was found in the data": in_pieces,
        "shown apart, though no gap was found in the data": [name for name in by["torn"] if name not in in_pieces],
        "without a gap to others": by["overlaps"],
    }
    parts = [f"{words}{': ' if names else ''}{listed(names)}" for words, names in by_words.items()
             if names or words.startswith("none")]  # fmt: skip
    text = f"Groups in the {found.recommended} map ({found.groups_are}): {'; '.join(parts)}."
    missed = sum(group.size < SEEN and group.verdict in ("torn", "overlaps") for group in table)
    if missed:
        text += f" Of these, {missed} {'has' if missed == 1 else 'have'} fewer than {SEEN} rows, too few to be sure."
    return [Sentence("groups", text, {kind: len(names) for kind, names in by.items()}, "evidence-groups")]


def _own_groups(found: int, count: int) -> str:
    return "a group of its own" if 1 in (found, count) else "groups of their own"


def between(found: Evidence) -> list[Sentence]:
    """May distances between groups be read, pair by pair?"""
    pairs = _judged_pairs(found)
    counts = Counter(pair.verdict for pair in pairs)
    right, order, wrong, total = counts["yes"], counts["order only"], counts["no"], len(pairs)
    named = f"in the {found.recommended} map"
    if total < 2:
        return []  # one distance has nothing to be compared with
    if right == total:
        text = f"Distances between groups {named} may be read: all {total} are right within 20 %."
    elif not wrong:
        text = (
            f"Of the distances between groups {named} only the order may be read: {right} of {total} are right within "
            "20 %."
        )
    elif wrong > FEW_WRONG * total:
        text = (
            f"Do not read distances between groups {named}: even the order is wrong for {wrong} of {total}, only the "
            f"order is right for {order}, and {right} {'is' if right == 1 else 'are'} right within 20 %."
        )
    else:
        names = [f"{pair.first} to {pair.second}" for pair in pairs if pair.verdict == "no"]
        text = (
            f"Distances between groups {named} may be read for most pairs: {right} of {total} are right within 20 %, "
            f"only the order is right for {order}; do not read {listed(names)}."
        )
    numbers = {"yes": right, "order only": order, "no": wrong}
    return [Sentence("between groups", text, numbers, "evidence-groups")]


def _judged_pairs(found: Evidence) -> list[GroupPair]:
    """The pairs of groups that have rows enough to be judged; of clusters of the map those that are groups."""
    if found.groups is None or is_noise(found):
        return []
    verdicts = {group.name: group.verdict for group in found.groups.table}
    # A cluster of the map that is no group of the data has no distance: only classes are there whatever the map shows.
    own = found.clusters is not None
    out = {name for name, kind in verdicts.items() if kind == "too few rows" or (own and kind != "holds together")}
    return [pair for pair in found.groups.pairs if not out & {pair.first, pair.second}]


def gaps(found: Evidence) -> list[Sentence]:
    """Where does a map draw gaps that are not in the data?"""
    return [_gaps_of(name, each) for name, each in found.gaps.items()]


def _gaps_of(name: str, found: Fractures) -> Sentence:
    jumps, loose = found.overconfidence[np.isfinite(found.overconfidence)], int(found.fractured.sum())
    numbers: dict[str, float] = {"loose": loose}
    held = f"{loose:,} {'row is' if loose == 1 else 'rows are'} hardly held in place"
    if not len(jumps) or found.radius == 0:
        return Sentence("gaps", f"In the {name} map {held}.", numbers, "evidence-gaps")
    half, most = float(np.median(jumps)) / found.radius, float(jumps.max()) / found.radius
    count = int(found.overconfident.sum())
    numbers |= {"median": half, "most": most, "stand_out": count}
    text = (
        f"Moved a little in the data, half of the rows would go at most {percent(half)} of the radius of the {name} "
        f"map, the farthest {percent(most)}; {count:,} stand out, and {held}: gaps beside such rows are "
        f"drawn more sharply than the data have them."
    )
    return Sentence("gaps", text, numbers, "evidence-gaps")

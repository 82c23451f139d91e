"""The rules that turn numbers into sentences; those on rows, groups and gaps are in `part_rules`.

Each rule reads the evidence alone and gives at most a few sentences. Every sentence states its number, and names the
reference distance where it depends on it. The order of `RULES` is the order of the verdict. Measures of the same
question are not counted twice: one measure answers one question.
"""

from __future__ import annotations

from collections.abc import Callable

from lowdim.study.verdict.evidence import Evidence
from lowdim.study.verdict.part_rules import POORLY, between, gaps, groups, rows
from lowdim.study.verdict.sentence import Sentence, Verdict
from lowdim.study.verdict.structure_test import FoundStructure
from lowdim.study.verdict.words import (
    LEVEL,
    between_percents,
    choice,
    is_noise,
    listed,
    numbers_of,
    percent,
    reference_words,
)  # fmt: skip

CURVED = 0.9  # rank correlation of straight distances and those along the data: above, they agree
BENT = 0.1  # by how much it is below that of noise, where the data are curved
READABLE = 0.7  # rank correlation of distances with those of a map: below, they should not be read
DENSE = 0.5  # rank correlation of densities in data and map: below, densities should not be read
FINE = 0.02  # difference to the linear map that is not worth a curved method


def verdict_of(found: Evidence) -> Verdict:
    """The sentences that hold for this evidence."""
    sentences = [sentence for rule in RULES for sentence in rule(found)]
    return Verdict(tuple(sentences), found.recommended, found.verdicts, found.p_values)


def structure(found: Evidence) -> list[Sentence]:
    """Is there structure at all?"""
    test = found.structure
    if test is None:
        return []
    numbers = {
        "p_value": test.p_value, "observed": test.observed, "noise": test.null, "noise_lowest": test.lowest,
        "tables": test.n_null, "scale": test.scale, "clear": test.clear,
    }  # fmt: skip
    kept = f"the {test.method} map keeps {percent(test.observed)} of each row's {test.scale} nearest rows beyond chance"
    given = found.reference.kind == "precomputed"
    made = "the same distances, between other pairs" if given else "the same columns, each shuffled"
    looked = f"; the maps by {listed(list(test.methods))} were tested together" if len(test.methods) > 1 else ""
    least = f", the least that {test.n_null} tables can show" if test.as_much == 0 else ""
    noise = (
        f"its maps of {test.n_null} tables of noise ({made}) {between_percents(test.lowest, test.null)} "
        f"(p = {test.p_value:.2f}{least}; {test.n_rows:,} rows{looked})"
    )
    related = "" if given else ": columns are related"
    if test.p_value > LEVEL:
        text = f"No structure was found: {kept}, {noise}. Do not read groups from any of these maps."
    elif test.clear:
        text = f"There is structure, clearly{related}. {kept[0].upper()}{kept[1:]}, {noise}."
    else:
        text = f"There is structure, by a narrow lead{related}. {kept[0].upper()}{kept[1:]}, {noise}. {_narrow(test)}"
    return [Sentence("structure", text, numbers, "evidence-structure")]


def _narrow(test: FoundStructure) -> str:
    """What a narrow lead means."""
    if not test.as_much:
        return "The lead is less than tables of noise differ from each other: part of what the maps show is chance."
    stand = "stands" if test.as_much == 1 else "stand"
    return (
        f"{test.as_much} of the tables of noise {stand} out as much: little of what the maps show is more than chance. "
        "Look for it in the columns too."
    )


def neighbours(found: Evidence) -> list[Sentence]:
    """Which map for neighbours?"""
    ranked = found.rankings.get("neighbours")
    if ranked is None:
        return []
    purpose = "If a map is shown all the same" if is_noise(found) else "To see which rows are similar"
    kept = (
        f"it keeps {percent(ranked.values[ranked.best])} of the neighbours beyond chance, by {reference_words(found)}"
    )
    return [Sentence("neighbours", choice(purpose, ranked, kept), numbers_of(ranked), "evidence-questions")]


def distances(found: Evidence) -> list[Sentence]:
    """Which map for distances?"""
    ranked = found.rankings.get("distances")
    if ranked is None:
        return []
    value = ranked.values[ranked.best]
    measured = f"rank correlation {value:.2f} with {reference_words(found)}"
    if value < READABLE:
        text = (
            f"No map shows how far apart rows are: the best, {ranked.best}, has only {measured}. Do not read distances "
            "from any of them."
        )
    else:
        text = choice("To see how far apart rows are", ranked, measured)
    return [Sentence("distances", text, numbers_of(ranked), "evidence-questions")]


def not_to_be_read(found: Evidence) -> list[Sentence]:
    """What must not be read from the recommended map?"""
    name, ranked = found.recommended, found.rankings.get("distances")
    far = None if ranked is None or name is None else ranked.values.get(name)
    # Where no map is readable, or this one does as well as the best, the sentence on distances says it.
    readable = ranked is not None and ranked.values[ranked.best] >= READABLE and name not in ranked.ties
    parts = []
    if far is not None and far < READABLE and readable:
        parts.append(f"how far apart rows are (rank correlation {far:.2f} with {reference_words(found)})")
    if found.spread is not None and found.spread < DENSE:
        parts.append(f"where rows are dense or a group is wide (rank correlation {found.spread:.2f} with the data)")
    if not parts:
        return []
    text = f"Do not read from the {name} map {', nor '.join(parts)}."
    return [Sentence("not to be read", text, {"distances": far, "density": found.spread}, "evidence-questions")]


def along(found: Evidence) -> list[Sentence]:
    """Are the data curved, and which map unrolls them?"""
    ranked = found.rankings.get("along the data")
    if ranked is None or found.curved is None or is_noise(found):
        return []
    numbers = {"curved": found.curved, "noise": found.curved_noise, "cut": found.cut, **numbers_of(ranked)}
    agree = f"rank correlation {found.curved:.2f}"
    if found.curved >= CURVED:
        text = (
            "There is little to unroll: straight distances and distances along the data (from neighbour to neighbour) "
            f"agree ({agree})."
        )
        return [Sentence("along the data", text, numbers, "evidence-questions")]
    if found.curved_noise is None or found.curved > found.curved_noise - BENT:
        return []  # in many dimensions the two differ without any curve
    value = ranked.values[ranked.best]
    compared = f"{agree}; noise {found.curved_noise:.2f}"
    bent = f"distances along the data, from neighbour to neighbour, differ from straight ones ({compared})"
    if value < READABLE:
        text = (
            f"The data are curved or in pieces: {bent}. No map unrolls them; {ranked.best} comes closest ({value:.2f})."
        )
    else:
        best = choice("To follow them along the data", ranked, f"rank correlation {value:.2f} along the data")
        text = f"The data are curved or in pieces: {bent}. {best}"
    if found.cut:
        links = "1 link that seems to be a short cut" if found.cut == 1 else f"{found.cut:,} links that seem short cuts"
        text += f" These distances leave out {links} from one part of the data to another."
    return [Sentence("along the data", text, numbers, "evidence-questions")]


def labels(found: Evidence) -> list[Sentence]:
    """Which map keeps the labels together?"""
    ranked, shown = found.rankings.get("labels"), found.classes
    if ranked is None or shown is None:
        return []
    numbers = {**numbers_of(ranked), "in_data": shown.in_data, "chance": shown.chance, "beyond": shown.beyond}
    beside = f"by chance {percent(shown.chance)}"
    beside += "" if shown.in_data is None else f", in the data {percent(shown.in_data)}"
    measured = f"{percent(ranked.values[ranked.best])} of the rows are nearest to a row of their class; {beside}"
    if shown.beyond[1] <= 0:
        text = f"No map shows the classes beyond chance: in the best, {ranked.best}, {measured}."
    else:
        text = choice("To see the classes", ranked, measured)
    return [Sentence("labels", text, numbers, "evidence-questions")]


def dimension(found: Evidence) -> list[Sentence]:
    """Are so many columns enough?"""
    d = found.dimension
    if d is None:
        return []
    low, high = d.interval
    about = f"the data have about {d.value:.1f} dimensions ({low:.1f} to {high:.1f})"
    word = f"{found.width} column{'' if found.width == 1 else 's'}"
    if low > found.width + 0.5:
        text = f"{word} cannot hold everything: {about}. Every map must lose neighbours or tear."
    elif high <= found.width + 0.5:
        text = f"{word} can be enough: {about}. What is closed, such as a sphere, is torn or folded all the same."
    else:
        text = f"Whether {word} can be enough is open: {about}."
    return [Sentence("dimension", text, {"value": d.value, "low": low, "high": high}, "evidence-dimension")]


def linear(found: Evidence) -> list[Sentence]:
    """Would a linear map do?"""
    ranked = found.rankings.get("neighbours")
    name = found.baseline
    if ranked is None or name is None or name not in ranked.values or len(ranked.values) < 2 or is_noise(found):
        return []
    own, best = ranked.values[name], ranked.values[ranked.best]
    numbers = {"baseline": name, "value": own, "best": best}
    if name in ranked.ties or best - own < FINE:
        lead = "beyond chance" if name in ranked.ties else "worth the loss of its axes"
        text = (
            f"{name}, the linear map, would do for neighbours: no other keeps more {lead} ({percent(own)} against "
            f"{percent(best)}), and its axes can be read."
        )
        return [Sentence("linear", text, numbers, "evidence-questions")]
    text = (
        f"{name}, the linear map, is not enough for neighbours: it keeps {percent(own)} beyond chance, {ranked.best} "
        f"{percent(best)}."
    )
    return [Sentence("linear", text, numbers, "evidence-questions")]


def stability(found: Evidence) -> list[Sentence]:
    """Would I see it again?"""
    s = found.stability
    if s is None:
        return []
    low, high = s.interval
    made = f"made {len(s.replicates)} times"
    interval = f"95 % interval {percent(low)} to {percent(high)}; {made}" if low == low else made  # NaN: of two maps
    text = (
        f"Made again from 80 % of the rows, with other seeds and nearby settings, the {found.recommended} map keeps "
        f"{percent(s.overall)} of each row's {s.n_neighbors} nearest rows beyond chance ({interval})."
    )
    if s.overall < POORLY:
        text += " Single neighbours come and go: trust only what is larger."
    return [Sentence("stability", text, {"overall": s.overall, "low": low, "high": high}, "evidence-stability")]


def not_judged(found: Evidence) -> list[Sentence]:
    """What this verdict leaves open."""
    if "all" in found.skipped:
        return [Sentence("not judged", f"No verdict: {found.skipped['all']}.")]
    return [Sentence("not judged", f"Not judged: {name} ({reason}).") for name, reason in found.skipped.items()]


RULES: tuple[Callable[[Evidence], list[Sentence]], ...] = (
    structure, neighbours, distances, not_to_be_read, along, labels, rows, groups, between, dimension, linear,
    stability, gaps, not_judged,
)  # fmt: skip

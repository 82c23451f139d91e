"""The rules on whole maps: which one for which question, what must not be read from it, and whether PCA would do."""

from __future__ import annotations

from lowdim.select.intrinsic import IntrinsicDimension
from lowdim.study.verdict.evidence import Evidence
from lowdim.study.verdict.rules.words import POORLY, choice, is_noise, numbers_of, percent, reference_words
from lowdim.study.verdict.sentence import Sentence

CURVED = 0.9  # rank correlation of straight distances and those along the data: above, they agree
BENT = 0.1  # by how much it is below that of noise, where the data are curved
READABLE = 0.7  # rank correlation of distances with those of a map: below, they should not be read
DENSE = 0.5  # rank correlation of densities in data and map: below, densities should not be read
LINE = 0.9  # dimensions: less than a line is no shape, but groups of so many rows
FINE = 0.02  # difference to the linear map that is not worth a curved method


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
    if shown.beyond[1] > 0 and shown.in_data is not None and shown.in_data < shown.chance:
        text = (
            f"Do not read classes from these maps: in the data only {percent(shown.in_data)} of the rows are nearest "
            f"to a row of their class, by chance {percent(shown.chance)}, as where many rows are equal; in the best "
            f"map, {ranked.best}, {percent(ranked.values[ranked.best])}."
        )
    elif shown.beyond[1] <= 0:
        text = f"No map shows the classes beyond chance: in the best, {ranked.best}, {measured}."
    else:
        text = choice("To see the classes", ranked, measured)
    return [Sentence("labels", text, numbers, "evidence-questions")]


def dimension(found: Evidence) -> list[Sentence]:
    """Are so many columns enough?"""
    d = found.dimension
    if d is None:
        return []
    most = float("inf") if found.most_dimensions is None else found.most_dimensions
    value, low, high = (min(each, most) for each in (d.value, *d.interval))
    about = f"the data have about {value:.1f} dimensions ({low:.1f} to {high:.1f})"
    if low == most:
        about = f"the data fill all {most} dimensions that so many rows and columns can have"
    word = f"{found.width} column{'' if found.width == 1 else 's'}"
    if most <= found.width:
        text = (
            f"{word} can hold everything: the data have no more. Look at the columns themselves; a map can only turn, "
            "bend or tear them."
        )
    elif low > found.width + 0.5:
        text = f"{word} cannot hold everything: {about}. Every map must lose neighbours or tear."
        text += _on_a_larger_scale(d, found.width, word)
    elif high <= found.width + 0.5 and found.categories:
        text = (
            f"Whether {word} can be enough is open: rows with nearly the same categories have about {value:.1f} "
            f"dimensions ({low:.1f} to {high:.1f}), and categories add to them."
        )
    elif high <= found.width + 0.5:
        text = f"{word} can be enough: {about}. What is closed, such as a sphere, is torn or folded all the same."
    else:
        text = f"Whether {word} can be enough is open: {about}."
    return [Sentence("dimension", text, {"value": value, "low": low, "high": high}, "evidence-dimension")]


def _on_a_larger_scale(d: IntrinsicDimension, width: int, word: str) -> str:
    """Where noise has more dimensions than what it lies around: two scales that agree on few.

    Groups make estimates small, too, at the scale of their size; the next scale then has another one.
    """
    agree = [
        (m, d.curve[m])
        for m in d.curve
        if 2 * m in d.curve and max(d.curve[m][1], d.curve[2 * m][1]) <= min(d.curve[m][2], d.curve[2 * m][2])
    ]
    fitting = [(m, each) for m, each in agree if each[2] < d.interval[0] and each[0] >= LINE and each[2] <= width + 0.5]
    if not fitting:
        return ""
    m, (value, low, high) = fitting[-1]
    return (
        f" On a larger scale, among {2 * m} nearest rows, they have about {value:.1f} ({low:.1f} to {high:.1f}): "
        f"{word} can be enough for what the noise lies around."
    )


def linear(found: Evidence) -> list[Sentence]:
    """Would a linear map do?"""
    ranked = found.rankings.get("neighbours")
    name = found.baseline
    if ranked is None or name is None or name not in ranked.values or len(ranked.values) < 2 or is_noise(found):
        return []
    own, best = ranked.values[name], ranked.values[ranked.best]
    numbers = {"baseline": name, "value": own, "best": best}
    if name == ranked.best:
        text = (
            f"{name}, the linear map, would do for neighbours: no other keeps more ({percent(own)} beyond chance), and "
            "its axes can be read."
        )
        return [Sentence("linear", text, numbers, "evidence-questions")]
    if name in ranked.ties or best - own < FINE:
        low, high = (f"{round(100 * each, 1) + 0.0:.1f}" for each in ranked.behind[name][1:])  # 0.0 and not -0.0
        lead = "more, but within chance" if name in ranked.ties else "hardly more"
        text = (
            f"{name}, the linear map, would do for neighbours, and its axes can be read: {ranked.best} keeps {lead} "
            f"({percent(best)} against {percent(own)}; 95 % interval of the difference {low} to {high} points)."
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

"""Words of the field that the verdict uses, explained where the pointer rests on them."""

from __future__ import annotations

import re

# A word is explained at its first place in a sentence. Of two that begin at the same place, the first listed counts.
TERMS = {
    "R_NX": "Share of the K nearest rows in the data that are among the K nearest in the map, beyond chance: 1 if all, "
    "0 as many as in a map at random.",
    "rank correlation": "Agreement of two orders: 1 if both put everything in the same order, 0 if they have nothing "
    "to do with each other.",
    "beyond chance": "100 % is perfect, 0 % is what a map at random would reach (for neighbours: R_NX, averaged over "
    "neighbourhood sizes unless one is named; for differences: the 95 % interval does not contain 0).",
    "within chance": "The 95 % interval of the difference contains 0, or the difference is smaller than 0.01.",
    "p = ": "Share of maps that stand out at least as much if there is no structure: the map itself and its maps of "
    "noise. With 19 of these the smallest is 0.05.",
    "95 % interval": "Other samples of rows of this kind would give values inside it 95 times in 100; rows near each "
    "other are not counted as independent, and all maps are covered at once.",
    "rows of noise": "Rows of tables whose columns were shuffled one by one (or, where these make groups of their own, "
    "of Gaussian tables with the same covariance), mapped by the same method with the same settings.",
    "Gaussian rows with the same covariance": "Noise without groups or curves, whose columns vary and go together as "
    "those of the data do.",
    "beside what is usual there": "A row's mean distance to its 15 nearest rows, over the same number of these rows.",
    "tables of noise": "Each column keeps its values, in another order: nothing joins the columns any more (of "
    "distances: each stands between another pair of items).",
    "straight distances": "Distances between rows of the table as it was mapped, not along a curve.",
    "distances along the data": "Lengths of the shortest way from neighbour to neighbour (10 nearest), as a walk on a "
    "rolled-up sheet.",
    "expected distances": "Distances between rows with missing cells: what a Gaussian model of the table expects.",
    "Gower's distances": "Mean difference over the columns that both rows have: numbers relative to their range, "
    "categories 0 or 1.",
    "dimensions": "Intrinsic dimension: how many numbers it takes, at least, to say where a row lies among its "
    "neighbours; with its 95 % interval.",
    "gap": "A drop of the density of rows between two groups, by more than 4 standard deviations of its estimate.",
    "within 20 %": "Ratio of the distance in the map to that in the data, in the unit that fits all pairs best; its "
    "95 % interval lies between 0.8 and 1.2.",
    "points behind": "Difference of two percentages.",
    "linear map": "Its coordinates are weighted sums of the columns.",
}
_LEAD = re.compile(r"To see [^,(]+, look at |(?:In|Groups in) the \S+ map ")
_ENDS = ".;:"
_PATTERN = re.compile("|".join(re.escape(term) for term in TERMS))


def explained(text: str, seen: set[str] | None = None) -> list[tuple[str, str]]:
    """The text in pieces, each with its explanation ("" for most): a word of the field where it is not in `seen`."""
    pieces: list[tuple[str, str]] = []
    seen, end = set() if seen is None else seen, 0
    for found in _PATTERN.finditer(text):
        term = found.group()
        pieces += [(text[end : found.start()], ""), (term, "" if term in seen else TERMS[term])]
        seen.add(term)
        end = found.end()
    return [(piece, why) for piece, why in [*pieces, (text[end:], "")] if piece]


def weighed(text: str) -> list[tuple[str, list[tuple[str, str]]]]:
    """A sentence of the verdict as (role, `explained` pieces), so that a page can set the answer apart.

    The role is "aside" for what stands in brackets, "claim" for the answer, and "" for the rest. The answer goes to the
    first full stop, colon or semicolon; it begins behind the question that it repeats and the map that it is about.
    Joined, the pieces are the text.
    """
    lead = _LEAD.match(text)
    start = 0 if lead is None else lead.end()
    runs: list[tuple[str, str]] = [("", text[:start])] if start and "(" not in text[:start] else []
    start = start if runs else 0
    depth, answered = 0, False
    for k, letter in enumerate(text[start:], start):
        depth += letter == "("
        bare = letter in ",.;:" and bool(runs) and runs[-1][0] == "aside"  # no bold mark behind a bracket
        role = "aside" if depth else "" if answered or bare or letter in ";:" else "claim"
        depth = max(0, depth - (letter == ")"))
        if runs and runs[-1][0] == role:
            runs[-1] = (role, runs[-1][1] + letter)
        else:
            runs.append((role, letter))
        said = any(one == "claim" for one, _ in runs)  # a colon behind the bracket of a lead begins the answer
        answered = answered or (said and not depth and letter in _ENDS and text[k + 1 : k + 2] in ("", " "))
    seen: set[str] = set()
    return [(role, explained(run, seen)) for role, run in runs]

"""Words that have an order: low, medium, high; answers of questionnaires; sizes; grades; ranges of numbers.

Each scale is a list of places, lowest first; a place may have several words, separated by |. Three different words of
one scale make an order: of two, the order changes no distance.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

FEWEST = 3
_SCALES = (
    "very low|extremely low, low, medium low|below average, medium|mid|middle|moderate|average|normal, "
    "medium high|above average, high, very high, extremely high|extreme",
    "xxs|2xs, xs, s, m, l, xl, xxl|2xl, xxxl|3xl, xxxxl|4xl",
    "tiny|very small|extra small, small, medium|mid|middle, large|big, extra large|very large|huge",
    "strongly disagree|completely disagree|totally disagree|fully disagree, disagree|mostly disagree, "
    "somewhat disagree|slightly disagree|rather disagree, "
    "neutral|neither agree nor disagree|neither|undecided|not sure, "
    "somewhat agree|slightly agree|rather agree, agree|mostly agree, "
    "strongly agree|completely agree|totally agree|fully agree",
    "very dissatisfied|very unsatisfied, dissatisfied|unsatisfied, somewhat dissatisfied, "
    "neutral|neither satisfied nor dissatisfied, somewhat satisfied, satisfied, very satisfied",
    "never, almost never|very rarely, rarely|seldom, sometimes|occasionally, often|frequently|usually, "
    "very often|almost always, always",
    "terrible|very poor|very bad, poor|bad, fair|average|ok|okay|acceptable|satisfactory, good, very good, "
    "excellent|outstanding",
    "very unlikely|extremely unlikely, unlikely, neutral|possible|neither, likely, very likely|extremely likely",
    "unimportant|not important|not at all important, slightly important, moderately important|somewhat important, "
    "important|fairly important, very important, extremely important",
    "none|no, minimal|trace, mild|slight|minor, moderate|medium, severe|serious|major, "
    "critical|life threatening, fatal",
    "not at all, a little|a little bit|slightly, somewhat|moderately, quite a bit|very, extremely|very much",
    "much worse, worse|somewhat worse, same|about the same|unchanged, better|somewhat better, much better",
    "first|1st, second|2nd, third|3rd, fourth|4th, fifth|5th, sixth|6th, seventh|7th, eighth|8th, "
    "ninth|9th, tenth|10th",
    "beginner|novice, intermediate, advanced, expert",
    "no education|no schooling, primary|primary school|elementary|elementary school, "
    "secondary|secondary school|high school, bachelor|bachelors|bachelor's, master|masters|master's, "
    "doctorate|phd|doctoral",
    "bronze, silver, gold, platinum",
    "sehr niedrig|sehr gering, niedrig|gering, mittel, hoch, sehr hoch",
    "sehr klein, klein, mittel, gro\u00df|gross, sehr gro\u00df|sehr gross",
    "ungen\u00fcgend, mangelhaft, ausreichend, befriedigend, gut, sehr gut",
    "sehr schlecht, schlecht, mittel|mittelm\u00e4\u00dfig, gut, sehr gut",
    "nie, selten, manchmal|gelegentlich, oft|h\u00e4ufig, immer",
    "stimme gar nicht zu|stimme \u00fcberhaupt nicht zu, stimme nicht zu|stimme eher nicht zu, "
    "neutral|teils teils|wei\u00df nicht, "
    "stimme zu|stimme eher zu, stimme voll zu|stimme voll und ganz zu|stimme v\u00f6llig zu",
)
_GRADE = re.compile(r"^([a-f])([+-]?)$")
_GRADE_NAME = re.compile(r"(^|[ _.-])(grades?|marks?|note|rating|rated|score)([ _.-]|$)")
_RANGE = re.compile(r"^(?P<low>[0-9.]+)\s*(?:-|\u2013|to|bis)\s*(?P<high>[0-9.]+)(?:\s*[a-z%\u20ac$]+)?$")
_BELOW = re.compile(
    r"^(?:<|<=|\u2264|under|below|up to|less than|unter|bis)\s*(?P<high>[0-9.]+)(?:\s*[a-z%\u20ac$]+)?$"
)
_ABOVE = re.compile(
    r"^(?:(?:>|>=|\u2265|over|above|more than|\u00fcber)\s*(?P<low>[0-9.]+)|(?P<plus>[0-9.]+)\s*"
    r"(?:\+|and over|and more|or more|and older|or older))(?:\s*[a-z%\u20ac$]+)?$"
)


def plain_word(text: str) -> str:
    """A word as scales are compared: lower case, one space between words."""
    return " ".join(text.lower().replace("_", " ").split())


def order_of(name: str, different: list[str]) -> tuple[str, ...] | None:
    """The different values of a column in their order, lowest first; None where they have none that is known."""
    words = {text: plain_word(text) for text in different}
    if len(set(words.values())) < max(FEWEST, len(words)):  # "Low" beside "low" is not a place of its own
        return None
    for places in (*_places(), _grades(name, list(words.values())), _ranges(list(words.values()))):
        found = {text: places.get(word, places.get(word.replace("-", " "))) for text, word in words.items()}
        known = {text: place for text, place in found.items() if place is not None}
        if len(known) == len(found) == len(set(known.values())):
            return tuple(sorted(known, key=lambda text: known[text]))
    return None


def _places() -> Iterator[dict[str, float]]:
    for scale in _SCALES:
        yield {word: float(i) for i, place in enumerate(scale.split(", ")) for word in place.split("|")}


def _grades(name: str, words: list[str]) -> dict[str, float]:
    """School grades, F lowest; single letters only where the column is called so, or where some have + or -."""
    matches = {word: _GRADE.match(word) for word in words}
    signed = any(match is not None and match.group(2) for match in matches.values())
    if not signed and not _GRADE_NAME.search(name.lower()):
        return {}
    step = {"+": 0.3, "": 0.0, "-": -0.3}
    return {word: step[m.group(2)] - "abcdef".index(m.group(1)) for word, m in matches.items() if m is not None}


def _ranges(words: list[str]) -> dict[str, float]:
    """Ranges such as <18, 18-24, 25-34, 65+, by their lower ends; empty where two of them overlap."""
    spans = {word: span for word in words if (span := _span(word)) is not None}
    if not any(_RANGE.match(word) for word in spans):
        return {}
    ordered = sorted(spans.values())
    apart = all(high <= low for (_, high), (low, _) in pairwise(ordered))
    return {word: low for word, (low, _) in spans.items()} if apart else {}


def _span(word: str) -> tuple[float, float] | None:
    try:
        if match := _RANGE.match(word):
            low, high = float(match["low"]), float(match["high"])
            return (low, high) if low < high else None
        if match := _BELOW.match(word):
            return float("-inf"), float(match["high"])
        if match := _ABOVE.match(word):
            return float(match["low"] or match["plus"]), float("inf")
    except ValueError:
        pass
    return None

"""Columns that number or name the rows, also where a digit is wrong, numbers are missing, or one is there twice.

What is wrong is named: it is a mistake of the table more often than it speaks against an id.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter

import numpy as np

from lowdim.study.columns.column import as_text

Array = np.ndarray
ENOUGH_ROWS = 8  # that whole numbers in ascending order are no accident
SHARE = 0.9  # of the rows that an id must name
ODD = 0.05  # share of the rows whose numbers may be wrong or repeated
ENOUGH_ODD = 20  # rows, from which on a wrong one among them is told from chance
MOST_QUANTITY = 8  # digits that whole numbers measured in equal length have
RUNS = 0.8  # share of steps by one, between larger ones
SHOWN = 3  # wrong numbers that are named
_OWNERS = (
    "patient|subject|participant|respondent|proband|sample|specimen|customer|client|user|person|student|pupil|employee|"
    "household|record|case|item|product|order|animal|plot|tree|kunde|probe|teilnehmer|schueler|schüler|fall|bestellung"
)
_ID_NAME = re.compile(
    r"^(.*[ _.-])?(id|ids|uuid|guid|index|idx|row|rowid|rownames?|nr|no|number)\.?$|^unnamed: ?[0-9]+$|^$"
)
_ID_CAMEL = re.compile(r"[a-z](I[Dd]|N[or]|Number|Index)$")
_ID_OWNER = re.compile(rf"^({_OWNERS})(en|s)?([ _.-]?(id|nr|no|num|number|nummer|code|key)\.?)?$|^.*[ _.-]?nummer$")


# Who or what is measured, of whom a table can have several rows.
_UNITS = (
    "patient|subject|participant|respondent|proband|person|individual|student|pupil|employee|customer|client|user|"
    "household|animal|mouse|donor|kunde|teilnehmer|schueler|schüler"
)
_UNIT_NAME = re.compile(rf"^({_UNITS})(en|s)?[ _.-]?(ids?|nr|no|num|number|nummer|code|key)?\.?$|^ids?$")
SEVERAL = 4  # who must be there at least, each with several rows: fewer can be groups


def named_id(name: str) -> bool:
    """Whether a column is called as ids are."""
    name = name.strip()
    return any((_ID_NAME.match(name.lower()), _ID_OWNER.match(name.lower()), _ID_CAMEL.search(name)))


def id_of_numbers(name: str, values: Array) -> tuple[str, str]:
    """Why whole numbers are an id, and what is wrong with it; two empty texts where they are none."""
    there = values[~np.isnan(values)]  # a blank last line or a line of totals has no id
    if len(there) < max(4, SHARE * len(values)):
        return "", ""
    named = named_id(name)
    if why := _in_order(there, named):
        return why, ""
    doubt = _odd_ones(there) if len(there) >= ENOUGH_ODD and _mostly_in_order(there) else ""
    if doubt:
        return "whole numbers that only increase but for a few, as numbers of rows do", doubt
    different = len(np.unique(there))
    if not named:
        digits = _equal_digits(there) if different == len(there) >= ENOUGH_ODD else 0
        return (
            (f"a different number of {digits} digits in each row", "account numbers and the like")
            if digits
            else ("", "")
        )
    if different == len(there):
        return "a different whole number in each row, and the name of an id", ""
    if _few(len(there) - different, len(there)):
        return f"{different} different whole numbers in {len(there)} rows, and the name of an id", _repeated(there)
    return "", ""


def _equal_digits(values: Array) -> int:
    """The number of digits of whole numbers that all have the same, so many as quantities seldom do; else 0."""
    low, high = values.min(), values.max()
    digits = len(as_text(float(low))) if low > 0 else 0
    return digits if MOST_QUANTITY < digits == len(as_text(float(high))) and 2 * low < high else 0


def id_of_texts(name: str, cells: Array, different: list[str]) -> tuple[str, str]:
    """Why texts of which a few are there twice are an id, and which these are; empty where they are none."""
    there = [cell for cell in cells.tolist() if cell is not None]
    if not (named_id(name) and _few(len(there) - len(different), len(there))):
        return "", ""
    return f"{len(different)} different texts in {len(there)} rows, and the name of an id", _repeated(there)


def of_several_rows(name: str, cells: Array, different: int) -> str:
    """Why a column tells who was measured in each row, several rows of each; empty where it does not."""
    plain = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name.strip()).lower()  # patientId is patient_id
    if different < SEVERAL or 3 * different > 2 * len(cells) or not _UNIT_NAME.match(plain):
        return ""
    return f"{different} different in {len(cells)} rows: several rows of each, such as repeated measurements"


def _few(repeated: int, n: int) -> bool:
    """Whether an id by its name is repeated so seldom that it must be by mistake."""
    return n >= ENOUGH_ROWS and repeated <= max(1, ODD * n)


def _in_order(values: Array, named: bool) -> str:
    """Why numbers that all increase, or all decrease, are an id."""
    steps = np.diff(values)
    if (steps < 0).all():
        values, steps = values[::-1], -steps[::-1]
    if not (steps > 0).all() or not (len(values) >= ENOUGH_ROWS or named):
        return ""
    span = values[-1] - values[0] + 1
    if span == len(values):
        return f"row numbers, {as_text(float(values[0]))} to {as_text(float(values[-1]))}"
    if span <= 2 * len(values) + 10 or named or (steps == 1).mean() >= RUNS:
        return "whole numbers that only increase, as row numbers with gaps do"
    return ""


def _mostly_in_order(values: Array) -> bool:
    return bool((np.diff(values) > 0).mean() >= 1 - 2 * ODD)  # a wrong number makes one or two wrong steps


def _odd_ones(values: Array) -> str:
    """Which numbers stand out of the order of row numbers; empty where they are too many, or not such an order."""
    kept = _longest_increase(values)
    ordered = values[kept]
    dense = ordered[-1] - ordered[0] + 1 <= 2 * len(values) + 10 or (np.diff(ordered) == 1).mean() >= RUNS
    if len(kept) == len(values) or len(kept) < (1 - ODD) * len(values) or not dense:
        return ""
    odd = np.delete(values, kept)
    twice = np.isin(odd, ordered)
    named = [(odd[~twice], "out of order, as with a wrong digit"), (odd[twice], "there twice")]
    return "; ".join(f"{_some(numbers)} {how}" for numbers, how in named if len(numbers))


def _some(numbers: Array) -> str:
    shown = ", ".join(as_text(float(number)) for number in numbers[:SHOWN])
    more = f" and {len(numbers) - SHOWN} more" if len(numbers) > SHOWN else ""
    return f"{shown}{more} {'is' if len(numbers) == 1 else 'are'}"


def _longest_increase(values: Array) -> Array:
    """Places of the longest increasing subsequence (patience sorting)."""
    ends: list[float] = []
    places: list[int] = []
    before = np.full(len(values), -1)
    for i, value in enumerate(values.tolist()):
        j = bisect_left(ends, value)
        before[i] = places[j - 1] if j else -1
        ends[j : j + 1] = [value]
        places[j : j + 1] = [i]
    found, at = [], places[-1]
    while at >= 0:
        found.append(at)
        at = int(before[at])
    return np.array(found[::-1])


def _repeated(values: Array | list[str]) -> str:
    """Which values are there more than once."""
    counts = Counter(values if isinstance(values, list) else values.tolist())
    twice = [value for value, count in counts.items() if count > 1]
    shown = ", ".join(repr(v) if isinstance(v, str) else as_text(float(v)) for v in twice[:SHOWN])
    more = f" and {len(twice) - SHOWN} more" if len(twice) > SHOWN else ""
    return f"{shown}{more} {'is' if len(twice) == 1 else 'are'} there more than once"

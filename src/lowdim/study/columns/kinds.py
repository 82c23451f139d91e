"""The kind of a column, from its values and its name.

Each rule looks at a column and answers with a `Column`, or with None where it does not apply; the first answer counts.
Only text is converted, and only where every cell can be read (or is named as one that cannot).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from lowdim.study.columns.column import Column, Conversion, as_text, is_missing
from lowdim.study.columns.date_text import as_dates, as_moments, order_doubt, unclear_dates
from lowdim.study.columns.ids import id_of_numbers, id_of_texts, named_id, of_several_rows
from lowdim.study.columns.scales_of_words import order_of, plain_word
from lowdim.study.columns.text_values import Reading, as_numbers, as_yes_no, no_number, several_units

MOST_LEVELS = 50  # different values of a category
MOST_CODES = 12  # different whole numbers that may be codes
NOTHING = ("", "na", "n/a", "#n/a", "nan", "-", "--", "?", ".")  # texts that stand for a missing cell
CODES = "may be codes of categories"
NO_ANSWER = (
    "no answer", "not answered", "no response", "no opinion", "prefer not to say", "prefer not to answer", "refused",
    "don't know", "don\u2019t know", "dont know", "do not know", "not applicable", "keine angabe", "keine antwort",
    "wei\u00df nicht", "nicht zutreffend", "ne sait pas", "sans r\u00e9ponse", "no sabe", "no contesta",
)  # fmt: skip
LISTS = "cells list several of"  # a doubt begins so
LONG = 60  # characters of a text that is no name
_CODE_NAME = re.compile(
    r"(^|[ _.-])(code|type|class|kind|zip|postcode|region|area|group|category|status|gender|sex|month|weekday|race|"
    r"site|batch|plate|cluster|district|sector|origin)([ _.-]|$)"
)
_SAMPLE = 64  # cells looked at before a whole column is


def kind_of(name: str, values: np.ndarray, order: tuple[str, ...] | None = None) -> Column:
    """The column with its kind; `values` as `raw_columns.named_columns` gives them, `order` as their type has it."""
    if order is not None and len(different_values(values)) > 1:
        why = f"ordered categories: {in_order(order)}"
        return Column(name, "ordinal", values, why, levels=order)
    rules: tuple[Callable[[str, np.ndarray], Column | None], ...] = (_empty, _date, _number, _flag, _text)
    return next(found for rule in rules if (found := rule(name, values)) is not None)


def as_texts(values: np.ndarray) -> np.ndarray:
    lost = is_missing(values)
    return as_objects([None if gone else as_text(v).strip() for v, gone in zip(values.tolist(), lost, strict=True)])


def in_order(levels: tuple[str, ...]) -> str:
    shown = [short(level, 20) for level in levels]
    return " < ".join(shown if len(shown) <= 7 else [*shown[:3], "...", *shown[-2:]])


# ---- rules, in the order in which they are tried --------------------------------------------------------------


def _empty(name: str, values: np.ndarray) -> Column | None:
    if values.dtype.kind == "f" and len(values) and not np.isnan(values[:_SAMPLE]).all():
        return None
    return Column(name, "empty", values, "no values") if is_missing(values).all() else None


def _date(name: str, values: np.ndarray) -> Column | None:
    if values.dtype.kind != "M":
        return None
    return _dates(name, values, "dates")


def _dates(name: str, values: np.ndarray, how: str) -> Column:
    low, high = np.nanmin(values), np.nanmax(values)
    if low == high:
        return Column(name, "constant", values, f"always {as_text(low)}")
    return Column(name, "date", values, f"{how}, {as_text(low)} to {as_text(high)}")


def _number(name: str, values: np.ndarray) -> Column | None:
    return _numbers(name, values, "") if values.dtype.kind == "f" else None


def _numbers(name: str, values: np.ndarray, how: str) -> Column:
    """A column of floats: constant, an id, or numbers; `how` says where they were written otherwise."""
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    if low == high:
        return Column(name, "constant", values, f"always {as_text(low)}")
    span = f"{as_text(low)} to {as_text(high)}"
    if not how and (moments := as_moments(name, values)) is not None:
        return _dates(name, *moments)
    if not _whole(values):
        return Column(name, "number", values, f"{how or 'numbers'}, {span}")
    reason, doubt = id_of_numbers(name, values)
    if reason:
        return Column(name, "id", values, reason, doubt=doubt, other="number" if doubt else "")
    levels = np.unique(values[~np.isnan(values)])
    if not how and (several := of_several_rows(name, values, len(levels))):
        return Column(name, "text", as_texts(values), several, doubt="not in the map", other="category")
    why = f"{how or 'whole numbers'}, {span}"
    if len(levels) == 2 and not how:
        why = f"two values, {as_text(float(levels[0]))} and {as_text(float(levels[1]))}"
    return Column(name, "number", values, why, **_code_doubt(name, levels, len(values)))


def _whole(values: np.ndarray) -> bool:
    for part in (values[:_SAMPLE], values):
        there = part[~np.isnan(part)]
        if not (np.isfinite(there).all() and (there == np.round(there)).all()):
            return False
    return True


def _code_doubt(name: str, levels: np.ndarray, n: int) -> dict[str, Any]:
    """A doubt where whole numbers may be codes of categories."""
    few = 2 < len(levels) <= MOST_CODES and n >= 5 * len(levels) and levels[-1] - levels[0] < 4 * len(levels)
    named = 2 < len(levels) <= MOST_LEVELS and n >= 2 * len(levels) and bool(_CODE_NAME.search(name.lower()))
    if not few and not named:
        return {}
    shown = ", ".join(as_text(float(v)) for v in levels[:4]) + (", ..." if len(levels) > 4 else "")
    return {"doubt": f"{len(levels)} different whole numbers ({shown}) {CODES}", "other": "category"}


def _flag(name: str, values: np.ndarray) -> Column | None:
    """True and false, as 1 and 0."""
    there = [value for value in values.tolist() if value is not None]
    if not all(isinstance(value, bool) for value in there):
        return None
    numbers = np.array([np.nan if v is None else float(v) for v in values.tolist()])
    if len(set(there)) == 1:
        return Column(name, "constant", numbers, f"always {str(there[0]).lower()}")
    return Column(name, "number", numbers, "true/false as 1/0")


def _text(name: str, values: np.ndarray) -> Column:
    marks = Counter(str(v).strip() for v in values.tolist() if v is not None and str(v).strip().lower() in NOTHING)
    cells = as_objects([None if v is None or str(v).strip() in marks else str(v).strip() for v in values.tolist()])
    return _with_marks(_of_text(name, cells), marks)


def _with_marks(found: Column, marks: Counter[str]) -> Column:
    """The column with a doubt that names the texts read as missing cells."""
    named = [f"{word!r} ({count} cell{'s' if count > 1 else ''})" for word, count in marks.most_common(4) if word]
    if not named:
        return found
    doubt = "; ".join(part for part in (found.doubt, f"read as missing: {', '.join(named)}") if part)
    return replace(found, doubt=doubt, other=found.other or "category")


def _of_text(name: str, cells: np.ndarray) -> Column:
    different = different_values(cells)
    if not different:
        return Column(name, "empty", cells, "no values")
    if len(different) == 1:
        return Column(name, "constant", cells, f"always {short(different[0])}")
    read = as_numbers(different)
    if read is not None:
        return _read_numbers(name, cells, read)
    flags = as_yes_no(different)
    if flags is not None:
        words = tuple((text.strip().lower(), value) for text, value in flags.values.items())
        numbers = flags.column(cells, np.nan, np.float64)
        return Column(name, "number", numbers, flags.how, conversion=Conversion(words=words))
    dates = as_dates(different)
    if dates is not None:
        found = _dates(name, dates.column(cells, np.datetime64("NaT", "s"), "datetime64[s]"), dates.how)
        doubt = order_doubt(different, dates)
        found = replace(found, doubt=doubt, conversion=Conversion(forms=dates.forms))
        return _with_words(found, cells, dates)
    return _words(name, cells, different)


def _read_numbers(name: str, cells: np.ndarray, read: Reading) -> Column:
    return _with_words(_numbers(name, read.column(cells, np.nan, np.float64), read.how), cells, read)


def _with_words(found: Column, cells: np.ndarray, read: Reading) -> Column:
    """The column with a doubt about the words that could not be read."""
    if not read.words:
        return found
    listed = ", ".join(short(word) for word in read.words)
    count = sum(cell in read.words for cell in cells)
    kind = "date" if found.kind == "date" else "number"
    what = f"1 cell is no {kind}" if count == 1 else f"{count} cells are no {kind}s"
    doubt = "; ".join(part for part in (found.doubt, f"{what} ({listed}) and read as missing") if part)
    return replace(found, doubt=doubt, other="category")


def _words(name: str, cells: np.ndarray, different: list[str]) -> Column:
    """Text that is nothing but text: a category, a name for each row, or free text."""
    n, levels = sum(cell is not None for cell in cells), len(different)
    if (ordered := _ordered(name, cells, different)) is not None:
        return ordered
    longest = max(map(len, different))
    if unclear := unclear_dates(different):
        return Column(name, "text", cells, f"{levels} different texts", doubt=unclear, other="category")
    if units := several_units(different):
        doubt = f"numbers with different units ({', '.join(units)}): bring them to one unit"
        return Column(name, "text", cells, f"{levels} different texts in {n} rows", doubt=doubt)
    wrong = "" if named_id(name) else no_number(different)
    unlike = f"most are numbers, but not {short(wrong)}: correct the cells that are written otherwise" if wrong else ""
    if levels == n and n > 3 and longest <= LONG and not unlike:
        long = all(text.isdigit() and len(text) > 15 for text in different)
        what = "number, too long for a quantity," if long else "text"
        return Column(name, "id", cells, f"a different {what} in each row")
    if longest <= LONG and (reason := id_of_texts(name, cells, different))[0]:
        return Column(name, "id", cells, reason[0], doubt=reason[1])
    if several := of_several_rows(name, cells, levels):
        return Column(name, "text", cells, several, doubt="not in the map", other="category")
    prose = levels > max(2, n // 4) and _are_sentences(different)
    if levels <= max(2, n // 2) and levels <= MOST_LEVELS and longest <= 4 * LONG and not prose:
        shown = ", ".join(short(text, 20) for text in different[:3]) + (", ..." if levels > 3 else "")
        doubt = _spellings(different) or _choices(different)
        return Column(name, "category", cells, f"{levels} different values: {shown}", doubt=doubt)
    why = f"{levels} different texts in {n} rows" if levels < n else "a different, long text in each row"
    if unlike:
        return Column(name, "text", cells, why, doubt=unlike)
    repeats = levels <= n // 2 and longest <= 4 * LONG
    said = "some occur more than once" if prose else f"{levels} values are too many for a category"
    more: dict[str, Any] = {"doubt": said, "other": "category"} if repeats else {}
    return Column(name, "text", cells, why, **more)


def _spellings(different: list[str]) -> str:
    """Categories that differ in case or spaces alone, as a doubt; empty where there are none."""
    groups: dict[str, list[str]] = {}
    for text in different:
        groups.setdefault(" ".join(text.split()).casefold(), []).append(text)
    found = next((alike for alike in groups.values() if len(alike) > 1), None)
    if found is None:
        return ""
    return f"{' and '.join(short(text, 20) for text in found[:3])} differ in case or spaces alone, and count as two"


def _ordered(name: str, cells: np.ndarray, different: list[str]) -> Column | None:
    """Values that have a known order; answers that are none, such as "no answer", are missing cells then."""
    silent = [text for text in different if plain_word(text) in NO_ANSWER]
    tried: list[list[str]] = [[], silent] if silent else [[]]
    for left_out in tried:
        order = order_of(name, [text for text in different if text not in left_out])
        if order is not None:
            kept = as_objects([None if cell in left_out else cell for cell in cells.tolist()])
            why = f"{len(order)} values in an order: {in_order(order)}"
            found = Column(name, "ordinal", kept, why, levels=order)
            return _with_marks(found, Counter(cell for cell in cells.tolist() if cell in left_out))
    return None


def _choices(different: list[str]) -> str:
    """A doubt where cells list several of a few choices, as answers to a question with many do; else empty."""
    for mark in (";", ",", "|"):
        lists = [[part.strip(" \"'") for part in text.strip("[]{}").split(mark)] for text in different]
        parts = Counter(part for found in lists for part in found if part)
        several = sum(len(found) > 1 for found in lists)
        if several >= 3 and 0 < len(parts) <= len(different) / 2 and min(parts.values()) > 1:
            named = ", ".join(short(part, 20) for part in list(parts)[:3])
            return f"{LISTS} {len(parts)} choices ({named}), and each combination counts as a value"
    return ""


def _are_sentences(different: list[str]) -> bool:
    """Whether most texts have three words or more."""
    return sum(len(text.split()) >= 3 for text in different) > len(different) / 2


def as_objects(values: list[str | None]) -> np.ndarray:
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column


def different_values(cells: np.ndarray) -> list[str]:
    """The different values, most frequent first come first."""
    return [str(value) for value in dict.fromkeys(cells.tolist()) if value is not None]


def short(text: str, most: int = 40) -> str:
    text = " ".join(text.split())
    return repr(text if len(text) <= most else text[: most - 3] + "...")

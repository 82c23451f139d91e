"""Numbers, yes/no and dates that are written as text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np

YES_NO = (("no", "yes"), ("n", "y"), ("false", "true"), ("f", "t"))
_GROUPED = re.compile(r"^[+-]?[0-9]{1,3}(,[0-9]{3})+(\.[0-9]+)?$")
_COMMA = re.compile(r"^[+-]?([0-9]{1,3}(\.[0-9]{3})+|[0-9]+)?(,[0-9]+)?$")
_CODE = re.compile(r"^[+-]?(0[0-9]+|[0-9]{16,})$")  # zero-padded, or longer than a float holds
_UNIT = re.compile(r"^[+-]?[0-9][0-9.,]*\s*([A-Za-zµ°²³/]{1,12})$")
_SIGNS = re.compile(r"^(?<![0-9])[$€£¥]\s*|\s*([$€£¥]|%)$")
_DATES = (
    *("%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%d-%m-%Y", "%d.%m.%y", "%m/%d/%y", "%d/%m/%y"),
    *("%d %b %Y", "%d %B %Y", "%b %d, %Y", "%B %d, %Y", "%d-%b-%Y", "%d-%b-%y", "%b %Y", "%B %Y"),
)
_LETTERS = {
    "%d": "dd",
    "%m": "mm",
    "%Y": "yyyy",
    "%y": "yy",
    "%b": "Mon",
    "%B": "Month",
    "%H": "hh",
    "%M": "mm",
    "%S": "ss",
}
_TIMES = ("", " %H:%M", " %H:%M:%S")
_TIME_NAME = re.compile(
    r"(^|[ _.-])(time|timestamp|ts|epoch|unix|unixtime|datetime|utc|created|updated)([ _.-]|$)|time$"
)
_EPOCH = (1e9, 3e9)  # seconds since 1970
_CLOCKS = ((1.0, "seconds"), (1e3, "milliseconds"), (1e6, "microseconds"), (1e9, "nanoseconds"))
# Of the different values of a column, so many must be numbers for the others to count as missing cells; and there may
# be so many others.
MOSTLY, FEW_WORDS = 0.8, 3


@dataclass(frozen=True)
class Reading:
    """Text read as something else: text -> value, how it was read, and the words that were not."""

    values: dict[str, Any]
    how: str
    words: tuple[str, ...] = ()

    def column(self, cells: Iterable[Any], empty: Any, dtype: Any) -> np.ndarray:
        """The cells of a column, read."""
        return np.array([self.values.get(cell, empty) for cell in cells], dtype=dtype)


def as_numbers(different: list[str], *, codes: bool = False) -> Reading | None:
    """The different values of a column as numbers, if all of them (or all but a few words) are; None otherwise.

    One notation must fit the whole column: 34,7 is never read as 347. Zero-padded and very long codes are no numbers,
    unless `codes` says that they are.
    """
    stripped = {text: text.strip() for text in different}
    if not codes and any(_CODE.match(text) for text in stripped.values()):
        return None
    bare = {text: _SIGNS.sub("", _SIGNS.sub("", cell)).strip() for text, cell in stripped.items()}
    unit = _common_unit(list(stripped.values()))
    measured = {text: cell.removesuffix(unit).strip() for text, cell in stripped.items()} if unit else None
    written = [(stripped, ""), (bare, " and a currency or percent sign"), (measured, f" and the unit {unit}")]
    for cells, also in written:
        for how, parse in _NOTATIONS if cells is not None else ():
            read = {text: value for text, cell in (cells or {}).items() if (value := parse(cell)) is not None}
            words = tuple(text for text in different if text not in read)
            few = len(read) >= MOSTLY * len(different) and len(words) <= FEW_WORDS and not any(map(_has_digit, words))
            if not words or few:
                return Reading(read, how + also, words)
    return None


def _common_unit(cells: list[str]) -> str:
    """The word that all cells with a digit end in, such as kg; empty if there is none."""
    found = {match.group(1) if (match := _UNIT.search(cell)) else "" for cell in cells if _has_digit(cell)}
    return found.pop() if len(found) == 1 else ""


def _with_thousands(text: str) -> float | None:
    return _number(text.replace(",", "")) if _GROUPED.match(text) or "," not in text else None


def _with_comma(text: str) -> float | None:
    return _number(text.replace(".", "").replace(",", ".")) if _COMMA.match(text) else None


def _has_digit(text: str) -> bool:
    return any(c.isdigit() for c in text)


def _number(text: str) -> float | None:
    if "_" in text:  # float() takes 1_000
        return None
    try:
        return float(text)
    except ValueError:
        return None


_NOTATIONS: tuple[tuple[str, Callable[[str], float | None]], ...] = (
    ("numbers written as text", _number),
    ("numbers with a comma between thousands", _with_thousands),
    ("numbers with a decimal comma", _with_comma),
)


def as_yes_no(different: list[str]) -> Reading | None:
    """Two words for yes and no as 1 and 0; None for anything else."""
    lower = {text: text.strip().lower() for text in different}
    for no, yes in YES_NO:
        if set(lower.values()) == {no, yes}:
            return Reading({text: float(word == yes) for text, word in lower.items()}, f"{yes}/{no} as 1/0")
    return None


def as_dates(different: list[str]) -> Reading | None:
    """The different values of a column as dates, if all of them (or all but a few words) are written in one way."""
    words = tuple(text for text in different if not _has_digit(text))
    dates = [text for text in different if _has_digit(text)]
    if not dates or len(words) > FEW_WORDS or len(dates) < MOSTLY * len(different):
        return None
    if not all(6 <= len(text.strip()) <= 40 for text in dates[:50]):
        return None
    for how, parse in (("dates", _iso), *((f"dates as {_in_letters(form)}", _by(form)) for form in _formats())):
        if any(parse(text.strip()) is None for text in dates[:20]):
            continue
        read = {text: parse(text.strip()) for text in dates}
        if all(value is not None for value in read.values()):
            return Reading(read, how, words)
    return None


def as_moments(name: str, values: np.ndarray) -> tuple[np.ndarray, str] | None:
    """Numbers that count the time since 1970 (2001 to 2065) in a column whose name says time; how they are counted."""
    if not _TIME_NAME.search(name.lower()):
        return None
    low, high = np.nanmin(values), np.nanmax(values)
    for size, called in _CLOCKS:
        if _EPOCH[0] * size <= low and high <= _EPOCH[1] * size:
            moments = np.full(len(values), np.datetime64("NaT", "ms"))
            there = ~np.isnan(values)
            moments[there] = np.round(values[there] * (1000 / size)).astype("int64").astype("datetime64[ms]")
            return moments, f"times as {called} since 1970"
    return None


def _formats() -> list[str]:
    return [day + time for day in _DATES for time in _TIMES]


def _in_letters(form: str) -> str:
    """A form of dates as people write it: %d.%m.%Y is dd.mm.yyyy."""
    for code, letters in _LETTERS.items():
        form = form.replace(code, letters)
    return form


def _iso(text: str) -> np.datetime64 | None:
    if "-" not in text[1:] and ":" not in text:  # 20240131 is a number first of all
        return None
    try:
        return np.datetime64(datetime.fromisoformat(text).replace(tzinfo=None), "s")
    except ValueError:
        return None


def _by(form: str) -> Callable[[str], np.datetime64 | None]:
    def parse(text: str) -> np.datetime64 | None:
        try:
            return np.datetime64(datetime.strptime(text, form), "s")
        except ValueError:
            return None

    return parse

"""Dates that are written as text, in one way or in several, and numbers that count the time.

One column may hold dates written in several ways, where each can be read in one way alone. 03/04/2024 can be read in
two: the other dates written like it decide (13/04/2024 has the day first). Where they do not, one way of writing is
read with the day first and said to be uncertain; of several, nothing is guessed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime

import numpy as np

from lowdim.study.columns.text_values import FEW_WORDS, MOSTLY, Reading, has_digit

ISO = "iso"  # the way of `datetime.fromisoformat`, beside those of `strptime`
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
    ISO: "yyyy-mm-dd",
}
_TIMES = ("", " %H:%M", " %H:%M:%S")
FORMS = (ISO, *(day + time for day in _DATES for time in _TIMES))
ENOUGH = 6  # dates in the order of time
MOST_WAYS = 4  # of writing dates in one column
_DAY_FIRST = {"%m/%d/%Y": "%d/%m/%Y", "%m/%d/%y": "%d/%m/%y"}
_TIME_NAME = re.compile(
    r"(^|[ _.-])(time|timestamp|ts|epoch|unix|unixtime|datetime|utc|created|updated)([ _.-]|$)|time$"
)
_DATE_NAME = re.compile(r"(^|[ _.-])(date|datum|day|fecha|dato)([ _.-]|$)|date$|datum$")
_SERIAL = (20_000, 60_000)
_EPOCH = (1e9, 3e9)  # seconds since 1970
_CLOCKS = ((1.0, "seconds"), (1e3, "milliseconds"), (1e6, "microseconds"), (1e9, "nanoseconds"))


def as_dates(different: list[str], forms: Sequence[str] = ()) -> Reading | None:
    """The different values of a column as dates, if all of them (or all but a few words) are; None otherwise.

    `forms`: the ways in which the dates of a column like this one were written, where that is known.
    """
    words = tuple(text for text in different if not has_digit(text))
    dates = [text for text in different if has_digit(text)]
    if not dates or (not forms and (len(words) > FEW_WORDS or len(dates) < MOSTLY * len(different))):
        return None
    if not all(6 <= len(text.strip()) <= 40 for text in dates[:50]):
        return None
    found = _by_known(dates, forms) or _in_one_way(dates) or _in_several_ways(dates)
    return None if found is None else Reading(found[0], found[1], words, found[2])


def unclear_dates(different: list[str]) -> str:
    """Why values that are all dates cannot be read as dates; empty where they are no dates, or can be read."""
    dates = [text for text in different if has_digit(text)]
    if not dates or len(dates) < MOSTLY * len(different):
        return ""
    if any(all(_parsed(text, form) is None for form in FORMS) for text in dates):
        return ""
    doubtful = next((text for text in dates if len(_orders(text)) == 2), None)
    if doubtful is None:
        return "dates written in too many ways"
    return f"dates written in several ways, of which {doubtful.strip()!r} can have the day or the month first"


def _by_known(dates: list[str], forms: Sequence[str]) -> tuple[dict[str, np.datetime64], str, tuple[str, ...]] | None:
    """Read in the ways that are known, the first that fits each."""
    read = {text: _first(text, forms) for text in dates} if forms else {}
    kept = {text: value for text, value in read.items() if value is not None}
    return (kept, _how(tuple(forms)), tuple(forms)) if kept and len(kept) == len(dates) else None


def _in_one_way(dates: list[str]) -> tuple[dict[str, np.datetime64], str, tuple[str, ...]] | None:
    for form in FORMS:
        if (read := _all_parsed(dates, form)) is not None:
            other = _other_order(form, dates)
            if other is not None and not _in_time(read) and _in_time(again := _all_parsed(dates, other) or {}):
                form, read = other, again  # forms are filled in one after the other
            return read, _how((form,)), (form,)
    return None


def _in_time(read: Mapping[str, np.datetime64]) -> bool:
    """Whether dates stand in the order of time, so many that it is no accident."""
    values = np.array(list(read.values()))
    return len(values) >= ENOUGH and bool((values[1:] >= values[:-1]).all() or (values[1:] <= values[:-1]).all())


def _in_several_ways(dates: list[str]) -> tuple[dict[str, np.datetime64], str, tuple[str, ...]] | None:
    """Each way of writing by itself: one form must read all dates written that way, and no other order of the parts."""
    groups: dict[str, list[str]] = {}
    for text in dates:
        groups.setdefault(_outline(text), []).append(text)
    read: dict[str, np.datetime64] = {}
    forms: list[str] = []
    for alike in groups.values():
        fitting = [form for form in FORMS if _all_parsed(alike, form) is not None]
        if not fitting or _other_order(fitting[0], alike) is not None:
            return None
        read |= _all_parsed(alike, fitting[0]) or {}
        forms.append(fitting[0])
    ways = tuple(dict.fromkeys(forms))
    days = {form.split(" %H")[0] for form in ways}
    if len(ways) > MOST_WAYS or any(_DAY_FIRST.get(day) in days for day in days):  # the month first here, the day there
        return None
    return read, _how(ways), ways


def order_doubt(different: Sequence[str], reading: Reading) -> str:
    """What is uncertain about dates that were read: the day and the month may be exchanged in all of them."""
    dates = [text for text in different if text in reading.values]
    other = next((found for form in reading.forms if (found := _other_order(form, dates)) is not None), None)
    return "" if other is None else f"no day is above 12, so they may as well be {_in_letters(other)}"


def _other_order(form: str, dates: Sequence[str]) -> str | None:
    """The form with day and month exchanged, where it reads all these dates too; None for other forms."""
    day, _, time = form.partition(" %H")
    swapped = {**_DAY_FIRST, **{after: before for before, after in _DAY_FIRST.items()}}.get(day)
    if swapped is None:
        return None
    other = swapped + (f" %H{time}" if time else "")
    return other if _all_parsed(list(dates), other) is not None else None


def _orders(text: str) -> list[str]:
    """The forms with slashes that read a date, by the order of day and month."""
    return [form for form in FORMS if form[:5] in ("%d/%m", "%m/%d") and _parsed(text, form) is not None]


def _outline(text: str) -> str:
    """How a date is written: the number of digits of a year, separators, letters as one."""
    shape = re.sub(r"[0-9]{4,}", "Y", text.strip())
    return re.sub(r"[^\W\d_]+", "a", re.sub(r"[0-9]{1,2}", "0", shape.replace("Y", "\0"))).replace("\0", "Y")


def _all_parsed(dates: list[str], form: str) -> dict[str, np.datetime64] | None:
    """All dates read in one way; None where one cannot be."""
    if any(_parsed(text, form) is None for text in dates[:20]):
        return None
    read = {text: _parsed(text, form) for text in dates}
    kept = {text: value for text, value in read.items() if value is not None}
    return kept if len(kept) == len(dates) else None


def _first(text: str, forms: Sequence[str]) -> np.datetime64 | None:
    return next((value for form in forms if (value := _parsed(text, form)) is not None), None)


def _parsed(text: str, form: str) -> np.datetime64 | None:
    if form == ISO:
        return _iso(text.strip())
    try:
        return np.datetime64(datetime.strptime(text.strip(), form), "s")
    except ValueError:
        return None


def _iso(text: str) -> np.datetime64 | None:
    if "-" not in text[1:] and ":" not in text:  # 20240131 is a number first of all
        return None
    try:
        return np.datetime64(datetime.fromisoformat(text).replace(tzinfo=None), "s")
    except ValueError:
        return None


def _how(forms: tuple[str, ...]) -> str:
    if len(forms) == 1:
        return "dates" if forms[0] == ISO else f"dates as {_in_letters(forms[0])}"
    return f"dates in {len(forms)} ways ({', '.join(map(_in_letters, forms))})"


def _in_letters(form: str) -> str:
    """A form of dates as people write it: %d.%m.%Y is dd.mm.yyyy."""
    for code, letters in _LETTERS.items():
        form = form.replace(code, letters)
    return form


def as_moments(name: str, values: np.ndarray) -> tuple[np.ndarray, str] | None:
    """Numbers that count the time since 1970 (2001 to 2065) in a column whose name says time; how they are counted.

    Whole numbers in a column called date can be the days of spreadsheets.
    """
    if (days := _days_of_spreadsheets(name, values)) is not None:
        return days
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


def _days_of_spreadsheets(name: str, values: np.ndarray) -> tuple[np.ndarray, str] | None:
    """Days since the end of 1899, which a spreadsheet shows as dates, between 1954 and 2064."""
    there = values[~np.isnan(values)]
    if not _DATE_NAME.search(name.lower()) or not len(there):
        return None
    if there.min() < _SERIAL[0] or there.max() > _SERIAL[1] or (there != np.round(there)).any():
        return None
    moments = np.full(len(values), np.datetime64("NaT", "s"))
    moments[~np.isnan(values)] = np.datetime64("1899-12-30", "s") + there.astype("timedelta64[D]")
    return moments, "days as spreadsheets count them"

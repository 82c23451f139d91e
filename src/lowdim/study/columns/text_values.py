"""Numbers and yes/no that are written as text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

YES_NO = (
    *(("no", "yes"), ("n", "y"), ("false", "true"), ("f", "t")),
    *(("nein", "ja"), ("falsch", "wahr"), ("non", "oui"), ("faux", "vrai"), ("no", "s\u00ed"), ("no", "si")),
    *(("falso", "verdadero"), ("falso", "vero"), ("falso", "verdadeiro"), ("n\u00e3o", "sim")),
    *(("nee", "ja"), ("nej", "ja")),
)  # fmt: skip
_GROUPED = re.compile(r"^[+-]?[0-9]{1,3}(,[0-9]{3})+(\.[0-9]+)?$")
_COMMA = re.compile(r"^[+-]?([0-9]{1,3}(\.[0-9]{3})+|[0-9]+)?(,[0-9]+)?$")
_CODE = re.compile(r"^[+-]?(0[0-9]+|[0-9]{16,})$")  # zero-padded, or longer than a float holds
_UNIT = re.compile(r"^[+-]?[0-9][0-9.,]*\s*([A-Za-zµ°²³/]{1,12})$")
_LIMIT = re.compile(r"^[<>≤≥]=?\s*[0-9][0-9.,]*(\s*[A-Za-zµ°²³/%]{1,12})?$")  # below or above what can be measured
KNOWN_UNITS = {
    *("kg", "g", "mg", "µg", "ng", "t", "lb", "lbs", "oz", "km", "m", "cm", "mm", "µm", "nm", "ft", "in", "inch", "mi"),
    *(
        "l",
        "L",
        "ml",
        "mL",
        "µl",
        "h",
        "min",
        "s",
        "sec",
        "ms",
        "d",
        "days",
        "weeks",
        "months",
        "years",
        "°C",
        "°F",
        "K",
    ),
    *("mol", "mmol", "Pa", "kPa", "hPa", "bar", "mbar", "V", "mV", "A", "mA", "W", "kW", "Hz", "kHz", "MHz", "GHz"),
}
_MONEY = re.compile(r"[$€£¥]")
_SIGNS = re.compile(r"^(?<![0-9])[$€£¥]\s*|\s*([$€£¥]|%)$")
# Of the different values of a column, so many must be numbers for the others to count as missing cells; and there may
# be so many others.
MOSTLY, FEW_WORDS = 0.8, 3
NEARLY = 0.5  # of them are numbers, that the others are named


@dataclass(frozen=True)
class Reading:
    """Text read as something else: text -> value, how it was read, the words that were not, and the forms of dates."""

    values: dict[str, Any]
    how: str
    words: tuple[str, ...] = ()
    forms: tuple[str, ...] = ()

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
    if len(_currencies(different)) > 1:  # 12 dollars and 15 euros are no numbers of one column
        return None
    written = [(stripped, ""), (bare, " and a currency or percent sign"), (measured, f" and the unit {unit}")]
    for cells, also in written:
        for how, parse in _NOTATIONS if cells is not None else ():
            read = {text: value for text, cell in (cells or {}).items() if (value := parse(cell)) is not None}
            words = tuple(text for text in different if text not in read)
            few = len(read) >= MOSTLY * len(different) and len(words) <= FEW_WORDS and all(map(_is_word, words))
            if not words or few:
                return Reading(read, how + also, words)
    return None


def _is_word(text: str) -> bool:
    """Whether a text beside numbers is no number: it has no digit, or is a limit such as <0.05."""
    return not has_digit(text) or bool(_LIMIT.match(text.strip()))


def several_units(different: list[str]) -> tuple[str, ...]:
    """The units of a column of numbers that have different ones, two of which are known; empty for anything else."""
    found = [match.group(1) if (match := _UNIT.search(text.strip())) else "" for text in different]
    units = tuple(unit for unit in dict.fromkeys(found) if unit)
    bare = [text for text, unit in zip(different, found, strict=True) if not unit]
    if len(money := _currencies(different)) > 1 and all(has_digit(text) for text in different):
        return money
    plain = all(_number(text.strip().replace(",", ".")) is not None for text in bare)
    return units if plain and len(KNOWN_UNITS.intersection(units)) > 1 else ()


def _currencies(different: list[str]) -> tuple[str, ...]:
    """The signs of currencies in a column."""
    return tuple(dict.fromkeys(sign for text in different for sign in _MONEY.findall(text)))


def _common_unit(cells: list[str]) -> str:
    """The word that all cells with a digit end in, such as kg, which may be left away if it is known; else empty."""
    found = {match.group(1) if (match := _UNIT.search(cell)) else "" for cell in cells if has_digit(cell)}
    named = found - {""}
    return named.pop() if len(named) == 1 and (len(found) == 1 or named <= KNOWN_UNITS) else ""


def _with_thousands(text: str) -> float | None:
    return _number(text.replace(",", "")) if _GROUPED.match(text) or "," not in text else None


def _with_comma(text: str) -> float | None:
    return _number(text.replace(".", "").replace(",", ".")) if _COMMA.match(text) else None


def has_digit(text: str) -> bool:
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


def no_number(different: list[str]) -> str:
    """Of values that are mostly numbers, the first that is none; empty where most are something else."""
    best: list[str] = []
    for _, parse in _NOTATIONS:
        read = [text for text in different if parse(text.strip()) is not None]
        best = max(best, read, key=len)
    if len(best) < NEARLY * len(different) or any(_CODE.match(text.strip()) for text in different):
        return ""
    known = set(best)
    return next((text for text in different if text not in known), "")


def as_yes_no(different: list[str]) -> Reading | None:
    """Two words for yes and no as 1 and 0; None for anything else."""
    lower = {text: text.strip().lower() for text in different}
    for no, yes in YES_NO:
        if set(lower.values()) == {no, yes}:
            return Reading({text: float(word == yes) for text, word in lower.items()}, f"{yes}/{no} as 1/0")
    return None

"""Digits and signs as people and programs write them: other scripts, other minus signs, currencies, marks of text."""

from __future__ import annotations

import re
import unicodedata

import polars as pl

CURRENCIES = "$\u20ac\u00a3\u00a5\u20b9"
CODES = "USD|EUR|GBP|CHF|JPY|CNY|INR|SEK|NOK|DKK|PLN|CZK|AUD|CAD|NZD|BRL|MXN|ZAR|Fr|kr|z\u0142|Rs|R\\$"
FLAG = r"^([+-]?[0-9][0-9.,]*) +[b-fnprsuz]{1,2}$"  # break, confidential, definition, estimate, ... (Eurostat)
INVISIBLE = "\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\u061c"
MINUS = "\u2212\u2012\u2013\ufe63\uff0d"  # minus, figure dash, en dash, and the small and the wide hyphen

# What is written, found by the pattern, is replaced; in this order, as one cell may have several.
REPLACED = (
    ("invisible characters", f"[{INVISIBLE}]", ""),
    ("marks of text", r"^=\"([^\"]*)\"$", "$1"),  # a formula of spreadsheets
    ("marks of text", r"^'([+-]?[0-9.,]+)$", "$1"),  # an apostrophe that keeps spreadsheets from reading a number
    ("minus signs of typesetting", f"^[{MINUS}]\\s*([0-9.,])", "-$1"),
    ("minus signs behind numbers", r"^([0-9][0-9.,' ]*)-$", "-$1"),
    ("numbers in parentheses as negative", r"^\((\D{0,4}[0-9][^()]*)\)$", "-$1"),
)


def with_plain_digits(text: pl.Series) -> tuple[pl.Series, list[str]]:
    """The text with the digits 0 to 9 and one minus sign in front; how others were written, for a note."""
    said = []
    if text.str.contains(r"[^\x00-\x7f]").any() and (other := _of_other_scripts(text)) is not None:
        text, said = other, ["digits of another script"]
    for called, pattern, new in REPLACED:
        if text.str.contains(pattern).any():
            text = text.str.replace_all(pattern, new)
            said.append(called)
    return text, list(dict.fromkeys(said))


def _of_other_scripts(text: pl.Series) -> pl.Series | None:
    """The text with other decimal digits as 0 to 9; None where there are none."""
    cells = [None if cell is None else _ascii_digits(cell) for cell in text.to_list()]
    found = pl.Series(text.name, cells, dtype=pl.String)
    return None if found.equals(text) else found


def _ascii_digits(text: str) -> str:
    if text.isascii():
        return text
    plain = text.replace("\u066b", ".").replace("\u066c", "")
    return "".join(str(unicodedata.decimal(c)) if c.isdecimal() and not c.isascii() else c for c in plain)


def plain_digits(text: str) -> str:
    """One cell with the digits 0 to 9 and one minus sign in front."""
    found = _ascii_digits(text.strip())
    for _, pattern, new in REPLACED:
        found = re.sub(pattern, new.replace("$1", r"\1"), found)
    return found


def without_flags(text: pl.Series) -> tuple[pl.Series, list[str]]:
    """Text without the letters that official statistics put behind some numbers: 9.6 e is an estimate.

    One letter behind most numbers is a unit.
    """
    flagged = text.str.contains(FLAG).fill_null(False)
    if not flagged.any() or 2 * int(flagged.sum()) > len(text) - text.null_count():
        return text, []
    return text.str.replace(FLAG, "$1"), ["flags behind numbers"]


def without_signs(text: pl.Series) -> tuple[pl.Series, list[str]]:
    """Text without a percent or currency sign that every cell has; the names of the signs removed."""
    present = text.drop_nulls()
    if present.str.ends_with("%").all():
        return text.str.strip_suffix("%").str.strip_chars(), ["percent signs"]
    for where in [*map(re.escape, CURRENCIES), CODES]:
        before, behind = rf"^([+-]?)\s*(?:{where})\s*", rf"\s*(?:{where})$"
        for pattern, new in ((before, "$1"), (behind, "")):
            if present.str.contains(pattern).all():
                return text.str.replace(pattern, new).str.replace(r"\.[\u2013\u2014-]+$", ""), ["currency signs"]
    return text, []

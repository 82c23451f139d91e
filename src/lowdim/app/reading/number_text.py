"""Text that people write for numbers: decimal commas, thousands separators, percent and currency signs.

A column becomes numbers only if every one of its cells does; words for missing cells are counted in a note.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import polars as pl

from lowdim.app.reading.clutter.digits import CURRENCIES, plain_digits, with_plain_digits, without_flags, without_signs
from lowdim.app.reading.loaded import counted, in_columns

# Read as missing everywhere, as most programs do.
MISSING_WORDS = ["", "NA", "N/A", "NaN", "nan", "null", "NULL"]
# Read as missing in columns whose other cells are numbers, with a note.
MISSING_IN_NUMBERS = {
    "na", "n/a", "n.a.", "nan", "<na>", "null", "none", "nil", "missing", "-", "--", "\u2013", "\u2014", "?", ".", "..",
    "#n/a", "#na", "#div/0!", "#value!", "#num!", "#null!", "#ref!", "#name?", "nat", "\\n", "(null)", "[null]", ":",
    "n/d", "n.d.", "n.b.", "k.a.", "k. a.", "keine angabe", ": c", ": u", ": z", ": n", "\u221e", "-\u221e",
}  # fmt: skip
SPACES = " '\u2019\u00a0\u202f\u2007\u2009"
SIGN, POWER = "[+-]?", r"(?:[eE][+-]?\d+)?"


@dataclass(frozen=True)
class Style:
    """A way to write numbers: `every` cell matches, and a cell that matches `sure` cannot be another style."""

    called: str
    every: str
    sure: str
    groups: str = ""  # characters between groups of three digits
    decimal: str = "."


STYLES = (
    Style("thousands separators", rf"^{SIGN}(?:\d{{1,3}}(?:,\d{{3}})+|\d{{1,3}})(?:\.\d+)?$",
          r"(?:,\d{3}){2}|,\d{3}\.", ",", "."),
    Style("thousands separators", rf"^{SIGN}(?:\d{{1,3}}(?:\.\d{{3}})+|\d{{1,3}})(?:,\d+)?$",
          r"(?:\.\d{3}){2}|\.\d{3},", ".", ","),
    Style("thousands separators", rf"^{SIGN}(?:[1-9]\d{{0,2}}(?:[{SPACES}]\d{{3}})+|\d{{1,3}})(?:\.\d+)?$",
          rf"[{SPACES}]", SPACES, "."),
    Style("thousands separators", rf"^{SIGN}(?:[1-9]\d{{0,2}}(?:[{SPACES}]\d{{3}})+|\d{{1,3}})(?:,\d+)?$",
          rf"[{SPACES}]", SPACES, ","),
    Style("thousands separators", rf"^{SIGN}(?:\d{{1,2}}(?:,\d{{2}})*,\d{{3}}|\d{{1,3}})(?:\.\d+)?$",  # lakh and crore
          r"^[+-]?\d{1,2}(?:,\d{2})+,\d{3}", ",", "."),
    Style("decimal commas", rf"^{SIGN}(?:\d*,\d+|\d+){POWER}$",
          rf"^{SIGN}(?:0|\d{{4,}})?,|,(?:\d{{1,2}}|\d{{4,}}){POWER}$|,\d+[eE]", "", ","),
)  # fmt: skip
CODE, DIGITS = r"^0\d+$", r"^\d+$"  # a column of digits with leading zeros has codes, such as postcodes
LONG_NUMBER = r"^[+-]?\d{17,}$"  # an identifier: as a number it would lose digits
AMBIGUOUS = r"^[+-]?\d{1,3}[,.]\d{3}$"  # a thousand, or a number with three decimals


@dataclass
class Findings:
    """What was recognised in the columns of a table, for the notes."""

    styles: dict[str, list[str]] = field(default_factory=dict)  # note -> columns
    examples: dict[str, str] = field(default_factory=dict)
    words: dict[str, tuple[int, list[str]]] = field(default_factory=dict)  # word -> cells, columns
    decimal: str | None = None  # known for the whole file
    thousands: str | None = None  # chosen by the user
    unclear: dict[str, str] = field(default_factory=dict)  # column whose commas can be two things -> a cell of it

    def add_style(self, called: str, column: str, example: str) -> None:
        self.styles.setdefault(called, []).append(column)
        self.examples.setdefault(called, example)

    def add_words(self, words: pl.Series, column: str) -> None:
        for word, count in words.value_counts().rows():
            cells, columns = self.words.get(word, (0, []))
            self.words[word] = (cells + count, [*columns, column])

    def notes(self) -> list[str]:
        read = [
            f"{called} read {in_columns(columns)} ({self.examples[called]})" for called, columns in self.styles.items()
        ]
        if self.unclear:
            cell = next(iter(self.unclear.values()))
            read.append(
                f"commas {in_columns(list(self.unclear))} are read between thousands: {cell} is "
                f"{cell.replace(',', '')} (--decimal-comma reads {cell.replace(',', '.')})"
            )
        return read + [
            f"{word!r} read as missing: {counted(count, 'cell')} {in_columns(columns)}"
            for word, (count, columns) in self.words.items()
        ]


def numbers_in(column: pl.Series, na: tuple[str, ...], findings: Findings) -> pl.Series | None:
    """A column of text as numbers; None if a cell is not a number, or could be two numbers."""
    stripped = column.str.strip_chars()
    absent = stripped.is_in([*MISSING_WORDS, *na]).fill_null(True)
    text = _where(~absent, stripped)
    if text.null_count() == len(text):
        return None
    if text.str.contains(LONG_NUMBER).any() or are_codes(text):
        return None
    numbers = _plain(text, findings.decimal)
    if numbers.null_count() == text.null_count():
        return numbers.alias(column.name)
    words = text.is_in(_words_of(text.filter(numbers.is_null())))
    left = _where(~words.fill_null(False), text)
    if left.null_count() == len(left) or are_codes(left):
        return None
    found = _plain(left, findings.decimal)
    if found.null_count() > left.null_count():
        styled = _styled(left, column.name, findings)
        if styled is None:
            return None
        found = styled
    findings.add_words(text.filter(words.fill_null(False)), column.name)
    return found.alias(column.name)


def are_codes(text: pl.Series) -> bool:
    """Whether all cells are digits, and one begins with a zero before other digits."""
    present = text.drop_nulls()
    return bool(present.str.contains(CODE).any()) and bool(present.str.contains(DIGITS).all())


def _words_of(text: pl.Series) -> list[str]:
    """Those of the distinct texts that are words for missing."""
    distinct = text.drop_nulls().unique()
    return distinct.filter(distinct.str.to_lowercase().is_in(sorted(MISSING_IN_NUMBERS))).to_list()


def _where(mask: pl.Series, text: pl.Series) -> pl.Series:
    return pl.select(pl.when(mask).then(text)).to_series()


def _plain(text: pl.Series, decimal: str | None) -> pl.Series:
    """Numbers without any style, but for the decimal comma where it is known; null where a cell is not one."""
    if decimal == ",":
        text = text.str.replace_all(".", "?", literal=True).str.replace(",", ".", literal=True)
    return text.cast(pl.Float64, strict=False)


def _styled(text: pl.Series, name: str, findings: Findings) -> pl.Series | None:
    """Numbers with one sign in every cell, or in one style of writing."""
    plain_text, signs = with_plain_digits(text)
    if are_codes(plain_text):  # ="001" keeps its zeros in a spreadsheet
        return None
    bare, flags = without_flags(plain_text)
    bare, more = without_signs(bare)
    signs += [*flags, *more]
    numbers, called = _plain(bare, findings.decimal), None
    if numbers.null_count() > text.null_count():
        style = _style_of(bare, name, findings)
        if style is None:
            return None
        called = style.called
        plain = bare.str.replace_all(f"[{re.escape(style.groups)}]", "") if style.groups else bare
        numbers = plain.str.replace(style.decimal, ".", literal=True).cast(pl.Float64, strict=False)
        if numbers.null_count() > text.null_count():
            return None
    marked = (text != bare) if signs or not called else bare.str.contains(rf"[,.{SPACES}]")
    first = int(marked.fill_null(False).arg_max() or 0)
    example = f"{text[first]} is {numbers[first]:.15g}"
    for kind in (*signs, *([called] if called else [])):
        findings.add_style(kind, name, example)
    return numbers


def _style_of(text: pl.Series, name: str, findings: Findings) -> Style | None:
    """The style that all cells have. One mark before three digits can be two things: the file decides, or nobody."""
    present, decimal = text.drop_nulls(), findings.decimal
    fitting = [style for style in STYLES if present.str.contains(style.every).all()]
    if findings.thousands:
        return next((style for style in fitting if findings.thousands in style.groups), None)
    certain = [style for style in fitting if present.str.contains(style.sure).any()]
    if certain:
        return certain[0]
    if decimal is None or not present.str.contains(AMBIGUOUS).any():
        if fitting and fitting[0].groups == "," and present.str.contains(",", literal=True).any():
            findings.unclear[name] = str(present.filter(present.str.contains(",", literal=True))[0])
        return None
    known = (style for style in fitting if style.decimal == decimal and style.groups != SPACES)
    return next((s for s in known if not s.groups or present.str.contains(s.groups, literal=True).any()), None)


def shows_decimal_comma(cells: list[str]) -> bool:
    """Whether the first cells of a column are numbers with decimal commas, without doubt."""
    style = STYLES[-1]
    present = [cell.strip() for cell in cells if cell.strip() not in MISSING_WORDS]
    present = [cell for cell in present if cell.lower() not in MISSING_IN_NUMBERS]
    return all(re.match(style.every, cell) for cell in present) and any(re.search(style.sure, cell) for cell in present)


def is_number(text: str) -> bool:
    """Whether a cell is a number in any of the styles."""
    try:
        float(text)
        return "_" not in text
    except ValueError:
        if not any(letter.isdigit() for letter in text):
            return False
    bare = plain_digits(text).rstrip(f"%{CURRENCIES}").lstrip(CURRENCIES).strip()
    try:
        float(bare)
    except ValueError:
        return bool(bare) and any(re.match(style.every, bare) for style in STYLES)
    return "_" not in bare


def is_missing(text: str, na: tuple[str, ...] = ()) -> bool:
    bare = text.strip()
    return bare in MISSING_WORDS or bare in na or bare.lower() in MISSING_IN_NUMBERS

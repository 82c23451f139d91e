"""Text that is safe on a terminal: control characters of names, cells and paths are shown, not obeyed."""

from __future__ import annotations

import re

# Control characters (escape sequences begin with one), line separators, marks that turn the direction of text, and
# the halves of characters that stand for bytes of a file name that is not text.
_OBEYED = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")


def printable(text: str) -> str:
    """The text with escapes such as \\x1b and \\n for characters that a terminal would obey."""
    return _OBEYED.sub(lambda found: _escape(found.group()), text)


def printable_lines(text: str) -> str:
    """The same, but for the ends of lines, which stay: messages and results in Python have several."""
    return "\n".join(map(printable, text.split("\n")))


def printable_json(text: str) -> str:
    """JSON with \\u escapes for the same characters, which JSON allows inside text; line ends between values stay."""
    return _OBEYED.sub(lambda found: found.group() if found.group() == "\n" else f"\\u{ord(found.group()):04x}", text)


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")

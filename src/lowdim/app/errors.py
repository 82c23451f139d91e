"""Errors of the command line that the user can correct, and messages of the library in words of the command line."""

from __future__ import annotations

import re


class UserError(Exception):
    """A mistake in a file or an option: shown as one line, without a traceback."""


# What a message says in Python -> what it says on the command line, in this order.
_WORDS = (
    (r"lowdim\.config\(memory_limit=\.\.\.\)", "--limit-memory"),
    (
        r"Keep the complete rows, X\[.*?axis=1\)\], or fill the cells first, with .*? or lowdim\.impute\(X\)\.",
        "Use the complete rows alone (--rows complete), or fill the cells first (lowdim impute).",
    ),
    (
        r"Drop what is empty: X\[~np\.isnan\(X\)\.all\(axis=1\)\]\.",
        "Leave empty rows out with --drop-rows, or use the complete rows alone (--rows complete).",
    ),
    (r"Drop what is empty: X\[:, ~np\.isnan\(X\)\.all\(axis=0\)\]\.", "Leave empty columns out with --drop."),
    (r"(?:with )?(?:lowdim\.impute(?:\(X\))?|\S+\(\S*\)\.fit\(X\)\.completed_)", "with lowdim impute"),
    (r"X\[~np\.isnan\(X\)\.any\(axis=1\)\]", "with --rows complete"),
    (r"np\.fill_diagonal\(D, 0\)", "put zeros there"),
    (r"lowdim\.dissimilarities\([^)]*\)(?: with metric='precomputed')?", "--distances similarities"),
    (r"X / np\.abs\(X\)\.max\(\)", "divide all columns by the largest number"),
    (r"(?:, )?X - X\.mean\(axis=0\)", ""),
    (r"X\.reshape\(1, -1\) is a single row, X\.reshape\(-1, 1\) a single column", "rows and columns are needed"),
    (r" \(np\.concatenate\)", ""),
    (r"; use missing='error' or X\.toarray\(\)|Use X\.toarray\(\)", "; use a table that is not sparse"),
    (r"kinds=\{.*?\} \(on the command line: (--as '.*?')\)", r"\1"),
    (r"pass y \(on the command line: (--label COL)\)", r"choose it with \1"),
    (r"(?:scale=(?:True|False)|drop=\[\.\.\.\]) \(on the command line: (--[a-z-]+)\)", r"\1"),
    (r"^(?:compare|score): (reference|metric) must", r"--\1 must"),
    (r"\b(?:ValueError|TypeError): ", ""),
    (r"\by must\b", "the label must"),
    (r"\bX (must|has|have|holds)\b", r"the table \1"),
    (r"\bof X\b", "of the table"),
)
# A parameter and its value: name='value', name=True, name=0.5; not those that are options already.
_SETTING = re.compile(
    r"(?P<before>--set |\bgot |\bset |\bSet )?(?<![\w:'\"-])(?P<name>[a-z][a-z_]*)="
    r"(?:'(?P<quoted>[^']*)'|(?P<plain>[A-Za-z0-9][^ ,;:)]*?))(?=[ ,;:)]|\.?$|\. )"
)


_OTHER_VALUE = re.compile(r"(--set [\w.-]+=\w+) or '(\w+)'")


def with_option_names(message: str, command: str = "fit", method: str | None = None) -> str:
    """The text of an error or note, with options of this command instead of Python.

    A value that is asked for or explained becomes an option of `lowdim fit`, or of `lowdim compare` where `method` says
    whose parameter it is; one that is only stated, words.
    """
    for python, words in _WORDS:
        message = re.sub(python, words, message)
    prefix = "--set " if command == "fit" else "lowdim fit --set "
    if command == "compare" and method is not None:
        prefix = f"--set {method}."

    def option(found: re.Match[str]) -> str:
        before, name = found["before"] or "", found["name"]
        value = found["plain"] or found["quoted"] or ""
        if before == "--set ":
            return found.group()
        if before == "got " or (not before and value[:1].isdigit()):
            return f"{before}{name} {value}"
        verb = {"Set ": "Use ", "set ": "use "}.get(before, before)
        return f"{verb}{prefix}{name}={value}"

    return _OTHER_VALUE.sub(r"\1 or \2", _SETTING.sub(option, message))

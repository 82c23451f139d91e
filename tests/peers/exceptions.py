"""The lists of adopted tests that do not hold, one line each: `exceptions.txt` of scikit-learn, and of others."""

from dataclasses import dataclass
from pathlib import Path

import pytest

PATHS = sorted(Path(__file__).parent.glob("exceptions*.txt"))  # one list for each package
KINDS = ("name", "deliberate", "lacks")
SEEN = pytest.StashKey[set]()  # (module, test) of all adopted tests that were collected


@dataclass(frozen=True)
class Listed:
    """One test that does not hold, and why."""

    module: str
    test: str  # with its parameters, or without them where none of its cases holds
    kind: str
    reason: str


def read() -> dict[tuple[str, str], Listed]:
    """The lists, by module and test."""
    entries = [parsed(line) for line in lines()]
    return {(entry.module, entry.test): entry for entry in entries}


def lines() -> list[str]:
    """The lines that name a test."""
    found = [line for path in PATHS for line in path.read_text().splitlines()]
    return [line for line in found if line and not line.startswith("#")]


def parsed(line: str) -> Listed:
    """``module::test[case] | kind | reason``; a case may hold the bar itself."""
    test, kind, reason = line.rsplit(" | ", 2)
    return Listed(*test.split("::", 1), kind, reason)

"""The list of adopted tests that do not hold: `exceptions.txt`, one line each."""

from dataclasses import dataclass
from pathlib import Path

import pytest

PATH = Path(__file__).with_name("exceptions.txt")
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
    """The list, by module and test."""
    entries = [parsed(line) for line in PATH.read_text().splitlines() if line and not line.startswith("#")]
    return {(entry.module, entry.test): entry for entry in entries}


def parsed(line: str) -> Listed:
    """``module::test[case] | kind | reason``; a case may hold the bar itself."""
    test, kind, reason = line.rsplit(" | ", 2)
    return Listed(*test.split("::", 1), kind, reason)

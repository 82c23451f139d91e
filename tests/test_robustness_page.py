"""The page about odd input says what is tried: its numbers are counted here, and its tests exist."""

import re
from pathlib import Path

from tests import odd_inputs
from tests._core.runtime.memory_cases import CASES, KNOWN
from tests.app.test_paths import NAMES, WRITERS
from tests.estimators import VARIANTS
from tests.test_function_arguments import ODD, PUBLIC
from tests.test_robustness import EACH

ROOT = Path(__file__).parents[1]
PAGE = " ".join((ROOT / "docs/robustness.md").read_text(encoding="utf-8").split())


def test_the_numbers_are_those_of_the_tests():
    for text in (
        f"{len(ODD)} odd values of every argument of {len(PUBLIC)} functions",
        f"{len(NAMES)} names that could be patterns, home folders or escapes, in {len(WRITERS)} formats",
        f"the {len(EACH)} estimators, each on up to {len(odd_inputs.TABLES)} tables and "
        f"{len(odd_inputs.MALFORMED)} malformed sparse ones",
        f"takes {len(VARIANTS)} variants",
        f"lists {len(CASES)} fits",
    ):
        assert text in PAGE, text


def test_what_is_named_exists():
    files = set(re.findall(r"`((?:tests|docs|src)/[\w./-]+\.(?:py|md))`", PAGE))
    assert len(files) > 10
    assert [name for name in sorted(files) if not (ROOT / name).exists()] == []


def test_no_estimate_is_known_to_be_off_in_silence():
    assert all(case in CASES for case in KNOWN)
    assert not KNOWN or "further off" in PAGE

"""The rules on groups stand twice, in Python and in the page: the same limits, and the same words in the same order."""

import inspect
import re
from pathlib import Path

import pytest

from lowdim.trust import groups as of_groups
from lowdim.trust import space

groups = inspect.getmodule(of_groups)
RULES = Path(__file__).parents[2] / "web" / "src" / "judge" / "rules.ts"


def limits():
    """Every `NAME = number` of the page."""
    found = re.findall(r"\b([A-Z][A-Z_]+) = ([0-9.]+)", RULES.read_text(encoding="utf-8"))
    return {name: float(value) for name, value in found}


def verdicts_in_order(text, call):
    """The verdicts that a function comes to, in order."""
    return re.findall(rf'{call}\s*\(?\s*"(holds together|torn|mixture|overlaps)"', text)


@pytest.mark.parametrize("name", sorted(limits()))
def test_limits_are_the_same(name):
    there = groups if hasattr(groups, name) else space
    expected = 15 if name == "NEIGHBORS" else getattr(there, name)
    assert limits()[name] == expected


def test_all_limits_of_the_rules_are_in_both():
    names = set(re.findall(r"\b[A-Z][A-Z_]+\b", inspect.getsource(groups._verdict)))
    assert names <= set(limits())
    assert inspect.signature(of_groups).parameters["n_neighbors"].default == limits()["NEIGHBORS"]


def test_rules_come_in_the_same_order_with_the_same_words():
    python = re.sub(r"  # .*", "", inspect.getsource(groups._verdict))
    page = RULES.read_text(encoding="utf-8")
    order = verdicts_in_order(python, "return")
    assert len(order) == 9
    assert verdicts_in_order(page, "return say") == order
    words = re.findall(r"[a-z][a-z, ]{25,}[a-z]", re.sub(r'"\s+f?"', "", python.split('"""')[2]))
    flat = " ".join(page.split())
    assert len(words) >= 8
    assert [each for each in words if each not in flat] == []

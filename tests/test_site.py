"""The pages of the site: their examples run, and they can all be reached."""

import doctest
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parent.parent / "docs"
PAGES = sorted(path for path in DOCS.rglob("*.md") if "_build" not in path.parts)


def name(page):
    return str(page.relative_to(DOCS))


def with_examples():
    for page in PAGES:
        if ">>> " in page.read_text(encoding="utf-8"):
            yield pytest.param(page, id=name(page))


@pytest.mark.parametrize("page", list(with_examples()))
def test_examples_of_a_page_run(page):
    failed, tried = doctest.testfile(
        str(page), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    )
    assert tried
    assert failed == 0


def test_every_page_is_in_the_contents():
    """A page that no list of contents names cannot be found by its readers."""
    reached = {DOCS / "index.md"}
    for page in PAGES:
        for block in re.findall(r"```\{toctree\}\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.S):
            for line in block.splitlines():
                entry = re.sub(r".*<(.*)>", r"\1", line.strip())
                if entry and not entry.startswith(":"):
                    reached |= {found.resolve() for found in page.parent.glob(f"{entry}.md")}
    assert sorted(map(name, set(PAGES) - reached)) == []

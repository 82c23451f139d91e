"""The pages of the site: their examples run, and they can all be reached."""

import doctest
import json
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parent.parent / "docs"
PAGES = sorted(path for path in DOCS.rglob("*.md") if "_build" not in path.parts)


def name(page):
    return str(page.relative_to(DOCS))


LONG = ("cases/single-cells.md",)  # a comparison of 700 rows and 200 columns


def with_examples():
    for page in PAGES:
        if ">>> " in page.read_text(encoding="utf-8"):
            yield pytest.param(page, id=name(page), marks=[pytest.mark.deep] if name(page) in LONG else [])


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


# Blocks of code that nothing runs, by page, and why.
NOT_RUN = {
    "about.md": "a BibTeX entry",
    "benchmarks.md": "measures for an hour, with data that are not shipped",
    "cases/penguins.md": "its commands are parsed with all others; the same comparison is made in Python",
    "cases/single-cells.md": "its command is parsed with all others; the same comparison is made in Python",
    "cases/word-vectors.md": "its command is parsed with all others, and its file is the reader's",
    "choose/index.md": "its command is parsed with all others; the table is the reader's",
    "coming-from/scanpy.md": "needs scanpy; tests/scverse has the same steps on AnnData objects",
    "gpu.md": "needs a GPU",
    "guides/large.md": "folders and a cluster: tests/test_spark_ray.py and tests/app/test_large_files.py do the same",
    "guides/new-rows.md": "its commands are run with those of the guide to the command line",
    "guides/notebook.md": "the first cell of a notebook; the block below makes the same page",
    "index.md": "its command is parsed with all others; the table is the reader's",
    "start/csv.md": "run by test_the_first_verdict_reads_as_the_pages_say",
    "start/install.md": "clones and installs",
}
RUN_BY_THE_BUILD = ("{picture}", "{reproduction}")
TEXT = ("{toctree}", "{include}", "{figure}")


def blocks(page):
    """Language and text of each block of a page."""
    text = page.read_text(encoding="utf-8")
    found = re.findall(r"^```([^\n]*)\n(.*?)^```$", text, flags=re.M | re.S)
    return [((head.split() or [""])[0], body) for head, body in found]


def test_every_block_of_code_is_run_or_says_why_not():
    quiet = set()
    for page in PAGES:
        if "decisions" in page.parts or page.name in ("ARCHITECTURE.md", "CONTRIBUTING.md", "releasing.md"):
            continue  # for developers
        for language, body in blocks(page):
            if language not in (*RUN_BY_THE_BUILD, *TEXT) and ">>> " not in body:
                quiet.add(name(page))
    assert quiet == set(NOT_RUN)


@pytest.mark.deep
def test_the_first_verdict_reads_as_the_pages_say(tmp_path, monkeypatch, capsys):
    """The wines: the commands of the page, and the sentences that it and the front page quote."""
    from lowdim.app.cli import main

    (_, body), *_ = blocks(DOCS / "start" / "csv.md")
    make, compare = body.strip().splitlines()
    monkeypatch.chdir(tmp_path)
    exec(make.removeprefix('python -c "').removesuffix('"'), {})
    assert main(compare.split()[1:]) == 0
    said = re.sub(r"\s+", " ", capsys.readouterr().out)
    front = re.findall(r"^> - (.*)$", (DOCS / "index.md").read_text(encoding="utf-8"), flags=re.M)
    table = (DOCS / "start" / "csv.md").read_text(encoding="utf-8").split("| the verdict says |")[1].split("\n\n")[0]
    explained = re.findall(r"^\| ([^|-][^|]*) \|", table, flags=re.M)
    assert len(front) == 5
    assert len(explained) == 7
    for quoted in [*front, *explained]:
        for part in re.split(r"[:;,(]", quoted.replace("*", "").strip(". ")):
            assert part.strip(" )") in said, part


SEARCHES = json.loads((DOCS.parent / "tests" / "searches.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("words", "page"), SEARCHES, ids=[words for words, _ in SEARCHES])
def test_pages_have_the_words_that_readers_search_for(words, page):
    """All but fillers, or words that the search takes for the same. tools/look_at_site.py asks the built site."""
    import snowballstemmer
    from sphinx.search.en import SearchEnglish

    stem = snowballstemmer.stemmer("english").stemWord
    scorer = (DOCS / "_ext" / "scorer.js").read_text(encoding="utf-8")
    same = [{stem(word) for word in line.split()} for line in re.findall(r'^  "([a-z ]+)",$', scorer, flags=re.M)]
    fillers = set(re.search(r'FILLER = new Set\("([a-z ]+)"', scorer)[1].split())
    there = {stem(word) for word in re.findall(r"\w+", (DOCS / f"{page}.md").read_text(encoding="utf-8").lower())}
    asked = {word for word in re.findall(r"[a-z]+", words.lower()) if word not in SearchEnglish.stopwords}
    missing = [
        word for word in asked - fillers
        if not any(one & there for one in [{stem(word)}, *(line for line in same if stem(word) in line)])
    ]  # fmt: skip
    assert len(same) > 10
    assert missing == []

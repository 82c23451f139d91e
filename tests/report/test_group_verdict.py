"""The verdict on marked rows, computed in the page: the same as that of `lowdim.trust.groups` on the same rows."""

import json

import numpy as np
import pytest

import lowdim
from lowdim.report.render import render
from tests.report.browser import LEFT, loop, mark

EXACT = ("inside", "inside_map", "chance", "conductance", "pieces", "pieces_map")
DEPTHS = ("valley", "valley_map", "border", "border_map", "split")


@pytest.fixture(scope="module")
def case():
    """Three groups, a sheet and their copies; a good map, one that tears, one that pulls a sheet apart."""
    rng = np.random.default_rng(0)
    blobs = [rng.standard_normal((80, 6)) + centre for centre in (0, 7, -7)]
    X = np.concatenate([*blobs, rng.random((160, 6)) * [8, 8, 0, 0, 0, 0] + [0, 0, 30, 0, 0, 0]])
    good = X[:, :2] + X[:, 2:4]
    torn = good.copy()
    torn[:40] += 60  # half of the first group
    torn[240:] += 80.0 * (X[240:, :1] > 4)  # a sheet cut in two
    return X, {"good": good, "torn": torn}


@pytest.fixture(scope="module")
def file(case, tmp_path_factory):
    X, maps = case
    path = tmp_path_factory.mktemp("groups") / "report.html"
    c = lowdim.compare(X, None, maps, random_state=0, verdict=False)
    path.write_text(render(c), encoding="utf-8")
    return path


def told(page):
    page.wait_for_selector("#group[data-state=done]")
    group = page.locator("#group")
    facts = json.loads(group.get_attribute("data-facts"))
    return group.get_attribute("data-verdict"), group.inner_text(), facts


SELECTIONS = {
    "a group": range(80, 160),
    "two groups": [*range(80), *range(160, 240)],
    "half a group": range(20, 60),
    "a group that is torn": range(80),
    "a half of the sheet": None,
    "rows from everywhere": range(0, 400, 5),
    "all rows": range(400),
}


@pytest.mark.parametrize("name", ["good", "torn"])
def test_the_page_says_what_python_says(show, file, case, name):
    X, maps = case
    page = show(file, painter="canvas")
    verdicts = set()
    for what, given in SELECTIONS.items():
        rows = np.arange(240, 400)[X[240:, 0] > 4] if given is None else np.array(given)
        chosen = np.zeros(400, bool)
        chosen[rows] = True
        expected = lowdim.trust.groups(X, maps[name], chosen, random_state=0).table[0]
        mark(page, name, rows)
        verdict, text, facts = told(page)
        assert verdict == expected.verdict, what
        assert expected.reason in text, what
        for key in EXACT:
            assert facts[key] == pytest.approx(getattr(expected, key), abs=1e-9), (what, key)
        for key in DEPTHS:
            assert float(facts[key]) == pytest.approx(getattr(expected, key), rel=0.02, abs=0.05, nan_ok=True), key
        verdicts.add(verdict)
    assert len(verdicts) >= 3, verdicts  # the selections tell the rules apart


def test_a_loop_is_judged_and_another_map_judges_again(show, file):
    page = show(file, painter="canvas")
    mark(page, "torn", range(80))
    assert told(page)[0] == "torn"
    page.locator("#others .pick", has_text="good").click()
    page.wait_for_selector("#group[data-verdict='holds together'][data-state=done]")
    assert "in good" in page.locator("#group table").text_content()
    loop(page, 0, LEFT)
    assert told(page)[1].startswith("Are these rows a group?")


def test_few_rows_are_not_judged_and_rows_without_distances_neither(show, file, case, tmp_path):
    page = show(file)
    mark(page, "good", range(7))
    verdict, text, _ = told(page)
    assert verdict == "too few rows"
    assert "7 rows, fewer than 20" in text
    X, maps = case
    bare = tmp_path / "bare.html"
    found = lowdim.compare(X, None, maps, verdict=False, random_state=0)
    object.__setattr__(found, "data_copy", None)
    bare.write_text(render(found), encoding="utf-8")
    page = show(bare)
    mark(page, "good", range(60))
    assert "lowdim.trust.groups" in told(page)[1]


def test_a_sample_of_the_rows_is_judged_by_its_own_neighbours(show, tmp_path):
    rng = np.random.default_rng(1)
    X = np.concatenate([rng.standard_normal((400, 4)), rng.standard_normal((400, 4)) + 9])
    c = lowdim.compare(X, np.repeat(["a", "b"], 400), ["pca"], random_state=0, verdict=False)
    file = tmp_path / "sample.html"
    file.write_text(render(c, max_points=300), encoding="utf-8")
    page = show(file)
    page.locator("#legend button").first.click()
    assert told(page)[0] == "holds together"

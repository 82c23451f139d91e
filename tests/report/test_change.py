"""What changed between two maps: rows with other neighbours, and rows on their way from one map to the other."""

import numpy as np
import pytest

import lowdim
from lowdim.report.render import render
from tests.report.browser import READY, canvas, inked, until


@pytest.fixture(scope="module")
def case():
    """Two maps that agree but for thirty rows."""
    rng = np.random.default_rng(0)
    X = rng.random((200, 3))
    one = X[:, :2].copy()
    two = one.copy()
    two[:30] = np.array([4.0, 4.0]) + rng.random((30, 2))[rng.permutation(30)]
    return lowdim.compare(X, None, {"one": one, "two": two}, random_state=0, verdict=False)


@pytest.fixture(scope="module")
def file(case, tmp_path_factory):
    path = tmp_path_factory.mktemp("change") / "report.html"
    path.write_text(render(case), encoding="utf-8")
    return path


def lists(Z):
    D = np.linalg.norm(Z[:, None] - Z[None], axis=2)
    np.fill_diagonal(D, np.inf)
    return [set(row) for row in np.argsort(D, axis=1, kind="stable")[:, :15].tolist()]


def compared(page, name="one", against="two"):
    page.evaluate("hash => { location.hash = hash }", f"map={name}&colour=moved&against={against}&truth=0")
    page.wait_for_selector("#change[data-state=done]")
    page.wait_for_selector(READY)


def test_rows_that_lost_their_neighbours_are_counted_and_coloured(show, file, case):
    page = show(file)
    compared(page)
    one, two = (lists(case.aligned()[name]) for name in ("one", "two"))
    shares = np.array([1 - len(a & b) / 15 for a, b in zip(one, two, strict=True)])
    most = int((shares > 0.5).sum())
    assert 20 <= most <= 60
    assert f"{most} of 200 rows" in page.locator("#changed").text_content()
    Z = case.aligned()["one"]
    low, high = Z.min(axis=0), Z.max(axis=0)
    unit = (Z - (low + high) / 2) / (high - low).max()
    apart = np.sort(np.linalg.norm(unit[:, None] - unit[None], axis=2), axis=1)[:, 1] > 0.03
    box = canvas(page, 0).bounding_box()
    span = min(box["width"], box["height"]) - 28
    redness = []
    rows = np.flatnonzero(apart)[:40]
    for row in rows:
        x, y = box["width"] / 2 + unit[row, 0] * span, box["height"] / 2 - unit[row, 1] * span
        r, _, b = canvas(page, 0).evaluate(
            "(c, [x, y]) => [...c.getContext('2d').getImageData(Math.floor(x), Math.floor(y), 1, 1).data].slice(0, 3)",
            [x, y],
        )
        redness.append(r - b)
    assert np.corrcoef(shares[rows], redness)[0, 1] > 0.5


def test_the_choice_of_maps_is_made_by_the_reader(show, file):
    page = show(file)
    page.locator("#colour").select_option("moved")
    page.wait_for_selector("#change[data-state=done]")
    page.locator("#against").select_option("random")
    until(page, "() => document.querySelector('#changed').textContent.includes('random')")
    assert "against=random" in page.evaluate("location.hash")
    page.locator("#colour").select_option("none")
    assert page.locator("#change").is_hidden()


COUNT = """() => { window.frames_ = new Set(); const old = CanvasRenderingContext2D.prototype.putImageData;
  CanvasRenderingContext2D.prototype.putImageData = function (image, ...more) {
    if (this.canvas.closest('#large')) { let s = 0;
      for (let i = 3; i < image.data.length; i += 4) s = (s * 31 + image.data[i]) | 0;
      window.frames_.add(s); }
    return old.call(this, image, ...more); }; }"""


def test_rows_glide_from_one_map_to_the_other(show, file):
    page = show(file, painter="canvas")
    compared(page)
    still = inked(page)
    page.evaluate(COUNT)
    page.locator("#play").click()
    until(page, "() => window.frames_.size >= 3")  # at least two pictures between the maps
    page.wait_for_selector(READY)
    assert inked(page) == still  # and at the end the map itself


def test_by_webgl_too_the_map_is_itself_at_the_end(show, file):
    page = show(file)
    still = inked(page)
    other = page.locator("#others .pick").first
    name = other.text_content()
    other.click()
    page.wait_for_selector(READY)
    assert page.locator("#large .pick").text_content() == name
    page.locator("#others .pick").filter(has_text="one" if name != "one" else "two").click()
    page.wait_for_selector(READY)
    compared(page)
    page.locator("#colour").select_option("none")
    page.wait_for_selector(READY)
    np.testing.assert_allclose(sorted(inked(page))[-1], sorted(still)[-1], rtol=0.5)


def test_nothing_glides_where_little_motion_is_asked_for(show, file):
    page = show(file, painter="canvas", reduced_motion="reduce")
    page.evaluate(COUNT)
    page.locator("#others .pick").first.click()
    page.wait_for_selector(READY)
    assert page.evaluate("window.frames_.size") == 1
    compared(page)
    assert page.locator("#play").is_hidden()

"""The page of `lowdim view` in a real browser: density, points, linked rows and loops; nothing leaves this machine."""

import re
import threading

import numpy as np
import pytest

from lowdim.app.serving.answers import Answers
from lowdim.app.serving.server import StudyServer
from lowdim.report.render import render
from lowdim.report.tiles import Atlas, Colour, Places, Scatter, write
from lowdim.report.view_page import view_page
from tests.report.browser import MARKUP, READY, canvas, inked
from tests.report.tiles.decoded import unit

N = 30_000


@pytest.fixture(scope="module")
def points():
    """Two clumps in the first map, which are mixed in the second."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, N)
    first = rng.normal(size=(N, 2)) * 0.5 + np.where(codes, 2.0, -2.0)[:, None]
    first[:2] = [-8.0, 3.0], [8.0, -3.0]  # alone, where a pointer cannot miss them
    second = rng.normal(size=(N, 2))
    colours = [Colour(MARKUP, codes, [MARKUP, "plain"]), Colour("amount", first[:, 0])]
    names = [f"<i>{i}</i>" for i in range(N)]
    return Scatter(MARKUP, [Places(MARKUP, first), Places("mixed", second)], np.arange(N), colours, names)


@pytest.fixture(scope="module")
def address(points, c, tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    (folder / "report.html").write_text(render(c, title="a report"), encoding="utf-8")
    atlas = Atlas(write(points, folder / "points.tiles"))
    with serving(atlas, folder) as found:
        yield found


class serving:
    """The address of a server that runs as long as the `with` block."""

    def __init__(self, atlas, folder):
        self.server = StudyServer(Answers(atlas, view_page(atlas.about()["title"]), folder))

    def __enter__(self):
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self.thread.start()
        return self.server.address

    def __exit__(self, *error):
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def visit(start, address):
    """Opens the page and watches it; at the end nothing may have gone wrong or out."""
    contexts, wrong = [], []

    def visit(where=address, more=(), **settings):
        context = start(*more).new_context(**{"viewport": {"width": 1280, "height": 900}, **settings})
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda m: wrong.append(m.text) if m.type == "error" else None)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("dialog", lambda dialog: wrong.append("a dialog opened"))
        own = (where, f"blob:{where.rsplit('/', 2)[0]}")
        page.on("request", lambda r: None if r.url.startswith(own) else wrong.append(r.url))
        page.goto(where)
        page.wait_for_selector(READY)
        return page

    yield visit
    for context in contexts:
        context.close()
    assert wrong == []


def spot(page, points, k, row):
    """Where a row is on the screen, from its coordinates alone, with the whole map in view."""
    box = canvas(page, k).bounding_box()
    u, v = unit(points.maps[k].xy)[row] - 0.5
    span = min(box["width"], box["height"]) - 28
    return box["x"] + box["width"] / 2 + u * span, box["y"] + box["height"] / 2 - v * span


def shown(page):
    return page.locator("#shown").text_content()


def wheel(page, at, by, times=1):
    page.mouse.move(*at)
    for _ in range(times):
        page.mouse.wheel(0, by)
        page.wait_for_timeout(20)
    page.wait_for_selector(READY)


@pytest.mark.parametrize("more", [(), ("--disable-3d-apis",)])
def test_density_shows_every_row(visit, points, more):
    page = visit(more=more)
    assert page.title() == MARKUP
    assert shown(page) == f"{MARKUP}: all 30,000 rows; density of all of them."
    assert all(count > 300 for count in inked(page)), inked(page)
    for k, row in [(0, 0), (0, 1), (1, 5)]:
        x, y = spot(page, points, k, row)
        box = canvas(page, k).bounding_box()
        found = page.evaluate(
            "([k, x, y]) => Math.max(...[...document.querySelector(`canvas[data-map='${k}']`).getContext('2d')"
            ".getImageData(Math.round(x) - 2, Math.round(y) - 2, 5, 5).data].filter((_, i) => i % 4 === 3))",
            [k, x - box["x"], y - box["y"]],
        )
        assert found > 50, (k, row)


def test_a_row_is_shown_in_all_maps(visit, points):
    page = visit()
    page.mouse.move(*spot(page, points, 0, 1))
    page.wait_for_selector("#tip.on")
    text = page.locator("#tip").inner_text()
    assert text.startswith("<i>1</i> (row 1)")
    assert "amount" in text
    assert all(count > 20 for count in inked(page, layer=1))
    page.mouse.move(2, 2)
    page.wait_for_selector("#tip:not(.on)", state="attached")
    assert inked(page, layer=1) == [0, 0]


def test_points_come_with_the_zoom(visit, points):
    page = visit()
    assert canvas(page, 0).get_attribute("data-kind") == "density"
    wheel(page, spot(page, points, 0, 1), -400, 5)
    found = re.search(r": ([\d,]+) of 30,000 rows around the view; each drawn as a point\.$", shown(page))
    assert found, shown(page)
    assert int(found[1].replace(",", "")) < 16_000
    assert canvas(page, 0).get_attribute("data-kind") == "points"
    box = canvas(page, 0).bounding_box()
    page.mouse.move(box["x"] + 40, box["y"] + 40)
    page.mouse.down()
    page.mouse.move(box["x"] + 240, box["y"] + 140, steps=4)
    page.mouse.up()
    page.wait_for_selector(READY)
    page.locator("#large .zoom button").nth(2).click()
    page.wait_for_selector(READY)
    assert "density of all of them" in shown(page)


def test_the_share_of_a_sample_is_stated(visit):
    page = visit()
    page.select_option("#draw", "points")
    page.locator("#shown", has_text="sample").wait_for()
    page.wait_for_selector(READY)
    assert shown(page).endswith("all 30,000 rows; a random sample: 15,000 points, one row in 2, 50 %.")
    assert [canvas(page, k).get_attribute("data-kind") for k in range(2)] == ["points", "points"]


def test_a_loop_marks_rows_in_all_maps(visit, points):
    page = visit()
    before = canvas(page, 1).screenshot()
    box = canvas(page, 0).bounding_box()
    middle, span = box["x"] + box["width"] / 2, min(box["width"], box["height"]) - 28
    top, bottom, right = box["y"] + 2, box["y"] + box["height"] - 2, middle + span * 0.55
    corners = [(middle, top), (right, top), (right, bottom), (middle, bottom)]
    page.keyboard.down("Shift")
    page.mouse.move(*corners[0])
    page.mouse.down()
    for corner in [*corners[1:], corners[0]]:
        page.mouse.move(*corner, steps=8)
    page.mouse.up()
    page.keyboard.up("Shift")
    page.locator("#count", has_text="marked").wait_for()
    page.wait_for_selector(READY)
    count = int(page.locator("#count").text_content().split(" of ")[0].replace(",", ""))
    assert abs(count - (unit(points.maps[0].xy)[:, 0] > 0.5).sum()) < 0.01 * N
    page.mouse.move(2, 2)
    assert canvas(page, 1).screenshot() != before
    page.keyboard.press("Escape")
    page.wait_for_selector(READY)
    assert page.locator("#selection").is_hidden()
    assert canvas(page, 1).screenshot() == before


def test_classes_and_quantities_colour_the_maps(visit, points):
    page = visit()
    chips = page.locator("#legend button")
    assert chips.all_inner_texts() == [MARKUP, "plain"]
    chips.nth(1).click()
    page.locator("#count", has_text="marked").wait_for()
    marked = (np.asarray(points.colours[0].values) == 1).sum()
    assert page.locator("#count").text_content() == f"{marked:,} of 30,000 rows marked"
    page.select_option("#colour", label="amount")
    page.wait_for_selector(READY)
    assert page.locator("#selection").is_hidden()
    assert page.locator("#legend .bar").count() == 1
    assert page.locator("#colour option").all_inner_texts() == [MARKUP, "amount", "none"]


def test_small_maps_are_enlarged_by_mouse_and_keys(visit):
    page = visit()
    canvas(page, 1).click()
    page.wait_for_selector(READY)
    assert page.locator("#large .pick").inner_text() == "mixed"
    page.locator("#large .pick").focus()
    page.keyboard.press("ArrowRight")
    assert page.locator("#large .pick").inner_text() == MARKUP
    page.locator("#large canvas[data-map]").focus()
    for key in ("+", "+", "+", "ArrowLeft", "ArrowUp"):
        page.keyboard.press(key)
    page.wait_for_selector(READY)
    assert "around the view" in shown(page) or "all" in shown(page)
    page.keyboard.press("0")
    page.wait_for_selector(READY)
    assert "all 30,000 rows" in shown(page)


def test_a_row_is_found_by_name(visit):
    page = visit()
    page.fill("#find", "<i>777</i>")
    page.keyboard.press("Enter")
    page.locator("#found", has_text="row").wait_for()
    assert page.locator("#found").text_content() == "<i>777</i> (row 777)"
    assert inked(page, layer=1)[0] > 20


def test_the_report_opens_from_the_page(visit, address):
    page = visit()
    page.locator("#files a").first.click()
    page.wait_for_selector("canvas[data-painter]")
    assert page.url == f"{address}report.html"
    assert page.title() == "a report"


@pytest.mark.parametrize("settings", [{"color_scheme": "dark"}, {"viewport": {"width": 400, "height": 800}}])
def test_dark_and_narrow_pages(visit, settings):
    page = visit(**settings)
    assert all(count > 200 for count in inked(page))
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.deep
def test_a_million_rows(visit, tmp_path):
    """Moves and zooms without waiting for a whole second, and says what it shows; frame times are in the docs."""
    rng = np.random.default_rng(0)
    n = 1_000_000
    codes = rng.integers(0, 10, n)
    maps = [Places(f"m{k}", rng.normal(size=(10, 2))[codes] * 4 + rng.normal(size=(n, 2))) for k in range(4)]
    given = Scatter("million", maps, np.arange(n), [Colour("class", codes, [str(k) for k in range(10)])])
    with serving(Atlas(write(given, tmp_path / "t")), None) as where:
        page = visit(where)
        assert shown(page) == "m0: all 1,000,000 rows; density of all of them."
        page.evaluate("""() => { window.frames_ = 0; const f = () => { window.frames_++; requestAnimationFrame(f); };
          requestAnimationFrame(f); }""")
        box = canvas(page, 0).bounding_box()
        middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        wheel(page, middle, -100, 8)
        page.mouse.down()
        for k in range(30):
            page.mouse.move(middle[0] + 5 * k, middle[1] + 2 * k)
        page.mouse.up()
        page.wait_for_selector(READY)
        assert page.evaluate("window.frames_") > 10
        wheel(page, middle, -400, 8)
        assert "each drawn as a point" in shown(page)

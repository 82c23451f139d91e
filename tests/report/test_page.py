"""The page in a real browser: maps draw, rows are found in all of them, loops mark, and nothing leaves the page."""

from dataclasses import replace

import numpy as np
import pytest

import lowdim
from lowdim.report.render import render
from lowdim.study.labels import labels_of
from lowdim.study.verdict import Verdict
from tests._core.runtime.clocks import descendants
from tests.report.browser import LEFT, MARKUP, READY, canvas, colours, frames, inked, loop, n_marked, spot, unit


@pytest.mark.parametrize(
    ("more", "painter", "kind"),
    [
        ((), "webgl", "webgl"),
        ((), "canvas", "canvas"),
        (("--disable-3d-apis",), "webgl", "canvas"),
        (("--disable-3d-apis",), "", "canvas"),
    ],
)
def test_maps_draw_with_and_without_webgl(show, more, painter, kind):
    page = show(more=more, painter=painter)
    kinds = [canvas.get_attribute("data-painter") for canvas in page.locator("canvas[data-map]").all()]
    assert kinds == [kind] * 3
    assert all(300 < count < 90_000 for count in inked(page)), inked(page)
    for found in colours(page):
        assert len([key for key, count in found.items() if count > 50]) >= 2  # both classes are seen


def test_both_painters_make_the_same_picture(show):
    gl, raster = show(), show(painter="canvas")
    np.testing.assert_allclose(inked(raster), inked(gl), rtol=0.25)


def test_a_lost_context_is_replaced(show):
    keep = """const get = HTMLCanvasElement.prototype.getContext;
      HTMLCanvasElement.prototype.getContext = function (kind, ...more) {
        const made = get.call(this, kind, ...more);
        if (kind === "webgl") window.kept = made;
        return made; };"""
    page = show(script=keep)
    before = inked(page)
    page.evaluate("window.kept.getExtension('WEBGL_lose_context').loseContext()")
    page.wait_for_selector("canvas[data-painter=canvas]")
    page.wait_for_selector(READY)
    np.testing.assert_allclose(inked(page), before, rtol=0.25)


def test_marks_are_where_the_numbers_say(show, c):
    page = show()
    for k, name in enumerate(c.aligned()):
        box = canvas(page, k).bounding_box()
        for row in (0, 17, 123):
            x, y = spot(page, c, name, row)
            alpha = page.evaluate(
                "([k, x, y]) => document.querySelector(`canvas[data-map='${k}']`).getContext('2d')"
                ".getImageData(Math.floor(x), Math.floor(y), 1, 1).data[3]",
                [k, x - box["x"], y - box["y"]],
            )
            assert alpha > 100, (name, row)


def test_hover_shows_the_row_in_all_maps(show, c):
    page = show()
    assert inked(page, layer=1) == [0, 0, 0]
    page.mouse.move(*spot(page, c, "isomap", 42))
    assert page.locator("#tip.on strong").text_content().startswith("<i>")
    assert all(count > 20 for count in inked(page, layer=1))
    text = page.locator("#tip").inner_text()
    for part in ("width", "depth", "quality in isomap", MARKUP):
        assert part in text
    page.mouse.move(2, 2)
    assert inked(page, layer=1) == [0, 0, 0]
    assert page.locator("#tip.on").count() == 0


def test_hover_finds_the_nearest_row_and_tells_its_values(show, c, roll):
    page = show()
    Z = unit(c.aligned()["isomap"])
    apart = np.sort(np.linalg.norm(Z[:, None] - Z[None], axis=2), axis=1)[:, 1]
    row = int(np.argmax(np.where(np.abs(Z).max(axis=1) < 0.45, apart, 0)))
    page.mouse.move(*spot(page, c, "isomap", row))
    assert page.locator("#tip strong").text_content() == f"<i>{row}</i> (row {row})"
    shown = page.locator("#tip dd").all_text_contents()
    assert float(shown[1].replace("−", "-")) == pytest.approx(roll.X[row, 0], rel=1e-4)


def test_a_loop_marks_the_same_rows_everywhere(show, c):
    page = show()
    before = inked(page)
    loop(page, 1, LEFT)
    inside = unit(c.aligned()["isomap"])[:, 0] < 0
    assert abs(n_marked(page) - inside.sum()) <= 2
    assert 50 < n_marked(page) < 250
    for after, full in zip(inked(page), before, strict=True):
        assert after > 0.9 * full  # grey, not gone
    grey = "13,13,13"
    for found in colours(page):
        # Marked and unmarked rows are both in sight in every map.
        assert found.get(grey, 0) > 100
        assert sum(count for key, count in found.items() if key != grey) > 100


def test_marked_rows_keep_their_colour_where_they_lie_in_other_maps(show, c):
    page = show()
    loop(page, 1, LEFT)
    inside = unit(c.aligned()["isomap"])[:, 0] < -0.02
    Z = unit(c.aligned()["pca"])
    near = np.linalg.norm(Z[:, None] - Z[None], axis=2)
    np.fill_diagonal(near, 9)
    alone = np.flatnonzero(near.min(axis=1) > 0.03)
    box = canvas(page, 0).bounding_box()
    seen = 0
    for row in alone[:60]:
        if abs(unit(c.aligned()["isomap"])[row, 0]) < 0.02:
            continue
        x, y = spot(page, c, "pca", row)
        r, g, b = page.evaluate(
            "([x, y]) => [...document.querySelector('canvas[data-map=\"0\"]').getContext('2d')"
            ".getImageData(Math.floor(x), Math.floor(y), 1, 1).data].slice(0, 3)",
            [x - box["x"], y - box["y"]],
        )
        assert (max(r, g, b) - min(r, g, b) > 60) == bool(inside[row]), row
        seen += 1
    assert seen > 5


def test_loops_add_and_take_away_and_escape_clears(show):
    page = show()
    loop(page, 1, LEFT)
    left = n_marked(page)
    loop(page, 1, [(0.0, -0.515), (0.515, -0.515), (0.515, 0.515), (0.0, 0.515)], keys=["Shift"])
    assert n_marked(page) == 300
    loop(page, 1, LEFT, keys=["Alt"])
    assert abs(n_marked(page) - (300 - left)) <= 2
    page.keyboard.press("Escape")
    page.wait_for_selector(READY)
    assert n_marked(page) == 0
    assert page.locator("#selection").is_hidden()
    loop(page, 0, LEFT)
    page.locator("#clear").click()
    assert n_marked(page) == 0


def test_a_class_is_marked_by_its_button(show, c):
    page = show()
    button = page.locator("#legend button").nth(1)
    assert button.text_content() == "plain"
    button.click()
    assert n_marked(page) == int((c.labels.codes == 1).sum())
    assert button.get_attribute("aria-pressed") == "true"
    button.click()
    assert n_marked(page) == 0


def test_marked_rows_are_saved(show, roll):
    page = show()
    canvas(page, 0).focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    assert n_marked(page) == 1
    assert "row 2" in page.locator("#say").text_content()
    with page.expect_download() as download:
        page.locator("#save").click()
    assert download.value.suggested_filename == "marked-rows.csv"
    with open(download.value.path(), encoding="utf-8") as file:
        head, line = file.read().splitlines()
    assert head == f'row,name,"{MARKUP}","width","{MARKUP}","depth"'
    assert line.startswith('2,"<i>2</i>","')
    np.testing.assert_allclose([float(cell) for cell in line.split(",")[-3:]], roll.X[2], rtol=1e-6)


def test_colour_by_column_and_quality(show):
    page = show()
    by_label = colours(page)
    assert page.locator("#colour optgroup[label=columns] option").all_text_contents() == ["width", MARKUP, "depth"]
    for choice in ("column:0", "quality", "none"):
        page.evaluate("document.documentElement.dataset.ready = 'false'")
        page.locator("#colour").select_option(choice)
        page.wait_for_selector(READY)
        found = colours(page)
        assert found != by_label
        assert (len(found[0]) < 12) == (choice == "none")
        assert page.locator("#legend .bar").count() == (choice != "none")


def test_the_table_sorts(show, c):
    page = show()
    names = lambda: [t.split(" ")[0] for t in page.locator("table.scores tbody th").all_text_contents()]  # noqa: E731
    assert names() == ["pca", "isomap", "random", "data"]
    head = page.locator("table.scores thead th").nth(3)
    head.locator("button").focus()
    page.keyboard.press("Enter")
    order = sorted(c.names, key=lambda name: -c.scores[name]["auc"])
    assert names() == [*order, "data"]
    assert head.get_attribute("aria-sort") == "descending"
    page.keyboard.press("Enter")
    assert names() == [*order[::-1], "data"]
    assert head.get_attribute("aria-sort") == "ascending"
    page.keyboard.press("Enter")
    assert names() == ["pca", "isomap", "random", "data"]
    assert head.get_attribute("aria-sort") is None


def test_curves_are_read_off(show, c):
    page = show()
    chart = page.locator(".chart > svg")
    chart.scroll_into_view_if_needed()
    chart.focus()
    page.keyboard.press("ArrowRight")
    text = page.locator("#say").text_content()
    assert text.startswith("K 1: ")
    assert f"isomap {c.curves['isomap'][0]:.3f}" in text
    box = chart.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 100)
    assert page.locator("#tip.on strong").text_content().startswith("K = ")
    assert page.locator(".guide circle").count() == 3


def test_markup_in_names_is_text(show):
    page = show()
    assert page.locator("h1").text_content() == MARKUP
    assert page.locator("img, main b, #tip i").count() == 0
    assert page.locator("#legend button").nth(0).text_content() == MARKUP
    assert page.title() == MARKUP


def test_zoom_shows_less_and_returns(show, c):
    page = show()
    canvas(page, 1).focus()
    full = inked(page)
    for _ in range(4):
        page.evaluate("document.documentElement.dataset.ready = 'false'")
        page.keyboard.press("+")
        page.wait_for_selector(READY)
    assert inked(page)[1] != full[1]
    assert [inked(page)[0], inked(page)[2]] == [full[0], full[2]]
    page.evaluate("document.documentElement.dataset.ready = 'false'")
    page.keyboard.press("0")
    page.wait_for_selector(READY)
    assert inked(page) == full


def test_dark_and_narrow(show):
    dark = show(color_scheme="dark")
    ground = dark.evaluate("getComputedStyle(document.body).backgroundColor")
    assert max(int(part) for part in ground[4:-1].split(",")) < 60
    assert all(count > 300 for count in inked(dark))
    phone = show(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    assert phone.evaluate("document.documentElement.scrollWidth") <= 390
    assert all(count > 300 for count in inked(phone))


def test_a_finger_shows_a_row_and_draws_only_when_told(show, c):
    page = show(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    canvas(page, 1).scroll_into_view_if_needed()
    page.touchscreen.tap(*spot(page, c, "isomap", 42))  # a small map: this makes it large
    assert page.locator("#large .pick").text_content() == "isomap"
    page.wait_for_selector(READY)
    canvas(page, 1).evaluate("found => found.scrollIntoView({block: 'center'})")
    frames(page)  # scrolling hides what a finger pointed at
    page.touchscreen.tap(*spot(page, c, "isomap", 42))
    assert page.locator("#tip.on strong").count() == 1
    assert all(count > 20 for count in inked(page, layer=1))
    assert n_marked(page) == 0
    action = "getComputedStyle(document.querySelector('canvas[data-map]')).touchAction"
    assert page.evaluate(action) == "auto"
    page.locator("#finger").click()
    assert page.evaluate(action) == "none"


def test_rows_without_a_place_and_lines(show, tmp_path, roll):
    from sklearn.base import BaseEstimator

    class Half(BaseEstimator):
        def fit_transform(self, X, y=None):
            Z = X[:, :1].copy()
            Z[:100] = np.nan
            return Z

    class Fail(BaseEstimator):
        def fit_transform(self, X, y=None):
            raise RuntimeError("no")

    file = tmp_path / "half.html"
    c = lowdim.compare(roll.X, methods=["pca", ("half", Half()), ("failed", Fail())])
    file.write_text(render(c), encoding="utf-8")
    page = show(file)
    loop(page, 1, [(-0.515, -0.515), (0.515, -0.515), (0.515, 0.515), (-0.515, 0.515)])
    assert n_marked(page) == 200
    page.keyboard.press("Escape")
    canvas(page, 1).focus()
    page.keyboard.press("ArrowRight")
    assert page.locator("#tip strong").text_content() == "row 0: not in this map"
    for _ in range(2):  # both ways round, what failed is last
        page.locator("table.scores thead th button").nth(3).click()
        assert page.locator("table.scores tbody th").last.text_content() == "failed"
    page.locator("table.scores thead th button").last.click()
    assert page.locator("table.scores thead th").last.get_attribute("aria-sort") == "ascending"


def enlarged(c, n):
    """The same comparison with n rows: those there are, again and again, a little apart."""
    rng = np.random.default_rng(0)
    pick = rng.integers(0, c.n_rows, n)
    outcomes = tuple(
        replace(o, embedding=o.embedding[pick] + rng.normal(scale=o.embedding.std() / 10, size=(n, 2)))
        for o in c.outcomes
    )
    scored = {name: replace(s, per_row=s.per_row[pick]) for name, s in c.scored.items()}
    labels = labels_of(np.asarray(c.labels.values)[pick], n, c.labels.name, "test")
    return replace(
        c, outcomes=outcomes, scored=scored, rows_scored=np.ones(n, bool), labels=labels, row_names=None,
        verdict=Verdict(), evidence=None,
        data_copy=replace(c.data_copy, values=c.data_copy.values[pick], neighbors=None),
    )  # fmt: skip


@pytest.mark.parametrize(("n", "seconds"), [(100_000, 10), pytest.param(1_000_000, 60, marks=pytest.mark.deep)])
def test_many_rows_do_not_hold_the_page_up(show, c, tmp_path, n, seconds):
    large = enlarged(c, n)
    file = tmp_path / "large.html"
    file.write_text(render(large, max_points=n, data=np.ones((n, 3))), encoding="utf-8")
    before = descendants()
    page = show(file, painter="")
    assert all(count > 3_000 for count in inked(page)), inked(page)
    page.mouse.move(*spot(page, large, "isomap", 42))
    page.wait_for_selector("#tip.on")
    loop(page, 1, LEFT)
    assert descendants() - before < seconds  # of the browser's processor time
    inside = unit(large.aligned()["isomap"])[:, 0] < 0
    assert abs(n_marked(page) - inside.sum()) < 0.01 * n

"""Rows as images, rows by value, names of groups on the map, and colours that the page computes."""

import csv
import io

import numpy as np
import pytest
from sklearn.datasets import load_digits

import lowdim
from lowdim.report.images import images
from lowdim.report.render import render
from tests.report.browser import READY, canvas, n_marked, spot, until


@pytest.fixture(scope="module")
def digits():
    found = load_digits()
    return found.data[:300], found.target[:300]


@pytest.fixture(scope="module")
def maps(digits):
    X, y = digits
    return lowdim.compare(X, y.astype(str), ["pca"], random_state=0, verdict=False, label_name="digit")


@pytest.fixture(scope="module")
def file(maps, digits, tmp_path_factory):
    path = tmp_path_factory.mktemp("digits") / "report.html"
    X = digits[0]
    path.write_text(render(maps, data=X, columns=load_digits().feature_names), encoding="utf-8")
    return path


PIXELS = """found => { const data = found.getContext('2d').getImageData(0, 0, found.width, found.height).data;
  return [found.width, found.height, [...data].filter((_, k) => k % 4 === 0)]; }"""


def test_pointing_at_a_row_shows_its_image(show, file, maps, digits):
    page = show(file)
    page.mouse.move(*spot(page, maps, "pca", 7))
    page.wait_for_selector("#tip.on .image")
    row = int(page.locator("#tip strong").text_content().split()[-1])
    width, height, pixels = page.locator("#tip .image").evaluate(PIXELS)
    assert (width, height) == (8, 8)
    np.testing.assert_allclose(pixels, digits[0][row] * 255 / 16, atol=0.51)
    assert page.locator("#tip .image").bounding_box()["width"] == 64


def test_the_table_of_marked_rows_has_images(show, file, digits):
    page = show(file)
    page.locator("#legend button").nth(3).click()
    page.wait_for_selector("#picked-rows .image")
    assert page.locator("#picked-rows .image").count() == int((digits[1] == 3).sum())
    row = int(page.locator("#picked-rows tbody th").first.text_content())
    np.testing.assert_allclose(
        page.locator("#picked-rows .image").first.evaluate(PIXELS)[2], digits[0][row] * 255 / 16, atol=0.51
    )


def test_images_are_known_by_their_shape_or_by_names_and_large_ones_shrink(maps, digits):
    X, rows = digits[0], np.arange(300)
    shaped = images(maps, X, [], (8, 8), rows)
    named = images(maps, X, [f"pixel_{i}_{j}" for i in range(1, 9) for j in range(1, 9)], None, rows)
    assert shaped == named
    assert images(maps, X, [f"x{k}" for k in range(64)], None, rows) is None
    assert images(maps, X, [f"pixel_{i}_{j}" for i in range(8) for j in range(8)][:63], None, rows) is None
    colours = np.tile(np.arange(3.0) * 100, (300, 100 * 100))
    large = images(maps, colours, [], (100, 100, 3), rows)
    assert large["channels"] == 3
    assert len(large["values"]) < 4_000_000
    with pytest.raises(ValueError, match=r"report: image_shape must fit data with 300 rows of 81 pixels; got data of"):
        images(maps, X, [], (9, 9), rows)
    with pytest.raises(ValueError, match="report: image_shape must be"):
        images(maps, X, [], (64,), rows)


BOXES = """() => [...document.querySelectorAll('.names span')].map(span => { const b = span.getBoundingClientRect();
  return [span.textContent, b.left, b.top, b.right, b.bottom]; })"""


def overlapping(boxes):
    return [
        (a[0], b[0])
        for k, a in enumerate(boxes)
        for b in boxes[:k]
        if min(a[3], b[3]) > max(a[1], b[1]) and min(a[4], b[4]) > max(a[2], b[2])
    ]


def test_names_of_groups_never_overlap_and_zooming_in_shows_more(show, tmp_path):
    """Forty groups on a small part of the map, and one far away."""
    rng = np.random.default_rng(0)
    codes = np.repeat(np.arange(41), 8)
    centres = np.column_stack([np.arange(40) % 8, np.arange(40) // 8]) * 0.9
    Z = np.vstack([centres, [60, 60]])[codes] + 0.1 * rng.standard_normal((len(codes), 2))
    labels = np.array([f"a rather long name {k}" for k in range(41)])[codes]
    c = lowdim.compare(Z, labels, {"given": Z}, random_state=0, verdict=False)
    file = tmp_path / "names.html"
    file.write_text(render(c), encoding="utf-8")
    page = show(file)
    page.locator("#others .pick, #large .pick").filter(has_text="given").click()
    page.wait_for_selector(READY)
    few = page.evaluate(BOXES)
    assert 2 <= len(few) < 20
    assert not overlapping(few)
    box = canvas(page, 0).bounding_box()
    for name, left, top, right, bottom in few:
        assert box["x"] <= left <= right <= box["x"] + box["width"], name
        assert box["y"] <= top <= bottom <= box["y"] + box["height"], name
    page.evaluate("hash => { location.hash = hash }", "map=given&colour=label&truth=0&view=9,-0.44,-0.46")
    until(page, "few => document.querySelectorAll('.names span').length > few", len(few))
    page.wait_for_selector(READY)
    more = page.evaluate(BOXES)
    assert not overlapping(more)
    assert {each[0] for each in more} - {each[0] for each in few}
    page.locator("#names").click()
    page.wait_for_selector(READY)
    assert page.evaluate(BOXES) == []


def test_the_name_of_a_single_row_does_not_cover_it(show, tmp_path):
    """One row in the middle, and one at the edge, where there is room at one side alone."""
    rng = np.random.default_rng(0)
    Z = np.vstack([rng.uniform(-0.6, -0.3, (30, 2)), [[0.0, 0.0]], [[1.0, -0.4]]])
    labels = np.array(["many"] * 30 + ["alone", "at the edge"])
    file = tmp_path / "alone.html"
    c = lowdim.compare(Z, labels, {"given": Z}, random_state=0, verdict=False)
    file.write_text(render(c), encoding="utf-8")
    page = show(file)
    page.locator("#others .pick, #large .pick").filter(has_text="given").click()
    page.wait_for_selector(READY)
    boxes = {name: box for name, *box in page.evaluate(BOXES)}
    assert set(boxes) == {"many", "alone", "at the edge"}
    for row, name in ((30, "alone"), (31, "at the edge")):
        x, y = spot(page, c, "given", row)
        left, top, right, bottom = boxes[name]
        assert not (left < x < right and top < y < bottom), name


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("pixel_3_4 > 12", lambda X, y: X[:, 28] > 12),
        ("PIXEL_3_4<=3", lambda X, y: X[:, 28] <= 3),
        ("pixel_3_4 = 16", lambda X, y: X[:, 28] == 16),
        ("pixel_3_4 != 16", lambda X, y: X[:, 28] != 16),
        ("digit = 7", lambda X, y: y == 7),
        ("digit != 7", lambda X, y: y != 7),
        ("no such column > 3", lambda X, y: y < 0),
    ],
)
def test_rows_are_found_by_a_value(show, file, digits, question, rows):
    page = show(file)
    page.locator("#find").fill(question)
    wanted = int(rows(*digits).sum())
    assert page.locator("#found").text_content().startswith(f"{wanted} found")
    page.keyboard.press("Enter")
    assert n_marked(page) == wanted


def test_colours_by_stress_show_where_distances_are_wrong(show, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 3))
    Z = X[:, :2].copy()
    Z[:6] += [4, -4]  # rows that lie where they do not belong
    c = lowdim.compare(X, None, {"given": Z}, random_state=0, verdict=False)
    file = tmp_path / "stress.html"
    file.write_text(render(c), encoding="utf-8")
    page = show(file)
    page.locator("#colour").select_option("stress")
    page.wait_for_selector(READY)
    D, d = (np.linalg.norm(A[:, None] - A[None], axis=2) for A in (X, Z))
    unit = (D * d).sum() / (d * d).sum()
    share = ((unit * d - D) ** 2).sum(axis=1)
    share /= share.mean()
    assert share[2] > 3  # so it has the last colour
    k = list(c.aligned()).index("given")

    def colour_of(row):
        page.locator("#others .pick, #large .pick").filter(has_text="given").click()
        page.wait_for_selector(READY)
        x, y = spot(page, c, "given", row)
        box = canvas(page, k).bounding_box()
        return canvas(page, k).evaluate(
            "(c, [x, y]) => [...c.getContext('2d').getImageData(Math.floor(x), Math.floor(y), 1, 1).data].slice(0, 3)",
            [x - box["x"], y - box["y"]],
        )

    until(
        page,
        """() => { const c = document.querySelector('#large canvas'), seen = new Set();
        const data = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
        for (let i = 0; i < data.length; i += 4) if (data[i + 3] > 200) seen.add(data[i] >> 5);
        return seen.size > 1; }""",
    )
    page.wait_for_selector(READY)
    r, g, b = colour_of(2)
    np.testing.assert_allclose([r, g, b], [0xDC, 0xC5, 0x22], atol=12)  # the end of the ramp


def test_every_colour_that_is_offered_can_be_shown_and_saved(show, maps, digits, tmp_path):
    X = digits[0]
    file = tmp_path / "colours.html"
    fracture = np.linspace(0, 1, 300)
    maps.report(file, data=X, colours={"fracture": fracture}, image_shape=(8, 8))
    page = show(file)
    options = page.locator("#colour option").evaluate_all("all => all.map(o => o.value)")
    assert {"label", "quality", "stress", "moved", "none"} <= set(options)
    assert "fracture" in page.locator("#colour option").all_text_contents()
    for value in [*options[:6], options[-1]]:
        page.locator("#colour").select_option(value)
        page.wait_for_selector(READY)
        with page.expect_download() as saved:
            page.locator("#svg").click()
        assert "<svg" in saved.value.path().read_text(encoding="utf-8")
    page.locator("#find").fill("digit = 3")
    page.keyboard.press("Enter")
    with page.expect_download() as saved:
        page.locator("#save").click()
    table = list(csv.reader(io.StringIO(saved.value.path().read_text(encoding="utf-8"))))
    assert len(table) == 1 + int((digits[1] == 3).sum())

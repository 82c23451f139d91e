"""Many rows under the pointer: what the page paints from layers made ahead is what it would paint mark by mark."""

import base64

import numpy as np
import pytest

import lowdim
from tests.report.browser import READY, frames

N = 10_500  # more than `CROWDED` in web/src/marks.ts


@pytest.fixture(scope="module")
def crowd(tmp_path_factory):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, N)
    X = rng.normal(size=(3, 4))[codes] * 4 + rng.normal(size=(N, 4))
    maps = {"first": X[:, :2], "second": X[:, 2:]}
    c = lowdim.compare(X, None, maps, verdict=False, anchors=100, random_state=0)
    return c.report(tmp_path_factory.mktemp("crowd") / "report.html", data=X)


def pictures(page):
    """Every map, as colours times cover: what has no cover has no colour."""
    found = page.evaluate(
        """() => [...document.querySelectorAll("canvas[data-map]")].sort((a, b) => a.dataset.map - b.dataset.map)
          .map(canvas => {
            const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
            let text = "";
            for (let i = 0; i < data.length; i += 8192) text += String.fromCharCode(...data.subarray(i, i + 8192));
            return [canvas.width, canvas.height, btoa(text)]; })"""
    )
    made = []
    for width, height, text in found:
        image = np.frombuffer(base64.b64decode(text), np.uint8).reshape(height, width, 4).astype(float)
        made.append(np.dstack([image[..., :3] * image[..., 3:] / 255, image[..., 3]]))
    return made


def seen(show, crowd, painter, across):
    """The maps at rest, the row at a place of the large map, and the maps when it is pointed at."""
    page = show(crowd, painter=painter, viewport={"width": 1100, "height": 900})
    large = page.locator("#large canvas[data-map]")
    large.scroll_into_view_if_needed()
    assert large.get_attribute("data-painter") == painter
    box, rest = large.bounding_box(), pictures(page)
    page.mouse.move(box["x"] + across * box["width"], box["y"] + box["height"] / 2)
    page.wait_for_selector(READY)
    frames(page)
    return rest, page.locator("#tip strong").text_content(), pictures(page)


def apart(first, second):
    """The mean difference of colours, of 255, where there are any, in squares of 8 pixels."""
    height, width = (8 * (side // 8) for side in first.shape[:2])
    a, b = (
        each[:height, :width].reshape(height // 8, 8, width // 8, 8, 4).mean(axis=(1, 3)) for each in (first, second)
    )
    inked = (a[..., 3] > 8) | (b[..., 3] > 8)
    assert inked.sum() > 100
    return float(np.abs(a - b)[inked].mean())


def test_layers_look_like_marks_one_by_one(show, crowd):
    rest, row, in_layers = seen(show, crowd, "canvas", 0.5)
    as_well, same, one_by_one = seen(show, crowd, "webgl", 0.5)
    _, other, elsewhere = seen(show, crowd, "webgl", 0.7)
    assert row == same != other
    # At rest both painters paint mark by mark: that much they differ by the edges of marks.
    for a, b, c, d in zip(in_layers, one_by_one, rest, as_well, strict=True):
        assert apart(a, b) < 1.6 * apart(c, d) + 0.5
    assert apart(one_by_one[0], elsewhere[0]) > 3 * apart(in_layers[0], one_by_one[0])

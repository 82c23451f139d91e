"""Many rows under the pointer: what the page paints from layers made ahead is what it would paint mark by mark."""

import numpy as np
import pytest

import lowdim
from tests.report.browser import READY, frames, until

N = 21_000  # more than `CROWDED` in web/src/marks.ts


@pytest.fixture(scope="module")
def crowd(tmp_path_factory):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, N)
    X = rng.normal(size=(3, 4))[codes] * 4 + rng.normal(size=(N, 4))
    maps = {"first": X[:, :2], "second": X[:, 2:]}
    c = lowdim.compare(X, None, maps, verdict=False, random_state=0)
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
    import base64

    made = []
    for width, height, text in found:
        image = np.frombuffer(base64.b64decode(text), np.uint8).reshape(height, width, 4).astype(float)
        made.append(np.dstack([image[..., :3] * image[..., 3:] / 255, image[..., 3]]))
    return made


def pointed(show, crowd, painter):
    page = show(crowd, painter=painter, viewport={"width": 1100, "height": 900})
    large = page.locator("#large canvas[data-map]")
    large.scroll_into_view_if_needed()
    box = large.bounding_box()
    until(page, "() => document.querySelector('#large canvas[data-map]').dataset.painter !== undefined")
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.wait_for_selector(READY)
    frames(page)
    tip = page.locator("#tip strong").text_content()
    assert large.get_attribute("data-painter") == painter
    return tip, pictures(page)


def test_layers_look_like_marks_one_by_one(show, crowd):
    tip, in_layers = pointed(show, crowd, "canvas")
    same, one_by_one = pointed(show, crowd, "webgl")
    assert tip == same  # the same row is pointed at
    for a, b in zip(in_layers, one_by_one, strict=True):
        inked = (a[..., 3] > 0) | (b[..., 3] > 0)
        assert inked.sum() > 5_000
        assert np.abs(a - b)[inked].mean() < 8  # of 255; another row's colours differ by more than 30

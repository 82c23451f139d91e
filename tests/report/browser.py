"""The page in Chromium: where things are, what was drawn, and loops by mouse."""

import os
import re

import pytest

HOW = "install the Python package playwright (no browser download) and a system package such as chromium"
ARGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
        "--disable-component-update", "--disable-sync"]  # fmt: skip
MARKUP = "<img src=x onerror=alert(1)><b>bold</b>"
READY = "html[data-ready=true]"


def missing(what):
    """In the pipeline these tests must run; elsewhere they say what they need."""
    if os.environ.get("CI", "").lower() == "true":
        pytest.fail(f"{what}: {HOW}")
    pytest.skip(f"{what}: {HOW}")


def canvas(page, k):
    """Map k, in the order of the comparison, wherever it stands."""
    return page.locator(f'canvas[data-map="{k}"]')


def inked(page, layer=0):
    """Per map, the number of pixels that are not empty; layer 1 is where rings and loops are drawn."""
    return page.evaluate(
        """layer => [...document.querySelectorAll("canvas[data-map]")].sort((a, b) => a.dataset.map - b.dataset.map)
          .map(found => {
          const canvas = layer ? found.nextElementSibling : found;
          const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
          let count = 0;
          for (let i = 3; i < data.length; i += 4) if (data[i] > 0) count++;
          return count; })""",
        layer,
    )


def colours(page):
    """Per map, the colours of well covered pixels, counted."""
    return page.evaluate(
        """() => [...document.querySelectorAll("canvas[data-map]")].sort((a, b) => a.dataset.map - b.dataset.map)
          .map(canvas => {
          const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data, found = {};
          for (let i = 0; i < data.length; i += 4) if (data[i + 3] > 200) {
            const key = [0, 1, 2].map(k => Math.round(data[i + k] / 16)).join();
            found[key] = (found[key] ?? 0) + 1;
          }
          return found; })"""
    )


def spot(page, c, name, row):
    """Where a row is on the screen, from the numbers of the comparison alone."""
    maps = c.aligned()
    Z = maps[name]
    low, high = Z.min(axis=0), Z.max(axis=0)
    u, v = (Z[row] - (low + high) / 2) / (high - low).max()
    box = canvas(page, list(maps).index(name)).bounding_box()
    span = min(box["width"], box["height"]) - 28
    return box["x"] + box["width"] / 2 + u * span, box["y"] + box["height"] / 2 - v * span


def unit(Z):
    low, high = Z.min(axis=0), Z.max(axis=0)
    return (Z - (low + high) / 2) / (high - low).max()


def loop(page, k, corners, keys=()):
    """Draws a closed loop through corners given in the unit box of map k, which is what the rows are stored in."""
    canvas(page, k).evaluate("found => found.scrollIntoView({block: 'center'})")
    box = canvas(page, k).bounding_box()
    span = min(box["width"], box["height"]) - 28
    points = [(box["x"] + box["width"] / 2 + u * span, box["y"] + box["height"] / 2 - v * span) for u, v in corners]
    for key in keys:
        page.keyboard.down(key)
    page.mouse.move(*points[0])
    page.mouse.down()
    for point in [*points[1:], points[0]]:
        page.mouse.move(*point, steps=5)
    page.mouse.up()
    for key in keys:
        page.keyboard.up(key)
    page.wait_for_selector(READY)


def frames(page):
    """Waits until what was asked for has been drawn: events of scrolling come before the next frame."""
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def point_at(page, inside, row):
    """Moves the pointer to a row of the large map by the numbers in the page itself."""
    canvas = inside.locator("#large canvas[data-map]")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    u, v = inside.evaluate(
        """row => {
          const packed = JSON.parse(document.getElementById("data").textContent);
          const text = packed.maps[+document.querySelector("#large canvas[data-map]").dataset.map].xy;
          const xy = new Float32Array(Uint8Array.from(atob(text), c => c.charCodeAt(0)).buffer);
          return [xy[2 * row], xy[2 * row + 1]]; }""",
        row,
    )
    span = min(box["width"], box["height"]) - 28
    page.mouse.move(box["x"] + box["width"] / 2 + u * span, box["y"] + box["height"] / 2 - v * span)


def until(page, condition, arg=None):
    """Waits until a function of the page is true. `wait_for_function` cannot: between polls it needs `eval`."""
    for _ in range(6_000):
        if page.evaluate(condition, arg):
            return
        page.wait_for_timeout(25)
    pytest.fail(f"not true within 150 s: {condition}")


def wait_marked(inside, k):
    """Waits until so many rows are marked; by a selector, as the page's policy lets nothing be evaluated from text."""
    inside.locator("#count", has_text=re.compile(rf"^{k} of ")).wait_for()


def n_marked(page):
    text = page.locator("#count").text_content()
    return int(text.split(" of ")[0].replace(",", "")) if text else 0


LEFT = [(-0.515, -0.515), (0.0, -0.515), (0.0, 0.515), (-0.515, 0.515)]


def packed(rows):
    """Marked rows as the address has them: runs, in base 36, each counted from the end of the one before."""
    digits = "0123456789abcdefghijklmnopqrstuvwxyz"

    def base36(value):
        return digits[value] if value < 36 else base36(value // 36) + digits[value % 36]

    runs, end, rows = [], 0, sorted(int(row) for row in rows)
    at = 0
    while at < len(rows):
        last = at
        while last + 1 < len(rows) and rows[last + 1] == rows[last] + 1:
            last += 1
        more = f"-{base36(rows[last] - rows[at])}" if last > at else ""
        runs.append(base36(rows[at] - end) + more)
        end, at = rows[last], last + 1
    return ".".join(runs)


def mark(page, name, rows, colour="none", more=""):
    """Opens a map with marked rows, as a link would."""
    page.evaluate("hash => { location.hash = hash }", f"map={name}&colour={colour}&truth=0&rows={packed(rows)}{more}")
    wait_marked(page, f"{len(set(rows)):,}")
    page.wait_for_selector(READY)

"""How soon the report shows what is true about a row, in a browser without a graphics card.

    python -m benchmarks.report_hover [--rows 10000 100000] [--scatter]

prints the table "Pointing at a row" of docs/benchmarks-page.md: the weight of the file, the time until all maps are
drawn, and from the moment the pointer moves onto a row until the large map, and all eight maps, show how far every row
truly is. The same made rows as `benchmarks.view_frames`, in 25 columns. `--scatter` adds the weight of jupyter-scatter,
and frames of its map of the same rows with WebGL in software, if installed. Chromium and playwright are needed.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import lowdim
from benchmarks.view_frames import SOFTWARE, SWIFTSHADER, frames, say

READY = "html[data-ready=true]"
N_MAPS = 8
WINDOW = {"width": 1400, "height": 1000}
# When each map was painted since the pointer moved, by the clock that events have.
LISTEN = """
window.hover = null;
const put = CanvasRenderingContext2D.prototype.putImageData;
CanvasRenderingContext2D.prototype.putImageData = function (...given) {
  put.apply(this, given);
  if (window.hover && this.canvas.dataset.map) window.hover.painted.push(performance.now());
};
addEventListener("pointermove", event => {
  window.hover = {at: event.timeStamp, painted: []};
  const hover = window.hover;
  new MutationObserver((_, watcher) => {
    if (document.documentElement.dataset.ready !== "true") return;
    watcher.disconnect();
    requestAnimationFrame(() => setTimeout(() => { hover.shown = performance.now(); }));
  }).observe(document.documentElement, {attributes: true});
}, true);
"""


def comparison(n: int) -> Any:
    """Ten clumps in 25 columns, in eight maps that are given."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 10, n)
    X = rng.normal(size=(10, 25))[codes] * 3 + rng.normal(size=(n, 25))
    maps = {
        f"map {k}": rng.normal(size=(10, 2))[codes] * 4 + rng.normal(size=(n, 2)) for k in range(N_MAPS - 2)
    }  # fmt: skip
    names = np.array([f"class {k}" for k in range(10)])
    return X, lowdim.compare(X, names[codes], maps, verdict=False, random_state=0)


def spots(c: Any, name: str, box: dict[str, float], count: int) -> list[tuple[float, float]]:
    """Where some rows of a map are on the screen."""
    Z = c.aligned()[name]
    low, high = Z.min(axis=0), Z.max(axis=0)
    at = (Z - (low + high) / 2) / (high - low).max() * (min(box["width"], box["height"]) - 28)
    middle = np.array([box["x"] + box["width"] / 2, box["y"] + box["height"] / 2])
    rows = np.random.default_rng(1).integers(0, len(Z), count)
    return [tuple(middle + each * [1, -1]) for each in at[rows]]


def hovers(page: Any, c: Any, count: int = 40) -> dict[str, np.ndarray]:
    """Milliseconds from the pointer to the large map, to all maps, and to the frame that shows them."""
    name = page.locator("#large .pick").text_content()
    page.locator("#large canvas[data-map]").evaluate("found => found.scrollIntoView({block: 'center'})")
    page.wait_for_timeout(2000)  # what is made ahead is made
    box = page.locator("#large canvas[data-map]").bounding_box()
    found: dict[str, list[float]] = {"large": [], "all": [], "shown": []}
    for x, y in spots(c, name, box, count):
        page.mouse.move(x, y)
        page.wait_for_selector(READY)
        page.wait_for_timeout(150)
        one = page.evaluate("window.hover")
        if len(one["painted"]) < N_MAPS:  # the row that was pointed at before
            continue
        found["large"].append(one["painted"][0] - one["at"])
        found["all"].append(one["painted"][-1] - one["at"])
        found["shown"].append(one["shown"] - one["at"])
    return {key: np.array(values[3:]) for key, values in found.items()}  # the first ones warm the script up


def measured(browser: Any, n: int, folder: Path) -> str:
    X, c = comparison(n)
    path = c.report(folder / f"{n}.html", data=X[:, :3])
    context = browser.new_context(viewport=WINDOW)
    page = context.new_page()
    page.add_init_script(LISTEN)
    started = time.perf_counter()
    page.goto(path.as_uri())
    page.wait_for_selector(READY)
    seconds = time.perf_counter() - started
    cells = [f"{np.median(v):.0f} ({np.quantile(v, 0.95):.0f}, {v.max():.0f})" for v in hovers(page, c).values()]
    context.close()
    return f"| {n:,} | {path.stat().st_size / 1e6:.1f} | {seconds:.1f} | {' | '.join(cells)} |"


# What anywidget does: the module of the widget gets a model, here one that nobody listens to.
WIDGET = """async ({code, state, buffers}) => {
  const view = text => new DataView(Uint8Array.from(atob(text), c => c.charCodeAt(0)).buffer);
  for (const [path, text] of buffers) {
    let at = state;
    for (const key of path.slice(0, -1)) at = at[key];
    at[path.at(-1)] = view(text);
  }
  const listeners = {}, model = {
    get: name => state[name], set(name, value) { state[name] = value; }, save_changes() {}, send() {},
    on(event, each) { (listeners[event] ??= []).push(each); }, off() {},
  };
  const url = URL.createObjectURL(new Blob([code], {type: "text/javascript"}));
  const {default: widget} = await import(url), made = typeof widget === "function" ? await widget() : widget;
  await made.initialize?.({model});
  const el = document.body.appendChild(document.createElement("div"));
  await made.render({model, el});
}"""


def scatter(browser: Any, n: int) -> str:
    """jupyter-scatter's map of the first of the maps, in a page of its own instead of a notebook."""
    import base64

    import jscatter

    Z = comparison(n)[1].aligned()["map 0"]
    widget = jscatter.Scatter(x=Z[:, 0], y=Z[:, 1], width=700, height=700).widget
    code = Path(jscatter.__file__).with_name("bundle.js").read_text(encoding="utf-8")
    state = {key: value for key, value in widget.get_state().items() if key not in ("_esm", "_css")}
    state, paths, buffers = _without_bytes(state)
    sent = [[path, base64.b64encode(data).decode()] for path, data in zip(paths, buffers, strict=True)]
    context = browser.new_context(viewport=WINDOW)
    page = context.new_page()
    page.goto("about:blank")
    started = time.perf_counter()
    page.evaluate(WIDGET, {"code": code, "state": state, "buffers": sent})
    page.wait_for_selector("canvas")
    page.wait_for_timeout(200)
    seconds = time.perf_counter() - started
    box = page.locator("canvas").first.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    moves = frames(page, lambda k: page.mouse.wheel(0, -25))
    page.screenshot(path=os.environ.get("SCATTER_PICTURE", "/dev/null"), type="png")
    weight = (len(code) + sum(map(len, buffers))) / 1e6
    context.close()
    return f"| jupyter-scatter {jscatter.__version__} | {n:,} | {weight:.1f} | {seconds:.1f} | {moves['fps']:.0f} |"


def _without_bytes(state: dict[str, Any]) -> tuple[Any, list[Any], list[Any]]:
    """The state as JSON holds it, and its arrays of bytes with their places: as a notebook sends them."""
    from ipywidgets.widgets.widget import _remove_buffers

    return _remove_buffers(state)


def main() -> None:
    from playwright.sync_api import sync_playwright

    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000])
    options.add_argument("--scatter", action="store_true", help="jupyter-scatter too, with WebGL in software")
    chosen = options.parse_args()
    say(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    say("| rows | MB | s until drawn | large map (ms) | all eight maps | shown |")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        start = playwright.chromium.launch
        browser = start(executable_path=shutil.which("chromium"), args=SOFTWARE)
        for n in chosen.rows:
            say(measured(browser, n, Path(folder)))
        browser.close()
        if chosen.scatter:
            browser = start(executable_path=shutil.which("chromium"), args=SWIFTSHADER)
            for n in chosen.rows:
                say(scatter(browser, n))
            browser.close()


if __name__ == "__main__":
    main()
